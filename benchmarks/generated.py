"""Boards for measurements: random boards, and boards of the collection with fewer clues."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpusudoku import Board, Geometry, collection

NINE = Geometry(3, 3)
EXPENSIVE_CLUES = (6, 7, 8)
"""Numbers of clues of the boards whose contraction is most expensive; all clues differ."""


def shuffled_lines(rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the rows (or columns) of a 9x9 board in a random order that keeps it valid.

    Rows are exchanged within their bands, and bands as a whole; columns and stacks likewise.

    Returns
    -------
    int64 (9)
    """
    return np.concatenate([3 * band + rng.permutation(3) for band in rng.permutation(3)])


def full_grid(rng: np.random.Generator) -> NDArray[np.int64]:
    """Return a random full grid: a cyclic grid with shuffled digits, rows and columns.

    Returns
    -------
    int64 (9, 9)
    """
    row, column = np.divmod(np.arange(81), 9)
    # Each row is the one above it shifted by 3, or by 4 at the top of a band.
    cyclic = ((3 * row + row // 3 + column) % 9).reshape(9, 9)
    digits = rng.permutation(9)
    rows = shuffled_lines(rng)
    columns = shuffled_lines(rng)
    return 1 + digits[cyclic[rows][:, columns]]


def random_boards(clues: int, number: int) -> list[Board]:
    """Return boards with clues in random cells of random grids; the seed is ``clues``."""
    rng = np.random.default_rng(clues)
    boards = []
    for _ in range(number):
        cells = full_grid(rng).ravel()
        cells[rng.permutation(81)[clues:]] = 0  # all cells but ``clues`` become empty
        boards.append(Board(cells))
    return boards


def expensive_boards(number: int) -> list[Board]:
    """Return boards of six to eight clues that are all different digits; the seed is 1000."""
    rng = np.random.default_rng(1000)
    boards = []
    for index in range(number):
        grid = full_grid(rng).ravel()
        cells = np.zeros(81, np.int64)
        clues = EXPENSIVE_CLUES[index % len(EXPENSIVE_CLUES)]
        for digit in rng.permutation(9)[:clues]:
            # One of the nine cells of the grid with this digit becomes a clue.
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


def without_clues(name: str, clues: int) -> Board:
    """Return a board of the collection without its last ``clues`` clues: it has more solutions."""
    board = collection.load(name)
    cells = board.cells.copy()
    clue_cells = np.flatnonzero(cells)
    remaining_clues = max(0, len(clue_cells) - clues)
    cells[clue_cells[remaining_clues:]] = 0
    return Board(cells, board.geometry)
