"""Solutions in ascending order, found by the digits of the first empty cells: their prefixes.

Cells are filled in reading order. The counts for a cell's digits show which digit the solution with
a given number has there, and so on until few solutions are left: these are searched for and sorted.
To list solutions one after the other no counts are needed: see ``LexicographicIterator``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.engines.engine import Engine
from gpusudoku.enumeration.in_memory import find_sorted, rank_in
from gpusudoku.enumeration.index import RankedIndex
from gpusudoku.enumeration.shares import counts_of_digits
from gpusudoku.errors import Cancelled, TooExpensive
from gpusudoku.jobs.cancel import CancellableLock, check_cancelled
from gpusudoku.jobs.watch import watching
from gpusudoku.options import Options

LISTED, LISTED_BYTES = 1 << 12, 1 << 22
"""Solutions with a prefix, and their bytes, that are listed; of more the next digits count."""
KEPT_LEAVES, KEPT_NODES = 64, 1 << 14
"""The number of such lists, and of prefixes with their counts, that are kept for later numbers."""
COUNT_SECONDS = 20.0
"""A number is refused if one of the counts on the way to its solution should take longer."""
LIST_SECONDS = 20.0
"""A list is refused if a search for it takes longer on a core: there may well be no solution, which
can take forever to show."""
SPLIT_FIRST, SPLIT_LATER = 1 << 10, 1 << 13
"""The iterator splits prefixes that have more solutions: the first blocks should come soon."""
TOGETHER = 32
"""The most prefixes that it searches together."""
QUICK_SEARCH = 1 / 8
"""It takes more at a time after a search that took no more than this part of LIST_SECONDS."""
SPARSE = 1 / 8
"""It tries shorter prefixes after finding no more than this part of what it takes at a time."""


class Prefixes:
    """The prefixes of a board's solutions: the digits of its first empty cells, as bytes."""

    def __init__(self, board: Board, options: Options, searcher: Engine) -> None:
        self.board, self.cells = board, np.flatnonzero(board.cells == 0)
        self._options, self._searcher = options, searcher

    def filled(self, prefix: bytes) -> Board:
        """Return the board with a prefix."""
        cells = self.board.cells.copy()
        cells[self.cells[: len(prefix)]] = np.frombuffer(prefix, np.uint8)
        return Board(cells, self.board.geometry, candidates=self.board.given_candidates)

    def digits(self, prefix: bytes) -> list[int]:
        """List the candidates of the cell after a prefix, in ascending order."""
        mask = int(self.filled(prefix).candidates[self.cells[len(prefix)]])
        return [digit for digit in range(1, self.board.n + 1) if mask >> digit - 1 & 1]

    def longer(self, prefix: bytes) -> list[bytes]:
        """Lengthen a prefix up to a cell with several candidates; the last prefix comes first."""
        longer = [prefix]
        while len(longer) == 1 and len(longer[0]) < len(self.cells):
            longer = [longer[0] + bytes([digit]) for digit in reversed(self.digits(longer[0]))]
        return longer

    def find(
        self, prefixes: Sequence[bytes], most: int
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Find the solutions with prefixes in ascending order, within LIST_SECONDS."""
        boards = Batch.of([self.filled(prefix) for prefix in prefixes])
        try:
            return find_sorted(boards, self._options, self._searcher, most, LIST_SECONDS)
        except Cancelled:
            check_cancelled()  # by the caller, not for lack of time
            raise TooExpensive(
                "too expensive: this needs the solutions with some first cells filled in, and to"
                f" find them takes more than {LIST_SECONDS:.0f} s"
            ) from None


class _DigitCounts:
    """The numbers of solutions with each candidate of a cell, counted as they are needed."""

    def __init__(self, begin: Callable[[], Iterator[int]]) -> None:
        self._begin = begin
        self._coming, self._known = begin(), list[int]()

    def __getitem__(self, index: int) -> int:
        try:
            with watching(None):
                while index >= len(self._known):
                    self._known.append(next(self._coming))
        except BaseException:  # the iterator gives nothing more after that
            self._coming, self._known = self._begin(), []
            raise
        return self._known[index]


class LexicographicIndex(RankedIndex):
    """Solutions by number, by the counts of their prefixes.

    All but ``rows`` from the first solution on raise TooExpensive if a count on the way should take
    too long. Those of 9x9 boards never do.
    """

    def __init__(
        self,
        board: Board,
        options: Options,
        counter: Engine,
        searcher: Engine,
        count: Callable[[], int],
    ) -> None:
        self._board, self._options, self._counter, self._count = board, options, counter, count
        self._prefixes = Prefixes(board, options, searcher)
        self._oversized = set[bytes]()
        self._leaf = min(LISTED, LISTED_BYTES // board.geometry.cells)
        self._counts_after = lru_cache(KEPT_NODES)(self._make_counts)
        self._list_of = lru_cache(KEPT_LEAVES)(self._make_list)
        self._lock = CancellableLock()

    @property
    def count(self) -> int:
        return self._count()

    def at(self, numbers: NDArray[Any]) -> NDArray[np.uint8]:
        """See ``SolutionIndex``. Those near to each other are found together."""
        found = np.empty((len(numbers), self._board.geometry.cells), np.uint8)
        start = end = 0
        rows = found[:0]
        for place in np.argsort(numbers, kind="stable").tolist():
            number = int(numbers[place])
            if not start <= number < end:
                prefix, start, _ = self._way_to(number)
                rows = self._list(prefix)
                end = start + len(rows)
            found[place] = rows[number - start]
        return found

    def rows(self, first: int, last: int | None = None) -> Iterator[NDArray[np.uint8]]:
        number, prefixes = 0, [b""]
        if first > 0:
            if first >= self.count:
                return
            prefix, number, others = self._way_to(first)
            prefixes = [*others, prefix]
        if last is not None and number >= last:
            return
        for rows in LexicographicIterator(self._prefixes, self._oversized).rows(prefixes):
            wanted = rows[max(0, first - number) : None if last is None else last - number]
            number += len(rows)
            if len(wanted):
                yield wanted.copy() if len(wanted) < len(rows) else wanted
            if last is not None and number >= last:
                return

    def rank(self, cells: NDArray[np.uint8]) -> int:
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
        return rank + rank_in(self._list(prefix), cells)

    def _way_to(self, number: int) -> tuple[bytes, int, list[bytes]]:
        """Return the prefix of a solution's list, the number of its first, and later prefixes."""
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
        """Count the solutions with a prefix and a candidate of the next cell, of ``whole``."""
        with self._lock:
            return self._counts_after(prefix, whole)[index]

    def _make_counts(self, prefix: bytes, whole: int) -> _DigitCounts:
        board, cell = self._prefixes.filled(prefix), int(self._prefixes.cells[len(prefix)])
        digits, options, engine = self._prefixes.digits(prefix), self._options, self._counter
        return _DigitCounts(
            lambda: counts_of_digits(board, cell, digits, options, engine, COUNT_SECONDS, whole)
        )

    def _list(self, prefix: bytes) -> NDArray[np.uint8]:
        """List the solutions with a prefix that has few."""
        with self._lock:
            return self._list_of(prefix)

    def _make_list(self, prefix: bytes) -> NDArray[np.uint8]:
        rows, [count] = self._prefixes.find([prefix], self._leaf)
        assert count <= self._leaf  # they were counted
        return rows


class LexicographicIterator:
    """Lists solutions in ascending order, without counting any.

    It searches the solutions with some prefixes together and sorts them. Where a prefix has too
    many, it goes on with longer prefixes. ``oversized`` has prefixes that are known to have many
    solutions; it adds those that it meets before the first solution.
    """

    def __init__(self, prefixes: Prefixes, oversized: set[bytes]) -> None:
        self._prefixes, self._oversized = prefixes, oversized
        self._bound = min(SPLIT_LATER, max(1, LISTED_BYTES // prefixes.board.geometry.cells))
        self._most, self._together = min(SPLIT_FIRST, self._bound), 1
        self._length = 0
        """Shorter prefixes should have too many solutions."""

    def rows(self, start: Sequence[bytes]) -> Iterator[NDArray[np.uint8]]:
        """Yield the solutions with some prefixes, the last first, in blocks, or TooExpensive."""
        todo: list[bytes | NDArray[np.uint8]] = [*start]
        begun = False
        while todo:
            if not isinstance(rows := todo[-1], bytes):
                todo.pop()
                if len(rows):
                    begun = True
                    yield rows
                continue
            group = self._next_group(todo)
            try:
                found = self._find(group)
            except TooExpensive:  # prefixes are searched one by one, and for one solution each
                if self._most == len(group) == 1:
                    raise
                self._most = self._together = 1
                todo += reversed(group)
                continue
            for each in reversed(found):
                if not isinstance(each, bytes):
                    todo.append(each)
                    continue
                if not begun:
                    self._oversized.add(each)
                todo += self._prefixes.longer(each)

    def _next_group(self, todo: list[bytes | NDArray[np.uint8]]) -> list[bytes]:
        """Take the next prefixes to be searched."""
        group: list[bytes] = []
        least = min(self._length, len(self._prefixes.cells))
        while len(group) < self._together and todo and isinstance(prefix := todo[-1], bytes):
            todo.pop()
            if len(prefix) < least or prefix in self._oversized:
                todo += self._prefixes.longer(prefix)
            else:
                group.append(prefix)
        return group

    def _find(self, group: list[bytes]) -> list[bytes | NDArray[np.uint8]]:
        """Find the solutions with some prefixes, in ascending order; long lists stay prefixes."""
        if not group:
            return []
        start_time = time.thread_time()
        ordered, counts = self._prefixes.find(group, self._most)
        is_quick = time.thread_time() - start_time <= QUICK_SEARCH * LIST_SECONDS
        whole = counts <= self._most
        if not whole.all():
            self._length = 1 + max(len(group[index]) for index in np.flatnonzero(~whole))
        elif len(ordered) and is_quick:
            if len(ordered) <= SPARSE * self._most * len(group):
                self._length = min(self._length, *map(len, group)) - 1
            self._most = min(2 * self._most, self._bound)
            self._together = min(2 * self._together, TOGETHER)
        found: list[bytes | NDArray[np.uint8]] = []
        start = 0
        for is_whole, run in groupby(range(len(group)), whole.__getitem__):
            indices = [*run]
            if is_whole:
                end = start + int(counts[indices].sum())
                found.append(ordered[start:end])
                start = end
            else:
                found += [group[index] for index in indices]
        return found
