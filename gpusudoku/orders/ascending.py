"""Solutions in ascending order, by the counts of boards with the first cells fixed.

Cells are fixed in reading order, the counts for a cell's digits tell which digit the solution of a
number has there, and so on until few solutions are left: these are searched for and sorted. To go
through solutions one after the other no counts are needed: see ``Through``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.engines.engine import Engine
from gpusudoku.jobs.cancel import Turns
from gpusudoku.jobs.watch import watching
from gpusudoku.options import Options
from gpusudoku.orders.counts import counts_of_digits
from gpusudoku.orders.few import rank_in
from gpusudoku.orders.prefixes import Prefixes, Through
from gpusudoku.orders.protocol import as_texts

LEAF = 1 << 12
"""So many solutions are listed together."""
LEAF_BYTES = 1 << 22
"""Fewer of larger boards: these bytes."""
KEPT_LEAVES = 64
"""Lists that are kept for who asks for more of them."""
KEPT_NODES = 1 << 14
"""Prefixes whose counts are kept."""

COUNT_SECONDS = 20.0
"""A count that should take longer is not one of many on the way to a solution."""

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """What was used last, by prefix; the rest is forgotten."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[bytes, Value] = OrderedDict()

    def get(self, prefix: bytes, make: Callable[[bytes], Value]) -> Value:
        """What is kept for a prefix, or made now."""
        if prefix not in self._kept:
            self._kept[prefix] = make(prefix)
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)
        self._kept.move_to_end(prefix)
        return self._kept[prefix]

    def forget(self, prefix: bytes) -> None:
        """Let it be made anew."""
        self._kept.pop(prefix, None)


@dataclass
class _Node:
    """A prefix with more solutions than are listed, and how many each next digit has."""

    coming: Iterator[int]
    """The counts with the candidates of the next cell, in ascending order, found out as they are
    asked for."""
    counts: list[int] = field(default_factory=list)
    """Those that came."""


class Ascending:
    """Solutions by number; see ``Ranked``.

    Parameters
    ----------
    board
        Any board.
    options
        How to count and search.
    counter, searcher
        What counts and what searches.
    count
        Gives the number of all solutions, when somebody needs it.

    Raises
    ------
    TooExpensive
        By ``at``, ``rank``, and ``rows`` that do not begin with the first solution: if a count on
        the way to a solution should take too long. Those of 9x9 boards never do.
    """

    def __init__(
        self,
        board: Board,
        options: Options,
        counter: Engine,
        searcher: Engine,
        count: Callable[[], int],
    ) -> None:
        self._board, self._options, self._count = board, options, count
        self._counter, self._searcher = counter, searcher
        self._prefixes, self._large = Prefixes(board), set[bytes]()
        self._leaf = min(LEAF, LEAF_BYTES // board.geometry.cells)
        self._nodes: Recent[_Node] = Recent(KEPT_NODES)
        self._leaves: Recent[NDArray[np.uint8]] = Recent(KEPT_LEAVES)
        self._lock = Turns()

    @property
    def count(self) -> int:
        """See ``Ordered``."""
        return self._count()

    def at(self, numbers: NDArray[Any]) -> NDArray[np.uint8]:
        """See ``Ordered``. Those near to each other are found together."""
        found = np.empty((len(numbers), self._board.geometry.cells), np.uint8)
        start = end = 0
        rows = found[:0]
        for place in np.argsort(numbers, kind="stable").tolist():
            number = int(numbers[place])
            if not start <= number < end:
                prefix, start, _ = self._way_to(number)
                rows = self._all_of(prefix)
                end = start + len(rows)
            found[place] = rows[number - start]
        return found

    def rows(self, first: int, last: int | None = None) -> Iterator[NDArray[np.uint8]]:
        """See ``Ordered``."""
        number, prefixes = 0, [b""]
        if first > 0:
            if first >= self.count:
                return
            prefix, number, others = self._way_to(first)
            prefixes = [*others, prefix]
        if last is not None and number >= last:
            return
        through = Through(self._prefixes, self._options, self._searcher, self._large)
        for rows in through.rows(prefixes):
            wanted = rows[max(0, first - number) : None if last is None else last - number]
            number += len(rows)
            if len(wanted):
                yield wanted.copy() if len(wanted) < len(rows) else wanted
            if last is not None and number >= last:
                return

    def texts(self, first: int, last: int | None = None) -> Iterator[bytes | memoryview]:
        """See ``Ordered``."""
        return as_texts(self.rows(first, last))

    def rank(self, cells: NDArray[np.uint8]) -> int:
        """See ``Ranked``."""
        digits = cells[self._prefixes.cells].tolist()
        prefix, rank, left = b"", 0, self.count
        while left > self._leaf:
            wanted, whole = digits[len(prefix)], left
            for index, digit in enumerate(self._prefixes.digits(prefix)):
                left = self._count_with(prefix, whole, index)
                if digit == wanted:
                    break
                rank += left
            prefix += bytes([wanted])
        return rank + rank_in(self._all_of(prefix), cells)

    def _way_to(self, number: int) -> tuple[bytes, int, list[bytes]]:
        """The prefix of the list that has a solution, the number of the first one in that list.

        And the prefixes of all that come after the list, the last first.
        """
        prefix, first, left = b"", 0, self.count
        after: list[bytes] = []
        while left > self._leaf:
            whole, digits = left, self._prefixes.digits(prefix)
            for index in range(len(digits)):
                left = self._count_with(prefix, whole, index)
                if number < first + left:
                    break
                first += left
            after += [prefix + bytes([digit]) for digit in reversed(digits[index + 1 :])]
            prefix += bytes([digits[index]])
        return prefix, first, after

    def _count_with(self, prefix: bytes, whole: int, index: int) -> int:
        """The solutions with a prefix and a candidate of the next cell, of the whole before it.

        Those of candidates before it are counted again, if they were forgotten meanwhile.
        """
        with self._lock:
            node = self._nodes.get(prefix, partial(self._node, whole))
            try:
                with watching(None):
                    while index >= len(node.counts):
                        node.counts.append(next(node.coming))
            except BaseException:  # it gives nothing more after that
                self._nodes.forget(prefix)
                raise
            return node.counts[index]

    def _node(self, whole: int, prefix: bytes) -> _Node:
        digits = self._prefixes.digits(prefix)
        board, cell = self._prefixes.filled(prefix), int(self._prefixes.cells[len(prefix)])
        known = self._options, self._counter, COUNT_SECONDS, whole
        return _Node(counts_of_digits(board, cell, digits, *known))

    def _all_of(self, prefix: bytes) -> NDArray[np.uint8]:
        """The solutions with a prefix that has few."""
        with self._lock:
            return self._leaves.get(prefix, self._list)

    def _list(self, prefix: bytes) -> NDArray[np.uint8]:
        rows, [count] = self._prefixes.found([prefix], self._options, self._searcher, self._leaf)
        assert count <= self._leaf  # they were counted
        return rows
