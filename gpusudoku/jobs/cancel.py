"""A token that stops work from another thread."""

from __future__ import annotations

import threading
import time
from typing import Protocol
from weakref import WeakSet


class Stoppable(Protocol):
    """What a token can stop, such as a job."""

    def stop(self) -> None:
        """Ask all workers to put down what they are doing."""


class CancelToken:
    """Stops all jobs that it was given to, whichever thread calls ``cancel``, once and for all."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a signal may call ``cancel`` while it is held
        self._cancelled = False
        self._jobs: WeakSet[Stoppable] = WeakSet()

    @property
    def cancelled(self) -> bool:
        """Whether ``cancel`` was called."""
        return self._cancelled

    def cancel(self) -> None:
        """Stop every job that has this token, now or later."""
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
