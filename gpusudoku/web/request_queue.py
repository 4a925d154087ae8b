"""The queue of questions. A few are worked on at a time, and only the newest of each page.

Any thread may ask a question or end it. No lock is held while the callbacks of an ended question
run, so they may do so, too.
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

# A question is in one of these states:
#
#     compiling -> waiting -> working -> ended
#         |           |                    ^
#         +-----------+--------------------+
#
# A question in the background is worked on only while there are no others. If another one comes,
# the work is cancelled, and the question waits again.
#
# It can end at any time. If it ends while it is worked on, the work may continue for a while, and
# keeps its thread until then.

MAX_WAITING = 64
"""The number of questions that may wait; further ones are refused."""


class PendingRequest(Generic[T]):
    """A question that waits or is worked on.

    ``work`` computes the answer, in another thread, in the context in which this object was made.
    A newer question of the same ``page`` replaces this one. ``number`` is from
    ``RequestQueue.next_number``. If ``in_background``, all other questions go first.
    """

    def __init__(
        self,
        work: Callable[[PendingRequest[T]], T],
        page: str | None,
        number: int,
        in_background: bool = False,
    ) -> None:
        self.work = work
        self.page = page
        self.number = number
        self.in_background = in_background
        self.is_interrupted = False
        """True if the work is cancelled for another question, and will start again."""
        self.context = copy_context()
        self.waiting = True
        """True until a thread begins to work on it."""
        self.asked = time.monotonic()
        """The time when it came, or when the queue opened after that."""
        self.compiling = False
        """True while it waits for the queue to open."""
        self.behind_own = False
        """True if it waits until the work for an older question of the same page ends."""
        self.answer: Future[T] = Future()
        """Its error is ``Cancelled`` if no client waits for the answer any more."""
        self.cancel = CancelToken()
        """Stops the work, which may continue for a while after the question has ended."""

    def end(self, error: BaseException | None = None) -> None:
        """End the question with an error, unless it has an answer already, and stop the work."""
        with suppress(InvalidStateError):
            self.answer.set_exception(error or Cancelled("cancelled"))
        # Cancelled later, so that the work cannot set its own error before this one.
        self.cancel.cancel()


class RequestQueue:
    """Works on up to ``max_working`` questions at a time, in their order, once it is open.

    ``thread_name`` is the name of its threads.
    """

    def __init__(self, max_working: int, thread_name: str, is_open: bool = True) -> None:
        self._max_working = max_working
        self._thread_name = thread_name
        self.is_open = is_open
        self._numbers = count(1)
        self._lock = threading.Lock()
        self._waiting: list[PendingRequest[Any]] = []
        self._working: list[PendingRequest[Any]] = []
        self._closed = False

    @property
    def working(self) -> int:
        """The number worked on, including those that have ended and whose work has not stopped."""
        return len(self._working)

    @property
    def waiting(self) -> int:
        """The number that wait."""
        return sum(not pending.answer.done() for pending in list(self._waiting))

    def next_number(self) -> int:
        """Return a sequence number: the newer of two questions of a page has the higher one."""
        return next(self._numbers)

    def ask(self, pending: PendingRequest[Any]) -> bool:
        """Add a question, or end it with a Failure; return whether it was added.

        It replaces older questions of its page, which end.
        """
        with self._lock:
            earlier_requests = [*self._waiting, *self._working]
            pending.behind_own = pending.page in self._busy_pages()
            pending.compiling = not self.is_open
            self._waiting.append(pending)

        # The lock is released: ending a question calls its callbacks.
        has_newer = False
        for request in earlier_requests:
            if request.in_background and not (request.waiting or pending.in_background):
                request.is_interrupted = True
                request.cancel.cancel()
            if pending.page is None or request.page != pending.page:
                continue
            if request.number < pending.number:
                request.end(Failure("overtaken", "the page has a newer question"))
            else:
                has_newer = True

        refusal = None
        if has_newer:
            refusal = Failure("overtaken", "a newer question of the page is being answered")
        elif self._closed:
            refusal = Failure("busy", "the server is being stopped")
        elif self.waiting > MAX_WAITING:
            refusal = Failure("busy", f"{MAX_WAITING} questions are waiting: ask again later")
        if refusal is not None:
            pending.end(refusal)
        self._start_work()
        return refusal is None

    def open(self) -> None:
        """Begin to work on the questions. The time that they waited until now does not count."""
        with self._lock:
            self.is_open = True
            for pending in self._waiting:
                pending.asked = time.monotonic()
                pending.compiling = False
        self._start_work()

    def close(self) -> None:
        """Stop all work, and refuse further questions."""
        with self._lock:
            self._closed = True
            open_requests = [*self._waiting, *self._working]
        for pending in open_requests:
            pending.end(Failure("busy", "the server was stopped"))

    def _busy_pages(self) -> set[str | None]:
        """Return the pages with a question that is worked on. The caller holds the lock."""
        return {request.page for request in self._working} - {None}

    def _start_work(self) -> None:
        """Start threads for all questions that need not wait any more."""
        while (pending := self._take_next()) is not None:
            # Not a thread pool: at its end Python would wait for a compilation in its threads.
            work = partial(pending.context.run, self._work, pending)
            try:
                start_thread(threading.Thread(target=work, name=self._thread_name, daemon=True))
            except ThreadStartError as error:
                with self._lock:
                    self._working.remove(pending)
                pending.end(error)

    def _take_next(self) -> PendingRequest[Any] | None:
        """Move the next question that need not wait any more to those worked on; return it."""
        with self._lock:
            self._waiting = [request for request in self._waiting if not request.answer.done()]
            busy_pages = self._busy_pages()
            is_quiet = all(pending.in_background for pending in [*self._waiting, *self._working])
            for pending in self._waiting:
                has_room = self.is_open and self.working < self._max_working
                may_start = has_room and (is_quiet or not pending.in_background)
                if may_start and pending.page not in busy_pages:
                    self._waiting.remove(pending)
                    self._working.append(pending)
                    pending.waiting = False
                    return pending
        return None

    def _work(self, pending: PendingRequest[Any]) -> None:
        """Work on a question, and then start the next ones."""
        must_wait = False
        try:
            set_answer = partial(pending.answer.set_result, pending.work(pending))
        except BaseException as error:  # those who wait for the answer get it
            _clear_frames(error)
            set_answer = partial(pending.answer.set_exception, error)
            must_wait = pending.is_interrupted and isinstance(error, Cancelled)
        # First of all: a client that gets the answer and asks again finds the place free.
        with self._lock:
            self._working.remove(pending)
            if must_wait:
                pending.is_interrupted = False
                pending.cancel = CancelToken()
                pending.waiting = True
                self._waiting.append(pending)
        if not must_wait:
            with suppress(InvalidStateError):  # the question has ended already
                set_answer()
        self._start_work()


def _clear_frames(error: BaseException) -> None:
    """Free the local variables of the frames that an error refers to, such as large arrays."""
    cause: BaseException | None = error
    while cause is not None:
        clear_frames(cause.__traceback__)
        cause = cause.__context__
