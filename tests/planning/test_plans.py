"""Plans: prices, tasks, limits, and what stops them."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.counting import count
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.errors import Interrupted
from gpusudoku.jobs.cancel import CancelToken
from gpusudoku.jobs.watch import Progress, reporting
from gpusudoku.planning.plan import Plan
from gpusudoku.planning.search import TASKS
from tests.boards import spoilt
from tests.planning.plans import FULL, GENERAL, NINE, every_plan, search, total

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
    assert search(spoilt(FULL, 1)).tasks() == 0


@pytest.mark.parametrize("limit", [1, 40])
def test_a_search_stops_at_the_limit(limit: int) -> None:
    assert search(NINE, limit=limit).seconds < search(NINE).seconds
    for board in (NINE, GENERAL):
        [found] = search(board, limit=limit).run(CpuEngine(1)).counts
        assert limit <= found < total(board)
        [found] = search(board, limit=limit).run(CpuEngine(2)).counts
        assert found >= limit


def test_a_token_stops_a_long_run_from_another_thread() -> None:
    token, counted = CancelToken(), threading.Event()

    def progress(state: Progress) -> None:
        if state.count:
            counted.set()

    def cancel() -> None:
        assert counted.wait(100)
        token.cancel()

    before, thread = threading.active_count(), threading.Thread(target=cancel)
    thread.start()
    with pytest.raises(Interrupted) as caught, token, reporting(progress):
        search(EMPTY).run(CpuEngine(2))
    assert caught.value.count > 0
    thread.join()
    assert threading.active_count() <= before


@every_plan
def test_a_plan_that_was_cancelled_before_stops_at_once(make: Callable[[], Plan]) -> None:
    """It can be run again: what was made of it before is whole, or made anew."""
    plan, token = make(), CancelToken()
    token.cancel()
    with pytest.raises(Interrupted) as caught, token:
        plan.run(CpuEngine(2))
    assert caught.value.count == 0
    assert plan.run(CpuEngine(2)).counts == make().run(CpuEngine(1)).counts
    assert plan.tasks() == make().tasks()


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_count_can_be_interrupted(jobs: int) -> None:
    """By Ctrl-C: with what it has found so far, and no thread left behind."""
    seen = []

    def progress(state: Progress) -> None:
        seen.append(state.count)
        if state.count:
            raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(Interrupted) as caught:
        count(EMPTY, device="cpu", method="search", jobs=jobs, progress=progress)
    assert caught.value.count >= seen[-1] > 0
    assert threading.active_count() <= before
