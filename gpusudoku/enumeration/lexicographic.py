"""Solutions in ascending order, found by the digits of the first empty cells: their prefixes.

Cells are filled in reading order. The counts for a cell's digits show which digit the solution with
a given number has there, and so on until few solutions are left: these are searched for and sorted.
To list solutions one after the other no counts are needed: see ``LexicographicIterator``.
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
LISTED_BYTES = 1 << 22
"""Solutions with a prefix, and their bytes, that are listed; of more the next digits count."""
KEPT_LEAVES = 64
KEPT_NODES = 1 << 14
"""The number of such lists, and of prefixes with their counts, that are kept for later numbers."""
PREFIX_COUNT_SECONDS = 20.0
"""A number is refused if one of the counts on the way to its solution should take longer."""
LIST_SECONDS = 20.0
"""A list is refused if a search for it takes longer on a core: there may well be no solution, which
can take forever to show."""
SPLIT_FIRST = 1 << 10
SPLIT_LATER = 1 << 13
"""The iterator splits prefixes that have more solutions: the first blocks should come soon."""
TOGETHER = 32
"""The most prefixes that it searches together."""
QUICK_SHARE = 1 / 8
"""It takes more at a time after a search that took no more than this part of LIST_SECONDS."""
SPARSE = 1 / 8
"""It tries shorter prefixes after finding no more than this part of what it takes at a time."""


class Prefixes:
    """The prefixes of a board's solutions: the digits of its first empty cells, as bytes."""

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
        mask = int(self.filled(prefix).candidates[self.cells[len(prefix)]])
        return [digit for digit in range(1, self.board.n + 1) if mask >> digit - 1 & 1]

    def longer(self, prefix: bytes) -> list[bytes]:
        """Lengthen a prefix up to a cell with several candidates; the last prefix comes first."""
        longer = [prefix]
        while len(longer) == 1 and len(longer[0]) < len(self.cells):
            longer = [longer[0] + bytes([digit]) for digit in reversed(self.digits(longer[0]))]
        return longer

    def find(
        self, prefixes: Sequence[bytes], limit: int
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Find the solutions with prefixes in ascending order, within LIST_SECONDS."""
        boards = Batch.of([self.filled(prefix) for prefix in prefixes])
        try:
            return find_sorted(boards, self._options, self._searcher, limit, LIST_SECONDS)
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
        self._next_counts = begin()
        self._counts: list[int] = []

    def __getitem__(self, index: int) -> int:
        try:
            with watching(None):
                while index >= len(self._counts):
                    self._counts.append(next(self._next_counts))
        except BaseException:  # the iterator yields nothing more after that
            self._next_counts = self._begin()
            self._counts = []
            raise
        return self._counts[index]


class LexicographicIndex(SolutionIndex):
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
        self._options = options
        self._counter = counter
        self._count = count
        self._prefixes = Prefixes(board, options, searcher)
        self._oversized = set[bytes]()
        self._max_listed = min(LISTED, LISTED_BYTES // board.geometry.cells)
        self._counts_after = lru_cache(KEPT_NODES)(self._make_counts)
        self._list_of = lru_cache(KEPT_LEAVES)(self._make_list)
        self._lock = CancellableLock()

    @property
    def count(self) -> int:
        return self._count()

    def at(self, numbers: NDArray[Any]) -> NDArray[np.uint8]:
        """See ``SolutionIndex``. Those near to each other are found together."""
        solutions = np.empty((len(numbers), self._prefixes.board.geometry.cells), np.uint8)
        rows = solutions[:0]
        start = 0
        for place in np.argsort(numbers, kind="stable").tolist():
            number = int(numbers[place])
            if not start <= number < start + len(rows):
                prefix, start, _ = self._list_with(number)
                rows = self._list(prefix)
            solutions[place] = rows[number - start]
        return solutions

    def rows(self, start: int, stop: int | None = None) -> Iterator[NDArray[np.uint8]]:
        number = 0
        prefixes = [b""]
        if start > 0:
            if start >= self.count:
                return
            prefix, number, later = self._list_with(start)
            prefixes = [*later, prefix]
        if stop is not None and number >= stop:
            return
        for rows in LexicographicIterator(self._prefixes, self._oversized).rows(prefixes):
            wanted = rows[max(0, start - number) : None if stop is None else stop - number]
            number += len(rows)
            if len(wanted):
                yield wanted.copy() if len(wanted) < len(rows) else wanted
            if stop is not None and number >= stop:
                return

    def rank(self, cells: NDArray[np.uint8]) -> int:
        """Return the number of a solution, uint8 (cells)."""
        solution = cells[self._prefixes.cells].tobytes()
        prefix, start, _ = self._descend(lambda prefix, _: solution.startswith(prefix))
        return start + rank_in(self._list(prefix), cells)

    def _list_with(self, number: int) -> tuple[bytes, int, list[bytes]]:
        """Return the prefix of a solution's list, the number of its first, and later prefixes."""
        return self._descend(lambda _, stop: number < stop)

    def _descend(self, is_taken: Callable[[bytes, int], bool]) -> tuple[bytes, int, list[bytes]]:
        """Lengthen a prefix until it has so few solutions that they are listed.

        ``is_taken`` tells whether a longer prefix is the wanted one, from it and from the number
        that follows those of its solutions. Returns the prefix, the number of its first solution,
        and the later prefixes that were not taken, the last first.
        """
        prefix = b""
        start = 0
        count = self.count
        later: list[bytes] = []
        while count > self._max_listed:
            digits = [bytes([digit]) for digit in self._prefixes.digits(prefix)]
            whole = count
            for index, digit in enumerate(digits):
                with self._lock:
                    count = self._counts_after(prefix, whole)[index]
                if is_taken(prefix + digit, start + count):
                    break
                start += count
            later += [prefix + digit for digit in reversed(digits[index + 1 :])]
            prefix += digits[index]
        return prefix, start, later

    def _make_counts(self, prefix: bytes, whole: int) -> _DigitCounts:
        board = self._prefixes.filled(prefix)
        cell = int(self._prefixes.cells[len(prefix)])
        digits = self._prefixes.digits(prefix)
        return _DigitCounts(
            lambda: counts_of_digits(
                board, cell, digits, self._options, self._counter, PREFIX_COUNT_SECONDS, whole
            )
        )

    def _list(self, prefix: bytes) -> NDArray[np.uint8]:
        """List the solutions with a prefix that has few."""
        with self._lock:
            return self._list_of(prefix)

    def _make_list(self, prefix: bytes) -> NDArray[np.uint8]:
        rows, [count] = self._prefixes.find([prefix], self._max_listed)
        assert count <= self._max_listed  # they were counted
        return rows


class LexicographicIterator:
    """Lists solutions in ascending order, without counting any.

    It searches the solutions with some prefixes together and sorts them. A prefix with too many is
    replaced by longer prefixes. ``oversized`` has prefixes that are known to have many solutions;
    the iterator adds those that it meets before the first solution.
    """

    def __init__(self, prefixes: Prefixes, oversized: set[bytes]) -> None:
        self._prefixes = prefixes
        self._oversized = oversized
        self._max_solutions = min(
            SPLIT_LATER, max(1, LISTED_BYTES // prefixes.board.geometry.cells)
        )
        # What is searched next: the solutions of a prefix, the number of prefixes, and their
        # length, below which they should have too many solutions.
        self._limit = min(SPLIT_FIRST, self._max_solutions)
        self._together = 1
        self._length = 0

    def rows(self, start: Sequence[bytes]) -> Iterator[NDArray[np.uint8]]:
        """Yield the solutions with some prefixes, the last first, in blocks, or TooExpensive."""
        # A stack of prefixes, and of the solutions of prefixes; those on top come first.
        stack: list[bytes | NDArray[np.uint8]] = [*start]
        has_begun = False
        while stack:
            if not isinstance(rows := stack[-1], bytes):
                stack.pop()
                if len(rows):
                    has_begun = True
                    yield rows
                continue
            batch = self._next_batch(stack)
            try:
                results = self._find(batch)
            except TooExpensive:  # prefixes are searched one by one, and for one solution each
                if self._limit == len(batch) == 1:
                    raise
                self._limit = self._together = 1
                stack += reversed(batch)
                continue
            for result in reversed(results):
                if not isinstance(result, bytes):
                    stack.append(result)
                    continue
                if not has_begun:
                    self._oversized.add(result)
                stack += self._prefixes.longer(result)

    def _next_batch(self, stack: list[bytes | NDArray[np.uint8]]) -> list[bytes]:
        """Take the next prefixes to be searched from the stack."""
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
        """Find the solutions with some prefixes, in ascending order; long lists stay prefixes."""
        if not batch:
            return []
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
    """Count the solutions with each of some digits in an empty cell, in their order, when needed.

    With ``auto``, boards of 9x9 cells are contracted without an estimate, as many solutions are
    expected. Digits that the board does not have yet are alike, and counted once. If the number of
    solutions with all the digits is known, the ``total``, the last that are alike have the rest.
    """
    # The digit that is counted for each.
    leaders = list(digits)
    if board.given_candidates is None:
        absent = set(range(1, board.n + 1)) - set(board.cells.tolist())
        leaders = [min(absent) if digit in absent else digit for digit in digits]
    searched = list(dict.fromkeys(leaders))
    if total is not None:
        searched.pop()
    cells = np.tile(board.cells, (len(searched), 1))
    cells[:, cell] = searched
    candidates = None
    if board.given_candidates is not None:
        candidates = np.tile(board.given_candidates, (len(searched), 1))
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
        for count in cast(ResultBlock, results).numbers.tolist()  # none is deferred
    )
    counts: dict[int, int] = {}
    for leader in leaders:
        if leader not in counts:
            if total is None or len(counts) < len(searched):
                counts[leader] = next(next_counts)
            else:
                counted = sum(counts[digit] for digit in leaders if digit != leader)
                number = leaders.count(leader)
                counts[leader], remainder = divmod(total - counted, number)
                if remainder or counts[leader] < 0:
                    raise MismatchError(
                        f"{counted} of {total} solutions leave no number for each of"
                        f" {number} digits: this is a bug"
                    )
        yield counts[leader]
