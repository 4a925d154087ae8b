"""The solutions of one board by number in both orders, their count and shares, the cheapest way.

There are three indexes of solutions by number: all *in memory*, in ascending order; the *ascending*
order by counts of prefixes; and the *contraction order*, in which a contraction finds solutions
fastest. Few solutions are kept in memory, and then both orders are ascending; so they are where
there is no contraction for the board. Which order a board has depends on the board alone, never on
what was computed before. For boards of 9x9 cells whose candidates follow from their clues there is
always a contraction. A table in ``docs/solutions.md`` shows which index is used when.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board, digit_masks
from gpusudoku.board.geometry import Geometry, is_nine
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.engine import Engine
from gpusudoku.engines.make import engine_for
from gpusudoku.enumeration.in_memory import InMemoryIndex, check_shares, find_sorted
from gpusudoku.enumeration.index import SolutionIndex
from gpusudoku.enumeration.lexicographic import LexicographicIndex
from gpusudoku.errors import Cancelled, InputError, MismatchError, TooExpensive
from gpusudoku.formats.coerce import BoardLike, board_of
from gpusudoku.jobs.cancel import CancellableLock, check_cancelled, locked_cached_property
from gpusudoku.jobs.forks import delayed_forks
from gpusudoku.kernels.compile_many import ready
from gpusudoku.kernels.search.shape import SearchSettings
from gpusudoku.options import Options
from gpusudoku.planning.count import count_board
from gpusudoku.planning.search import search_kernels
from gpusudoku.search.frontier import Frontier

if TYPE_CHECKING:
    from gpusudoku.contraction.general.join import Join
    from gpusudoku.contraction.general.parts import Parts
    from gpusudoku.enumeration.contraction_order import GeneralIndex

# All that decides which index is used, in numbers of solutions and in seconds on one core. The
# limits IN_MEMORY are part of what the contraction order is.
UNCOUNTED = 1 << 10
"""Solutions with lower numbers are listed from the first on, without counting all."""
SEARCHED_FIRST = 1 << 12
"""Every board is searched first, up to this number of solutions."""
SEARCHED_BEFORE_LOADING = 1 << 14
"""The same for 9x9 boards until the process has loaded the contraction, which takes ten times as
long as to find that many solutions."""
SEARCH_SECONDS = 5.0
"""That search ends after this time, and the board is taken to have many until they are counted: a
single solution of a large board can take forever. 9x9 boards of clues need no such bound."""
IN_MEMORY_NINE = 1 << 16
"""The most solutions of a 9x9 board that are kept in memory: to find and sort these takes a few
hundredths of a second."""
IN_MEMORY = 1 << 20
IN_MEMORY_BYTES = 1 << 28
"""The same for other boards."""
COUNT_SECONDS = 600.0
"""Nothing that begins with a count is done if the count should take longer."""
CONTRACTION_COUNTS_SECONDS = 20.0
"""A contraction of another shape that takes less counts the solutions, whatever a search costs."""


def max_in_memory(geometry: Geometry) -> int:
    """Return the most solutions of a board that are kept in memory, but for 9x9 boards of clues."""
    return min(IN_MEMORY, IN_MEMORY_BYTES // geometry.cells)


class SolutionSet:
    """The solutions of one board; each result is computed once, when it is first needed.

    ``options`` have no limit. The number of solutions, ``count``, may be passed if it is known.
    Several threads may use the object at a time: one of them computes, and the others wait.
    """

    _has_contracted = False
    """True once a 9x9 board of this process had too many solutions for that search."""

    def __init__(
        self,
        board: Board,
        options: Options,
        engine: Engine | None = None,
        count: int | None = None,
    ) -> None:
        self.board = board
        self.options = options
        self.engine = engine_for(options, engine)
        # Lists are short: a GPU takes longer to start than this engine takes in all.
        self._searcher = CpuEngine(self.engine.threads)
        self._is_nine = is_nine(board.geometry, board.given_candidates)
        self._max_in_memory = IN_MEMORY_NINE if self._is_nine else max_in_memory(board.geometry)
        self._lock = CancellableLock()
        self._count = count
        self._in_memory: InMemoryIndex | None = None
        # What searches showed that ended before all solutions were found: the count is at least
        # _min_count, and _searched_seconds are not enough to find a number that was wanted.
        self._min_count = 0
        self._searched_seconds = 0.0
        # The first solutions, as many as were listed, and whether they are all.
        self._first = (np.empty((0, board.geometry.cells), np.uint8), False)

    def __reduce__(self) -> tuple[Any, ...]:
        return SolutionSet, (self.board, self.options)

    @property
    def is_counted(self) -> bool:
        """True once the number of solutions is known."""
        return self._count is not None

    @property
    def count(self) -> int:
        """The number of solutions, for results that begin with it; or TooExpensive."""
        with self._lock:
            if self._count is None and self._few() is None and self.contraction is not None:
                # The contraction is made for these results, so it may as well count.
                is_cheap = self.contraction.seconds <= CONTRACTION_COUNTS_SECONDS
                if is_cheap and self._by_contraction is not None:
                    self._count = self._by_contraction.count
            return self.counted(inf if self._is_nine else COUNT_SECONDS)

    def counted(self, max_seconds: float = inf) -> int:
        """Count the solutions; TooExpensive if that should take longer on one core."""
        with self._lock:
            if self._count is None:
                counted = self._few(seconds=max_seconds) or count_board(
                    self.board, self.options, self.engine, max_seconds
                )
                self._count = counted.count
            return self._count

    @property
    def any(self) -> bool:
        """True if there is a solution, which is searched for as long as that takes."""
        return self._has_one if self._count is None else self._count > 0

    @property
    def ascending(self) -> InMemoryIndex | LexicographicIndex:
        """The solutions in ascending order, to look them up by number."""
        with self._lock:
            return self._few() or self._by_prefixes

    @property
    def ascending_list(self) -> InMemoryIndex | LexicographicIndex:
        """The solutions in ascending order, to list them from the first on, which comes soon."""
        with self._lock:
            return self._few(SEARCHED_FIRST) or self._by_prefixes

    @locked_cached_property
    def contraction_order(self) -> SolutionIndex:
        """The solutions in the contraction order."""
        few = self._few()
        if few is not None:
            return few
        if self._is_nine and (self._count is None or self._count > self._max_in_memory):
            with delayed_forks():  # a child that is forked in an import would wait for its lock
                from gpusudoku.enumeration.contraction_order import NineIndex  # lazily: it is slow
            index = NineIndex(self._candidates(), self.engine.threads)
            self._check_count(index)
            self._count = index.count
            if self._count > self._max_in_memory:
                return index
        if self.count <= self._max_in_memory:
            return self._load()
        return self._by_contraction or self._by_prefixes

    @locked_cached_property
    def shares(self) -> NDArray[Any]:
        """The number of solutions with each digit in each cell, checked: object (cells, n)."""
        board = self.board
        few = self._few()
        if few is not None:
            shares = few.shares()
        elif self._is_nine:
            with delayed_forks():
                from gpusudoku.contraction.nine.shares import nine_shares  # likewise
            shares = nine_shares(self._candidates(), self.engine.threads)
        elif self.count <= self._max_in_memory:
            shares = self._load().shares()
        else:
            with delayed_forks():
                from gpusudoku.enumeration.shares import shares_of_many
            shares = shares_of_many(
                board, self.options, self.engine, self._searcher, self.count, self.contraction
            )
        count = int(shares[0].sum()) if self._count is None else self._count
        check_shares(shares, board.geometry, count)
        self._count = count
        shares.setflags(write=False)
        return shares

    def first(self, number: int) -> NDArray[np.uint8] | None:
        """List at least this number of the first solutions, or all; None if that takes a count."""
        if self.is_counted or number > UNCOUNTED:
            return None
        rows, are_all = self._first
        if not are_all and len(rows) < number:
            blocks = [rows[:0]]
            missing = number
            for block in self.ascending_list.rows(0, UNCOUNTED):
                blocks.append(block)
                missing -= len(block)
                if missing <= 0:
                    break
            rows = np.concatenate(blocks)
            # Both at once: another thread may ask at the same time, for another number.
            self._first = (rows, missing > 0)
        return rows

    def solution(self, grid: BoardLike) -> Board:
        """Return a grid that is a solution as a board; InputError says why it is none."""
        board = self.board
        solution = board_of(grid, board.geometry)
        name = board.geometry.cell_name
        if not solution.is_full:
            raise InputError(f"not a solution: {name(int(np.argmin(solution.cells)))} is empty")
        is_wrong = (board.cells > 0) & (solution.cells != board.cells)
        if is_wrong.any():
            cell = int(np.argmax(is_wrong))
            raise InputError(
                f"not a solution: {name(cell)} holds {solution.cells[cell]},"
                f" and the board has {board.cells[cell]} there"
            )
        if solution.conflicts:
            raise InputError(f"not a solution: {solution.conflicts[0].describe(board.geometry)}")
        candidates = board.given_candidates
        if candidates is not None and (excluded := digit_masks(solution.cells) & ~candidates).any():
            cell = int(np.flatnonzero(excluded)[0])
            raise InputError(
                f"not a solution: {solution.cells[cell]} is no candidate of {name(cell)}"
            )
        return solution

    @locked_cached_property
    def contraction(self) -> Join | Parts | None:
        """The contraction of a board of another shape than 9x9, if there is one."""
        with delayed_forks():
            from gpusudoku.enumeration.contraction_order import contraction_for_order
        return contraction_for_order(self.board)

    @locked_cached_property
    def _has_one(self) -> bool:
        return self._search(0) is None

    @locked_cached_property
    def _by_contraction(self) -> GeneralIndex | None:
        if self.contraction is None:
            return None
        from gpusudoku.enumeration.contraction_order import GeneralIndex

        try:
            index = GeneralIndex(self.contraction, self.engine.threads)
        except TooExpensive:  # products of the sum exceed one word
            return None
        self._check_count(index)
        return index

    @locked_cached_property
    def _by_prefixes(self) -> LexicographicIndex:
        return LexicographicIndex(
            self.board, self.options, self.engine, self._searcher, lambda: self.count
        )

    def _few(self, limit: int | None = None, seconds: float = inf) -> InMemoryIndex | None:
        """Return all solutions if they are few, and a count or these seconds of search show it.

        Without a ``limit`` the search ends where a contraction becomes cheaper, which is later
        while the contraction is not loaded.
        """
        if limit is None:
            is_loaded = SolutionSet._has_contracted or not self._is_nine
            limit = SEARCHED_FIRST if is_loaded else SEARCHED_BEFORE_LOADING
        if self._count is not None:
            if self._in_memory is None and self._count <= limit:
                return self._load()
        elif self._min_count <= limit:
            seconds = inf if self._is_nine else min(seconds, SEARCH_SECONDS)
            try:
                if self._searched_seconds < seconds:
                    self._search(limit, seconds)
            except Cancelled:
                check_cancelled()  # by the caller, not for lack of time
                self._searched_seconds = seconds
        return self._in_memory

    def _load(self) -> InMemoryIndex:
        """Load all solutions into memory, once they are known to be few enough."""
        index = self._search(self.count)
        assert index is not None  # they were counted
        return index

    def _search(self, limit: int, seconds: float = inf) -> InMemoryIndex | None:
        """Load all solutions unless there are more than the limit; Cancelled at the time limit."""
        kernels = search_kernels(self.board.geometry, self.options, self._searcher)
        if seconds < inf or not all(kernel.kept for kernel in kernels):
            from gpusudoku.contraction.nine.sum import stages  # lazily: only before compiling

            call = stages()
            later = [*call.of_one_board(), *call.of_contraction_order(), *call.of_products()]
            ready(kernels, later=later if self._is_nine and limit else ())
        board = Batch.of([self.board])
        rows, [count] = find_sorted(board, self.options, self._searcher, limit, seconds)
        if count > limit:
            self._min_count = limit + 1
            SolutionSet._has_contracted |= self._is_nine and limit >= SEARCHED_BEFORE_LOADING
            return None
        self._in_memory = InMemoryIndex(rows, self.board.n)
        self._count = len(rows)
        return self._in_memory

    def _check_count(self, index: SolutionIndex) -> None:
        """Check that an index has the number of solutions that is known, if it is."""
        if self._count not in (None, index.count):
            raise MismatchError(
                f"the contraction order has {index.count} solutions, not {self._count}:"
                " this is a bug"
            )

    def _candidates(self) -> NDArray[np.uint64]:
        """Return the candidates that a contraction begins with, of a board that has solutions."""
        simplified = Frontier.of([self.board]).simplified(SearchSettings())
        candidates: NDArray[np.uint64] = simplified.candidates[0]
        return candidates
