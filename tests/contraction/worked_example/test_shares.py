"""The shares of the example by hand (section 8)."""

from __future__ import annotations

from itertools import product

import numpy as np

from gpusudoku.formats import parse
from tests import naive
from tests.contraction.worked_example.definitions import (
    Clue,
    bands_of,
    clues_of,
    list_entries,
    orthogonal,
    split,
    stacks_of,
    tensor,
)
from tests.contraction.worked_example.page import TABLES, board, partition, says

BOARD = board()
CLUES = clues_of(BOARD)
CELLS = {"upper left": (0, 0), "upper right": (0, 1), "lower left": (1, 0), "lower right": (1, 1)}


def count_uses(clues: list[Clue], x, y, band: int, z) -> int:
    """Count the solutions in which the stacks have the maps x and y, and a band has the map z."""
    for stack, stack_map in enumerate((x, y)):
        if not orthogonal(split(z[stack]), split(stack_map[band])):
            return 0
    other_band = 1 - band
    entries = list_entries(bands_of(clues)[other_band])
    return tensor(entries, [split(x[other_band]), split(y[other_band])])


def shares_by_maps(clues: list[Clue], band: int, stack: int, digit: int) -> np.ndarray:
    """Count the shares of a digit in a box, map by map: int (2, 2), by row and column."""
    shares = np.zeros((2, 2), int)
    for stack_maps in product(*stacks_of(clues)):
        for z in bands_of(clues)[band]:
            row = z[stack][digit - 1]
            column = stack_maps[stack][band][digit - 1]
            shares[row, column] += count_uses(clues, *stack_maps, band, z)
    return shares


def shares_by_listing(clues: list[Clue], band: int, stack: int, digit: int) -> np.ndarray:
    line = ["."] * 16
    for clue in clues:
        line[4 * clue.row + clue.column] = str(clue.digit)
    grids = np.array(list(naive.solutions(parse("".join(line))))).reshape(-1, 2, 2, 2, 2)
    return (grids[:, band, :, stack] == digit).sum(axis=0)


def test_the_rows_of_the_table():
    terms = {names[0]: row for names, row in TABLES["x, y, z"].items() if names}
    lists = [list_entries(maps) for maps in (*stacks_of(CLUES), bands_of(CLUES)[1])]
    first_band = list_entries(bands_of(CLUES)[0])
    x_maps = stacks_of(CLUES)[0]
    z_maps = bands_of(CLUES)[1]
    # In this board an entry has the same partition twice.
    all_entries = [(p, p) for p in map(partition, ["12/34", "13/24", "14/23"])]
    for x, y, z in product(all_entries, repeat=3):
        stack_count = lists[0][x] * lists[1][y] * tensor(first_band, [x[0], y[0]])
        is_orthogonal = orthogonal(z[0], x[1]) and orthogonal(z[1], y[1])
        count = stack_count * lists[2][z] * is_orthogonal
        rows = [row for text, row in terms.items()
                if [partition(p) for p in text.split(", ")] == [x[0], y[0], z[0]]]  # fmt: skip
        assert bool(rows) == (count > 0)
        if not rows:
            continue
        cell_name, printed_count = rows[0]
        assert int(printed_count) == count
        digit_3 = 2
        columns_of_3 = {codes[1][digit_3] for codes in x_maps if split(codes[1]) == x[1]}
        rows_of_3 = {codes[0][digit_3] for codes in z_maps if split(codes[0]) == z[0]}
        assert len(columns_of_3) == len(rows_of_3) == 1, "all maps of an entry agree in this box"
        assert CELLS[cell_name] == (*rows_of_3, *columns_of_3)


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
