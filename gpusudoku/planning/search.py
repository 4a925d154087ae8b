"""The plan of a search: packed boards, a frontier whose boards are the tasks, and how to run it.

Boards that are searched together have one plan, and a root each.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from gpusudoku.board.geometry import Geometry
from gpusudoku.engines.engine import Engine, Tally
from gpusudoku.errors import Interrupted
from gpusudoku.jobs.cancel import CancelToken
from gpusudoku.jobs.job import Job, Progress
from gpusudoku.kernels.compiling import ready
from gpusudoku.kernels.kernel import Kernel
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.layout import layout_of
from gpusudoku.kernels.search.settings import FIRST, MIN, SearchSettings
from gpusudoku.options import Options
from gpusudoku.planning.plan import Outcome, check_tasks
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
    """

    method = "search"

    def __init__(
        self, roots: Frontier, options: Options, estimates: Estimates | None = None
    ) -> None:
        self.estimates = estimates or Estimates()
        self.settings = search_settings(options)
        self._roots, self._options = roots, options
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

    def compile(self, engine: Engine) -> int:
        """Compile all that ``run`` needs; returns how many boards keep the engine busy."""
        layout = self._roots.layout
        geometry = Geometry(layout.box_rows, layout.box_columns)
        ready(search_kernels(geometry, self._options, engine))
        return engine.prepare(self._roots, self.settings)

    def run(
        self,
        engine: Engine,
        *,
        tasks: range | None = None,
        on_solutions: Callable[[Any, Any], None] | None = None,
        cancel: CancelToken | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Outcome[SearchStats]:
        """Search; see ``Plan``.

        The statistics of some tasks leave out what was done to make the tasks. ``on_solutions`` is
        given the solutions as they are found, uint8 (k, cells), and the indices
        of their roots, int64 (k). It may block.
        """
        job = Job(len(self._roots), self._options.limit, on_solutions, np.uint64, cancel)
        try:
            width = self.compile(engine)
            start = time.perf_counter()
            frontier = self._expanded(job)
            if tasks is not None and not job.stopped:
                check_tasks(tasks, len(frontier))
                part = frontier.part(tasks.start, tasks.stop)
                frontier = replace(part, capped=frontier.capped)
            if self._cutoff is None:
                frontier = frontier.expanded(self.settings, width, job=job)
            expanded = time.perf_counter()
            tally = engine.explore(frontier, self.settings, job, progress)
        except KeyboardInterrupt:
            raise Interrupted("interrupted", job.total) from None
        seconds = time.perf_counter() - start, expanded - start
        return Outcome(job.numbers, self._stats(frontier, tally, width, job, seconds))

    def _expanded(self, job: Job | None) -> Frontier:
        """The frontier of all tasks, made once unless the job is stopped meanwhile."""
        if self._frontier is None:
            frontier = self._roots.expanded(self.settings, TASKS, self._cutoff, job)
            if job is not None and job.stopped:
                return frontier
            self._frontier = frontier
        return self._frontier

    def _stats(
        self, frontier: Frontier, tally: Tally, width: int, job: Job, seconds: tuple[float, float]
    ) -> SearchStats:
        options = self._options
        return SearchStats(
            strategy=options.strategy,
            propagate=technique_names(self.settings.techniques),
            cutoff=options.cutoff,
            cutoff_by=options.cutoff_by,
            cutoff_reached=not frontier.capped,
            frontier_width=width,
            frontier_boards=len(frontier),
            boards_explored=len(self._roots) + frontier.guesses + tally.guesses,
            nodes=frontier.nodes + tally.nodes,
            deepest=tally.deepest,
            seconds=seconds[0],
            expansion_seconds=seconds[1],
            utilisation=job.utilisation,
        )
