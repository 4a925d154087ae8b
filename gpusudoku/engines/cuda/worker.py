"""The thread that drives one GPU: one search per GPU thread, relaunched until nothing is left.

A launch ends when every thread has spent its budget of nodes or found no board to take, so none
holds the GPU for long. What threads leave on their stacks they go on with in the next launch; when
most threads have run dry, the boards left are gathered, expanded by the CPU and dealt out anew.
"""

from __future__ import annotations

import time

import numpy as np

from gpusudoku.engines.cuda.device import Gpu, one_line_errors
from gpusudoku.engines.cuda.launch import Launch
from gpusudoku.engines.engine import Tally
from gpusudoku.jobs.job import Job, Task, Worker
from gpusudoku.kernels.search.arguments import DEEPEST, GUESSES, NODES, TOP
from gpusudoku.kernels.search.select import search_for
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.search.frontier import Frontier

FIRST_BUDGET = 256
"""Nodes of every thread in the first launch, at most."""
FIRST_SECONDS = 0.1
"""The first launch should take no longer: what a GPU draws on a screen waits for it."""
CORE_OVER_THREAD = 1000
"""How many threads of a GPU a CPU core is taken to be worth: rather more than it is."""

GATHERED_BOARDS = 1 << 20
"""Boards brought back from a GPU at a time."""


class GpuWorker(Worker):
    """One GPU, and the task it works on."""

    def __init__(self, gpu: Gpu, frontier: Frontier, settings: SearchSettings, job: Job) -> None:
        self.gpu, self.settings, self.layout, self.job = gpu, settings, frontier.layout, job
        self.tally = Tally()

    def __call__(self, job: Job) -> float:
        """See ``Worker``."""
        busy = 0.0
        with one_line_errors(), self.gpu.current():
            while (task := job.take()) is not None:
                start = time.perf_counter()
                left: Task | None = task
                while left is not None and not job.stopped:
                    left = self._explore(left, job)
                busy += time.perf_counter() - start
        return busy

    def _explore(self, task: Task, job: Job) -> Task | None:
        """Launch until most threads have run dry; returns what is left, expanded."""
        launch = self.launch(task.payload, self.first_budget)
        while True:
            self.collect(launch)
            tops = launch.stacks.state[TOP]
            alive = int((tops >= 0).sum())
            taken = min(int(launch.work.cursor[0]), launch.boards)
            if alive == 0 and taken == launch.boards:
                job.report([], task.weight)
                return None
            # A thread with a full stack waits; one without a board may take one.
            full = int((tops == launch.depth - 1).sum())
            taking = min(launch.threads - alive, launch.boards - taken)
            dry = alive - full + taking < max(1, launch.threads // 2)
            if job.stopped:
                return None
            if dry or job.idle_workers > 0:
                return self._gather(launch, taken, task, job)
            launch.again()

    @property
    def first_budget(self) -> int:
        """Nodes of every thread in the first launch: fewer where a node takes longer."""
        seconds = search_for(self.layout, self.settings).node_seconds * CORE_OVER_THREAD
        return max(1, min(FIRST_BUDGET, int(FIRST_SECONDS / seconds)))

    def launch(self, frontier: Frontier, budget: int) -> Launch:
        """Bring boards to the GPU and launch the kernel on them once."""
        launch = Launch(self.gpu, frontier, self.settings, self.job, budget)
        launch.again()
        return launch

    def collect(self, launch: Launch) -> None:
        """Report what the last launch found."""
        host, found = self.gpu.host, launch.found
        rows = min(int(found.used[0]), len(found.solutions))
        if rows and self.job.on_solutions:
            self.job.on_solutions(host(found.solutions[:rows]), host(found.roots[:rows]))
        found.used[...] = 0
        counts = host(found.counts)
        self.job.report_all(counts - launch.reported)
        launch.reported = counts
        tallies = host(launch.stacks.tally)
        self.tally.nodes += int(tallies[NODES].sum())
        self.tally.guesses += int(tallies[GUESSES].sum())
        self.tally.deepest = max(self.tally.deepest, int(tallies[DEEPEST].max()))
        launch.stacks.tally[...] = 0

    def _gather(self, launch: Launch, taken: int, task: Task, job: Job) -> Task:
        """Take what is left from the GPU, share it if others wait, and expand the rest."""
        xp, host = self.gpu.xp, self.gpu.host
        counts = host(launch.stacks.state[TOP]) + 1
        thread = np.repeat(np.arange(launch.threads), counts)
        level = np.arange(len(thread)) - np.repeat(np.cumsum(counts) - counts, counts)
        rows, roots = launch.work.boards[taken:], launch.work.roots[taken:]
        parts = [(launch.search.boards_of(host(rows)), host(roots))]
        for start in range(0, len(thread), GATHERED_BOARDS):  # the GPU may have little memory left
            some = slice(start, start + GATHERED_BOARDS)
            rows, roots = launch.stacked(xp.asarray(level[some]), xp.asarray(thread[some]))
            parts.append((launch.search.boards_of(host(rows)), host(roots)))
        boards, roots = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        if job.idle_workers > 0 and len(boards) > 1:
            half = len(boards) // 2
            task.weight /= 2
            job.share([Task(Frontier(self.layout, boards[:half], roots[:half]), task.weight)])
            boards, roots = boards[half:], roots[half:]
        frontier = Frontier(self.layout, boards, roots)
        frontier = frontier.expanded(self.settings, launch.threads, job=job)
        self.tally.nodes += frontier.nodes
        self.tally.guesses += frontier.guesses
        return Task(frontier, task.weight)
