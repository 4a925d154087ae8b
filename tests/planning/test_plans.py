"""Plans: tasks that add up wherever they are run, prices, limits and cancellation."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import cache
from itertools import pairwise

import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general import parts
from gpusudoku.contraction.general.parts import Parts
from gpusudoku.counting import count
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.errors import InputError, Interrupted, TooExpensive
from gpusudoku.jobs.cancel import CancelToken
from gpusudoku.jobs.job import Progress
from gpusudoku.options import MEMORY, Options
from gpusudoku.planning.choose import choose
from gpusudoku.planning.contraction import ContractionPlan
from gpusudoku.planning.plan import Plan
from gpusudoku.planning.search import TASKS, SearchPlan
from gpusudoku.results import Estimates
from gpusudoku.search.frontier import Frontier
from tests import naive
from tests.boards import full_grid, puzzle, spoilt

PATIENCE = 60.0
"""Seconds after which something that was to happen has not, on a machine that is busy."""
SOON = 5.0
"""Seconds in which a plan stops, on a machine that is busy: a tenth of one on one that is not."""

NINE, GENERAL = puzzle("3x3", 26, 3), puzzle("2x3", 8, 1)
LARGE = puzzle("2x5", 30, 1)
"""One whose sum is long enough to be cut, of any shape: 25 million solutions."""
FULL = Board(full_grid(Geometry(2, 3), 1), Geometry(2, 3))


def search(board: Board, **options: float | str | None) -> SearchPlan:
    return SearchPlan(Frontier.of([board]), Options(**options))  # type: ignore[arg-type]


def contraction(board: Board) -> Plan:
    return choose(board, Options(method="contraction"))


def in_parts(board: Board) -> Plan:
    parts = Parts(board, 1 << 28, TooExpensive("too expensive"))
    return ContractionPlan(parts, MEMORY, Estimates())


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Boards in parts have many of them, however small the boards are."""
    monkeypatch.setattr(parts, "PART_MAPS", 10)
    monkeypatch.setattr(parts, "TASK_LISTINGS", 1)


PLANS: dict[str, Callable[[], Plan]] = {
    "search 3x3": lambda: search(NINE),
    "search 2x3": lambda: search(GENERAL),
    "search 2x3 to a cutoff": lambda: search(GENERAL, cutoff=1000),
    "search 2x3 to empty cells": lambda: search(GENERAL, cutoff=12, cutoff_by="empty"),
    "search 2x3 in reading order": lambda: search(GENERAL, strategy="first"),
    "contraction 3x3": lambda: contraction(NINE),
    "contraction 2x5": lambda: contraction(LARGE),
    "contraction 2x3 in parts": lambda: in_parts(GENERAL),
}
every_plan = pytest.mark.parametrize("make", PLANS.values(), ids=list(PLANS))
BOARDS = {"3x3": NINE, "2x3": GENERAL, "2x5": LARGE}


@cache
def total(board: Board) -> int:
    """The whole count: the oracle's, or, where that takes too long, the methods'."""
    if board == GENERAL:
        return naive.count(board)
    methods = ["contraction"] if board == LARGE else ["search", "contraction"]
    [number] = {count(board, device="cpu", method=method).count for method in methods}
    return number


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", PLANS)
def test_the_counts_of_a_partition_add_up(name: str, threads: int) -> None:
    """Whoever runs a part makes the plan anew, as another machine would."""
    make, engine = PLANS[name], CpuEngine(threads)
    number = make().tasks()
    ends = sorted({0, 1, number // 3, number // 3 + 1, number // 2, number - 1, number})
    each = [make().run(engine, tasks=range(start, end)).counts for start, end in pairwise(ends)]
    assert len(each) > 1
    whole = total(BOARDS[name.split()[1]])
    assert sum(found for [found] in each) == whole == make().run(engine).counts[0]


@every_plan
def test_tasks_depend_on_no_threads(make: Callable[[], Plan]) -> None:
    """Their number, and the count of each; whether the plan was run before or not."""
    found = []
    for threads in (1, 3):
        engine, plan = CpuEngine(threads), make()
        if threads == 3:
            plan.run(engine)
        number = plan.tasks()
        some = range(0, number, max(1, number // 40))
        counts = [plan.run(engine, tasks=range(task, task + 1)).counts for task in some]
        found.append((number, counts))
    assert found[0] == found[1]
    assert found[0][0] > 1
    assert any(number for [number] in found[0][1])


@every_plan
def test_no_tasks_count_nothing(make: Callable[[], Plan]) -> None:
    assert make().run(CpuEngine(2), tasks=range(1, 1)).counts == [0]


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
    plan = search(board, limit=limit)
    [found] = plan.run(CpuEngine(2), tasks=range(plan.tasks())).counts
    assert found >= limit


def test_several_roots_keep_their_counts() -> None:
    boards = [puzzle("2x3", clues, seed) for seed, clues in enumerate([9, 36, 10])]
    plan = SearchPlan(Frontier.of(boards), Options())
    number = plan.tasks()
    each = [plan.run(CpuEngine(2), tasks=range(k, k + 1)).counts for k in range(number)]
    assert [sum(counts) for counts in zip(*each, strict=True)] == list(map(naive.count, boards))


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
        cancelled.append(time.perf_counter())
        token.cancel()

    assert plan.seconds > PATIENCE
    before, thread = threading.active_count(), threading.Thread(target=cancel)
    thread.start()
    with pytest.raises(Interrupted) as caught:
        plan.run(CpuEngine(2), cancel=token, progress=progress)
    assert time.perf_counter() - cancelled[0] < SOON
    assert caught.value.count > 0
    thread.join()
    assert threading.active_count() == before


@pytest.mark.parametrize("make", [*LONG.values(), *PLANS.values()], ids=[*LONG, *PLANS])
def test_a_token_that_was_cancelled_before_stops_at_once(make: Callable[[], Plan]) -> None:
    plan, token = make(), CancelToken()
    token.cancel()
    with pytest.raises(Interrupted) as caught:
        plan.run(CpuEngine(2), cancel=token)
    assert caught.value.count == 0


def test_a_cancelled_plan_can_be_run_again() -> None:
    """What was made of it before is whole, or made anew."""
    for make in (lambda: search(GENERAL), lambda: contraction(GENERAL)):
        plan, token = make(), CancelToken()
        token.cancel()
        with pytest.raises(Interrupted):
            plan.run(CpuEngine(2), cancel=token)
        assert plan.run(CpuEngine(2)).counts == [naive.count(GENERAL)]
        assert plan.tasks() == make().tasks()


@every_plan
def test_ranges_that_are_no_tasks_are_refused(make: Callable[[], Plan]) -> None:
    number = make().tasks()
    for tasks in (range(0, number + 1), range(-1, 1), range(0, number, 2), range(2, 1)):
        with pytest.raises(InputError, match=r"^tasks range\(.*\): expected a run of the tasks"):
            make().run(CpuEngine(1), tasks=tasks)


def test_a_cancelled_plan_of_a_board_without_solutions_is_interrupted_too() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Interrupted):
        contraction(spoilt(FULL, 1)).run(CpuEngine(1), cancel=token)
