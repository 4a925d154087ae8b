"""Choosing between search and contraction of one board, by their estimated times."""

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
from gpusudoku.kernels.compile_many import load_kernels
from gpusudoku.kernels.kernel import Kernel
from gpusudoku.options import Options
from gpusudoku.planning.plan import Plan
from gpusudoku.planning.search import TASKS, SearchPlan, search_kernels
from gpusudoku.results import Estimates
from gpusudoku.search.frontier import Frontier

if TYPE_CHECKING:
    from gpusudoku.planning.contraction import ContractionPlan, HybridPlan

GPU_SEARCH_ADVANTAGE = 4.0
"""With a GPU, a search is chosen although it may take this many times as long as a contraction: the
user asked for the GPU, and the GPU does all of a search but only the sum of a contraction."""
FEW_SOLUTIONS = 10_000
"""A search with a limit of at most this many solutions is so short that no estimate is made."""
SHORT_SECONDS = 0.005
"""A search with at most this estimated time is chosen without estimating a contraction."""
SEARCHED_CLUES = 15
"""A 9x9 board with fewer clues will probably be contracted, so the search is not compiled before it
is chosen. Boards with at least as many clues will probably be searched."""
TASKS_PER_PART = 8
"""Tasks of a search for each part of it, so that parts take similar times and none is empty."""
MAX_TASKS = 1 << 16
"""Tasks of a search. With more parts than tasks, some parts would be empty."""


def choose(
    board: Board,
    options: Options,
    worth: float = inf,
    engine: Engine | None = None,
    parts: int = 1,
    begun: BegunSearch | None = None,
) -> Plan:
    """Make a plan by the method of the options; ``auto`` compares estimated times.

    Parameters
    ----------
    board
        The board to count.
    options
        The options of the count.
    worth
        The time, in seconds on the reference core, that the caller would accept. Only a fraction of
        it, and of the time of a search, is spent on estimating a contraction.
    engine
        The engine that will run the plan. The times are then those on its devices, and kernels that
        it will probably need are compiled. Without an engine the plan is the same on every machine.
    parts
        The number of parts into which the tasks will be divided.
    begun
        A search that has begun. If a search is chosen, it continues this one.

    Raises
    ------
    InputError
        If the method is contraction, and the board has given candidates.
    TooExpensive
        If the method is contraction, and it would take too much time or memory.
    """
    # Compile what is probably needed in one go. Without an engine nothing will be run.
    if engine is not None:
        if begun is not None or likely_searched(board, options):
            ready_search(board, options, engine)
        else:
            load_kernels(contraction_kernels(board.geometry))
    roots = Frontier.of([board]) if begun is None else begun.roots
    if options.method == "contraction":
        return _contraction(board, roots, options, worth)
    # The number of tasks must not depend on the engine: parts on other machines must fit together.
    task_count = min(max(TASKS, TASKS_PER_PART * parts), MAX_TASKS)
    search = SearchPlan(roots, options, task_count, begun)
    if not contractible(board, options):
        return search
    search.estimates = Estimates(search.seconds)
    if search.seconds < SHORT_SECONDS:
        return search
    # From here on a contraction may win, and its estimate needs some of its kernels.
    if engine is not None:
        load_kernels(contraction_kernels(board.geometry))
    try:
        contraction = _contraction(board, roots, options, min(worth, search.seconds))
    except TooExpensive as error:
        search.estimates = replace(search.estimates, no_contraction=str(error))
        return search
    search_seconds = search.seconds
    contraction_seconds = contraction.seconds
    if engine is not None:
        search_seconds = engine.seconds(search_seconds, "search", board.geometry)
        contraction_seconds = engine.seconds(contraction_seconds, "contraction", board.geometry)
        if engine.has_gpu:
            search_seconds /= GPU_SEARCH_ADVANTAGE
    plan = contraction if contraction_seconds < search_seconds else search
    # Shown to the user, so both are in seconds on the reference core.
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
    """Choose a plan as ``choose`` does, before a deadline.

    Half of the remaining time is for the estimate of a contraction. If that takes longer, a search
    is chosen, which has the other half.

    Raises
    ------
    Cancelled
        If the method is contraction, and its estimate does not end before the deadline.
    """
    must_contract = options.method == "contraction"
    if not must_contract:
        worth = min(worth, deadline.seconds_left)
    estimate_share = 1.0 if must_contract else 0.5
    try:
        with cancelling(deadline, Deadline(estimate_share * deadline.seconds_left)):
            return choose(board, options, worth, engine, begun=begun)
    except Cancelled:
        if must_contract or any_cancelled():
            raise
        # Only the estimate took too long. A search needs none.
        return choose(board, replace(options, method="search"), engine=engine, begun=begun)


def ready_search(board: Board, options: Options, engine: Engine) -> None:
    """Compile the search of a board. Announce the kernels of a contraction, which may follow."""
    later = contraction_kernels(board.geometry) if contractible(board, options) else ()
    load_kernels(search_kernels(board.geometry, options, engine), later=later)


def likely_searched(board: Board, options: Options) -> bool:
    """Return whether a board will probably be searched, so that the search is worth compiling."""
    if not contractible(board, options):
        return True
    if options.method == "contraction":
        return False
    return board.geometry != NINE or board.clues >= SEARCHED_CLUES


def contractible(board: Board, options: Options) -> bool:
    """Return whether the options and the board allow a contraction."""
    return not only_searches(options) and board.given_candidates is None


def only_searches(options: Options) -> bool:
    """Return whether the options exclude a contraction for every board."""
    if options.method == "search":
        return True
    return options.method == "auto" and has_low_limit(options)


def has_low_limit(options: Options) -> bool:
    """Return whether the limit is so low that a search reaches it before an estimate is made."""
    return options.limit is not None and options.limit <= FEW_SOLUTIONS


def contraction_kernels(geometry: Geometry) -> Iterator[Kernel]:
    """Yield the kernels of a contraction. Its modules are imported when the first is read."""
    with delayed_forks():
        from gpusudoku.planning.contraction import kernels_of
    yield from kernels_of(geometry)


def _contraction(
    board: Board, roots: Frontier, options: Options, worth: float
) -> ContractionPlan | HybridPlan:
    # Imported lazily: most boards need no contraction.
    with delayed_forks():
        from gpusudoku.planning.contraction import plan_contraction
    return plan_contraction(board, roots, options, worth)
