"""Solutions by rank (section 9): the order of the board of section 4."""

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
"""Maps in order: those with 1 on the left, or in the upper row, come first."""
Maps = tuple[tuple[tuple[int, ...], ...], ...]


def terms_in_order() -> Iterator[tuple[tuple[str, str], list[Maps]]]:
    """Yield the terms, each with its solutions as the maps of both stacks and both bands."""
    for x, y in list(TABLES["x"])[1:]:
        columns = [partition(x), partition(y)]
        stacks = [
            [codes for codes in maps if split(codes[0]) == column_partition]
            for maps, column_partition in zip(STACKS, columns, strict=True)
        ]
        bands = [
            [codes for codes in maps if all(orthogonal(split(codes[0]), z) for z in columns)]
            for maps in BANDS
        ]
        yield (x, y), list(product(*stacks, *bands))


def grid_of(maps: Maps) -> tuple[int, ...]:
    cells = [0] * 16
    for band, stack, digit in product(range(2), range(2), range(4)):
        row = maps[2 + band][stack][digit]
        column = maps[stack][band][digit]
        cells[8 * band + 4 * row + 2 * stack + column] = digit + 1
    return tuple(cells)


def test_every_solution_has_one_rank():
    grids = [grid_of(maps) for _, solutions in terms_in_order() for maps in solutions]
    assert len(grids) == 12
    assert set(grids) == {tuple(cells) for cells in naive.solutions(board())}


def test_the_terms_are_those_of_the_table():
    assert says("which are its terms, are 2, 4, 0, 2, 0 and 4.")
    assert [len(solutions) for _, solutions in terms_in_order()] == [2, 4, 0, 2, 0, 4]
    assert [int(row[-1]) for row in list(TABLES["x"].values())[1:]] == [2, 4, 0, 2, 0, 4]


def test_the_solution_in_the_example():
    assert says("Because 7 = 2 + 4 + 0 + 1, it has rank 1 among the two solutions with x = 14/23")
    names, solutions = list(terms_in_order())[3]
    assert names == ("14/23", "12/34")
    assert [len({maps[line] for maps in solutions}) for line in range(4)] == [1, 2, 1, 1]
    assert [maps[1][0] for maps in solutions] == [(0, 0, 1, 1), (1, 1, 0, 0)]
    for band in 2, 3:
        assert solutions[1][band][0] == (0, 1, 0, 1)
    printed_grid = re.search(r"give the grid (\d{4}) / (\d{4}) / (\d{4}) / (\d{4})\.", PROSE)
    assert printed_grid is not None
    assert grid_of(solutions[1]) == tuple(map(int, "".join(printed_grid.groups())))
