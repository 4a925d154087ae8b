"""The choice of the contraction that counts a board: ``Nine``, ``Join`` or a sum of ``Parts``."""

from __future__ import annotations

from math import inf

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import NINE, Geometry
from gpusudoku.contraction.general.join import KERNELS, Join
from gpusudoku.contraction.general.parts import MOST_SECONDS, Parts
from gpusudoku.contraction.nine.sum import Nine, stages
from gpusudoku.contraction.protocol import Contraction, Effort
from gpusudoku.errors import TooExpensive
from gpusudoku.kernels.kernel import Kernel
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.shape import SearchSettings, shape_of
from gpusudoku.search.frontier import Frontier

MOST_MAPS = 1 << 20
"""Maps of a stack or band that are listed, at most."""
LOOK_SHARE, LONG_LOOK_SHARE = 1 / 2, 1 / 10
"""The share of another method's time that may be spent on estimating a contraction; and where that
is more than LONG_LOOK seconds."""
LONG_LOOK, MOST_LOOK = 1.0, 10.0
"""See LOOK_SHARE; and the most seconds of all, if there is another method."""
WORTH_PARTS = 10.0
"""If a search takes fewer seconds, a contraction in parts is not worth estimating."""


def contraction_kernels(geometry: Geometry) -> list[Kernel]:
    """Return the kernels that the contraction of a board and the estimate of its search need."""
    shape = shape_of(geometry.box_rows, geometry.box_columns)
    kernels = stages().of_one_board() if geometry == NINE else KERNELS
    return [cpu.expand(shape, SearchSettings()), *kernels]


def contraction_of(
    board: Board, roots: Frontier, memory: int, worth: float = inf
) -> Contraction | Parts | None:
    """Return the cheapest contraction of a board; None if singles show that it has no solution.

    The candidates of the board must follow from its clues; ``roots`` is the board, packed. It may
    take ``memory`` bytes. ``worth`` is the time of another method on one core, in seconds: see
    ``worth_looking``. TooExpensive is raised, with the figures, if the board would take too long
    even in parts.
    """
    simplified = roots.simplified(SearchSettings())
    if not len(simplified):
        return None
    candidates = simplified.candidates[0]
    if board.geometry == NINE:
        return Nine(candidates)
    effort = Effort(worth_looking(worth), worth)
    try:
        join = Join(candidates, board.geometry, most_maps=MOST_MAPS, memory=memory, effort=effort)
        if join.seconds > MOST_SECONDS and worth >= WORTH_PARTS:
            raise TooExpensive(f"too expensive to contract: about {join.seconds:.1e} s")
        return join
    except TooExpensive as whole:
        if worth < WORTH_PARTS:
            raise
        return Parts(board, memory, whole, worth, effort)


def worth_looking(worth: float) -> float:
    """Return the seconds for an estimate, perhaps in vain: a part of the other method's time."""
    if worth == inf:
        return inf
    return min(LOOK_SHARE * worth, max(LONG_LOOK, LONG_LOOK_SHARE * worth), MOST_LOOK)
