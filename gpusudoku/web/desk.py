"""Who is worked for: few questions at a time, and of every page only the newest.

Any thread may ask, and end what was asked. No lock is held while anybody is told of an end, so he
may do so, too.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from itertools import count
from traceback import clear_frames
from typing import Any, Generic, TypeVar

from gpusudoku.errors import Cancelled
from gpusudoku.jobs.cancel import CancelToken
from gpusudoku.jobs.threads import NoThread, start_thread
from gpusudoku.web.failures import Failure

T = TypeVar("T")

MOST_WAITING = 64
"""Questions that wait at a time; more are turned away."""


class Case(Generic[T]):
    """A question that waits or is worked at.

    Parameters
    ----------
    work
        Works out the answer, in a thread, in the context of whoever makes the case.
    page
        Who asks: a newer question of the same page overtakes this one.
    ticket
        When he came, as ``Desk.ticket`` says.
    """

    def __init__(self, work: Callable[[Case[T]], T], page: str | None, ticket: int) -> None:
        self.work, self.page, self.ticket = work, page, ticket
        self.context = copy_context()
        self.waiting = True
        """Whether nobody has begun to work at it."""
        self.asked = time.monotonic()
        """When it came, or when the desk opened after that."""
        self.compiling = False
        """Whether it waits for the desk to open."""
        self.behind_own = False
        """Whether one of the same page, which it has overtaken, has to let go first."""
        self.answer: Future[T] = Future()
        """Its error is ``Cancelled`` if there is nobody to be told."""
        self.cancel = CancelToken()
        """Stops the work, which may go on for a while after the end."""

    def end(self, error: BaseException | None = None) -> None:
        """Let it have no answer, if it has none yet, and stop the work."""
        with suppress(InvalidStateError):
            self.answer.set_exception(error or Cancelled("cancelled"))
        self.cancel.cancel()  # not before: the error of the work would be faster


class Desk:
    """Takes questions, and has threads work at them, in the order in which they came.

    Parameters
    ----------
    most
        So many are worked at at a time.
    threads
        The name of the threads.
    is_open
        Whether they begin at once; else all wait until ``open``.
    """

    def __init__(self, most: int, threads: str, is_open: bool = True) -> None:
        self._most, self._threads, self.is_open = most, threads, is_open
        self._tickets = count(1)
        self._lock = threading.Lock()
        self._waiting: list[Case[Any]] = []
        self._working: list[Case[Any]] = []
        self._closed = False

    @property
    def working(self) -> int:
        """How many are worked at, with those that have ended and have not let go yet."""
        return len(self._working)

    @property
    def waiting(self) -> int:
        """How many wait."""
        return sum(not case.answer.done() for case in list(self._waiting))

    def ticket(self) -> int:
        """A number for one who has come but not asked yet: whoever comes later has a higher one."""
        return next(self._tickets)

    def ask(self, case: Case[Any]) -> bool:
        """Take a question, which overtakes older ones of its page; whether it is taken.

        If not it has ended: it is overtaken itself, too many wait, or the desk is closed.
        """
        with self._lock:
            cases = [*self._waiting, *self._working]
            pages = {each.page for each in self._working} - {None}
            case.behind_own = case.page in pages
            case.compiling = not self.is_open
            self._waiting.append(case)
        same = [each for each in cases if case.page is not None and each.page == case.page]
        for older in [each for each in same if each.ticket < case.ticket]:
            older.end(Failure("overtaken", "the page has a newer question"))
            same.remove(older)
        refusal = None
        if same:
            refusal = Failure("overtaken", "a newer question of the page is worked at")
        elif self._closed:
            refusal = Failure("busy", "the server is being stopped")
        elif self.waiting > MOST_WAITING:
            refusal = Failure("busy", f"{MOST_WAITING} questions wait already: ask again later")
        if refusal is not None:
            case.end(refusal)
        self._begin()
        return refusal is None

    def open(self) -> None:
        """Begin to work on all; the time before does not count."""
        with self._lock:
            self.is_open = True
            for case in self._waiting:
                case.asked, case.compiling = time.monotonic(), False
        self._begin()

    def close(self) -> None:
        """Stop all work, and take no more."""
        with self._lock:
            self._closed = True
            cases = [*self._waiting, *self._working]
        for case in cases:
            case.end(Failure("busy", "the server was stopped"))

    def _begin(self) -> None:
        """Have threads work at those that need wait no longer."""
        while (case := self._next()) is not None:
            # Not of a pool that Python waits for at its end: what is being compiled goes on.
            work = partial(case.context.run, self._work, case)
            try:
                start_thread(threading.Thread(target=work, name=self._threads, daemon=True))
            except NoThread as error:
                self._leave(case)
                case.end(error)

    def _next(self) -> Case[Any] | None:
        """The first that need wait no longer; from now on it is worked at."""
        with self._lock:
            self._waiting = [case for case in self._waiting if not case.answer.done()]
            pages = {case.page for case in self._working} - {None}
            for case in self._waiting:
                may_begin = self.is_open and case.page not in pages
                if may_begin and self.working < self._most:
                    self._waiting.remove(case)
                    self._working.append(case)
                    case.waiting = False
                    return case
        return None

    def _work(self, case: Case[Any]) -> None:
        """Work at a case, and then let others begin."""
        try:
            end = partial(case.answer.set_result, case.work(case))
        except BaseException as error:  # for whoever waits for the answer
            _let_go(error)
            end = partial(case.answer.set_exception, error)
        self._leave(case)
        with suppress(InvalidStateError):  # it has ended already
            end()
        self._begin()

    def _leave(self, case: Case[Any]) -> None:
        with self._lock:
            self._working.remove(case)


def _let_go(error: BaseException) -> None:
    """Free what the work held: an error keeps the frames it came through, and they large arrays."""
    here: BaseException | None = error
    while here is not None:
        clear_frames(here.__traceback__)
        here = here.__context__
