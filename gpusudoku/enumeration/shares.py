"""Shares: for every cell and digit the number of solutions that have the digit in the cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf
from threading import Lock
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board, digit_masks
from gpusudoku.board.geometry import Geometry, is_nine
from gpusudoku.contraction.general.join import Join
from gpusudoku.contraction.general.parts import Parts
from gpusudoku.contraction.general.shares import join_shares
from gpusudoku.engines.engine import Engine
from gpusudoku.enumeration.index import shares_in
from gpusudoku.errors import MismatchError, TooExpensive
from gpusudoku.jobs.watch import watching
from gpusudoku.options import Options
from gpusudoku.planning.batch import count_block
from gpusudoku.planning.search import SearchPlan
from gpusudoku.results import ResultBlock
from gpusudoku.search.frontier import Frontier

VISITED_SOLUTIONS = 10**9
"""No more solutions are visited, in some minutes, rather than counted for each candidate."""
VISITED_PER_SECOND = 3e6
"""Solutions of small boards that one core visits in a second."""
SHARES_PER_SUM = 3
"""The time of the shares by a contraction over that of the count by it."""
COUNTED_SECONDS = 600.0
"""All counts together may be expected to take this on one core."""


def shares_of_many(
    board: Board,
    options: Options,
    engine: Engine,
    searcher: Engine,
    count: int,
    contraction: Join | Parts | None,
) -> NDArray[Any]:
    """Compute the shares in the cheapest way, object (cells, n); or raise TooExpensive."""
    visit_seconds = count / VISITED_PER_SECOND if count <= VISITED_SOLUTIONS else inf
    if contraction is not None and SHARES_PER_SUM * contraction.seconds < visit_seconds:
        try:
            return contracted_shares(contraction, board, count, engine.threads)
        except TooExpensive:
            pass  # this shows only while they are summed
    if visit_seconds < inf:
        return visited_shares(board, options, searcher)
    return counted_shares(board, options, engine)


def contracted_shares(
    contraction: Join | Parts, board: Board, count: int, threads: int
) -> NDArray[Any]:
    """Contract; TooExpensive if too many names of columns and rows meet in a box."""
    if isinstance(contraction, Join):
        return join_shares(contraction, count, threads)
    shares = np.zeros((board.geometry.cells, board.n), object)
    for _, join in contraction.joins():
        shares += join_shares(join, count, threads)
    return shares


def visited_shares(board: Board, options: Options, engine: Engine) -> NDArray[Any]:
    """Search, and visit all solutions once."""
    shares, lock = np.zeros((board.geometry.cells, board.n), object), Lock()

    def add(rows: NDArray[np.uint8], _: NDArray[np.int64]) -> None:
        """Add up the shares of some solutions, in any thread."""
        some = shares_in(rows, board.n)
        with lock:
            shares[...] += some

    SearchPlan(Frontier.of([board]), options).run(engine, on_solutions=add)
    return shares


def counted_shares(board: Board, options: Options, engine: Engine) -> NDArray[Any]:
    """Count for each candidate; TooExpensive if that should take too long."""
    shares = np.zeros((board.geometry.cells, board.n), object)
    most_seconds = COUNTED_SECONDS / max(1, int(board.candidate_counts.sum()))
    for cell in np.flatnonzero(board.cells == 0).tolist():
        mask = int(board.candidates[cell])
        digits = [digit for digit in range(1, board.n + 1) if mask >> digit - 1 & 1]
        with watching(None):
            counts = list(counts_of_digits(board, cell, digits, options, engine, most_seconds))
        shares[cell, np.array(digits) - 1] = counts
        count = shares[cell].sum()
    clues = np.flatnonzero(board.cells)
    shares[clues, board.cells[clues] - 1] = count
    return shares


def check_shares(shares: NDArray[Any], geometry: Geometry, count: int) -> None:
    """Check that each cell has one digit in every solution, and each unit every digit."""
    if (shares.sum(axis=1) != count).any() or (shares[geometry.units].sum(axis=1) != count).any():
        raise MismatchError("the shares do not add up to the count: this is a bug")


def counts_of_digits(
    board: Board,
    cell: int,
    digits: Sequence[int],
    options: Options,
    engine: Engine,
    most_seconds: float,
    whole: int | None = None,
) -> Iterator[int]:
    """Count the solutions with each of some digits in an empty cell, in their order, when needed.

    With ``auto``, boards of 9x9 cells are contracted without an estimate, as many solutions are
    expected. Digits that the board does not have yet are alike, and counted once. If the number of
    solutions with all the digits is known, ``whole``, the last that are alike have the rest of it.
    """
    kinds = list(digits)
    if board.given_candidates is None:
        absent = set(range(1, board.n + 1)) - set(board.cells.tolist())
        kinds = [min(absent) if digit in absent else digit for digit in digits]
    counted = list(dict.fromkeys(kinds))
    if whole is not None:
        counted.pop()
    cells = np.tile(board.cells, (len(counted), 1))
    cells[:, cell] = counted
    candidates = None
    if board.given_candidates is not None:
        candidates = np.tile(board.given_candidates, (len(counted), 1))
        candidates[:, cell] = digit_masks(cells[:, cell])
    block = Batch(board.geometry, cells, candidates)
    if options.method == "auto" and is_nine(block.geometry, block.candidates):
        options = replace(options, method="contraction")

    coming = (
        count
        for first in range(0, len(block), engine.threads)
        for counts in count_block(
            block.part(first, first + engine.threads), options, engine, max_seconds=most_seconds
        )
        for count in cast(ResultBlock, counts).numbers.tolist()  # later is nothing, without a token
    )
    known: dict[int, int] = {}
    for kind in kinds:
        if kind in known:
            pass
        elif whole is None or len(known) < len(counted):
            known[kind] = next(coming)
        else:
            others = sum(known[each] for each in kinds if each != kind)
            known[kind], rest = divmod(whole - others, kinds.count(kind))
            if rest or known[kind] < 0:
                raise MismatchError(
                    f"{others} of {whole} solutions leave no number for each of"
                    f" {kinds.count(kind)} digits: this is a bug"
                )
        yield known[kind]
