"""The thread that drives one GPU: one search per GPU thread, relaunched until nothing is left.

A launch ends when every thread has spent its budget of nodes or found no board to take, so none
holds the GPU for long. What threads leave on their stacks they go on with in the next launch; when
most threads have run dry, the boards left are gathered, expanded by the CPU and dealt out anew.

The task is what the host knows of it, and changes only when what was found and what is left have
come from the GPU. If memory runs out, or the GPU is lost, all goes on from there: see ``relief``.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from gpusudoku.engines.cuda.device import Gpu, OutOfMemoryError
from gpusudoku.engines.cuda.launch import Haul, Launch
from gpusudoku.engines.cuda.relief import Relief, drive
from gpusudoku.engines.engine import Tally
from gpusudoku.errors import Cancelled
from gpusudoku.jobs.job import Job, Task, Worker
from gpusudoku.kernels.search.layout import Layout
from gpusudoku.kernels.search.select import search_for
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.search.frontier import Frontier

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
        self.tally = Tally()
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
