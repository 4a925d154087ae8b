"""Boards simplified by techniques alone, without any guess."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board, single_digits
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import draw
from gpusudoku.formats.coerce import BoardLike, board_of
from gpusudoku.kernels.kernel import Kernel
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.layout import layout_of
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.search.frontier import Frontier
from gpusudoku.search.techniques import TECHNIQUES, parse_techniques


@dataclass(frozen=True, eq=False, repr=False)
class Simplified:
    """What techniques make of a board."""

    board: Board
    """The board with the cells that they solve."""
    candidates: NDArray[np.uint64]
    """uint64 (n * n), read-only: per cell the mask of digits left, in solved cells that digit
    alone."""
    contradictory: bool
    """Whether they showed that there is no solution; board and candidates are then the input's."""

    def __post_init__(self) -> None:
        self.candidates.setflags(write=False)

    def __reduce__(self) -> tuple[Any, ...]:
        # A pickled array forgets that it is read-only: the object is made anew.
        return Simplified, (self.board, self.candidates, self.contradictory)

    def __repr__(self) -> str:
        return f"<Simplified: {self._in_words()}>"

    def _repr_html_(self) -> str:
        return draw(self.board.geometry, self.board.cells, caption=self._in_words().capitalize())

    def _in_words(self) -> str:
        if self.contradictory:
            return "no solution"
        return f"{self.candidates_left} candidates left in {self.board.empty_cells} empty cells"

    @property
    def candidates_left(self) -> int:
        """The number of candidates left in the empty cells."""
        counts = np.bitwise_count(self.candidates)
        return int(counts[self.board.cells == 0].sum())


def simplify_kernels(geometry: Geometry, techniques: str = "all") -> list[Kernel]:
    """What it takes to simplify boards by techniques: all together, each alone, and none."""
    layout = layout_of(geometry.box_rows, geometry.box_columns)
    bits = parse_techniques(techniques)
    each = [parse_techniques(name) for name, bit in TECHNIQUES.items() if bits & bit]
    settings = dict.fromkeys(map(SearchSettings, [bits, 0, *each]))
    return [cpu.pack(layout), *(cpu.expand(layout, one) for one in settings)]


def simplify(
    board: BoardLike,
    techniques: str | Iterable[str] = "all",
    *,
    box: Geometry | str | None = None,
) -> Simplified:
    """Apply techniques to a board until none of them finds anything.

    The outcome does not depend on the order in which finds are made, with one exception: hidden
    pairs without hidden singles, as two digits stop being a pair when one of them loses one of its
    two places.

    Parameters
    ----------
    board, box
        As for ``count``.
    techniques
        Names or groups of techniques, in a list or separated by commas, such as ``singles``.

    Raises
    ------
    InputError
        If what is given is no board, or if a technique is unknown.
    """
    board, settings = board_of(board, box), SearchSettings(parse_techniques(techniques))
    result = Frontier.of([board]).simplified(settings)
    if len(result) == 0:
        return Simplified(board, board.candidates, contradictory=True)
    candidates = result.candidates[0]
    cells = np.where(result.fixed[0], single_digits(candidates), 0)
    return Simplified(Board(cells, board.geometry), candidates, contradictory=False)
