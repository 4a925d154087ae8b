"""Shares: the number of solutions with each digit in each cell."""

from __future__ import annotations

from math import inf
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.contraction.general.join import Join
from gpusudoku.contraction.general.parts import Parts
from gpusudoku.contraction.general.shares import count_join_shares
from gpusudoku.engines.engine import Engine
from gpusudoku.enumeration.in_memory import shares_in
from gpusudoku.enumeration.lexicographic import counts_of_digits
from gpusudoku.errors import TooExpensive
from gpusudoku.jobs.watch import watching
from gpusudoku.options import Options
from gpusudoku.planning.search import SearchPlan
from gpusudoku.search.frontier import Frontier

VISITED_SOLUTIONS = 10**9
"""Up to this many solutions are visited, which takes minutes. For more, candidates are counted."""
VISITED_PER_SECOND = 3e6
"""Solutions of small boards that one core visits per second."""
SHARES_PER_SUM = 3
"""The time of computing shares by a contraction, relative to counting by it."""
COUNTED_SECONDS = 600.0
"""The limit of the expected time of all counts together, on one core."""


def shares_of_many(
    board: Board,
    options: Options,
    engine: Engine,
    searcher: Engine,
    count: int,
    contraction: Join | Parts | None,
) -> NDArray[Any]:
    """Compute the shares, object (cells, n), in the cheapest way, or raise TooExpensive."""
    visit_seconds = count / VISITED_PER_SECOND if count <= VISITED_SOLUTIONS else inf
    if contraction is not None and SHARES_PER_SUM * contraction.seconds < visit_seconds:
        try:
            return contracted_shares(contraction, board, count, engine.threads)
        except TooExpensive:
            pass  # known only during the computation
    if visit_seconds < inf:
        return visited_shares(board, options, searcher)
    return counted_shares(board, options, engine)


def contracted_shares(
    contraction: Join | Parts, board: Board, count: int, threads: int
) -> NDArray[Any]:
    """Compute the shares by a contraction, or raise TooExpensive."""
    if isinstance(contraction, Join):
        return count_join_shares(contraction, count, threads)
    shares = np.zeros((board.geometry.cells, board.n), object)
    for _, join in contraction.joins():
        shares += count_join_shares(join, count, threads)
    return shares


def visited_shares(board: Board, options: Options, engine: Engine) -> NDArray[Any]:
    """Compute the shares by a search that visits every solution."""
    shares = np.zeros((board.geometry.cells, board.n), object)
    lock = Lock()

    def add(rows: NDArray[np.uint8], _: NDArray[np.int64]) -> None:
        """Add the shares of a block of solutions. Called by any thread."""
        block_shares = shares_in(rows, board.n)
        # Adding arrays of objects runs Python code, so threads could interleave.
        with lock:
            shares[...] += block_shares

    SearchPlan(Frontier.of([board]), options).run(engine, on_solutions=add)
    return shares


def counted_shares(board: Board, options: Options, engine: Engine) -> NDArray[Any]:
    """Compute the shares by a count for each candidate, or raise TooExpensive."""
    shares = np.zeros((board.geometry.cells, board.n), object)
    max_seconds = COUNTED_SECONDS / max(1, int(board.candidate_counts.sum()))
    for cell in np.flatnonzero(board.cells == 0).tolist():
        mask = int(board.candidates[cell])
        digits = [digit for digit in range(1, board.n + 1) if mask >> digit - 1 & 1]
        with watching(None):
            counts = list(counts_of_digits(board, cell, digits, options, engine, max_seconds))
        shares[cell, np.array(digits) - 1] = counts
        count = shares[cell].sum()
    # A clue is in every solution. ``count`` is the sum of the last empty cell.
    clues = np.flatnonzero(board.cells)
    shares[clues, board.cells[clues] - 1] = count
    return shares
