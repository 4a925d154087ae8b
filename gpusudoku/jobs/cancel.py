"""Tokens that stop work from another thread.

Each thread has the tokens that stop what it does: those of all ``with`` blocks that it is in. A
``Job`` that is made there is stopped by them, its workers have them, too, and what takes long in
between asks ``check_cancelled``. So no function hands a token on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar
from weakref import WeakSet

from gpusudoku.errors import Cancelled

T = TypeVar("T")

ASK_SECONDS = 0.02
"""Whoever waits for something else asks again after this time whether to go on waiting."""


class Stoppable(Protocol):
    """What a token can stop, such as a job."""

    def stop(self) -> None:
        """Ask all workers to put down what they are doing."""


class CancelToken:
    """Stops the calls that it is given to, whichever thread calls ``cancel``, once and for all.

    It is given as ``count(board, cancel=token)``, to any number of calls, in any threads. In a
    block ``with token:`` it stops whatever the thread calls there. Such a call then raises
    ``Cancelled`` and uses no core any more, within a tenth of a second; only what is being compiled
    is compiled to its end. A call that is given a cancelled token does nothing.

    ``cancel`` may be called by a handler of signals, too.

    >>> import gpusudoku
    >>> token = gpusudoku.CancelToken()
    >>> token.cancel()
    >>> gpusudoku.count("." * 81, cancel=token)
    Traceback (most recent call last):
    gpusudoku.errors.Cancelled: cancelled
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a signal may call ``cancel`` while it is held
        self._cancelled = False
        self._jobs: WeakSet[Stoppable] = WeakSet()

    def __repr__(self) -> str:
        return f"<CancelToken{': cancelled' if self._cancelled else ''}>"

    def __enter__(self) -> CancelToken:
        """Let it stop what this thread does in the block; a cancelled one lets nothing begin."""
        _tokens.set((*_tokens.get(), self))
        return self

    def __exit__(self, *_: object) -> None:
        _tokens.set(_tokens.get()[:-1])

    @property
    def cancelled(self) -> bool:
        """Whether ``cancel`` was called."""
        return self._cancelled

    def cancel(self) -> None:
        """Stop every call that has this token, now or later."""
        with self._lock:
            self._cancelled = True
            jobs = list(self._jobs)
        for job in jobs:
            job.stop()

    def attach(self, job: Stoppable) -> None:
        """Let a job be stopped by this token."""
        with self._lock:
            self._jobs.add(job)
            cancelled = self._cancelled
        if cancelled:
            job.stop()


class Patience(CancelToken):
    """A token that is cancelled once the thread that made it has worked for some time.

    Only that thread asks whether it is: its own time on a core counts, so that a busy machine
    does not exhaust anybody's patience. Any thread may cancel it before.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._end = time.thread_time() + seconds

    @property
    def cancelled(self) -> bool:
        """Whether ``cancel`` was called, or the time is over."""
        return self._cancelled or time.thread_time() > self._end


_tokens: ContextVar[tuple[CancelToken, ...]] = ContextVar("tokens", default=())


def tokens() -> tuple[CancelToken, ...]:
    """Those that stop what this thread does now, for threads that work for it."""
    return _tokens.get()


def any_cancelled() -> bool:
    """Whether one of those that stop what this thread does now is cancelled."""
    return any(token.cancelled for token in _tokens.get())


def check_cancelled(token: CancelToken | None = None) -> None:
    """Stop here if one of them is, or one more.

    Raises
    ------
    Cancelled
        If it is.
    """
    if any_cancelled() or (token is not None and token.cancelled):
        raise Cancelled("cancelled")


@contextmanager
def cancelling(*some: CancelToken | None) -> Iterator[None]:
    """Let some tokens, None being no token, stop what this thread does in here, too.

    Raises
    ------
    Cancelled
        At once, if one is cancelled.
    """
    before = _tokens.get()
    _tokens.set((*before, *(token for token in some if token is not None)))
    try:
        check_cancelled()
        yield
    finally:
        _tokens.set(before)


def cancelling_of(
    token: CancelToken | None, items: Generator[T, None, None]
) -> Generator[T, None, None]:
    """Give items, none of them None; a token stops whoever makes one, not who takes it."""
    with closing(items):
        while True:
            with cancelling(token):
                item = next(items, None)
            if item is None:
                return
            yield item


class Turns:
    """A lock that one thread may take several times; waiting for it can be cancelled."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        while not self._lock.acquire(timeout=ASK_SECONDS):
            check_cancelled()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
