"""Contractions on CPU threads: for the CPU, and where a device has no kernel of its own."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from gpusudoku.contraction.protocol import Contraction
from gpusudoku.jobs.job import Job, Progress, Task, Worker
from gpusudoku.jobs.pieces import pieces

TASKS_PER_WORKER = 8
"""Times that every worker comes for more, so that all end together."""
TASK_SECONDS = 0.05
"""What is taken at a time takes no longer than about this: an interrupt waits for it."""


def contract_on_threads(
    contraction: Contraction,
    tasks: range | None,
    job: Job,
    threads: int,
    progress: Callable[[Progress], None] | None = None,
) -> int:
    """Run the job on CPU threads; see ``Engine.contract``."""
    contraction.prepare(threads)
    workers = [SumWorker(contraction) for _ in range(threads)]
    groups = max(TASKS_PER_WORKER * threads, int(contraction.seconds / TASK_SECONDS))
    tasks = range(contraction.tasks) if tasks is None else tasks
    job.run(grouped(tasks, groups), workers, progress)
    return sum(worker.products for worker in workers)


def grouped(tasks: range, groups: int) -> list[Task]:
    """Numbered tasks in at most ``groups`` groups: ranges of nearly the same size."""
    return [Task(piece, len(piece) / len(tasks)) for piece in pieces(tasks, groups)]


class SumWorker(Worker):
    """One thread that sums tasks in memory of its own."""

    def __init__(self, contraction: Contraction) -> None:
        self.contraction, self.products = contraction, 0
        self._scratch: Any = None

    def __call__(self, job: Job) -> float:
        """See ``Worker``."""
        busy = 0.0
        while (task := job.take()) is not None:
            start = time.perf_counter()
            value, products = self.sum(task.payload, job)
            if not job.stopped:
                job.report([(0, value * self.contraction.factor)], task.weight)
                self.products += products
            busy += time.perf_counter() - start
        return busy

    def sum(self, tasks: range, job: Job) -> tuple[int, int]:
        """The sum of some tasks, and how many products were added up."""
        if self._scratch is None:
            self._scratch = self.contraction.scratch()
        return self.contraction.sum(tasks, self._scratch, job.flag)
