"""What the tests of the general contraction share: candidates of boards, and their count."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general.boxes import without_seen
from gpusudoku.contraction.general.join import Join


def count(candidates: NDArray[np.uint64], geometry: Geometry, **options: Any) -> int:
    """The number of solutions; the options are those of ``Join``."""
    join = Join(candidates, geometry, **options)
    return summed(join) if join.tasks else 0


def summed(join: Join) -> int:
    """The sum of all tasks, on one thread."""
    value, _ = join.sum(range(join.tasks), join.scratch(), np.zeros(1, np.int64))
    return join.factor * value


def clues_only(board: Board) -> NDArray[np.uint64]:
    """The candidates that follow from the clues at sight."""
    bits = np.uint64(1) << (board.cells.astype(np.uint64) - np.uint64(1))
    return np.where(board.cells > 0, bits, board.candidates)


def after_singles(board: Board) -> NDArray[np.uint64]:
    """The same after naked singles, without the search's kernels, which depend on the shape."""
    candidates, before = clues_only(board), None
    while before is None or (candidates != before).any():
        candidates, before = without_seen(candidates, board.geometry), candidates
    return candidates


def first_row_given(shape: str) -> Board:
    """A board whose first row has the digits in order; the other cells are empty."""
    geometry = Geometry.parse(shape)
    cells = np.zeros(geometry.cells, np.uint8)
    cells[: geometry.n] = np.arange(1, geometry.n + 1)
    return Board(cells, geometry)
