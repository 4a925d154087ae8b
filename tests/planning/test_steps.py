"""Parts and steps of plans: their counts add up, even if another plan continues the rest."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from math import inf
from typing import Any

import numpy as np
import pytest

from gpusudoku.board.board import Board
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.engine import WorkCounters
from gpusudoku.errors import InputError
from gpusudoku.jobs import job
from gpusudoku.jobs.cancel import CancelToken
from gpusudoku.planning.plan import Plan, Portion, StepResult
from tests import naive
from tests.planning.plans import (
    BOARDS,
    GENERAL,
    LARGE,
    NINE,
    PLANS,
    contraction,
    every_plan,
    in_parts,
    search,
    total,
)

pytestmark = pytest.mark.usefixtures("small_parts")


@pytest.mark.parametrize("parts", [3, 1000])
@pytest.mark.parametrize("name", PLANS)
def test_the_counts_of_parts_add_up(name: str, parts: int) -> None:
    """Each part has a new plan, as on another machine."""
    make = PLANS[name]
    engine = CpuEngine(2)
    plan = make()
    portions = [plan.part(number, parts) for number in range(1, parts + 1)]
    tasks = [task for portion in portions for task in portion.unfinished]
    assert sorted(tasks) == list(range(plan.tasks()))
    sizes = [*map(len, portions)]
    assert max(sizes) - min(sizes) <= 1
    if parts < 50:
        steps = [make().step(engine, portion) for portion in portions]
        assert not any(step.remaining for step in steps)
        whole = total(BOARDS[name.split()[1]])
        assert sum(step.count for step in steps) == whole == make().run(engine).counts[0]


def test_the_guesses_of_parts_add_up() -> None:
    """Each node of a search is visited once, wherever the tree is cut."""
    whole = search(NINE, strategy="first").run(CpuEngine(1)).stats
    for parts in (1, 3):
        plan = search(NINE, strategy="first")
        tally = WorkCounters()
        for number in range(1, parts + 1):
            tally.add(plan.step(CpuEngine(2), plan.part(number, parts)).counters)
        assert plan.stats(tally, 1.0).boards_explored == whole.boards_explored


@every_plan
def test_tasks_do_not_depend_on_threads(make: Callable[[], Plan]) -> None:
    """Neither their number nor their counts do, even if the plan was run before."""
    outcomes = []
    for threads in (1, 3):
        engine = CpuEngine(threads)
        plan = make()
        if threads == 3:
            plan.run(engine)
        number = plan.tasks()
        portion = Portion.of(range(k, k + 1) for k in range(0, number, max(1, number // 40)))
        outcomes.append((number, by_task([plan.step(engine, portion)])))
    assert outcomes[0] == outcomes[1]
    assert outcomes[0][0] > 1
    assert any(outcomes[0][1].values())


def by_task(steps: Iterable[StepResult]) -> dict[int, int]:
    """Add up the counts of steps by task; a range of tasks goes by its first."""
    counts = defaultdict[int, int](int)
    for step in steps:
        for tasks, number in step.counts:
            counts[tasks.start] += number
    return dict(counts)


def steps_of(make: Callable[[], Plan], seconds: float) -> Iterator[StepResult]:
    """Return all steps of a plan; each has a new plan and another number of threads."""
    portion = make().part(1, 1)
    threads = 1
    while portion:
        step = make().step(CpuEngine(threads), portion, seconds=seconds)
        yield step
        portion = step.remaining
        threads = threads % 3 + 1


@pytest.mark.parametrize("name", PLANS)
def test_short_steps_lose_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is suspended at once, and another plan continues."""
    monkeypatch.setattr(job, "POLL_SECONDS", 0.001)
    make = PLANS[name]
    steps = list(steps_of(make, 0.002))
    assert sum(step.count for step in steps) == total(BOARDS[name.split()[1]])
    if name.startswith("search"):
        [whole] = steps_of(make, inf)
        assert by_task(steps) == by_task([whole])


@pytest.mark.parametrize(
    ("make", "board"), [(search, NINE), (contraction, LARGE), (in_parts, GENERAL)]
)
def test_a_cancelled_step_reports_its_counts_and_the_remaining_tasks(
    make: Callable[[Board], Plan], board: Board
) -> None:
    """It may be cancelled repeatedly, at any time."""
    plan = make(board)
    solution_count = 0
    cancelled = 0
    portion = plan.part(1, 1)
    while portion:
        cancel = CancelToken()
        timer = threading.Timer(0.02 * cancelled, cancel.cancel)
        timer.start()
        with cancel:
            step = plan.step(CpuEngine(2), portion)
        timer.cancel()
        portion = step.remaining
        solution_count = solution_count + step.count
        cancelled += step.interrupted is not None
    assert solution_count == total(board)
    assert cancelled > 0


def test_a_step_lists_what_it_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "POLL_SECONDS", 0.001)
    plan = search(GENERAL)
    rows = list[tuple[int, ...]]()
    portion = plan.part(1, 1)
    solution_count = 0

    def take(block: Any, _: Any) -> None:
        rows.extend(map(tuple, block.tolist()))

    while portion:
        step = plan.step(CpuEngine(2), portion, seconds=0.002, on_solutions=take)
        solution_count += step.count
        assert solution_count == len(rows)
        portion = step.remaining
    assert sorted(rows) == sorted(naive.solutions(GENERAL))


@every_plan
def test_portions_of_another_plan_are_refused(make: Callable[[], Plan]) -> None:
    """They may come from a damaged file. An empty portion is no work."""
    plan = make()
    step = plan.step(CpuEngine(2), Portion.of([]))
    assert (step.count, step.counts, bool(step.remaining)) == (0, (), False)
    number = plan.tasks()
    boards = np.zeros((1, 7), np.uint64)
    task_of = np.zeros(1, np.int64)
    for portion in (
        Portion.of([range(0, number + 1)]),
        Portion.of([range(-1, 1)]),
        Portion.of([range(0, 2, 2)]),
        Portion.of([range(0, 1), range(0, 1)]),
        Portion.of([range(0, 10**18)]),
        Portion((), boards, task_of),
        Portion((), np.zeros((2, 36), np.uint64), task_of),
        Portion((), boards, task_of + number),
        Portion((range(0, 1),), np.zeros((1, 36), np.uint64), task_of),
    ):
        with pytest.raises(InputError, match=rf"^no portion of a plan of {number} tasks$"):
            plan.step(CpuEngine(1), portion)
    for part in (0, 3):
        with pytest.raises(InputError, match=rf"^part {part} of 2: expected a number from 1"):
            plan.part(part, 2)
