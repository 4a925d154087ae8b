"""Threads of the host that drive one GPU each: they search, or sum contractions.

A search is launched again and again until nothing is left, with one stack for every GPU thread. A
launch ends when every thread has spent its budget of nodes or found no board to take, so none holds
the GPU for long. Threads continue with their stacks in the next launch; when most threads have run
dry, the boards that are left are gathered, expanded by the CPU and dealt out anew.

A GPU is lost to a job when something goes wrong on it that less memory does not mend: its context
may be unusable from then on, and nothing more can be read from it. Then the GPUs that are left go
on, or threads of the CPU if none is. No solution is lost or counted twice: a worker brings the
solutions found and the boards left from the GPU together, and then changes its task and reports to
the job, neither of which needs the GPU. Solutions that a GPU found after that are forgotten with
it, and found again by the worker that takes the task as the host has it. Solutions that are listed
wait on the host in the same way, so a listing has each of them once.

A sum counts once it is on the host, so tasks whose GPU is lost are summed again as a whole. So are
tasks for which a GPU has too little memory: in pieces, or else by others.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TypeVar

from gpusudoku.contraction.protocol import Contraction
from gpusudoku.engines.cpu import TASK_SECONDS, SumWorker, group_tasks
from gpusudoku.engines.cuda.device import Gpu, OutOfMemoryError
from gpusudoku.engines.cuda.launch import Launch
from gpusudoku.engines.engine import Sums, WorkCounters
from gpusudoku.errors import Cancelled, DeviceError
from gpusudoku.jobs.job import Job, Task, Worker, pieces
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.kernels.search.shape import Shape
from gpusudoku.search.frontier import Frontier, node_seconds

FIRST_BUDGET = 256
"""Nodes of every thread in the first launch, at most."""
FIRST_SECONDS = 0.1
"""The first launch should take no longer: a screen that the GPU draws waits for it."""
CORE_OVER_THREAD = 1000
"""The threads of a GPU that are as fast as a CPU core: an estimate on the high side."""
MOST_HALVINGS = 25
"""After 25 halvings there is one warp, with a board, whatever the size at first."""

T = TypeVar("T")


class Relief:
    """The GPUs that go on with a job, and the threads of the CPU that do when none is left.

    ``on_cpu`` makes these workers; ``lost`` is called with each GPU that is lost, and the reason.
    """

    def __init__(
        self,
        job: Job,
        gpus: Iterable[Gpu],
        on_cpu: Callable[[], Sequence[Worker]],
        lost: Callable[[Gpu, DeviceError], None],
    ) -> None:
        self._job, self._gpus, self._on_cpu, self._lost = job, list(gpus), on_cpu, lost
        self._lock = threading.Lock()

    def lose(self, gpu: Gpu, error: DeviceError, task: Task | None) -> None:
        """Give back the task of a GPU that is lost; its worker calls this, and must end then."""
        with self._lock:
            self._gpus.remove(gpu)
            is_last = not self._gpus
        try:
            self._lost(gpu, error)
            if is_last and not self._job.ending:
                self._job.enlist(self._on_cpu())
        finally:  # also if it is cancelled meanwhile
            self._job.resign(task, error)


def drive(gpu: Gpu, job: Job, relief: Relief | None, work: Callable[[Task], None]) -> float:
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
        if relief is None:
            raise
        relief.lose(gpu, error, task)
    return busy


class GpuWorker(Worker):
    """The thread that searches on one GPU; without a relief the loss of the GPU is raised."""

    def __init__(
        self,
        gpu: Gpu,
        shape: Shape,
        settings: SearchSettings,
        job: Job,
        relief: Relief | None = None,
    ) -> None:
        self.gpu, self.settings, self.shape, self.job = gpu, settings, shape, job
        self.tally = WorkCounters()
        self._relief, self._halvings = relief, 0

    def __call__(self, job: Job) -> float:
        return drive(self.gpu, job, self._relief, self._search)

    def _search(self, task: Task) -> None:
        """Search all boards of a task, or leave those that are left when the job ends."""
        while len(task.payload) and not self.job.ending:
            self.within_memory(lambda: self._explore(task))
            self._halvings = max(0, self._halvings - 1)  # there may be more memory again
        if len(task.payload):
            self.job.leave(task)
        else:
            self.job.report([], task.weight)

    def within_memory(self, work: Callable[[], T]) -> T:
        """Do something on the GPU, with less of everything each time that memory runs out."""
        while True:
            try:
                return work()
            except OutOfMemoryError:
                if self._halvings == MOST_HALVINGS:
                    raise
            # Here, because an error that is handled keeps the memory that was allocated.
            self._halvings += 1
            with self.gpu.errors():
                self.gpu.free_unused()

    def _explore(self, task: Task) -> None:
        """Launch until most threads have run dry, or others wait; deal out the rest anew."""
        job, over = self.job, False
        # Where a node takes longer, the first launch looks at fewer.
        seconds = node_seconds(self.shape) * CORE_OVER_THREAD
        budget = max(1, min(FIRST_BUDGET, int(FIRST_SECONDS / seconds)))
        with self.gpu.errors():
            launch = self.launch(task.payload, budget)
        while not over:
            with self.gpu.errors():
                launch.again()
                launch.look()
                over = launch.is_dry or job.idle_workers > 0 or job.ending
                haul = launch.haul() if over or launch.is_due else None
            if haul is not None:  # this does not need the GPU
                task.payload = haul.left
                for rows, roots in haul.solutions:
                    if job.on_solutions:
                        job.on_solutions(rows, roots)
                job.report_all(haul.counts)
                self.tally.add(haul.tally)
        if not job.ending:
            self._deal(task, launch.threads)

    def launch(self, frontier: Frontier, budget: int) -> Launch:
        """Bring boards to the GPU, or those for which there is memory."""
        return Launch(self.gpu, frontier, self.settings, self.job, budget, self._halvings)

    def warm_up(self, frontier: Frontier) -> int:
        """Launch once without a budget; return the number of threads that the GPU runs at once."""
        with self.gpu.errors():
            launch = self.launch(frontier, budget=0)
            launch.again()
            launch.look()
            launch.haul()
        return launch.most_threads

    def _deal(self, task: Task, width: int) -> None:
        """Share the boards that are left if others wait, and expand the rest."""
        boards, job = task.payload, self.job
        if job.idle_workers > 0 and len(boards) > 1:
            half = len(boards) // 2
            task.payload, task.weight = boards.part(half, len(boards)), task.weight / 2
            job.share([Task(boards.part(0, half), task.weight)])
        before = task.payload
        with suppress(Cancelled):  # in the middle of it: the task is as it was
            task.payload = before.expanded(self.settings, width, job=job)
        self.tally.nodes += task.payload.nodes - before.nodes
        self.tally.guesses += task.payload.guesses - before.guesses


class GpuSumWorker(SumWorker):
    """The thread that sums on one GPU; the contraction brings its own sum for a GPU."""

    def __init__(self, contraction: Contraction, gpu: Gpu, sums: Sums, relief: Relief) -> None:
        super().__init__(contraction, sums)
        self._gpu, self._relief = gpu, relief

    def __call__(self, job: Job) -> float:
        return drive(self._gpu, job, self._relief, lambda task: self.do(task, job))

    def sum(self, tasks: range, job: Job) -> tuple[int, int]:
        """Sum some tasks on the GPU, in halves if there is too little memory for all."""
        try:
            with self._gpu.errors():
                if self._scratch is None:
                    assert self.contraction.device_sum is not None
                    self._scratch = self.contraction.device_sum(self._gpu)
                value: tuple[int, int] = self._scratch(tasks)
            return value
        except OutOfMemoryError:
            if len(tasks) == 1:
                raise
        with self._gpu.errors():
            self._gpu.free_unused()
        values, products = zip(*(self.sum(half, job) for half in pieces(tasks, 2)), strict=True)
        return sum(values), sum(products)


class PiecemealWorker(SumWorker):
    """A thread of the CPU that shares a task for a GPU with all others."""

    def do(self, task: Task, job: Job) -> None:
        """Sum a piece that suits a thread, and share the rest."""
        seconds = self.contraction.seconds * len(task.payload) / self.contraction.tasks
        first, *others = group_tasks([task.payload], max(1, int(seconds / TASK_SECONDS)))
        for piece in others:
            piece.weight *= task.weight
        task.payload, task.weight = first.payload, task.weight * first.weight
        job.share(others)
        super().do(task, job)
