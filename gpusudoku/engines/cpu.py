"""The CPU engine: fork/join over the frontier on threads that run the compiled search.

Chunks start large and shrink; once the queue is empty, a worker with boards left on its stack
hands half of them to those that wait. So all workers end together, however uneven the tree is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gpusudoku.contraction.contraction import Contraction
from gpusudoku.engines import Tally
from gpusudoku.engines.cores import usable_cores
from gpusudoku.engines.threads import contract_on_threads
from gpusudoku.jobs.job import Job, Progress, Task, Worker
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search import loop as search
from gpusudoku.kernels.search.select import search_for
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.search.frontier import Frontier

WIDTH_PER_WORKER = 128
"""Frontier boards for each thread: enough for a meaningful progress bar, cheap to make."""

CALL_SECONDS = 0.02
"""A worker comes up for air about this often: stop, report, share out."""

PIECES = 8
"""A worker that shares hands over at most this many tasks."""

ROOM_BYTES = 1 << 20
"""Size of a worker's buffer for solutions."""

Boards = NDArray[np.uint64]
Owners = NDArray[np.int64]


class CpuEngine:
    """``jobs`` threads of this process."""

    name = "cpu"
    most_boards = 1 << 14

    def __init__(self, jobs: int | None = None) -> None:
        self.workers = jobs or usable_cores()
        self.width = WIDTH_PER_WORKER * self.workers

    def prepare(self, frontier: Frontier, settings: SearchSettings) -> None:
        """Compile the search for the geometry of the frontier, or load it from disk."""
        _ = cpu.kernels(frontier.layout, settings).run

    def explore(
        self,
        frontier: Frontier,
        settings: SearchSettings,
        job: Job,
        progress: Callable[[Progress], None] | None = None,
    ) -> Tally:
        """Run the job on all threads; see ``Engine``."""
        workers = [_Thread(frontier, settings, job) for _ in range(self.workers)]
        try:
            job.run(_pieces(frontier, self.workers), workers, progress)
        finally:
            tallies = np.stack([worker.tally for worker in workers])
        nodes, guesses = tallies[:, [search.NODES, search.GUESSES]].sum(axis=0).tolist()
        return Tally(nodes, guesses, int(tallies[:, search.DEEPEST].max()))

    def contract(
        self,
        contraction: Contraction,
        job: Job,
        memory: int,
        progress: Callable[[Progress], None] | None = None,
    ) -> int:
        """Run the job on all threads that the memory allows; see ``Engine``."""
        threads = min(self.workers, contraction.most_threads(memory))
        return contract_on_threads(contraction, job, threads, progress)


def _pieces(frontier: Frontier, workers: int) -> Iterator[Task]:
    """Slices of the frontier, each a share of what is left: large first, single boards last."""
    start, total = 0, len(frontier)
    while start < total:
        end = start + max(1, (total - start) // (4 * workers))
        payload = frontier.boards[start:end], frontier.roots[start:end]
        yield Task(payload, (end - start) / total)
        start = end


class _Thread(Worker):
    """One thread: its stack, its counters, and the task it is at."""

    def __init__(self, frontier: Frontier, settings: SearchSettings, job: Job) -> None:
        layout = frontier.layout
        self.run = cpu.kernels(layout, settings).run
        self.search = search_for(layout, settings)
        self.workspace = self.search.workspace()
        # One lane alone would leave no more boards than there are cells: board k of those that it
        # leaves on its way down has at least k cells fixed, by the guesses that led to it. So many
        # for each lane are enough in practice, and the stack grows where they are not. Memory
        # that is never touched is never taken.
        cells = layout.n * layout.n
        depth = self.search.lanes * (cells + 3)
        self.stack = np.empty((depth, self.search.words), self.search.word)
        self.stack_roots = np.empty(depth, np.int64)
        self.state = np.full(search.STATES, -1, np.int64)
        self.tally = np.zeros(search.TALLIES, np.uint64)
        self.counts = np.zeros(len(job.counts), np.uint64)
        self.reported = np.zeros_like(self.counts)
        room = max(self.search.lanes, ROOM_BYTES // cells) if job.on_solutions else 0
        self.solutions = np.empty((room, cells), np.uint8)
        self.solution_roots = np.empty(room, np.int64)
        self.used = np.zeros(1, np.int64)
        self.limit = search.limit_of(job.limit)
        self.budget = 1000

    def __call__(self, job: Job) -> float:
        busy = 0.0
        while (task := job.take()) is not None:
            start = time.perf_counter()
            self._explore(task, job)
            busy += time.perf_counter() - start
        return busy

    def _explore(self, task: Task, job: Job) -> None:
        boards, roots = task.payload
        cursor = np.zeros(1, np.int64)
        done = 0
        self.state[:] = -1
        while not job.stopped:
            start, nodes = time.perf_counter(), int(self.tally[search.NODES])
            self.run(
                boards, roots, cursor, self.stack, self.stack_roots, self.state, self.budget,
                self.limit, self.counts, self.solutions, self.solution_roots, self.used,
                self.tally, *self.workspace,
            )  # fmt: skip
            seconds = time.perf_counter() - start
            spent = int(self.tally[search.NODES]) - nodes
            if spent >= self.budget and seconds < CALL_SECONDS / 2:
                self.budget *= 2
            elif seconds > CALL_SECONDS * 2:
                self.budget = max(1, self.budget // 2)
            self._flush(job)
            fetched, left = min(int(cursor[0]), len(boards)), int(self.state[search.TOP]) + 1
            # A board is fetched where a lane has none and the stack is empty.
            finished = max(done, fetched - self.search.lanes) if left else fetched
            job.report([], task.weight * (finished - done) / (len(boards) - done))
            task.weight *= 1 - (finished - done) / (len(boards) - done)
            done = finished
            if fetched == len(boards) and left == 0:
                return
            if left + 3 * self.search.lanes > len(self.stack):
                self._grow()
            if job.has_idle_workers:
                boards, roots = self._share(task, boards[fetched:], roots[fetched:], job)
                cursor[0], done = 0, 0

    def _grow(self) -> None:
        """Make the stack twice as high."""
        self.stack = np.concatenate([self.stack, np.empty_like(self.stack)])
        self.stack_roots = np.concatenate([self.stack_roots, np.empty_like(self.stack_roots)])

    def _flush(self, job: Job) -> None:
        """Report what this call found."""
        rows = min(int(self.used[0]), len(self.solutions))
        if rows and job.on_solutions:
            job.on_solutions(self.solutions[:rows].copy(), self.solution_roots[:rows].copy())
            self.used[0] = 0
        new = self.counts - self.reported
        if new.any():
            job.report_all(new)
            self.reported += new

    def _share(self, task: Task, boards: Boards, roots: Owners, job: Job) -> tuple[Boards, Owners]:
        """Offer half of the boards that wait, those that were split least; return the others."""
        left = slice(int(self.state[search.TOP]) + 1)
        boards = np.concatenate([boards, self.search.boards_of(self.stack[left])])
        roots = np.concatenate([roots, self.stack_roots[left]])
        self.state[:] = -1
        half = len(boards) // 2
        weight = task.weight / len(boards)
        ends = np.linspace(0, half, min(half, PIECES) + 1, dtype=np.int64).tolist()
        job.offer(
            Task((boards[start:end], roots[start:end]), weight * (end - start))
            for start, end in pairwise(ends)
        )
        task.weight -= weight * half
        return boards[half:], roots[half:]
