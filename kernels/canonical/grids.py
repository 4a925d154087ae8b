"""Canonical forms of full grids, from pairs of rows.

The first row of the form is 1, 2, 3, ..., whichever row of the grid it is. The second one then says
where the first row has its digits: for two rows of a band, p[j] is the column in which the first
one has the digit that the other has in column j. Its least text depends on that permutation alone.
A ``PairTable`` has the *class* of each, the number of its text in ascending order, and the orders
of columns that lead to it. Only pairs of the least class can begin the form; for each of these, and
each order, the other rows follow from their first cells, and are compared to the least grid so far.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.arguments import kind_of, uint8
from gpusudoku.kernels.bits import ZERO
from gpusudoku.kernels.canonical.puzzles import Forms, build_clash
from gpusudoku.kernels.kernel import Jit, Kernel, inlined

SECONDS = 2.7
"""What compiling takes."""
DIGIT_BITS = 4
"""Bits of an entry of a permutation in its key."""
CLASS_BITS = 8
"""Bits of a class. Behind a key are the class of the inverse permutation and its own."""
FACTOR = 0x9E3779B97F4A7C15
"""What keys are multiplied by to find their slots."""


class PairTable(NamedTuple):
    """The permutations between two rows of a band, in a hash table with a power of two of slots."""

    entries: NDArray[np.uint64]
    """uint64 (slots): the key, the class of its inverse, and its class; 0 where there is none."""
    ranges: NDArray[np.int64]
    """int64 (slots, 2): where its orders begin and end."""
    orders: NDArray[np.uint8]
    """uint8 (orders, 2, n): the column that each place has, and the place of each column."""


class Grid(NamedTuple):
    """The memory for one grid."""

    digits: NDArray[np.int64]
    """int64 (2, n, n): the digits from 0, and those of the grid transposed."""
    columns: NDArray[np.int64]
    """int64 (2, n, n): the column of each digit, row by row."""
    pairs: NDArray[np.int64]
    """int64 (2 n * n, 3): pairs of the least class: 1 if transposed, and two rows."""
    rows: NDArray[np.int64]
    """int64 (3, n): the order of rows, the row whose first cell has each label from 0, or -1 if it
    is in order, and the order of the least grid so far."""
    best: NDArray[np.int64]
    """int64 (2): the pair and the order of columns of the least grid so far."""
    seen: NDArray[np.uint64]
    """uint64 (2, n): the digits of each column and box, as bits."""

    @classmethod
    def empty(cls, n: int) -> Grid:
        """Memory for grids of n digits."""
        return cls(
            np.zeros((2, n, n), np.int64),
            np.zeros((2, n, n), np.int64),
            np.zeros((2 * n * n, 3), np.int64),
            np.zeros((3, n), np.int64),
            np.zeros(2, np.int64),
            np.zeros((2, n), np.uint64),
        )


def build_grids(box_rows: int, box_columns: int, jit: Jit) -> Callable[..., None]:
    """Make ``grids(boards, table, grid, forms)``: it writes the forms of full boards.

    The boards are uint8 (B, n * n), of more than one cell each.
    """
    R = box_rows
    C = box_columns
    n = box_rows * box_columns
    turns = 2 if R == C else 1
    clash = build_clash(R, C, jit)
    together = R if R > 1 else n  # rows of which any two can be the first ones

    @jit
    def read(board, boards, grid):
        """Unpack a grid."""
        for turn in range(turns):
            down, right = (1, n) if turn else (n, 1)
            for row in range(n):
                for column in range(n):
                    digit = np.int64(boards[board, row * down + column * right]) - 1
                    grid.digits[turn, row, column] = digit
                    grid.columns[turn, row, digit] = column

    @jit
    def slot_of(turn, first, second, table, grid):
        """Return the slot of a pair of rows."""
        key = ZERO
        for column in range(n):
            place = grid.columns[turn, first, grid.digits[turn, second, column]]
            key |= np.uint64(place) << np.uint64(DIGIT_BITS * column)
        slots = table.entries.shape[0]
        slot = np.int64((key * np.uint64(FACTOR)) >> np.uint64(32)) & (slots - 1)
        while table.entries[slot] >> np.uint64(2 * CLASS_BITS) != key:
            slot = (slot + 1) & (slots - 1)
        return slot

    @jit
    def add_pair(turn, first, second, kind, least, found, grid):
        """List a pair unless there are better ones; return the least class, and how many it has."""
        if kind > least:
            return least, found
        if kind < least:
            found = 0
        grid.pairs[found, 0], grid.pairs[found, 1], grid.pairs[found, 2] = turn, first, second
        return kind, found + 1

    @jit
    def find_pairs(table, grid):
        """List the pairs of rows of the least class; return their number."""
        least = np.uint64(1 << CLASS_BITS)
        found = 0
        one = np.uint64((1 << CLASS_BITS) - 1)
        for turn in range(turns):
            for first in range(n):
                for second in range(first + 1, first // together * together + together):
                    kinds = table.entries[slot_of(turn, first, second, table, grid)]
                    inverse = kinds >> np.uint64(CLASS_BITS) & one
                    least, found = add_pair(turn, first, second, kinds & one, least, found, grid)
                    least, found = add_pair(turn, second, first, inverse, least, found, grid)
        return found

    @jit
    def first_cells(pair, order, level, table, grid):
        """Find which row has each label in its first cell, of those behind some levels."""
        turn = grid.pairs[pair, 0]
        first = grid.pairs[pair, 1]
        for row in range(n):
            digit = grid.digits[turn, row, table.orders[order, 0, 0]]
            grid.rows[1, table.orders[order, 1, grid.columns[turn, first, digit]]] = row
        for i in range(level):
            digit = grid.digits[turn, grid.rows[0, i], table.orders[order, 0, 0]]
            grid.rows[1, table.orders[order, 1, grid.columns[turn, first, digit]]] = -1

    @jit
    def next_row(level, grid):
        """Take the row that follows those of the levels before: it has the least first cell."""
        rows = grid.rows
        label = 0
        band = rows[0, level - 1] // R
        while rows[1, label] < 0 or (level % R != 0 and rows[1, label] // R != band):
            label += 1
        rows[0, level] = rows[1, label]
        rows[1, label] = -1

    @jit
    def try_order(board, pair, order, fresh, table, grid, forms):
        """Compare the grid of a pair and an order; return 1 if it is less, 0 if equal, else -1."""
        rows = grid.rows
        less = fresh
        turn = grid.pairs[pair, 0]
        first = grid.pairs[pair, 1]
        second = grid.pairs[pair, 2]
        rows[0, 0], rows[0, 1] = first, second
        if R == 3:  # the band has one row more, and most orders end there
            rows[0, 2] = 3 * R * (first // R) + R - first - second
        begin = 3 if R == 3 else 2
        for level in range(0 if fresh else 2, n):
            if level == begin:
                first_cells(pair, order, level, table, grid)
            if level >= begin:
                next_row(level, grid)
            for place in range(n):
                digit = grid.digits[turn, rows[0, level], table.orders[order, 0, place]]
                column = grid.columns[turn, first, digit]
                label = np.int64(table.orders[order, 1, column]) + 1
                if not less:
                    least = np.int64(forms.cells[board, level * n + place])
                    if label > least:
                        return -1
                    less = label < least
                if less:
                    forms.cells[board, level * n + place] = label
        return 1 if less else 0

    @jit
    def try_orders(board, pair, ties, table, grid, forms):
        """Try all orders of columns for a pair of rows; return how many lead to the least grid."""
        turn = grid.pairs[pair, 0]
        first = grid.pairs[pair, 1]
        second = grid.pairs[pair, 2]
        slot = slot_of(turn, first, second, table, grid)
        for order in range(table.ranges[slot, 0], table.ranges[slot, 1]):
            outcome = try_order(board, pair, order, ties == 0, table, grid, forms)
            if outcome > 0:
                ties = 0
                grid.best[0], grid.best[1] = pair, order
                for i in range(n):
                    grid.rows[2, i] = grid.rows[0, i]
            ties += outcome >= 0
        return ties

    @jit
    def write_map(board, table, grid, forms):
        """Write how a grid becomes the least one."""
        pair = grid.best[0]
        order = grid.best[1]
        turn = grid.pairs[pair, 0]
        first = grid.pairs[pair, 1]
        forms.maps[board, 0] = turn
        for i in range(n):
            forms.maps[board, 1 + i] = grid.rows[2, i]
            forms.maps[board, 1 + n + i] = table.orders[order, 1, i]
            column = grid.columns[turn, first, i]
            forms.maps[board, 1 + 2 * n + i] = table.orders[order, 1, column] + 1

    def grids(boards, table, grid, forms):
        for board in range(boards.shape[0]):
            ties = 0
            if not clash(boards, board, grid.seen):
                read(board, boards, grid)
                for pair in range(find_pairs(table, grid)):
                    ties = try_orders(board, pair, ties, table, grid, forms)
                write_map(board, table, grid, forms)
            forms.ties[board] = ties

    return grids


@cache
def canonical_grids(box_rows: int, box_columns: int) -> Kernel:
    """The kernel of ``build_grids`` for a box shape."""
    n = box_rows * box_columns
    groups: tuple[Any, ...] = no_pairs(n), Grid.empty(n), Forms.empty(n, 0)
    return Kernel(
        f"canonical.grids-{box_rows}x{box_columns}",
        (uint8[:, ::1], *map(kind_of, groups)),
        lambda: build_grids(box_rows, box_columns, inlined),
        (canonical_grids, (box_rows, box_columns)),
        seconds=SECONDS,
        subject=f"canonical forms of {n}x{n} grids",
    )


def no_pairs(n: int) -> PairTable:
    """Return a table without permutations."""
    entries = np.zeros(1, np.uint64)
    ranges = np.zeros((1, 2), np.int64)
    return PairTable(entries, ranges, np.zeros((0, 2, n), np.uint8))
