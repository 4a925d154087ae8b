"""Shares: for every cell and digit how many of the solutions have it there."""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.engines.engine import Engine
from gpusudoku.errors import MismatchError
from gpusudoku.jobs.watch import watching
from gpusudoku.options import Options
from gpusudoku.orders.counts import counts_of_digits
from gpusudoku.orders.few import shares_in
from gpusudoku.planning.search import SearchPlan
from gpusudoku.search.frontier import Frontier

MOST_SECONDS = 600.0
"""All counts together may be expected to take this on one core."""
MOST_VISITED = 10**9
"""So many solutions are visited, in some minutes, rather than counted for each candidate."""
VISITED_PER_SECOND = 3e6
"""So many are visited in a second on one core, of small boards."""
SUMS = 3
"""The shares by a contraction take as long as so many counts by it."""


def counted_shares(board: Board, options: Options, engine: Engine) -> NDArray[Any]:
    """The shares of any board, object (cells, n), by a count for each of its candidates.

    Raises
    ------
    TooExpensive
        If that should take too long.
    """
    shares = np.zeros((board.geometry.cells, board.n), object)
    most_seconds = MOST_SECONDS / max(1, int(board.candidate_counts.sum()))
    for cell in np.flatnonzero(board.cells == 0).tolist():
        mask = int(board.candidates[cell])
        digits = [digit for digit in range(1, board.n + 1) if mask >> digit - 1 & 1]
        with watching(None):
            counts = list(counts_of_digits(board, cell, digits, options, engine, most_seconds))
        shares[cell, np.array(digits) - 1] = counts
        whole = shares[cell].sum()
    clues = np.flatnonzero(board.cells)
    shares[clues, board.cells[clues] - 1] = whole
    return shares


def visited_shares(board: Board, options: Options, engine: Engine) -> NDArray[Any]:
    """The shares of any board, object (cells, n), by a search that visits all solutions once."""
    shares, lock = np.zeros((board.geometry.cells, board.n), object), Lock()

    def add(rows: NDArray[np.uint8], _: NDArray[np.int64]) -> None:
        """Called by many threads."""
        part = shares_in(rows, board.n)
        with lock:
            shares[...] += part

    SearchPlan(Frontier.of([board]), options).run(engine, on_solutions=add)
    return shares


def check_shares(shares: NDArray[Any], geometry: Geometry, count: int) -> None:
    """Check that each cell has one digit in every solution, and each unit every digit.

    Raises
    ------
    MismatchError
        If not.
    """
    if (shares.sum(axis=1) != count).any() or (shares[geometry.units].sum(axis=1) != count).any():
        raise MismatchError("the shares do not add up to the count: this is a bug")
