"""Workers that do no Sudoku, and tasks for them."""

from __future__ import annotations

import threading
from collections.abc import Callable

from gpusudoku.jobs.job import Job, Task, Worker
from tests.waiting import until


def in_a_thread(work: Callable[[], object]) -> threading.Thread:
    """Start something in a thread of its own."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def tasks(*payloads: int) -> list[Task]:
    """Make tasks that are the whole job."""
    return [Task(payload, 1 / len(payloads)) for payload in payloads]


def each(do: Callable[[Job, int], object]) -> Worker:
    """Make a worker that does something with the payload of every task it can get."""

    def work(job: Job) -> float:
        while (task := job.take()) is not None:
            do(job, task.payload)
        return 1.0

    return work


counts = each(lambda job, payload: job.report([(0, payload)]))
"""Adds the payload of every task to counter 0."""


class UntilStopped:
    """Finds 3 and works on until the job is stopped."""

    ended = False

    def __call__(self, job: Job) -> float:
        job.report([(0, 3)], 0.25)
        until(lambda: job.stopped)
        self.ended = True
        return 0.0
