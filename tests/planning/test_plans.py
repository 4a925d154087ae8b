"""Plans: tasks that add up wherever they are run, prices, limits and cancellation."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general import effort
from gpusudoku.counting import count
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.errors import Interrupted
from gpusudoku.jobs.cancel import CancelToken
from gpusudoku.jobs.job import Progress
from gpusudoku.options import Options
from gpusudoku.planning.plan import Plan
from gpusudoku.planning.run import count_board
from gpusudoku.planning.search import TASKS, SearchPlan
from gpusudoku.search.frontier import Frontier
from tests import naive
from tests.boards import puzzle, spoilt
from tests.planning.plans import FULL, GENERAL, NINE, contraction, every_plan, search, total

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


@pytest.mark.parametrize("limit", [1, 100])
def test_a_search_stops_at_the_limit(limit: int) -> None:
    for board in (NINE, GENERAL):
        [found] = search(board, limit=limit).run(CpuEngine(1)).counts
        assert limit <= found < total(board)
        [found] = search(board, limit=limit).run(CpuEngine(2)).counts
        assert found >= limit


def test_a_contraction_in_wider_numbers_finds_the_same() -> None:
    wide = contraction(GENERAL).widened()
    assert wide is not None
    assert wide.run(CpuEngine(2)).counts == [total(GENERAL)]
    for widest in (wide, contraction(NINE), contraction(spoilt(FULL, 1))):
        assert widest.widened() is None


def test_several_roots_keep_their_counts() -> None:
    boards = [puzzle("2x3", clues, seed) for seed, clues in enumerate([9, 36, 10])]
    plan = SearchPlan(Frontier.of(boards), Options())
    assert plan.run(CpuEngine(2)).counts == list(map(naive.count, boards))


LONG: dict[str, Callable[[], Plan]] = {
    "search 3x3": lambda: search(Board.empty(Geometry(3, 3))),
    "contraction 3x4": lambda: contraction(puzzle("3x4", 40, 7)),
}
"""What takes minutes at least."""


@pytest.mark.parametrize(
    "make", [LONG["search 3x3"], pytest.param(LONG["contraction 3x4"], marks=pytest.mark.slow)]
)
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


def test_a_cancelled_plan_of_a_board_without_solutions_is_interrupted_too() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Interrupted), token:
        contraction(spoilt(FULL, 1)).run(CpuEngine(1))


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_count_can_be_interrupted(jobs: int) -> None:
    """By Ctrl-C: with what it has found so far, and no thread left behind."""
    seen = []

    def progress(state: Progress) -> None:
        seen.append(state.count)
        if state.count:
            raise KeyboardInterrupt

    before = threading.active_count()
    board = Board.empty(Geometry(3, 3))
    with pytest.raises(Interrupted) as caught:
        count(board, device="cpu", method="search", jobs=jobs, progress=progress)
    assert caught.value.count >= seen[-1] > 0
    assert threading.active_count() <= before


def test_an_interrupt_while_a_contraction_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(effort, "LONG_SECONDS", 0.0)
    options = Options(device="cpu", jobs=1)
    with pytest.raises(Interrupted) as caught:
        count_board(puzzle("4x4", 102, 1), options, CpuEngine(1), looking=interrupt)
    assert caught.value.count == 0
