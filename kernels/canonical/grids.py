"""Find canonical forms of full grids from pairs of rows.

The first row of a canonical form is 1, 2, 3, ..., whichever row of the grid it is. It fixes the
*labels* of the digits. The text of the second row then depends only on a permutation: p[j] is the
column in which the first row has the digit that the second row has in column j. Permuting columns
changes the permutation. Permutations that can be changed into each other form a *class*. Classes
are numbered in ascending order of the least second row that they lead to.

A ``PairTable`` has the class of each permutation, and the orders of columns that lead to the least
second row of this class. Only pairs of the least class in the grid can begin the form. Such a pair
and one of its orders determine the whole grid: the first cells of the other rows fix their order.
All these grids are compared with the least one so far.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.arguments import kind_of, uint8
from gpusudoku.kernels.bits import ZERO
from gpusudoku.kernels.canonical.arrays import Forms
from gpusudoku.kernels.canonical.puzzles import cell_steps, has_contradiction
from gpusudoku.kernels.kernel import Kernel, inlined

SECONDS = 2.7
"""The price of compiling."""
KEY_DIGIT_BITS = 4
"""Bits of an element of a permutation in its key."""
CLASS_BITS = 8
"""Bits of a class in an entry of a ``PairTable``."""
HASH_FACTOR = 0x9E3779B97F4A7C15
"""The multiplier of the hash function: 2^64 divided by the golden ratio."""

# The rows of ``PairTable.orders``.
COLUMN_AT = 0
"""The column of the grid at each position."""
POSITION_OF = 1
"""The position of each column of the grid."""

USED = -1
"""A row that is in order already, in ``Grid.row_of_label``."""


class PairTable(NamedTuple):
    """The permutations between two rows, in a hash table with open addressing.

    The number of slots is a power of two. The key of a permutation is, for 9x9 boards, in 36 bits::

        bit   51       20  16  15            8  7    0
              | p[8] ... p[0] | inverse class | class |
    """

    entries: NDArray[np.uint64]
    """uint64 (slots): the key, the class of the inverse permutation, and the class; 0 if empty."""
    ranges: NDArray[np.int64]
    """int64 (slots, 2): the orders of the permutation are ranges[slot, 0] to ranges[slot, 1] - 1.
    """
    orders: NDArray[np.uint8]
    """uint8 (orders, 2, n): orders of columns; rows COLUMN_AT and POSITION_OF."""


class Grid(NamedTuple):
    """The memory for one grid. Digits and labels count from 0."""

    digits: NDArray[np.int64]
    """int64 (2, n, n): by orientation, the digits of the grid, and of the grid transposed."""
    columns: NDArray[np.int64]
    """int64 (2, n, n): by orientation, row and digit, the column of the digit."""
    pairs: NDArray[np.int64]
    """int64 (2 n * n, 3): pairs of the least class: the orientation, the first and second row."""
    row_order: NDArray[np.int64]
    """int64 (n): the row of the grid at each level of the grid that is compared."""
    row_of_label: NDArray[np.int64]
    """int64 (n): the row whose first cell has each label, or USED."""
    least_row_order: NDArray[np.int64]
    """int64 (n): ``row_order`` of the least grid so far."""
    least_choice: NDArray[np.int64]
    """int64 (2): the pair and the order of columns of the least grid so far."""
    unit_digits: NDArray[np.uint64]
    """uint64 (2, n): the digits of each column and box, as bits."""

    @classmethod
    def empty(cls, n: int) -> Grid:
        """Return memory for grids of n x n cells."""
        return cls(
            digits=np.zeros((2, n, n), np.int64),
            columns=np.zeros((2, n, n), np.int64),
            pairs=np.zeros((2 * n * n, 3), np.int64),
            row_order=np.zeros(n, np.int64),
            row_of_label=np.zeros(n, np.int64),
            least_row_order=np.zeros(n, np.int64),
            least_choice=np.zeros(2, np.int64),
            unit_digits=np.zeros((2, n), np.uint64),
        )


class GridShape(NamedTuple):
    """The sizes of a grid."""

    box_rows: int
    box_columns: int
    n: int
    orientations: int
    """2 if the grid can be transposed, that is, if boxes are square; else 1."""
    pair_rows: int
    """Successive rows any two of which can be the first two rows of the form: those of a band, or
    all rows if bands have one row."""

    @classmethod
    def of(cls, box_rows: int, box_columns: int) -> GridShape:
        """Return the sizes for boxes of ``box_rows`` x ``box_columns`` cells."""
        n = box_rows * box_columns
        return cls(
            box_rows=box_rows,
            box_columns=box_columns,
            n=n,
            orientations=2 if box_rows == box_columns else 1,
            pair_rows=box_rows if box_rows > 1 else n,
        )


@inlined
def read_grid(shape, boards, board, grid):
    """Read a full board, and the board transposed."""
    for orientation in range(shape.orientations):
        row_step, column_step = cell_steps(shape.n, orientation)
        for row in range(shape.n):
            for column in range(shape.n):
                digit = np.int64(boards[board, row * row_step + column * column_step]) - 1
                grid.digits[orientation, row, column] = digit
                grid.columns[orientation, row, digit] = column


@inlined
def find_slot(shape, table, grid, orientation, first_row, second_row):
    """Return the slot of the permutation between two rows."""
    key = ZERO
    for column in range(shape.n):
        digit = grid.digits[orientation, second_row, column]
        column_above = grid.columns[orientation, first_row, digit]
        key |= np.uint64(column_above) << np.uint64(KEY_DIGIT_BITS * column)

    slot_mask = table.entries.shape[0] - 1
    slot = np.int64((key * np.uint64(HASH_FACTOR)) >> np.uint64(32)) & slot_mask
    # The table has all permutations that can occur, so the search ends.
    while table.entries[slot] >> np.uint64(2 * CLASS_BITS) != key:
        slot = (slot + 1) & slot_mask
    return slot


@inlined
def add_pair(pairs, pair_count, least_class, pair_class, orientation, first_row, second_row):
    """List a pair of rows unless its class is above the least one.

    Returns the least class so far, and the number of pairs of it.
    """
    if pair_class > least_class:
        return least_class, pair_count
    if pair_class < least_class:
        pair_count = 0
    pairs[pair_count, 0] = orientation
    pairs[pair_count, 1] = first_row
    pairs[pair_count, 2] = second_row
    return pair_class, pair_count + 1


@inlined
def find_pairs(shape, table, grid):
    """List the pairs of rows of the least class; return their number."""
    class_mask = np.uint64((1 << CLASS_BITS) - 1)
    least_class = np.uint64(1 << CLASS_BITS)  # above all classes
    pair_count = 0
    for orientation in range(shape.orientations):
        for upper in range(shape.n):
            end = (upper // shape.pair_rows + 1) * shape.pair_rows
            for lower in range(upper + 1, end):
                # Exchanging the two rows inverts the permutation.
                entry = table.entries[find_slot(shape, table, grid, orientation, upper, lower)]
                pair_class = entry & class_mask
                inverse_class = entry >> np.uint64(CLASS_BITS) & class_mask
                least_class, pair_count = add_pair(
                    grid.pairs, pair_count, least_class, pair_class, orientation, upper, lower
                )
                least_class, pair_count = add_pair(
                    grid.pairs, pair_count, least_class, inverse_class, orientation, lower, upper
                )
    return pair_count


@inlined
def list_first_cells(shape, table, grid, pair, order, level):
    """Write to ``row_of_label`` which unused row has each label in its first cell.

    level    int    the rows of ``row_order`` before this level are used
    """
    orientation = grid.pairs[pair, 0]
    first_row = grid.pairs[pair, 1]
    first_column = table.orders[order, COLUMN_AT, 0]
    for row in range(shape.n):
        digit = grid.digits[orientation, row, first_column]
        label = table.orders[order, POSITION_OF, grid.columns[orientation, first_row, digit]]
        grid.row_of_label[label] = row
    for i in range(level):
        digit = grid.digits[orientation, grid.row_order[i], first_column]
        label = table.orders[order, POSITION_OF, grid.columns[orientation, first_row, digit]]
        grid.row_of_label[label] = USED


@inlined
def take_next_row(shape, grid, level):
    """Use the row with the least first cell at a level: from the band begun, if there is one."""
    row_of_label = grid.row_of_label
    band = grid.row_order[level - 1] // shape.box_rows
    is_in_band = level % shape.box_rows != 0
    label = 0
    while row_of_label[label] == USED or (
        is_in_band and row_of_label[label] // shape.box_rows != band
    ):
        label += 1
    grid.row_order[level] = row_of_label[label]
    row_of_label[label] = USED


@inlined
def try_order(shape, table, grid, forms, board, pair, order, is_first):
    """Compare the grid of a pair and an order of columns with the least one, and write it if less.

    is_first    bool    True if there is no least grid yet

    Returns 1 if the grid is less, 0 if it is equal, -1 if it is greater.
    """
    orientation = grid.pairs[pair, 0]
    first_row = grid.pairs[pair, 1]
    second_row = grid.pairs[pair, 2]
    grid.row_order[0] = first_row
    grid.row_order[1] = second_row
    known_rows = 2
    if shape.box_rows == 3:
        # Most orders are ruled out by the third row. It needs no search: the three rows of a band
        # 3k, 3k + 1 and 3k + 2 add up to 9k + 3.
        band = first_row // 3
        grid.row_order[2] = 9 * band + 3 - first_row - second_row
        known_rows = 3

    is_less = is_first
    # The first two rows have the same text for all pairs of a class.
    for level in range(0 if is_first else 2, shape.n):
        if level == known_rows:
            list_first_cells(shape, table, grid, pair, order, level)
        if level >= known_rows:
            take_next_row(shape, grid, level)
        row = grid.row_order[level]
        for position in range(shape.n):
            digit = grid.digits[orientation, row, table.orders[order, COLUMN_AT, position]]
            column = grid.columns[orientation, first_row, digit]
            label = np.int64(table.orders[order, POSITION_OF, column]) + 1
            if not is_less:
                least_label = np.int64(forms.cells[board, level * shape.n + position])
                if label > least_label:
                    return -1
                is_less = label < least_label
            if is_less:
                forms.cells[board, level * shape.n + position] = label
    return 1 if is_less else 0


@inlined
def try_orders(shape, table, grid, forms, board, pair, ties):
    """Try all orders of columns for a pair of rows.

    ties    int    how many choices of a pair and an order lead to the least grid so far

    Returns the same number, with those of this pair.
    """
    orientation = grid.pairs[pair, 0]
    first_row = grid.pairs[pair, 1]
    second_row = grid.pairs[pair, 2]
    slot = find_slot(shape, table, grid, orientation, first_row, second_row)
    for order in range(table.ranges[slot, 0], table.ranges[slot, 1]):
        comparison = try_order(shape, table, grid, forms, board, pair, order, ties == 0)
        if comparison > 0:
            ties = 0
            grid.least_choice[0] = pair
            grid.least_choice[1] = order
            for level in range(shape.n):
                grid.least_row_order[level] = grid.row_order[level]
        ties += comparison >= 0
    return ties


@inlined
def write_grid_map(shape, table, grid, forms, board):
    """Write the rearrangement that leads from a grid to the least one."""
    n = shape.n
    pair = grid.least_choice[0]
    order = grid.least_choice[1]
    orientation = grid.pairs[pair, 0]
    first_row = grid.pairs[pair, 1]
    forms.maps[board, 0] = orientation
    for i in range(n):
        forms.maps[board, 1 + i] = grid.least_row_order[i]
        forms.maps[board, 1 + n + i] = table.orders[order, POSITION_OF, i]
        column = grid.columns[orientation, first_row, i]
        forms.maps[board, 1 + 2 * n + i] = table.orders[order, POSITION_OF, column] + 1


def build_grids(shape: GridShape) -> Callable[..., None]:
    """Return ``write_forms`` for a shape: its sizes are constants of the compiled code."""

    def write_forms(boards, table, grid, forms):
        """Write the forms of full boards, uint8 (B, n * n), of more than one cell each."""
        for board in range(boards.shape[0]):
            ties = 0
            if not has_contradiction(
                shape.box_rows, shape.box_columns, boards, board, grid.unit_digits
            ):
                read_grid(shape, boards, board, grid)
                for pair in range(find_pairs(shape, table, grid)):
                    ties = try_orders(shape, table, grid, forms, board, pair, ties)
                write_grid_map(shape, table, grid, forms, board)
            forms.ties[board] = ties

    return write_forms


@cache
def canonical_grids(box_rows: int, box_columns: int) -> Kernel:
    """Return the kernel that finds canonical forms of full grids with a box shape."""
    shape = GridShape.of(box_rows, box_columns)
    n = shape.n
    table = PairTable(
        entries=np.zeros(1, np.uint64),
        ranges=np.zeros((1, 2), np.int64),
        orders=np.zeros((0, 2, n), np.uint8),
    )
    return Kernel(
        f"canonical.grids-{box_rows}x{box_columns}",
        (uint8[:, ::1], kind_of(table), kind_of(Grid.empty(n)), kind_of(Forms.empty(n, 0))),
        lambda: build_grids(shape),
        (canonical_grids, (box_rows, box_columns)),
        seconds=SECONDS,
        subject=f"canonical forms of {n}x{n} grids",
    )
