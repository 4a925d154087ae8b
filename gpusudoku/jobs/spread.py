"""The same work for many items, on threads, and what comes of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.jobs.job import Job, Task, Worker
from gpusudoku.jobs.watch import watching

Item = TypeVar("Item")
Scratch = TypeVar("Scratch")
Result = TypeVar("Result")

Work = Callable[[Item, Scratch, NDArray[np.int64]], Result]


def spread(
    work: Work[Item, Scratch, Result], items: Sequence[Item], scratch: Sequence[Scratch]
) -> list[Result]:
    """Work on all items; what comes of each, in the order of the items.

    All is done in other threads, even if it is one: the thread that calls stays free for signals.

    Parameters
    ----------
    work
        Gets an item, what its thread works in, and int64 (1), which is not 0 once all are to stop.
        What it returns after that is lost, but an error would hide why the work was stopped.
    items
        What there is to work on.
    scratch
        What each thread works in. There are as many threads, or fewer if there are fewer items.

    Raises
    ------
    Interrupted
        After Ctrl-C or a cancellation, once all threads have stopped. An error of the work is
        raised in the same way.
    """
    results: list[Result | None] = [None] * len(items)
    workers = [_Worker(work, items, results, each) for each in scratch[: len(items)]]
    with watching(None):
        job = Job(0)
    job.run([Task(place, 0.0) for place in range(len(items))], workers)
    return cast("list[Result]", results)


def called(calls: Sequence[Callable[[], Result]], threads: int) -> list[Result]:
    """Make some calls, on threads if there are several; what comes of each, in their order.

    Raises
    ------
    Interrupted
        After Ctrl-C or a cancellation, once the calls that had begun have ended.
    """
    if len(calls) < 2:
        check_cancelled()
        return [call() for call in calls]
    return spread(lambda call, *_: call(), calls, [None] * threads)


class _Worker(Worker, Generic[Item, Scratch, Result]):
    """One of the threads."""

    def __init__(
        self,
        work: Work[Item, Scratch, Result],
        items: Sequence[Item],
        results: list[Result | None],
        scratch: Scratch,
    ) -> None:
        self._work, self._items, self._results = work, items, results
        self._scratch = scratch

    def __call__(self, job: Job) -> float:
        """See ``Worker``; the time does not matter."""
        while (task := job.take()) is not None:
            item = self._items[task.payload]
            self._results[task.payload] = self._work(item, self._scratch, job.flag)
        return 0.0
