"""Threads that are started one by one, as they are wanted."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue

from gpusudoku.errors import GpusudokuError

START_SECONDS = 1e-4
"""Time for each thread that may be started: starting one takes about half as long, and work that is
not worth so many threads ends before."""
POLL_SECONDS = 0.05
"""Time after which the thread that waits for the others wakes, and can be interrupted."""


class NoThread(GpusudokuError, RuntimeError):  # noqa: N818 - it says what is missing
    """The system starts no more threads: too many processes, or too little memory."""


def start_thread(thread: threading.Thread) -> None:
    """Start a thread; raise NoThread if there can be no more."""
    with suppress(RuntimeError, MemoryError):
        return thread.start()
    try:
        thread.start()  # one that had just ended may have counted
    except (RuntimeError, MemoryError):
        if thread.ident is not None:  # it was started before
            raise
        message = "allow more processes (ulimit -u) or more memory (ulimit -v)"
        raise NoThread(f"no thread can be started: {message}") from None


def note_fewer() -> None:
    """Warn that work goes on with fewer threads than wanted; Python shows this only once."""
    warnings.warn(
        "no more threads can be started (see ulimit -u and ulimit -v): going on with fewer",
        RuntimeWarning,
        stacklevel=1,
    )


class Threads:
    """Threads, ``most`` at most, that each call a function with a number of their own, from 0."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.wanted = 0
        """The number that has been asked for."""
        self._start = time.perf_counter()
        self._threads: list[threading.Thread] = []
        self._ended = [False] * most
        # No interrupt can leave the lock of this queue locked, as it can that of a condition.
        self._news: SimpleQueue[None] = SimpleQueue()

    @property
    def ready(self) -> int:
        """The number that is worth starting by now, beside those asked for."""
        seconds = time.perf_counter() - self._start
        return max(0, min(self.most, 1 + int(seconds / START_SECONDS)) - self.wanted)

    @property
    def ended(self) -> bool:
        """True if all that were asked for have ended."""
        return all(self._ended[: self.wanted])

    def want(self, number: int) -> None:
        """Ask for more; only one thread at a time may."""
        more = min(number, self.most - self.wanted)
        if more > 0:
            self.wanted += more
            self._news.put(None)

    def add(self, number: int) -> None:
        """Let there be more than so far."""
        self._ended += [False] * number
        self.most += number

    def attend(self, call: Callable[[int], None]) -> bool:
        """Start a thread, if one is wanted; else wait until one is, or has ended, but not long.

        The thread calls ``call``, which must not raise, and which only the thread keeps: so the job
        of these threads is freed as soon as it is not used any more. Return True after waiting. If
        one is wanted and cannot be started, NoThread is raised.
        """
        index = len(self._threads)
        if index == self.wanted:
            self._wait_for_news()
            return True
        self._threads.append(threading.Thread(target=self._run, args=(index, call), daemon=True))
        try:
            start_thread(self._threads[index])
        except NoThread:
            del self._threads[index]
            raise
        return False

    def keep_started(self) -> int:
        """Want no more than those that were started; return how many these are."""
        self.most = self.wanted = len(self._threads)
        return self.wanted

    def join(self) -> None:
        """Wait for those that were started."""
        # An interrupt can come before the last one has started.
        started = [thread for thread in self._threads if thread.ident is not None]
        # An interrupt of a join can make a thread that still runs look as if it had ended.
        while not all(self._ended[: len(started)]):
            self._wait_for_news()
        for thread in started:
            thread.join()

    def _run(self, index: int, call: Callable[[int], None]) -> None:
        call(index)
        self._ended[index] = True
        self._news.put(None)

    def _wait_for_news(self) -> None:
        with suppress(Empty):
            self._news.get(timeout=POLL_SECONDS)
