"""Counts of puzzles, and a check of minimal puzzles that is independent of the tested code."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import gpusudoku
from gpusudoku import Board
from gpusudoku.engines.cpu import CpuEngine


def counts(boards: Sequence[Board]) -> list[int]:
    """Return the number of solutions of each board, or 2 if it has more."""
    results = gpusudoku.count_many(boards, limit=2, method="search", engine=CpuEngine(1))
    solution_counts: list[int] = results.numbers().tolist()
    return solution_counts


def is_minimal(boards: Sequence[Board], fixed: NDArray[np.bool_] | None = None) -> bool:
    """Return whether each board has one solution, and several without any one of its clues.

    ``fixed`` marks cells whose clues may be superfluous.
    """
    boards_without_a_clue = []
    for board in boards:
        has_clue = board.cells > 0
        removable = has_clue if fixed is None else has_clue & ~fixed
        for cell in np.flatnonzero(removable).tolist():
            cells = board.cells.copy()
            cells[cell] = 0
            boards_without_a_clue.append(Board(cells, board.geometry))
    return {*counts(boards)} <= {1} and {*counts(boards_without_a_clue)} <= {2}
