"""The CPU engine: fork and join over the frontier on threads that run the compiled search.

Tasks start large and shrink; once the queue is empty, a worker with boards left on its stack hands
half of them to those that wait. So all workers end together, however uneven the tree is.
Contractions run in ``cpu_contraction``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from gpusudoku.contraction.protocol import Contraction
from gpusudoku.engines.cpu_contraction import contract_on_threads
from gpusudoku.engines.engine import Tally
from gpusudoku.jobs.cores import usable_cores
from gpusudoku.jobs.job import Job, Progress, Task, Worker
from gpusudoku.jobs.pace import Pace
from gpusudoku.jobs.pieces import pieces
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.arguments import (
    DEEPEST,
    GUESSES,
    NODES,
    TOP,
    Found,
    Stack,
    Work,
    limit_of,
)
from gpusudoku.kernels.search.select import search_for
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.search.frontier import Frontier

WIDTH_PER_WORKER = 128
"""Frontier boards for each thread: enough for a meaningful progress bar, cheap to make."""

FIRST_BUDGET = 10_000
"""Nodes of the first call of a worker."""

CALL_SECONDS = 0.02
"""A call of the compiled search takes about this long: then its worker reports and shares."""

SHARED_TASKS = 8
"""A worker that shares hands over at most this many tasks."""

ROOM_BYTES = 1 << 20
"""The size of a worker's buffer for solutions."""


class CpuEngine:
    """``jobs`` threads of this process."""

    name = "cpu"
    most_boards = 1 << 14

    def __init__(self, jobs: int | None = None) -> None:
        self.workers = self.threads = self.side_by_side = jobs or usable_cores()

    def __repr__(self) -> str:
        return f"<CpuEngine: {self.workers} thread{'' if self.workers == 1 else 's'}>"

    def prepare(self, frontier: Frontier, settings: SearchSettings) -> int:
        """Compile the search for the geometry of the frontier, or load it; see ``Engine``."""
        cpu.run(frontier.layout, settings).load()
        return WIDTH_PER_WORKER * self.workers

    def explore(
        self,
        frontier: Frontier,
        settings: SearchSettings,
        job: Job,
        progress: Callable[[Progress], None] | None = None,
    ) -> Tally:
        """Run the job on all threads; see ``Engine``."""
        workers = [SearchWorker(frontier, settings, job) for _ in range(self.workers)]
        if self.workers == 1 and progress is None:
            job.run_here([Task(frontier, 1.0)] if len(frontier) else [], workers[0])
        else:
            job.run(_tasks(frontier, self.workers), workers, progress)
        tallies = np.stack([worker.stack.tally for worker in workers])
        nodes, guesses = tallies[:, [NODES, GUESSES]].sum(axis=0).tolist()
        return Tally(nodes, guesses, int(tallies[:, DEEPEST].max()))

    def contract(
        self,
        contraction: Contraction,
        tasks: range | None,
        job: Job,
        memory: int,
        progress: Callable[[Progress], None] | None = None,
    ) -> int:
        """Run the job on all threads that the memory allows; see ``Engine``."""
        threads = min(self.workers, contraction.most_threads(memory))
        return contract_on_threads(contraction, tasks, job, threads, progress)


def _tasks(frontier: Frontier, workers: int) -> Iterator[Task]:
    """Runs of frontier boards, each a share of what is left: large first, single boards last."""
    start, total = 0, len(frontier)
    while start < total:
        end = start + max(1, (total - start) // (4 * workers))
        yield Task(frontier.part(start, end), (end - start) / total)
        start = end


class SearchWorker(Worker):
    """One thread: its stack, what it found, and the task it works on."""

    def __init__(self, frontier: Frontier, settings: SearchSettings, job: Job) -> None:
        layout = frontier.layout
        self.run = cpu.run(layout, settings)
        self.search = search_for(layout, settings)
        self.scratch = self.search.scratch()
        # One lane alone leaves no more boards than there are cells: board k of those that it
        # leaves on its way down has at least k cells fixed, by the guesses that led to it. So many
        # for each lane are enough in practice, and the stack grows where they are not.
        cells = layout.n * layout.n
        self.stack = Stack.empty(
            self.search.lanes * (cells + 3), self.search.words, self.search.word
        )
        room = max(self.search.lanes, ROOM_BYTES // cells) if job.on_solutions else 0
        self.found = Found.empty(len(job.numbers), room, cells)
        self.reported = np.zeros_like(self.found.counts)
        self.limit = limit_of(job.limit)
        self.pace = Pace(FIRST_BUDGET, CALL_SECONDS)

    def __call__(self, job: Job) -> float:
        """See ``Worker``."""
        busy = 0.0
        while (task := job.take()) is not None:
            start = time.perf_counter()
            self._explore(task, job)
            busy += time.perf_counter() - start
        return busy

    def _explore(self, task: Task, job: Job) -> None:
        boards: NDArray[np.uint64] = task.payload.boards
        work = Work(boards, task.payload.roots, np.zeros(1, np.int64))
        done = 0
        self.stack.state[:] = -1
        while not job.stopped:
            self._call(work)
            self._report(job)
            taken = min(int(work.cursor[0]), len(work.boards))
            left = int(self.stack.state[TOP]) + 1
            # A board is taken where a lane has none and the stack is empty.
            finished = max(done, taken - self.search.lanes) if left else taken
            share = (finished - done) / (len(work.boards) - done)
            job.report([], task.weight * share)
            task.weight *= 1 - share
            done = finished
            if taken == len(work.boards) and left == 0:
                return
            if left + 3 * self.search.lanes > len(self.stack.boards):
                self._grow()
            if job.has_idle_workers:
                work, done = self._share(task, work, taken, job), 0

    def _call(self, work: Work) -> None:
        """Search for a number of nodes; the next call's number depends on the time it took."""
        start, nodes = time.perf_counter(), int(self.stack.tally[NODES])
        self.run(work, self.stack, self.found, self.pace.size, self.limit, self.scratch)
        spent = int(self.stack.tally[NODES]) - nodes
        self.pace.took(time.perf_counter() - start, full=spent >= self.pace.size)

    def _grow(self) -> None:
        """Make the stack twice as high."""
        boards, roots = self.stack.boards, self.stack.roots
        self.stack = self.stack._replace(
            boards=np.concatenate([boards, np.empty_like(boards)]),
            roots=np.concatenate([roots, np.empty_like(roots)]),
        )

    def _report(self, job: Job) -> None:
        """Report what this call found."""
        found = self.found
        rows = min(int(found.used[0]), len(found.solutions))
        if rows and job.on_solutions:
            job.on_solutions(found.solutions[:rows].copy(), found.roots[:rows].copy())
            found.used[0] = 0
        new = found.counts - self.reported
        if new.any():
            job.report_all(new)
            self.reported += new

    def _share(self, task: Task, work: Work, taken: int, job: Job) -> Work:
        """Share half of the boards that wait, those that were split least; return the others."""
        left = slice(int(self.stack.state[TOP]) + 1)
        stacked = self.search.boards_of(self.stack.boards[left])
        boards = np.concatenate([work.boards[taken:], stacked])
        roots = np.concatenate([work.roots[taken:], self.stack.roots[left]])
        self.stack.state[:] = -1
        half = len(boards) // 2
        weight = task.weight / len(boards)
        layout = task.payload.layout
        shared = Frontier(layout, boards[:half], roots[:half])
        job.share(
            Task(shared.part(piece.start, piece.stop), weight * len(piece))
            for piece in pieces(range(half), SHARED_TASKS)
        )
        task.weight -= weight * half
        return Work(boards[half:], roots[half:], np.zeros(1, np.int64))
