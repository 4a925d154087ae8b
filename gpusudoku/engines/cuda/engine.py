"""The CUDA engine: all GPUs, or some, each driven by a thread of the host.

A GPU that is lost while something is counted is left out from then on, and the count goes on where
it was, on the others, or on the CPU if there is none: hours of work must not be lost with it, even
where CUDA was asked for. A GPU that can do nothing from the start is an error.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from gpusudoku.contraction.protocol import Contraction
from gpusudoku.engines.cpu import CpuEngine, SearchWorker, contract_on_threads, tally_of
from gpusudoku.engines.cuda import availability
from gpusudoku.engines.cuda.device import Gpu, OutOfMemoryError, Tuning, one_line_errors
from gpusudoku.engines.cuda.worker import GpuWorker, Relief, contract_on_gpus, who_goes_on
from gpusudoku.engines.engine import Sums, WorkCounters
from gpusudoku.errors import DeviceError, InputError
from gpusudoku.jobs.cores import usable_cores
from gpusudoku.jobs.job import Cost, Job, Task, pieces
from gpusudoku.kernels.search.layout import Layout
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.search.frontier import Frontier


class CudaEngine:
    """All GPUs, or those whose numbers are given.

    ``tuning`` is how kernels are launched; by default what the tuning file says of each GPU.
    ``on_loss`` is told which GPU is lost, why, and who goes on; by default that is a
    RuntimeWarning. A thread of a GPU may call it.

    Raises
    ------
    DeviceError
        If CUDA cannot be used on this machine.
    InputError
        If there is no GPU of a given number, or the tuning file is no such file.
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
        self._on_loss, self._losing = on_loss or _warn, threading.Lock()
        self._has_worked = False
        self._too_small: list[Gpu] = []
        """GPUs with too little memory for the sums of contractions."""
        self._widths: dict[tuple[Layout, SearchSettings], int] = {}

    @property
    def workers(self) -> int:
        """The GPUs that are left, or the threads of the CPU if none is."""
        return len(self.gpus) or self.threads

    def __repr__(self) -> str:
        return f"<CudaEngine: {len(self.gpus)} GPU{'' if len(self.gpus) == 1 else 's'}>"

    def prepare(self, frontier: Frontier, settings: SearchSettings) -> int:
        """Compile the kernel for every GPU, and launch it on one board without a budget.

        Returns the frontier boards that keep all GPUs busy, which depends on the kernel.
        """
        key = frontier.layout, settings
        if key not in self._widths:
            self._widths[key] = sum(self._warm_up(gpu, frontier, settings) for gpu in [*self.gpus])
        self._has_worked = True
        return self._widths[key] if self.gpus else self._cpu.prepare(frontier, settings)

    def _warm_up(self, gpu: Gpu, frontier: Frontier, settings: SearchSettings) -> int:
        """Do all that a GPU does the first time; returns how many boards keep it busy.

        A GPU that fails here is lost if it worked before; else it cannot be used.
        """
        worker = GpuWorker(gpu, frontier.layout, settings, Job(1))
        try:
            with gpu.current():
                most = worker.within_memory(lambda: worker.warm_up(frontier.part(0, 1)))
        except DeviceError as error:
            if not self._has_worked:
                raise
            self._lose(gpu, error)
            return 0
        return gpu.tuning.boards_per_thread * most

    def explore(
        self,
        frontier: Frontier,
        settings: SearchSettings,
        job: Job,
    ) -> WorkCounters:
        """Run the job on all GPUs; see ``Engine``."""
        if not self.gpus:
            return self._cpu.explore(frontier, settings, job)
        on_cpu: list[SearchWorker] = []

        def enlisted() -> list[SearchWorker]:
            self._cpu.prepare(frontier, settings)
            node = Cost()
            on_cpu[:] = [SearchWorker(frontier, settings, job, node) for _ in range(self.threads)]
            return on_cpu

        relief = Relief(job, self.gpus, enlisted, self._lose)
        workers = [GpuWorker(gpu, frontier.layout, settings, job, relief) for gpu in self.gpus]
        job.run(_tasks(frontier, len(workers)), workers)
        total = tally_of(on_cpu)
        for worker in workers:
            total.add(worker.tally)
        return total

    def _lose(self, gpu: Gpu, error: DeviceError) -> None:
        """Leave out a GPU from now on, and tell of it."""
        with self._losing:
            self.gpus = [other for other in self.gpus if other is not gpu]
            left = who_goes_on(self.gpus)
        self._on_loss(DeviceError(f"{error}; {left}"))

    def contract(
        self,
        contraction: Contraction,
        tasks: Sequence[range],
        job: Job,
        memory: int,
        sums: Sums,
    ) -> WorkCounters:
        """Run the job, on GPUs if the contraction can be summed there; see ``Engine``."""
        threads = min(self.threads, contraction.most_threads(memory))
        gpus = [gpu for gpu in self.gpus if gpu not in self._too_small]
        if contraction.device_sum is None or not gpus:
            return contract_on_threads(contraction, tasks, job, threads, sums)
        lose = partial(self._lose_for_sums, sums)
        tally = contract_on_gpus(contraction, tasks, gpus, job, sums, threads, lose)
        self._has_worked = True
        return tally

    def _lose_for_sums(self, sums: Sums, gpu: Gpu, error: DeviceError) -> None:
        """Leave out a GPU; one that has too little memory may still search."""
        if not isinstance(error, OutOfMemoryError):
            if not (sums or self._has_worked):
                raise error
            self._lose(gpu, error)
            return
        with self._losing:
            self._too_small.append(gpu)
            left = who_goes_on([other for other in self.gpus if other not in self._too_small])
        self._on_loss(DeviceError(f"{error}; {left}"))


def _warn(error: DeviceError) -> None:
    warnings.warn(str(error), RuntimeWarning, stacklevel=2)


def _tasks(frontier: Frontier, gpus: int) -> Iterator[Task]:
    """One part of the frontier for each GPU; later differences are evened out by sharing."""
    total = len(frontier)
    for piece in pieces(range(total), gpus):
        yield Task(frontier.part(piece.start, piece.stop), len(piece) / total)
