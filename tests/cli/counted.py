"""Boards, and their shares counted in a list of all solutions."""

from __future__ import annotations

import numpy as np

from tests import naive

NONE_4X4 = "11" + "." * 14
FORCED_4X4 = "12..34......2..."
"""With cells that all solutions agree on, and candidates that none has."""


def counted(board):
    """The shares of a board, from a list of all its solutions."""
    shares = np.zeros((board.geometry.cells, board.n), object)
    for solution in naive.solutions(board):
        shares[np.arange(len(solution)), np.array(solution) - 1] += 1
    return shares
