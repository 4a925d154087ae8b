"""Search or contraction: what either would take, and which takes less."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from gpusudoku.board.board import Board
from gpusudoku.contraction.contraction import Contraction
from gpusudoku.contraction.prepare import contraction_of
from gpusudoku.errors import TooExpensive
from gpusudoku.options import Options
from gpusudoku.planning.search import search_settings
from gpusudoku.search.estimate import estimate_search
from gpusudoku.search.frontier import Frontier

FEW_SOLUTIONS = 10_000
"""A search for no more than so many is not worth an estimate."""
SHORT_SECONDS = 0.005
"""A search that is estimated to take no longer is begun without a look at the contraction."""


@dataclass(frozen=True)
class Choice:
    """A method, and what was found out on the way to it."""

    method: str
    """``search`` or ``contraction``."""
    contraction: Contraction | None = None
    """Ready to run; None also if the board is known to have no solution."""
    search_seconds: float | None = None
    """What a search is estimated to take on one core, if that was looked at."""
    note: str = ""
    """Why there is no contraction, if one was looked for."""

    @property
    def contraction_seconds(self) -> float | None:
        """What the contraction is estimated to take on one core, if there is one."""
        return None if self.contraction is None else self.contraction.seconds


def choose(board: Board, options: Options) -> Choice:
    """Choose as the options ask; ``auto`` compares estimates.

    Raises
    ------
    TooExpensive
        If a contraction is asked for and the board is too expensive for it.
    """
    if options.method == "search":
        return Choice("search")
    if options.method == "contraction":
        return Choice("contraction", contraction_of(board, options.memory))
    if options.limit is not None and options.limit <= FEW_SOLUTIONS:
        return Choice("search")
    rules = search_settings(options)
    seconds = estimate_search(Frontier.of([board], rules), rules).seconds(options.limit)
    if seconds < SHORT_SECONDS:
        return Choice("search", search_seconds=seconds)
    try:
        contraction = contraction_of(board, options.memory, worth=seconds)
    except TooExpensive as error:
        return Choice("search", search_seconds=seconds, note=str(error))
    cheaper = contraction is None or contraction.seconds < seconds
    return Choice("contraction" if cheaper else "search", contraction, seconds)


def expected_seconds(board: Board, options: Options, worth: float) -> float:
    """What a count is estimated to take on one core, infinite if it cannot be done.

    No more work goes into the estimate of a contraction than ``worth`` seconds are worth.
    """
    search = contraction = inf
    if options.method != "contraction":
        rules = search_settings(options)
        search = estimate_search(Frontier.of([board], rules), rules).seconds(options.limit)
    if options.method != "search":
        try:
            found = contraction_of(board, options.memory, worth=worth)
            contraction = 0.0 if found is None else found.seconds
        except TooExpensive:
            pass
    return min(search, contraction)
