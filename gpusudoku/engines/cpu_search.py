"""A search on CPU threads that take boards from each other: fork and join over the frontier.

The threads share boards in compiled code, see ``kernels.search.pool``, so all end together, however
uneven the tree is. Python starts them. Some fifty times a second one of them reports progress. At
the end Python gathers the boards that are left, if any.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.engines.engine import WorkCounters
from gpusudoku.jobs.job import Job, Task
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.arguments import (
    BELOW,
    DEEPEST,
    GUESSES,
    NODES,
    PLACE,
    TALLIES,
    TOP,
    CpuPool,
    Found,
    Lanes,
    Stack,
    limit_of,
)
from gpusudoku.kernels.search.shape import SearchSettings
from gpusudoku.search.forecast import Forecast
from gpusudoku.search.frontier import Frontier, node_seconds

CALL_SECONDS = 0.02
"""The reference core returns from compiled code after this long, if it reports progress, if it has
solutions to hand over, or if it is to notice Ctrl-C."""
LONG_CALL_SECONDS = 1.0
"""Other threads return after this long, so that the solutions that they have found are counted."""
ROOM_BYTES = 1 << 20
"""The size of a worker's buffer for solutions."""

Boards = tuple[NDArray[Any], NDArray[np.int64]]
"""Packed boards and their roots."""


class SharedSearch:
    """A search by threads that take boards from each other, see ``kernels.search.pool``.

    The job has an empty task for each thread, which only makes it start the thread.
    """

    def __init__(
        self, frontier: Frontier, settings: SearchSettings, job: Job, threads: int
    ) -> None:
        self.shape, self.settings, self.job = frontier.shape, settings, job
        self.pool = CpuPool.of(frontier.boards, frontier.roots, threads, frontier.shape)
        self.workers: list[SearchWorker] = []
        no_boards = frontier.part(0, 0)
        self.tasks = [Task(no_boards, 0.0) for _ in range(threads if len(frontier) else 0)]
        self._whole = Task(frontier, job.whole, job.doubt)
        self._nodes_reported = 0
        self._forecast = Forecast(settings, job, threads)
        self._unanswered: set[SearchWorker] = set()
        """The workers that were asked for their boards and have not answered yet."""
        self._answers: list[Boards] = []
        self._is_over = False

    def take_part(self, job: Job) -> float:
        """Search on this thread until no board is left or the job ends; return busy seconds."""
        if job.take() is None:
            return 0.0
        start = time.thread_time()  # which stands still while the thread waits for boards
        worker = SearchWorker(self)
        self.workers.append(worker)
        worker.search(self)
        return time.thread_time() - start

    def answer_recall(self, worker: SearchWorker) -> None:
        """Copy the boards of a worker that is not in compiled code, if a forecast needs them."""
        if worker in self._unanswered:
            self._answers.append(worker.remaining)
            self._unanswered.discard(worker)

    def report_progress(self) -> None:
        """Report the nodes of all workers, and forecast the remaining ones; the first does this."""
        if not self.job.is_watched:
            return
        nodes = sum(int(worker.stack.tally[NODES]) for worker in [*self.workers])
        self.job.advance(self._whole, nodes - self._nodes_reported)
        self._nodes_reported = nodes
        first = self.workers[0]
        # While it samples, others could not give boards to places behind the one it waits for.
        if not self._forecast.is_due or first.stack.state[PLACE] >= 0:
            return
        if not self._answers:
            self._answers = [first.remaining]
            self._unanswered = {*self.workers} - {first}
            self.job.recall()
        if not self._unanswered:
            remaining = self._joined([*self._answers, self.pool.remaining()])
            if len(remaining):
                self._forecast.revise(self._whole, remaining)
            self._answers = []
            if self._is_over:  # meanwhile
                self.job.expect(self._whole, 0.0, 0.0)

    def finish(self) -> None:
        """End the job, as no thread has any boards left."""
        self._is_over = True
        self.job.expect(self._whole, 0.0, 0.0)
        self.job.finish()

    def end(self) -> WorkCounters:
        """Leave all boards that remain to the job; return the work done. No thread is at work."""
        remaining = self._joined([*(w.remaining for w in self.workers), self.pool.remaining()])
        if len(remaining):
            self.job.leave(Task(remaining, self._whole.weight, self._whole.doubt))
        tallies = np.array([worker.stack.tally for worker in self.workers], np.int64)
        tallies = tallies.reshape(-1, TALLIES)
        nodes, guesses = tallies[:, [NODES, GUESSES]].sum(axis=0).tolist()
        return WorkCounters(nodes, guesses, int(tallies[:, DEEPEST].max(initial=0)))

    def _joined(self, parts: Sequence[Boards]) -> Frontier:
        boards, roots = zip(*parts, strict=True)
        return Frontier(self.shape, np.concatenate(boards), np.concatenate(roots))


class SearchWorker:
    """One thread that searches: its stack, and the solutions it has found."""

    def __init__(self, shared: SharedSearch) -> None:
        job = shared.job
        self.shape = shared.shape
        self.run = cpu.run(self.shape, shared.settings)
        self.lanes = Lanes.empty(self.shape)
        # One lane alone leaves no more boards than there are cells: board k of those that it
        # leaves on its way down has at least k cells fixed, by the guesses that led to it. So many
        # for each lane are enough in practice, and the stack grows where they are not.
        cells = self.shape.n * self.shape.n
        self.stack = Stack.empty(self.shape.lanes * (cells + 3), self.shape)
        room = max(self.shape.lanes, ROOM_BYTES // cells) if job.on_solutions else 0
        self.found = Found.into(job.numbers, room, cells)
        self.limit = limit_of(job.limit)
        is_short = job.on_solutions or not shared.workers
        seconds = CALL_SECONDS if is_short else LONG_CALL_SECONDS
        self.budget = max(1, int(seconds / node_seconds(self.shape)))

    @property
    def remaining(self) -> Boards:
        """A copy of the boards on the stack, the last first, and their roots."""
        state = self.stack.state
        rows = slice(int(state[BELOW]) + 1, int(state[TOP]) + 1)
        return self.stack.boards[rows][::-1].copy(), self.stack.roots[rows][::-1].copy()

    def search(self, shared: SharedSearch) -> None:
        """Search until no thread has any boards left, or the job is ending."""
        job = shared.job
        has_more = True
        while has_more:
            recalls = int(job.recalls[0])
            if job.ending:  # in this order: if it ends from now on, it recalls this thread
                return
            shared.answer_recall(self)  # likewise
            if self is shared.workers[0]:
                shared.report_progress()
            arguments = self.found, job.recalls, recalls, self.budget, self.limit, self.lanes
            has_more = self.run(shared.pool, self.stack, *arguments)
            self._hand_over(job)
            self._make_room()
        shared.finish()

    def _hand_over(self, job: Job) -> None:
        """Hand over the solutions that were listed."""
        found = self.found
        rows = int(found.used[0])
        if rows and job.on_solutions:
            job.on_solutions(found.solutions[:rows].copy(), found.roots[:rows].copy())
            found.used[0] = 0

    def _make_room(self) -> None:
        """Move the boards to the bottom of the stack if it is full, and enlarge it if need be."""
        boards, roots, state = self.stack.boards, self.stack.roots, self.stack.state
        low = int(state[BELOW]) + 1
        height = int(state[TOP]) + 1
        if height + 3 * self.shape.lanes <= len(boards):
            return
        if low < height - low:
            # Zeros: rows have padding, which checkpoints hold and compare.
            boards = np.concatenate([boards, np.zeros_like(boards)])
            roots = np.concatenate([roots, np.zeros_like(roots)])
            self.stack = self.stack._replace(boards=boards, roots=roots)
        boards[: height - low] = boards[low:height]
        roots[: height - low] = roots[low:height]
        state[BELOW] = -1
        state[TOP] = height - low - 1
