"""The CPU engine: threads that search, and threads that add products of contractions.

Python starts the threads of a search. They exchange boards in compiled code (see
``kernels.search.pool``), so that all end at about the same time, however uneven the tree is. About
fifty times a second one of them reports progress. At the end Python collects the remaining boards.

Contractions are divided into enough tasks that all threads end at about the same time. The CUDA
engine also uses these workers, where there is no kernel for GPUs. The parts of a contraction in
parts take unknown times, so a worker shares its remaining parts when others are idle.
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
from gpusudoku.jobs.job import Job, Task, Worker, split_range
from gpusudoku.jobs.threads import usable_cores
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.arguments import (
    AWAITED_PLACE,
    BELOW_BOTTOM,
    GUESSES,
    MAX_HEIGHT,
    NODES,
    TALLY_WORDS,
    TOP,
    CpuPool,
    SearchResults,
    encode_limit,
)
from gpusudoku.kernels.search.shape import SearchSettings
from gpusudoku.search.frontier import Forecast, Frontier, node_seconds

if TYPE_CHECKING:
    from gpusudoku.contraction.general.parts import BoardPart, Parts

WIDTH = 128
"""Boards of a frontier: enough for a meaningful progress bar, and cheap to make."""

CALL_SECONDS = 0.02
"""Time, on the reference core, after which a thread returns from compiled code if it reports
progress, passes on solutions, or checks for Ctrl-C."""
LONG_CALL_SECONDS = 1.0
"""Time after which other threads return, so that their solutions are counted."""
ROOM_BYTES = 1 << 20
"""The size of a worker's buffer for solutions."""

TASKS_PER_WORKER = 8
"""Tasks per thread of a contraction, at least, so that all threads end at about the same time."""
TASK_SECONDS = 0.05
"""The longest expected time of a task of a contraction. An interrupt waits for its end."""


class CpuEngine(Engine):
    """Threads of this process: ``jobs`` of them, or one per usable core."""

    kind = device = "cpu"
    max_boards = 1 << 14
    quick_search = staticmethod(run_quick_search)

    def __init__(self, jobs: int | None = None) -> None:
        self.threads = jobs or usable_cores()
        self.parallel_blocks = self.threads

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
            # One thread searches in the calling thread, unless that has to report or suspend.
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
        threads = min(self.workers, contraction.max_threads(memory))
        return contract_on_threads(contraction, tasks, job, threads, sums)


class SharedSearch:
    """A search by threads that exchange boards in compiled code, see ``kernels.search.pool``.

    The job has an empty task for each thread, so that it starts the threads.
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
        self._search_task = Task(frontier, job.expected_work, job.uncertainty)
        self._nodes_reported = 0
        self._forecast = Forecast(settings, job, threads)
        self._unanswered: set[SearchWorker] = set()
        """The workers whose boards a forecast needs and has not received."""
        self._answers: list[Boards] = []
        self._has_ended = False

    def take_part(self, job: Job) -> float:
        """Search on this thread until no boards remain or the job ends. Return busy seconds."""
        if job.take() is None:
            return 0.0
        start = time.thread_time()  # does not advance while the thread waits for boards
        worker = SearchWorker(self)
        self.workers.append(worker)
        worker.search(self)
        return time.thread_time() - start

    def answer_recall(self, worker: SearchWorker) -> None:
        """Copy the boards of a worker, which is not in compiled code, if a forecast needs them."""
        if worker in self._unanswered:
            self._answers.append(worker.remaining)
            self._unanswered.discard(worker)

    def report_progress(self) -> None:
        """Report visited nodes, and forecast the remaining ones. The first worker calls this."""
        if not self.job.is_watched:
            return
        # A copy of the list, because threads append to it.
        nodes = sum(int(worker.stack.tally[NODES]) for worker in [*self.workers])
        self.job.advance(self._search_task, nodes - self._nodes_reported)
        self._nodes_reported = nodes
        first_worker = self.workers[0]
        # A worker that waits for a place in the pool must not be delayed by a forecast: others
        # could not give boards to places behind it.
        if not self._forecast.is_due or first_worker.stack.state[AWAITED_PLACE] >= 0:
            return
        if not self._answers:
            self._answers = [first_worker.remaining]
            self._unanswered = {*self.workers} - {first_worker}
            self.job.recall()
        if not self._unanswered:
            remaining = self._joined([*self._answers, self.pool.remaining()])
            if len(remaining):
                self._forecast.revise(self._search_task, remaining)
            self._answers = []
            if self._has_ended:  # while the forecast was made
                self.job.expect(self._search_task, 0.0, 0.0)

    def finish(self) -> None:
        """End the job, because no boards remain."""
        self._has_ended = True
        self.job.expect(self._search_task, 0.0, 0.0)
        self.job.finish()

    def end(self) -> WorkCounters:
        """Return all remaining boards to the job, when no thread works. Return the counters."""
        boards_of_workers = [worker.remaining for worker in self.workers]
        remaining = self._joined([*boards_of_workers, self.pool.remaining()])
        if len(remaining):
            self.job.return_task(
                Task(remaining, self._search_task.weight, self._search_task.uncertainty)
            )
        tallies = np.array([worker.stack.tally for worker in self.workers], np.int64)
        tallies = tallies.reshape(-1, TALLY_WORDS)
        nodes, guesses = tallies[:, [NODES, GUESSES]].sum(axis=0).tolist()
        return WorkCounters(nodes, guesses, int(tallies[:, MAX_HEIGHT].max(initial=0)))

    def _joined(self, parts: Sequence[Boards]) -> Frontier:
        """Return boards of several workers as one frontier."""
        boards, roots = zip(*parts, strict=True)
        return Frontier(self.shape, np.concatenate(boards), np.concatenate(roots))


class SearchWorker(SearchMemory):
    """A thread that searches."""

    def __init__(self, shared: SharedSearch) -> None:
        job = shared.job
        shape = shared.shape
        cells = shape.n * shape.n
        # One call can find a solution in each lane.
        buffer_rows = max(shape.lanes, ROOM_BYTES // cells) if job.on_solutions else 0
        super().__init__(
            shape, shared.settings, SearchResults.adding_to(job.numbers, buffer_rows, cells)
        )
        self.limit = encode_limit(job.limit)
        is_short = job.on_solutions or not shared.workers
        seconds = CALL_SECONDS if is_short else LONG_CALL_SECONDS
        self.budget = max(1, int(seconds / node_seconds(shape)))

    def search(self, shared: SharedSearch) -> None:
        """Search until no boards remain, or the job is ending."""
        job = shared.job
        has_more = True
        while has_more:
            recalls = int(job.recalls[0])
            # ``recalls`` was read before this: if the job ends later, the number changes, and the
            # compiled code returns. The same holds for a forecast that needs the boards.
            if job.ending:
                return
            shared.answer_recall(self)
            if self is shared.workers[0]:
                shared.report_progress()
            arguments = self.results, job.recalls, recalls, self.budget, self.limit, self.lanes
            has_more = self.run(shared.pool, self.stack, *arguments)
            self._pass_on_solutions(job)
            self._make_room()
        shared.finish()

    def _pass_on_solutions(self, job: Job) -> None:
        """Pass on the solutions in the buffer."""
        results = self.results
        row_count = int(results.claimed_rows[0])
        if row_count and job.on_solutions:
            job.on_solutions(results.solutions[:row_count].copy(), results.roots[:row_count].copy())
            results.claimed_rows[0] = 0

    def _make_room(self) -> None:
        """Move the boards to the bottom of the stack if it is full. Enlarge it if necessary."""
        boards = self.stack.boards
        roots = self.stack.roots
        state = self.stack.state
        low = int(state[BELOW_BOTTOM]) + 1
        height = int(state[TOP]) + 1
        # The compiled code returns when fewer than two rows per lane are free.
        if height + 3 * self.shape.lanes <= len(boards):
            return
        if low < height - low:
            # Zeros, because checkpoints store and compare the padding of rows, too.
            boards = np.concatenate([boards, np.zeros_like(boards)])
            roots = np.concatenate([roots, np.zeros_like(roots)])
            self.stack = self.stack._replace(boards=boards, roots=roots)
        boards[: height - low] = boards[low:height]
        roots[: height - low] = roots[low:height]
        state[BELOW_BOTTOM] = -1
        state[TOP] = height - low - 1


class TaskWorker(Worker):
    """A thread that does tasks one after the other."""

    def __call__(self, job: Job) -> float:
        busy_seconds = 0.0
        while (task := job.take()) is not None:
            start = time.perf_counter()
            self.do(task, job)
            busy_seconds += time.perf_counter() - start
        return busy_seconds

    @abstractmethod
    def do(self, task: Task, job: Job) -> None:
        """Do a task. If the job ends, return the task, or a part of it, to the job."""


def contract_on_threads(
    contraction: Contraction, tasks: Sequence[range], job: Job, threads: int, sums: Sums
) -> WorkCounters:
    """Run the job on CPU threads; see ``Engine.contract``."""
    workers = [SumWorker(contraction, sums) for _ in range(threads)]
    task_count = sum(map(len, tasks))
    seconds = contraction.seconds * task_count / max(1, contraction.tasks)
    range_count = max(TASKS_PER_WORKER * threads, int(seconds / TASK_SECONDS))
    job.run(group_tasks(tasks, range_count), workers)
    return WorkCounters(products=sum(worker.products for worker in workers))


def group_tasks(tasks: Sequence[range], range_count: int) -> list[Task]:
    """Divide numbered tasks into about ``range_count`` ranges of similar size."""
    task_count = sum(map(len, tasks))
    grouped = []
    for numbers in tasks:
        # Rounded up, so that every range of numbers has at least one.
        count = -(-range_count * len(numbers) // task_count)
        grouped += [Task(chunk, len(chunk) / task_count) for chunk in split_range(numbers, count)]
    return grouped


class SumWorker(TaskWorker):
    """A thread that adds the products of tasks, in its own memory."""

    def __init__(self, contraction: Contraction, sums: Sums) -> None:
        self.contraction = contraction
        self.products = 0
        self._sums = sums
        self._scratch: Any = None

    def do(self, task: Task, job: Job) -> None:
        """Compute the sum of a task and report it."""
        value, products = self.sum(task.payload, job)
        if job.stopped:  # the sum may be incomplete
            job.return_task(task)
            return
        # The sum is computed without a common divisor of the lists.
        value *= self.contraction.factor
        job.report([(0, value)], task.weight)
        self._sums.append((task.payload, value))
        self.products += products

    def sum(self, tasks: range, job: Job) -> tuple[int, int]:
        """Return the sum of tasks, and the number of products added."""
        if self._scratch is None:
            self._scratch = self.contraction.scratch()
        return self.contraction.sum(tasks, self._scratch, job.flag)


def contract_parts(parts: Parts, tasks: Sequence[Task], job: Job, threads: int) -> WorkCounters:
    """Run the job. The payload of a task, also of a remaining one, is a list of (counter, part)."""
    workers = [PartWorker(parts) for _ in range(threads)]
    job.run(tasks, workers)
    return WorkCounters(products=sum(worker.products for worker in workers))


class PartWorker(TaskWorker):
    """A thread that contracts parts, and divides parts that are too expensive."""

    def __init__(self, parts: Parts) -> None:
        self.products = 0
        self._parts = parts

    def do(self, task: Task, job: Job) -> None:
        """Contract the parts of a task, and the parts into which they are divided."""
        remaining_parts: list[tuple[int, BoardPart]] = list(task.payload)
        while remaining_parts:
            counter, part = remaining_parts.pop()
            # ``sum_or_divide_last`` replaces the part by others if it divides it.
            pending = [part]
            value = products = 0
            try:
                value, products = self._parts.sum_or_divide_last(pending, job.flag)
            except Cancelled:
                if not job.stopped:
                    raise
            if job.stopped:  # the sum may be incomplete
                job.return_task(Task([*remaining_parts, (counter, part)], task.weight))
                return
            remaining_parts += [(counter, child) for child in pending]
            # The times of parts are unknown, so all are expected to take the same.
            weight = task.weight / (len(remaining_parts) + 1)
            task.weight -= weight
            job.report([(counter, value)], weight)
            self.products += products
            if remaining_parts and job.ending:
                job.return_task(Task(remaining_parts, task.weight))
                return
            if len(remaining_parts) > 1 and job.idle_workers > 0:
                # The first parts are the largest.
                half = len(remaining_parts) // 2
                task.weight /= 2
                job.share([Task(remaining_parts[:half], task.weight)])
                del remaining_parts[:half]
