"""How the tests number solutions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.contraction.nine.quick import QuickOrder
from tests.contraction.nine.counted import candidates_of


def order_of(board: Board, threads: int = 1, **how: bool) -> QuickOrder:
    """The quick order of a board that has a solution."""
    return QuickOrder(candidates_of(board), threads, **how)


def grids_of(order: QuickOrder) -> NDArray[np.uint8]:
    """All solutions, in order."""
    return order.at(range(order.count))


def as_texts(grids: NDArray[np.uint8]) -> NDArray[np.bytes_]:
    """The same grids, as one thing each, in ascending order."""
    return np.sort(np.ascontiguousarray(grids).view("S81").ravel())


def assert_solutions(grids: NDArray[np.uint8], board: Board) -> None:
    """Fail unless all grids, uint8 (grids, 81), are solutions of a board."""
    clues = board.cells > 0
    assert (grids[:, clues] == board.cells[clues]).all()
    cube = grids.reshape(-1, 9, 9)
    boxes = grids.reshape(-1, 3, 3, 3, 3).swapaxes(2, 3).reshape(-1, 9, 9)
    for units in cube, cube.swapaxes(1, 2), boxes:
        assert (np.sort(units, axis=2) == np.arange(1, 10)).all()
