"""Search or contraction of one board: what either would take, and which takes less.

What is not compiled yet has its price, too. So the method may depend on what has been compiled
before; the count never does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import inf

from gpusudoku.board.board import Board
from gpusudoku.contraction.general.parts import Parts
from gpusudoku.contraction.prepare import NINE, contraction_kernels, contraction_of
from gpusudoku.engines.engine import Engine
from gpusudoku.errors import InputError, TooExpensive
from gpusudoku.jobs.cores import usable_cores
from gpusudoku.kernels import compiling
from gpusudoku.kernels.compiling import ready
from gpusudoku.kernels.kernel import Kernel
from gpusudoku.options import Options
from gpusudoku.planning.contraction import ContractionPlan
from gpusudoku.planning.hybrid import HybridPlan
from gpusudoku.planning.patience import Patience
from gpusudoku.planning.plan import Plan
from gpusudoku.planning.search import TASKS, SearchPlan, search_kernels
from gpusudoku.results import Estimates
from gpusudoku.search.frontier import Frontier

FEW_SOLUTIONS = 10_000
"""A search that stops after no more solutions than this is not worth an estimate."""
SHORT_SECONDS = 0.005
"""A search that is estimated to take no longer is begun without a look at the contraction."""
SEARCHED_CLUES = 15
"""A 9x9 board with fewer clues is likely to be contracted, so its search is not compiled before it
is chosen. Others are likely to be searched."""
PATIENCE = {True: Patience("contraction-nine"), False: Patience("contraction-general")}
"""With searches, until compiling the contraction of 9x9 boards, or of others, has paid off."""
TASKS_PER_PART = 8
"""Tasks of a search for each part of it: parts take nearly the same time, and none is empty."""
MOST_TASKS = 1 << 16
"""Tasks of a search, at most: more parts than that would only be empty."""
NOT_COMPILED = "not looked at: to compile it would take longer than the search"


def choose(
    board: Board,
    options: Options,
    worth: float = inf,
    engine: Engine | None = None,
) -> Plan:
    """Make the plan that the options ask for; ``auto`` compares estimates.

    Parameters
    ----------
    board
        It is packed once, here.
    options
        Those of the count.
    worth
        The seconds on one core for which the caller would wait. Only a share of them, or of those
        that a search takes, goes into looking for a contraction.
    engine
        Where the plan is going to run: what it is likely to need is compiled at once.

    Raises
    ------
    InputError
        If a contraction is asked for and the board carries candidates.
    TooExpensive
        If a contraction is asked for and the board is too expensive for it.
    """
    shape, patience = board.geometry, PATIENCE[board.geometry == NINE]
    searched, contracted = search_kernels(shape, options, engine), contraction_kernels(shape)
    searches = only_searches(options) or board.given_candidates is not None
    if engine is not None:
        ready(searched if searches or _looks_searchable(board, options) else contracted)
    roots = Frontier.of([board])
    if options.method == "contraction":
        return _contraction(board, roots, options, worth)
    search = SearchPlan(roots, options)
    if searches or _is_short(search):
        return search
    threads = usable_cores() if engine is None else engine.threads
    waiting = search.seconds / threads + compiling_seconds(searched)
    if waiting + patience.seconds <= compiling_seconds(contracted):
        patience.add(search.seconds / threads)
        return _instead(search, NOT_COMPILED)
    ready(contracted)
    return _cheaper(board, roots, search, options, (worth, waiting * threads))


def choose_alike(board: Board, options: Options, parts: int = 1) -> Plan:
    """Make the same plan as any other machine would, whatever is compiled there.

    Parameters
    ----------
    board, options
        As for ``choose``.
    parts
        Into how many parts the tasks are to be divided. There are as many tasks as are worth while.

    Raises
    ------
    InputError, TooExpensive
        As ``choose`` does.
    """
    roots = Frontier.of([board])
    if options.method == "contraction":
        return _contraction(board, roots, options, inf)
    tasks = min(max(TASKS, TASKS_PER_PART * parts), MOST_TASKS)
    search = SearchPlan(roots, options, least_tasks=tasks)
    if only_searches(options) or board.given_candidates is not None or _is_short(search):
        return search
    return _cheaper(board, roots, search, options, (inf, search.seconds))


def _is_short(search: SearchPlan) -> bool:
    """Estimate a search; whether it is not worth looking for anything else."""
    search.estimates = Estimates(search.seconds)
    return search.seconds < SHORT_SECONDS


def _cheaper(
    board: Board,
    roots: Frontier,
    search: SearchPlan,
    options: Options,
    worth: tuple[float, float],
) -> Plan:
    """The search or a contraction, whichever takes less.

    ``worth`` is how many seconds the caller would wait, and how many the search takes on one core,
    to which compiling may be added.
    """
    try:
        contraction = _contraction(board, roots, options, min(worth[0], search.seconds))
    except TooExpensive as error:
        return _instead(search, str(error))
    if contraction.seconds < worth[1]:
        contraction.estimates = replace(
            contraction.estimates, search_seconds=search.estimates.search_seconds
        )
        return contraction
    search.estimates = replace(search.estimates, contraction_seconds=contraction.seconds)
    return search


def _instead(search: SearchPlan, why: str) -> SearchPlan:
    """The search, which says why there is no contraction."""
    search.estimates = replace(search.estimates, no_contraction=why)
    return search


def compiling_seconds(kernels: Iterable[Kernel]) -> float:
    """What compiling takes that is not done yet; tests have a price of their own."""
    return compiling.seconds(kernels)


def only_searches(options: Options) -> bool:
    """Whether the options leave no room for a contraction, whatever the board."""
    few = options.limit is not None and options.limit <= FEW_SOLUTIONS
    return options.method == "search" or (options.method == "auto" and few)


def _looks_searchable(board: Board, options: Options) -> bool:
    """Whether a search is likely to be chosen."""
    many = board.geometry != NINE or board.clues >= SEARCHED_CLUES
    return options.method != "contraction" and many


def _contraction(
    board: Board,
    roots: Frontier,
    options: Options,
    worth: float,
) -> ContractionPlan | HybridPlan:
    """The plan of the cheapest contraction."""
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
