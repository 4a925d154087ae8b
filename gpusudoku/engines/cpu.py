"""The CPU engine: threads that search, and threads that sum contractions.

The threads of a search share boards in compiled code, see ``kernels.search.pool``, so all end
together, however uneven the tree is. Python starts them. Some fifty times a second one of them
reports progress. At the end Python gathers the boards that are left, if any.

Tasks of contractions are cut so that all threads end together; a GPU's engine takes these workers
where it has no kernel. The parts of a board take unknown times: a worker shares those that it has
left when others are idle.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.protocol import Contraction
from gpusudoku.engines.engine import Engine, Sums, WorkCounters
from gpusudoku.engines.quick_search import Boards, SearchMemory, run_quick_search
from gpusudoku.errors import Cancelled
from gpusudoku.jobs.job import Job, Task, Worker, pieces
from gpusudoku.jobs.threads import usable_cores
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
    limit_of,
)
from gpusudoku.kernels.search.shape import SearchSettings
from gpusudoku.search.frontier import Forecast, Frontier, node_seconds

if TYPE_CHECKING:
    from gpusudoku.contraction.general.parts import BoardPart, Parts

WIDTH = 128
"""Frontier boards: enough for a meaningful progress bar, cheap to make."""

CALL_SECONDS = 0.02
"""On the reference core, a thread returns from compiled code after this long if it reports
progress, hands over solutions, or checks for Ctrl-C."""
LONG_CALL_SECONDS = 1.0
"""Other threads return after this long, so that the solutions that they have found are counted."""
ROOM_BYTES = 1 << 20
"""The size of a worker's buffer for solutions."""

TASKS_PER_WORKER = 8
"""Tasks for each thread that sums, at least, so that all end together."""
TASK_SECONDS = 0.05
"""A task that is summed takes no longer than about this: an interrupt waits for it."""


class CpuEngine(Engine):
    """``jobs`` threads of this process."""

    kind = device = "cpu"
    most_boards = 1 << 14
    quick_search = staticmethod(run_quick_search)

    def __init__(self, jobs: int | None = None) -> None:
        self.threads = self.side_by_side = jobs or usable_cores()

    @property
    def workers(self) -> int:
        return self.threads

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.workers} thread{'' if self.workers == 1 else 's'}>"

    @property
    def for_block(self) -> Engine:
        return CpuEngine(1)

    def seconds(self, core_seconds: float, method: str, geometry: Geometry) -> float:
        return core_seconds / self.workers

    def prepare(self, frontier: Frontier, settings: SearchSettings) -> int:
        cpu.run(frontier.shape, settings).load()
        return WIDTH

    def explore(self, frontier: Frontier, settings: SearchSettings, job: Job) -> WorkCounters:
        search = SharedSearch(frontier, settings, job, self.workers)
        try:
            if self.workers == 1 and not job.is_attended:
                job.run_here(search.tasks, search.take_part)
            else:
                job.run(search.tasks, [search.take_part] * self.workers)
        finally:
            counters = search.end()
        return counters

    def contract(
        self, contraction: Contraction, tasks: Sequence[range], job: Job, memory: int, sums: Sums
    ) -> WorkCounters:
        threads = min(self.workers, contraction.most_threads(memory))
        return contract_on_threads(contraction, tasks, job, threads, sums)


class SharedSearch:
    """A search by threads that take boards from each other, see ``kernels.search.pool``.

    The job has an empty task for each thread, which only makes it start the thread.
    """

    def __init__(
        self, frontier: Frontier, settings: SearchSettings, job: Job, threads: int
    ) -> None:
        self.shape = frontier.shape
        self.settings = settings
        self.job = job
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


class SearchWorker(SearchMemory):
    """One thread that searches."""

    def __init__(self, shared: SharedSearch) -> None:
        job = shared.job
        shape = shared.shape
        cells = shape.n * shape.n
        room = max(shape.lanes, ROOM_BYTES // cells) if job.on_solutions else 0
        super().__init__(shape, shared.settings, Found.into(job.numbers, room, cells))
        self.limit = limit_of(job.limit)
        is_short = job.on_solutions or not shared.workers
        seconds = CALL_SECONDS if is_short else LONG_CALL_SECONDS
        self.budget = max(1, int(seconds / node_seconds(shape)))

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
        boards = self.stack.boards
        roots = self.stack.roots
        state = self.stack.state
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


class TaskWorker(Worker):
    """A thread that does one task after the other."""

    def __call__(self, job: Job) -> float:
        busy = 0.0
        while (task := job.take()) is not None:
            start = time.perf_counter()
            self.do(task, job)
            busy += time.perf_counter() - start
        return busy

    @abstractmethod
    def do(self, task: Task, job: Job) -> None:
        """Do a task, or leave it, or a part of it, if the job ends."""


def contract_on_threads(
    contraction: Contraction, tasks: Sequence[range], job: Job, threads: int, sums: Sums
) -> WorkCounters:
    """Run the job on CPU threads; see ``Engine.contract``."""
    workers = [SumWorker(contraction, sums) for _ in range(threads)]
    number = sum(map(len, tasks))
    seconds = contraction.seconds * number / max(1, contraction.tasks)
    groups = max(TASKS_PER_WORKER * threads, int(seconds / TASK_SECONDS))
    job.run(group_tasks(tasks, groups), workers)
    return WorkCounters(products=sum(worker.products for worker in workers))


def group_tasks(tasks: Sequence[range], groups: int) -> list[Task]:
    """Cut numbered tasks into about ``groups`` ranges of nearly the same size."""
    number = sum(map(len, tasks))
    return [
        Task(piece, len(piece) / number)
        for run in tasks
        for piece in pieces(run, -(-groups * len(run) // number))
    ]


class SumWorker(TaskWorker):
    """One thread that sums tasks in memory of its own."""

    def __init__(self, contraction: Contraction, sums: Sums) -> None:
        self.contraction = contraction
        self.products = 0
        self._sums = sums
        self._scratch: Any = None

    def do(self, task: Task, job: Job) -> None:
        """Sum a task, and report it."""
        value, products = self.sum(task.payload, job)
        if job.stopped:  # the sum may be cut short
            job.leave(task)
            return
        value *= self.contraction.factor
        job.report([(0, value)], task.weight)
        self._sums.append((task.payload, value))
        self.products += products

    def sum(self, tasks: range, job: Job) -> tuple[int, int]:
        """Sum some tasks; return the number of products added up, too."""
        if self._scratch is None:
            self._scratch = self.contraction.scratch()
        return self.contraction.sum(tasks, self._scratch, job.flag)


def contract_parts(parts: Parts, tasks: Sequence[Task], job: Job, threads: int) -> WorkCounters:
    """Run the job: the payload of a task, also of one left, is a list of (counter, part)."""
    workers = [PartWorker(parts) for _ in range(threads)]
    job.run(tasks, workers)
    return WorkCounters(products=sum(worker.products for worker in workers))


class PartWorker(TaskWorker):
    """One thread that sums parts, and divides those that are too expensive to contract."""

    def __init__(self, parts: Parts) -> None:
        self.products = 0
        self._parts = parts

    def do(self, task: Task, job: Job) -> None:
        """Sum the parts of a task, and those into which they are divided."""
        todo: list[tuple[int, BoardPart]] = list(task.payload)
        while todo:
            counter, part = todo.pop()
            divided = [part]
            value = products = 0
            try:
                value, products = self._parts.sum_one(divided, job.flag)
            except Cancelled:
                if not job.stopped:
                    raise
            if job.stopped:  # the sum may be cut short
                job.leave(Task([*todo, (counter, part)], task.weight))
                return
            todo += [(counter, child) for child in divided]
            # Every part that is left weighs as much as the one that was done, for want of more.
            weight = task.weight / (len(todo) + 1)
            task.weight -= weight
            job.report([(counter, value)], weight)
            self.products += products
            if todo and job.ending:
                job.leave(Task(todo, task.weight))
                return
            if len(todo) > 1 and job.idle_workers > 0:
                half = len(todo) // 2  # the first, which are the largest
                task.weight /= 2
                job.share([Task(todo[:half], task.weight)])
                del todo[:half]
