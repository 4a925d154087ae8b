"""Where a GPU is lost, others go on: the GPUs that are left, or threads of the CPU if none is.

A GPU is lost to a job when something goes wrong on it that less memory does not mend: its context
may be unusable from then on, and nothing more can be read from it.

No solution is lost or counted twice, because what is found counts only once the host has what is
left to do, too: a worker brings both from the GPU, and then changes its task and reports to the
job, neither of which needs the GPU. Whatever a GPU found after that is forgotten together with it,
and is found again by whoever takes the task as the host has it. Solutions that are listed wait on
the host in the same way: so a listing can go on as well, and has each of them once.


----
The thread that drives one GPU: one search per GPU thread, relaunched until nothing is left.

A launch ends when every thread has spent its budget of nodes or found no board to take, so none
holds the GPU for long. What threads leave on their stacks they go on with in the next launch; when
most threads have run dry, the boards left are gathered, expanded by the CPU and dealt out anew.

The task is what the host knows of it, and changes only when what was found and what is left have
come from the GPU. If memory runs out, or the GPU is lost, all goes on from there: see ``relief``.


----
Worker threads that sum contractions on GPUs; the contraction brings its own sum for a GPU.

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
from gpusudoku.engines.cpu import TASK_SECONDS, SumWorker, grouped
from gpusudoku.engines.cuda.device import Gpu, OutOfMemoryError
from gpusudoku.engines.cuda.launch import Haul, Launch
from gpusudoku.engines.engine import Sums, WorkCounters
from gpusudoku.errors import Cancelled, DeviceError
from gpusudoku.jobs.job import Job, Task, Worker, pieces
from gpusudoku.kernels.search.layout import Layout
from gpusudoku.kernels.search.select import search_for
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.search.frontier import Frontier


class Relief:
    """Who goes on with a job when GPUs are lost to it.

    Parameters
    ----------
    job
        Its workers begin with one for every GPU.
    gpus
        The GPUs.
    on_cpu
        Makes workers that take the same tasks, for when no GPU is left.
    lost
        Told which GPU is lost to the job, and why.
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
        """Give back the task of a GPU that is lost; called by its worker, which must end then."""
        with self._lock:
            self._gpus.remove(gpu)
            is_last = not self._gpus
        try:
            self._lost(gpu, error)
            if is_last and not self._job.ending:
                self._job.enlist(self._on_cpu())
        finally:  # whatever happens, such as a cancellation: it is not forgotten
            self._job.resign(task, error)


def who_goes_on(gpus: Sequence[Gpu]) -> str:
    """In words: the GPUs that are left, or the CPU."""
    if not gpus:
        return "the CPU goes on"
    numbers = ", ".join(str(gpu.number) for gpu in gpus)
    return f"GPU {numbers} goes on" if len(gpus) == 1 else f"GPUs {numbers} go on"


def drive(gpu: Gpu, job: Job, relief: Relief | None, work: Callable[[Task], None]) -> float:
    """Do tasks on a GPU until the job has none left, or the GPU is lost.

    ``work`` raises a DeviceError where the GPU fails, and has then told the job of nothing but what
    is no longer in the task. Returns the seconds of work.
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


FIRST_BUDGET = 256
"""Nodes of every thread in the first launch, at most."""
FIRST_SECONDS = 0.1
"""The first launch should take no longer: what a GPU draws on a screen waits for it."""
CORE_OVER_THREAD = 1000
"""How many threads of a GPU a CPU core is taken to be worth: rather more than it is."""

MOST_HALVINGS = 25
"""After so many halvings there is one warp, with a board, whatever there was at first."""

T = TypeVar("T")


class GpuWorker(Worker):
    """One GPU, and the task it works on.

    Parameters
    ----------
    gpu
        What it drives.
    layout, settings
        How boards are packed, and how they are searched.
    job
        Whose tasks are boards, as ``Frontier``.
    relief
        Takes over if the GPU is lost; None if nobody can, and that is to be raised.
    """

    def __init__(
        self,
        gpu: Gpu,
        layout: Layout,
        settings: SearchSettings,
        job: Job,
        relief: Relief | None = None,
    ) -> None:
        self.gpu, self.settings, self.layout, self.job = gpu, settings, layout, job
        self.tally = WorkCounters()
        self._relief, self._halvings = relief, 0

    def __call__(self, job: Job) -> float:
        """See ``Worker``."""
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
        """Do something on the GPU, with less of everything each time that memory runs out.

        Raises
        ------
        DeviceError
            If the least there can be is too much.
        """
        while True:
            try:
                return work()
            except OutOfMemoryError:
                if self._halvings == MOST_HALVINGS:
                    raise
            # Here, as the error, while it is handled, keeps what was allocated.
            self._halvings += 1
            with self.gpu.errors():
                self.gpu.free_unused()

    def _explore(self, task: Task) -> None:
        """Launch until most threads have run dry, or others wait; what is left is dealt anew."""
        job, over = self.job, False
        with self.gpu.errors():
            launch = self.launch(task.payload, self.first_budget)
        while not over:
            with self.gpu.errors():
                launch.again()
                launch.look()
                over = launch.is_dry or job.idle_workers > 0 or job.ending
                haul = launch.haul() if over or launch.is_due else None
            if haul is not None:
                self._keep(haul, task)
        if not job.ending:
            self._deal(task, launch.threads)

    @property
    def first_budget(self) -> int:
        """Nodes of every thread in the first launch: fewer where a node takes longer."""
        seconds = search_for(self.layout, self.settings).node_seconds * CORE_OVER_THREAD
        return max(1, min(FIRST_BUDGET, int(FIRST_SECONDS / seconds)))

    def launch(self, frontier: Frontier, budget: int) -> Launch:
        """Bring boards to the GPU, or as many of them as there is memory for."""
        return Launch(self.gpu, frontier, self.settings, self.job, budget, self._halvings)

    def warm_up(self, frontier: Frontier) -> int:
        """Launch once without a budget; returns how many threads the GPU runs at once."""
        with self.gpu.errors():
            launch = self.launch(frontier, budget=0)
            launch.again()
            launch.look()
            launch.haul()
        return launch.most_threads

    def _keep(self, haul: Haul, task: Task) -> None:
        """Report what was found, now that the task is what is left: the GPU has no part in it."""
        task.payload = haul.left
        for rows, roots in haul.solutions:
            if self.job.on_solutions:
                self.job.on_solutions(rows, roots)
        self.job.report_all(haul.counts)
        self.tally.add(haul.tally)

    def _deal(self, task: Task, width: int) -> None:
        """Share what is left if others wait, and expand the rest."""
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


def contract_on_gpus(
    contraction: Contraction,
    tasks: Sequence[range],
    gpus: Sequence[Gpu],
    job: Job,
    sums: Sums,
    threads: int,
    lose: Callable[[Gpu, DeviceError], None],
) -> WorkCounters:
    """Run the job on GPUs; see ``Engine.contract``.

    ``threads`` of the CPU go on where no GPU is left; ``lose`` is told of every one that is lost.
    """
    on_cpu = [PiecemealWorker(contraction, sums) for _ in range(threads)]
    relief = Relief(job, gpus, lambda: on_cpu, lose)
    workers = [GpuSumWorker(contraction, gpu, sums, relief) for gpu in gpus]
    # What the smallest takes at once: more would keep it from ending together with the others.
    at_once = min(gpu.tuning.sum_tasks_per_multiprocessor * gpu.multiprocessors for gpu in gpus)
    job.run(grouped(tasks, -(-sum(map(len, tasks)) // at_once)), workers)
    return WorkCounters(products=sum(worker.products for worker in [*workers, *on_cpu]))


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
