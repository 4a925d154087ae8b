"""What tests on Numba's simulator share: engines, budgets and memory of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.counting import count
from gpusudoku.engines.cuda import availability
from gpusudoku.engines.cuda import launch as launch_module
from gpusudoku.engines.cuda.device import SIMULATED, Gpu
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.engines.cuda.launch import Launch
from gpusudoku.engines.cuda.worker import GpuWorker
from gpusudoku.search.frontier import Frontier
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
    """A launch of a kernel."""

    budget: int
    threads: int
    depth: int


def tuned(**changes: Any) -> CudaEngine:
    """An engine whose kernels are launched in another way."""
    return CudaEngine(tuning=replace(SIMULATED, **changes))


def counted(board: Board, **options: Any) -> int:
    """The count of a search on the simulator."""
    result = count(board, device="cuda", method="search", **options)
    assert result.device == "cuda"
    return result.count


def limit_budgets(nodes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let threads look at no more than so many nodes in their first launch."""
    launch = GpuWorker.launch

    def launched(self: GpuWorker, frontier: Frontier, budget: int) -> Launch:
        return launch(self, frontier, min(budget, nodes))

    monkeypatch.setattr(GpuWorker, "launch", launched)


def limit_memory(levels: int, geometry: Geometry, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let stacks have so many rows in all: boards, and their roots."""
    row = shape_of(geometry).row_bytes + 8
    share = launch_module.MEMORY_SHARE
    monkeypatch.setattr(launch_module, "LEAST_DEPTH", 2)
    monkeypatch.setattr(Gpu, "free_bytes", lambda self: int(levels * row / share))
