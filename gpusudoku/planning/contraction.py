"""The plan of a contraction: prepared from the packed board, run by an engine."""

from __future__ import annotations

import time
from math import inf

from gpusudoku.contraction.protocol import Contraction
from gpusudoku.engines.engine import Engine, Sums, WorkCounters
from gpusudoku.errors import Interrupted
from gpusudoku.jobs.cores import usable_cores
from gpusudoku.jobs.job import Job
from gpusudoku.planning.plan import Outcome
from gpusudoku.planning.portion import Found, Portion, Step
from gpusudoku.planning.stepping import check_portion, run_of_tasks, step_of
from gpusudoku.results import ContractionStats, Estimates


class ContractionPlan:
    """The contraction of one board; see ``Plan``. What is left of it are always whole tasks.

    Parameters
    ----------
    contraction
        Ready to run; None if the board is known to have no solution.
    memory
        The bytes that it may take.
    estimates
        What was estimated before.
    """

    method = "contraction"

    def __init__(self, contraction: Contraction | None, memory: int, estimates: Estimates) -> None:
        self.estimates = estimates
        self._contraction, self._memory = contraction, memory

    @property
    def seconds(self) -> float:
        """See ``Plan``."""
        return 0.0 if self._contraction is None else self._contraction.seconds

    def tasks(self) -> int:
        """See ``Plan``."""
        if self._contraction is None:
            return 0
        self._contraction.prepare(usable_cores())
        return self._contraction.tasks

    def part(self, number: int, parts: int) -> Portion:
        """See ``Plan``: tasks that follow each other, as their lists lie in memory."""
        return run_of_tasks(self.tasks(), number, parts)

    def run(self, engine: Engine) -> Outcome[ContractionStats]:
        """Sum; see ``Plan``."""
        job, sums, start = Job(1), Sums(), time.perf_counter()
        try:
            tally = self._sum(engine, None, job, sums)
        except KeyboardInterrupt:  # before the first task
            raise Interrupted("interrupted", 0) from None
        seconds = time.perf_counter() - start
        return Outcome(job.numbers, self.stats(tally, seconds, job.utilisation))

    def step(self, engine: Engine, portion: Portion, *, seconds: float = inf) -> Step:
        """See ``Plan``."""
        check_portion(portion, self.tasks(), 0)
        job, sums = Job(1, suspend_after=seconds), Sums()
        tally, interrupted = WorkCounters(), None
        try:
            tally = self._sum(engine, portion, job, sums)
        except Interrupted as error:
            interrupted = error
        found = [Found(*each) for each in sorted(sums, key=lambda each: each[0].start)]
        left = Portion.of(task.payload for task in job.left) if job.has_run else portion
        return step_of(job, found, left, tally, interrupted)

    def stats(
        self, tally: WorkCounters, seconds: float, utilisation: tuple[float, ...] = ()
    ) -> ContractionStats:
        """See ``Plan``."""
        listing_seconds = 0.0 if self._contraction is None else self._contraction.listing_seconds
        return ContractionStats(tally.products, listing_seconds + seconds, utilisation)

    def _sum(self, engine: Engine, portion: Portion | None, job: Job, sums: Sums) -> WorkCounters:
        """Sum a portion, or all."""
        if self._contraction is None:
            job.run([], [])  # nothing to do, but it may be cancelled
            return WorkCounters()
        self._contraction.prepare(engine.threads)
        if portion is None:
            portion = Portion.of([range(self._contraction.tasks)])
        return engine.contract(self._contraction, portion.tasks, job, self._memory, sums)
