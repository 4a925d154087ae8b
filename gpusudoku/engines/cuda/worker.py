"""Threads of the host that drive one GPU each: they search, or sum contractions.

A GPU is lost to a job when something goes wrong on it: its context may be unusable from then on,
and nothing more can be read from it. Then the GPUs that are left go on; if none is, the job ends
with the error, and a run with a checkpoint can be resumed. No solution is lost or counted twice: a
worker brings the solutions found and the boards left from the GPU together, and then changes its
task and reports to the job, neither of which needs the GPU. Solutions that a GPU found after that
are forgotten with it, and found again by the worker that takes the task as the host has it. Those
that are listed wait on the host in the same way. A sum counts once it is on the host.
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

Lose = Callable[[Gpu, DeviceError], None]
"""Called with a GPU that is lost, and the reason."""


def drive(gpu: Gpu, job: Job, lose: Lose, work: Callable[[Task], Any]) -> float:
    """Do tasks on a GPU until the job has none left, or the GPU is lost; return the busy seconds.

    Where the GPU fails, ``work`` raises a DeviceError, and has then reported to the job only what
    is no longer in the task.
    """
    busy, task = 0.0, None
    try:
        with gpu.current():
            while (task := job.take()) is not None:
                start = time.perf_counter()
                work(task)
                busy += time.perf_counter() - start
    except DeviceError as error:
        try:
            lose(gpu, error)
        finally:
            job.resign(task, error)
    return busy


class GpuWorker(Worker):
    """The thread that searches on one GPU."""

    def __init__(self, gpu: Gpu, settings: SearchSettings, lose: Lose) -> None:
        self.gpu, self.tally = gpu, WorkCounters()
        self._settings = settings
        self._lose = lose

    def __call__(self, job: Job) -> float:
        self._forecast = Forecast(self._settings, job)
        return drive(self.gpu, job, self._lose, lambda task: self._search(task, job))

    def _search(self, task: Task, job: Job) -> None:
        """Search all boards of a task, or leave those that are left when the job ends."""
        while len(task.payload) and not job.ending:
            self._explore(task, job)
            if job.idle_workers > 0 and len(task.payload) > 1:
                boards = task.payload
                half = len(task.payload) // 2
                task.payload = boards.part(half, len(boards))
                task.weight /= 2
                task.doubt /= 2
                job.share([Task(boards.part(0, half), task.weight, task.doubt)])
        if len(task.payload):
            job.leave(task)
        else:
            job.expect(task, 0.0, 0.0)

    def _explore(self, task: Task, job: Job) -> None:
        """Launch until nothing is left, or others wait for boards, or the job ends."""
        over = False
        with self.gpu.errors(), self.gpu.taking_memory:
            search = DeviceSearch(self.gpu, task.payload, self._settings, job)
        while not over:
            with self.gpu.errors():
                goes_on = search.launch()
                over = not goes_on or job.idle_workers > 0 or job.ending
                haul = search.haul() if over or search.is_due else None
            if haul is not None:  # this does not need the GPU
                task.payload = haul.left
                if job.on_solutions:
                    for rows, roots in haul.solutions:
                        job.on_solutions(rows, roots)
                job.report_all(haul.counts)
                job.advance(task, haul.tally.nodes)
                self.tally.add(haul.tally)
                if len(haul.left) and self._forecast.is_due:
                    self._forecast.revise(task, haul.left)


class GpuSumWorker(SumWorker):
    """The thread that sums on one GPU; the contraction brings its own sum for a GPU."""

    def __init__(self, contraction: Contraction, gpu: Gpu, sums: Sums, lose: Lose) -> None:
        super().__init__(contraction, sums)
        self._gpu = gpu
        self._lose = lose

    def __call__(self, job: Job) -> float:
        return drive(self._gpu, job, self._lose, lambda task: self.do(task, job))

    def sum(self, tasks: range, job: Job) -> tuple[int, int]:
        """Sum some tasks on the GPU."""
        with self._gpu.errors():
            if self._scratch is None:
                assert self.contraction.device_sum is not None
                self._scratch = self.contraction.device_sum(self._gpu)
            value: tuple[int, int] = self._scratch(tasks)
        return value
