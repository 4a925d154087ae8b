"""Workers that do not solve boards, and tasks for them."""

from __future__ import annotations

import threading
from collections.abc import Callable

from gpusudoku.jobs.job import Job, Task, Worker
from tests.waiting import until


def start_thread(function: Callable[[], object]) -> threading.Thread:
    """Call a function in a new thread."""
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    return thread


def tasks(*payloads: int) -> list[Task]:
    """Return tasks of equal size that make up a whole job."""
    return [Task(payload, 1 / len(payloads)) for payload in payloads]


def worker_calling(handle: Callable[[Job, int], object]) -> Worker:
    """Return a worker that calls ``handle`` with the payload of every task that it takes."""

    def work(job: Job) -> float:
        while (task := job.take()) is not None:
            handle(job, task.payload)
        return 1.0

    return work


add_payloads = worker_calling(lambda job, payload: job.report([(0, payload)]))
"""A worker that adds the payload of every task to counter 0."""


class UntilStopped:
    """A worker that reports 3 solutions and then waits until the job is stopped."""

    ended = False

    def __call__(self, job: Job) -> float:
        job.report([(0, 3)], 0.25)
        until(lambda: job.stopped)
        self.ended = True
        return 0.0
