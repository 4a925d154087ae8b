"""Puzzles counted one by one, without those who made them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import gpusudoku
from gpusudoku import Board
from gpusudoku.engines.cpu import CpuEngine


def counts(boards: Sequence[Board]) -> list[int]:
    """Their numbers of solutions, 2 for more."""
    found: list[int] = (
        gpusudoku.count_many(boards, limit=2, method="search", engine=CpuEngine(1))
        .numbers()
        .tolist()
    )
    return found


def is_minimal(boards: Sequence[Board], kept: NDArray[np.bool_] | None = None) -> bool:
    """Whether all have one solution, and several without any one clue that is not kept."""
    lacking = []
    for board in boards:
        free = board.cells > 0 if kept is None else (board.cells > 0) & ~kept
        for cell in np.flatnonzero(free).tolist():
            cells = board.cells.copy()
            cells[cell] = 0
            lacking.append(Board(cells, board.geometry))
    return {*counts(boards)} <= {1} and {*counts(lacking)} <= {2}
