"""Boards, searches and limits that the tests on Numba's simulator share."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.counting import count
from gpusudoku.engines.cuda import availability, search
from gpusudoku.engines.cuda.device import Gpu
from tests.boards import puzzle, shape_of

ON_SIMULATOR = [
    pytest.mark.skipif(not availability.simulated(), reason="a GPU is there: see test_gpu.py"),
    pytest.mark.usefixtures("uncompiled"),
]
"""The marks of the tests: their frontiers are small enough for uncompiled kernels."""

CLUES = {"2x2": 4, "1x4": 4, "2x3": 14, "3x3": 40}
"""Numbers of clues that leave few solutions, so that the simulator is quick."""
MANY = puzzle("2x3", 9, 6)
"""A board with many solutions for the slow simulator."""


class Launch(NamedTuple):
    """A launch of a kernel, and the numbers of boards before and after it."""

    rounds: int
    threads: int
    depth: int
    boards_before: int
    boards_after: int


def count_simulated(board: Board, **options: Any) -> int:
    """Count solutions by a search on the simulator."""
    result = count(board, device="cuda", method="search", **options)
    assert result.device == "cuda"
    return result.count


def short_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit every launch to one round, so that a search needs many launches."""
    monkeypatch.setattr(search, "FIRST_ROUNDS", 1)
    monkeypatch.setattr(search, "LAUNCH_SECONDS", 1e-9)


def limit_memory(rows: int, geometry: Geometry, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the GPU memory for stacks of ``rows`` rows in all."""
    row_bytes = shape_of(geometry).row_bytes + 8  # a packed board, and the number of its root
    free_bytes = int(rows * row_bytes / search.MEMORY_SHARE)
    monkeypatch.setattr(search, "MIN_DEPTH", 2)
    monkeypatch.setattr(Gpu, "free_bytes", lambda self: free_bytes)
