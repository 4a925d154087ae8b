"""Plans of contractions: choose ``NineContraction``, ``Join`` or a sum of ``Parts``, and run it.

This module imports contractions. It is itself imported lazily, because most boards need none.
"""

from __future__ import annotations

import time
from math import inf

import numpy as np

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import NINE, Geometry
from gpusudoku.contraction.general.join import KERNELS, Join
from gpusudoku.contraction.general.parts import MAX_SECONDS, BoardPart, Parts
from gpusudoku.contraction.nine.sum import NineContraction, stages
from gpusudoku.contraction.protocol import Contraction, Effort
from gpusudoku.engines.cpu import contract_parts
from gpusudoku.engines.engine import Engine, Sums, WorkCounters
from gpusudoku.errors import InputError, Interrupted, TooExpensive
from gpusudoku.jobs.cancel import Deadline, cancelling
from gpusudoku.jobs.job import Job, Task, part_of
from gpusudoku.jobs.threads import usable_cores
from gpusudoku.kernels.kernel import Kernel
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.shape import SearchSettings, shape_of
from gpusudoku.options import Options
from gpusudoku.planning.plan import (
    Outcome,
    Plan,
    Portion,
    StepResult,
    TaskCount,
    check_part,
    task_counts,
)
from gpusudoku.results import ContractionStats, Estimates, Stats
from gpusudoku.search.frontier import Frontier

MAX_MAPS = 1 << 20
"""Maps of a stack or band that may be listed."""
ESTIMATE_SHARE = 1 / 2
"""The fraction of another method's time that may be spent on estimating a contraction."""
LONG_ESTIMATE_SHARE = 1 / 10
"""The fraction that may be spent beyond LONG_ESTIMATE_SECONDS."""
LONG_ESTIMATE_SECONDS = 1.0
MAX_ESTIMATE_SECONDS = 10.0
"""The limit of an estimate if there is another method."""
WORTH_PARTS = 10.0
"""If a search takes fewer seconds, a contraction in parts is not estimated."""


def kernels_of(geometry: Geometry) -> list[Kernel]:
    """Return the kernels that a contraction, and the estimate of a search, need."""
    shape = shape_of(geometry.box_rows, geometry.box_columns)
    kernels = stages().of_one_board() if geometry == NINE else KERNELS
    return [cpu.expand(shape, SearchSettings()), *kernels]


def plan_contraction(
    board: Board, roots: Frontier, options: Options, worth: float
) -> ContractionPlan | HybridPlan:
    """Make the plan of the cheapest contraction; see ``contraction_of``.

    Raises
    ------
    InputError
        If the board has given candidates: a contraction needs candidates that follow from clues.
    """
    if board.given_candidates is not None:
        raise InputError(
            "a contraction counts boards of clues; this one carries candidates: use method search"
        )
    memory = options.memory
    contraction = contraction_of(board, roots, memory, worth)
    if isinstance(contraction, Parts):
        return HybridPlan(contraction, memory)
    return ContractionPlan(contraction, memory)


def contraction_of(
    board: Board, roots: Frontier, memory: int, worth: float = inf
) -> Contraction | Parts | None:
    """Return the cheapest contraction of a board, or None if singles prove it has no solution.

    Parameters
    ----------
    board, roots
        The board, and the same board packed. Its candidates must follow from its clues.
    memory
        The memory that the contraction may use, in bytes.
    worth
        The time of another method in seconds on the reference core: see ``estimate_seconds``.

    Raises
    ------
    TooExpensive
        If the board would take too long even in parts.
    """
    # Singles remove candidates, and with them maps of stacks and bands.
    simplified = roots.simplified(SearchSettings())
    if not len(simplified):
        return None
    candidates = simplified.candidates[0]
    if board.geometry == NINE:
        return NineContraction(candidates)
    effort = Effort(estimate_seconds(worth), worth)
    try:
        join = Join(candidates, board.geometry, max_maps=MAX_MAPS, memory=memory, effort=effort)
        # Then the board is divided, as below.
        if join.seconds > MAX_SECONDS and worth >= WORTH_PARTS:
            raise TooExpensive(f"too expensive to contract: about {join.seconds:.1e} s")
        return join
    except TooExpensive as error:
        if worth < WORTH_PARTS:
            raise
        return Parts(board, memory, error, worth, effort)


def estimate_seconds(worth: float) -> float:
    """Return the time that estimating a contraction may take, if another method takes ``worth``.

    The estimate is lost time if the other method is chosen, so it is a fraction of ``worth``.
    """
    if worth == inf:
        return inf
    long_estimate = max(LONG_ESTIMATE_SECONDS, LONG_ESTIMATE_SHARE * worth)
    return min(ESTIMATE_SHARE * worth, long_estimate, MAX_ESTIMATE_SECONDS)


class _InOneStep(Plan):
    """A plan that is run by one step over all tasks."""

    method = "contraction"

    def part(self, number: int, parts: int) -> Portion:
        """See ``Plan``. Takes consecutive tasks, because their lists are adjacent in memory."""
        check_part(number, parts)
        return Portion.of([part_of(self.tasks(), number, parts)])

    def run(self, engine: Engine, *, deadline: Deadline | None = None) -> Outcome[Stats]:
        """See ``Plan``."""
        start = time.perf_counter()
        try:
            with cancelling(deadline):
                portion = Portion.of([range(self._prepared(engine.threads))])
            seconds = inf if deadline is None else deadline.seconds_left
            step = self.step(engine, portion, seconds=seconds)
        except KeyboardInterrupt:  # before the first task
            raise Interrupted("interrupted", 0) from None
        if step.interrupted is not None:
            raise step.interrupted
        stats = self.stats(step.counters, time.perf_counter() - start, step.utilisation)
        unfinished = [0] if step.remaining else []
        return Outcome(np.array([step.count], object), stats, unfinished)

    def _prepared(self, threads: int) -> int:
        """Prepare the tasks on ``threads`` threads, if necessary, and return their number."""
        return self.tasks()


class ContractionPlan(_InOneStep):
    """The contraction of one board; see ``Plan``. The remaining work is always whole tasks.

    ``contraction`` is None if the board is known to have no solution. ``memory`` is the limit of
    its memory in bytes.
    """

    def __init__(self, contraction: Contraction | None, memory: int) -> None:
        self.estimates = Estimates()
        if contraction is not None:
            self.estimates = Estimates(contraction_seconds=contraction.seconds)
        self._contraction = contraction
        self._memory = memory

    @property
    def seconds(self) -> float:
        """See ``Plan``."""
        return 0.0 if self._contraction is None else self._contraction.seconds

    def tasks(self) -> int:
        """See ``Plan``."""
        return self._prepared(usable_cores())

    def step(self, engine: Engine, portion: Portion, *, seconds: float = inf) -> StepResult:
        """See ``Plan``."""
        portion.check(self._prepared(engine.threads), 0)
        job = Job(1, suspend_after=seconds)
        sums = Sums()
        counters = WorkCounters()
        interrupted = None
        try:
            if self._contraction is None:
                job.run([], [])  # nothing to do, but the job may be cancelled
            else:
                counters = engine.contract(
                    self._contraction, portion.tasks, job, self._memory, sums
                )
        except Interrupted as error:
            interrupted = error  # returned with the counts so far, which the caller saves
        counts = [TaskCount(tasks, count) for tasks, count in sums]
        counts.sort(key=lambda task_count: task_count.tasks.start)
        remaining = portion
        if job.has_run:
            remaining = Portion.of(task.payload for task in job.remaining_tasks)
        return StepResult(
            tuple(counts), remaining, counters, job.seconds, job.utilisation, interrupted
        )

    def stats(
        self, counters: WorkCounters, seconds: float, utilisation: tuple[float, ...] = ()
    ) -> ContractionStats:
        """See ``Plan``."""
        if self._contraction is not None:
            seconds += self._contraction.listing_seconds
        gpu = ", ".join(counters.gpus)
        return ContractionStats(counters.products, seconds, utilisation, bool(gpu), gpu)

    def _prepared(self, threads: int) -> int:
        if self._contraction is None:
            return 0
        self._contraction.prepare(threads)
        return self._contraction.tasks


class HybridPlan(_InOneStep):
    """A search by clues whose leaves are contracted, on CPU threads; see ``Plan``.

    Its tasks are parts of the board. What is left of them are parts, too: a board is the masks of
    its cells, uint64 (cells). The contractions may take ``memory`` bytes.
    """

    def __init__(self, parts: Parts, memory: int) -> None:
        self.estimates = Estimates(contraction_seconds=parts.seconds)
        self._parts = parts
        self._memory = memory

    @property
    def seconds(self) -> float:
        """See ``Plan``."""
        return self._parts.seconds

    def tasks(self) -> int:
        """See ``Plan``."""
        return len(self._parts.tasks)

    def step(self, engine: Engine, portion: Portion, *, seconds: float = inf) -> StepResult:
        """See ``Plan``."""
        geometry = self._parts.geometry
        portion.check(self.tasks(), geometry.cells)
        numbers = sorted(portion.unfinished)
        # The job counts the solutions of the tasks by their index in ``numbers``.
        index_of = {number: index for index, number in enumerate(numbers)}
        parts = [
            (number, BoardPart(board, geometry))
            for number, board in zip(portion.task_of.tolist(), portion.boards, strict=True)
        ]
        for whole_tasks in portion.tasks:
            parts += [(number, self._parts.tasks[number]) for number in whole_tasks]
        tasks = [Task([(index_of[number], part)], 1 / len(parts)) for number, part in parts]
        job = Job(len(numbers), suspend_after=seconds)
        threads = min(engine.threads, self._parts.max_threads(self._memory))
        counters = WorkCounters()
        interrupted = None
        try:
            counters = contract_parts(self._parts, tasks, job, threads)
        except Interrupted as error:
            interrupted = error
        remaining = portion
        if job.has_run:
            remaining_parts = [
                indexed_part for task in job.remaining_tasks for indexed_part in task.payload
            ]
            remaining = Portion.of_boards(
                np.array([part.candidates for _, part in remaining_parts], np.uint64),
                np.array([numbers[index] for index, _ in remaining_parts], np.int64),
                np.array([part.candidates for part in self._parts.tasks], np.uint64),
            )
        counts = task_counts(numbers, job.counts, remaining)
        return StepResult(counts, remaining, counters, job.seconds, job.utilisation, interrupted)

    def stats(
        self, counters: WorkCounters, seconds: float, utilisation: tuple[float, ...] = ()
    ) -> ContractionStats:
        """See ``Plan``."""
        seconds += self._parts.listing_seconds
        return ContractionStats(counters.products, seconds, utilisation)
