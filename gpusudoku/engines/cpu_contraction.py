"""Contractions on CPU threads: for the CPU, and where a device has no kernel of its own."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from gpusudoku.contraction.protocol import Contraction
from gpusudoku.engines.engine import Sums, Tally
from gpusudoku.jobs.job import Job, Task, Worker, pieces

TASKS_PER_WORKER = 8
"""Times that every worker comes for more, so that all end together."""
TASK_SECONDS = 0.05
"""What is taken at a time takes no longer than about this: an interrupt waits for it."""


def contract_on_threads(
    contraction: Contraction,
    tasks: Sequence[range],
    job: Job,
    threads: int,
    sums: Sums,
) -> Tally:
    """Run the job on CPU threads; see ``Engine.contract``."""
    workers = [SumWorker(contraction, sums) for _ in range(threads)]
    number = sum(map(len, tasks))
    seconds = contraction.seconds * number / max(1, contraction.tasks)
    groups = max(TASKS_PER_WORKER * threads, int(seconds / TASK_SECONDS))
    job.run(grouped(tasks, groups), workers)
    return Tally(products=sum(worker.products for worker in workers))


def grouped(tasks: Sequence[range], groups: int) -> list[Task]:
    """Numbered tasks in about so many groups: ranges of nearly the same size."""
    number = sum(map(len, tasks))
    return [
        Task(piece, len(piece) / number)
        for run in tasks
        for piece in pieces(run, -(-groups * len(run) // number))
    ]


class SumWorker(Worker):
    """One thread that sums tasks in memory of its own."""

    def __init__(self, contraction: Contraction, sums: Sums) -> None:
        self.contraction, self.products = contraction, 0
        self._sums = sums
        self._scratch: Any = None

    def __call__(self, job: Job) -> float:
        """See ``Worker``."""
        busy = 0.0
        while (task := job.take()) is not None:
            start = time.perf_counter()
            self.do(task, job)
            busy += time.perf_counter() - start
        return busy

    def do(self, task: Task, job: Job) -> None:
        """Sum a task, and report it."""
        value, products = self.sum(task.payload, job)
        if job.stopped:  # the sum may be cut short
            job.leave(task)
            return
        value *= self.contraction.factor
        job.report([(0, value)], task.weight)
        self._sums.append((task.payload, value))
        self.products += products

    def sum(self, tasks: range, job: Job) -> tuple[int, int]:
        """The sum of some tasks, and how many products were added up."""
        if self._scratch is None:
            self._scratch = self.contraction.scratch()
        return self.contraction.sum(tasks, self._scratch, job.flag)
