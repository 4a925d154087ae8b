"""Plans of contractions: of a whole board, and of one that clues divide into parts."""

from __future__ import annotations

import time
from math import inf

import numpy as np

from gpusudoku.contraction.general.parts import BoardPart, Parts
from gpusudoku.contraction.protocol import Contraction
from gpusudoku.engines.cpu import contract_parts
from gpusudoku.engines.engine import Engine, Sums, WorkCounters
from gpusudoku.errors import Interrupted
from gpusudoku.jobs.cancel import Deadline, cancelling
from gpusudoku.jobs.cores import usable_cores
from gpusudoku.jobs.job import Job, Task, part_of
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

    def __init__(self, contraction: Contraction | None, memory: int, estimates: Estimates) -> None:
        self.estimates = estimates
        self._contraction, self._memory = contraction, memory

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
        job, sums = Job(1, suspend_after=seconds), Sums()
        tally, interrupted = WorkCounters(), None
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

    def __init__(self, parts: Parts, memory: int, estimates: Estimates) -> None:
        self.estimates = estimates
        self._parts, self._memory = parts, memory

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
        tally, interrupted = WorkCounters(), None
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
