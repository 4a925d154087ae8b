"""The CPU engine: fork and join over the frontier on threads that run the compiled search.

One worker begins with the whole frontier. A worker that has worked for a while deals out the boards
that it has left, if any worker is idle, so a search has as many workers as it is worth, and all end
together, however uneven the tree is.

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
from gpusudoku.jobs.job import Cost, Job, Task, Worker, pieces
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.arguments import (
    DEEPEST,
    GUESSES,
    NODES,
    TALLIES,
    TOP,
    Found,
    Lanes,
    Stack,
    Work,
    limit_of,
)
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.search.forecast import Forecast
from gpusudoku.search.frontier import Frontier, node_seconds

if TYPE_CHECKING:
    from gpusudoku.contraction.general.parts import BoardPart, Parts

WIDTH = 128
"""Frontier boards: enough for a meaningful progress bar, cheap to make."""

CALL_SECONDS = 0.01
"""A call of the compiled search takes about this long in a search that has gone on for a while."""

CALL_SHARE = 0.01
"""Before, it takes this share of the time that the search has taken: an idle worker waits until a
call of another ends, and that should be short beside the whole."""

SHORTEST_SECONDS = 5e-4
"""No call should be shorter: the Python after it takes some 20 microseconds."""

PYTHON_SECONDS = 1e-4
"""Nor shorter than this for each thread at work, as only one of them at a time runs Python."""

ROOM_BYTES = 1 << 20
"""The size of a worker's buffer for solutions."""

TASKS_PER_WORKER = 8
"""Tasks for each thread that sums, at least, so that all end together."""
TASK_SECONDS = 0.05
"""A task that is summed takes no longer than about this: an interrupt waits for it."""

Runs = tuple[NDArray[Any], NDArray[Any]]
"""Two arrays that stand for one, the first before the second."""


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
        made: list[SearchWorker] = []
        node = Cost()  # one for all: a new worker begins with what the others have measured

        def work(job: Job) -> float:
            made.append(SearchWorker(frontier, settings, job, node))
            return made[-1](job)

        tasks = [Task(frontier, job.whole, job.doubt)] if len(frontier) else []
        if self.workers == 1 and not job.is_attended:
            job.run_here(tasks, work)
        else:
            job.run(tasks, [work] * self.workers)
        return tally_of(made)

    def contract(
        self, contraction: Contraction, tasks: Sequence[range], job: Job, memory: int, sums: Sums
    ) -> WorkCounters:
        threads = min(self.workers, contraction.most_threads(memory))
        return contract_on_threads(contraction, tasks, job, threads, sums)


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


class SearchWorker(TaskWorker):
    """One thread that searches: its stack, and the solutions it has found."""

    def __init__(self, frontier: Frontier, settings: SearchSettings, job: Job, node: Cost) -> None:
        self.shape = shape = frontier.shape
        self.run = cpu.run(shape, settings)
        self.lanes = Lanes.empty(shape)
        # One lane alone leaves no more boards than there are cells: board k of those that it
        # leaves on its way down has at least k cells fixed, by the guesses that led to it. So many
        # for each lane are enough in practice, and the stack grows where they are not.
        cells = shape.n * shape.n
        self.stack = Stack.empty(shape.lanes * (cells + 3), shape)
        room = max(shape.lanes, ROOM_BYTES // cells) if job.on_solutions else 0
        self.found = Found.empty(len(job.numbers), room, cells)
        self.reported = np.zeros_like(self.found.counts)
        self.limit = limit_of(job.limit)
        self.node = node
        self.forecast = Forecast(settings, job)

    def do(self, task: Task, job: Job) -> None:
        """Search the boards of a task; share some of them if a worker is idle."""
        work = Work(task.payload.boards, task.payload.roots, np.zeros(1, np.int64))
        self.stack.state[:] = -1
        while True:
            job.advance(task, self._call(work, job))
            self._report(job)
            taken = min(int(work.cursor[0]), len(work.boards))
            left = int(self.stack.state[TOP]) + 1
            if taken == len(work.boards) and left == 0:
                job.expect(task, 0.0, 0.0)
                return
            if job.ending:
                job.leave(Task(self._remaining(work, taken), task.weight, task.doubt))
                return
            if self.forecast.is_due:
                self.forecast.revise(task, self._remaining(work, taken))
            if left + 3 * self.shape.lanes > len(self.stack.boards):
                stacked, roots = self.stack.boards, self.stack.roots
                self.stack = self.stack._replace(
                    boards=np.concatenate([stacked, np.empty_like(stacked)]),
                    roots=np.concatenate([roots, np.empty_like(roots)]),
                )
            waiting = len(work.boards) - taken + left
            # So many boards keep the lanes of a worker busy.
            parts = min(1 + job.idle_workers, 1 + waiting // self.shape.lanes, waiting)
            if parts > 1:
                work = self._share(task, work, taken, parts, job)

    def _call(self, work: Work, job: Job) -> int:
        """Search for about the time that a call should take; return the nodes."""
        start, nodes, seconds = time.perf_counter(), int(self.stack.tally[NODES]), CALL_SECONDS
        if job.workers > 1:
            share = CALL_SHARE * (start - job.start)
            least = max(SHORTEST_SECONDS, PYTHON_SECONDS * job.busy_workers)
            seconds = max(least, min(CALL_SECONDS, share))
        budget = max(1, int(seconds / (self.node.of(1) or node_seconds(self.shape))))
        self.run(work, self.stack, self.found, budget, self.limit, self.lanes)
        nodes = int(self.stack.tally[NODES]) - nodes
        self.node.took(time.perf_counter() - start, nodes)
        return nodes

    def _report(self, job: Job) -> None:
        """Report the solutions of a call."""
        found = self.found
        rows = min(int(found.used[0]), len(found.solutions))
        if rows and job.on_solutions:
            job.on_solutions(found.solutions[:rows].copy(), found.roots[:rows].copy())
            found.used[0] = 0
        new = found.counts - self.reported
        job.report_all(new)
        self.reported += new

    def _share(self, task: Task, work: Work, taken: int, parts: int, job: Job) -> Work:
        """Deal out all boards that are left, as cards are dealt; return those that are kept.

        Those that were split most come first: so a search goes on to the bottom of its tree, where
        the solutions are, and on a large board does not begin again at the top each time.
        """
        boards, roots = self._rest(work, taken)
        hands = [(deal(boards, hand, parts), deal(roots, hand, parts)) for hand in range(parts)]
        self.stack.state[:] = -1
        total = sum(map(len, boards))
        shares = [len(hand[1]) / total for hand in hands]
        job.share(
            Task(Frontier(self.shape, *hand), task.weight * share, task.doubt * share)
            for hand, share in zip(hands[1:], shares[1:], strict=True)
        )
        task.weight *= shares[0]
        task.doubt *= shares[0]
        return Work(*hands[0], np.zeros(1, np.int64))

    def _rest(self, work: Work, taken: int) -> tuple[Runs, Runs]:
        """Return the boards that are left, and their roots, two runs of each."""
        left = slice(int(self.stack.state[TOP]) + 1)
        boards = self.stack.boards[left][::-1], work.boards[taken:]
        return boards, (self.stack.roots[left][::-1], work.roots[taken:])

    def _remaining(self, work: Work, taken: int) -> Frontier:
        """Return a copy of the boards that are left."""
        boards, roots = (deal(runs, 0, 1) for runs in self._rest(work, taken))
        return Frontier(self.shape, boards, roots)


def tally_of(workers: Sequence[SearchWorker]) -> WorkCounters:
    """Add up the work of workers."""
    tallies = np.array([worker.stack.tally for worker in workers], np.int64).reshape(-1, TALLIES)
    nodes, guesses = tallies[:, [NODES, GUESSES]].sum(axis=0).tolist()
    return WorkCounters(nodes, guesses, int(tallies[:, DEEPEST].max(initial=0)))


def deal(runs: Runs, hand: int, hands: int) -> NDArray[Any]:
    """Return a hand of two runs, dealt out as cards: the items ``hand`` modulo ``hands``."""
    first, second = runs
    return np.concatenate([first[hand::hands], second[(hand - len(first)) % hands :: hands]])


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
