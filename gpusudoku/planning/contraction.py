"""The plan of a contraction: prepared from the packed board, run by an engine."""

from __future__ import annotations

import time
from collections.abc import Callable

from gpusudoku.contraction.protocol import Contraction
from gpusudoku.engines.engine import Engine
from gpusudoku.errors import Interrupted
from gpusudoku.jobs.cancel import CancelToken
from gpusudoku.jobs.job import Job, Progress
from gpusudoku.planning.plan import Outcome, check_tasks
from gpusudoku.results import ContractionStats, Estimates


class ContractionPlan:
    """The contraction of one board; see ``Plan``.

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
        self._contraction.prepare(1)
        return self._contraction.tasks

    def run(
        self,
        engine: Engine,
        *,
        tasks: range | None = None,
        cancel: CancelToken | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Outcome[ContractionStats]:
        """Sum; see ``Plan``."""
        job = Job(1, cancel=cancel)
        contraction, listing_seconds, products = self._contraction, 0.0, 0
        start = time.perf_counter()
        try:
            if tasks is not None:
                check_tasks(tasks, self.tasks())
            if contraction is None:
                job.run([], [])  # nothing to do, but it may be cancelled
            else:
                listing_seconds = contraction.listing_seconds
                products = engine.contract(contraction, tasks, job, self._memory, progress)
        except KeyboardInterrupt:  # before the first task
            raise Interrupted("interrupted", 0) from None
        seconds = listing_seconds + time.perf_counter() - start
        return Outcome(job.numbers, ContractionStats(products, seconds, job.utilisation))
