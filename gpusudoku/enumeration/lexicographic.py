"""Solutions in ascending order, found by prefixes: the digits of the first empty cells.

Cells are filled in reading order. To find the solution with a number, the solutions with each digit
in the next cell are counted. The counts show which digit the solution has there. When few solutions
with a prefix remain, these are listed by a search and sorted. Listing all solutions in order needs
no counts: see ``LexicographicIterator``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board, digit_masks
from gpusudoku.board.geometry import is_nine
from gpusudoku.engines.engine import Engine
from gpusudoku.enumeration.in_memory import find_sorted, rank_in
from gpusudoku.enumeration.index import SolutionIndex
from gpusudoku.errors import Cancelled, MismatchError, TooExpensive
from gpusudoku.jobs.cancel import CancellableLock, check_cancelled
from gpusudoku.jobs.watch import watching
from gpusudoku.options import Options
from gpusudoku.planning.count import count_block
from gpusudoku.results import ResultBlock

LISTED = 1 << 12
"""If a prefix has at most this many solutions, they are listed; else the next cell is counted."""
LISTED_BYTES = 1 << 22
"""The same limit in bytes."""
KEPT_LEAVES = 64
"""Lists of solutions that are kept for later numbers."""
KEPT_NODES = 1 << 14
"""Prefixes whose counts are kept for later numbers."""
PREFIX_COUNT_SECONDS = 20.0
"""A number is refused if a count on the way to its solution is expected to take longer."""
LIST_SECONDS = 20.0
"""A list is refused if the search for it takes longer on one core. There may be no solution, and to
prove that can take forever."""
SPLIT_FIRST = 1 << 10
"""The iterator replaces a prefix with more solutions by longer ones, at first. The limit is small,
so that the first block comes soon."""
SPLIT_LATER = 1 << 13
"""The same limit later."""
TOGETHER = 32
"""Prefixes that the iterator searches together."""
QUICK_SHARE = 1 / 8
"""After a search of less than this fraction of LIST_SECONDS, the iterator searches more at once."""
SPARSE = 1 / 8
"""If it finds less than this fraction of the solutions allowed, it tries shorter prefixes."""


class Prefixes:
    """Prefixes of a board's solutions: the digits of its first empty cells, as bytes."""

    def __init__(self, board: Board, options: Options, searcher: Engine) -> None:
        self.board = board
        self.cells = np.flatnonzero(board.cells == 0)
        self._options = options
        self._searcher = searcher

    def filled(self, prefix: bytes) -> Board:
        """Return the board with a prefix."""
        cells = self.board.cells.copy()
        cells[self.cells[: len(prefix)]] = np.frombuffer(prefix, np.uint8)
        return Board(cells, self.board.geometry, candidates=self.board.given_candidates)

    def digits(self, prefix: bytes) -> list[int]:
        """List the candidates of the cell after a prefix, in ascending order."""
        # Bit d - 1 of the mask is digit d.
        mask = int(self.filled(prefix).candidates[self.cells[len(prefix)]])
        return [digit for digit in range(1, self.board.n + 1) if mask >> digit - 1 & 1]

    def longer(self, prefix: bytes) -> list[bytes]:
        """Lengthen a prefix until it branches. Return the new prefixes, the last one first."""
        longer = [prefix]
        while len(longer) == 1 and len(longer[0]) < len(self.cells):
            longer = [longer[0] + bytes([digit]) for digit in reversed(self.digits(longer[0]))]
        return longer

    def find(
        self, prefixes: Sequence[bytes], limit: int
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return the solutions with prefixes, and their counts; see ``find_sorted``.

        Raises
        ------
        TooExpensive
            If the search takes more than LIST_SECONDS.
        """
        boards = Batch.of([self.filled(prefix) for prefix in prefixes])
        try:
            return find_sorted(boards, self._options, self._searcher, limit, LIST_SECONDS)
        except Cancelled:
            check_cancelled()  # raises if the caller cancelled, not the time limit
            raise TooExpensive(
                "too expensive: this needs the solutions with some first cells filled in, and"
                f" finding them takes more than {LIST_SECONDS:.0f} s"
            ) from None


class _DigitCounts:
    """The numbers of solutions with each candidate of a cell, counted when they are needed."""

    def __init__(self, begin: Callable[[], Iterator[int]]) -> None:
        self._begin = begin
        self._next_counts = begin()
        self._counts: list[int] = []

    def __getitem__(self, index: int) -> int:
        try:
            with watching(None):
                while index >= len(self._counts):
                    self._counts.append(next(self._next_counts))
        except BaseException:
            # An iterator yields nothing after an error, so begin again.
            self._next_counts = self._begin()
            self._counts = []
            raise
        return self._counts[index]


class LexicographicIndex(SolutionIndex):
    """Solutions by number, found by counts of prefixes.

    All methods raise TooExpensive if a count is expected to take too long, except ``rows`` from the
    first solution on. Counts of 9x9 boards never take too long.
    """

    def __init__(
        self,
        board: Board,
        options: Options,
        counter: Engine,
        searcher: Engine,
        count: Callable[[], int],
    ) -> None:
        self._options = options
        self._counter = counter
        self._count = count
        self._prefixes = Prefixes(board, options, searcher)
        self._oversized = set[bytes]()
        self._max_listed = min(LISTED, LISTED_BYTES // board.geometry.cells)
        # A cache for each object, which is freed with it.
        self._counts_after = lru_cache(KEPT_NODES)(self._make_counts)
        self._list_of = lru_cache(KEPT_LEAVES)(self._make_list)
        self._lock = CancellableLock()

    @property
    def count(self) -> int:
        return self._count()

    def at(self, numbers: NDArray[Any]) -> NDArray[np.uint8]:
        """See ``SolutionIndex``. Solutions with neighbouring numbers are found together."""
        solutions = np.empty((len(numbers), self._prefixes.board.geometry.cells), np.uint8)
        rows = solutions[:0]
        start = 0
        for position in np.argsort(numbers, kind="stable").tolist():
            number = int(numbers[position])
            if not start <= number < start + len(rows):
                prefix, start, _ = self._list_with(number)
                rows = self._list(prefix)
            solutions[position] = rows[number - start]
        return solutions

    def rows(self, start: int, stop: int | None = None) -> Iterator[NDArray[np.uint8]]:
        number = 0  # of the next solution that the iterator yields
        prefixes = [b""]
        if start > 0:
            if start >= self.count:
                return
            prefix, number, later = self._list_with(start)
            prefixes = [*later, prefix]
        if stop is not None and number >= stop:
            return
        for rows in LexicographicIterator(self._prefixes, self._oversized).rows(prefixes):
            row_stop = None if stop is None else stop - number
            block = rows[max(0, start - number) : row_stop]
            number += len(rows)
            if len(block):
                # Copied if it is a view, so that the other rows can be freed.
                yield block.copy() if len(block) < len(rows) else block
            if stop is not None and number >= stop:
                return

    def rank(self, cells: NDArray[np.uint8]) -> int:
        """Return the number of a solution, uint8 (cells)."""
        # The digits of the empty cells: a prefix of the solution is a prefix of these bytes.
        solution = cells[self._prefixes.cells].tobytes()
        prefix, start, _ = self._descend(lambda prefix, _: solution.startswith(prefix))
        return start + rank_in(self._list(prefix), cells)

    def _list_with(self, number: int) -> tuple[bytes, int, list[bytes]]:
        """Return the prefix of a number's list, the list's first number, and later prefixes."""
        return self._descend(lambda _, stop: number < stop)

    def _descend(self, is_taken: Callable[[bytes, int], bool]) -> tuple[bytes, int, list[bytes]]:
        """Lengthen a prefix until it has few enough solutions to list them.

        ``is_taken`` decides which digit to append. It gets the longer prefix, and the number after
        its last solution. Return the prefix, the number of its first solution, and the prefixes
        that come later, the last one first.
        """
        prefix = b""
        start = 0
        count = self.count
        later: list[bytes] = []
        while count > self._max_listed:
            digits = [bytes([digit]) for digit in self._prefixes.digits(prefix)]
            total = count
            for index, digit in enumerate(digits):
                with self._lock:
                    count = self._counts_after(prefix, total)[index]
                if is_taken(prefix + digit, start + count):
                    break
                start += count
            later += [prefix + digit for digit in reversed(digits[index + 1 :])]
            prefix += digits[index]
        return prefix, start, later

    def _make_counts(self, prefix: bytes, total: int) -> _DigitCounts:
        """Count the solutions with each digit after a prefix that has ``total`` solutions."""
        board = self._prefixes.filled(prefix)
        cell = int(self._prefixes.cells[len(prefix)])
        digits = self._prefixes.digits(prefix)
        return _DigitCounts(
            lambda: counts_of_digits(
                board, cell, digits, self._options, self._counter, PREFIX_COUNT_SECONDS, total
            )
        )

    def _list(self, prefix: bytes) -> NDArray[np.uint8]:
        """Return the solutions with a prefix that has few enough."""
        with self._lock:
            return self._list_of(prefix)

    def _make_list(self, prefix: bytes) -> NDArray[np.uint8]:
        rows, [count] = self._prefixes.find([prefix], self._max_listed)
        assert count <= self._max_listed  # checked by a count before
        return rows


class LexicographicIterator:
    """Lists solutions in ascending order, without counts.

    The solutions with several prefixes are searched together and sorted. A prefix with too many
    solutions is replaced by longer prefixes. ``oversized`` contains prefixes that are known to have
    too many; the iterator adds those that it meets before the first solution.
    """

    def __init__(self, prefixes: Prefixes, oversized: set[bytes]) -> None:
        self._prefixes = prefixes
        self._oversized = oversized
        self._max_solutions = min(
            SPLIT_LATER, max(1, LISTED_BYTES // prefixes.board.geometry.cells)
        )
        # The next search: the limit of solutions of a prefix, the number of prefixes, and the
        # shortest length of prefixes that probably do not exceed the limit.
        self._limit = min(SPLIT_FIRST, self._max_solutions)
        self._together = 1
        self._length = 0

    def rows(self, start: Sequence[bytes]) -> Iterator[NDArray[np.uint8]]:
        """Yield the solutions with prefixes, of which the last comes first, in blocks.

        Raises
        ------
        TooExpensive
            If a search takes more than LIST_SECONDS.
        """
        # A stack of prefixes to search, and of solutions found. The top comes first.
        stack: list[bytes | NDArray[np.uint8]] = [*start]
        has_begun = False
        while stack:
            # Solutions on top of the stack precede all others, so they can be yielded.
            if not isinstance(rows := stack[-1], bytes):
                stack.pop()
                if len(rows):
                    has_begun = True
                    yield rows
                continue
            batch = self._next_batch(stack)
            try:
                results = self._find(batch)
            except TooExpensive:
                # Prefixes are now searched one at a time, and for a single solution.
                if self._limit == len(batch) == 1:
                    raise
                self._limit = self._together = 1
                stack += reversed(batch)
                continue
            for result in reversed(results):
                if not isinstance(result, bytes):
                    stack.append(result)
                    continue
                # Remembered only at the start, where every new iterator begins.
                if not has_begun:
                    self._oversized.add(result)
                stack += self._prefixes.longer(result)

    def _next_batch(self, stack: list[bytes | NDArray[np.uint8]]) -> list[bytes]:
        """Take the next prefixes to search from the stack."""
        batch: list[bytes] = []
        min_length = min(self._length, len(self._prefixes.cells))
        while len(batch) < self._together and stack and isinstance(prefix := stack[-1], bytes):
            stack.pop()
            if len(prefix) < min_length or prefix in self._oversized:
                stack += self._prefixes.longer(prefix)
            else:
                batch.append(prefix)
        return batch

    def _find(self, batch: list[bytes]) -> list[bytes | NDArray[np.uint8]]:
        """Return the solutions with prefixes in ascending order. Return prefixes with too many."""
        if not batch:
            return []
        # Time on a core, as for the limit of the search, so that other programs do not matter.
        start_time = time.thread_time()
        rows, counts = self._prefixes.find(batch, self._limit)
        is_quick = time.thread_time() - start_time <= QUICK_SHARE * LIST_SECONDS
        is_whole = counts <= self._limit
        if not is_whole.all():
            self._length = 1 + max(len(batch[index]) for index in np.flatnonzero(~is_whole))
        elif len(rows) and is_quick:
            if len(rows) <= SPARSE * self._limit * len(batch):
                self._length = min(self._length, *map(len, batch)) - 1
            self._limit = min(2 * self._limit, self._max_solutions)
            self._together = min(2 * self._together, TOGETHER)
        results: list[bytes | NDArray[np.uint8]] = []
        start = 0
        for are_whole, run in groupby(range(len(batch)), is_whole.__getitem__):
            indices = [*run]
            if are_whole:
                end = start + int(counts[indices].sum())
                results.append(rows[start:end])
                start = end
            else:
                results += [batch[index] for index in indices]
        return results


def counts_of_digits(
    board: Board,
    cell: int,
    digits: Sequence[int],
    options: Options,
    engine: Engine,
    max_seconds: float,
    total: int | None = None,
) -> Iterator[int]:
    """Yield the number of solutions with each of ``digits`` in an empty cell, counted lazily.

    With method ``auto``, 9x9 boards are contracted without an estimate, because they probably have
    many solutions. Digits that do not occur on the board are interchangeable, and only one of them
    is counted. If ``total``, the number of solutions with any of the digits, is known, one count is
    saved: the last group of interchangeable digits has the rest of the total.
    """
    # The digit that is counted for each digit.
    leaders = list(digits)
    if board.given_candidates is None:
        absent = set(range(1, board.n + 1)) - set(board.cells.tolist())
        leaders = [min(absent) if digit in absent else digit for digit in digits]
    counted_digits = list(dict.fromkeys(leaders))
    if total is not None:
        counted_digits.pop()
    cells = np.tile(board.cells, (len(counted_digits), 1))
    cells[:, cell] = counted_digits
    candidates = None
    if board.given_candidates is not None:
        candidates = np.tile(board.given_candidates, (len(counted_digits), 1))
        candidates[:, cell] = digit_masks(cells[:, cell])
    batch = Batch(board.geometry, cells, candidates)
    if options.method == "auto" and is_nine(batch.geometry, batch.candidates):
        options = replace(options, method="contraction")
    next_counts = (
        count
        for start in range(0, len(batch), engine.threads)
        for results in count_block(
            batch.part(start, start + engine.threads), options, engine, max_seconds=max_seconds
        )
        for count in cast(ResultBlock, results).numbers.tolist()  # no block is deferred
    )
    counts: dict[int, int] = {}
    for leader in leaders:
        if leader not in counts:
            if total is None or len(counts) < len(counted_digits):
                counts[leader] = next(next_counts)
            else:
                other_sum = sum(counts[digit] for digit in leaders if digit != leader)
                digit_count = leaders.count(leader)
                counts[leader], remainder = divmod(total - other_sum, digit_count)
                if remainder or counts[leader] < 0:
                    raise MismatchError(
                        f"{total - other_sum} remaining solutions cannot be divided among"
                        f" {digit_count} interchangeable digits: this is a bug"
                    )
        yield counts[leader]
