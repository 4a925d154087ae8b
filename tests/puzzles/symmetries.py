"""Reference implementations of the canonical form: the least of all equivalent boards.

An arrangement reorders the rows and columns of the board, or of the transposed board if boxes are
square, so that bands and stacks remain together. Then digits are renumbered in the order in which
they first appear. ``every_form`` follows this definition literally. ``least`` drops an arrangement
at the first cell in which it is not the least, which makes the 3,359,232 arrangements of a 9x9
board feasible.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import permutations, product
from math import factorial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku import Board, Geometry

Arrangement = tuple[bool, tuple[int, ...], tuple[int, ...]]
"""Whether the board is transposed, then its rows and its columns in their new order."""


class Least(NamedTuple):
    """The least of all equivalent boards, and the number of symmetries of the board."""

    board: Board
    automorphisms: int


def line_orders(group_count: int, group_size: int) -> Iterator[tuple[int, ...]]:
    """Yield all orders of rows (or columns) that keep each band (or stack) together."""
    for groups in permutations(range(group_count)):
        for orders_inside in product(permutations(range(group_size)), repeat=group_count):
            lines: list[int] = []
            for group, order_inside in zip(groups, orders_inside, strict=True):
                lines += [group * group_size + line for line in order_inside]
            yield tuple(lines)


def arrangements(geometry: Geometry) -> Iterator[Arrangement]:
    """Yield all arrangements of a board of this shape."""
    height = geometry.box_rows
    width = geometry.box_columns
    transpositions = (False, True) if height == width else (False,)
    return product(transpositions, line_orders(width, height), line_orders(height, width))


def group_order(geometry: Geometry) -> int:
    """Return the number of pairs of an arrangement and a relabelling of the digits."""
    height = geometry.box_rows
    width = geometry.box_columns
    row_orders = factorial(width) * factorial(height) ** width
    column_orders = factorial(height) * factorial(width) ** height
    transpositions = 2 if height == width else 1
    return row_orders * column_orders * transpositions * factorial(geometry.n)


def arranged(board: Board, arrangement: Arrangement) -> list[int]:
    """Return the cells of a board after an arrangement."""
    transposed, rows, columns = arrangement
    grid = board.cells.reshape(board.n, board.n)
    grid = grid.T if transposed else grid
    return [int(grid[row, column]) for row in rows for column in columns]


def renumber(cells: list[int]) -> tuple[int, ...]:
    """Renumber digits in the order in which they first appear: the least of all relabellings."""
    numbers = {0: 0}
    return tuple(numbers.setdefault(digit, len(numbers)) for digit in cells)


def every_form(board: Board) -> Iterator[tuple[int, ...]]:
    """Yield the renumbered form of every arrangement of a board."""
    for arrangement in arrangements(board.geometry):
        yield renumber(arranged(board, arrangement))


def count_idle_relabellings(board: Board) -> int:
    """Count the relabellings that change no clue: they permute the digits that do not occur."""
    return factorial(board.n - len({*board.cells.tolist()} - {0}))


@cache
def _row_steps(geometry: Geometry) -> list[tuple[NDArray[np.int8], NDArray[np.int16]]]:
    """Return, for each number of rows, the beginnings of that length of all orders of rows.

    Beginnings of one length are numbered in ascending order. The first array of a step has the
    last row of each. The second has a row for each beginning that is one row shorter, with the
    numbers of the beginnings that continue it.
    """
    orders = [*line_orders(geometry.box_columns, geometry.box_rows)]
    steps = []
    shorter: list[tuple[int, ...]] = [()]
    for length in range(1, geometry.n + 1):
        longer = sorted({order[:length] for order in orders})
        numbers = {beginning: number for number, beginning in enumerate(longer)}
        continuations = [
            [numbers[beginning] for beginning in longer if beginning[:-1] == prefix]
            for prefix in shorter
        ]
        last_rows = np.array([beginning[-1] for beginning in longer], np.int8)
        steps.append((last_rows, np.array(continuations, np.int16)))
        shorter = longer
    return steps


@cache
def _column_orders(geometry: Geometry) -> NDArray[np.int8]:
    return np.array([*line_orders(geometry.box_rows, geometry.box_columns)], np.int8)


def least(board: Board) -> Least:
    """Find the least equivalent board: cell by cell, drop the arrangements that exceed it."""
    geometry = board.geometry
    n = board.n
    grid = board.cells.reshape(n, n)
    transposable = geometry.box_rows == geometry.box_columns
    grids = np.array([grid, grid.T] if transposable else [grid])
    column_orders = _column_orders(geometry)

    # One element for each remaining arrangement: the numbers of its grid, of its order of columns,
    # and of the beginning of its order of rows.
    grid_number, column_order = (
        index.ravel() for index in np.indices((len(grids), len(column_orders)), np.int16)
    )
    row_order = np.zeros(len(grid_number), np.int16)
    # The new digit of each old one, 0 before it has appeared. Remaining arrangements agree in all
    # cells so far, so the same number of digits has appeared in each.
    new_digits = np.zeros((len(grid_number), n + 1), np.int8)
    appeared = 0

    cells: list[int] = []
    for last_rows, continuations in _row_steps(geometry):
        # Replace each arrangement by those that continue it by one row.
        parent = np.repeat(np.arange(len(row_order)), continuations.shape[1])
        row_order = continuations[row_order].ravel()
        grid_number = grid_number[parent]
        column_order = column_order[parent]
        new_digits = new_digits[parent]
        for i in range(n):
            old = grids[grid_number, last_rows[row_order], column_orders[column_order, i]]
            new = new_digits[np.arange(len(old)), old]
            new[(new == 0) & (old > 0)] = appeared + 1
            least_digit = int(new.min())
            remains = new == least_digit
            grid_number = grid_number[remains]
            column_order = column_order[remains]
            row_order = row_order[remains]
            new_digits = new_digits[remains]
            new_digits[np.arange(len(row_order)), old[remains]] = least_digit
            appeared = max(appeared, least_digit)
            cells.append(least_digit)
    return Least(Board(cells, geometry), len(row_order) * count_idle_relabellings(board))


def twin(board: Board, rng: np.random.Generator) -> Board:
    """Return an equivalent board: apply a random transformation."""
    height = board.geometry.box_rows
    width = board.geometry.box_columns

    def shuffled_lines(group_count: int, group_size: int) -> NDArray[np.int64]:
        groups = rng.permutation(group_count)
        return np.concatenate([g * group_size + rng.permutation(group_size) for g in groups])

    grid = board.cells.reshape(board.n, board.n)
    if height == width and rng.random() < 0.5:
        grid = grid.T
    digits = np.concatenate([[0], 1 + rng.permutation(board.n)])  # digits[0]: an empty cell
    rows = shuffled_lines(width, height)
    columns = shuffled_lines(height, width)
    grid = digits[grid[rows][:, columns]]
    return Board(grid, board.geometry)
