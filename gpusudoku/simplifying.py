"""Boards simplified by techniques alone, without any guess."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board, single_digits
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.search.frontier import Frontier
from gpusudoku.search.techniques import parse_techniques


@dataclass(frozen=True)
class Simplified:
    """What techniques make of a board."""

    board: Board
    """The board with the cells that they solve."""
    candidates: NDArray[np.uint64]
    """uint64 (n * n): per cell the mask of digits left, in solved cells that digit alone."""
    contradictory: bool
    """Whether they showed that there is no solution; board and candidates are then the input's."""

    @property
    def candidates_left(self) -> int:
        """The number of candidates left in the empty cells."""
        counts = np.bitwise_count(self.candidates)
        return int(counts[self.board.cells == 0].sum())


def simplify(board: Board, techniques: str | Iterable[str] = "all") -> Simplified:
    """Apply techniques to a board until none of them finds anything.

    The outcome does not depend on the order in which finds are made, with one exception: hidden
    pairs without hidden singles, as two digits stop being a pair when one of them loses one of its
    two places.

    Raises
    ------
    InputError
        If a technique is unknown.
    """
    settings = SearchSettings(parse_techniques(techniques))
    result = Frontier.of([board]).simplified(settings)
    if len(result) == 0:
        return Simplified(board, board.candidates, contradictory=True)
    candidates = result.candidates[0]
    cells = np.where(result.fixed[0], single_digits(candidates), 0)
    return Simplified(Board(cells, board.geometry), candidates, contradictory=False)
