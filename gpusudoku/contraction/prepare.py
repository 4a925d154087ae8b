"""Which contraction counts a board: ``Nine``, ``Join`` or a sum of ``Parts``; or why none does."""

from __future__ import annotations

from math import inf

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general.join import Join
from gpusudoku.contraction.general.parts import MOST_SECONDS, Parts
from gpusudoku.contraction.nine.sum import Nine
from gpusudoku.contraction.protocol import Contraction
from gpusudoku.errors import TooExpensive
from gpusudoku.kernels.search.settings import SearchSettings
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


def contraction_of(
    board: Board, roots: Frontier, memory: int, worth: float = inf
) -> Contraction | None:
    """The cheapest contraction of a board; None if singles show that it has no solution.

    Parameters
    ----------
    board
        One whose candidates follow from its clues.
    roots
        The board, packed.
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
    simplified = roots.simplified(SearchSettings())
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
        return Parts(board, memory, error)
    if join.seconds <= MOST_SECONDS or worth < WORTH_PARTS:
        return join
    return Parts(
        board, memory, TooExpensive(f"too expensive to contract: about {join.seconds:.1e} s")
    )
