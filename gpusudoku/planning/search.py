"""One search: pack the boards, widen the frontier, let the engine explore it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.engines import Engine
from gpusudoku.jobs.job import Interrupted, Job, Progress
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.settings import FIRST, MIN, SearchSettings
from gpusudoku.options import Options
from gpusudoku.results import Stats
from gpusudoku.search.frontier import Frontier
from gpusudoku.search.techniques import parse_techniques, technique_names


def search_settings(options: Options) -> SearchSettings:
    """What a search does at every node."""
    techniques = parse_techniques(options.propagate)
    return SearchSettings(techniques, FIRST if options.strategy == "first" else MIN)


class Exploration:
    """A search that is ready to run: all is compiled, nothing is searched.

    Parameters
    ----------
    boards
        At least one, all of one geometry. They are searched as one frontier.
    engine
        What searches.
    options
        How. The device and its workers are the engine's.
    on_solutions
        Given the solutions as they are found, uint8 (k, cells), and the indices of the boards
        they belong to, int64 (k); may block.
    """

    def __init__(
        self,
        boards: Batch | Sequence[Board],
        engine: Engine,
        options: Options,
        on_solutions: Callable[[Any, Any], None] | None = None,
    ) -> None:
        self.settings = search_settings(options)
        self.job = Job(len(boards), options.limit, on_solutions, np.uint64)
        self._engine, self._options = engine, options
        self._roots = Frontier.of(boards, self.settings)
        _ = cpu.kernels(self._roots.layout, self.settings).expand  # compiled now, not in the run
        engine.prepare(self._roots, self.settings)

    def run(self, progress: Callable[[Progress], None] | None = None) -> Stats:
        """Search; the counts are then ``job.counts`` and may exceed the limit.

        Raises
        ------
        Interrupted
            After Ctrl-C; its ``count`` is a lower bound of the sum of the counts.
        """
        engine, options, job = self._engine, self._options, self.job
        start = time.perf_counter()
        try:
            frontier = self._roots.expanded(
                self.settings, engine.width, options.cutoff, job, options.cutoff_by
            )
            expanded = time.perf_counter()
            tally = engine.explore(frontier, self.settings, job, progress)
        except (Interrupted, KeyboardInterrupt):
            raise Interrupted("interrupted", job.total) from None
        return Stats(
            strategy=options.strategy,
            propagate=technique_names(self.settings.techniques),
            cutoff=options.cutoff,
            cutoff_by=options.cutoff_by,
            cutoff_reached=not frontier.capped,
            frontier_width=engine.width,
            frontier_boards=len(frontier),
            boards_explored=len(self._roots) + frontier.guesses + tally.guesses,
            nodes=frontier.nodes + tally.nodes,
            deepest=tally.deepest,
            seconds=time.perf_counter() - start,
            expansion_seconds=expanded - start,
            utilisation=[busy / job.seconds for busy in job.busy],
        )


def explore(
    boards: Batch | Sequence[Board],
    engine: Engine,
    options: Options,
    *,
    on_solutions: Callable[[Any, Any], None] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> tuple[list[int], Stats]:
    """Make an ``Exploration`` and run it; returns the counts and the statistics."""
    exploration = Exploration(boards, engine, options, on_solutions)
    stats = exploration.run(progress)
    return exploration.job.counts, stats
