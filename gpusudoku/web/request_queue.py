"""The queue of questions: few are worked on at a time, and of every page only the newest.

Any thread may ask, and end a question. No lock is held while callbacks of an end run, so they may
do so, too.
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
from gpusudoku.jobs.threads import ThreadStartError, start_thread
from gpusudoku.web.answers import Failure

T = TypeVar("T")

MAX_WAITING = 64
"""Questions that wait at a time; more are turned away."""


class PendingRequest(Generic[T]):
    """A question that waits or is worked on.

    ``work`` finds the answer, in a thread, in the context in which this was made. A newer question
    of the same ``page`` supersedes this one; ``number`` is from ``RequestQueue.next_number``.
    """

    def __init__(
        self, work: Callable[[PendingRequest[T]], T], page: str | None, number: int
    ) -> None:
        self.work = work
        self.page = page
        self.number = number
        self.context = copy_context()
        self.waiting = True
        """True until a thread begins to work on it."""
        self.asked = time.monotonic()
        """The time when it came, or when the queue opened after that."""
        self.compiling = False
        """True while it waits for the queue to open."""
        self.behind_own = False
        """True if it waits for one of the same page, which it has superseded, to let go."""
        self.answer: Future[T] = Future()
        """Its error is ``Cancelled`` if no client waits for the answer any more."""
        self.cancel = CancelToken()
        """Stops the work, which may go on for a while after the end."""

    def end(self, error: BaseException | None = None) -> None:
        """End it with an error, unless it has an answer already, and stop the work."""
        with suppress(InvalidStateError):
            self.answer.set_exception(error or Cancelled("cancelled"))
        self.cancel.cancel()  # not before: the error of the work would be faster


class RequestQueue:
    """Takes questions, and works on up to ``most`` at a time, once it is open, in their order."""

    def __init__(self, most: int, threads: str, is_open: bool = True) -> None:
        self._most = most
        self._threads = threads
        self.is_open = is_open
        self._numbers = count(1)
        self._lock = threading.Lock()
        self._waiting: list[PendingRequest[Any]] = []
        self._working: list[PendingRequest[Any]] = []
        self._closed = False

    @property
    def working(self) -> int:
        """The number worked on, with those that have ended and have not let go yet."""
        return len(self._working)

    @property
    def waiting(self) -> int:
        """The number that wait."""
        return sum(not pending.answer.done() for pending in list(self._waiting))

    def next_number(self) -> int:
        """Return a sequence number: of two questions of a page the one with the higher is newer."""
        return next(self._numbers)

    def ask(self, pending: PendingRequest[Any]) -> bool:
        """Take a question, which supersedes older ones of its page, or end it; tell which."""
        with self._lock:
            others = [*self._waiting, *self._working]
            pages = {each.page for each in self._working} - {None}
            pending.behind_own = pending.page in pages
            pending.compiling = not self.is_open
            self._waiting.append(pending)
        same = [each for each in others if pending.page is not None and each.page == pending.page]
        for older in [each for each in same if each.number < pending.number]:
            older.end(Failure("overtaken", "the page has a newer question"))
            same.remove(older)
        refusal = None
        if same:
            refusal = Failure("overtaken", "a newer question of the page is worked at")
        elif self._closed:
            refusal = Failure("busy", "the server is being stopped")
        elif self.waiting > MAX_WAITING:
            refusal = Failure("busy", f"{MAX_WAITING} questions wait already: ask again later")
        if refusal is not None:
            pending.end(refusal)
        self._begin()
        return refusal is None

    def open(self) -> None:
        """Begin to work on all; the time before does not count."""
        with self._lock:
            self.is_open = True
            for pending in self._waiting:
                pending.asked = time.monotonic()
                pending.compiling = False
        self._begin()

    def close(self) -> None:
        """Stop all work, and take no more."""
        with self._lock:
            self._closed = True
            ended = [*self._waiting, *self._working]
        for pending in ended:
            pending.end(Failure("busy", "the server was stopped"))

    def _begin(self) -> None:
        """Start threads for those that need wait no longer."""
        while (pending := self._next()) is not None:
            # Not of a pool that Python waits for at its end: what is being compiled goes on.
            work = partial(pending.context.run, self._work, pending)
            try:
                start_thread(threading.Thread(target=work, name=self._threads, daemon=True))
            except ThreadStartError as error:
                with self._lock:
                    self._working.remove(pending)
                pending.end(error)

    def _next(self) -> PendingRequest[Any] | None:
        """Mark the first that need wait no longer as worked on, and return it."""
        with self._lock:
            self._waiting = [each for each in self._waiting if not each.answer.done()]
            pages = {each.page for each in self._working} - {None}
            for pending in self._waiting:
                if self.is_open and pending.page not in pages and self.working < self._most:
                    self._waiting.remove(pending)
                    self._working.append(pending)
                    pending.waiting = False
                    return pending
        return None

    def _work(self, pending: PendingRequest[Any]) -> None:
        """Work on a question, and then let others begin."""
        try:
            end = partial(pending.answer.set_result, pending.work(pending))
        except BaseException as error:  # for those who wait for the answer
            here: BaseException | None = error
            while here is not None:  # errors keep the frames they came through, and their arrays
                clear_frames(here.__traceback__)
                here = here.__context__
            end = partial(pending.answer.set_exception, error)
        with self._lock:
            self._working.remove(pending)
        with suppress(InvalidStateError):  # it has ended already
            end()
        self._begin()
