"""Plans: estimates, tasks, limits, deadlines and cancellation."""

from __future__ import annotations

import threading
from collections.abc import Callable
from math import inf

import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.counting import count
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.errors import Cancelled, Interrupted
from gpusudoku.jobs.cancel import CancelToken, Deadline
from gpusudoku.jobs.watch import Progress, reporting
from gpusudoku.options import Options
from gpusudoku.planning.plan import Plan
from gpusudoku.planning.search import TASKS, SearchPlan
from gpusudoku.search.frontier import Frontier
from tests import naive
from tests.boards import puzzle, with_wrong_clue
from tests.planning.plans import (
    FULL,
    GENERAL,
    NINE,
    AfterPolls,
    every_plan,
    search,
    total,
)

pytestmark = pytest.mark.usefixtures("small_parts")
EMPTY = Board.empty(Geometry(3, 3))


@every_plan
def test_a_plan_knows_its_price(make: Callable[[], Plan]) -> None:
    plan = make()
    assert 0 < plan.seconds == make().seconds < 100
    assert plan.method == plan.run(CpuEngine(1)).stats.method


def test_a_search_has_so_many_tasks() -> None:
    assert TASKS <= search(NINE).tasks() < 2 * TASKS
    assert search(GENERAL, cutoff=1000).tasks() > search(GENERAL, cutoff=1e30).tasks() == 1
    assert search(FULL).tasks() == 1
    assert search(with_wrong_clue(FULL, 1)).tasks() == 0


@pytest.mark.parametrize("limit", [1, 40])
def test_a_search_stops_at_the_limit(limit: int) -> None:
    assert search(NINE, limit=limit).seconds < search(NINE).seconds
    for board in (NINE, GENERAL):
        [solution_count] = search(board, limit=limit).run(CpuEngine(1)).counts
        assert limit <= solution_count < total(board)
        [solution_count] = search(board, limit=limit).run(CpuEngine(2)).counts
        assert solution_count >= limit


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("cutoff", [None, 1000])
def test_a_deadline_ends_a_search(jobs: int, cutoff: float | None) -> None:
    """At any moment: finished roots have all their solutions, unfinished ones some."""
    boards = [puzzle("2x3", clues, 1) for clues in (8, 20, 9, 30)]
    totals = [naive.count(board) for board in boards]
    unfinished_counts = set()
    for polls in range(0, 60, 3):
        plan = SearchPlan(Frontier.of(boards), Options(cutoff=cutoff))
        outcome = plan.run(CpuEngine(jobs), deadline=AfterPolls(polls))
        for root, (number, whole) in enumerate(zip(outcome.counts, totals, strict=True)):
            assert number <= whole if root in outcome.unfinished else number == whole
        unfinished_counts.add(len(outcome.unfinished))
    assert len(unfinished_counts) > 1


def test_a_deadline_does_not_count_the_time_of_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    compile_plan = SearchPlan.compile

    def slow(self: SearchPlan, engine: CpuEngine) -> int:
        clock[0] += 1000
        return compile_plan(self, engine)

    monkeypatch.setattr(SearchPlan, "compile", slow)
    outcome = search(GENERAL).run(CpuEngine(1), deadline=Deadline(10, lambda: clock[0]))
    assert (outcome.counts, [*outcome.unfinished]) == ([total(GENERAL)], [])


@every_plan
def test_a_deadline_that_has_passed(make: Callable[[], Plan]) -> None:
    plan = make()
    deadline = Deadline(inf)
    deadline.cancel()
    if plan.method == "search":
        outcome = plan.run(CpuEngine(2), deadline=deadline)
        assert (outcome.counts, [*outcome.unfinished]) == ([0], [0])
    else:
        with pytest.raises(Cancelled):
            plan.run(CpuEngine(2), deadline=deadline)
    assert plan.run(CpuEngine(2)).counts == make().run(CpuEngine(1)).counts


def test_a_token_stops_a_long_run_from_another_thread() -> None:
    token = CancelToken()
    has_counted = threading.Event()

    def progress(state: Progress) -> None:
        if state.count:
            has_counted.set()

    def cancel() -> None:
        assert has_counted.wait(100)
        token.cancel()

    threads_before = threading.active_count()
    thread = threading.Thread(target=cancel)
    thread.start()
    with pytest.raises(Interrupted) as caught, token, reporting(progress):
        search(EMPTY).run(CpuEngine(2))
    assert caught.value.count > 0
    thread.join()
    assert threading.active_count() <= threads_before


@every_plan
def test_a_plan_that_was_cancelled_before_stops_at_once(make: Callable[[], Plan]) -> None:
    """It can be run again: unfinished preparations are repeated."""
    plan = make()
    token = CancelToken()
    token.cancel()
    with pytest.raises(Interrupted) as caught, token:
        plan.run(CpuEngine(2))
    assert caught.value.count == 0
    assert plan.run(CpuEngine(2)).counts == make().run(CpuEngine(1)).counts
    assert plan.tasks() == make().tasks()


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_count_can_be_interrupted(jobs: int) -> None:
    """The error has the count so far, and no thread is left."""
    counts = []

    def progress(state: Progress) -> None:
        counts.append(state.count)
        if state.count:
            raise KeyboardInterrupt

    threads_before = threading.active_count()
    with pytest.raises(Interrupted) as caught:
        count(EMPTY, device="cpu", method="search", jobs=jobs, progress=progress)
    assert caught.value.count >= counts[-1] > 0
    assert threading.active_count() <= threads_before
