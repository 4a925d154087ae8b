"""Solutions by number (section 9): the order of the board of section 4."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from tests import naive
from tests.contraction.worked_example.definitions import (
    bands_of,
    clues_of,
    orthogonal,
    split,
    stacks_of,
)
from tests.contraction.worked_example.page import PROSE, TABLES, board, partition, says

CLUES = clues_of(board())
STACKS, BANDS = ([sorted(maps) for maps in lines(CLUES)] for lines in (stacks_of, bands_of))
"""Words in order: 1 on the left, or in the upper row, first."""
Words = tuple[tuple[tuple[int, ...], ...], ...]


def in_order() -> Iterator[tuple[tuple[str, str], list[Words]]]:
    """The terms, each with the words of both stacks and both bands of its solutions."""
    for x, y in list(TABLES["x"])[1:]:
        columns = [partition(x), partition(y)]
        stacks = [
            [word for word in words if split(word[0]) == wanted]
            for words, wanted in zip(STACKS, columns, strict=True)
        ]
        bands = [
            [word for word in words if all(orthogonal(split(word[0]), z) for z in columns)]
            for words in BANDS
        ]
        yield (x, y), list(product(*stacks, *bands))


def grid_of(words: Words) -> tuple[int, ...]:
    cells = [0] * 16
    for band, stack, digit in product(range(2), range(2), range(4)):
        row = words[2 + band][stack][digit]
        column = words[stack][band][digit]
        cells[8 * band + 4 * row + 2 * stack + column] = digit + 1
    return tuple(cells)


def test_every_solution_has_one_number():
    grids = [grid_of(words) for _, solutions in in_order() for words in solutions]
    assert len(grids) == 12
    assert set(grids) == {tuple(cells) for cells in naive.solutions(board())}


def test_the_terms_are_those_of_the_table():
    assert says("which are its terms, are 2, 4, 0, 2, 0 and 4.")
    assert [len(solutions) for _, solutions in in_order()] == [2, 4, 0, 2, 0, 4]
    assert [int(row[-1]) for row in list(TABLES["x"].values())[1:]] == [2, 4, 0, 2, 0, 4]


def test_the_solution_that_is_shown():
    assert says("As 7 = 2 + 4 + 0 + 1, it is number 1 of the two solutions with x = 14/23")
    names, solutions = list(in_order())[3]
    assert names == ("14/23", "12/34")
    assert [len({words[line] for words in solutions}) for line in range(4)] == [1, 2, 1, 1]
    first, second = (words[1][0] for words in solutions)
    assert (first, second) == ((0, 0, 1, 1), (1, 1, 0, 0))
    for band in 2, 3:
        assert solutions[1][band][0] == (0, 1, 0, 1)
    shown = re.search(r"give the grid (\d{4}) / (\d{4}) / (\d{4}) / (\d{4})\.", PROSE)
    assert shown is not None
    assert grid_of(solutions[1]) == tuple(map(int, "".join(shown.groups())))
