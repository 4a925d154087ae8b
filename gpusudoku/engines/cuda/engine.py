"""The CUDA engine: all GPUs, or some, each controlled by a thread of the host.

A GPU that fails during a count is not used any more. The other GPUs continue the count. If none
remains, the count ends with an error, and a checkpoint has the state before.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from gpusudoku.board.geometry import NINE, Geometry
from gpusudoku.contraction.protocol import Contraction
from gpusudoku.engines.cpu import WIDTH, contract_on_threads, group_tasks
from gpusudoku.engines.cuda import availability
from gpusudoku.engines.cuda.device import Gpu, import_packages, one_line_errors
from gpusudoku.engines.cuda.prices import prices_of_all
from gpusudoku.engines.cuda.search import load_kernel
from gpusudoku.engines.cuda.worker import GpuSumWorker, GpuWorker
from gpusudoku.engines.engine import Engine, Sums, WorkCounters, warn_of
from gpusudoku.errors import DeviceError, InputError
from gpusudoku.jobs.job import Job, Task, split_range
from gpusudoku.jobs.threads import usable_cores
from gpusudoku.kernels.search.shape import SearchSettings
from gpusudoku.search.frontier import Frontier

SUM_TASKS = 32
"""Tasks of a contraction per multiprocessor and launch: enough to balance their lengths."""


class CudaEngine(Engine):
    """The GPUs with the numbers ``gpus``, or all GPUs.

    ``on_loss`` is called with the error of each GPU that fails while others continue, possibly in
    the thread of that GPU. By default that gives a RuntimeWarning.
    """

    kind = device = "cuda"
    max_boards = 1 << 18
    parallel_blocks = 4
    """While one block is searched, others are packed, which takes as long. A search takes at most
    half of the free memory, so little would remain for a fifth."""

    def __init__(
        self,
        gpus: Sequence[int] | None = None,
        on_loss: Callable[[DeviceError], None] | None = None,
    ) -> None:
        reason = availability.unusable_because()
        if reason is not None:
            raise DeviceError(f"CUDA cannot be used: {reason}")
        count = 1 if availability.simulated() else len(availability.cards())
        for gpu in gpus or ():
            if not 0 <= gpu < count:
                raise InputError(f"no GPU {gpu}: GPUs are numbered from 0 to {count - 1}")
        numbers = sorted(set(range(count) if gpus is None else gpus))
        if not availability.simulated():
            import_packages(compiler=False)
            if gpus is None:  # without GPUs that are too old
                cards = availability.cards()
                numbers = [n for n in numbers if not availability.unusable_card(cards[n])]
        self.gpus = []
        for number in numbers:
            with one_line_errors(f"GPU {number}"):
                self.gpus.append(Gpu(number))
        self.threads = usable_cores()
        self._on_loss = on_loss or warn_of
        self._loss_lock = threading.Lock()
        self.is_lost = False
        """True if the last GPU has failed. A search that has no other GPU tries it again."""

    @property
    def workers(self) -> int:
        """The number of GPUs that work."""
        return len(self.gpus)

    def __repr__(self) -> str:
        return f"<CudaEngine: {len(self.gpus)} GPU{'' if len(self.gpus) == 1 else 's'}>"

    @property
    def gpu_names(self) -> Sequence[str]:
        return [gpu.card.name for gpu in self.gpus]

    def seconds(self, core_seconds: float, method: str, geometry: Geometry) -> float:
        if method == "contraction" and geometry != NINE:
            return core_seconds / self.threads
        return prices_of_all(gpu.card for gpu in self.gpus).seconds(core_seconds, method, geometry)

    def prepare(self, frontier: Frontier, settings: SearchSettings) -> int:
        for gpu in self.gpus:
            try:
                with gpu.current(), gpu.errors():
                    load_kernel(gpu, frontier.shape, settings)
            except DeviceError as error:
                # The GPU may have failed in another search at the same time.
                self._mark_lost(gpu, error)
                if gpu in self.gpus:  # it is the last one
                    raise
        return WIDTH * len(self.gpus)

    def explore(self, frontier: Frontier, settings: SearchSettings, job: Job) -> WorkCounters:
        workers = [GpuWorker(gpu, settings, self._mark_lost) for gpu in self.gpus]
        # Each GPU gets the same number of boards. Later, idle GPUs get boards from others.
        tasks = []
        for indices in split_range(range(len(frontier)), len(workers)):
            share = len(indices) / len(frontier)
            boards = frontier.part(indices.start, indices.stop)
            tasks.append(Task(boards, job.expected_work * share, job.uncertainty * share))
        job.run(tasks, workers)
        total = WorkCounters()
        for worker in workers:
            total.add(worker.counters)
        return total

    def contract(
        self, contraction: Contraction, tasks: Sequence[range], job: Job, memory: int, sums: Sums
    ) -> WorkCounters:
        if contraction.device_sum is None:
            threads = min(self.threads, contraction.max_threads(memory))
            return contract_on_threads(contraction, tasks, job, threads, sums)
        workers = [GpuSumWorker(contraction, gpu, sums, self._mark_lost) for gpu in self.gpus]
        # A launch has as many tasks as the smallest GPU can process at once. With more, that GPU
        # would end later than the others.
        tasks_per_launch = SUM_TASKS * min(gpu.card.multiprocessors for gpu in self.gpus)
        task_count = sum(map(len, tasks))
        job.run(group_tasks(tasks, -(-task_count // tasks_per_launch)), workers)
        products = sum(worker.products for worker in workers)
        return WorkCounters(products=products, gpus=sorted({*self.gpu_names}))

    def _mark_lost(self, gpu: Gpu, error: DeviceError) -> None:
        """Stop using a GPU, and report which GPUs continue. If none does, the job fails."""
        with self._loss_lock:
            if gpu not in self.gpus:  # reported by another search
                return
            remaining = [other for other in self.gpus if other is not gpu]
            if not remaining:
                self.is_lost = True
                return
            self.gpus = remaining
        numbers = ", ".join(str(working.number) for working in remaining)
        if len(remaining) == 1:
            message = f"{error}; GPU {numbers} continues"
        else:
            message = f"{error}; GPUs {numbers} continue"
        self._on_loss(DeviceError(message))
