"""Plans of contractions: the choice of ``Nine``, ``Join`` or a sum of ``Parts``, and running it.

Contractions are imported here, and this module only where one may be needed: most boards need none.
"""

from __future__ import annotations

import time
from math import inf

import numpy as np

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import NINE, Geometry
from gpusudoku.contraction.general.join import KERNELS, Join
from gpusudoku.contraction.general.parts import MAX_SECONDS, BoardPart, Parts
from gpusudoku.contraction.nine.sum import Nine, stages
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
    found_of,
)
from gpusudoku.results import ContractionStats, Estimates, Stats
from gpusudoku.search.frontier import Frontier

MAX_MAPS = 1 << 20
"""Maps of a stack or band that are listed, at most."""
LOOK_SHARE = 1 / 2
LONG_LOOK_SHARE = 1 / 10
"""The share of another method's time that may be spent on estimating a contraction; and where that
is more than LONG_LOOK seconds."""
LONG_LOOK, MAX_LOOK = 1.0, 10.0
"""See LOOK_SHARE; and the most seconds of all, if there is another method."""
WORTH_PARTS = 10.0
"""If a search takes fewer seconds, a contraction in parts is not worth estimating."""


def kernels_of(geometry: Geometry) -> list[Kernel]:
    """Return the kernels that the contraction of a board and the estimate of its search need."""
    shape = shape_of(geometry.box_rows, geometry.box_columns)
    kernels = stages().of_one_board() if geometry == NINE else KERNELS
    return [cpu.expand(shape, SearchSettings()), *kernels]


def plan_contraction(
    board: Board, roots: Frontier, options: Options, worth: float
) -> ContractionPlan | HybridPlan:
    """Make the plan of the cheapest contraction; see ``contraction_of``.

    An InputError for a board with candidates, which may not follow from its clues.
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
    """Return the cheapest contraction of a board; None if singles show that it has no solution.

    The candidates of the board must follow from its clues; ``roots`` is the board, packed. It may
    take ``memory`` bytes. ``worth`` is the time of another method on one core, in seconds: see
    ``worth_looking``. TooExpensive is raised, with the figures, if the board would take too long
    even in parts.
    """
    simplified = roots.simplified(SearchSettings())
    if not len(simplified):
        return None
    candidates = simplified.candidates[0]
    if board.geometry == NINE:
        return Nine(candidates)
    effort = Effort(worth_looking(worth), worth)
    try:
        join = Join(candidates, board.geometry, most_maps=MAX_MAPS, memory=memory, effort=effort)
        if join.seconds > MAX_SECONDS and worth >= WORTH_PARTS:
            raise TooExpensive(f"too expensive to contract: about {join.seconds:.1e} s")
        return join
    except TooExpensive as whole:
        if worth < WORTH_PARTS:
            raise
        return Parts(board, memory, whole, worth, effort)


def worth_looking(worth: float) -> float:
    """Return the seconds for an estimate, perhaps in vain: a part of the other method's time."""
    if worth == inf:
        return inf
    return min(LOOK_SHARE * worth, max(LONG_LOOK, LONG_LOOK_SHARE * worth), MAX_LOOK)


class _InOneStep(Plan):
    """A plan that is run by one step over all tasks."""

    method = "contraction"

    def part(self, number: int, parts: int) -> Portion:
        """See ``Plan``: tasks that follow each other, as their lists lie in memory."""
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
        stats = self.stats(step.tally, time.perf_counter() - start, step.utilisation)
        return Outcome(np.array([step.count], object), stats, [0] if step.left else [])

    def _prepared(self, threads: int) -> int:
        """Prepare the tasks on so many threads, unless they are, and return their number."""
        return self.tasks()


class ContractionPlan(_InOneStep):
    """The contraction of one board; see ``Plan``. What is left of it are always whole tasks.

    The contraction is None if the board is known to have no solution. It may take ``memory`` bytes.
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
        tally = WorkCounters()
        interrupted = None
        try:
            if self._contraction is None:
                job.run([], [])  # nothing to do, but it may be cancelled
            else:
                tally = engine.contract(self._contraction, portion.tasks, job, self._memory, sums)
        except Interrupted as error:
            interrupted = error
        found = tuple(TaskCount(*each) for each in sorted(sums, key=lambda each: each[0].start))
        left = Portion.of(task.payload for task in job.left) if job.has_run else portion
        return StepResult(found, left, tally, job.seconds, job.utilisation, interrupted)

    def stats(
        self, tally: WorkCounters, seconds: float, utilisation: tuple[float, ...] = ()
    ) -> ContractionStats:
        """See ``Plan``."""
        listing_seconds = 0.0 if self._contraction is None else self._contraction.listing_seconds
        seconds += listing_seconds
        gpu = ", ".join(tally.gpus)
        return ContractionStats(tally.products, seconds, utilisation, bool(gpu), gpu)

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
        place = {number: index for index, number in enumerate(numbers)}
        begun = zip(portion.task_of.tolist(), portion.boards, strict=True)
        todo = [(number, BoardPart(board, geometry)) for number, board in begun]
        todo += [(number, self._parts.tasks[number]) for run in portion.tasks for number in run]
        tasks = [Task([(place[number], part)], 1 / len(todo)) for number, part in todo]
        job = Job(len(numbers), suspend_after=seconds)
        threads = min(engine.threads, self._parts.most_threads(self._memory))
        tally = WorkCounters()
        interrupted = None
        try:
            tally = contract_parts(self._parts, tasks, job, threads)
        except Interrupted as error:
            interrupted = error
        left = portion
        if job.has_run:
            rest = [each for task in job.left for each in task.payload]
            left = Portion.of_boards(
                np.array([part.candidates for _, part in rest], np.uint64),
                np.array([numbers[index] for index, _ in rest], np.int64),
                np.array([part.candidates for part in self._parts.tasks], np.uint64),
            )
        found = found_of(numbers, job.counts, left)
        return StepResult(found, left, tally, job.seconds, job.utilisation, interrupted)

    def stats(
        self, tally: WorkCounters, seconds: float, utilisation: tuple[float, ...] = ()
    ) -> ContractionStats:
        """See ``Plan``."""
        return ContractionStats(tally.products, self._parts.listing_seconds + seconds, utilisation)
