"""The quick order of boards of other shapes with many solutions, and their shares.

A board that is contracted in parts has the solutions of its parts, one part after another.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.contraction.general.join import MEMORY, Join
from gpusudoku.contraction.general.parts import BoardPart, Parts
from gpusudoku.contraction.general.quick import JoinOrder
from gpusudoku.contraction.general.shares import join_shares
from gpusudoku.contraction.nine.sum import Nine
from gpusudoku.contraction.prepare import NINE, contraction_of
from gpusudoku.errors import MismatchError, TooExpensive
from gpusudoku.jobs.cancel import Turns
from gpusudoku.orders.protocol import as_texts
from gpusudoku.search.frontier import Frontier

MOST_SECONDS = 600.0
"""A contraction that should take longer on one core numbers no solutions."""
MOST_PARTS_SECONDS = 60.0
"""The same in parts: many numbers at once have most parts listed anew, which takes longer than to
sum them."""
BLOCK_BYTES = 1 << 22
"""Solutions that are handed on together: these bytes."""


def contracted(board: Board) -> Join | Parts | None:
    """The contraction that numbers the solutions of a board of another shape than 9x9.

    It depends on the board alone. None if there is none: its candidates do not follow from its
    clues, or it would take too long.
    """
    if board.geometry == NINE or board.given_candidates is not None:
        return None
    try:
        # Options do not matter: they must not change the order.
        found = contraction_of(board, Frontier.of([board]), MEMORY, MOST_SECONDS)
    except TooExpensive:
        return None
    assert not isinstance(found, Nine)
    assert found is None or isinstance(found, Join | Parts)
    most = MOST_PARTS_SECONDS if isinstance(found, Parts) else MOST_SECONDS
    return None if found is None or found.seconds > most else found


class QuickGeneral:
    """The contraction's order; see ``Ordered``.

    Parameters
    ----------
    contraction
        That of the board.
    threads
        How many work at it; what comes out does not depend on them.
    count
        The number of the board's solutions, if it is known: it is compared.

    Raises
    ------
    MismatchError
        If the contraction has another number of solutions.
    TooExpensive
        Also by what gives solutions: if products of the sum pass one word.
    """

    def __init__(self, contraction: Join | Parts, threads: int, count: int | None = None) -> None:
        self._contraction, self._threads = contraction, threads
        self._lock = Turns()
        self._parts: list[BoardPart] = []
        self._latest: tuple[int, JoinOrder] | None = None
        """A part whose order is made, as an index."""
        counts = []
        if isinstance(contraction, Parts):
            for part, join in contraction.joins():
                self._parts.append(part)
                counts.append(JoinOrder(join, threads).count)
        else:
            self._latest = 0, JoinOrder(contraction, threads)
            counts.append(self._latest[1].count)
        starts = [*accumulate(counts, initial=0)]
        self._dtype = np.dtype(np.int64 if starts[-1] < 1 << 63 else object)
        self._starts = np.array(starts, self._dtype)
        if count is not None and count != self.count:
            raise MismatchError(
                f"the quick order has {self.count} solutions, not {count}: this is a bug"
            )

    @property
    def count(self) -> int:
        """See ``Ordered``."""
        return int(self._starts[-1])

    def at(self, numbers: NDArray[Any]) -> NDArray[np.uint8]:
        """See ``Ordered``. Every part that has some of them is contracted once."""
        given = numbers.astype(self._dtype)
        part = np.searchsorted(self._starts, given, side="right") - 1
        if len(self._starts) == 2:
            return self._order(0).at(given)
        grids: NDArray[np.uint8] | None = None
        for index in np.unique(part).tolist():
            rows = np.flatnonzero(part == index)
            found = self._order(index).at(given[rows] - self._starts[index])
            if grids is None:
                grids = np.empty((len(given), found.shape[1]), np.uint8)
            grids[rows] = found
        assert grids is not None
        return grids

    def rows(self, first: int, last: int | None = None) -> Iterator[NDArray[np.uint8]]:
        """See ``Ordered``."""
        last = self.count if last is None else min(last, self.count)
        size = 1
        while first < last:
            end = min(first + size, last)
            found = self.at(np.array(range(first, end), object))
            yield found
            first, size = end, min(4 * size, BLOCK_BYTES // found.shape[1])

    def texts(self, first: int, last: int | None = None) -> Iterator[bytes | memoryview]:
        """See ``Ordered``."""
        return as_texts(self.rows(first, last))

    def _order(self, index: int) -> JoinOrder:
        """The order of a part; the latest is kept."""
        with self._lock:
            if self._latest is None or self._latest[0] != index:
                assert isinstance(self._contraction, Parts)
                join = self._contraction.join_of(self._parts[index])
                self._latest = index, JoinOrder(join, self._threads)
            return self._latest[1]


def general_shares(
    contraction: Join | Parts, board: Board, count: int, threads: int
) -> NDArray[Any]:
    """The shares of a board with so many solutions: object (cells, n).

    Raises
    ------
    TooExpensive
        If too many names of columns and rows meet in a box.
    """
    if isinstance(contraction, Join):
        return join_shares(contraction, count, threads)
    shares = np.zeros((board.geometry.cells, board.n), object)
    for _, join in contraction.joins():
        shares += join_shares(join, count, threads)
    return shares
