"""What tests on Numba's simulator share: engines, budgets and memory of their own."""

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
"""The marks of the tests. Nothing on the simulator needs a compiled frontier."""

CLUES = {"2x2": 4, "1x4": 4, "2x3": 14, "3x3": 40}
"""Clues that leave so few solutions that the simulator is quick."""
MANY = puzzle("2x3", 9, 6)
"""A board with many solutions, as the simulator goes."""


class Launched(NamedTuple):
    """A launch of a kernel, and the boards before and after it."""

    rounds: int
    threads: int
    depth: int
    before: int
    after: int


def counted(board: Board, **options: Any) -> int:
    """The count of a search on the simulator."""
    result = count(board, device="cuda", method="search", **options)
    assert result.device == "cuda"
    return result.count


def short_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every launch take one round only, so that there are many."""
    monkeypatch.setattr(search, "FIRST_ROUNDS", 1)
    monkeypatch.setattr(search, "LAUNCH_SECONDS", 1e-9)


def limit_memory(levels: int, geometry: Geometry, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let stacks have so many rows in all: boards, and their roots."""
    row = shape_of(geometry).row_bytes + 8
    share = search.MEMORY_SHARE
    monkeypatch.setattr(search, "MIN_DEPTH", 2)
    monkeypatch.setattr(Gpu, "free_bytes", lambda self: int(levels * row / share))
