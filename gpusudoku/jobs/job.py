"""Independent tasks, shared out among workers: progress, limits and interrupts.

Nothing here knows of Sudoku. What workers find is added to counters, which are exact integers.
Workers are threads: a compiled loop that has released the interpreter's lock, or one that drives a
GPU. A thread is started only for a task that nobody else takes. So a job that turns out to be short
has few threads, and one whose tasks are shared again and again soon has all.
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
from gpusudoku.jobs.cancel import CancelToken, cancelling, tokens
from gpusudoku.jobs.counters import Counters
from gpusudoku.jobs.threads import NoThread, Threads, note_fewer
from gpusudoku.jobs.watch import Progress, Watch, current_watch, watching


@dataclass
class Task:
    """What a worker takes at a time."""

    payload: Any
    weight: float
    """Its share of the whole job; only the progress depends on it."""


class Worker(Protocol):
    """Takes tasks from a job until it gets None, and reports what it finds to the job."""

    def __call__(self, job: Job) -> float:
        """Work until the job has no more tasks or is stopped; returns the seconds of work."""


class Job:
    """Tasks, what the workers find, and when to stop.

    The tokens of the thread that makes it stop it, too, and its watch is told the progress; see
    ``jobs.cancel`` and ``jobs.watch``.

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
    suspend_after
        After about so many seconds it suspends itself; None for a job that never has to.
    """

    def __init__(
        self,
        counters: int,
        limit: int | None = None,
        on_solutions: Callable[[Any, Any], None] | None = None,
        dtype: DTypeLike = object,
        suspend_after: float | None = None,
    ) -> None:
        self._counters = Counters(counters, limit, dtype)
        self.limit = limit
        self.on_solutions = on_solutions
        self.busy: list[float] = []
        """Seconds that each worker it began with was at work, of the ``seconds`` it took."""
        self.start = 0.0
        """When it began, as ``time.perf_counter`` has it."""
        self.seconds = 0.0
        self._waiting, self._resigned, self._done = 0, 0, 0.0
        self._queue: deque[Task] = deque()
        self._change = threading.Condition()
        self._threads = Threads(0)
        self._workers: Sequence[Worker] = ()
        self._suspended, self._left = False, list[Task]()
        self.flag = np.zeros(1, np.int64)
        """Not 0 once the job is stopped: for compiled loops to look at."""
        self._error: BaseException | None = None
        self._suspend_after = suspend_after
        self._tokens, self._watch = tokens(), current_watch()
        self._own = CancelToken()  # stops workers within a task, once the job is stopped
        for token in self._tokens:
            token.attach(self)

    @property
    def counts(self) -> list[int]:
        """The counters."""
        return list(self.numbers.tolist())

    @property
    def numbers(self) -> NDArray[Any]:
        """The counters as an array, of the type in which they are kept."""
        return self._counters.numbers

    @property
    def total(self) -> int:
        """The sum of all counters."""
        return int(self.numbers.sum())

    @property
    def utilisation(self) -> tuple[float, ...]:
        """For every worker the share of the job's time in which it worked; none before it ran."""
        return tuple(busy / self.seconds for busy in self.busy)

    @property
    def has_run(self) -> bool:
        """Whether it has been run, to its end or not."""
        return self.seconds > 0

    @property
    def is_attended(self) -> bool:
        """Whether ``run`` has more to do than to wait: to tell the progress, or to suspend it."""
        return self._watch.sees_progress or self._suspend_after is not None

    @property
    def stopped(self) -> bool:
        """Whether workers should put down what they are doing."""
        return bool(self.flag[0]) or self._is_cancelled

    @property
    def ending(self) -> bool:
        """Whether workers should hand back what they have left, by ``leave``, and take no more."""
        return self._suspended or self.stopped

    @property
    def left(self) -> list[Task]:
        """Once a job has ended early: all tasks that nobody took, and what is left of others.

        What is left of a task, and what was reported of it before, are the whole task.
        """
        return [*self._left, *self._queue]

    @property
    def workers(self) -> int:
        """The most workers that there may be."""
        return self._threads.most

    @property
    def busy_workers(self) -> int:
        """How many workers have a task, or will soon."""
        return self._threads.wanted - self._resigned - self._waiting

    @property
    def idle_workers(self) -> int:
        """How many could take one more task: they wait for one, or could have a thread by now.

        Whoever has much should share some of it. It is negative if there are more tasks already.
        """
        return self._threads.ready + self._waiting - len(self._queue)

    def stop(self) -> None:
        """Ask all workers to put down what they are doing."""
        with self._change:
            self._halt()
        self._own.cancel()

    def suspend(self) -> None:
        """Ask all workers to hand back what they have left as soon as it is no work lost."""
        with self._change:
            self._suspended = True
            self._change.notify_all()

    def leave(self, task: Task) -> None:
        """Hand back what is left of a task when the job is ending."""
        with self._change:
            self._left.append(task)

    def take(self) -> Task | None:
        """The next task; None once no worker has any left, or when the job is ending."""
        with self._change:
            self._waiting += 1
            while not self._queue and not self.ending:
                if self.busy_workers <= 0:  # nobody is left who could share one
                    self._halt()
                else:
                    self._change.wait()
            if self.ending:
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

    def enlist(self, workers: Sequence[Worker]) -> None:
        """Have more workers while the job runs: for those that are about to resign."""
        with self._change:
            self._workers = [*self._workers, *workers]
            self._threads.add(len(workers))

    def resign(self, task: Task | None, error: BaseException) -> None:
        """For a worker that can do nothing any more: give back what is left of its task, if any.

        It must end then. If nobody is left for what there is to do, ``run`` raises the error.
        """
        with self._change:
            self._resigned += 1
            self._queue.extend([] if task is None else [task])
            self._threads.want(len(self._queue) - self._waiting)
            if self._queue and self._resigned == self._threads.wanted and not self.ending:
                self._error = self._error or error
                self._halt()
            self._change.notify_all()  # who waits may be the last, and waits for nobody

    def report(self, found: Iterable[tuple[int, int]], weight: float = 0.0) -> None:
        """Add (counter, number) pairs, no counter twice, and weight to the work done."""
        pairs = np.array(list(found), self.numbers.dtype).reshape(-1, 2)
        self._add(pairs[:, 1], pairs[:, 0].astype(np.intp), weight)

    def report_all(self, numbers: NDArray[np.uint64], weight: float = 0.0) -> None:
        """Add a number to every counter, uint64 (counters), and weight to the work done."""
        self._add(numbers, slice(None), weight)

    def run(self, tasks: Iterable[Task], workers: Sequence[Worker]) -> None:
        """Run workers on the tasks and all that they share; returns when all is done.

        Every worker has its own thread, which is started once there is a task for it.

        Raises
        ------
        Interrupted, Cancelled
            After Ctrl-C or a cancellation, once all have stopped; ``counts`` has what they found.
        NoThread
            If no thread can be started; with fewer than wanted it goes on, with a warning.
        """
        self._begin(tasks, workers)
        interrupted, ended = False, False
        try:
            while not self.stopped and not self._threads.ended:
                if self._attend() and self.is_attended:
                    seconds = time.perf_counter() - self.start
                    if self._suspend_after is not None and seconds >= self._suspend_after:
                        self.suspend()
                    self._watch.progress(Progress(min(self._done, 1.0), self.total, seconds))
            ended = True
        except KeyboardInterrupt:
            interrupted = True
        finally:
            if not ended:
                self.stop()
            self._end()
        if interrupted and self._error is None:
            raise Interrupted("interrupted", self.total)
        self._finish()

    def run_here(self, tasks: Iterable[Task], worker: Worker) -> None:
        """Run one worker in the thread that calls, and no other; else it is as ``run``.

        A KeyboardInterrupt is raised as it is; ``counts`` holds what the worker had found.
        """
        self._begin(tasks, [worker])
        self._guard(0)
        self._end()
        self._finish()

    @property
    def _is_cancelled(self) -> bool:
        return any(token.cancelled for token in self._tokens)

    def _begin(self, tasks: Iterable[Task], workers: Sequence[Worker]) -> None:
        """Take in what there is to do and by whom."""
        self._workers = workers
        self._threads = Threads(len(workers))
        self.busy = [0.0] * len(workers)
        self.start = time.perf_counter()
        self.share(tasks)

    def _attend(self) -> bool:
        """Start a thread, or wait, as ``Threads.attend``; go on with fewer if no more start."""
        try:
            return self._threads.attend(self._guard)
        except NoThread:
            with self._change:
                if self._threads.keep_started() <= self._resigned:
                    raise
                self._change.notify_all()  # for those that wait for one that has not started
        note_fewer()
        return False

    def _end(self) -> None:
        """Wait for the workers, who may have to report what they found."""
        with self._change:
            self._halt()
        self._threads.join()
        self.seconds = time.perf_counter() - self.start

    def _finish(self) -> None:
        """Raise what a worker raised, or that the job was cancelled."""
        if self._error is not None:
            raise self._error
        if self._is_cancelled:
            raise Cancelled("cancelled", self.total)

    def _add(self, numbers: NDArray[Any], counters: Any, weight: float) -> None:
        with self._change:
            self._done += weight
            self._counters.add(numbers, counters)
            if self._counters.are_full:
                self._halt()

    def _halt(self) -> None:
        """Stop; for those who hold the lock."""
        self.flag[0] = 1
        self._change.notify_all()

    def _guard(self, index: int) -> None:
        try:
            with cancelling(*self._tokens, self._own), watching(Watch(self._watch)):
                seconds = self._workers[index](self)
            if index < len(self.busy):
                self.busy[index] = seconds
        except BaseException as error:  # handed to the thread that waits
            if not (isinstance(error, Cancelled) and (self._own.cancelled or self._is_cancelled)):
                self._error = self._error or error
            self.stop()
