"""The plan of a search: its tasks are the boards of a frontier."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from math import inf
from typing import Any

import numpy as np

from gpusudoku.board.geometry import Geometry
from gpusudoku.engines.engine import BegunSearch, Engine, WorkCounters
from gpusudoku.errors import Interrupted
from gpusudoku.jobs.cancel import Deadline
from gpusudoku.jobs.forks import cached_property
from gpusudoku.jobs.job import Job
from gpusudoku.kernels.compile_many import ready
from gpusudoku.kernels.kernel import Kernel
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.shape import FIRST, MIN, SearchSettings, shape_of
from gpusudoku.options import Options
from gpusudoku.planning.plan import Outcome, Portion, StepResult, check_part, found_of
from gpusudoku.results import Estimates, SearchStats
from gpusudoku.search.frontier import Cutoff, Frontier, SearchEstimate, estimate_search
from gpusudoku.search.techniques import parse_techniques, technique_names

TASKS = 128
"""The number of tasks that a frontier is expanded to, unless a cutoff is given."""
STRATEGIES = {"first": FIRST, "min": MIN}
"""The constant for every strategy of the options."""
_techniques = cache(parse_techniques)


def search_settings(options: Options) -> SearchSettings:
    """Return the settings of a search with these options."""
    return SearchSettings(_techniques(options.propagate), STRATEGIES[options.strategy])


def search_kernels(
    geometry: Geometry, options: Options, engine: Engine | None = None
) -> list[Kernel]:
    """List the kernels that a search needs, on the CPU if there is no engine."""
    shape = shape_of(geometry.box_rows, geometry.box_columns)
    settings = search_settings(options)
    kernels = [cpu.expand(shape, settings)]
    if engine is None or not engine.has_gpu:
        kernels.append(cpu.run(shape, settings))
    return kernels


class SearchPlan:
    """A search of one or more boards; see ``Plan``.

    The boards are the ``roots``, packed, and its tasks the boards of a frontier: at least
    ``least_tasks``, if there can be so many, or as many as the cutoff of the options says. If the
    search has ``begun``, ``run`` goes on with what is left of it.
    """

    method = "search"

    def __init__(
        self,
        roots: Frontier,
        options: Options,
        least_tasks: int = TASKS,
        begun: BegunSearch | None = None,
    ) -> None:
        self.estimates = Estimates()
        self.settings = search_settings(options)
        self._roots = roots
        self._options = options
        self._least_tasks = least_tasks
        self._begun = begun
        self._geometry = Geometry(roots.shape.box_rows, roots.shape.box_columns)
        self._cutoff = None
        if options.cutoff is not None:
            self._cutoff = Cutoff(options.cutoff, options.cutoff_by == "empty")
        self._frontier: Frontier | None = None

    @cached_property
    def estimate(self) -> SearchEstimate:
        """The estimated nodes, solutions and time of the whole search, whatever the limit."""
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

    def compile(self, engine: Engine) -> int:
        """Compile all that ``run`` needs; return the number of boards that keep the engine busy."""
        ready(search_kernels(self._geometry, self._options, engine))
        return engine.prepare(self._roots, self.settings)

    def run(
        self,
        engine: Engine,
        *,
        deadline: Deadline | None = None,
        on_solutions: Callable[[Any, Any], None] | None = None,
    ) -> Outcome[SearchStats]:
        """See ``Plan``; the deadline never raises Cancelled.

        ``on_solutions`` is called with solutions as they are found, uint8 (k, cells), and the
        indices of their roots, int64 (k). It may block.
        """
        deadline = deadline or Deadline(inf)
        limit = self._options.limit
        job = Job(len(self._roots), limit, on_solutions, np.uint64, deadline=deadline)
        if self._begun is not None:
            job.numbers += np.uint64(self._begun.number)
        try:
            with deadline.paused():
                width = self.compile(engine)
            self._expect(job)
            start = time.perf_counter()
            frontier = self._expanded(job)
            if self._cutoff is None:
                frontier = frontier.expanded(self.settings, width, job=job)
            expanded = time.perf_counter()
            tally = engine.explore(frontier, self.settings, job)
        except KeyboardInterrupt:
            raise Interrupted("interrupted", job.total) from None
        seconds = time.perf_counter() - start
        if self._begun is not None:  # its nodes and guesses are those of the frontier, too
            seconds += self._begun.seconds
            tally.deepest = max(tally.deepest, self._begun.counters.deepest)
        stats = search_stats(
            self._options,
            tally,
            seconds,
            job.utilisation,
            frontier=frontier,
            width=width,
            roots=len(self._roots),
        )
        stats = replace(stats, expansion_seconds=expanded - start)
        unfinished = {root for task in job.left for root in np.unique(task.payload.roots).tolist()}
        if limit is not None:  # a root that has reached it is not searched to its end
            unfinished -= set(np.flatnonzero(job.numbers >= limit).tolist())
        return Outcome(job.numbers, stats, sorted(unfinished))

    def step(
        self,
        engine: Engine,
        portion: Portion,
        *,
        seconds: float = inf,
        on_solutions: Callable[[Any, Any], None] | None = None,
    ) -> StepResult:
        """See ``Plan``. ``on_solutions`` is as in ``run``, but its indices mean nothing."""
        width = self.compile(engine)
        assert self._begun is None, "only run goes on with a search that has begun"
        whole = self._expanded(None)
        portion.check(len(whole), whole.shape.words)
        # Boards that are left come first: they were split more often, and are sooner done.
        tasks_of = [portion.task_of, *(np.arange(run.start, run.stop) for run in portion.tasks)]
        boards = [portion.boards, *(whole.boards[run.start : run.stop] for run in portion.tasks)]
        tasks, roots = np.unique(np.concatenate(tasks_of), return_inverse=True)
        rows = np.concatenate([each.reshape(-1, whole.shape.words) for each in boards])
        rows = rows.astype(whole.shape.word, copy=False)
        frontier = Frontier(whole.shape, rows, roots.astype(np.int64))
        job = Job(len(tasks), None, on_solutions, np.uint64, suspend_after=seconds)
        tally = WorkCounters()
        interrupted = None
        self._expect(job)
        try:
            if self._cutoff is None:
                frontier = frontier.expanded(self.settings, width, job=job)
            tally = engine.explore(frontier, self.settings, job)
            tally.add(WorkCounters(frontier.nodes, frontier.guesses))
        except Interrupted as error:
            interrupted = error
        left = portion
        if job.has_run:
            rest = [task.payload for task in job.left]
            left = Portion.of_boards(
                np.concatenate([rows[:0], *(each.boards for each in rest)]),
                tasks[np.concatenate([roots[:0], *(each.roots for each in rest)])],
                whole.boards,
            )
        found = found_of(tasks.tolist(), job.counts, left)
        return StepResult(found, left, tally, job.seconds, job.utilisation, interrupted)

    def stats(
        self, tally: WorkCounters, seconds: float, utilisation: tuple[float, ...] = ()
    ) -> SearchStats:
        """See ``Plan``."""
        frontier = self._expanded(None)
        width = self._least_tasks
        return search_stats(
            self._options, tally, seconds, utilisation, frontier=frontier, width=width
        )

    def _expect(self, job: Job) -> None:
        """Set the work of a job that is watched to the estimate, which is no more than a guess."""
        if job.is_watched:
            job.whole = self.estimate.nodes
            job.doubt = 0.0 if self.estimate.exact else job.whole

    def _expanded(self, job: Job | None) -> Frontier:
        """Return the frontier of all tasks, made once unless the job ends meanwhile."""
        if self._frontier is None:
            start = self._roots if self._begun is None else self._begun.remaining
            frontier = start.expanded(self.settings, self._least_tasks, self._cutoff, job)
            if job is not None and job.ending:
                return frontier
            self._frontier = frontier
        return self._frontier


def search_stats(
    options: Options,
    counters: WorkCounters,
    seconds: float,
    utilisation: tuple[float, ...],
    *,
    frontier: Frontier | None = None,
    width: int = TASKS,
    roots: int = 1,
) -> SearchStats:
    """Return the statistics of a search, of which ``width`` boards were to be the frontier.

    Without a frontier it began with the only root. The counters are those of the search from there
    on.
    """
    total = counters
    if frontier is not None:
        total = WorkCounters(frontier.nodes, frontier.guesses)
        total.add(counters)
    return SearchStats(
        strategy=options.strategy,
        propagate=technique_names(_techniques(options.propagate)),
        cutoff=options.cutoff,
        cutoff_by=options.cutoff_by,
        cutoff_reached=frontier is None or not frontier.capped,
        frontier_width=width,
        frontier_boards=1 if frontier is None else len(frontier),
        boards_explored=roots + total.guesses,
        nodes=total.nodes,
        deepest=total.deepest,
        seconds=seconds,
        expansion_seconds=0.0,
        utilisation=utilisation,
        **total.gpu_search,
    )


def quick_outcome(begun: BegunSearch, options: Options, engine: Engine) -> Outcome[SearchStats]:
    """Return the outcome of a finished quick search, during which all workers but one were idle."""
    utilisation = (1.0,) + (0.0,) * (engine.workers - 1)
    stats = search_stats(options, begun.counters, begun.seconds, utilisation)
    return Outcome(np.array([begun.number], np.uint64), stats)
