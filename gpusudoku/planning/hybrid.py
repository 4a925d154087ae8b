"""The plan of a board that is divided by clues into parts, which are contracted."""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import inf

import numpy as np

from gpusudoku.contraction.general.parts import BoardPart, Parts
from gpusudoku.engines.cpu import contract_parts
from gpusudoku.engines.engine import Engine, WorkCounters
from gpusudoku.errors import Interrupted
from gpusudoku.jobs.job import Job, Task
from gpusudoku.planning.plan import Outcome
from gpusudoku.planning.portion import Portion, Step
from gpusudoku.planning.stepping import check_portion, found_of, rest_of, run_of_tasks, step_of
from gpusudoku.results import ContractionStats, Estimates


class HybridPlan:
    """A search by clues whose leaves are contracted, on CPU threads; see ``Plan``.

    Its tasks are parts of the board. What is left of them are parts, too: a board is the masks of
    its cells, uint64 (cells).

    Parameters
    ----------
    parts
        The board, and how it is divided.
    memory
        The bytes that the contractions may take.
    estimates
        What was estimated before.
    """

    method = "contraction"

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

    def part(self, number: int, parts: int) -> Portion:
        """See ``Plan``."""
        return run_of_tasks(self.tasks(), number, parts)

    def run(self, engine: Engine) -> Outcome[ContractionStats]:
        """Sum; see ``Plan``."""
        job, start = Job(1), time.perf_counter()
        try:
            tasks = [Task([(0, part)], 1 / self.tasks()) for part in self._parts.tasks]
            tally = contract_parts(self._parts, tasks, job, self._threads(engine))
        except KeyboardInterrupt:  # before the first task
            raise Interrupted("interrupted", 0) from None
        seconds = time.perf_counter() - start
        return Outcome(job.numbers, self.stats(tally, seconds, job.utilisation))

    def step(self, engine: Engine, portion: Portion, *, seconds: float = inf) -> Step:
        """See ``Plan``."""
        check_portion(portion, self.tasks(), self._parts.geometry.cells)
        numbers = sorted(portion.unfinished)
        place = {number: index for index, number in enumerate(numbers)}
        begun = zip(portion.task_of.tolist(), portion.boards, strict=True)
        todo = [(number, BoardPart(board, self._parts.geometry)) for number, board in begun]
        todo += [(number, self._parts.tasks[number]) for run in portion.tasks for number in run]
        tasks = [Task([(place[number], part)], 1 / len(todo)) for number, part in todo]
        job = Job(len(numbers), suspend_after=seconds)
        tally, interrupted = WorkCounters(), None
        try:
            tally = contract_parts(self._parts, tasks, job, self._threads(engine))
        except Interrupted as error:
            interrupted = error
        rest = [(numbers[index], part) for task in job.left for index, part in task.payload]
        left = self._portion_of(rest) if job.has_run else portion
        return step_of(job, found_of(numbers, job.counts, left), left, tally, interrupted)

    def stats(
        self, tally: WorkCounters, seconds: float, utilisation: tuple[float, ...] = ()
    ) -> ContractionStats:
        """See ``Plan``."""
        return ContractionStats(tally.products, self._parts.listing_seconds + seconds, utilisation)

    def _threads(self, engine: Engine) -> int:
        return min(engine.threads, self._parts.most_threads(self._memory))

    def _portion_of(self, left: Sequence[tuple[int, BoardPart]]) -> Portion:
        """What is left."""
        if not left:
            return Portion.of([])
        boards = np.stack([part.candidates for _, part in left])
        whole = np.stack([part.candidates for part in self._parts.tasks])
        return rest_of(boards, np.array([number for number, _ in left]), whole)
