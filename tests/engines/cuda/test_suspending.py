"""A search in short steps: finished and remaining tasks are together the whole search."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from gpusudoku import count, count_many, solve
from gpusudoku.engines.cuda import search
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.errors import Cancelled, DeviceError
from gpusudoku.jobs.cancel import CancelToken, cancelling
from gpusudoku.jobs.job import Job
from gpusudoku.kernels.search.shape import SearchSettings
from gpusudoku.options import Options
from gpusudoku.planning.search import SearchPlan
from gpusudoku.search.frontier import Frontier
from tests import naive
from tests.boards import puzzle
from tests.engines.cuda.faulty import Faulty
from tests.engines.cuda.simulator import ON_SIMULATOR, count_simulated, short_launches
from tests.planning.plans import AfterPolls

pytestmark = ON_SIMULATOR

BOARD = puzzle("2x3", 10, 6)


@pytest.fixture(autouse=True)
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every launch short, so that there are many."""
    short_launches(monkeypatch)


def quick_engine(*gpus: Faulty) -> CudaEngine:
    engine = CudaEngine()
    engine.gpus = [*gpus] or engine.gpus
    return engine


@pytest.mark.parametrize(("cutoff", "share"), [(None, 1e9), (1e30, 0.0)])
def test_step_by_step(cutoff: float | None, share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each step may end with its first launch."""
    monkeypatch.setattr(search, "TRANSFER_SHARE", share)
    plan = SearchPlan(Frontier.of([BOARD]), Options(cutoff=cutoff))
    engine = quick_engine()
    portion = plan.part(1, 1)
    task_counts = Counter[int]()
    steps = 0
    while portion:
        step = plan.step(engine, portion, seconds=0.0)
        assert step.counts or step.remaining
        for task_count in step.counts:
            task_counts[task_count.tasks.start] += task_count.solutions
        assert step.interrupted is None
        portion = step.remaining
        steps = steps + 1
    assert task_counts.total() == naive.count(BOARD)
    if cutoff:
        assert steps > 3


class Stopped(Job):
    """A job that ends after ``reports`` reports of any GPU."""

    def __init__(self, reports: int, end: str) -> None:
        self._token = CancelToken()
        with cancelling(self._token):
            super().__init__(1, None, None, np.uint64)
        self._still = reports
        self._how = end

    def report_all(self, numbers: Any) -> None:
        super().report_all(numbers)
        self._still -= 1
        if self._still == 0:
            self._token.cancel() if self._how == "cancel" else self.suspend()


@pytest.mark.parametrize(
    ("end", "fault"), [("cancel", None), ("suspend", None), ("suspend", 9), ("cancel", 40)]
)
def test_remaining_tasks_have_the_remaining_solutions(end: str, fault: int | None) -> None:
    """The search may end at any moment, and the GPU may have failed by then."""
    frontier = Frontier.of([BOARD])
    settings = SearchSettings()
    total = naive.count(BOARD)
    task_count = 0
    for reports in range(1, 12, 2):
        engine = quick_engine(gpu := Faulty())
        job = Stopped(reports, end)
        engine.prepare(frontier, settings)
        gpu.failing_call = fault and gpu.calls + fault
        with suppress(Cancelled, DeviceError):
            engine.explore(frontier, settings, job)
        gpu.failing_call = None
        remaining_job = Job(1, None, None, np.uint64)
        for task in job.remaining_tasks:
            task_count += len(task.payload)
            engine.explore(task.payload, settings, last_job := Job(1, None, None, np.uint64))
            remaining_job.report_all(last_job.numbers)
        assert job.total + remaining_job.total == total
    assert task_count > 0


def test_a_deadline_ends_a_search() -> None:
    """It may end any launch: finished roots have all their solutions, unfinished ones some."""
    boards = [puzzle("2x3", 24, 6), BOARD]
    totals = [naive.count(board) for board in boards]
    unfinished_roots = set()
    for polls in range(0, 20, 3):
        plan = SearchPlan(Frontier.of(boards), Options())
        outcome = plan.run(quick_engine(), deadline=AfterPolls(polls))
        for root, (number, total) in enumerate(zip(outcome.counts, totals, strict=True)):
            assert number <= total if root in outcome.unfinished else number == total
        unfinished_roots.add(tuple(outcome.unfinished))
    assert (0, 1) in unfinished_roots


def test_a_time_limit_ends_boards_of_a_batch() -> None:
    result, second_result = count_many([BOARD, BOARD], device="cuda", seconds=1e-6)
    for limited in (
        result,
        second_result,
        count(BOARD, device="cuda", method="search", seconds=1e-6),
    ):
        assert (limited.exact, limited.device) == (False, "cuda")
        assert limited.count <= naive.count(BOARD)
    assert solve(BOARD, device="cuda", seconds=1e-6).solvable is None
    assert count_simulated(BOARD, seconds=1000) == naive.count(BOARD)
