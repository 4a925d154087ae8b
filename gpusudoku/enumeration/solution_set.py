"""The solutions of one board: by number in two orders, their count and their shares.

``SolutionSet`` chooses the cheapest of three indexes. The first keeps all solutions *in memory*, in
ascending order. The second has them in *ascending* order, by counts of prefixes. The third has them
in *contraction order*, in which a contraction finds solutions fastest. If the solutions are few, or
the board has no contraction, its contraction order is the ascending order. The order of a board
depends on the board only, never on earlier computations. 9x9 boards without given candidates always
have a contraction. A table in ``docs/solutions.md`` shows when each index is used.
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
from gpusudoku.kernels.compile_many import load_kernels
from gpusudoku.kernels.search.shape import SearchSettings
from gpusudoku.options import Options
from gpusudoku.planning.count import count_board
from gpusudoku.planning.search import search_kernels
from gpusudoku.search.frontier import Frontier

if TYPE_CHECKING:
    from gpusudoku.contraction.general.join import Join
    from gpusudoku.contraction.general.parts import Parts
    from gpusudoku.enumeration.contraction_order import GeneralIndex

# These constants decide which index is used. The limits IN_MEMORY are part of the definition of the
# contraction order.
UNCOUNTED = 1 << 10
"""Solutions with lower numbers are listed from the first on, without counting all."""
SEARCHED_FIRST = 1 << 12
"""Every board is first searched, up to this number of solutions."""
SEARCHED_BEFORE_LOADING = 1 << 14
"""The same limit for 9x9 boards until the process has loaded the contraction kernels. Loading takes
ten times as long as finding this many solutions."""
SEARCH_SECONDS = 5.0
"""The time limit of that search. After it, the board is treated as one with many solutions until
they are counted: on a large board a single solution can take forever. 9x9 boards of clues need no
time limit."""
IN_MEMORY_NINE = 1 << 16
"""The solutions of a 9x9 board are kept in memory up to this number. Finding and sorting as many
takes a few hundredths of a second."""
IN_MEMORY = 1 << 20
"""The same limit for other boards."""
IN_MEMORY_BYTES = 1 << 28
"""The limit for other boards in bytes."""
COUNT_SECONDS = 600.0
"""A result that needs a count is refused if the count is expected to take longer."""
CONTRACTION_COUNTS_SECONDS = 20.0
"""For other shapes, a contraction with at most this estimated time counts the solutions, even if a
search would be faster."""


def max_in_memory(geometry: Geometry) -> int:
    """Return the number of solutions up to which they are kept in memory, for large boards."""
    return min(IN_MEMORY, IN_MEMORY_BYTES // geometry.cells)


class SolutionSet:
    """The solutions of one board. Each result is computed once, when it is first needed.

    ``options`` have no limit. ``count`` is the number of solutions, if it is known. Several threads
    may use the object at once: one of them computes, and the others wait.
    """

    _has_contracted = False
    """True if a 9x9 board of this process had more than SEARCHED_BEFORE_LOADING solutions."""

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
        # Results of searches that ended early: the count is at least _min_count, and a search of
        # _searched_seconds did not find enough solutions.
        self._min_count = 0
        self._searched_seconds = 0.0
        # The solutions listed so far, from the first on, and whether these are all solutions.
        self._first = (np.empty((0, board.geometry.cells), np.uint8), False)

    def __reduce__(self) -> tuple[Any, ...]:
        return SolutionSet, (self.board, self.options)

    @property
    def is_counted(self) -> bool:
        """True if the number of solutions is known."""
        return self._count is not None

    @property
    def count(self) -> int:
        """The number of solutions, for results that need it. Raises TooExpensive."""
        with self._lock:
            # Without a contraction for other results, ``counted`` chooses the method.
            if self._count is None and self._few() is None and self.contraction is not None:
                # These results need the contraction in any case, so it also counts.
                is_cheap = self.contraction.seconds <= CONTRACTION_COUNTS_SECONDS
                if is_cheap and self._by_contraction is not None:
                    self._count = self._by_contraction.count
            return self.counted(inf if self._is_nine else COUNT_SECONDS)

    def counted(self, max_seconds: float = inf) -> int:
        """Return the number of solutions.

        Raises
        ------
        TooExpensive
            If counting them is expected to take more than ``max_seconds`` on one core.
        """
        with self._lock:
            if self._count is None:
                few_solutions = self._few(seconds=max_seconds)
                if few_solutions is not None:
                    self._count = few_solutions.count
                else:
                    count = count_board(self.board, self.options, self.engine, max_seconds)
                    self._count = count.count
            return self._count

    @property
    def any(self) -> bool:
        """True if there is a solution. The search for it has no time limit."""
        return self._has_one if self._count is None else self._count > 0

    @property
    def ascending(self) -> InMemoryIndex | LexicographicIndex:
        """The solutions in ascending order, to look them up by number."""
        # Prefixes need counts, so a board with few solutions is listed first.
        with self._lock:
            return self._few() or self._by_prefixes

    @property
    def ascending_list(self) -> InMemoryIndex | LexicographicIndex:
        """The solutions in ascending order, for a list from the first on, which comes quickly."""
        with self._lock:
            return self._few(SEARCHED_FIRST) or self._by_prefixes

    @locked_cached_property
    def contraction_order(self) -> SolutionIndex:
        """The solutions in the contraction order."""
        few_solutions = self._few()
        if few_solutions is not None:
            return few_solutions
        if self._is_nine and (self._count is None or self._count > self._max_in_memory):
            # A child that is forked during an import would wait forever for the lock of the import.
            with delayed_forks():
                # Imported lazily, because it is slow.
                from gpusudoku.enumeration.contraction_order import NineIndex
            index = NineIndex(self._candidates(), self.engine.threads)
            self._check_count(index)
            self._count = index.count
            # With fewer solutions the order is defined to be ascending; see below.
            if self._count > self._max_in_memory:
                return index
        if self.count <= self._max_in_memory:
            return self._load()
        return self._by_contraction or self._by_prefixes

    @locked_cached_property
    def shares(self) -> NDArray[Any]:
        """The number of solutions with each digit in each cell, checked: object (cells, n)."""
        board = self.board
        few_solutions = self._few()
        if few_solutions is not None:
            shares = few_solutions.shares()
        elif self._is_nine:
            with delayed_forks():
                # Imported lazily, because it is slow.
                from gpusudoku.contraction.nine.shares import count_nine_shares
            shares = count_nine_shares(self._candidates(), self.engine.threads)
        elif self.count <= self._max_in_memory:
            shares = self._load().shares()
        else:
            with delayed_forks():
                from gpusudoku.enumeration.shares import shares_of_many
            shares = shares_of_many(
                board, self.options, self.engine, self._searcher, self.count, self.contraction
            )
        # Every solution has one digit in the first cell.
        count = int(shares[0].sum()) if self._count is None else self._count
        check_shares(shares, board.geometry, count)
        self._count = count
        shares.setflags(write=False)  # callers share the array
        return shares

    @locked_cached_property
    def true_candidates(self) -> NDArray[np.uint64]:
        """The masks of the digits that solutions have in each cell, uint64 (cells)."""
        with delayed_forks():
            # Imported lazily, because it is slow.
            from gpusudoku.enumeration.true_candidates import find_true_candidates
        [is_true] = find_true_candidates(Batch.of([self.board]), self.options, self._searcher)
        digits = np.arange(1, self.board.n + 1, dtype=np.uint8)
        masks: NDArray[np.uint64] = is_true @ digit_masks(digits)
        masks.setflags(write=False)  # callers share the array
        return masks

    def first(self, number: int) -> NDArray[np.uint8] | None:
        """Return at least ``number`` of the first solutions, or all; None if that needs a count."""
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
            # One assignment, because another thread may call this at the same time.
            self._first = (rows, missing > 0)
        return rows

    def solution(self, grid: BoardLike) -> Board:
        """Return a grid as a board, or raise an InputError if it is not a solution."""
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
        # Candidates that follow from clues are checked above, as conflicts.
        candidates = board.given_candidates
        if candidates is not None and (excluded := digit_masks(solution.cells) & ~candidates).any():
            cell = int(np.flatnonzero(excluded)[0])
            raise InputError(
                f"not a solution: {solution.cells[cell]} is not a candidate of {name(cell)}"
            )
        return solution

    @locked_cached_property
    def contraction(self) -> Join | Parts | None:
        """The contraction of a board that is not 9x9, if there is one."""
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
        except TooExpensive:  # a product exceeds 64 bits
            return None
        self._check_count(index)
        return index

    @locked_cached_property
    def _by_prefixes(self) -> LexicographicIndex:
        return LexicographicIndex(
            self.board, self.options, self.engine, self._searcher, lambda: self.count
        )

    def _few(self, limit: int | None = None, seconds: float = inf) -> InMemoryIndex | None:
        """Return all solutions if there are at most ``limit``, else None.

        A search of at most ``seconds`` finds out. By default the limit is the number of solutions
        from which a contraction is cheaper, which is larger if its kernels must be loaded first.
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
                check_cancelled()  # raises if the caller cancelled, not the time limit
                self._searched_seconds = seconds
        return self._in_memory

    def _load(self) -> InMemoryIndex:
        """Load all solutions into memory. Their number must be known to be small enough."""
        index = self._search(self.count)
        assert index is not None  # the limit is the count
        return index

    def _search(self, limit: int, seconds: float = inf) -> InMemoryIndex | None:
        """Load all solutions, or return None if there are more than ``limit``.

        Raises
        ------
        Cancelled
            At the time limit.
        """
        kernels = search_kernels(self.board.geometry, self.options, self._searcher)
        if seconds < inf or not all(kernel.is_cached for kernel in kernels):
            # Imported lazily: needed only before something is compiled.
            from gpusudoku.contraction.nine.sum import stages

            nine = stages()
            later = [*nine.of_one_board(), *nine.of_contraction_order(), *nine.of_solution_writer()]
            load_kernels(kernels, later=later if self._is_nine and limit else ())
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
        """Check that an index has the known number of solutions, if it is known."""
        if self._count not in (None, index.count):
            raise MismatchError(
                f"the contraction order has {index.count} solutions, not {self._count}:"
                " this is a bug"
            )

    def _candidates(self) -> NDArray[np.uint64]:
        """Return the candidates for a contraction. The board must have solutions."""
        simplified = Frontier.of([self.board]).simplified(SearchSettings())
        candidates: NDArray[np.uint64] = simplified.candidates[0]
        return candidates
