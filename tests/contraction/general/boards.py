"""Helpers of the tests of the general contraction: joins of boards, and their counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general.join import Join
from gpusudoku.logic import simplify

RUNNING = np.zeros(1, np.int64)
"""The stop flag of a sum that is not stopped."""


def empty(shape: str) -> Board:
    return Board.empty(Geometry.parse(shape))


def join_of(board: Board, **options: Any) -> Join:
    """Make the join of a board after naked singles; the options are those of ``Join``."""
    simplified = simplify(board, "naked-single") if board.clues else board
    return Join(simplified.candidates, board.geometry, **options)


def clues_only(board: Board) -> NDArray[np.uint64]:
    """Return the candidates masks without the clues that each cell sees."""
    bits = np.uint64(1) << (board.cells.astype(np.uint64) - np.uint64(1))
    return np.where(board.cells > 0, bits, board.candidates)


def summed(join: Join) -> int:
    """Sum all tasks on one thread."""
    if not join.tasks:
        return 0
    return join.factor * join.sum(range(join.tasks), join.scratch(), RUNNING)[0]


def count(board: Board, **options: Any) -> int:
    """Count the solutions of a board from its clues."""
    return summed(Join(clues_only(board), board.geometry, **options))
