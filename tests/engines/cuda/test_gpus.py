"""Two GPUs, both simulated: each gets a part of the work, and they share it."""

from __future__ import annotations

import threading
from collections.abc import Iterable

import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.counting import count
from gpusudoku.engines.cuda.device import Gpu
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.engines.cuda.launch import Launch
from gpusudoku.jobs.job import Job, Task
from tests import naive
from tests.boards import full_grid, puzzle, searched, spoilt
from tests.engines.cuda.simulator import MANY, ON_SIMULATOR, limit_budgets

pytestmark = ON_SIMULATOR


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> CudaEngine:
    """Two simulated GPUs. The simulator runs one kernel at a time."""
    turn = threading.Lock()
    again = Launch.again

    def in_turn(self: Launch) -> None:
        with turn:
            again(self)

    monkeypatch.setattr(Launch, "again", in_turn)
    engine = CudaEngine()
    engine.gpus = [Gpu(0), Gpu(1)]
    return engine


def test_each_gets_a_part(engine: CudaEngine) -> None:
    result = count(MANY, engine=engine, method="search")
    assert result.count == naive.count(MANY)
    assert len(result.stats.utilisation) == 2


def test_work_is_shared(engine: CudaEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of it starts on one GPU; the other asks for some."""
    limit_budgets(3, monkeypatch)
    shared = []
    share = Job.share

    def watched(self: Job, tasks: Iterable[Task]) -> None:
        made = list(tasks)
        shared.extend(len(task.payload) for task in made)
        share(self, made)

    monkeypatch.setattr(Job, "share", watched)
    board = puzzle("2x3", 8, 6)
    assert count(board, engine=engine, method="search", cutoff=1e30).count == naive.count(board)
    assert shared
    assert min(shared) >= 1


def test_fewer_boards_than_gpus(engine: CudaEngine) -> None:
    full = Board(full_grid(Geometry(2, 3), 0), Geometry(2, 3))
    assert count(full, engine=engine, method="search").count == 1
    assert count(spoilt(full, 0), engine=engine, method="search").count == 0


def test_several_roots(engine: CudaEngine) -> None:
    boards = [puzzle("2x3", clues, seed) for seed, clues in enumerate([11, 36, 12])]
    assert searched(boards, engine).counts == [naive.count(board) for board in boards]
