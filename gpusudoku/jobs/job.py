"""Jobs: independent tasks, distributed among workers, with progress, limits and interrupts.

Workers add what they count to counters, which are exact integers. A worker is a thread. It runs a
compiled loop that has released Python's global interpreter lock, or it controls a GPU. A thread is
started only when there is a task that no running thread can take.

``run_on_threads`` and ``call_on_threads`` are for work without counters. ``split_range`` and
``part_of`` divide work. ``ChunkSize`` and ``MeanCost`` determine how much work to do at a time.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import inf
from queue import Empty, SimpleQueue
from typing import Any, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gpusudoku.errors import Cancelled, Interrupted
from gpusudoku.jobs.cancel import CancelToken, Deadline, cancelling, check_cancelled, tokens
from gpusudoku.jobs.threads import ThreadStartError, isolated, start_thread, warn_fewer_threads
from gpusudoku.jobs.watch import Progress, Watch, current_watch, watching

Item = TypeVar("Item")
Scratch = TypeVar("Scratch")
Result = TypeVar("Result")

START_SECONDS = 1e-4
"""Time that a job must have run for each thread it starts. Starting a thread takes half as long, so
short work ends before many are started."""
MAX_DONE = 0.99
"""The largest fraction reported while some of the work is uncertain."""
ROUNDING = 1e-9
"""Uncertainty below this fraction of the work counts as 0: uncertainties are added and
subtracted, so rounding errors remain."""
MAX_UNCERTAINTY = 0.25
"""The fraction of the work that may be uncertain while progress is reported."""
MAX_GROWTH = 8
"""The largest growth of a chunk size after a chunk that took hardly any time."""
POLL_SECONDS = 0.05
"""Interval in which the thread that waits for the workers wakes up, so that it can be
interrupted."""


@dataclass
class Task:
    """Work that a worker takes at once."""

    payload: Any
    weight: float
    """The expected work, in the unit of the job. Only the progress depends on it."""
    uncertainty: float = 0.0
    """The uncertainty of ``weight``, in the same unit."""


class Worker(Protocol):
    """Takes tasks from a job until it gets None, and reports counts to the job."""

    def __call__(self, job: Job) -> float:
        """Work until the job has no more tasks or is stopped. Return the seconds of work."""


class Job:
    """Tasks, counters, and the conditions under which the work stops.

    The cancel tokens of the thread that makes the job stop it. The watch of that thread receives
    its progress.

    Parameters
    ----------
    counters
        The number of counters.
    limit
        The job stops when every counter has reached the limit.
    on_solutions
        A function that is called with each block of solutions and their counters. It may block.
    dtype
        The type of the counters. ``uint64`` is fast, and cannot overflow if solutions are counted
        one or two at a time. The default, Python integers, cannot overflow at all.
    suspend_after
        The job suspends itself after this many seconds.
    deadline
        The job suspends itself at this deadline.
    """

    def __init__(
        self,
        counters: int,
        limit: int | None = None,
        on_solutions: Callable[[Any, Any], None] | None = None,
        dtype: DTypeLike = object,
        suspend_after: float | None = None,
        deadline: Deadline | None = None,
    ) -> None:
        self.numbers: NDArray[Any] = isolated(counters, dtype)
        """The counters. Compiled code may add to those of uint64."""
        self.limit = limit
        self._below_limit = counters
        self.on_solutions = on_solutions
        self.busy_seconds: list[float] = []
        """For each worker, the seconds of ``seconds`` in which it worked."""
        self.start = 0.0
        """The time of ``time.perf_counter`` at which the job began."""
        self.seconds = 0.0
        self.expected_work = 1.0
        """The expected work of all tasks: the sum of their weights."""
        self.uncertainty = 0.0
        """The uncertainty of ``expected_work``: the sum of the uncertainties of the tasks."""
        self._waiting_workers = 0
        self._withdrawn_workers = 0
        self._work_done = 0.0
        self._queue: deque[Task] = deque()
        self._change = threading.Condition()
        self._workers: Sequence[Worker] = ()
        self._threads: list[threading.Thread] = []
        """The threads that were started, for the first of the workers."""
        self._wanted_workers = 0
        """The number of workers for which there were tasks; it only grows."""
        self.workers = 0
        """The number of workers that can run: fewer than passed if threads cannot be started."""
        self._has_ended: list[bool] = []
        """True for each worker that has ended."""
        # Tells the thread that waits for the workers that something has changed. An interrupt can
        # leave a condition locked, but not this queue.
        self._changes: SimpleQueue[None] = SimpleQueue()
        self._suspended = False
        self._returned_tasks: list[Task] = []
        self.flag = np.zeros(1, np.int64)
        """Not 0 when the job is stopped. Compiled loops read it."""
        self.recalls = isolated(1, np.int64)
        """The number of times that the workers were recalled. Compiled code returns to Python when
        it changes."""
        self._error: BaseException | None = None
        self._suspend_after = suspend_after
        self.deadline = Deadline(inf) if deadline is None else deadline
        """The time at which the job suspends itself."""
        self._tokens = tokens()
        self._watch = current_watch()
        # Stops the workers within their tasks when the job is stopped.
        self._worker_token = CancelToken()
        for token in self._tokens:
            token.attach(self)

    @property
    def counts(self) -> list[int]:
        """The counters as integers."""
        return list(self.numbers.tolist())

    @property
    def total(self) -> int:
        """The sum of all counters."""
        return int(self.numbers.sum())

    @property
    def utilisation(self) -> tuple[float, ...]:
        """For every worker, the fraction of the time in which it worked; empty before the run."""
        return tuple(seconds / self.seconds for seconds in self.busy_seconds)

    @property
    def has_run(self) -> bool:
        """True if the job was run, to its end or not."""
        return self.seconds > 0

    @property
    def is_attended(self) -> bool:
        """True if ``run`` also reports progress or suspends the job, and does not only wait."""
        return self.is_watched or self._suspend_after is not None

    @property
    def is_watched(self) -> bool:
        """True if something receives the progress."""
        return self._watch.sees_progress

    @property
    def done(self) -> float:
        """The estimated fraction of the work that is done; 0 while it is too uncertain."""
        if self.uncertainty > MAX_UNCERTAINTY * self.expected_work:
            return 0.0
        fraction = self._work_done / self.expected_work if self.expected_work else 1.0
        if self.limit is not None and len(self.numbers) == 1:
            fraction = max(fraction, self.total / self.limit)
        is_certain = self.uncertainty <= ROUNDING * self.expected_work
        return min(fraction, 1.0 if is_certain else MAX_DONE)

    @property
    def stopped(self) -> bool:
        """True if workers should abandon their tasks."""
        return bool(self.flag[0]) or self._is_cancelled

    @property
    def ending(self) -> bool:
        """True if workers should return their remaining work, see ``return_task``, and end."""
        return self._suspended or self.stopped or self.deadline.cancelled

    @property
    def remaining_tasks(self) -> list[Task]:
        """The remaining work of a job that ended early: tasks not taken, and the rest of others."""
        return [*self._returned_tasks, *self._queue]

    @property
    def busy_workers(self) -> int:
        """The number of workers that have a task, or are about to take one."""
        return self._wanted_workers - self._withdrawn_workers - self._waiting_workers

    @property
    def idle_workers(self) -> int:
        """The number of workers that could take a task: they wait, or their thread may start."""
        allowed_threads = 1 + int((time.perf_counter() - self.start) / START_SECONDS)
        startable = max(0, min(self.workers, allowed_threads) - self._wanted_workers)
        return startable + self._waiting_workers - len(self._queue)

    @property
    def _is_cancelled(self) -> bool:
        return any(token.cancelled for token in self._tokens)

    def stop(self) -> None:
        """Ask all workers to abandon their tasks."""
        with self._change:
            self._halt()
        self._worker_token.cancel()

    def suspend(self) -> None:
        """Ask all workers to return their remaining work as soon as no work is lost."""
        with self._change:
            self._suspended = True
            self.recalls += 1
            self._change.notify_all()

    def recall(self) -> None:
        """Ask all workers that run compiled code to return to Python briefly, and continue."""
        with self._change:
            self.recalls += 1

    def finish(self) -> None:
        """End the job because all work is done. Drop tasks that are still in the queue."""
        with self._change:
            self._queue.clear()
            self._halt()

    def return_task(self, task: Task) -> None:
        """Return the remaining work of a task when the job is ending."""
        with self._change:
            self._returned_tasks.append(task)

    def take(self) -> Task | None:
        """Wait for a task and return it; None if no worker has one, or when the job is ending."""
        with self._change:
            self._waiting_workers += 1
            while not self._queue and not self.ending:
                # If all workers wait, none of them can share a task.
                if self.busy_workers <= 0:
                    self._halt()
                else:
                    self._change.wait()
            if self.ending:
                return None
            self._waiting_workers -= 1
            return self._queue.popleft()

    def share(self, tasks: Iterable[Task]) -> None:
        """Put tasks into the queue, for workers that wait, or else for new threads."""
        with self._change:
            queue_length = len(self._queue)
            self._queue.extend(tasks)
            added_count = len(self._queue) - queue_length
            # Workers that wait already have the tasks that were in the queue.
            woken = min(added_count, max(0, self._waiting_workers - queue_length))
            self._change.notify(woken)
            self._want(added_count - woken)

    def withdraw(self, task: Task | None, error: BaseException) -> None:
        """End a worker that cannot continue, and return the remaining work of its task.

        If no worker remains for the work, ``run`` raises the error.
        """
        with self._change:
            self._withdrawn_workers += 1
            if task is not None:
                self._queue.append(task)
            self._want(len(self._queue) - self._waiting_workers)
            if self._queue and self._withdrawn_workers == self._wanted_workers and not self.ending:
                self._error = self._error or error
                self._halt()
            # A worker that waits may now be the last one, and would wait forever.
            self._change.notify_all()

    def report(self, counts: Iterable[tuple[int, int]], weight: float = 0.0) -> None:
        """Add (counter, number) pairs, no counter twice, and add ``weight`` to the work done."""
        pairs = np.array(list(counts), self.numbers.dtype).reshape(-1, 2)
        self._add(pairs[:, 1], pairs[:, 0].astype(np.intp), weight)

    def report_all(self, numbers: NDArray[np.uint64]) -> None:
        """Add ``numbers``, uint64 (counters), to the counters."""
        self._add(numbers, slice(None), 0.0)

    def advance(self, task: Task, work: float) -> None:
        """Move ``work`` from the expected work of a task to the work done."""
        with self._change:
            self._work_done += work
            task.weight -= work
            if task.weight < 0:
                # The task was underestimated, so its remaining work is unknown.
                self.expected_work -= task.weight
                self.uncertainty -= task.weight
                task.uncertainty -= task.weight
                task.weight = 0.0

    def expect(self, task: Task, weight: float, uncertainty: float) -> None:
        """Set the expected remaining work of a task, and its uncertainty."""
        with self._change:
            self.expected_work += weight - task.weight
            self.uncertainty += uncertainty - task.uncertainty
            task.weight = weight
            task.uncertainty = uncertainty

    def _add(self, numbers: NDArray[Any], counters: Any, weight: float) -> None:
        with self._change:
            self._work_done += weight
            old_numbers = self.numbers[counters]
            new_numbers = old_numbers + numbers
            if self.limit is not None:
                reaches_limit = (old_numbers < self.limit) & (new_numbers >= self.limit)
                self._below_limit -= int(np.count_nonzero(reaches_limit))
                if not self._below_limit:
                    self._halt()
            # Written last, because ``old_numbers`` may be a view of the counters.
            self.numbers[counters] = new_numbers

    def run(self, tasks: Iterable[Task], workers: Sequence[Worker]) -> None:
        """Run workers on the tasks, and on tasks that workers share, until all work is done.

        Every worker has its own thread, which is started when there is a task for it. If only some
        threads can be started, the work continues with these, and a warning is given.

        Raises
        ------
        Interrupted, Cancelled
            After Ctrl-C or a cancellation, when all workers have stopped and reported.
        ThreadStartError
            If no thread can be started.
        """
        self._begin(tasks, workers)
        interrupted = False
        has_ended = False
        last_poll = self.start
        try:
            while not (self.stopped or all(self._has_ended[: self._wanted_workers])):
                if not self._start_thread():
                    self._wait_for_change()
                elif time.perf_counter() < last_poll + POLL_SECONDS:
                    continue
                # Polled also while threads are started: with more threads than cores, that may
                # take seconds.
                last_poll = time.perf_counter()
                if self.deadline.cancelled:
                    self.suspend()  # wakes workers that wait for a task
                if self.is_attended:
                    seconds = time.perf_counter() - self.start
                    if self._suspend_after is not None and seconds >= self._suspend_after:
                        self.suspend()
                    self._watch.progress(Progress(self.done, self.total, seconds))
            has_ended = True
        except KeyboardInterrupt:
            interrupted = True
        finally:
            if not has_ended:
                self.stop()
            self._end()
        if interrupted and self._error is None:
            raise Interrupted("interrupted", self.total)
        self._finish()

    def run_here(self, tasks: Iterable[Task], worker: Worker) -> None:
        """Run one worker in the calling thread. A KeyboardInterrupt is not converted."""
        self._begin(tasks, [worker])
        self._guard(0, worker)
        self._end()
        self._finish()

    def _begin(self, tasks: Iterable[Task], workers: Sequence[Worker]) -> None:
        self._workers = workers
        self.workers = len(workers)
        self._has_ended = [False] * len(workers)
        self.busy_seconds = [0.0] * len(workers)
        self.start = time.perf_counter()
        self.share(tasks)

    def _want(self, number: int) -> None:
        """Ask for the threads of more workers; the caller holds the lock."""
        additional = min(number, self.workers - self._wanted_workers)
        if additional > 0:
            self._wanted_workers += additional
            self._changes.put(None)

    def _start_thread(self) -> bool:
        """Start a thread if a worker needs one. Return whether it did.

        If the thread cannot be started, continue with fewer workers.
        """
        index = len(self._threads)
        if index == self._wanted_workers:
            return False
        # Only the thread refers to ``_guard``, so that an unused job is freed immediately.
        self._threads.append(
            threading.Thread(target=self._guard, args=(index, self._workers[index]), daemon=True)
        )
        try:
            start_thread(self._threads[index])
        except ThreadStartError:
            del self._threads[index]
            with self._change:
                self.workers = self._wanted_workers = index
                if index <= self._withdrawn_workers:
                    raise
                # Other workers may wait for the one that has not started.
                self._change.notify_all()
            warn_fewer_threads()
        return True

    def _wait_for_change(self) -> None:
        """Wait until a worker needs a thread or has ended, for at most POLL_SECONDS."""
        with suppress(Empty):
            self._changes.get(timeout=POLL_SECONDS)

    def _end(self) -> None:
        """Wait for the workers, which may have to report counts."""
        with self._change:
            self._halt()
        # After an interrupt the last thread may not have started.
        threads = [thread for thread in self._threads if thread.ident is not None]
        # An interrupted join can make a running thread look as if it had ended.
        while not all(self._has_ended[: len(threads)]):
            self._wait_for_change()
        for thread in threads:
            thread.join()
        # Workers may refer to the job. A reference cycle would keep all boards in memory.
        self._workers = ()
        self.seconds = time.perf_counter() - self.start

    def _finish(self) -> None:
        """Raise the error of a worker, or Cancelled if the job was cancelled."""
        if self._error is not None:
            raise self._error
        if self._is_cancelled:
            raise Cancelled("cancelled", self.total)

    def _halt(self) -> None:
        """Stop the job; the caller holds the lock."""
        self.flag[0] = 1
        self.recalls += 1
        self._change.notify_all()

    def _guard(self, index: int, worker: Worker) -> None:
        """Run a worker. Store its error for the thread that waits."""
        try:
            with cancelling(*self._tokens, self._worker_token), watching(Watch(self._watch)):
                seconds = worker(self)
            if index < len(self.busy_seconds):
                self.busy_seconds[index] = seconds
        except BaseException as error:
            is_stopped = self._worker_token.cancelled or self._is_cancelled
            if not (isinstance(error, Cancelled) and is_stopped):
                self._error = self._error or error
            self.stop()
        self._has_ended[index] = True
        self._changes.put(None)


def run_on_threads(
    work: Callable[[Item, Scratch, NDArray[np.int64]], Result],
    items: Sequence[Item],
    scratch: Sequence[Scratch],
) -> list[Result]:
    """Call ``work`` for all items on other threads. Return the results in the order of the items.

    There is a thread for each element of ``scratch``. The calling thread remains free to receive
    signals, even if there is only one other thread. ``work`` gets an item, the scratch of its
    thread, and an array int64 (1), which is not 0 when it should stop. Results after that are
    dropped, and ``work`` should not raise then: its error would hide the reason of the stop.
    """
    results: list[Result | None] = [None] * len(items)

    def worker(thread_scratch: Scratch, job: Job) -> float:
        while (task := job.take()) is not None:
            results[task.payload] = work(items[task.payload], thread_scratch, job.flag)
        return 0.0

    with watching(None):
        job = Job(0)
    tasks = [Task(index, 0.0) for index in range(len(items))]
    job.run(tasks, [partial(worker, thread_scratch) for thread_scratch in scratch[: len(items)]])
    return cast("list[Result]", results)


def call_on_threads(calls: Sequence[Callable[[], Result]], threads: int) -> list[Result]:
    """Make calls, on threads if there are several. Return their results in order."""
    if len(calls) < 2:
        check_cancelled()
        return [call() for call in calls]
    return run_on_threads(lambda call, *_: call(), calls, [None] * threads)


def split_range(whole: range, max_count: int) -> list[range]:
    """Divide a range of step 1 into at most ``max_count`` ranges of similar size, none empty."""
    size = max(0, whole.stop - whole.start)
    if not size:
        return []
    count = min(size, max(1, max_count))
    bounds = [whole.start + size * index // count for index in range(count + 1)]
    return [range(start, end) for start, end in pairwise(bounds)]


def part_of(size: int, number: int, parts: int) -> range:
    """Return part ``number`` (from 1) of ``parts`` parts of ``range(size)``.

    Sizes of parts differ by at most one, and may be 0.
    """
    return range(size * (number - 1) // parts, size * number // parts)


class ChunkSize:
    """The size of a chunk of work, adapted so that a chunk takes about ``seconds``.

    The size changes if a chunk takes less than half or more than twice as long. It grows by at most
    MAX_GROWTH at once, and to at most ``max_size``.
    """

    def __init__(self, size: int, seconds: float, max_size: int | None = None) -> None:
        self.size = size if max_size is None else min(size, max_size)
        self._seconds = seconds
        self._max_size = max_size

    def adapt(self, seconds: float, *, full: bool) -> None:
        """Adapt the size to the time of the last chunk. ``full``: the chunk had the full size."""
        # A smaller chunk at the end of the work shows nothing about the full size.
        if full and seconds < self._seconds / 2:
            self.size *= int(self._seconds / max(seconds, self._seconds / MAX_GROWTH))
            if self._max_size is not None:
                self.size = min(self.size, self._max_size)
        elif seconds > self._seconds * 2:
            self.size = max(1, self.size // 2)


class MeanCost:
    """The mean time per item, in which recent items weigh most.

    Threads may share it without a lock. A thread that reads between the two updates of another gets
    a slightly wrong mean, which the next update corrects.
    """

    def __init__(self) -> None:
        self._seconds = self._number = 0.0

    def add(self, seconds: float, number: int) -> None:
        """Add the time that ``number`` items took."""
        self._seconds = self._seconds / 2 + seconds
        self._number = self._number / 2 + number

    def of(self, number: int) -> float:
        """Return the expected seconds for ``number`` items; 0 if no time was added."""
        return number * self._seconds / self._number if self._number else 0.0
