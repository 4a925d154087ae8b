"""So few solutions that all of them are in memory, in ascending order."""

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
from gpusudoku.jobs.cancel import Deadline, cancelling, check_cancelled
from gpusudoku.jobs.job import spread
from gpusudoku.options import Options
from gpusudoku.orders.protocol import as_texts
from gpusudoku.planning.batch import find_solutions

MOST_SOLUTIONS = 1 << 20
"""Of boards with no more solutions all are kept in memory, once somebody asks for the quick order,
and of 9x9 boards of clues fewer: see ``choose.ONE_ORDER``."""
MOST_BYTES = 1 << 28
"""Fewer solutions are kept of larger boards: these bytes."""
BLOCK = 1 << 14
"""Solutions that are handed on together."""
CUT = 1 << 12
"""Solutions that are sorted together: they should stay in a cache."""
SMALL = 1 << 10
"""So many rows are sorted as they are; of more it is quicker to make numbers first."""


def most_solutions(geometry: Geometry) -> int:
    """The most solutions of a board that are kept in memory."""
    return min(MOST_SOLUTIONS, MOST_BYTES // geometry.cells)


def find(
    board: Batch, options: Options, engine: Engine, most: int, seconds: float = inf
) -> NDArray[np.uint8] | None:
    """Find the solutions of a batch of one board; None if there are more than ``most``.

    Returns
    -------
    uint8 (k, cells), in ascending order.

    Raises
    ------
    Cancelled
        As ``find_each`` does.
    """
    rows, [count] = find_each(board, options, engine, most, seconds)
    return None if count > most else rows


def find_each(
    boards: Batch, options: Options, engine: Engine, most: int, seconds: float = inf
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Find the solutions of boards with no more than ``most``; others have none that are given.

    All solutions of a board must come before those of the boards after it in ascending order. If
    the search may take only some seconds on one core, the thread that calls searches alone.

    Returns
    -------
    The solutions, uint8 (k, cells), in ascending order; and how many were found of each board,
    int64 (boards), which is more than ``most`` if there are more.

    Raises
    ------
    Cancelled
        If the search takes longer; so whoever catches it calls ``check_cancelled``.
    """
    searcher: Engine = engine if seconds == inf else CpuEngine(1)
    token = None if seconds == inf else Deadline(seconds, time.thread_time)
    limited = replace(options, limit=most + 1)
    with cancelling(token):
        rows, roots, _ = find_solutions(boards, limited, searcher)
    counts = np.bincount(roots, minlength=len(boards))
    whole = counts <= most
    if not whole.all():
        wanted = whole[roots]
        rows, roots = rows[wanted], roots[wanted]
    parts = _parts(np.cumsum(counts * whole).tolist())
    if len(parts) == 1:
        return in_order(rows), counts
    # Of two bytes at most it is a radix sort.
    places = np.argsort(roots.astype(np.min_scalar_type(len(boards))), kind="stable")
    ordered = np.empty_like(rows)

    def sort(part: slice, *_: object) -> None:
        ordered[part] = in_order(rows.take(places[part], axis=0))

    spread(sort, parts, [None] * engine.threads)
    return ordered, counts


def _parts(ends: list[int]) -> list[slice]:
    """Where solutions are cut that are to be sorted: at ends of boards.

    No part is larger than CUT, but where it is a single board's.
    """
    parts, start = [], 0
    for end, following in zip(ends, [*ends[1:], inf], strict=True):
        if following - start > CUT:
            parts.append(slice(start, end))
            start = end
    return parts


def in_order(rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Full boards, uint8 (k, cells), all different, in ascending order."""
    check_cancelled()
    if len(rows) <= SMALL:
        return rows[np.argsort(sort_keys(rows))]
    open_cells = _open_cells(rows)
    if len(rows) > CUT:
        return _in_parts(rows, *open_cells[:2].tolist())
    # Numbers of eight cells each: a sort compares one of them at a time, not texts.
    words = max(1, -(-len(open_cells) // 8))
    keys = np.zeros((len(rows), 8 * words), np.uint8)
    keys[:, : len(open_cells)] = rows[:, open_cells]
    numbers = keys.view(">u8").astype(np.uint64)
    return rows[np.lexsort(numbers.T[::-1])]


def _in_parts(rows: NDArray[np.uint8], one: int, other: int) -> NDArray[np.uint8]:
    """Rows in order: by the first two cells in which they differ, and then part by part."""
    keys = rows[:, one].astype(np.uint16) << 8 | rows[:, other]
    places = np.argsort(keys, kind="stable")  # of two bytes it is a radix sort
    ordered = np.empty_like(rows)
    for part in _parts(np.unique(np.cumsum(np.bincount(keys))).tolist()):
        ordered[part] = in_order(rows[places[part]])
    return ordered


def _open_cells(rows: NDArray[np.uint8]) -> NDArray[np.intp]:
    """The cells in which rows differ."""
    differ = np.zeros(rows.shape[1], bool)
    for start in range(0, len(rows), BLOCK):
        differ |= (rows[start : start + BLOCK] != rows[0]).any(axis=0)
    return np.flatnonzero(differ)


class Few:
    """Solutions in memory; see ``Ordered``.

    Parameters
    ----------
    rows
        uint8 (k, cells): all solutions of a board, in ascending order.
    digits
        How many digits the board has.
    """

    def __init__(self, rows: NDArray[np.uint8], digits: int) -> None:
        self._rows, self._digits = rows, digits

    @property
    def count(self) -> int:
        """See ``Ordered``."""
        return len(self._rows)

    def at(self, numbers: NDArray[Any]) -> NDArray[np.uint8]:
        """See ``Ordered``."""
        return self._rows[numbers.astype(np.int64)]

    def rows(self, first: int, last: int | None = None) -> Iterator[NDArray[np.uint8]]:
        """See ``Ordered``."""
        last = self.count if last is None else min(last, self.count)
        for start in range(first, last, BLOCK):
            yield self._rows[start : min(start + BLOCK, last)].copy()

    def texts(self, first: int, last: int | None = None) -> Iterator[bytes | memoryview]:
        """See ``Ordered``."""
        return as_texts(self.rows(first, last))

    def rank(self, cells: NDArray[np.uint8]) -> int:
        """See ``Ranked``."""
        return rank_in(self._rows, cells)

    def shares(self) -> NDArray[Any]:
        """For every cell and digit how many solutions have it there: object (cells, digits)."""
        return shares_in(self._rows, self._digits)


def shares_in(rows: NDArray[np.uint8], digits: int) -> NDArray[Any]:
    """For every cell and digit how many of some solutions have it there: object (cells, digits)."""
    cells = rows.shape[1]
    numbers = np.zeros(cells * (digits + 1), np.int64)
    places = np.arange(cells) * (digits + 1)
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK] + places
        numbers += np.bincount(block.ravel(), minlength=len(numbers))
    return numbers.reshape(cells, -1)[:, 1:].astype(object)


def rank_in(rows: NDArray[np.uint8], cells: NDArray[np.uint8]) -> int:
    """How many of some rows in ascending order are less than a solution, uint8 (cells)."""
    return int(np.searchsorted(sort_keys(rows), sort_keys(cells[None])[0]))
