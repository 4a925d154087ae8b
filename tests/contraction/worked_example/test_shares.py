"""The shares of the board by hand (section 8)."""

from __future__ import annotations

from itertools import product

import numpy as np

from gpusudoku.formats import parse
from tests import naive
from tests.contraction.worked_example.definitions import (
    Clue,
    Map,
    bands_of,
    clues_of,
    entries_of,
    orthogonal,
    split,
    stacks_of,
    tensor,
)
from tests.contraction.worked_example.page import TABLES, board, partition, says

BOARD = board()
CLUES = clues_of(BOARD)
PLACES = {"upper left": (0, 0), "upper right": (0, 1), "lower left": (1, 0), "lower right": (1, 1)}


def count_with_maps(clues: list[Clue], x: Map, y: Map, band: int, z: Map) -> int:
    """Count the solutions in which the stacks have the maps x and y, and a band has the map z."""
    if not all(orthogonal(split(s[band]), split(z[j])) for j, s in enumerate((x, y))):
        return 0
    other_band = 1 - band
    entries = entries_of(bands_of(clues)[other_band])
    return tensor(entries, [split(x[other_band]), split(y[other_band])])


def shares_by_maps(clues: list[Clue], band: int, stack: int, digit: int) -> np.ndarray:
    """Count the shares of a digit in a box, map by map: int (2, 2), by row and column."""
    shares = np.zeros((2, 2), int)
    for stack_maps in product(*stacks_of(clues)):
        for band_map in bands_of(clues)[band]:
            row = band_map[stack][digit - 1]
            column = stack_maps[stack][band][digit - 1]
            shares[row, column] += count_with_maps(clues, *stack_maps, band, band_map)
    return shares


def shares_by_listing(clues: list[Clue], band: int, stack: int, digit: int) -> np.ndarray:
    line = ["."] * 16
    for clue in clues:
        line[4 * clue.row + clue.column] = str(clue.digit)
    grids = np.array(list(naive.solutions(parse("".join(line))))).reshape(-1, 2, 2, 2, 2)
    return (grids[:, band, :, stack] == digit).sum(axis=0)


def test_the_rows_of_the_table():
    terms = {names[0]: row for names, row in TABLES["x, y, z"].items() if names}
    lists = [entries_of(maps) for maps in (*stacks_of(CLUES), bands_of(CLUES)[1])]
    first_band = entries_of(bands_of(CLUES)[0])
    stack_maps = stacks_of(CLUES)[0]
    band_maps = bands_of(CLUES)[1]
    for names in product(*([(p, p) for p in map(partition, ["12/34", "13/24", "14/23"])],) * 3):
        x, y, z = names
        weight = lists[0][x] * lists[1][y] * tensor(first_band, [x[0], y[0]])
        times = lists[2][z] * (orthogonal(x[1], z[0]) and orthogonal(y[1], z[1]))
        matching_rows = [
            row
            for text, row in terms.items()
            if [partition(p) for p in text.split(", ")] == [x[0], y[0], z[0]]
        ]
        assert bool(matching_rows) == (weight * times > 0)
        if not matching_rows:
            continue
        # Digit 3 has index 2 in a code.
        columns = {stack_map[1][2] for stack_map in stack_maps if split(stack_map[1]) == x[1]}
        rows = {band_map[0][2] for band_map in band_maps if split(band_map[0]) == z[0]}
        assert len(columns) == len(rows) == 1, "all maps of an entry agree in this box"
        place, solutions = matching_rows[0]
        assert int(solutions) == weight * times
        assert PLACES[place] == (*rows, *columns)


def test_the_shares():
    assert says(
        "upper left cell in 4 solutions, in the lower left in 2 and in the lower right in 6."
    )
    expected = [[4, 0], [2, 6]]
    assert shares_by_maps(CLUES, 1, 0, 3).tolist() == expected
    assert shares_by_listing(CLUES, 1, 0, 3).tolist() == expected
    assert BOARD.grid[2, 1] == 1


def test_all_shares_of_other_boards():
    for line in "." * 16, "1.2...3.........", "1..1............":
        clues = clues_of(parse(line))
        for band, stack, digit in product((0, 1), (0, 1), (1, 2, 3, 4)):
            shares = shares_by_maps(clues, band, stack, digit)
            assert (shares == shares_by_listing(clues, band, stack, digit)).all()
