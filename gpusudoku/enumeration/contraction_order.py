"""Solutions in the contraction order: the one in which a contraction finds them fastest."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import NINE
from gpusudoku.contraction.general.join import MEMORY, Join
from gpusudoku.contraction.general.order import JoinOrder
from gpusudoku.contraction.general.parts import BoardPart, Parts
from gpusudoku.contraction.nine.order import NineOrder, NineSolutionWriter
from gpusudoku.enumeration.index import SolutionIndex
from gpusudoku.errors import TooExpensive
from gpusudoku.jobs.cancel import CancellableLock, locked_cached_property
from gpusudoku.planning.contraction import contraction_of
from gpusudoku.search.frontier import Frontier

LOOKED_UP_ROWS = 16
"""Up to this many consecutive solutions of a 9x9 board are looked up one by one. Preparing to write
whole products takes longer."""
BLOCK_BYTES = 1 << 22
"""The size of the blocks of other boards."""
CONTRACTION_SECONDS = 600.0
"""For other shapes, a contraction is not used to number solutions if it takes longer than this."""
PARTS_SECONDS = 60.0
"""The same limit for a contraction in parts. Looking up many numbers lists most parts again, which
takes longer than adding their products."""


class NineIndex(SolutionIndex):
    """The contraction order of a 9x9 board.

    ``candidates`` is uint64 (81), as for ``NineContraction``.
    """

    def __init__(self, candidates: NDArray[np.uint64], threads: int) -> None:
        self._order = NineOrder(candidates, threads)
        self._threads = threads
        self._lock = CancellableLock()

    @property
    def count(self) -> int:
        return self._order.count

    def at(self, numbers: NDArray[Any]) -> NDArray[np.uint8]:
        return self._order.at(numbers)

    def rows(self, start: int, stop: int | None = None) -> Iterator[NDArray[np.uint8]]:
        numbers = self._range(start, stop)
        if not numbers:
            return iter(())
        # Not len(numbers), which is limited to 2^63.
        if numbers.stop - start <= LOOKED_UP_ROWS:
            return iter([self.at(np.array(numbers, object))])
        return self._writer.rows(start, numbers.stop, threads=self._threads)

    def texts(self, start: int, stop: int | None = None) -> Iterator[bytes | memoryview]:
        stop = self._range(start, stop).stop
        for lines in self._writer.rows(start, stop, text=True, threads=self._threads):
            yield lines.reshape(-1).data

    @locked_cached_property
    def _writer(self) -> NineSolutionWriter:
        return NineSolutionWriter(self._order)


class GeneralIndex(SolutionIndex):
    """The contraction order of a board that is not 9x9. Parts of a contraction follow each other.

    All methods raise TooExpensive if a product of the sum exceeds 64 bits.
    """

    def __init__(self, contraction: Join | Parts, threads: int) -> None:
        self._contraction = contraction
        self._threads = threads
        self._lock = CancellableLock()
        self._parts: list[BoardPart] = []
        # The index of the part whose order was made last, and that order.
        self._latest: tuple[int, JoinOrder] | None = None
        counts = []
        if isinstance(contraction, Parts):
            for part, join in contraction.joins():
                self._parts.append(part)
                counts.append(JoinOrder(join, threads).count)
        else:
            order = JoinOrder(contraction, threads)
            self._latest = 0, order
            counts.append(order.count)
        starts = [*accumulate(counts, initial=0)]
        self._dtype = np.dtype(np.int64 if starts[-1] < 1 << 63 else object)
        self._starts = np.array(starts, self._dtype)

    @property
    def count(self) -> int:
        return int(self._starts[-1])

    def at(self, numbers: NDArray[Any]) -> NDArray[np.uint8]:
        """See ``SolutionIndex``. Contracts every part that has one of the solutions once."""
        numbers = numbers.astype(self._dtype)
        # The last part that starts at or before each number.
        part_of = np.searchsorted(self._starts, numbers, side="right") - 1
        grids = np.empty((len(numbers), self._contraction.geometry.cells), np.uint8)
        for part in np.unique(part_of).tolist():
            indices = np.flatnonzero(part_of == part)
            grids[indices] = self._order(part).at(numbers[indices] - self._starts[part])
        return grids

    def rows(self, start: int, stop: int | None = None) -> Iterator[NDArray[np.uint8]]:
        stop = self._range(start, stop).stop
        # One number takes as long as many of the same part, but the first block should come soon.
        size = 1
        max_size = BLOCK_BYTES // self._contraction.geometry.cells
        while start < stop:
            end = min(start + size, stop)
            yield self.at(np.array(range(start, end), object))
            start = end
            size = min(4 * size, max_size)

    def _order(self, part: int) -> JoinOrder:
        """Return the order of a part. The last one is kept for the next call."""
        with self._lock:
            if self._latest is None or self._latest[0] != part:
                assert isinstance(self._contraction, Parts)
                join = self._contraction.join_of(self._parts[part])
                self._latest = part, JoinOrder(join, self._threads)
            return self._latest[1]


def contraction_for_order(board: Board) -> Join | Parts | None:
    """Return the contraction that numbers the solutions of a board, or None."""
    if board.geometry == NINE or board.given_candidates is not None:
        return None
    try:
        # Without options: the order must depend on the board only.
        contraction = contraction_of(board, Frontier.of([board]), MEMORY, CONTRACTION_SECONDS)
    except TooExpensive:
        return None
    if not isinstance(contraction, Join | Parts):
        return None
    max_seconds = PARTS_SECONDS if isinstance(contraction, Parts) else CONTRACTION_SECONDS
    return contraction if contraction.seconds <= max_seconds else None
