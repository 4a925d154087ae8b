"""Shares in parts: a board is divided by clues into boards whose shares add up to its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.engines.engine import Engine
from gpusudoku.enumeration.solutions import Solutions
from gpusudoku.jobs.watch import watching
from gpusudoku.options import Options

BOARDS_A_PART = 4
"""Boards for each part: some take longer than others."""
MOST_BOARDS = 1 << 14
"""The most boards that one is divided into: all are in memory."""


def divided(board: Board, parts: int) -> list[Board]:
    """Divide a board into boards with more clues, which together have its solutions, each once.

    They depend on the board and on the number of parts alone, of which each is to have some. There
    are fewer where a board has hardly any empty cells, or hardly any solutions.
    """
    least = min(BOARDS_A_PART * parts, MOST_BOARDS)
    boards = [] if board.conflicts else [board]
    while 0 < len(boards) < least and not all(each.is_full for each in boards):
        boards = [child for each in boards for child in _children(each)]
    return boards


def shares_of(
    boards: Iterable[Board], board: Board, options: Options, engine: Engine
) -> NDArray[Any]:
    """Add up the shares of some of the boards that one was divided into: object (cells, n)."""
    shares = np.zeros((board.geometry.cells, board.n), object)
    with watching(None):
        for each in boards:
            shares += Solutions(each, options, engine=engine).shares()
    return shares


def _children(board: Board) -> list[Board]:
    """Make a board for every candidate of the first cell with the fewest; a full one is its own."""
    if board.is_full:
        return [board]
    empty, counts = board.cells == 0, np.bitwise_count(board.candidates)
    cell = int(np.argmin(np.where(empty, counts, board.n + 1)))
    cells, given = board.cells.copy(), board.given_candidates
    children = []
    for digit in range(1, board.n + 1):
        if int(board.candidates[cell]) >> digit - 1 & 1:
            cells[cell] = digit
            if given is not None:
                given = given.copy()
                given[cell] = 1 << digit - 1
            children.append(Board(cells, board.geometry, candidates=given))
    return children
