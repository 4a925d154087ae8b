"""Placements, of a digit in an empty cell, that leave a board exactly one solution; and pairs."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board, digit_masks
from gpusudoku.board.geometry import FEWEST_CLUES, is_nine
from gpusudoku.enumeration.index import shares_in
from gpusudoku.enumeration.share_batches import share_batches
from gpusudoku.enumeration.shares import COUNTED_SECONDS, SHARES_PER_SUM, VISITED_PER_SECOND
from gpusudoku.enumeration.solution_set import Orders
from gpusudoku.errors import TooExpensive
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.jobs.watch import watching

LISTED = 1 << 16
"""The pairs of a board with no more solutions come from the list of these, in about a second."""


def unique_placements(board: Board, shares: NDArray[Any]) -> NDArray[np.int64]:
    """Find the placements with a share of 1, of shares object (cells, n): (k, 2), cell and digit.

    They are in ascending order.
    """
    placements = np.argwhere((shares == 1) & (board.cells == 0)[:, None])
    placements[:, 1] += 1
    return placements


def unique_pairs(orders: Orders) -> NDArray[np.int64]:
    """Find the pairs of placements with exactly one solution in common, where each alone has more.

    They are int64 (k, 4): a cell and its digit, and those of a later cell, in ascending order.
    TooExpensive if it should take too long, for boards of other shapes than 9x9.
    """
    board, shares = orders.board, orders.shares
    # A placement that all solutions have tells nothing, so that its pairs leave several, too.
    wanted = (shares > 1) & (shares < orders.count)
    cells = np.flatnonzero(wanted.any(axis=1))
    wanted = wanted[cells]
    places = np.argwhere(wanted)
    found = [np.empty((0, 4), np.int64)]
    if is_nine(board.geometry, board.given_candidates) and board.clues + 2 < FEWEST_CLUES:
        return found[0]
    with watching(None), closing(_shares_with_each(orders, cells, places)) as each:
        for (first, digit), some in zip(places.tolist(), each, strict=True):
            others = np.argwhere((some == 1) & wanted[first:])
            pairs = np.empty((len(others), 4), np.int64)
            pairs[:, :2] = cells[first], digit + 1
            pairs[:, 2], pairs[:, 3] = cells[first + others[:, 0]], others[:, 1] + 1
            found.append(pairs)
    return np.concatenate(found)


def _shares_with_each(
    orders: Orders, cells: NDArray[np.int64], places: NDArray[np.int64]
) -> Generator[NDArray[Any], None, None]:
    """Yield the shares of the board with each placement added, in its cell and those after it.

    ``places`` are placements by the index among some ``cells``, and the digit less 1.
    """
    board = orders.board
    if orders.count <= LISTED:
        rows = np.concatenate([np.empty((0, len(board.cells)), np.uint8), *orders.quick.rows(0)])
        rows = rows[:, cells]
        for index, digit in places.tolist():
            check_cancelled()
            yield shares_in(rows[rows[:, index] == digit + 1, index:], board.n)
        return
    if not is_nine(board.geometry, board.given_candidates):
        _check_cost(orders, len(cells), len(places))
    grids = np.tile(board.cells, (len(places), 1))
    grids[np.arange(len(places)), cells[places[:, 0]]] = places[:, 1] + 1
    given = board.given_candidates
    candidates = None if given is None else np.where(grids == 0, given, digit_masks(grids))
    batch, first = Batch(board.geometry, grids, candidates), iter(places[:, 0].tolist())
    with closing(share_batches([batch], orders.options, orders.engine)) as blocks:
        for block in blocks:
            assert block.shares is not None
            assert block.errors is not None
            for shares, error in zip(block.shares, block.errors, strict=True):
                if error is not None:
                    raise error
                yield shares[cells[next(first) :]]


def _check_cost(orders: Orders, cells: int, places: int) -> None:
    """Raise TooExpensive if so many boards are too much work, whichever way their shares come."""
    if orders.count * cells <= COUNTED_SECONDS * VISITED_PER_SECOND:
        return
    contraction = orders.contraction
    if contraction is None or SHARES_PER_SUM * contraction.seconds * places > COUNTED_SECONDS:
        raise TooExpensive(
            f"too expensive: this needs the shares of {places} boards, each with one more clue"
        )
