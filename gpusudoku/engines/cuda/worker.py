"""Threads of the host that control one GPU each: they search, or add products of contractions.

If anything fails on a GPU, its context may be unusable, and nothing more can be read from it. The
other GPUs continue. If none remains, the job ends with the error, and a run with a checkpoint can
be resumed.

No solution is lost or counted twice. A worker copies the solutions and the remaining boards from
the GPU together, and then updates its task and reports to the job, which needs no GPU. Solutions
that a GPU finds after that are dropped if it fails, and found again by the worker that takes the
task. Listed solutions wait on the host in the same way. A sum is reported when it is on the host.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from gpusudoku.contraction.protocol import Contraction
from gpusudoku.engines.cpu import SumWorker
from gpusudoku.engines.cuda.device import Gpu
from gpusudoku.engines.cuda.search import DeviceSearch
from gpusudoku.engines.engine import Sums, WorkCounters
from gpusudoku.errors import DeviceError
from gpusudoku.jobs.job import Job, Task, Worker
from gpusudoku.kernels.search.shape import SearchSettings
from gpusudoku.search.frontier import Forecast

MarkLost = Callable[[Gpu, DeviceError], None]
"""A function that is called with a GPU that has failed, and the error."""


def drive(gpu: Gpu, job: Job, mark_lost: MarkLost, work: Callable[[Task], Any]) -> float:
    """Do tasks on a GPU until the job has no more, or the GPU fails. Return the busy seconds.

    If the GPU fails, ``work`` raises a DeviceError. It must then have reported to the job exactly
    the work that is no longer in the task.
    """
    busy_seconds = 0.0
    task = None
    try:
        with gpu.current():
            while (task := job.take()) is not None:
                start = time.perf_counter()
                work(task)
                busy_seconds += time.perf_counter() - start
    except DeviceError as error:
        try:
            mark_lost(gpu, error)
        finally:
            job.withdraw(task, error)
    return busy_seconds


class GpuWorker(Worker):
    """The thread that searches on one GPU."""

    def __init__(self, gpu: Gpu, settings: SearchSettings, mark_lost: MarkLost) -> None:
        self.gpu = gpu
        self.counters = WorkCounters()
        self._settings = settings
        self._mark_lost = mark_lost

    def __call__(self, job: Job) -> float:
        self._forecast = Forecast(self._settings, job)
        return drive(self.gpu, job, self._mark_lost, lambda task: self._search(task, job))

    def _search(self, task: Task, job: Job) -> None:
        """Search all boards of a task. Return the remaining ones when the job ends."""
        while len(task.payload) and not job.ending:
            self._explore(task, job)
            if job.idle_workers > 0 and len(task.payload) > 1:
                boards = task.payload
                half = len(task.payload) // 2
                task.payload = boards.part(half, len(boards))
                task.weight /= 2
                task.uncertainty /= 2
                job.share([Task(boards.part(0, half), task.weight, task.uncertainty)])
        if len(task.payload):
            job.return_task(task)
        else:
            job.expect(task, 0.0, 0.0)

    def _explore(self, task: Task, job: Job) -> None:
        """Launch the kernel until no boards remain, others need boards, or the job ends."""
        is_last = False
        with self.gpu.errors(), self.gpu.taking_memory:
            search = DeviceSearch(self.gpu, task.payload, self._settings, job)
        while not is_last:
            with self.gpu.errors():
                has_boards = search.launch()
                is_last = not has_boards or job.idle_workers > 0 or job.ending
                transfer = search.transfer() if is_last or search.is_due else None
            if transfer is None:
                continue
            # From here on the GPU is not needed.
            task.payload = transfer.remaining
            if job.on_solutions:
                for rows, roots in transfer.solutions:
                    job.on_solutions(rows, roots)
            job.report_all(transfer.counts)
            job.advance(task, transfer.counters.nodes)
            self.counters.add(transfer.counters)
            if len(transfer.remaining) and self._forecast.is_due:
                self._forecast.revise(task, transfer.remaining)


class GpuSumWorker(SumWorker):
    """The thread that adds products on one GPU, by the kernel of the contraction."""

    def __init__(self, contraction: Contraction, gpu: Gpu, sums: Sums, mark_lost: MarkLost) -> None:
        super().__init__(contraction, sums)
        self._gpu = gpu
        self._mark_lost = mark_lost

    def __call__(self, job: Job) -> float:
        return drive(self._gpu, job, self._mark_lost, lambda task: self.do(task, job))

    def sum(self, tasks: range, job: Job) -> tuple[int, int]:
        """Return the sum of tasks, and the number of products added."""
        with self._gpu.errors():
            if self._scratch is None:
                assert self.contraction.device_sum is not None
                self._scratch = self.contraction.device_sum(self._gpu)
            value: tuple[int, int] = self._scratch(tasks)
        return value
