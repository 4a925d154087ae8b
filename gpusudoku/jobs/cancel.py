"""Tokens that stop work, from another thread or after some time.

Each thread has the tokens that stop what it does: those of all ``with`` blocks that it is in. A
``Job`` that is made there is stopped by them, its workers have them, too, and what takes long in
between calls ``check_cancelled``. So no function hands a token on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakSet

from gpusudoku.errors import Cancelled, InputError, Interrupted, described
from gpusudoku.jobs.forks import reentrant_lock

T = TypeVar("T")

ASK_SECONDS = 0.02
"""Time between two checks of a thread that waits for something else."""


class Stoppable(Protocol):
    """Something that a token can stop, such as a job."""

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
        self._lock = reentrant_lock()  # a signal may call ``cancel`` while it is held
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
        """True if ``cancel`` was called."""
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


class Deadline(CancelToken):
    """A token that is cancelled, too, once some seconds have passed by a clock.

    With ``time.thread_time`` only the thread that made it may ask, and only its own time on a core
    counts: so a busy machine leaves as much time as an idle one. Time in ``paused`` does not count.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._end = clock() + seconds
        self._pauses: list[float] = []
        """When the pauses began that have not ended: several threads may pause it."""

    @property
    def cancelled(self) -> bool:
        """True if ``cancel`` was called, or the time is over."""
        return self._cancelled or (not self._pauses and self._clock() > self._end)

    @property
    def seconds_left(self) -> float:
        """The seconds that remain."""
        with self._lock:
            return max(0.0, self._end - (self._pauses[0] if self._pauses else self._clock()))

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Postpone the end by the time that this block takes."""
        with self._lock:
            self._pauses.append(self._pauses[0] if self._pauses else self._clock())
        try:
            yield
        finally:
            with self._lock:
                start = self._pauses.pop()
                if not self._pauses:
                    self._end += self._clock() - start


_tokens: ContextVar[tuple[CancelToken, ...]] = ContextVar("tokens", default=())


def tokens() -> tuple[CancelToken, ...]:
    """Return the tokens that stop what this thread does now, for threads that work for it."""
    return _tokens.get()


def any_cancelled() -> bool:
    """Tell whether one of those tokens is cancelled."""
    return any(token.cancelled for token in _tokens.get())


def check_cancelled(token: CancelToken | None = None) -> None:
    """Raise Cancelled if one of those tokens is, or one more."""
    if any_cancelled() or (token is not None and token.cancelled):
        raise Cancelled("cancelled")


@contextmanager
def cancelling(*some: CancelToken | None) -> Iterator[None]:
    """Let more tokens stop what this thread does in here, at once if one is cancelled."""
    before = _tokens.get()
    more = [token for token in some if token is not None]
    for token in more:
        if not isinstance(token, CancelToken):
            raise InputError(f"cancel {described(token)}: expected a CancelToken")
    _tokens.set((*before, *more))
    try:
        check_cancelled()
        yield
    finally:
        _tokens.set(before)


@contextmanager
def deadlines_paused() -> Iterator[None]:
    """Pause all deadlines of this thread, as while kernels are compiled."""
    with ExitStack() as pauses:
        for token in _tokens.get():
            if isinstance(token, Deadline):
                pauses.enter_context(token.paused())
        yield


@contextmanager
def interruptible(cancel: CancelToken | None) -> Iterator[None]:
    """Let a token and Ctrl-C stop the work in here: Interrupted has no count then."""
    try:
        with cancelling(cancel):
            yield
    except Cancelled:
        raise
    except (Interrupted, KeyboardInterrupt):
        raise Interrupted("interrupted") from None


def made_in(
    context: Callable[[], AbstractContextManager[None]], items: Iterator[T]
) -> Generator[T, None, None]:
    """Make each of some items, none of them None, in a context, and give it outside of that."""
    try:
        while True:
            with context():
                item = next(items, None)
            if item is None:
                return
            yield item
    finally:
        if isinstance(items, Generator):
            items.close()


class CancellableLock:
    """A lock that one thread may take several times; waiting for it can be cancelled."""

    def __init__(self) -> None:
        self._lock = reentrant_lock()

    def __enter__(self) -> None:
        while not self._lock.acquire(timeout=ASK_SECONDS):
            check_cancelled()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


class locked_cached_property(Generic[T]):  # noqa: N801 - it is used like functools.cached_property
    """A ``cached_property`` that is computed once, under the ``_lock`` of its object.

    In Python 3.11 all objects share the lock of a ``cached_property``, later there is none; and no
    token would end the wait for it.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self._name = compute.__name__

    def __get__(self, instance: Any, owner: type) -> T:
        with instance._lock:
            if self._name not in vars(instance):
                vars(instance)[self._name] = self._compute(instance)
            value: T = vars(instance)[self._name]
            return value
