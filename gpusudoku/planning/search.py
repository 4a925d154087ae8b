"""The plan of a search: packed boards, a frontier whose boards are the tasks, and how to run it.

Boards that are searched together have one plan, and a root each.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board, single_digits
from gpusudoku.board.geometry import Geometry
from gpusudoku.engines.engine import Engine, Tally
from gpusudoku.errors import Interrupted
from gpusudoku.jobs.job import Job
from gpusudoku.kernels.compiling import ready
from gpusudoku.kernels.kernel import Kernel
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.layout import layout_of
from gpusudoku.kernels.search.settings import FIRST, MIN, SearchSettings
from gpusudoku.options import Options
from gpusudoku.planning.plan import Outcome
from gpusudoku.planning.portion import Portion, Step
from gpusudoku.planning.stepping import check_part, check_portion, found_of, rest_of, step_of
from gpusudoku.results import Estimates, SearchStats
from gpusudoku.search.estimate import SearchEstimate, estimate_search
from gpusudoku.search.frontier import Cutoff, Frontier
from gpusudoku.search.techniques import parse_techniques, technique_names

TASKS = 128
"""The number of tasks that a frontier is expanded to, unless a cutoff is given."""


STRATEGIES = {"first": FIRST, "min": MIN}
"""The constant for every strategy of the options."""


def search_settings(options: Options) -> SearchSettings:
    """What a search does at every node."""
    return SearchSettings(parse_techniques(options.propagate), STRATEGIES[options.strategy])


def search_kernels(
    geometry: Geometry, options: Options, engine: Engine | None = None
) -> list[Kernel]:
    """What a search needs compiled; None stands for an engine's CPU.

    Many boards are also packed by a compiled function, few are not.
    """
    layout = layout_of(geometry.box_rows, geometry.box_columns)
    settings = search_settings(options)
    kernels = [cpu.expand(layout, settings)]
    if engine is None or engine.name == "cpu":
        kernels.append(cpu.run(layout, settings))
    return kernels


class SearchPlan:
    """A search of one or more boards; see ``Plan``. Its tasks are frontier boards.

    Parameters
    ----------
    roots
        The boards, packed.
    options
        How to search. The device and its workers are the engine's.
    estimates
        What was estimated before.
    least_tasks
        The frontier has at least so many boards, if there can be so many; not with a cutoff.
    """

    method = "search"

    def __init__(
        self,
        roots: Frontier,
        options: Options,
        estimates: Estimates | None = None,
        least_tasks: int = TASKS,
    ) -> None:
        self.estimates = estimates or Estimates()
        self.settings = search_settings(options)
        self._roots, self._options, self._least_tasks = roots, options, least_tasks
        self._cutoff = None
        if options.cutoff is not None:
            self._cutoff = Cutoff(options.cutoff, options.cutoff_by == "empty")
        self._frontier: Frontier | None = None

    @cached_property
    def estimate(self) -> SearchEstimate:
        """Nodes, solutions and time of the whole search, whatever the limit."""
        return estimate_search(self._roots, self.settings)

    @property
    def seconds(self) -> float:
        """See ``Plan``."""
        return self.estimate.seconds(self._options.limit)

    def tasks(self) -> int:
        """See ``Plan``."""
        return len(self._expanded(None))

    def part(self, number: int, parts: int) -> Portion:
        """See ``Plan``: tasks far apart, as those that follow each other tend to be alike."""
        check_part(number, parts)
        return Portion.of(range(task, task + 1) for task in range(number - 1, self.tasks(), parts))

    def board_of(self, task: int) -> Board:
        """See ``Plan``: one with candidates, some of which were guessed away."""
        frontier = self._expanded(None).part(task, task + 1)
        [candidates], [fixed] = frontier.candidates, frontier.fixed
        cells = np.where(fixed, single_digits(candidates), 0)
        return Board(cells, self._geometry, candidates=candidates)

    @property
    def _geometry(self) -> Geometry:
        layout = self._roots.layout
        return Geometry(layout.box_rows, layout.box_columns)

    def compile(self, engine: Engine) -> int:
        """Compile all that ``run`` needs; returns how many boards keep the engine busy."""
        ready(search_kernels(self._geometry, self._options, engine))
        return engine.prepare(self._roots, self.settings)

    def run(
        self,
        engine: Engine,
        *,
        on_solutions: Callable[[Any, Any], None] | None = None,
    ) -> Outcome[SearchStats]:
        """Search; see ``Plan``.

        ``on_solutions`` is given the solutions as they are found, uint8 (k, cells), and the indices
        of their roots, int64 (k). It may block.
        """
        job = Job(len(self._roots), self._options.limit, on_solutions, np.uint64)
        try:
            width = self.compile(engine)
            start = time.perf_counter()
            frontier = self._expanded(job)
            if self._cutoff is None:
                frontier = frontier.expanded(self.settings, width, job=job)
            expanded = time.perf_counter()
            tally = engine.explore(frontier, self.settings, job)
        except KeyboardInterrupt:
            raise Interrupted("interrupted", job.total) from None
        seconds = time.perf_counter() - start
        stats = self._stats(frontier, tally, seconds, job.utilisation)
        return Outcome(
            job.numbers,
            replace(stats, frontier_width=width, expansion_seconds=expanded - start),
        )

    def step(
        self,
        engine: Engine,
        portion: Portion,
        *,
        seconds: float = inf,
        on_solutions: Callable[[Any, Any], None] | None = None,
    ) -> Step:
        """See ``Plan``. ``on_solutions`` is as in ``run``, but with indices that tell nothing."""
        width = self.compile(engine)
        whole = self._expanded(None)
        check_portion(portion, len(whole), whole.layout.words)
        frontier, tasks = _boards_of(whole, portion)
        job = Job(len(tasks), None, on_solutions, np.uint64, suspend_after=seconds)
        tally, interrupted = Tally(), None
        try:
            if self._cutoff is None:
                frontier = frontier.expanded(self.settings, width, job=job)
            tally = engine.explore(frontier, self.settings, job)
            tally.add(Tally(frontier.nodes, frontier.guesses))
        except Interrupted as error:
            interrupted = error
        left = _portion_of(whole, [task.payload for task in job.left], tasks)
        left = left if job.has_run else portion
        found = found_of(tasks.tolist(), job.counts, left)
        return step_of(job, found, left, tally, interrupted)

    def stats(
        self, tally: Tally, seconds: float, utilisation: tuple[float, ...] = ()
    ) -> SearchStats:
        """See ``Plan``."""
        return self._stats(self._expanded(None), tally, seconds, utilisation)

    def _expanded(self, job: Job | None) -> Frontier:
        """The frontier of all tasks, made once unless the job is stopped meanwhile."""
        if self._frontier is None:
            frontier = self._roots.expanded(self.settings, self._least_tasks, self._cutoff, job)
            if job is not None and job.stopped:
                return frontier
            self._frontier = frontier
        return self._frontier

    def _stats(
        self, frontier: Frontier, tally: Tally, seconds: float, utilisation: tuple[float, ...]
    ) -> SearchStats:
        options = self._options
        return SearchStats(
            strategy=options.strategy,
            propagate=technique_names(self.settings.techniques),
            cutoff=options.cutoff,
            cutoff_by=options.cutoff_by,
            cutoff_reached=not frontier.capped,
            frontier_width=self._least_tasks,
            frontier_boards=len(frontier),
            boards_explored=len(self._roots) + frontier.guesses + tally.guesses,
            nodes=frontier.nodes + tally.nodes,
            deepest=tally.deepest,
            seconds=seconds,
            expansion_seconds=0.0,
            utilisation=utilisation,
        )


def _boards_of(whole: Frontier, portion: Portion) -> tuple[Frontier, NDArray[np.int64]]:
    """A portion as a frontier whose roots are indices of its tasks, and their numbers, int64 (k).

    Boards that are left come first: they were split more often, and are sooner done.
    """
    fresh = [np.arange(run.start, run.stop) for run in portion.tasks]
    boards = [whole.boards[run.start : run.stop] for run in portion.tasks]
    if len(portion.boards):
        fresh.insert(0, portion.task_of)
        boards.insert(0, portion.boards)
    task_of = np.concatenate([np.zeros(0, np.int64), *fresh])
    tasks, roots = np.unique(task_of, return_inverse=True)
    rows = np.concatenate([np.zeros((0, whole.layout.words), np.uint64), *boards])
    return Frontier(whole.layout, rows, roots.astype(np.int64)), tasks


def _portion_of(whole: Frontier, left: list[Frontier], tasks: NDArray[np.int64]) -> Portion:
    """What is left."""
    if not left:
        return Portion.of([])
    boards = np.concatenate([frontier.boards for frontier in left])
    task_of = tasks[np.concatenate([frontier.roots for frontier in left])]
    return rest_of(boards, task_of, whole.boards)
