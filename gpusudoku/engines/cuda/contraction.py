"""Worker threads that sum contractions on GPUs; the contraction brings its own sum for a GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gpusudoku.contraction.protocol import Contraction
from gpusudoku.engines.cpu_contraction import SumWorker, grouped
from gpusudoku.engines.cuda.device import Gpu, one_line_errors
from gpusudoku.jobs.cores import usable_cores
from gpusudoku.jobs.job import Job, Progress


def contract_on_gpus(
    contraction: Contraction,
    tasks: range | None,
    gpus: Sequence[Gpu],
    job: Job,
    progress: Callable[[Progress], None] | None = None,
) -> int:
    """Run the job on GPUs; see ``Engine.contract``."""
    contraction.prepare(usable_cores())
    workers = [GpuSumWorker(contraction, gpu) for gpu in gpus]
    # What the smallest takes at once: more would keep it from ending together with the others.
    at_once = min(gpu.tuning.sum_tasks_per_multiprocessor * gpu.multiprocessors for gpu in gpus)
    tasks = range(contraction.tasks) if tasks is None else tasks
    job.run(grouped(tasks, -(-len(tasks) // at_once)), workers, progress)
    return sum(worker.products for worker in workers)


class GpuSumWorker(SumWorker):
    """The thread that drives one GPU."""

    def __init__(self, contraction: Contraction, gpu: Gpu) -> None:
        super().__init__(contraction)
        self._gpu = gpu

    def __call__(self, job: Job) -> float:
        """See ``Worker``."""
        with one_line_errors(), self._gpu.current():
            return super().__call__(job)

    def sum(self, tasks: range, job: Job) -> tuple[int, int]:
        """The sum of some tasks on the GPU."""
        if self._scratch is None:
            assert self.contraction.device_sum is not None
            self._scratch = self.contraction.device_sum(self._gpu)
        value: tuple[int, int] = self._scratch(tasks)
        return value
