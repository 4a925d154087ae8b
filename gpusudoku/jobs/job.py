"""Independent tasks, shared among workers: progress, limits and interrupts.

What workers find is added to counters, which are exact integers. Workers are threads: a compiled
loop that has released the interpreter's lock, or one that drives a GPU. A thread is started only
for a task that no other thread takes.

``spread`` and ``called`` are for work that needs no counters. ``pieces`` and ``part_of`` cut work,
``Pace`` and ``Cost`` tell how much of it to do at a time.
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
from gpusudoku.jobs.threads import NoThread, isolated, note_fewer, start_thread
from gpusudoku.jobs.watch import Progress, Watch, current_watch, watching

Item = TypeVar("Item")
Scratch = TypeVar("Scratch")
Result = TypeVar("Result")

START_SECONDS = 1e-4
"""Time for each thread that may be started to share work: starting one takes about half as long,
and work that is not worth so many threads ends before."""
MAX_DONE = 0.99
"""The largest share that is reported while any work is in doubt: more of it may remain."""
ROUNDING = 1e-9
"""The share of the whole work by which a sum of doubts may differ from 0 once none is left: the
doubts that are added and subtracted are rounded."""
MAX_DOUBT = 0.25
"""The share of the whole work that may be in doubt while progress is reported."""
MAX_GROWTH = 8
"""The growth of a size after a piece of work that took hardly any time."""
POLL_SECONDS = 0.05
"""Time after which the thread that waits for the workers wakes, and can be interrupted."""


@dataclass
class Task:
    """Work that a worker takes at a time."""

    payload: Any
    weight: float
    """The work that it should take, in the unit of the job; only the progress depends on it."""
    doubt: float = 0.0
    """How much more or less work it may be."""


class Worker(Protocol):
    """Takes tasks from a job until it gets None, and reports what it finds to the job."""

    def __call__(self, job: Job) -> float:
        """Work until the job has no more tasks or is stopped; return the seconds of work."""


class Job:
    """Tasks, counters of what the workers find, and when to stop.

    The tokens of the thread that makes it stop it, and the watch of that thread gets its progress.
    It stops once every counter has reached the limit, and suspends itself after so many seconds, or
    at a deadline.
    ``on_solutions`` gets each block of what is listed, with the counter of each, and may block.
    Counters of uint64 are quick, and cannot overflow if what is counted is found by ones and twos.
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
        self.busy: list[float] = []
        """Seconds that each worker it began with was at work, of the ``seconds`` it took."""
        self.start = 0.0
        """The time by ``time.perf_counter`` at which it began."""
        self.seconds = 0.0
        self.whole = 1.0
        """The work that all tasks together should take; their weights add up to it."""
        self.doubt = 0.0
        """How much more or less work that may be: the doubts of the tasks add up to it."""
        self._waiting, self._resigned, self._done = 0, 0, 0.0
        self._queue: deque[Task] = deque()
        self._change = threading.Condition()
        self._workers: Sequence[Worker] = ()
        self._threads: list[threading.Thread] = []
        """Those that were started, for the first of the workers."""
        self._wanted = 0
        """The number of workers that there are tasks for; it only grows."""
        self.workers = 0
        """The most workers that there may be: fewer than were given if no more threads start."""
        self._ended: list[bool] = []
        """True for each worker that has ended."""
        # No interrupt can leave the lock of this queue locked, as it can that of a condition.
        self._news: SimpleQueue[None] = SimpleQueue()
        self._suspended, self._left = False, list[Task]()
        self.flag = np.zeros(1, np.int64)
        """Not 0 once the job is stopped: for compiled loops to look at."""
        self.recalls = isolated(1, np.int64)
        """How often the workers were recalled: compiled code that looks at it returns when it
        changes."""
        self._error: BaseException | None = None
        self._suspend_after = suspend_after
        self.deadline = Deadline(inf) if deadline is None else deadline
        """When it suspends itself."""
        self._tokens, self._watch = tokens(), current_watch()
        self._own = CancelToken()  # stops workers within a task, once the job is stopped
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
        """For every worker the share of the job's time in which it worked; none before it ran."""
        return tuple(busy / self.seconds for busy in self.busy)

    @property
    def has_run(self) -> bool:
        """True once it has been run, to its end or not."""
        return self.seconds > 0

    @property
    def is_attended(self) -> bool:
        """True if ``run`` does more than wait: it reports progress, or suspends the job."""
        return self.is_watched or self._suspend_after is not None

    @property
    def is_watched(self) -> bool:
        """True if its progress is reported to somebody."""
        return self._watch.sees_progress

    @property
    def done(self) -> float:
        """The estimated share of the work that is done; 0 while too much of it is in doubt."""
        if self.doubt > MAX_DOUBT * self.whole:
            return 0.0
        share = self._done / self.whole if self.whole else 1.0
        if self.limit is not None and len(self.numbers) == 1:
            share = max(share, self.total / self.limit)
        is_certain = self.doubt <= ROUNDING * self.whole
        return min(share, 1.0 if is_certain else MAX_DONE)

    @property
    def stopped(self) -> bool:
        """True if workers should put down what they are doing."""
        return bool(self.flag[0]) or self._is_cancelled

    @property
    def ending(self) -> bool:
        """True if workers should hand back what they have left, by ``leave``, and take no more."""
        return self._suspended or self.stopped or self.deadline.cancelled

    @property
    def left(self) -> list[Task]:
        """Once a job has ended early: all tasks that no worker took, and what is left of others."""
        return [*self._left, *self._queue]

    @property
    def busy_workers(self) -> int:
        """The number of workers that have a task, or will soon."""
        return self._wanted - self._resigned - self._waiting

    @property
    def idle_workers(self) -> int:
        """The number that could take one more task: they wait, or could have a thread by now."""
        worth = 1 + int((time.perf_counter() - self.start) / START_SECONDS)
        ready = max(0, min(self.workers, worth) - self._wanted)
        return ready + self._waiting - len(self._queue)

    @property
    def _is_cancelled(self) -> bool:
        return any(token.cancelled for token in self._tokens)

    def stop(self) -> None:
        """Ask all workers to put down what they are doing."""
        with self._change:
            self._halt()
        self._own.cancel()

    def suspend(self) -> None:
        """Ask all workers to hand back what they have left as soon as it is no work lost."""
        with self._change:
            self._suspended = True
            self.recalls += 1
            self._change.notify_all()

    def recall(self) -> None:
        """Ask all workers that are in compiled code to return from it, and go on."""
        with self._change:
            self.recalls += 1

    def finish(self) -> None:
        """End the job: all work is done. Tasks that are still in the queue are dropped."""
        with self._change:
            self._queue.clear()
            self._halt()

    def leave(self, task: Task) -> None:
        """Hand back what is left of a task when the job is ending."""
        with self._change:
            self._left.append(task)

    def take(self) -> Task | None:
        """Return the next task; None once no worker has any left, or when the job is ending."""
        with self._change:
            self._waiting += 1
            while not self._queue and not self.ending:
                if self.busy_workers <= 0:  # no worker is left that could share a task
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
            self._want(added - woken)

    def resign(self, task: Task | None, error: BaseException) -> None:
        """Give back what is left of the task of a worker that can go on no more, and must end.

        If no worker is left for what there is to do, ``run`` raises the error.
        """
        with self._change:
            self._resigned += 1
            self._queue.extend([] if task is None else [task])
            self._want(len(self._queue) - self._waiting)
            if self._queue and self._resigned == self._wanted and not self.ending:
                self._error = self._error or error
                self._halt()
            self._change.notify_all()  # a worker that waits may be the last, and waits in vain

    def report(self, found: Iterable[tuple[int, int]], weight: float = 0.0) -> None:
        """Add (counter, number) pairs, no counter twice, and weight to the work done."""
        pairs = np.array(list(found), self.numbers.dtype).reshape(-1, 2)
        self._add(pairs[:, 1], pairs[:, 0].astype(np.intp), weight)

    def report_all(self, numbers: NDArray[np.uint64]) -> None:
        """Add a number to every counter, uint64 (counters)."""
        self._add(numbers, slice(None), 0.0)

    def advance(self, task: Task, work: float) -> None:
        """Add some work on a task to the work done."""
        with self._change:
            self._done += work
            task.weight -= work
            if task.weight < 0:  # it was underestimated: nobody knows how much is left
                self.whole -= task.weight
                self.doubt -= task.weight
                task.doubt -= task.weight
                task.weight = 0.0

    def expect(self, task: Task, weight: float, doubt: float) -> None:
        """Change the work that the rest of a task should take, and how much of it is in doubt."""
        with self._change:
            self.whole += weight - task.weight
            self.doubt += doubt - task.doubt
            task.weight = weight
            task.doubt = doubt

    def _add(self, numbers: NDArray[Any], counters: Any, weight: float) -> None:
        with self._change:
            self._done += weight
            before = self.numbers[counters]
            after = before + numbers
            if self.limit is not None:
                reached = (before < self.limit) & (after >= self.limit)
                self._below_limit -= int(np.count_nonzero(reached))
                if not self._below_limit:
                    self._halt()
            self.numbers[counters] = after  # at last: ``before`` may be a view of it

    def run(self, tasks: Iterable[Task], workers: Sequence[Worker]) -> None:
        """Run workers on the tasks and all that they share; return when all is done.

        Every worker has its own thread, which is started once there is a task for it. After Ctrl-C
        or a cancellation, all workers stop and report before Interrupted or Cancelled is raised.
        NoThread is raised if no thread at all can be started; with fewer it goes on, and warns.
        """
        self._begin(tasks, workers)
        interrupted, ended = False, False
        last_look = self.start
        try:
            while not (self.stopped or all(self._ended[: self._wanted])):
                if not self._start_thread():
                    self._wait_for_news()
                elif time.perf_counter() < last_look + POLL_SECONDS:
                    continue
                # Where threads outnumber cores, to start them all may take seconds.
                last_look = time.perf_counter()
                if self.deadline.cancelled:
                    self.suspend()  # workers that wait for a task have to be woken
                if self.is_attended:
                    seconds = time.perf_counter() - self.start
                    if self._suspend_after is not None and seconds >= self._suspend_after:
                        self.suspend()
                    self._watch.progress(Progress(self.done, self.total, seconds))
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
        """Do the same with one worker, in the thread that calls; KeyboardInterrupt passes."""
        self._begin(tasks, [worker])
        self._guard(0, worker)
        self._end()
        self._finish()

    def _begin(self, tasks: Iterable[Task], workers: Sequence[Worker]) -> None:
        self._workers, self.workers = workers, len(workers)
        self._ended = [False] * len(workers)
        self.busy = [0.0] * len(workers)
        self.start = time.perf_counter()
        self.share(tasks)

    def _want(self, number: int) -> None:
        """Ask for the threads of more workers; the caller holds the lock."""
        more = min(number, self.workers - self._wanted)
        if more > 0:
            self._wanted += more
            self._news.put(None)

    def _start_thread(self) -> bool:
        """Start a thread, if one is wanted, and tell so; go on with fewer if no more start."""
        index = len(self._threads)
        if index == self._wanted:
            return False
        # Only the thread keeps ``_guard``: so a job is freed as soon as it is not used any more.
        self._threads.append(
            threading.Thread(target=self._guard, args=(index, self._workers[index]), daemon=True)
        )
        try:
            start_thread(self._threads[index])
        except NoThread:
            del self._threads[index]
            with self._change:
                self.workers = self._wanted = index
                if index <= self._resigned:
                    raise
                self._change.notify_all()  # for those that wait for one that has not started
            note_fewer()
        return True

    def _wait_for_news(self) -> None:
        """Wait until a thread is wanted, or a worker has ended, but not long."""
        with suppress(Empty):
            self._news.get(timeout=POLL_SECONDS)

    def _end(self) -> None:
        """Wait for the workers, who may have to report what they found."""
        with self._change:
            self._halt()
        # An interrupt can come before the last one has started.
        started = [thread for thread in self._threads if thread.ident is not None]
        # An interrupt of a join can make a thread that still runs look as if it had ended.
        while not all(self._ended[: len(started)]):
            self._wait_for_news()
        for thread in started:
            thread.join()
        self._workers = ()  # they may know the job: a cycle would keep all boards for a while
        self.seconds = time.perf_counter() - self.start

    def _finish(self) -> None:
        """Raise what a worker raised, or that the job was cancelled."""
        if self._error is not None:
            raise self._error
        if self._is_cancelled:
            raise Cancelled("cancelled", self.total)

    def _halt(self) -> None:
        """Stop; the caller holds the lock."""
        self.flag[0] = 1
        self.recalls += 1
        self._change.notify_all()

    def _guard(self, index: int, worker: Worker) -> None:
        """Run a worker; keep its error for the thread that waits."""
        try:
            with cancelling(*self._tokens, self._own), watching(Watch(self._watch)):
                seconds = worker(self)
            if index < len(self.busy):
                self.busy[index] = seconds
        except BaseException as error:
            if not (isinstance(error, Cancelled) and (self._own.cancelled or self._is_cancelled)):
                self._error = self._error or error
            self.stop()
        self._ended[index] = True
        self._news.put(None)


def spread(
    work: Callable[[Item, Scratch, NDArray[np.int64]], Result],
    items: Sequence[Item],
    scratch: Sequence[Scratch],
) -> list[Result]:
    """Work on all items in other threads, one for each scratch; results in the items' order.

    The thread that calls stays free for signals, also if there is one other only. ``work`` gets an
    item, the scratch of its thread, and int64 (1), which is not 0 once all are to stop. What it
    returns after that is lost, but an error would hide why the work was stopped.
    """
    results: list[Result | None] = [None] * len(items)

    def worker(own: Scratch, job: Job) -> float:
        while (task := job.take()) is not None:
            results[task.payload] = work(items[task.payload], own, job.flag)
        return 0.0

    with watching(None):
        job = Job(0)
    tasks = [Task(place, 0.0) for place in range(len(items))]
    job.run(tasks, [partial(worker, own) for own in scratch[: len(items)]])
    return cast("list[Result]", results)


def called(calls: Sequence[Callable[[], Result]], threads: int) -> list[Result]:
    """Make some calls, on threads if there are several; return their results in order."""
    if len(calls) < 2:
        check_cancelled()
        return [call() for call in calls]
    return spread(lambda call, *_: call(), calls, [None] * threads)


def pieces(whole: range, most: int) -> list[range]:
    """Cut a range of step 1 into at most ``most`` ranges of nearly the same size, none empty."""
    start = whole.start
    size = max(0, whole.stop - whole.start)
    count = min(size, max(1, most))
    ends = [start + size * piece // count for piece in range(count + 1)] if size else []
    return [range(first, end) for first, end in pairwise(ends)]


def part_of(whole: int, number: int, parts: int) -> range:
    """Return part ``number``, from 1 on, of a whole; sizes differ by one at most, and may be 0."""
    return range(whole * (number - 1) // parts, whole * number // parts)


class Pace:
    """A size of pieces of work that should each take so many seconds, or half or twice as long.

    It grows to the size that would take so long, but to no more than MAX_GROWTH times as much.
    """

    def __init__(self, size: int, seconds: float, most: int | None = None) -> None:
        self.size = size if most is None else min(size, most)
        self._seconds = seconds
        self._most = most

    def took(self, seconds: float, *, full: bool) -> None:
        """Set the next size by the time of the last piece; ``full`` if it had the full size."""
        if full and seconds < self._seconds / 2:
            self.size *= int(self._seconds / max(seconds, self._seconds / MAX_GROWTH))
            self.size = self.size if self._most is None else min(self.size, self._most)
        elif seconds > self._seconds * 2:
            self.size = max(1, self.size // 2)


class Cost:
    """The mean time that one of many things takes; the last ones weigh most.

    Threads may share it without a lock: one that reads between the two sums of another gets a
    mean that is a little off, and the next time corrects it.
    """

    def __init__(self) -> None:
        self._seconds = self._number = 0.0

    def took(self, seconds: float, number: int) -> None:
        """Learn how long some took."""
        self._seconds = self._seconds / 2 + seconds
        self._number = self._number / 2 + number

    def of(self, number: int) -> float:
        """Estimate the seconds that some will take; 0 if nothing was learnt."""
        return number * self._seconds / self._number if self._number else 0.0
