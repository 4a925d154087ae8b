"""The CPU engine: fork and join over the frontier on threads that run the compiled search.

The threads of a search take boards from each other in compiled code, so all end together, however
uneven the tree is. Python starts them, some twenty times a second one of them reports progress and
the thread that waits for them can be interrupted, and at the end Python gathers what is left.

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
from numpy.typing import NDArray

from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.protocol import Contraction
from gpusudoku.engines.engine import Engine, Priced, Sums, WorkCounters
from gpusudoku.errors import Cancelled
from gpusudoku.jobs.cores import usable_cores
from gpusudoku.jobs.job import Job, Task, Worker, pieces
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.arguments import (
    BELOW,
    DEEPEST,
    GUESSES,
    MAX_BUDGET,
    NODES,
    TALLIES,
    TOP,
    CpuPool,
    Found,
    Lanes,
    Stack,
    limit_of,
)
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.kernels.search.shape import Shape
from gpusudoku.search.forecast import Forecast
from gpusudoku.search.frontier import Frontier, node_seconds

if TYPE_CHECKING:
    from gpusudoku.contraction.general.parts import BoardPart, Parts

WIDTH = 128
"""Frontier boards: enough for a meaningful progress bar, cheap to make."""

CALL_SECONDS = 0.02
"""The reference core returns from compiled code after this long, if it reports progress, if it has
solutions to hand over, or if it is to notice Ctrl-C."""

ROOM_BYTES = 1 << 20
"""The size of a worker's buffer for solutions."""

TASKS_PER_WORKER = 8
"""Tasks for each thread that sums, at least, so that all end together."""
TASK_SECONDS = 0.05
"""A task that is summed takes no longer than about this: an interrupt waits for it."""

Boards = tuple[NDArray[Any], NDArray[np.int64]]
"""Packed boards and their roots."""


class CpuEngine:
    """``jobs`` threads of this process."""

    name = device = "cpu"
    most_boards = 1 << 14

    def __init__(self, jobs: int | None = None) -> None:
        self.workers = self.threads = self.side_by_side = jobs or usable_cores()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.workers} thread{'' if self.workers == 1 else 's'}>"

    @property
    def for_block(self) -> Engine:
        return CpuEngine(1)

    def seconds(self, core_seconds: float, method: str, geometry: Geometry) -> float:
        return core_seconds / self.workers

    def best(self, work: Priced, geometry: Geometry, share: float = 1.0) -> Engine:
        return self

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


class TaskWorker(Worker):
    """A thread that does one task after the other."""

    clock = staticmethod(time.perf_counter)
    """Measures the seconds of work."""

    def __call__(self, job: Job) -> float:
        busy = 0.0
        while (task := job.take()) is not None:
            start = self.clock()
            self.do(task, job)
            busy += self.clock() - start
        return busy

    @abstractmethod
    def do(self, task: Task, job: Job) -> None:
        """Do a task, or leave it, or a part of it, if the job ends."""


class SharedSearch:
    """A search by threads that take boards from each other, see ``kernels.search.pool``.

    The job has an empty task for each thread. Whoever takes it takes part in the search.
    """

    def __init__(
        self, frontier: Frontier, settings: SearchSettings, job: Job, threads: int
    ) -> None:
        self.shape, self.settings, self.job = frontier.shape, settings, job
        self.pool = CpuPool.of(frontier.boards, frontier.roots, threads, frontier.shape)
        self.workers: list[SearchWorker] = []
        nothing = frontier.part(0, 0)
        self.tasks = [Task(nothing, 0.0) for _ in range(threads if len(frontier) else 0)]
        self._whole = Task(frontier, job.whole, job.doubt)
        self._nodes_reported = 0
        self._forecast = Forecast(settings, job)
        self._unanswered: set[SearchWorker] = set()
        """The workers that were asked for their boards and have not answered yet."""
        self._answers: list[Boards] = []

    def take_part(self, job: Job) -> float:
        """Be one of the threads, until no board is left or the job ends; return busy seconds."""
        worker = SearchWorker(self)
        self.workers.append(worker)
        return worker(job)

    def attend(self, worker: SearchWorker) -> None:
        """Answer for a worker that is back from compiled code; the first one reports progress."""
        if worker in self._unanswered:
            self._answers.append(worker.remaining)
            self._unanswered.discard(worker)
        if worker is self.workers[0] and self.job.is_watched:
            self._report_progress()

    def _report_progress(self) -> None:
        nodes = sum(int(worker.stack.tally[NODES]) for worker in [*self.workers])
        self.job.advance(self._whole, nodes - self._nodes_reported)
        self._nodes_reported = nodes
        if not self._forecast.is_due:
            return
        first = self.workers[0]
        if not self._answers:
            self._unanswered = {*self.workers} - {first}
            self._answers = [first.remaining]
            self.job.recall()
        if not self._unanswered:
            remaining = self._joined([*self._answers, self.pool.remaining()])
            if len(remaining):
                self._forecast.revise(self._whole, remaining)
            self._answers = []

    def end(self) -> WorkCounters:
        """Leave all boards that remain to the job; return the work done. No thread is at work."""
        remaining = self._joined([*(w.remaining for w in self.workers), self.pool.remaining()])
        if len(remaining):
            self.job.leave(Task(remaining, self._whole.weight, self._whole.doubt))
        else:
            self.job.expect(self._whole, 0.0, 0.0)
        tallies = np.array([worker.stack.tally for worker in self.workers], np.int64)
        tallies = tallies.reshape(-1, TALLIES)
        nodes, guesses = tallies[:, [NODES, GUESSES]].sum(axis=0).tolist()
        return WorkCounters(nodes, guesses, int(tallies[:, DEEPEST].max(initial=0)))

    def _joined(self, runs: Sequence[Boards]) -> Frontier:
        boards, roots = zip(*runs, strict=True)
        return Frontier(self.shape, np.concatenate(boards), np.concatenate(roots))


class SearchWorker(TaskWorker):
    """One thread that searches: its stack, and the solutions it has found."""

    clock = staticmethod(time.thread_time)  # it sleeps while it waits for boards

    def __init__(self, search: SharedSearch) -> None:
        job = search.job
        self.search, self.shape = search, search.shape
        self.run = cpu.run(self.shape, search.settings)
        self.lanes = Lanes.empty(self.shape)
        # One lane alone leaves no more boards than there are cells: board k of those that it
        # leaves on its way down has at least k cells fixed, by the guesses that led to it. So many
        # for each lane are enough in practice, and the stack grows where they are not.
        cells = self.shape.n * self.shape.n
        self.stack = Stack.empty(self.shape.lanes * (cells + 3), self.shape)
        room = max(self.shape.lanes, ROOM_BYTES // cells) if job.on_solutions else 0
        self.found = Found.into(job.numbers, room, cells)
        self.limit = limit_of(job.limit)
        is_called_back = job.on_solutions or not search.workers
        self.budget = budget_of(self.shape) if is_called_back else MAX_BUDGET

    @property
    def remaining(self) -> Boards:
        """A copy of the boards on the stack, the last first, and their roots."""
        state = self.stack.state
        rows = slice(int(state[BELOW]) + 1, int(state[TOP]) + 1)
        return self.stack.boards[rows][::-1].copy(), self.stack.roots[rows][::-1].copy()

    def do(self, task: Task, job: Job) -> None:
        """Search until no thread has any boards left, or the job is ending."""
        has_more = True
        while has_more:
            recalls = int(job.recalls[0])
            if job.ending:  # in this order: if it ends from now on, it recalls this thread
                return
            arguments = self.found, job.recalls, recalls, self.budget, self.limit, self.lanes
            has_more = self.run(self.search.pool, self.stack, *arguments)
            self._hand_over(job)
            self._make_room()
            self.search.attend(self)
        job.finish()

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
            boards = np.concatenate([boards, np.empty_like(boards)])
            roots = np.concatenate([roots, np.empty_like(roots)])
            self.stack = self.stack._replace(boards=boards, roots=roots)
        boards[: height - low] = boards[low:height]
        roots[: height - low] = roots[low:height]
        state[BELOW] = -1
        state[TOP] = height - low - 1


def budget_of(shape: Shape) -> int:
    """Return the nodes that the reference core searches in CALL_SECONDS."""
    return max(1, int(CALL_SECONDS / node_seconds(shape)))


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
        self.contraction, self.products = contraction, 0
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
