"""The shares of the board by hand (section 8)."""

from __future__ import annotations

from itertools import product

import numpy as np

from gpusudoku.formats import parse
from tests import naive
from tests.contraction.worked_example.definitions import (
    Clue,
    bands_of,
    clues_of,
    listed,
    orthogonal,
    split,
    stacks_of,
    tensor,
)
from tests.contraction.worked_example.page import TABLES, board, partition, says

BOARD = board()
CLUES = clues_of(BOARD)
PLACES = {"upper left": (0, 0), "upper right": (0, 1), "lower left": (1, 0), "lower right": (1, 1)}


def uses(clues: list[Clue], x, y, band: int, z) -> int:
    """Count the solutions in which the stacks have the maps x and y, and a band has the map z."""
    if not all(orthogonal(split(z[j]), split(s[band])) for j, s in enumerate((x, y))):
        return 0
    others = [listed(maps) for maps in bands_of(clues)]
    return tensor(others[1 - band], [split(x[1 - band]), split(y[1 - band])])


def shares_by_words(clues: list[Clue], band: int, stack: int, digit: int) -> np.ndarray:
    """Count the shares of a digit in a box, word by word: int (2, 2), by row and column."""
    shares = np.zeros((2, 2), int)
    for words in product(*stacks_of(clues)):
        for z in bands_of(clues)[band]:
            place = z[stack][digit - 1], words[stack][band][digit - 1]
            shares[place] += uses(clues, *words, band, z)
    return shares


def shares_by_listing(clues: list[Clue], band: int, stack: int, digit: int) -> np.ndarray:
    line = ["."] * 16
    for clue in clues:
        line[4 * clue.row + clue.column] = str(clue.digit)
    grids = np.array(list(naive.solutions(parse("".join(line))))).reshape(-1, 2, 2, 2, 2)
    return (grids[:, band, :, stack] == digit).sum(axis=0)


def test_the_rows_of_the_table():
    terms = {names[0]: row for names, row in TABLES["x, y, z"].items() if names}
    lists = [listed(maps) for maps in (*stacks_of(CLUES), bands_of(CLUES)[1])]
    first_band = listed(bands_of(CLUES)[0])
    words = stacks_of(CLUES)[0], bands_of(CLUES)[1]
    for names in product(*([(p, p) for p in map(partition, ["12/34", "13/24", "14/23"])],) * 3):
        x, y, z = names
        weight = lists[0][x] * lists[1][y] * tensor(first_band, [x[0], y[0]])
        times = lists[2][z] * (orthogonal(z[0], x[1]) and orthogonal(z[1], y[1]))
        found = [text for text in terms if [partition(p) for p in text.split(", ")] ==
                 [x[0], y[0], z[0]]]  # fmt: skip
        assert bool(found) == (weight * times > 0)
        if not found:
            continue
        of_x = {w[1][2] for w in words[0] if split(w[1]) == x[1]}
        of_z = {w[0][2] for w in words[1] if split(w[0]) == z[0]}
        assert len(of_x) == len(of_z) == 1, "all words of an entry agree in this box"
        printed = terms[found[0]]
        assert int(printed[1]) == weight * times
        assert PLACES[printed[0]] == (*of_z, *of_x)


def test_the_shares():
    assert says(
        "upper left cell in 4 solutions, in the lower left in 2 and in the lower right in 6."
    )
    expected = [[4, 0], [2, 6]]
    assert shares_by_words(CLUES, 1, 0, 3).tolist() == expected
    assert shares_by_listing(CLUES, 1, 0, 3).tolist() == expected
    assert BOARD.grid[2, 1] == 1


def test_all_shares_of_other_boards():
    for line in "." * 16, "1.2...3.........", "1..1............":
        clues = clues_of(parse(line))
        for band, stack, digit in product((0, 1), (0, 1), (1, 2, 3, 4)):
            found = shares_by_words(clues, band, stack, digit)
            assert (found == shares_by_listing(clues, band, stack, digit)).all()
