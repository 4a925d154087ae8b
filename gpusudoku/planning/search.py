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
from gpusudoku.kernels.compile_many import load_kernels
from gpusudoku.kernels.kernel import Kernel
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.shape import FEWEST_CANDIDATES, FIRST_CELL, SearchSettings, shape_of
from gpusudoku.options import Options
from gpusudoku.planning.plan import Outcome, Portion, StepResult, check_part, task_counts
from gpusudoku.results import Estimates, SearchStats
from gpusudoku.search.frontier import Cutoff, Frontier, SearchEstimate, estimate_search
from gpusudoku.search.techniques import parse_techniques, technique_names

TASKS = 128
"""The number of tasks of a search, if there is no cutoff."""
STRATEGIES = {"first": FIRST_CELL, "min": FEWEST_CANDIDATES}
"""The constants of kernels for the strategies of the options."""
# Cached, because parsing the names would take a good part of the time of a short search.
_techniques = cache(parse_techniques)


def search_settings(options: Options) -> SearchSettings:
    """Return the settings of a search with these options."""
    return SearchSettings(_techniques(options.propagate), STRATEGIES[options.strategy])


def search_kernels(
    geometry: Geometry, options: Options, engine: Engine | None = None
) -> list[Kernel]:
    """Return the kernels that a search needs on the CPU; without an engine, the CPU searches."""
    shape = shape_of(geometry.box_rows, geometry.box_columns)
    settings = search_settings(options)
    kernels = [cpu.expand(shape, settings)]
    if engine is None or not engine.has_gpu:
        kernels.append(cpu.run(shape, settings))
    return kernels


class SearchPlan:
    """A search of one or more boards; see ``Plan``.

    ``roots`` are the packed boards to search. The tasks are the boards of a frontier. There are at
    least ``min_tasks`` of them, unless the tree has fewer nodes; with a cutoff, the cutoff decides.
    If the search has ``begun``, ``run`` continues it.
    """

    method = "search"

    def __init__(
        self,
        roots: Frontier,
        options: Options,
        min_tasks: int = TASKS,
        begun: BegunSearch | None = None,
    ) -> None:
        self.estimates = Estimates()
        self.settings = search_settings(options)
        self._roots = roots
        self._options = options
        self._min_tasks = min_tasks
        self._begun = begun
        self._geometry = Geometry(roots.shape.box_rows, roots.shape.box_columns)
        self._cutoff = None
        if options.cutoff is not None:
            self._cutoff = Cutoff(options.cutoff, options.cutoff_by == "empty")
        self._frontier: Frontier | None = None

    @cached_property
    def estimate(self) -> SearchEstimate:
        """The estimated nodes, solutions and time of the whole search, without the limit."""
        return estimate_search(self._roots, self.settings)

    @property
    def seconds(self) -> float:
        """See ``Plan``."""
        return self.estimate.seconds(self._options.limit)

    def tasks(self) -> int:
        """See ``Plan``."""
        return len(self._expanded(None))

    def part(self, number: int, parts: int) -> Portion:
        """See ``Plan``. Takes every n-th task: consecutive tasks tend to take similar times."""
        check_part(number, parts)
        return Portion.of(range(task, task + 1) for task in range(number - 1, self.tasks(), parts))

    def compile(self, engine: Engine) -> int:
        """Compile what ``run`` needs. Return the number of boards that keep the engine busy."""
        load_kernels(search_kernels(self._geometry, self._options, engine))
        return engine.prepare(self._roots, self.settings)

    def run(
        self,
        engine: Engine,
        *,
        deadline: Deadline | None = None,
        on_solutions: Callable[[Any, Any], None] | None = None,
    ) -> Outcome[SearchStats]:
        """See ``Plan``. The deadline never raises Cancelled.

        ``on_solutions`` is called during the search with solutions, uint8 (k, cells), and the
        indices of their roots, int64 (k). It may block.
        """
        deadline = deadline or Deadline(inf)
        limit = self._options.limit
        job = Job(len(self._roots), limit, on_solutions, np.uint64, deadline=deadline)
        if self._begun is not None:
            # Added first, because the job stops when its counters reach the limit.
            job.numbers += np.uint64(self._begun.number)
        try:
            with deadline.paused():
                width = self.compile(engine)
            self._expect(job)
            start = time.perf_counter()
            frontier = self._expanded(job)
            # The tasks may be fewer than the boards that keep the engine busy.
            if self._cutoff is None:
                frontier = frontier.expanded(self.settings, width, job=job)
            expansion_seconds = time.perf_counter() - start
            counters = engine.explore(frontier, self.settings, job)
        except KeyboardInterrupt:
            raise Interrupted("interrupted", job.total) from None
        seconds = time.perf_counter() - start
        if self._begun is not None:
            # Its nodes and guesses are already counted, by the frontier.
            seconds += self._begun.seconds
            counters.deepest = max(counters.deepest, self._begun.counters.deepest)
        stats = search_stats(
            self._options,
            counters,
            seconds,
            job.utilisation,
            frontier=frontier,
            width=width,
            roots=len(self._roots),
        )
        stats = replace(stats, expansion_seconds=expansion_seconds)
        unfinished = {
            root for task in job.remaining_tasks for root in np.unique(task.payload.roots).tolist()
        }
        if limit is not None:
            # A root that has reached the limit is finished, although boards of it remain.
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
        """See ``Plan``. ``on_solutions`` is as in ``run``, but its indices have no meaning."""
        width = self.compile(engine)
        assert self._begun is None, "only run continues a search that has begun"
        all_tasks = self._expanded(None)
        words = all_tasks.shape.words
        portion.check(len(all_tasks), words)
        # Remaining boards come first: they were split more often, so they take less time.
        task_of = [portion.task_of]
        boards = [portion.boards.reshape(-1, words)]
        for tasks in portion.tasks:
            task_of.append(np.arange(tasks.start, tasks.stop))
            boards.append(all_tasks.boards[tasks.start : tasks.stop])
        rows = np.concatenate(boards).astype(all_tasks.shape.word, copy=False)
        # The roots of this frontier are the tasks, numbered from 0, so that each has its count.
        numbers, roots = np.unique(np.concatenate(task_of), return_inverse=True)
        frontier = Frontier(all_tasks.shape, rows, roots.astype(np.int64))
        job = Job(len(numbers), None, on_solutions, np.uint64, suspend_after=seconds)
        counters = WorkCounters()
        interrupted = None
        self._expect(job)
        try:
            if self._cutoff is None:
                frontier = frontier.expanded(self.settings, width, job=job)
            counters = engine.explore(frontier, self.settings, job)
            counters.add(WorkCounters(frontier.nodes, frontier.guesses))
        except Interrupted as error:
            interrupted = error
        remaining = portion
        if job.has_run:
            frontiers = [task.payload for task in job.remaining_tasks]
            remaining = Portion.of_boards(
                np.concatenate([rows[:0], *(part.boards for part in frontiers)]),
                numbers[np.concatenate([roots[:0], *(part.roots for part in frontiers)])],
                all_tasks.boards,
            )
        counts = task_counts(numbers.tolist(), job.counts, remaining)
        return StepResult(counts, remaining, counters, job.seconds, job.utilisation, interrupted)

    def stats(
        self, counters: WorkCounters, seconds: float, utilisation: tuple[float, ...] = ()
    ) -> SearchStats:
        """See ``Plan``."""
        return search_stats(
            self._options,
            counters,
            seconds,
            utilisation,
            frontier=self._expanded(None),
            width=self._min_tasks,
        )

    def _expect(self, job: Job) -> None:
        """Set the expected work of a job that is watched to the estimate, which may be far off."""
        if job.is_watched:
            job.expected_work = self.estimate.nodes
            job.uncertainty = 0.0 if self.estimate.exact else job.expected_work

    def _expanded(self, job: Job | None) -> Frontier:
        """Return the frontier of all tasks. It is made once, unless the job ends meanwhile."""
        if self._frontier is None:
            start = self._roots if self._begun is None else self._begun.remaining
            frontier = start.expanded(self.settings, self._min_tasks, self._cutoff, job)
            if job is not None and job.ending:
                return frontier  # incomplete, so it is not kept
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
    """Return the statistics of a search.

    ``counters`` are those of the search after the frontier was made. ``width`` is the number of
    boards that the frontier should have. Without a frontier, the search started with the root.
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
    """Return the outcome of a finished quick search, in which only one worker was busy."""
    utilisation = (1.0,) + (0.0,) * (engine.workers - 1)
    stats = search_stats(options, begun.counters, begun.seconds, utilisation)
    return Outcome(np.array([begun.number], np.uint64), stats)
