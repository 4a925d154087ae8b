"""The CUDA engine: all GPUs, or some, each driven by a thread of the host.

A GPU that is lost during a count is left out from then on, and the count goes on where it was, on
the others, or on the CPU if there is none: hours of work must not be lost with it, even with
``--device cuda``. A GPU that can do nothing from the start is an error.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from warnings import warn

from gpusudoku.contraction.protocol import Contraction
from gpusudoku.engines.cpu import (
    CpuEngine,
    SearchWorker,
    contract_on_threads,
    group_tasks,
    tally_of,
)
from gpusudoku.engines.cuda import availability
from gpusudoku.engines.cuda.device import Gpu, OutOfMemoryError, Tuning, one_line_errors
from gpusudoku.engines.cuda.worker import GpuSumWorker, GpuWorker, PiecemealWorker, Relief
from gpusudoku.engines.engine import Sums, WorkCounters
from gpusudoku.errors import DeviceError, InputError
from gpusudoku.jobs.cores import usable_cores
from gpusudoku.jobs.job import Cost, Job, Task, pieces
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.kernels.search.shape import Shape
from gpusudoku.search.frontier import Frontier


class CudaEngine:
    """All GPUs, or those whose numbers are given.

    The tuning is by default that of the tuning file for each GPU. ``on_loss`` is called with an
    error for each GPU that is lost, maybe by its thread; by default that is a RuntimeWarning.
    """

    name = "cuda"
    most_boards = 1 << 20
    side_by_side = 1

    def __init__(
        self,
        gpus: Sequence[int] | None = None,
        tuning: Tuning | None = None,
        on_loss: Callable[[DeviceError], None] | None = None,
    ) -> None:
        reason = availability.unusable_because()
        if reason is not None:
            raise DeviceError(f"CUDA cannot be used: {reason}")
        count = 1 if availability.simulated() else len(availability.gpu_names())
        for gpu in gpus or ():
            if not 0 <= gpu < count:
                raise InputError(f"no GPU {gpu}: GPUs are numbered from 0 to {count - 1}")
        numbers = range(count) if gpus is None else sorted(set(gpus))
        self.gpus = []
        for number in numbers:
            with one_line_errors(f"GPU {number}"):
                self.gpus.append(Gpu(number, tuning))
        self.threads = usable_cores()
        self._cpu = CpuEngine(self.threads)
        self._on_loss = on_loss or (lambda error: warn(str(error), RuntimeWarning, stacklevel=2))
        self._losing = threading.Lock()
        self._has_worked = False
        self._too_small: list[Gpu] = []
        """GPUs with too little memory for the sums of contractions."""
        self._widths: dict[tuple[Shape, SearchSettings], int] = {}

    @property
    def workers(self) -> int:
        """The GPUs that are left, or the threads of the CPU if none is."""
        return len(self.gpus) or self.threads

    def __repr__(self) -> str:
        return f"<CudaEngine: {len(self.gpus)} GPU{'' if len(self.gpus) == 1 else 's'}>"

    def prepare(self, frontier: Frontier, settings: SearchSettings) -> int:
        key = frontier.shape, settings
        if key not in self._widths:
            self._widths[key] = sum(self._warm_up(gpu, frontier, settings) for gpu in [*self.gpus])
        self._has_worked = True
        return self._widths[key] if self.gpus else self._cpu.prepare(frontier, settings)

    def _warm_up(self, gpu: Gpu, frontier: Frontier, settings: SearchSettings) -> int:
        """Do all that a GPU does the first time; return the number of boards that keep it busy.

        A GPU that fails here is lost if any worked before; else it cannot be used.
        """
        worker = GpuWorker(gpu, frontier.shape, settings, Job(1))
        try:
            with gpu.current():
                most = worker.within_memory(lambda: worker.warm_up(frontier.part(0, 1)))
        except DeviceError as error:
            if not self._has_worked:
                raise
            self._lose(gpu, error)
            return 0
        return gpu.tuning.boards_per_thread * most

    def explore(self, frontier: Frontier, settings: SearchSettings, job: Job) -> WorkCounters:
        if not self.gpus:
            return self._cpu.explore(frontier, settings, job)
        on_cpu: list[SearchWorker] = []

        def enlisted() -> list[SearchWorker]:
            self._cpu.prepare(frontier, settings)
            node = Cost()
            on_cpu[:] = [SearchWorker(frontier, settings, job, node) for _ in range(self.threads)]
            return on_cpu

        relief = Relief(job, self.gpus, enlisted, self._lose)
        workers = [GpuWorker(gpu, frontier.shape, settings, job, relief) for gpu in self.gpus]
        # A part of the frontier for each GPU; later, sharing evens out differences.
        parts = pieces(range(len(frontier)), len(workers))
        tasks = [Task(frontier.part(p.start, p.stop), len(p) / len(frontier)) for p in parts]
        job.run(tasks, workers)
        total = tally_of(on_cpu)
        for worker in workers:
            total.add(worker.tally)
        return total

    def _lose(self, gpu: Gpu, error: DeviceError) -> None:
        """Leave out a GPU from now on, and announce it."""
        with self._losing:
            self.gpus = [other for other in self.gpus if other is not gpu]
            left = _who_goes_on(self.gpus)
        self._on_loss(DeviceError(f"{error}; {left}"))

    def contract(
        self, contraction: Contraction, tasks: Sequence[range], job: Job, memory: int, sums: Sums
    ) -> WorkCounters:
        threads = min(self.threads, contraction.most_threads(memory))
        gpus = [gpu for gpu in self.gpus if gpu not in self._too_small]
        if contraction.device_sum is None or not gpus:
            return contract_on_threads(contraction, tasks, job, threads, sums)
        on_cpu = [PiecemealWorker(contraction, sums) for _ in range(threads)]

        def lose(gpu: Gpu, error: DeviceError) -> None:
            """Leave out a GPU; one that has too little memory may still search."""
            if not isinstance(error, OutOfMemoryError):
                if not (sums or self._has_worked):
                    raise error
                self._lose(gpu, error)
                return
            with self._losing:
                self._too_small.append(gpu)
                left = _who_goes_on([other for other in self.gpus if other not in self._too_small])
            self._on_loss(DeviceError(f"{error}; {left}"))

        relief = Relief(job, gpus, lambda: on_cpu, lose)
        workers = [GpuSumWorker(contraction, gpu, sums, relief) for gpu in gpus]
        # No more than the smallest takes at once, or it would not end together with the others.
        at_once = min(gpu.tuning.sum_tasks_per_multiprocessor * gpu.multiprocessors for gpu in gpus)
        job.run(group_tasks(tasks, -(-sum(map(len, tasks)) // at_once)), workers)
        self._has_worked = True
        return WorkCounters(products=sum(worker.products for worker in [*workers, *on_cpu]))


def _who_goes_on(gpus: Sequence[Gpu]) -> str:
    """Name the GPUs that are left, or the CPU."""
    if not gpus:
        return "the CPU goes on"
    numbers = ", ".join(str(gpu.number) for gpu in gpus)
    return f"GPU {numbers} goes on" if len(gpus) == 1 else f"GPUs {numbers} go on"
