"""Boards that are made for measurements: random ones, and known ones with fewer clues."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpusudoku import Board, Geometry, collection

NINE = Geometry(3, 3)
EXPENSIVE = (6, 7, 8)
"""The numbers of clues of the most expensive boards known, each clue of a different digit."""


def shuffled_lines(rng: np.random.Generator) -> NDArray[np.int64]:
    """The numbers of the rows or columns of a 9x9 board, in an order that keeps it a board.

    Returns
    -------
    int64 (9)
    """
    return np.concatenate([3 * band + rng.permutation(3) for band in rng.permutation(3)])


def full_grid(rng: np.random.Generator) -> NDArray[np.int64]:
    """A random full grid: the cyclic one with its digits, bands, stacks, rows and columns shuffled.

    Returns
    -------
    int64 (9, 9)
    """
    row, column = np.divmod(np.arange(81), 9)
    cyclic = ((3 * row + row // 3 + column) % 9).reshape(9, 9)
    digits = rng.permutation(9)
    rows = shuffled_lines(rng)
    columns = shuffled_lines(rng)
    return 1 + digits[cyclic[rows][:, columns]]


def random_boards(clues: int, number: int) -> list[Board]:
    """Boards of random cells of random grids; the seed is the number of clues."""
    rng = np.random.default_rng(clues)
    boards = []
    for _ in range(number):
        cells = full_grid(rng).ravel()
        cells[rng.permutation(81)[clues:]] = 0
        boards.append(Board(cells))
    return boards


def expensive_boards(number: int) -> list[Board]:
    """Boards of six to eight clues, each of a different digit; the seed is 1000."""
    rng = np.random.default_rng(1000)
    boards = []
    for index in range(number):
        grid = full_grid(rng).ravel()
        cells = np.zeros(81, np.int64)
        for digit in rng.permutation(9)[: EXPENSIVE[index % len(EXPENSIVE)]]:
            cell = rng.choice(np.flatnonzero(grid == digit + 1))
            cells[cell] = digit + 1
        boards.append(Board(cells))
    return boards


def rearranged(grid: NDArray[np.uint8], rng: np.random.Generator) -> NDArray[np.uint8]:
    """Exchange the digits, rows and columns of a 9x9 board at random.

    Returns
    -------
    uint8 (9, 9)
    """
    rows = shuffled_lines(rng)
    columns = shuffled_lines(rng)
    digits = np.concatenate([[0], 1 + rng.permutation(9)]).astype(np.uint8)
    return digits[grid[rows][:, columns]]


def thinned(name: str, clues: int) -> Board:
    """A board of the collection without its last ``clues`` clues, which has more solutions."""
    board = collection.load(name)
    cells = board.cells.copy()
    given = np.flatnonzero(cells)
    cells[given[max(0, len(given) - clues) :]] = 0
    return Board(cells, board.geometry)
