"""What the tests of the general contraction share: candidates of boards, and their count."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general.join import Join
from gpusudoku.logic import simplify

RUNNING = np.zeros(1, np.int64)
"""The flag of a sum that is not stopped."""


def empty(shape: str) -> Board:
    return Board.empty(Geometry.parse(shape))


def join_of(board: Board, **options: Any) -> Join:
    """Join a board's candidates after naked singles; the options are those of ``Join``."""
    simplified = simplify(board, "naked-single") if board.clues else board
    return Join(simplified.candidates, board.geometry, **options)


def clues_only(board: Board) -> NDArray[np.uint64]:
    """List the candidates that follow from the clues at sight."""
    bits = np.uint64(1) << (board.cells.astype(np.uint64) - np.uint64(1))
    return np.where(board.cells > 0, bits, board.candidates)


def summed(join: Join) -> int:
    """Add up all tasks, on one thread."""
    if not join.tasks:
        return 0
    return join.factor * join.sum(range(join.tasks), join.scratch(), RUNNING)[0]


def count(board: Board, **options: Any) -> int:
    """Count the solutions of a board as its clues give it."""
    return summed(Join(clues_only(board), board.geometry, **options))
