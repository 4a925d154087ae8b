"""Who is worked for: few questions at a time, and of every page only the newest.

All of it runs in one event loop; only the work itself is done in threads.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from gpusudoku.jobs.cancel import CancelToken
from gpusudoku.web.answers import Tell
from gpusudoku.web.failures import Failure

MOST_WAITING = 64
"""Questions that wait at a time; more are turned away."""

Work = Callable[[Tell, CancelToken], bytes]
"""Works out an answer in a thread, and tells its progress; the token stops it."""


class Case:
    """A question that waits or is worked at."""

    def __init__(self, work: Work, page: str | None, ticket: int) -> None:
        self.work, self.page, self.ticket = work, page, ticket
        self.cancel = CancelToken()
        self.waiting = True
        """Whether nobody works at it yet."""
        self.behind_own = False
        """Whether a question of the same page that it has overtaken had to let go first."""
        self.told: dict[str, Any] | None = None
        """The newest progress that nobody has taken."""
        self.news = asyncio.Event()
        """Set whenever there is progress, and by the end."""
        self.start = time.perf_counter()
        self._loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[bytes] = self._loop.create_future()
        self.answer.add_done_callback(self._ended)

    @property
    def seconds(self) -> float:
        """How long ago it was asked."""
        return time.perf_counter() - self.start

    def tell(self, facts: dict[str, Any]) -> None:
        """Take in progress, from any thread: of what comes faster than it is taken, the last."""
        self.told = facts
        with suppress(RuntimeError):  # the loop has been closed, so nobody wants to know
            self._loop.call_soon_threadsafe(self.news.set)

    def take_news(self) -> dict[str, Any]:
        """The progress since the last call, as far as there was any."""
        self.news.clear()
        told, self.told = self.told, None
        return told or {}

    def _ended(self, answer: asyncio.Future[bytes]) -> None:
        self.news.set()
        if not answer.cancelled():
            answer.exception()  # else asyncio complains where nobody is there to be told of it

    def end(self, failure: Failure | None) -> None:
        """Let it have no answer, but a failure if somebody is there to be told; stop the work."""
        self.cancel.cancel()
        if self.answer.done():
            return
        if failure is None:
            self.answer.cancel()
        else:
            self.answer.set_exception(failure)


class Desk:
    """Takes questions, and has threads work at them, in the order in which they came.

    Parameters
    ----------
    most
        So many are worked at at a time.
    seconds
        Each is given up after this time, the time that it waits included.
    """

    def __init__(self, most: int, seconds: float) -> None:
        self._most, self._seconds = most, seconds
        self._tickets = 0
        self._waiting: deque[Case] = deque()
        self._working: set[Case] = set()
        self._closed = False

    @property
    def working(self) -> int:
        """How many are worked at, with those that were cancelled and have not let go yet."""
        return len(self._working)

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._waiting)

    def ticket(self) -> int:
        """A number for one who has come but not asked yet: whoever comes later has a higher one."""
        self._tickets += 1
        return self._tickets

    def ask(self, work: Work, page: str | None, ticket: int) -> Case:
        """Take a question; one of the same page that came before is overtaken.

        Raises
        ------
        Failure
            If it is overtaken itself; if too many wait; if the server ends.
        """
        if page is not None:
            self._overtake(page, ticket)
        if self._closed:
            raise Failure("busy", "the server is being stopped")
        if self.waiting >= MOST_WAITING:
            raise Failure("busy", f"{self.waiting} questions wait already: ask again later")
        case = Case(work, page, ticket)
        case.behind_own = page in {each.page for each in self._working if page is not None}
        late = Failure("late", f"given up after {self._seconds:g} s, as the server is told to")
        timer = asyncio.get_running_loop().call_later(self._seconds, self.drop, case, late)
        case.answer.add_done_callback(lambda _: timer.cancel())
        self._waiting.append(case)
        self._next()
        return case

    def drop(self, case: Case, failure: Failure | None = None) -> None:
        """Stop the work for somebody, who is told why if he is still there."""
        case.end(failure)
        if case.waiting:
            with suppress(ValueError):
                self._waiting.remove(case)

    def close(self) -> None:
        """Stop all work, and take no more."""
        self._closed = True
        for case in [*self._waiting, *self._working]:
            self.drop(case, Failure("busy", "the server was stopped"))

    def _overtake(self, page: str, ticket: int) -> None:
        """Drop all questions of a page that came before."""
        for case in [each for each in (*self._waiting, *self._working) if each.page == page]:
            if case.ticket > ticket:
                raise Failure("overtaken", "a newer question of the page is worked at")
            self.drop(case, Failure("overtaken", "the page has a newer question"))

    def _next(self) -> None:
        """Begin with those that need wait no longer."""
        pages = {case.page for case in self._working}
        for case in list(self._waiting):
            if len(self._working) >= self._most:
                return
            if case.page is None or case.page not in pages:
                pages.add(case.page)
                self._waiting.remove(case)
                self._begin(case)

    def _begin(self, case: Case) -> None:
        """Have a thread work at a case."""
        case.waiting = False
        self._working.add(case)
        loop = asyncio.get_running_loop()

        def finish(answer: bytes | None, error: BaseException | None) -> None:
            self._working.discard(case)
            if not case.answer.done():
                if error is None:
                    case.answer.set_result(answer or b"")
                else:
                    case.answer.set_exception(error)
            self._next()

        def work() -> None:
            answer: bytes | None = None
            error: BaseException | None = None
            try:
                answer = case.work(case.tell, case.cancel)
            except StopIteration as raised:  # no future takes one
                error = RuntimeError("StopIteration").with_traceback(raised.__traceback__)
            except BaseException as raised:  # handed to whoever waits for the answer
                error = raised
            with suppress(RuntimeError):  # the loop has been closed
                loop.call_soon_threadsafe(finish, answer, error)

        # Not of a pool that Python waits for at its end: what is being compiled cannot be stopped.
        threading.Thread(target=work, name="gpusudoku-answer", daemon=True).start()
