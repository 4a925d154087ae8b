"""The CUDA engine: all GPUs, or some, each driven by a thread of the host.

A GPU that is lost during a count is left out from then on. The count goes on where it was on the
others; without any it ends with an error, and a checkpoint has what was found before.
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
from gpusudoku.jobs.job import Job, Task, pieces
from gpusudoku.jobs.threads import usable_cores
from gpusudoku.kernels.search.shape import SearchSettings
from gpusudoku.search.frontier import Frontier

SUM_TASKS = 32
"""Tasks of a contraction for each multiprocessor in a launch: enough to even out their lengths."""


class CudaEngine(Engine):
    """All GPUs, or those whose numbers are given.

    ``on_loss`` is called with an error for each GPU that is lost while others go on, maybe by its
    thread; by default that is a RuntimeWarning.
    """

    kind = device = "cuda"
    most_boards = 1 << 18
    side_by_side = 4
    """While a block is searched, others are packed, which takes as long. Each search takes a half
    of the memory that is free, at most: more than four would be given little."""

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
            if gpus is None:  # GPUs that are too old are left out
                cards = availability.cards()
                numbers = [n for n in numbers if not availability.unusable_card(cards[n])]
        self.gpus = []
        for number in numbers:
            with one_line_errors(f"GPU {number}"):
                self.gpus.append(Gpu(number))
        self.threads = usable_cores()
        self._on_loss = on_loss or warn_of
        self._losing = threading.Lock()
        self.is_lost = False
        """True once the last GPU was lost; it is tried again by a search that has no other."""

    @property
    def workers(self) -> int:
        """The GPUs that are left."""
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
            except DeviceError as error:  # it may be lost to a search beside this one
                self._lose(gpu, error)
                if gpu in self.gpus:  # there is no other
                    raise
        return WIDTH * len(self.gpus)

    def explore(self, frontier: Frontier, settings: SearchSettings, job: Job) -> WorkCounters:
        workers = [GpuWorker(gpu, settings, self._lose) for gpu in self.gpus]
        # A part of the frontier for each GPU; later, sharing evens out differences.
        parts = pieces(range(len(frontier)), len(workers))
        tasks = []
        for part in parts:
            share = len(part) / len(frontier)
            boards = frontier.part(part.start, part.stop)
            tasks.append(Task(boards, job.whole * share, job.doubt * share))
        job.run(tasks, workers)
        total = WorkCounters()
        for worker in workers:
            total.add(worker.tally)
        return total

    def contract(
        self, contraction: Contraction, tasks: Sequence[range], job: Job, memory: int, sums: Sums
    ) -> WorkCounters:
        if contraction.device_sum is None:
            threads = min(self.threads, contraction.most_threads(memory))
            return contract_on_threads(contraction, tasks, job, threads, sums)
        workers = [GpuSumWorker(contraction, gpu, sums, self._lose) for gpu in self.gpus]
        # No more than the smallest takes at once, or it would not end together with the others.
        at_once = SUM_TASKS * min(gpu.card.multiprocessors for gpu in self.gpus)
        job.run(group_tasks(tasks, -(-sum(map(len, tasks)) // at_once)), workers)
        products = sum(worker.products for worker in workers)
        return WorkCounters(products=products, gpus=sorted({*self.gpu_names}))

    def _lose(self, gpu: Gpu, error: DeviceError) -> None:
        """Leave out a GPU from now on, and tell which go on; without any, the job tells."""
        with self._losing:
            if gpu not in self.gpus:  # a search beside this one has told
                return
            others = [other for other in self.gpus if other is not gpu]
            if not others:
                self.is_lost = True
                return
            self.gpus = others
        numbers = ", ".join(str(other.number) for other in others)
        who = f"GPU {numbers} goes on" if len(others) == 1 else f"GPUs {numbers} go on"
        self._on_loss(DeviceError(f"{error}; {who}"))
