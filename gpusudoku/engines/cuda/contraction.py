"""Worker threads that sum contractions on GPUs; the contraction brings its own sum for a GPU.

A sum counts once it is on the host, so tasks whose GPU is lost are summed again as a whole. So are
tasks for which a GPU has too little memory: in pieces, or else by others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gpusudoku.contraction.protocol import Contraction
from gpusudoku.engines.cpu_contraction import TASK_SECONDS, SumWorker, grouped
from gpusudoku.engines.cuda.device import Gpu, OutOfMemoryError
from gpusudoku.engines.cuda.relief import Relief, drive
from gpusudoku.engines.engine import Sums, Tally
from gpusudoku.errors import DeviceError
from gpusudoku.jobs.job import Job, Task, pieces


def contract_on_gpus(
    contraction: Contraction,
    tasks: Sequence[range],
    gpus: Sequence[Gpu],
    job: Job,
    sums: Sums,
    threads: int,
    lose: Callable[[Gpu, DeviceError], None],
) -> Tally:
    """Run the job on GPUs; see ``Engine.contract``.

    ``threads`` of the CPU go on where no GPU is left; ``lose`` is told of every one that is lost.
    """
    on_cpu = [PiecemealWorker(contraction, sums) for _ in range(threads)]
    relief = Relief(job, gpus, lambda: on_cpu, lose)
    workers = [GpuSumWorker(contraction, gpu, sums, relief) for gpu in gpus]
    # What the smallest takes at once: more would keep it from ending together with the others.
    at_once = min(gpu.tuning.sum_tasks_per_multiprocessor * gpu.multiprocessors for gpu in gpus)
    job.run(grouped(tasks, -(-sum(map(len, tasks)) // at_once)), workers)
    return Tally(products=sum(worker.products for worker in [*workers, *on_cpu]))


class GpuSumWorker(SumWorker):
    """The thread that drives one GPU."""

    def __init__(self, contraction: Contraction, gpu: Gpu, sums: Sums, relief: Relief) -> None:
        super().__init__(contraction, sums)
        self._gpu, self._relief = gpu, relief

    def __call__(self, job: Job) -> float:
        """See ``Worker``."""
        return drive(self._gpu, job, self._relief, lambda task: self.do(task, job))

    def sum(self, tasks: range, job: Job) -> tuple[int, int]:
        """The sum of some tasks on the GPU, in halves if there is too little memory for it."""
        try:
            return self._sum(tasks)
        except OutOfMemoryError:
            if len(tasks) == 1:
                raise
        with self._gpu.errors():
            self._gpu.free_unused()
        values, products = zip(*(self.sum(half, job) for half in pieces(tasks, 2)), strict=True)
        return sum(values), sum(products)

    def _sum(self, tasks: range) -> tuple[int, int]:
        with self._gpu.errors():
            if self._scratch is None:
                assert self.contraction.device_sum is not None
                self._scratch = self.contraction.device_sum(self._gpu)
            value: tuple[int, int] = self._scratch(tasks)
        return value


class PiecemealWorker(SumWorker):
    """A thread of the CPU that sums what a GPU would have taken at once, with all others."""

    def do(self, task: Task, job: Job) -> None:
        """Sum as much as a thread should take at a time, and share the rest."""
        seconds = self.contraction.seconds * len(task.payload) / self.contraction.tasks
        first, *others = grouped([task.payload], max(1, int(seconds / TASK_SECONDS)))
        for piece in others:
            piece.weight *= task.weight
        task.payload, task.weight = first.payload, task.weight * first.weight
        job.share(others)
        super().do(task, job)
