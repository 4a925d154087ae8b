"""Whether a grid is a solution of a board: a look at its rules and clues, without any search."""

from __future__ import annotations

import numpy as np

from gpusudoku.board.board import Board, digit_masks
from gpusudoku.errors import InputError
from gpusudoku.formats.coerce import BoardLike, board_of


def solution_of(board: Board, grid: BoardLike) -> Board:
    """A grid that is a solution of the board.

    Raises
    ------
    InputError
        If it is none; it says why.
    """
    found = board_of(grid, board.geometry)
    wrong = np.flatnonzero((board.cells > 0) & (found.cells != board.cells))
    if not found.is_full:
        place = int(np.flatnonzero(found.cells == 0)[0])
        raise InputError(f"not a solution: {board.geometry.cell_name(place)} is empty")
    if len(wrong):
        place = int(wrong[0])
        raise InputError(
            f"not a solution: {board.geometry.cell_name(place)} holds {found.cells[place]},"
            f" and the board has {board.cells[place]} there"
        )
    if found.conflicts:
        raise InputError(f"not a solution: {found.conflicts[0].describe(board.geometry)}")
    given = board.given_candidates
    if given is not None and (digit_masks(found.cells) & ~given).any():
        place = int(np.flatnonzero(digit_masks(found.cells) & ~given)[0])
        raise InputError(
            f"not a solution: {found.cells[place]} is no candidate of"
            f" {board.geometry.cell_name(place)}"
        )
    return found
