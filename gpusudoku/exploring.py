"""One search: pack the boards, widen the frontier, let the engine explore it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gpusudoku.batch import Batch
from gpusudoku.board import Board
from gpusudoku.chunks import Interrupted, Job, Progress
from gpusudoku.engines import Engine
from gpusudoku.frontier import Frontier
from gpusudoku.kernels import cpu
from gpusudoku.kernels.rules import FIRST, MIN, Rules
from gpusudoku.logic import parse_techniques, technique_names
from gpusudoku.options import Options
from gpusudoku.results import Stats


def rules_of(options: Options) -> Rules:
    """What a search does at every node."""
    techniques = parse_techniques(options.propagate)
    return Rules(techniques, FIRST if options.strategy == "first" else MIN)


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
    sink
        Given the solutions as they are found, uint8 (k, cells), and the indices of the boards
        they belong to, int64 (k); may block.
    """

    def __init__(
        self,
        boards: Batch | Sequence[Board],
        engine: Engine,
        options: Options,
        sink: Callable[[Any, Any], None] | None = None,
    ) -> None:
        self.rules = rules_of(options)
        self.job = Job(len(boards), options.limit, sink, np.uint64)
        self._engine, self._options = engine, options
        self._roots = Frontier.of(boards, self.rules)
        _ = cpu.kernels(self._roots.layout, self.rules).expand  # compiled now, not in the run
        engine.prepare(self._roots, self.rules)

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
            frontier = self._roots.widened(
                self.rules, engine.width, options.cutoff, job, options.cutoff_by
            )
            widened = time.perf_counter()
            tally = engine.explore(frontier, self.rules, job, progress)
        except (Interrupted, KeyboardInterrupt):
            raise Interrupted("interrupted", job.total) from None
        return Stats(
            strategy=options.strategy,
            propagate=technique_names(self.rules.techniques),
            cutoff=options.cutoff,
            cutoff_by=options.cutoff_by,
            cutoff_reached=not frontier.capped,
            frontier_width=engine.width,
            frontier_boards=len(frontier),
            boards_explored=len(self._roots) + frontier.guesses + tally.guesses,
            nodes=frontier.nodes + tally.nodes,
            deepest=tally.deepest,
            seconds=time.perf_counter() - start,
            widening_seconds=widened - start,
            utilisation=[busy / job.seconds for busy in job.busy],
        )


def explore(
    boards: Batch | Sequence[Board],
    engine: Engine,
    options: Options,
    *,
    sink: Callable[[Any, Any], None] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> tuple[list[int], Stats]:
    """Make an ``Exploration`` and run it; returns the counts and the statistics."""
    exploration = Exploration(boards, engine, options, sink)
    stats = exploration.run(progress)
    return exploration.job.counts, stats
