"""Cancel tokens: they stop work, from another thread or after some time.

Each thread has a set of active tokens: those of all ``with`` blocks that it is in. They stop a
``Job`` that the thread makes, and its workers. Other long work calls ``check_cancelled``. Therefore
functions need no parameter for a token.
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
    """Something that a token can stop, such as a ``Job``."""

    def stop(self) -> None:
        """Ask all workers to abandon their work."""


class CancelToken:
    """Stops the calls that use it, when any thread calls ``cancel``.

    Pass it as ``count(board, cancel=token)``, to any number of calls, in any threads. In a block
    ``with token:`` it stops every call of that thread. A stopped call raises ``Cancelled`` within a
    tenth of a second, and uses no core afterwards; only a compilation is completed first. A call
    with a cancelled token does nothing. A token cannot be reset.

    ``cancel`` may also be called by a signal handler.

    >>> import gpusudoku
    >>> token = gpusudoku.CancelToken()
    >>> token.cancel()
    >>> gpusudoku.count("." * 81, cancel=token)
    Traceback (most recent call last):
    gpusudoku.errors.Cancelled: cancelled
    """

    def __init__(self) -> None:
        # Reentrant, because a signal handler may call ``cancel`` while the lock is held.
        self._lock = reentrant_lock()
        self._cancelled = False
        self._jobs: WeakSet[Stoppable] = WeakSet()

    def __repr__(self) -> str:
        return f"<CancelToken{': cancelled' if self._cancelled else ''}>"

    def __enter__(self) -> CancelToken:
        """Make this token stop what the thread does in the block."""
        _tokens.set((*_tokens.get(), self))
        return self

    def __exit__(self, *_: object) -> None:
        _tokens.set(_tokens.get()[:-1])

    @property
    def cancelled(self) -> bool:
        """True if ``cancel`` was called."""
        return self._cancelled

    def cancel(self) -> None:
        """Stop every call that uses this token, now or later."""
        with self._lock:
            self._cancelled = True
            jobs = list(self._jobs)
        for job in jobs:
            job.stop()

    def attach(self, job: Stoppable) -> None:
        """Make this token stop a job."""
        with self._lock:
            self._jobs.add(job)
            is_cancelled = self._cancelled
        if is_cancelled:
            job.stop()


class Deadline(CancelToken):
    """A token that is also cancelled after some seconds of a clock.

    With the clock ``time.thread_time``, only time of this thread on a core counts, so that a busy
    machine allows as much work as an idle one; then only the thread that made the deadline may read
    it. Time in ``paused`` does not count.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._end = clock() + seconds
        self._pauses: list[float] = []
        """Start times of the current pauses: several threads may pause a deadline."""

    @property
    def cancelled(self) -> bool:
        """True if ``cancel`` was called, or the time has passed."""
        return self._cancelled or (not self._pauses and self._clock() > self._end)

    @property
    def seconds_left(self) -> float:
        """The remaining seconds."""
        with self._lock:
            now = self._pauses[0] if self._pauses else self._clock()
            return max(0.0, self._end - now)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Postpone the deadline by the time that this block takes."""
        with self._lock:
            # Overlapping pauses count once, from the start of the first to the end of the last.
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
    """Return the active tokens of this thread, for threads that work for it."""
    return _tokens.get()


def any_cancelled() -> bool:
    """Return whether an active token of this thread is cancelled."""
    return any(token.cancelled for token in _tokens.get())


def check_cancelled(token: CancelToken | None = None) -> None:
    """Raise Cancelled if an active token of this thread, or ``token``, is cancelled."""
    if any_cancelled() or (token is not None and token.cancelled):
        raise Cancelled("cancelled")


@contextmanager
def cancelling(*optional_tokens: CancelToken | None) -> Iterator[None]:
    """Make tokens stop what this thread does in the block, immediately if one is cancelled."""
    outer_tokens = _tokens.get()
    new_tokens = [token for token in optional_tokens if token is not None]
    for token in new_tokens:
        if not isinstance(token, CancelToken):
            raise InputError(f"cancel {described(token)}: expected a CancelToken")
    _tokens.set((*outer_tokens, *new_tokens))
    try:
        check_cancelled()
        yield
    finally:
        _tokens.set(outer_tokens)


@contextmanager
def deadlines_paused() -> Iterator[None]:
    """Pause all deadlines of this thread, for example while kernels are compiled."""
    with ExitStack() as pauses:
        for token in _tokens.get():
            if isinstance(token, Deadline):
                pauses.enter_context(token.paused())
        yield


@contextmanager
def interruptible(cancel: CancelToken | None) -> Iterator[None]:
    """Make a token and Ctrl-C stop the work in the block. Interrupted has no count then."""
    try:
        with cancelling(cancel):
            yield
    except Cancelled:
        raise
    except (Interrupted, KeyboardInterrupt):
        raise Interrupted("interrupted") from None


def iterate_in(
    context: Callable[[], AbstractContextManager[None]], items: Iterator[T]
) -> Generator[T, None, None]:
    """Compute each item within a context, and yield it outside. No item may be None."""
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
    """A reentrant lock. Waiting for it can be cancelled."""

    def __init__(self) -> None:
        self._lock = reentrant_lock()

    def __enter__(self) -> None:
        while not self._lock.acquire(timeout=ASK_SECONDS):
            check_cancelled()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


class locked_cached_property(Generic[T]):  # noqa: N801 - it is used like functools.cached_property
    """A ``cached_property`` that is computed once, under the ``_lock`` of its object.

    In Python 3.11 all objects share the lock of a ``functools.cached_property``, and since 3.12 it
    has none. Waiting for the lock of this one can be cancelled.
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
