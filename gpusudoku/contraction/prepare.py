"""From a board to a contraction that is ready to run, and running it."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import inf

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.contraction import Contraction
from gpusudoku.contraction.general.join import Join
from gpusudoku.contraction.general.parts import MOST_SECONDS, Hybrid
from gpusudoku.contraction.nine.sum import Nine
from gpusudoku.engines import Engine
from gpusudoku.errors import TooExpensive
from gpusudoku.jobs.job import Interrupted, Job, Progress
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.results import Stats
from gpusudoku.search.frontier import Frontier

NINE = Geometry(3, 3)

MOST_MAPS = 1 << 20
"""Maps of a stack or band that are listed, at most."""
LEAST_MAPS = 1 << 14
"""Maps of a stack or band that are always worth listing."""
MAPS_PER_SECOND = 1e6
"""Maps of a stack or band that are listed in a second, about."""
WORTH_PARTS = 10.0
"""If a search takes fewer seconds, it is not worth looking for a contraction in parts."""


def contraction_of(board: Board, memory: int, worth: float = inf) -> Contraction | None:
    """The cheapest contraction of a board; None if singles show that it has no solution.

    Parameters
    ----------
    memory
        Bytes that may be taken.
    worth
        Seconds that another method would take on one core. No more time is spent on looking for a
        contraction.

    Raises
    ------
    TooExpensive
        If the board would take too long, even in parts; the text gives the figures.
    """
    simplified = Frontier.of([board], SearchSettings()).simplified(SearchSettings())
    if not len(simplified):
        return None
    candidates = simplified.candidates[0]
    if board.geometry == NINE:
        return Nine(candidates)
    most_maps = int(min(MOST_MAPS, max(LEAST_MAPS, worth * MAPS_PER_SECOND)))
    try:
        join = Join(candidates, board.geometry, most_maps=most_maps, memory=memory)
    except TooExpensive as error:
        if worth < WORTH_PARTS:
            raise
        return Hybrid(board, memory, error)
    if join.seconds <= MOST_SECONDS or worth < WORTH_PARTS:
        return join
    return Hybrid(
        board, memory, TooExpensive(f"too expensive to contract: about {join.seconds:.1e} s")
    )


def contract(
    board: Board,
    contraction: Contraction | None,
    engine: Engine,
    memory: int,
    progress: Callable[[Progress], None] | None = None,
) -> tuple[int, Stats]:
    """Run a contraction, or none for a board without solutions; the count and the statistics.

    Raises
    ------
    Interrupted
        After Ctrl-C; its ``count`` is a lower bound.
    """
    start = time.perf_counter()
    job, stats = Job(1), Stats()
    stats.describe(board)
    if contraction is not None:
        try:
            stats.products = engine.contract(contraction, job, memory, progress)
        except KeyboardInterrupt:  # before the first task
            raise Interrupted("interrupted", 0) from None
        stats.utilisation = [busy / job.seconds for busy in job.busy]
        stats.seconds = contraction.listing_seconds
    stats.seconds += time.perf_counter() - start
    return job.counts[0], stats
