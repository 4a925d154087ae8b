"""All solutions of a board in memory: found by a search, and sorted."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch, sort_keys
from gpusudoku.board.geometry import Geometry
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.engine import Engine
from gpusudoku.enumeration.index import SolutionIndex
from gpusudoku.errors import MismatchError
from gpusudoku.jobs.cancel import Deadline, cancelling, check_cancelled
from gpusudoku.jobs.job import run_on_threads
from gpusudoku.options import Options
from gpusudoku.planning.count import find_solutions

BLOCK_ROWS = 1 << 14
"""Solutions in a block."""
SORTED_ROWS = 1 << 12
"""Solutions that are sorted together: they should fit into a cache."""
COMPARED_ROWS = 1 << 10
"""Up to this many rows are compared as they are. More rows are first packed into integers."""


class InMemoryIndex(SolutionIndex):
    """All solutions of a board with n digits, uint8 (k, cells), in ascending order."""

    def __init__(self, solutions: NDArray[np.uint8], n: int) -> None:
        self._solutions = solutions
        self._n = n

    @property
    def count(self) -> int:
        return len(self._solutions)

    def at(self, numbers: NDArray[Any]) -> NDArray[np.uint8]:
        return self._solutions[numbers.astype(np.int64)]

    def rows(self, start: int, stop: int | None = None) -> Iterator[NDArray[np.uint8]]:
        stop = self._range(start, stop).stop
        for block_start in range(start, stop, BLOCK_ROWS):
            yield self._solutions[block_start : min(block_start + BLOCK_ROWS, stop)].copy()

    def rank(self, cells: NDArray[np.uint8]) -> int:
        """Return the number of a solution, uint8 (cells)."""
        return rank_in(self._solutions, cells)

    def shares(self) -> NDArray[Any]:
        """Return the number of solutions with each digit in each cell: object (cells, n)."""
        return shares_in(self._solutions, self._n)


def shares_in(rows: NDArray[np.uint8], digits: int) -> NDArray[Any]:
    """Return the number of rows with each digit in each cell: object (cells, digits)."""
    cells = rows.shape[1]
    counts = np.zeros(cells * (digits + 1), np.int64)
    # Every cell has a counter for each digit, and one for 0.
    counters = np.arange(cells) * (digits + 1)
    for start in range(0, len(rows), BLOCK_ROWS):
        block = rows[start : start + BLOCK_ROWS] + counters
        counts += np.bincount(block.ravel(), minlength=len(counts))
    return counts.reshape(cells, -1)[:, 1:].astype(object)


def check_shares(shares: NDArray[Any], geometry: Geometry, count: int) -> None:
    """Check that the shares of each cell, and of each digit in each unit, add up to the count."""
    if (shares.sum(axis=1) != count).any() or (shares[geometry.units].sum(axis=1) != count).any():
        raise MismatchError("the shares do not add up to the count: this is a bug")


def rank_in(rows: NDArray[np.uint8], cells: NDArray[np.uint8]) -> int:
    """Return the number of ascending rows that are less than a solution, uint8 (cells)."""
    return int(np.searchsorted(sort_keys(rows), sort_keys(cells[None])[0]))


def find_sorted(
    boards: Batch, options: Options, engine: Engine, limit: int, seconds: float = inf
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the solutions of boards in ascending order, and their counts, int64 (boards).

    Solutions of boards with more than ``limit`` solutions are omitted. The boards must be in
    ascending order: all solutions of a board must come before those of the next board. ``seconds``
    is a time limit, on one core; the search then runs in this thread.

    Raises
    ------
    Cancelled
        If the time limit or a token of this thread ends the search; ``check_cancelled`` raises only
        for the latter.
    """
    searcher: Engine = engine if seconds == inf else CpuEngine(1)
    token = None if seconds == inf else Deadline(seconds, time.thread_time)
    with cancelling(token):
        rows, roots, _ = find_solutions(boards, replace(options, limit=limit + 1), searcher)
    counts = np.bincount(roots, minlength=len(boards))
    is_whole = counts <= limit
    if not is_whole.all():
        is_kept = is_whole[roots]
        rows = rows[is_kept]
        roots = roots[is_kept]
    chunks = _chunks(np.cumsum(counts * is_whole).tolist())
    if len(chunks) == 1:
        return sort_rows(rows), counts
    # NumPy sorts integers of at most two bytes by a radix sort.
    order = np.argsort(roots.astype(np.min_scalar_type(len(boards))), kind="stable")
    ordered = np.empty_like(rows)

    def sort(chunk: slice, *_: object) -> None:
        ordered[chunk] = sort_rows(rows.take(order[chunk], axis=0))

    run_on_threads(sort, chunks, [None] * engine.threads)
    return ordered, counts


def sort_rows(rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return full boards, uint8 (k, cells), all different, in ascending order."""
    check_cancelled()
    if len(rows) <= COMPARED_ROWS:
        return rows[np.argsort(sort_keys(rows))]
    differs = np.zeros(rows.shape[1], bool)
    for start in range(0, len(rows), BLOCK_ROWS):
        differs |= (rows[start : start + BLOCK_ROWS] != rows[0]).any(axis=0)
    open_cells = np.flatnonzero(differs)
    if len(rows) > SORTED_ROWS:
        # First by two cells, which are two bytes and so are sorted by a radix sort. Then in chunks.
        first_cell, second_cell = open_cells[:2].tolist()
        pairs = rows[:, first_cell].astype(np.uint16) << 8 | rows[:, second_cell]
        order = np.argsort(pairs, kind="stable")
        ordered = np.empty_like(rows)
        for chunk in _chunks(np.unique(np.cumsum(np.bincount(pairs))).tolist()):
            ordered[chunk] = sort_rows(rows[order[chunk]])
        return ordered
    # Eight cells are packed into an integer: comparing integers is faster than comparing bytes.
    words = max(1, -(-len(open_cells) // 8))
    keys = np.zeros((len(rows), 8 * words), np.uint8)
    keys[:, : len(open_cells)] = rows[:, open_cells]
    numbers = keys.view(">u8").astype(np.uint64)
    return rows[np.lexsort(numbers.T[::-1])]


def _chunks(ends: list[int]) -> list[slice]:
    """Divide solutions at some of these ends, into chunks of at most SORTED_ROWS if possible."""
    chunks = []
    start = 0
    for end, next_end in zip(ends, [*ends[1:], inf], strict=True):
        if next_end - start > SORTED_ROWS:
            chunks.append(slice(start, end))
            start = end
    return chunks
