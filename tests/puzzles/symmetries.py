"""Equivalent boards: all arrangements of lines tried, the least form, and how many reach it.

An arrangement puts rows and columns into an order that keeps bands and stacks together, of the
board or, where boxes are square, of the transposed board. Digits then take the numbers in which
they first appear. ``every_form`` is the definition, word for word. ``least`` drops arrangements
cell by cell, as soon as they are not the least: for the 3,359,232 of a 9x9 board.
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
"""Whether the board is transposed, then the rows and the columns that the result takes."""


class Least(NamedTuple):
    """The least of all equivalent boards, and how many symmetries the board has."""

    board: Board
    automorphisms: int


def line_orders(groups: int, size: int) -> Iterator[tuple[int, ...]]:
    """List all orders of lines that keep those of a group together."""
    for order in permutations(range(groups)):
        for inside in product(permutations(range(size)), repeat=groups):
            yield tuple(g * size + i for g, each in zip(order, inside, strict=True) for i in each)


def arrangements(geometry: Geometry) -> Iterator[Arrangement]:
    """List all arrangements of a board of this shape."""
    height = geometry.box_rows
    width = geometry.box_columns
    turns = (False, True) if height == width else (False,)
    return product(turns, line_orders(width, height), line_orders(height, width))


def group_order(geometry: Geometry) -> int:
    """Count all pairs of an arrangement and a relabelling."""
    height = geometry.box_rows
    width = geometry.box_columns
    lines = factorial(width) * factorial(height) ** width
    lines *= factorial(height) * factorial(width) ** height
    return lines * factorial(geometry.n) * (2 if height == width else 1)


def arranged(board: Board, arrangement: Arrangement) -> list[int]:
    """Return the cells that stand in a board after an arrangement."""
    transposed, rows, columns = arrangement
    grid = board.cells.reshape(board.n, board.n)
    grid = grid.T if transposed else grid
    return [int(grid[row, column]) for row in rows for column in columns]


def numbered(cells: list[int]) -> tuple[int, ...]:
    """Give digits the numbers in which they first appear: the least of all relabellings."""
    numbers = {0: 0}
    return tuple(numbers.setdefault(digit, len(numbers)) for digit in cells)


def every_form(board: Board) -> Iterator[tuple[int, ...]]:
    """List the numbered form of every arrangement of a board."""
    return (numbered(arranged(board, each)) for each in arrangements(board.geometry))


def unused(board: Board) -> int:
    """Count the relabellings that change no clue: those of digits that do not occur."""
    return factorial(board.n - len({*board.cells.tolist()} - {0}))


@cache
def _row_steps(geometry: Geometry) -> list[tuple[NDArray[np.int8], NDArray[np.int16]]]:
    """List, for every length, the last row of each order of so many rows, and what continues what.

    The orders of a length have numbers. The second array has, for each order that is one row
    shorter, the numbers of those that begin with it.
    """
    orders = [*line_orders(geometry.box_columns, geometry.box_rows)]
    steps = []
    shorter: list[tuple[int, ...]] = [()]
    for length in range(1, geometry.n + 1):
        longer = sorted({order[:length] for order in orders})
        number = {order: i for i, order in enumerate(longer)}
        continued = [[number[x] for x in longer if x[:-1] == order] for order in shorter]
        steps.append((np.array([x[-1] for x in longer], np.int8), np.array(continued, np.int16)))
        shorter = longer
    return steps


@cache
def _column_orders(geometry: Geometry) -> NDArray[np.int8]:
    return np.array([*line_orders(geometry.box_rows, geometry.box_columns)], np.int8)


def least(board: Board) -> Least:
    """Find the least equivalent board: cell by cell, drop the arrangements that are above it."""
    geometry = board.geometry
    n = board.n
    grid = board.cells.reshape(n, n)
    transposable = geometry.box_rows == geometry.box_columns
    grids = np.array([grid, grid.T] if transposable else [grid])
    columns = _column_orders(geometry)
    # An arrangement so far: which grid, which order of columns, the number of its order of rows.
    turn, column = (each.ravel() for each in np.indices((len(grids), len(columns)), np.int16))
    order = np.zeros(len(turn), np.int16)
    # The numbers of its digits, 0 for one that has not appeared. As many have in all arrangements.
    numbers = np.zeros((len(turn), n + 1), np.int8)
    appeared = 0
    cells: list[int] = []
    for row, longer in _row_steps(geometry):
        parent = np.repeat(np.arange(len(order)), longer.shape[1])
        order = longer[order].ravel()
        turn = turn[parent]
        column = column[parent]
        numbers = numbers[parent]
        for i in range(n):
            digit = grids[turn, row[order], columns[column, i]]
            number = numbers[np.arange(len(digit)), digit]
            number[(number == 0) & (digit > 0)] = appeared + 1
            first = int(number.min())
            kept = number == first
            turn = turn[kept]
            column = column[kept]
            order = order[kept]
            numbers = numbers[kept]
            numbers[np.arange(len(order)), digit[kept]] = first
            appeared = max(appeared, first)
            cells.append(first)
    return Least(Board(cells, geometry), len(order) * unused(board))


def twin(board: Board, rng: np.random.Generator) -> Board:
    """Return an equivalent board by a random transformation."""
    height = board.geometry.box_rows
    width = board.geometry.box_columns

    def shuffled(groups: int, size: int) -> NDArray[np.int64]:
        return np.concatenate([g * size + rng.permutation(size) for g in rng.permutation(groups)])

    grid = board.cells.reshape(board.n, board.n)
    if height == width and rng.random() < 0.5:
        grid = grid.T
    digits = np.concatenate([[0], 1 + rng.permutation(board.n)])
    grid = digits[grid[shuffled(width, height)][:, shuffled(height, width)]]
    return Board(grid, board.geometry)
