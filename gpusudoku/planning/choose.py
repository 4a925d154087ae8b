"""The choice between search and contraction of one board, by their estimated times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import NINE, Geometry
from gpusudoku.engines.engine import BegunSearch, Engine
from gpusudoku.errors import Cancelled, TooExpensive
from gpusudoku.jobs.cancel import Deadline, any_cancelled, cancelling
from gpusudoku.jobs.forks import delayed_forks
from gpusudoku.kernels.compile_many import ready
from gpusudoku.kernels.kernel import Kernel
from gpusudoku.options import Options
from gpusudoku.planning.plan import Plan
from gpusudoku.planning.search import TASKS, SearchPlan, search_kernels
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
MAX_TASKS = 1 << 16
"""Tasks of a search, at most: more parts than that would only be empty."""


def choose(
    board: Board,
    options: Options,
    worth: float = inf,
    engine: Engine | None = None,
    parts: int = 1,
    begun: BegunSearch | None = None,
) -> Plan:
    """Make the plan that the options name; ``auto`` compares estimates.

    Without an engine the plan is the same on every machine. With one it is what takes less there,
    and kernels are compiled which it is likely to need. The caller would wait ``worth`` seconds on
    one core; only a share of them, or of those of a search, goes into estimating a contraction. The
    tasks are to be divided into ``parts``. A search that has ``begun`` goes on with what is left of
    it. An InputError if a board with candidates is to be contracted; a TooExpensive if the method
    is contraction, and the board is too expensive for it.
    """
    searches = not contractible(board, options)
    if engine is not None:
        if begun is not None or likely_searched(board, options):
            ready_search(board, options, engine)
        else:
            ready(contraction_kernels(board.geometry))
    roots = Frontier.of([board]) if begun is None else begun.roots
    if options.method == "contraction":
        return _contraction(board, roots, options, worth)
    tasks = min(max(TASKS, TASKS_PER_PART * parts), MAX_TASKS)
    search = SearchPlan(roots, options, tasks, begun)
    if searches:
        return search
    search.estimates = Estimates(search.seconds)
    if search.seconds < SHORT_SECONDS:
        return search
    if engine is not None:
        ready(contraction_kernels(board.geometry))
    try:
        contraction = _contraction(board, roots, options, min(worth, search.seconds))
    except TooExpensive as error:
        search.estimates = replace(search.estimates, no_contraction=str(error))
        return search
    searching = search.seconds
    contracting = contraction.seconds
    if engine is not None:
        searching = engine.seconds(searching, "search", board.geometry)
        contracting = engine.seconds(contracting, "contraction", board.geometry)
        if engine.has_gpu:
            searching /= COMPARABLE
    plan = contraction if contracting < searching else search
    plan.estimates = replace(contraction.estimates, search_seconds=search.seconds)
    return plan


def choose_in_time(
    board: Board,
    options: Options,
    engine: Engine,
    deadline: Deadline,
    worth: float = inf,
    begun: BegunSearch | None = None,
) -> Plan:
    """Choose a plan as ``choose`` does, in the time that is left before a deadline.

    Half of it is for the estimate of a contraction. The other half is for the search that is chosen
    if the estimate takes longer; with method contraction that is a Cancelled.
    """
    contracts = options.method == "contraction"
    if not contracts:
        worth = min(worth, deadline.seconds_left)
    share = 1.0 if contracts else 0.5
    try:
        with cancelling(deadline, Deadline(share * deadline.seconds_left)):
            return choose(board, options, worth, engine, begun=begun)
    except Cancelled:
        if contracts or any_cancelled():
            raise
        return choose(board, replace(options, method="search"), engine=engine, begun=begun)


def ready_search(board: Board, options: Options, engine: Engine) -> None:
    """Compile the search of a board, and announce what it may need afterwards."""
    later = contraction_kernels(board.geometry) if contractible(board, options) else ()
    ready(search_kernels(board.geometry, options, engine), later=later)


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
    is_limited_search = options.method == "auto" and has_low_limit(options)
    return options.method == "search" or is_limited_search


def has_low_limit(options: Options) -> bool:
    """Tell whether a search reaches the limit so soon that no estimate is needed."""
    return options.limit is not None and options.limit <= FEW_SOLUTIONS


def contraction_kernels(geometry: Geometry) -> Iterator[Kernel]:
    """Yield the kernels of a contraction; only who asks for the first pays for the import."""
    with delayed_forks():
        from gpusudoku.planning.contraction import kernels_of
    yield from kernels_of(geometry)


def _contraction(
    board: Board, roots: Frontier, options: Options, worth: float
) -> ContractionPlan | HybridPlan:
    with delayed_forks():
        from gpusudoku.planning.contraction import plan_contraction  # most boards need none
    return plan_contraction(board, roots, options, worth)
