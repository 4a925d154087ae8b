"""Plans: tasks that add up wherever they are run, prices, limits and cancellation."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.errors import Interrupted
from gpusudoku.jobs.cancel import CancelToken
from gpusudoku.jobs.job import Progress
from gpusudoku.options import Options
from gpusudoku.planning.plan import Plan
from gpusudoku.planning.search import TASKS, SearchPlan
from gpusudoku.search.frontier import Frontier
from tests import naive
from tests.boards import puzzle, spoilt
from tests.planning.plans import FULL, GENERAL, NINE, PLANS, contraction, every_plan, search, total

PATIENCE = 100.0
"""Seconds after which something that was to happen has not, on a machine that is busy."""
SOON = 5.0
"""Seconds of work after which a plan has stopped: a tenth of one is enough, but for a large step.
They are those of all its threads, so it does not matter what else the machine does."""

pytestmark = pytest.mark.usefixtures("small_parts")


@every_plan
def test_a_plan_knows_its_price(make: Callable[[], Plan]) -> None:
    plan = make()
    assert 0 < plan.seconds == make().seconds < 100
    assert plan.method == plan.run(CpuEngine(1)).stats.method


def test_the_price_of_a_search_follows_the_limit() -> None:
    assert search(NINE, limit=1).seconds < search(NINE).seconds / 10


def test_a_search_has_so_many_tasks() -> None:
    assert TASKS <= search(NINE).tasks() < 2 * TASKS
    assert search(GENERAL, cutoff=1000).tasks() > search(GENERAL, cutoff=1e30).tasks() == 1
    assert search(FULL).tasks() == 1
    assert search(spoilt(FULL, 1)).tasks() == 0


@pytest.mark.parametrize("make", [search, contraction])
def test_boards_without_solutions(make: Callable[[Board], Plan]) -> None:
    assert make(spoilt(FULL, 1)).run(CpuEngine(2)).counts == [0]
    assert make(FULL).run(CpuEngine(2)).counts == [1]


@pytest.mark.parametrize("limit", [1, 7, 100])
@pytest.mark.parametrize("board", [NINE, GENERAL], ids=["3x3", "2x3"])
def test_a_search_stops_at_the_limit(board: Board, limit: int) -> None:
    [found] = search(board, limit=limit).run(CpuEngine(1)).counts
    assert limit <= found < total(board)
    [found] = search(board, limit=limit).run(CpuEngine(2)).counts
    assert found >= limit


def test_several_roots_keep_their_counts() -> None:
    boards = [puzzle("2x3", clues, seed) for seed, clues in enumerate([9, 36, 10])]
    plan = SearchPlan(Frontier.of(boards), Options())
    assert plan.run(CpuEngine(2)).counts == list(map(naive.count, boards))


LONG: dict[str, Callable[[], Plan]] = {
    "search 3x3": lambda: search(Board.empty(Geometry(3, 3))),
    "search 4x4": lambda: search(Board.empty(Geometry(4, 4))),
    "contraction 3x4": lambda: contraction(puzzle("3x4", 40, 7)),
}
"""What takes minutes at least."""


@pytest.mark.parametrize("make", LONG.values(), ids=list(LONG))
def test_a_token_stops_a_long_run_from_another_thread(make: Callable[[], Plan]) -> None:
    plan, token, cancelled = make(), CancelToken(), []
    counted = threading.Event()

    def progress(state: Progress) -> None:
        if state.count:
            counted.set()

    def cancel() -> None:
        assert counted.wait(PATIENCE)
        cancelled.append(time.process_time())
        token.cancel()

    assert plan.seconds > PATIENCE
    before, thread = threading.active_count(), threading.Thread(target=cancel)
    thread.start()
    with pytest.raises(Interrupted) as caught, token:
        plan.run(CpuEngine(2), progress=progress)
    assert time.process_time() - cancelled[0] < SOON
    assert caught.value.count > 0
    thread.join()
    assert threading.active_count() <= before


@pytest.mark.parametrize("make", [*LONG.values(), *PLANS.values()], ids=[*LONG, *PLANS])
def test_a_token_that_was_cancelled_before_stops_at_once(make: Callable[[], Plan]) -> None:
    plan, token = make(), CancelToken()
    token.cancel()
    with pytest.raises(Interrupted) as caught, token:
        plan.run(CpuEngine(2))
    assert caught.value.count == 0


def test_a_cancelled_plan_can_be_run_again() -> None:
    """What was made of it before is whole, or made anew."""
    for make in (lambda: search(GENERAL), lambda: contraction(GENERAL)):
        plan, token = make(), CancelToken()
        token.cancel()
        with pytest.raises(Interrupted), token:
            plan.run(CpuEngine(2))
        assert plan.run(CpuEngine(2)).counts == [naive.count(GENERAL)]
        assert plan.tasks() == make().tasks()


def test_a_cancelled_plan_of_a_board_without_solutions_is_interrupted_too() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Interrupted), token:
        contraction(spoilt(FULL, 1)).run(CpuEngine(1))
