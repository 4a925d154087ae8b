"""The desk: slots, waiting, overtaking; whoever asks, drops and closes from whatever thread."""

from __future__ import annotations

import gc
import random
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any

import numpy as np
import pytest

from gpusudoku.errors import Cancelled
from gpusudoku.web.desk import MOST_WAITING, Case, Desk
from gpusudoku.web.failures import Failure
from tests.web.conversing import PATIENCE, until

Work = Callable[[Case[Any]], Any]
Make = Callable[[int], Desk]


def endless(case: Case[Any]) -> None:
    """Work that ends only if it is cancelled."""
    while not case.cancel.cancelled:
        threading.Event().wait(0.001)
    raise Cancelled("cancelled")


def quick(case: Case[Any]) -> str:
    return "done"


def ask(desk: Desk, work: Work, page: str | None = None) -> Case[Any]:
    case = Case(work, page, desk.ticket())
    desk.ask(case)
    return case


def failure_of(case: Case[Any]) -> str:
    """The kind of failure that a case ends with."""
    failure = case.answer.exception(PATIENCE)
    assert isinstance(failure, Failure)
    return failure.kind


def dropped(case: Case[Any]) -> bool:
    """Whether it ended, and nobody was there to be told."""
    return case.answer.done() and isinstance(case.answer.exception(), Cancelled)


def idle(desk: Desk) -> bool:
    return desk.working == desk.waiting == 0


@pytest.fixture
def make() -> Iterator[Make]:
    """Make a desk; it is closed in the end, and all its threads end."""
    made: list[Desk] = []

    def make_one(most: int) -> Desk:
        made.append(Desk(most, f"of-test-desk-{most}"))
        return made[-1]

    yield make_one
    for desk in made:
        desk.close()
    until(lambda: all(map(idle, made)))
    until(lambda: not any("of-test-desk" in each.name for each in threading.enumerate()))


class TestSlots:
    def test_they_are_given_in_the_order_of_asking(self, make: Make) -> None:
        desk = make(2)
        cases = [ask(desk, endless) for _ in range(4)]
        assert [case.waiting for case in cases] == [False, False, True, True]
        assert (desk.working, desk.waiting) == (2, 2)
        cases[0].end()
        until(lambda: not cases[2].waiting)
        assert cases[3].waiting
        assert dropped(cases[0])

    def test_one_is_free_only_once_the_work_has_let_go(self, make: Make) -> None:
        desk, let_go = make(1), threading.Event()
        old = ask(desk, lambda case: let_go.wait())
        new, free = Case(quick, None, desk.ticket()), []
        new.answer.add_done_callback(lambda _: free.append(desk.working == 0))
        desk.ask(new)
        old.end(Failure("late", "given up"))
        assert failure_of(old) == "late"
        assert (new.waiting, desk.working, desk.waiting) == (True, 1, 1)
        let_go.set()
        assert new.answer.result(PATIENCE) == "done"
        until(lambda: free == [True])

    def test_too_many_wait(self, make: Make) -> None:
        desk, let_go = make(1), threading.Event()
        first = ask(desk, lambda case: let_go.wait(), "0")
        others = [ask(desk, quick, str(number)) for number in range(1, 1 + MOST_WAITING)]
        late = Case(quick, "0", desk.ticket())
        assert not desk.ask(late)
        assert failure_of(late) == "busy"
        assert str(late.answer.exception()) == "64 questions wait already: ask again later"
        assert failure_of(first) == "overtaken"
        others.append(ask(desk, quick, "1"))  # in place of one that waits
        let_go.set()
        assert failure_of(others.pop(0)) == "overtaken"
        assert {case.answer.result(PATIENCE) for case in others} == {"done"}

    def test_errors_go_to_whoever_asks(self, make: Make) -> None:
        """Also those that mean something else to Python."""
        desk = make(1)
        for error in (ValueError, StopIteration, SystemExit):

            def failing(case: Case[Any], error: type[BaseException] = error) -> None:
                raise error

            assert isinstance(ask(desk, failing).answer.exception(PATIENCE), error)
        assert ask(desk, quick).answer.result(PATIENCE) == "done"

    def test_an_error_keeps_nothing_of_the_work(self, make: Make) -> None:
        """Numbers that were being added up are freed without Python looking for garbage."""
        kept: list[weakref.ref[np.ndarray]] = []

        def look(case: Case[Any]) -> None:
            numbers = np.zeros(1000)
            kept.append(weakref.ref(numbers))
            try:
                endless(case)
            except Cancelled as error:
                raise ValueError(f"{len(numbers)} numbers are lost") from error

        gc.disable()
        try:
            case = ask(make(1), look)
            until(lambda: kept)
            case.cancel.cancel()
            assert isinstance(case.answer.exception(PATIENCE), ValueError)
            assert kept[0]() is None
        finally:
            gc.enable()

    def test_no_more_threads_can_be_had(self, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
        def start(thread: threading.Thread) -> None:
            raise RuntimeError("can't start new thread")

        desk = make(1)
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", start)
            case = ask(desk, quick)
        assert isinstance(case.answer.exception(PATIENCE), RuntimeError)
        assert ask(desk, quick).answer.result(PATIENCE) == "done"

    def test_work_is_done_in_the_context_of_whoever_asks(self, make: Make) -> None:
        variable: ContextVar[str] = ContextVar("variable", default="")
        variable.set("mine")
        told: list[str] = []
        case = Case(lambda case: variable.get(), None, 1)
        case.answer.add_done_callback(lambda _: told.append(variable.get()))
        make(1).ask(case)
        assert case.answer.result(PATIENCE) == "mine"
        until(lambda: told == ["mine"])


class TestOvertaking:
    def test_a_page_has_one_slot_and_begins_when_the_old_work_has_let_go(self, make: Make) -> None:
        desk, let_go = make(4), threading.Event()
        old = ask(desk, lambda case: let_go.wait(), "page")
        between = ask(desk, quick, "page")
        new = ask(desk, quick, "page")
        assert failure_of(old) == failure_of(between) == "overtaken"
        assert (desk.working, desk.waiting, new.waiting) == (1, 1, True)
        assert (old.behind_own, new.behind_own) == (False, True)
        assert ask(desk, quick, "another").answer.result(PATIENCE) == "done"
        let_go.set()
        assert new.answer.result(PATIENCE) == "done"
        assert between.waiting

    def test_who_came_first_does_not_overtake_though_he_asks_last(self, make: Make) -> None:
        desk = make(4)
        first, second = (Case(endless, "page", desk.ticket()) for _ in range(2))
        assert desk.ask(second)
        assert not desk.ask(first)
        assert failure_of(first) == "overtaken"
        assert not second.answer.done()

    def test_it_is_told_though_the_work_ends_at_once(self, make: Make) -> None:
        """Whoever cancels the work waits here until it has let go, and a moment more."""

        class Job:
            def stop(self) -> None:
                until(lambda: desk.working == 0 and desk.waiting <= 1)
                threading.Event().wait(0.01)

        def work(case: Case[Any]) -> None:
            case.cancel.attach(job)
            is_attached.set()
            endless(case)

        desk, job, is_attached = make(1), Job(), threading.Event()
        case = ask(desk, work, "page")
        assert is_attached.wait(PATIENCE)
        assert ask(desk, quick, "page").answer.result(PATIENCE) == "done"
        assert failure_of(case) == "overtaken"

    def test_those_without_a_page_leave_each_other_alone(self, make: Make) -> None:
        desk = make(4)
        cases = [ask(desk, endless) for _ in range(4)]
        assert not any(case.waiting or case.answer.done() for case in cases)


class TestClosing:
    def test_all_work_ends_and_nobody_is_taken_any_more(self, make: Make) -> None:
        desk = make(2)
        cases = [ask(desk, endless) for _ in range(4)]
        desk.close()
        assert [failure_of(case) for case in cases] == ["busy"] * 4
        assert failure_of(ask(desk, quick)) == "busy"
        until(lambda: idle(desk))
        assert [case.waiting for case in cases] == [False, False, True, True]

    def test_whoever_is_told_may_ask_drop_and_close(self, make: Make) -> None:
        """No lock is held meanwhile."""
        desk = make(1)
        asked: list[Case[Any]] = []
        first = Case(endless, "page", desk.ticket())
        first.answer.add_done_callback(lambda _: asked.append(ask(desk, endless, "other")))
        desk.ask(first)
        second = Case(quick, "page", desk.ticket())
        second.answer.add_done_callback(lambda _: asked[0].end())
        desk.ask(second)
        until(second.answer.done)
        until(lambda: dropped(asked[0]))
        third, is_closed = Case(quick, None, desk.ticket()), threading.Event()
        third.answer.add_done_callback(lambda _: desk.close())
        third.answer.add_done_callback(lambda _: is_closed.set())
        desk.ask(third)
        assert is_closed.wait(PATIENCE)
        assert third.answer.result(0) == "done"
        assert failure_of(ask(desk, quick)) == "busy"


@pytest.mark.parametrize("closing", [False, True])
def test_many_threads_ask_and_drop_as_they_like(make: Make, closing: bool) -> None:
    """Every case ends; no page has two slots, and no more are worked at than there are slots."""
    desk, lock = make(3), threading.Lock()
    now: Counter[str | None] = Counter()
    wrong: list[Counter[str | None]] = []

    def work(page: str | None, seconds: float) -> Work:
        def do(case: Case[Any]) -> str:
            with lock:
                now[page] += 1
                if now.total() > 3 or any(now[each] > 1 for each in now if each is not None):
                    wrong.append(now.copy())
            threading.Event().wait(seconds)
            with lock:
                now[page] -= 1
            return "done"

        return do

    def somebody(seed: int) -> list[Case[Any]]:
        chance = random.Random(seed)
        cases = []
        for _ in range(60):
            page = chance.choice([None, "a", "b", "c"])
            cases.append(Case(work(page, chance.choice([0, 0.001])), page, desk.ticket()))
            desk.ask(cases[-1])
            if chance.random() < 0.2:
                chance.choice(cases).end()
        if closing and seed == 0:
            desk.close()
        return cases

    with ThreadPoolExecutor(8) as pool:
        cases = [case for some in pool.map(somebody, range(8)) for case in some]
    until(lambda: all(case.answer.done() for case in cases))
    until(lambda: idle(desk))
    assert not wrong
    ends = Counter("dropped" if dropped(case) else type(case.answer.exception()) for case in cases)
    assert set(ends) <= {"dropped", type(None), Failure}
    assert ends[type(None)] > 0
