"""The choice between search and contraction of one board, by their estimated times."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import NINE
from gpusudoku.engines.engine import Engine
from gpusudoku.errors import InputError, TooExpensive
from gpusudoku.jobs.forks import delayed_forks
from gpusudoku.kernels.compile_many import ready
from gpusudoku.options import Options
from gpusudoku.planning.plan import Plan
from gpusudoku.planning.search import TASKS, Begun, SearchPlan, search_kernels
from gpusudoku.results import Estimates
from gpusudoku.search.frontier import Frontier

if TYPE_CHECKING:
    from gpusudoku.planning.contraction import ContractionPlan, HybridPlan

COMPARABLE = 4.0
"""On a GPU that was asked for a search may take so many times as long as a contraction: it is the
GPU that searches, while the CPU prepares what a contraction sums."""
FEW_SOLUTIONS = 10_000
"""With a limit of no more solutions than this a search is not worth an estimate."""
SHORT_SECONDS = 0.005
"""A search that is estimated to take no longer is chosen without estimating a contraction."""
SEARCHED_CLUES = 15
"""A 9x9 board with fewer clues is likely to be contracted, so its search is not compiled before it
is chosen. Others are likely to be searched."""
TASKS_PER_PART = 8
"""Tasks of a search for each part of it: parts take nearly the same time, and none is empty."""
MOST_TASKS = 1 << 16
"""Tasks of a search, at most: more parts than that would only be empty."""


def choose(
    board: Board,
    options: Options,
    worth: float = inf,
    engine: Engine | None = None,
    parts: int = 1,
    begun: Begun | None = None,
) -> Plan:
    """Make the plan that the options name; ``auto`` compares estimates.

    Without an engine the plan is the same on every machine. With one it is what takes less there,
    and kernels are compiled which it is likely to need. The caller would wait ``worth`` seconds on
    one core; only a share of them, or of those of a search, goes into estimating a contraction. The
    tasks are to be divided into ``parts``. A search that has ``begun`` goes on with what is left of
    it. An InputError if a board with candidates is to be contracted; a TooExpensive if the method
    is contraction, and the board is too expensive for it.
    """
    with delayed_forks():
        # Imported lazily: most boards need no plan.
        from gpusudoku.contraction.prepare import contraction_kernels

    contracted = contraction_kernels(board.geometry)
    searches = not contractible(board, options)
    if engine is not None:
        searched = begun is not None or likely_searched(board, options)
        needed = search_kernels(board.geometry, options, engine) if searched else contracted
        ready(needed, later=() if searches else contracted)
    roots = Frontier.of([board])
    if options.method == "contraction":
        return _contraction(board, roots, options, worth)
    tasks = min(max(TASKS, TASKS_PER_PART * parts), MOST_TASKS)
    search = SearchPlan(roots, options, tasks, begun)
    if searches:
        return search
    search.estimates = Estimates(search.seconds)
    if search.seconds < SHORT_SECONDS:
        return search
    if engine is not None:
        ready(contracted)
    try:
        contraction = _contraction(board, roots, options, min(worth, search.seconds))
    except TooExpensive as error:
        search.estimates = replace(search.estimates, no_contraction=str(error))
        return search
    searching, contracting = search.seconds, contraction.seconds
    if engine is not None:
        searching = engine.seconds(searching, "search", board.geometry)
        contracting = engine.seconds(contracting, "contraction", board.geometry)
        if engine.name == "cuda":
            searching /= COMPARABLE
    plan = contraction if contracting < searching else search
    plan.estimates = replace(contraction.estimates, search_seconds=search.seconds)
    return plan


def likely_searched(board: Board, options: Options) -> bool:
    """Tell whether a board is so likely to be searched that kernels are compiled for that."""
    if not contractible(board, options):
        return True
    many_clues = board.geometry != NINE or board.clues >= SEARCHED_CLUES
    return options.method != "contraction" and many_clues


def contractible(board: Board, options: Options) -> bool:
    """Tell whether the options and the board allow a contraction."""
    return not only_searches(options) and board.given_candidates is None


def only_searches(options: Options) -> bool:
    """Tell whether the options exclude a contraction, whatever the board."""
    few = options.limit is not None and options.limit <= FEW_SOLUTIONS
    return options.method == "search" or (options.method == "auto" and few)


def _contraction(
    board: Board, roots: Frontier, options: Options, worth: float
) -> ContractionPlan | HybridPlan:
    """Make the plan of the cheapest contraction."""
    with delayed_forks():
        from gpusudoku.contraction.general.parts import Parts
        from gpusudoku.contraction.prepare import contraction_of
        from gpusudoku.planning.contraction import ContractionPlan, HybridPlan

    if board.given_candidates is not None:
        raise InputError(
            "a contraction counts boards of clues; this one carries candidates: use method search"
        )
    memory = options.memory
    contraction = contraction_of(board, roots, memory, worth)
    if contraction is None:
        return ContractionPlan(None, memory, Estimates())
    estimates = Estimates(contraction_seconds=contraction.seconds)
    if isinstance(contraction, Parts):
        return HybridPlan(contraction, memory, estimates)
    return ContractionPlan(contraction, memory, estimates)
