"""The CUDA engine: all GPUs, or some, each driven by a thread of the host."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from gpusudoku.contraction.protocol import Contraction
from gpusudoku.engines.cpu_contraction import contract_on_threads
from gpusudoku.engines.cuda import availability
from gpusudoku.engines.cuda.contraction import contract_on_gpus
from gpusudoku.engines.cuda.device import Gpu, one_line_errors
from gpusudoku.engines.cuda.tuning import Tuning
from gpusudoku.engines.cuda.worker import GpuWorker
from gpusudoku.engines.engine import Tally
from gpusudoku.errors import DeviceError, InputError
from gpusudoku.jobs.cores import usable_cores
from gpusudoku.jobs.job import Job, Progress, Task
from gpusudoku.jobs.pieces import pieces
from gpusudoku.kernels.search.layout import Layout
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.search.frontier import Frontier


class CudaEngine:
    """All GPUs, or those whose numbers are given.

    ``tuning`` is how kernels are launched; by default what the tuning file says of each GPU.

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

    def __init__(self, gpus: Sequence[int] | None = None, tuning: Tuning | None = None) -> None:
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
        self.workers = len(self.gpus)
        self.threads = usable_cores()
        self._widths: dict[tuple[Layout, SearchSettings], int] = {}

    def __repr__(self) -> str:
        return f"<CudaEngine: {self.workers} GPU{'' if self.workers == 1 else 's'}>"

    def prepare(self, frontier: Frontier, settings: SearchSettings) -> int:
        """Compile the kernel for every GPU, and launch it on one board without a budget.

        Returns the frontier boards that keep all GPUs busy, which depends on the kernel.
        """
        key = frontier.layout, settings
        if key not in self._widths:
            self._widths[key] = sum(self._warm_up(gpu, frontier, settings) for gpu in self.gpus)
        return self._widths[key]

    def _warm_up(self, gpu: Gpu, frontier: Frontier, settings: SearchSettings) -> int:
        """Do all that a GPU does the first time; returns how many boards keep it busy."""
        nothing = Job(1)
        with one_line_errors(), gpu.current():
            worker = GpuWorker(gpu, frontier, settings, nothing)
            launch = worker.launch(frontier.part(0, 1), budget=0)
            worker.collect(launch)
            return gpu.tuning.boards_per_thread * launch.most_threads

    def explore(
        self,
        frontier: Frontier,
        settings: SearchSettings,
        job: Job,
        progress: Callable[[Progress], None] | None = None,
    ) -> Tally:
        """Run the job on all GPUs; see ``Engine``."""
        workers = [GpuWorker(gpu, frontier, settings, job) for gpu in self.gpus]
        job.run(_tasks(frontier, len(workers)), workers, progress)
        total = Tally()
        for tally in (worker.tally for worker in workers):
            total.nodes += tally.nodes
            total.guesses += tally.guesses
            total.deepest = max(total.deepest, tally.deepest)
        return total

    def contract(
        self,
        contraction: Contraction,
        tasks: range | None,
        job: Job,
        memory: int,
        progress: Callable[[Progress], None] | None = None,
    ) -> int:
        """Run the job, on GPUs if the contraction can be summed there; see ``Engine``."""
        if contraction.device_sum is not None:
            return contract_on_gpus(contraction, tasks, self.gpus, job, progress)
        threads = min(self.threads, contraction.most_threads(memory))
        return contract_on_threads(contraction, tasks, job, threads, progress)


def _tasks(frontier: Frontier, gpus: int) -> Iterator[Task]:
    """One part of the frontier for each GPU; later differences are evened out by sharing."""
    total = len(frontier)
    for piece in pieces(range(total), gpus):
        yield Task(frontier.part(piece.start, piece.stop), len(piece) / total)
