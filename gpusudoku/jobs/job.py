"""Independent tasks, shared out among workers: progress, limits and interrupts.

Nothing here knows of Sudoku. A task is anything with a weight. What workers find is added to
counters, which are exact integers. Workers are threads: a compiled loop that has released the
interpreter's lock, or one that drives a GPU.

A thread is started only for a task that nobody else takes. So a job that turns out to be short has
few threads, and one whose tasks are shared again and again soon has all.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gpusudoku.errors import Cancelled, Interrupted
from gpusudoku.jobs.cancel import CancelToken
from gpusudoku.jobs.threads import Threads

START_SECONDS = 1e-4
"""A job has at most one more worker for each of these that it takes: starting a thread takes about
half as long, and what is not worth so many is done before."""


@dataclass
class Task:
    """What a worker takes at a time."""

    payload: Any
    weight: float
    """Its share of the whole job; only the progress depends on it."""


@dataclass
class Progress:
    """What is known while a job runs. ``done`` is the estimated share of the work, 0 to 1."""

    done: float
    count: int
    seconds: float


class Worker(Protocol):
    """Takes tasks from a job until it gets None, and reports what it finds to the job."""

    def __call__(self, job: Job) -> float:
        """Work until the job has no more tasks or is stopped; returns the seconds of work."""


class Job:
    """Tasks, what the workers find, and when to stop.

    Parameters
    ----------
    counters
        The number of counters.
    limit
        The job stops early once every counter has reached this; None for never.
    on_solutions
        Called with each block of what the workers list, and with the counter of each; may block.
    dtype
        How the counts are kept: as integers of any size, or as uint64, which is quick for many
        counters and is enough where whatever is counted is visited.
    cancel
        Stops the job from outside.
    """

    def __init__(
        self,
        counters: int,
        limit: int | None = None,
        on_solutions: Callable[[Any, Any], None] | None = None,
        dtype: DTypeLike = object,
        cancel: CancelToken | None = None,
    ) -> None:
        self._counts = np.zeros(counters, dtype)
        self.limit = limit
        self.on_solutions = on_solutions
        self.busy: list[float] = []
        """Seconds that each worker was at work, of the ``seconds`` that the job took."""
        self.start = 0.0
        """When it began, as ``time.perf_counter`` has it."""
        self.seconds = 0.0
        self._below_limit = counters
        self._waiting = 0
        self._done = 0.0
        self._queue: deque[Task] = deque()
        self._change = threading.Condition()
        self._threads = Threads(0)
        self._workers: Sequence[Worker] = ()
        self._stop = threading.Event()
        self.flag = np.zeros(1, np.int64)
        """Not 0 once the job is stopped: for compiled loops to look at."""
        self._error: BaseException | None = None
        self._cancel = cancel
        if cancel is not None:
            cancel.attach(self)

    @property
    def counts(self) -> list[int]:
        """The counters."""
        counts: list[int] = self._counts.tolist()
        return counts

    @property
    def numbers(self) -> NDArray[Any]:
        """The counters as an array, of the type in which they are kept."""
        return self._counts

    @property
    def total(self) -> int:
        """The sum of all counters."""
        return int(self._counts.sum())

    @property
    def utilisation(self) -> tuple[float, ...]:
        """For every worker the share of the job's time in which it worked; none before it ran."""
        return tuple(busy / self.seconds for busy in self.busy)

    @property
    def stopped(self) -> bool:
        """Whether workers should put down what they are doing."""
        return self._stop.is_set() or self._is_cancelled

    @property
    def workers(self) -> int:
        """The most workers that there may be."""
        return self._threads.most

    @property
    def busy_workers(self) -> int:
        """How many workers have a task, or will soon."""
        return self._threads.wanted - self._waiting

    @property
    def idle_workers(self) -> int:
        """How many workers could take one more task: whoever has much should share some of it.

        They wait for one; or they have no thread yet, and the job has gone on for long enough. It
        is negative if there are more tasks than that.
        """
        seconds = time.perf_counter() - self.start
        most = min(self.workers, 1 + int(seconds / START_SECONDS))
        return max(0, most - self._threads.wanted) + self._waiting - len(self._queue)

    def stop(self) -> None:
        """Ask all workers to put down what they are doing."""
        with self._change:
            self._halt()

    def take(self) -> Task | None:
        """The next task; None once no worker has any left, or after a stop."""
        with self._change:
            self._waiting += 1
            while not self._queue and not self.stopped:
                if self._waiting >= self._threads.wanted:  # nobody is left who could share one
                    self._halt()
                else:
                    self._change.wait()
            if self.stopped:
                return None
            self._waiting -= 1
            return self._queue.popleft()

    def share(self, tasks: Iterable[Task]) -> None:
        """Hand tasks back for others to take: for those that wait, or else for new threads."""
        with self._change:
            before = len(self._queue)
            self._queue.extend(tasks)
            added = len(self._queue) - before
            woken = min(added, max(0, self._waiting - before))
            self._change.notify(woken)
            self._threads.want(added - woken)

    def report(self, found: Iterable[tuple[int, int]], weight: float = 0.0) -> None:
        """Add (counter, number) pairs, no counter twice, and weight to the work done."""
        pairs = np.array(list(found), self._counts.dtype).reshape(-1, 2)
        self._add(pairs[:, 1], pairs[:, 0].astype(np.intp), weight)

    def report_all(self, numbers: NDArray[np.uint64], weight: float = 0.0) -> None:
        """Add a number to every counter, uint64 (counters), and weight to the work done."""
        self._add(numbers, slice(None), weight)

    def run(
        self,
        tasks: Iterable[Task],
        workers: Sequence[Worker],
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        """Run workers on the tasks and all that they share; returns when all is done.

        Every worker has its own thread, which is started once there is a task for it.

        Raises
        ------
        Interrupted
            After Ctrl-C, once all workers have stopped; ``counts`` holds what they had found.
        Cancelled
            After a cancellation, likewise.
        """
        self._begin(tasks, workers)
        interrupted = False
        try:
            while not self.stopped and not self._threads.ended:
                if self._threads.attend(self._guard) and progress is not None:
                    seconds = time.perf_counter() - self.start
                    progress(Progress(min(self._done, 1.0), self.total, seconds))
        except KeyboardInterrupt:
            interrupted = True
        finally:
            self.stop()
            self._threads.join()
            self.seconds = time.perf_counter() - self.start
        if interrupted and self._error is None:
            raise Interrupted("interrupted", self.total)
        self._finish()

    def run_here(self, tasks: Iterable[Task], worker: Worker) -> None:
        """Run one worker in the thread that calls, and no other; returns when all is done.

        Raises
        ------
        Cancelled
            After a cancellation; ``counts`` holds what the worker had found, as they do after a
            KeyboardInterrupt.
        """
        self._begin(tasks, [worker])
        self._guard(0)
        self.stop()
        self.seconds = time.perf_counter() - self.start
        self._finish()

    @property
    def _is_cancelled(self) -> bool:
        return self._cancel is not None and self._cancel.cancelled

    def _begin(self, tasks: Iterable[Task], workers: Sequence[Worker]) -> None:
        """Take in what there is to do and by whom."""
        self._workers = workers
        self._threads = Threads(len(workers))
        self.busy = [0.0] * len(workers)
        self.start = time.perf_counter()
        self.share(tasks)

    def _finish(self) -> None:
        """Raise what a worker raised, or that the job was cancelled."""
        if self._error is not None:
            raise self._error
        if self._is_cancelled:
            raise Cancelled("cancelled", self.total)

    def _add(self, numbers: NDArray[Any], counters: Any, weight: float) -> None:
        with self._change:
            self._done += weight
            before = self._counts[counters]
            after = before + numbers
            if self.limit is not None:
                reached = (before < self.limit) & (after >= self.limit)
                self._below_limit -= int(np.count_nonzero(reached))
            self._counts[counters] = after
            if self._below_limit == 0:
                self._halt()

    def _halt(self) -> None:
        """Stop; for those who hold the lock."""
        self._stop.set()
        self.flag[0] = 1
        self._change.notify_all()

    def _guard(self, index: int) -> None:
        try:
            self.busy[index] = self._workers[index](self)
        except BaseException as error:  # handed to the thread that waits
            self._error = self._error or error
            self.stop()
