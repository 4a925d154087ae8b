"""The CPU engine: threads that search, and threads that sum contractions.

Tasks of contractions are cut so that all threads end together; a GPU's engine takes these workers
where it has no kernel. The parts of a board take unknown times: a worker shares those that it has
left when others are idle.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.protocol import Contraction
from gpusudoku.engines.cpu_search import SharedSearch
from gpusudoku.engines.engine import Engine, Priced, Sums, WorkCounters
from gpusudoku.errors import Cancelled
from gpusudoku.jobs.cores import usable_cores
from gpusudoku.jobs.job import Job, Task, Worker, pieces
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.shape import SearchSettings
from gpusudoku.search.frontier import Frontier

if TYPE_CHECKING:
    from gpusudoku.contraction.general.parts import BoardPart, Parts

WIDTH = 128
"""Frontier boards: enough for a meaningful progress bar, cheap to make."""

TASKS_PER_WORKER = 8
"""Tasks for each thread that sums, at least, so that all end together."""
TASK_SECONDS = 0.05
"""A task that is summed takes no longer than about this: an interrupt waits for it."""


class CpuEngine:
    """``jobs`` threads of this process."""

    name = device = "cpu"
    most_boards = 1 << 14

    def __init__(self, jobs: int | None = None) -> None:
        self.workers = self.threads = self.side_by_side = jobs or usable_cores()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.workers} thread{'' if self.workers == 1 else 's'}>"

    @property
    def for_block(self) -> Engine:
        return CpuEngine(1)

    def seconds(self, core_seconds: float, method: str, geometry: Geometry) -> float:
        return core_seconds / self.workers

    def best(self, work: Priced, geometry: Geometry, share: float = 1.0) -> Engine:
        return self

    def prepare(self, frontier: Frontier, settings: SearchSettings) -> int:
        cpu.run(frontier.shape, settings).load()
        return WIDTH

    def explore(self, frontier: Frontier, settings: SearchSettings, job: Job) -> WorkCounters:
        search = SharedSearch(frontier, settings, job, self.workers)
        try:
            if self.workers == 1 and not job.is_attended:
                job.run_here(search.tasks, search.take_part)
            else:
                job.run(search.tasks, [search.take_part] * self.workers)
        finally:
            counters = search.end()
        return counters

    def contract(
        self, contraction: Contraction, tasks: Sequence[range], job: Job, memory: int, sums: Sums
    ) -> WorkCounters:
        threads = min(self.workers, contraction.most_threads(memory))
        return contract_on_threads(contraction, tasks, job, threads, sums)


class TaskWorker(Worker):
    """A thread that does one task after the other."""

    def __call__(self, job: Job) -> float:
        busy = 0.0
        while (task := job.take()) is not None:
            start = time.perf_counter()
            self.do(task, job)
            busy += time.perf_counter() - start
        return busy

    @abstractmethod
    def do(self, task: Task, job: Job) -> None:
        """Do a task, or leave it, or a part of it, if the job ends."""


def contract_on_threads(
    contraction: Contraction, tasks: Sequence[range], job: Job, threads: int, sums: Sums
) -> WorkCounters:
    """Run the job on CPU threads; see ``Engine.contract``."""
    workers = [SumWorker(contraction, sums) for _ in range(threads)]
    number = sum(map(len, tasks))
    seconds = contraction.seconds * number / max(1, contraction.tasks)
    groups = max(TASKS_PER_WORKER * threads, int(seconds / TASK_SECONDS))
    job.run(group_tasks(tasks, groups), workers)
    return WorkCounters(products=sum(worker.products for worker in workers))


def group_tasks(tasks: Sequence[range], groups: int) -> list[Task]:
    """Cut numbered tasks into about ``groups`` ranges of nearly the same size."""
    number = sum(map(len, tasks))
    return [
        Task(piece, len(piece) / number)
        for run in tasks
        for piece in pieces(run, -(-groups * len(run) // number))
    ]


class SumWorker(TaskWorker):
    """One thread that sums tasks in memory of its own."""

    def __init__(self, contraction: Contraction, sums: Sums) -> None:
        self.contraction, self.products = contraction, 0
        self._sums = sums
        self._scratch: Any = None

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
        """Sum some tasks; return the number of products added up, too."""
        if self._scratch is None:
            self._scratch = self.contraction.scratch()
        return self.contraction.sum(tasks, self._scratch, job.flag)


def contract_parts(parts: Parts, tasks: Sequence[Task], job: Job, threads: int) -> WorkCounters:
    """Run the job: the payload of a task, also of one left, is a list of (counter, part)."""
    workers = [PartWorker(parts) for _ in range(threads)]
    job.run(tasks, workers)
    return WorkCounters(products=sum(worker.products for worker in workers))


class PartWorker(TaskWorker):
    """One thread that sums parts, and divides those that are too expensive to contract."""

    def __init__(self, parts: Parts) -> None:
        self.products = 0
        self._parts = parts

    def do(self, task: Task, job: Job) -> None:
        """Sum the parts of a task, and those into which they are divided."""
        todo: list[tuple[int, BoardPart]] = list(task.payload)
        while todo:
            counter, part = todo.pop()
            divided = [part]
            value = products = 0
            try:
                value, products = self._parts.sum_one(divided, job.flag)
            except Cancelled:
                if not job.stopped:
                    raise
            if job.stopped:  # the sum may be cut short
                job.leave(Task([*todo, (counter, part)], task.weight))
                return
            todo += [(counter, child) for child in divided]
            # Every part that is left weighs as much as the one that was done, for want of more.
            weight = task.weight / (len(todo) + 1)
            task.weight -= weight
            job.report([(counter, value)], weight)
            self.products += products
            if todo and job.ending:
                job.leave(Task(todo, task.weight))
                return
            if len(todo) > 1 and job.idle_workers > 0:
                half = len(todo) // 2  # the first, which are the largest
                task.weight /= 2
                job.share([Task(todo[:half], task.weight)])
                del todo[:half]
