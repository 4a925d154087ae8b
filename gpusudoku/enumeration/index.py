"""Indexes of solutions by number: those of a few kept in memory, and those of contractions."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import accumulate
from math import inf
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch, sort_keys
from gpusudoku.board.text import write_lines
from gpusudoku.contraction.general.join import Join
from gpusudoku.contraction.general.parts import BoardPart, Parts
from gpusudoku.contraction.general.quick import JoinOrder
from gpusudoku.contraction.nine.quick import Products, QuickOrder
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.engine import Engine
from gpusudoku.errors import MismatchError
from gpusudoku.jobs.cancel import CancellableLock, Deadline, cancelling, check_cancelled
from gpusudoku.jobs.job import spread
from gpusudoku.options import Options
from gpusudoku.planning.batch import find_solutions

T = TypeVar("T")

BLOCK_ROWS = 1 << 14
"""Solutions in memory that are handed on together."""
BLOCK_BYTES = 1 << 22
"""The size of the blocks from a contraction of another shape than 9x9."""
FEW_ROWS = 16
"""No more rows of the quick order of a 9x9 board are looked up one by one: to prepare for writing
many takes longer."""
SORTED_ROWS = 1 << 12
"""Solutions that are sorted together: they should stay in a cache."""
COMPARED_ROWS = 1 << 10
"""No more rows are compared as they are; for more it is quicker to make numbers first."""


class Once(Generic[T]):
    """A property that is computed once, under the ``_lock`` of its object.

    In Python 3.11 all objects share the lock of a ``cached_property``, and no token ends the wait
    for it.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute, self._name = compute, compute.__name__

    def __get__(self, owner: Any, kind: type) -> T:
        with owner._lock:
            if self._name not in vars(owner):
                vars(owner)[self._name] = self._compute(owner)
            found: T = vars(owner)[self._name]
            return found


class SolutionIndex(ABC):
    """All solutions of one board, numbered from 0; callers give no numbers out of range."""

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of solutions."""

    @abstractmethod
    def at(self, numbers: NDArray[Any]) -> NDArray[np.uint8]:
        """Return solutions, uint8 (k, cells), by numbers, int64 or object (k), in any order."""

    @abstractmethod
    def rows(self, first: int, last: int | None = None) -> Iterator[NDArray[np.uint8]]:
        """Yield the solutions ``first`` to before ``last`` in blocks, each uint8 (k, cells)."""

    def texts(self, first: int, last: int | None = None) -> Iterator[bytes | memoryview]:
        """Yield the same as text: every solution in its canonical line, with a newline."""
        return map(write_lines, self.rows(first, last))


class RankedIndex(SolutionIndex):
    """Solutions in ascending order."""

    @abstractmethod
    def rank(self, cells: NDArray[np.uint8]) -> int:
        """Return the number of a solution, uint8 (cells)."""


class InMemoryIndex(RankedIndex):
    """All solutions of a board with n digits, uint8 (k, cells), in ascending order."""

    def __init__(self, solutions: NDArray[np.uint8], n: int) -> None:
        self._solutions, self._n = solutions, n

    @property
    def count(self) -> int:
        return len(self._solutions)

    def at(self, numbers: NDArray[Any]) -> NDArray[np.uint8]:
        return self._solutions[numbers.astype(np.int64)]

    def rows(self, first: int, last: int | None = None) -> Iterator[NDArray[np.uint8]]:
        last = self.count if last is None else min(last, self.count)
        for start in range(first, last, BLOCK_ROWS):
            yield self._solutions[start : min(start + BLOCK_ROWS, last)].copy()

    def rank(self, cells: NDArray[np.uint8]) -> int:
        return rank_in(self._solutions, cells)

    def shares(self) -> NDArray[Any]:
        """Count for every cell and digit the solutions that have it there: object (cells, n)."""
        return shares_in(self._solutions, self._n)


class QuickNine(SolutionIndex):
    """The contraction's order of a 9x9 board, from its candidates, uint64 (81), as ``Nine``'s."""

    def __init__(self, candidates: NDArray[np.uint64], threads: int) -> None:
        self._order, self._threads = QuickOrder(candidates, threads), threads
        self._lock = CancellableLock()

    @property
    def count(self) -> int:
        return self._order.count

    def at(self, numbers: NDArray[Any]) -> NDArray[np.uint8]:
        return self._order.at(numbers)

    def rows(self, first: int, last: int | None = None) -> Iterator[NDArray[np.uint8]]:
        last = self.count if last is None else min(last, self.count)
        if last - first <= FEW_ROWS:
            return iter([self.at(np.array(range(first, last), object))] if first < last else [])
        return self._products.rows(first, last, threads=self._threads)

    def texts(self, first: int, last: int | None = None) -> Iterator[bytes | memoryview]:
        last = self.count if last is None else min(last, self.count)
        for lines in self._products.rows(first, last, text=True, threads=self._threads):
            yield lines.reshape(-1).data

    @Once
    def _products(self) -> Products:
        return Products(self._order)


class QuickGeneral(SolutionIndex):
    """The order of a contraction of another shape than 9x9, with its parts one after another.

    All methods raise TooExpensive if products of the sum pass one word.
    """

    def __init__(self, contraction: Join | Parts, threads: int, count: int | None = None) -> None:
        self._contraction, self._threads = contraction, threads
        self._lock = CancellableLock()
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
        return int(self._starts[-1])

    def at(self, numbers: NDArray[Any]) -> NDArray[np.uint8]:
        """See ``SolutionIndex``. Every part that has some of them is contracted once."""
        given = numbers.astype(self._dtype)
        part = np.searchsorted(self._starts, given, side="right") - 1
        grids = np.empty((len(given), self._contraction.geometry.cells), np.uint8)
        for index in np.unique(part).tolist():
            rows = np.flatnonzero(part == index)
            grids[rows] = self._order(index).at(given[rows] - self._starts[index])
        return grids

    def rows(self, first: int, last: int | None = None) -> Iterator[NDArray[np.uint8]]:
        last = self.count if last is None else min(last, self.count)
        size = 1
        while first < last:
            end = min(first + size, last)
            found = self.at(np.array(range(first, end), object))
            yield found
            first, size = end, min(4 * size, BLOCK_BYTES // found.shape[1])

    def _order(self, index: int) -> JoinOrder:
        """Return the order of a part; the latest is kept."""
        with self._lock:
            if self._latest is None or self._latest[0] != index:
                assert isinstance(self._contraction, Parts)
                join = self._contraction.join_of(self._parts[index])
                self._latest = index, JoinOrder(join, self._threads)
            return self._latest[1]


def shares_in(rows: NDArray[np.uint8], digits: int) -> NDArray[Any]:
    """Count for every cell and digit the rows that have it there: object (cells, digits)."""
    cells = rows.shape[1]
    numbers = np.zeros(cells * (digits + 1), np.int64)
    places = np.arange(cells) * (digits + 1)
    for start in range(0, len(rows), BLOCK_ROWS):
        block = rows[start : start + BLOCK_ROWS] + places
        numbers += np.bincount(block.ravel(), minlength=len(numbers))
    return numbers.reshape(cells, -1)[:, 1:].astype(object)


def rank_in(rows: NDArray[np.uint8], cells: NDArray[np.uint8]) -> int:
    """Count the rows, in ascending order, that are less than a solution, uint8 (cells)."""
    return int(np.searchsorted(sort_keys(rows), sort_keys(cells[None])[0]))


def find_each(
    boards: Batch, options: Options, engine: Engine, most: int, seconds: float = inf
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Find the solutions of boards in ascending order, and their numbers, int64 (boards).

    Those of boards with more than ``most`` are left out. All solutions of a board must come before
    those of the boards after it. A search with a time limit, in seconds on one core, stays in this
    thread, and raises Cancelled: then call ``check_cancelled``, in case the caller's token did.
    """
    searcher: Engine = engine if seconds == inf else CpuEngine(1)
    token = None if seconds == inf else Deadline(seconds, time.thread_time)
    with cancelling(token):
        rows, roots, _ = find_solutions(boards, replace(options, limit=most + 1), searcher)
    counts = np.bincount(roots, minlength=len(boards))
    whole = counts <= most
    if not whole.all():
        wanted = whole[roots]
        rows, roots = rows[wanted], roots[wanted]
    pieces = _pieces(np.cumsum(counts * whole).tolist())
    if len(pieces) == 1:
        return in_order(rows), counts
    # Of two bytes at most it is a radix sort.
    places = np.argsort(roots.astype(np.min_scalar_type(len(boards))), kind="stable")
    ordered = np.empty_like(rows)

    def sort(piece: slice, *_: object) -> None:
        ordered[piece] = in_order(rows.take(places[piece], axis=0))

    spread(sort, pieces, [None] * engine.threads)
    return ordered, counts


def in_order(rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Sort full boards, uint8 (k, cells), all different, in ascending order."""
    check_cancelled()
    if len(rows) <= COMPARED_ROWS:
        return rows[np.argsort(sort_keys(rows))]
    differ = np.zeros(rows.shape[1], bool)
    for start in range(0, len(rows), BLOCK_ROWS):
        differ |= (rows[start : start + BLOCK_ROWS] != rows[0]).any(axis=0)
    open_cells = np.flatnonzero(differ)
    if (
        len(rows) > SORTED_ROWS
    ):  # by the first two cells in which they differ, and then piece by piece
        one, other = open_cells[:2].tolist()
        pairs = rows[:, one].astype(np.uint16) << 8 | rows[:, other]
        places = np.argsort(pairs, kind="stable")  # of two bytes it is a radix sort
        ordered = np.empty_like(rows)
        for piece in _pieces(np.unique(np.cumsum(np.bincount(pairs))).tolist()):
            ordered[piece] = in_order(rows[places[piece]])
        return ordered
    # Numbers of eight cells each: a sort compares one of them at a time, not texts.
    words = max(1, -(-len(open_cells) // 8))
    keys = np.zeros((len(rows), 8 * words), np.uint8)
    keys[:, : len(open_cells)] = rows[:, open_cells]
    numbers = keys.view(">u8").astype(np.uint64)
    return rows[np.lexsort(numbers.T[::-1])]


def _pieces(ends: list[int]) -> list[slice]:
    """Cut solutions at some of these ends, after no more than SORTED_ROWS where possible."""
    pieces, start = [], 0
    for end, following in zip(ends, [*ends[1:], inf], strict=True):
        if following - start > SORTED_ROWS:
            pieces.append(slice(start, end))
            start = end
    return pieces
