"""The solutions of one board in both orders, their number and shares, by the cheapest strategy.

Solutions are numbered *in memory* where they are few; in *ascending* order by counts of prefixes;
and in the *quick* order by a contraction. The quick order depends on the board alone: it is
ascending where there are few solutions, and where there is no contraction for the board. For boards
of 9x9 cells whose candidates follow from their clues there always is one.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board, digit_masks
from gpusudoku.board.geometry import NINE, Geometry, is_nine
from gpusudoku.contraction.general.join import MEMORY, Join
from gpusudoku.contraction.general.parts import Parts
from gpusudoku.contraction.nine.shares import nine_shares
from gpusudoku.contraction.nine.sum import stages
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.engine import Engine
from gpusudoku.engines.make import engine_for
from gpusudoku.enumeration.index import (
    InMemoryIndex,
    Once,
    QuickGeneral,
    QuickNine,
    RankedIndex,
    SolutionIndex,
    find_each,
)
from gpusudoku.enumeration.lexicographic import Ascending
from gpusudoku.enumeration.shares import check_shares, shares_of_many
from gpusudoku.errors import Cancelled, InputError, TooExpensive
from gpusudoku.formats.coerce import BoardLike, board_of
from gpusudoku.jobs.cancel import CancellableLock, check_cancelled
from gpusudoku.kernels.compile_many import ready
from gpusudoku.kernels.search.shape import SearchSettings
from gpusudoku.options import Options
from gpusudoku.planning.batch import count_board
from gpusudoku.planning.contraction import contraction_of
from gpusudoku.planning.search import search_kernels
from gpusudoku.search.frontier import Frontier

# All that switches between strategies, in numbers of solutions and in seconds on one core.
UNCOUNTED = 1 << 10
"""Solutions with lower numbers are listed from the first on, without counting all."""
SEARCHED_FIRST = 1 << 12
"""Every board is searched first; if it has no more solutions than this, all are in memory then."""
SEARCH_SECONDS = 5.0
"""That search ends after this time, and the board is taken to have many until they are counted: a
single solution of a large board can take forever. 9x9 boards of clues need no such bound."""
ASCENDING_NINE = 1 << 16
"""9x9 boards with no more solutions have ascending order alone: finding and sorting these takes a
few hundredths of a second. So it is part of what the quick order is."""
IN_MEMORY, IN_MEMORY_BYTES = 1 << 20, 1 << 28
"""The same for other boards: their solutions are kept in memory once the quick order is needed."""
COUNT_SECONDS = 600.0
"""Nothing that begins with a count is done if the count should take longer."""
CONTRACTION_COUNTS_SECONDS = 20.0
"""A contraction of another shape that takes less counts the solutions, whatever a search costs."""
CONTRACTION_SECONDS = 600.0
"""A contraction of another shape that should take longer numbers no solutions."""
PARTS_SECONDS = 60.0
"""The same in parts: many numbers at once have most parts listed anew, which takes longer than to
sum them."""


def most_in_memory(geometry: Geometry) -> int:
    """Return the most solutions of a board of a shape that are kept in memory."""
    return min(IN_MEMORY, IN_MEMORY_BYTES // geometry.cells)


class Orders:
    """The solutions of one board; each result is computed once, when it is first needed.

    ``options`` have no limit. Several threads may use it at a time: one of them computes, and the
    others wait.
    """

    def __init__(self, board: Board, options: Options, engine: Engine) -> None:
        self.board, self.options, self.engine = board, options, engine
        self._searcher = CpuEngine(engine.threads)
        """Lists are short: a GPU would take longer to begin than this to end."""
        self._is_nine = is_nine(board.geometry, board.given_candidates)
        self._lock = CancellableLock()
        self._count: int | None = None
        self._in_memory: InMemoryIndex | None = None
        self._searched_seconds = 0.0
        """The time for which it was searched in vain whether there are few solutions."""
        self._first = np.empty((0, board.geometry.cells), np.uint8), False
        """The first solutions, as many as were listed; True if they are all."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self.board, self.options)

    @property
    def is_counted(self) -> bool:
        """True once the number of solutions is known."""
        return self._count is not None

    @property
    def count(self) -> int:
        """The number of solutions, for results that begin with it; or TooExpensive."""
        with self._lock:
            if self._count is None and self._few() is None and self.contraction is not None:
                # It is made for these results, so it may as well count.
                is_cheap = self.contraction.seconds <= CONTRACTION_COUNTS_SECONDS
                if is_cheap and self._by_contraction is not None:
                    self._count = self._by_contraction.count
            return self.counted(inf if self._is_nine else COUNT_SECONDS)

    def counted(self, most_seconds: float = inf) -> int:
        """Count the solutions; TooExpensive if that should take longer on one core."""
        with self._lock:
            if self._count is None:
                found = self._few(most_seconds) or count_board(
                    self.board, self.options, self.engine, most_seconds
                )
                self._count = found.count
            return self._count

    @property
    def any(self) -> bool:
        """True if there is a solution, which is searched for as long as that takes."""
        return self._has_one if self._count is None else self._count > 0

    @property
    def ascending(self) -> RankedIndex:
        """The solutions in ascending order."""
        with self._lock:
            return self._few() or self._by_prefixes

    @Once
    def quick(self) -> SolutionIndex:
        """The solutions in the quick order."""
        few = self._few()
        if few is not None:
            return few
        most = ASCENDING_NINE if self._is_nine else most_in_memory(self.board.geometry)
        if self._is_nine and (self._count is None or self._count > most):
            order = QuickNine(self._candidates(), self.engine.threads)
            self._count = order.count
            if order.count > most:
                return order
        if self.count <= most:
            return self._load()
        return self._by_contraction or self._by_prefixes

    @Once
    def shares(self) -> NDArray[Any]:
        """The number of solutions with each digit in each cell, checked: object (cells, n)."""
        board = self.board
        few = self._few()
        if few is not None:
            shares = few.shares()
        elif self._is_nine:
            shares = nine_shares(self._candidates(), self.engine.threads)
        elif self.count <= most_in_memory(board.geometry):
            shares = self._load().shares()
        else:
            shares = shares_of_many(
                board, self.options, self.engine, self._searcher, self.count, self.contraction
            )
        count = int(shares[0].sum()) if self._count is None else self._count
        check_shares(shares, board.geometry, count)
        self._count = count
        shares.setflags(write=False)
        return shares

    def first(self, number: int) -> NDArray[np.uint8] | None:
        """List at least so many of the first solutions, or all, if no count is needed for that."""
        if self.is_counted or number > UNCOUNTED:
            return None
        rows, are_all = self._first
        if not are_all and len(rows) < number:
            blocks, left = [rows[:0]], number
            for block in self.ascending.rows(0, UNCOUNTED):
                blocks.append(block)
                left -= len(block)
                if left <= 0:
                    break
            rows = np.concatenate(blocks)
            self._first = rows, left > 0
        return rows

    def solution(self, grid: BoardLike) -> Board:
        """Return a grid that is a solution as a board; InputError says why it is none."""
        found = board_of(grid, self.board.geometry)
        name = self.board.geometry.cell_name
        if not found.is_full:
            raise InputError(f"not a solution: {name(int(np.argmin(found.cells)))} is empty")
        wrong = (self.board.cells > 0) & (found.cells != self.board.cells)
        if wrong.any():
            cell = int(np.argmax(wrong))
            raise InputError(
                f"not a solution: {name(cell)} holds {found.cells[cell]},"
                f" and the board has {self.board.cells[cell]} there"
            )
        if found.conflicts:
            raise InputError(f"not a solution: {found.conflicts[0].describe(found.geometry)}")
        given = self.board.given_candidates
        if given is not None and (excluded := digit_masks(found.cells) & ~given).any():
            cell = int(np.flatnonzero(excluded)[0])
            raise InputError(f"not a solution: {found.cells[cell]} is no candidate of {name(cell)}")
        return found

    @Once
    def _has_one(self) -> bool:
        return self._search(0) is None

    def _few(self, seconds: float = inf) -> InMemoryIndex | None:
        """Return all solutions if they are few, and a count or these seconds of search show it."""
        seconds = inf if self._is_nine else min(seconds, SEARCH_SECONDS)
        if self._count is not None:
            if self._in_memory is None and self._count <= SEARCHED_FIRST:
                return self._load()
        elif self._searched_seconds < seconds:
            try:
                self._search(SEARCHED_FIRST, seconds)
                self._searched_seconds = inf
            except Cancelled:
                check_cancelled()  # by the caller, not for lack of time
                self._searched_seconds = seconds
        return self._in_memory

    def _load(self) -> InMemoryIndex:
        """Load all solutions into memory, once they are known to be few enough."""
        found = self._search(self.count)
        assert found is not None  # they were counted
        return found

    def _search(self, most: int, seconds: float = inf) -> InMemoryIndex | None:
        """Load all solutions unless there are more than ``most``; Cancelled at the time limit."""
        kernels = search_kernels(self.board.geometry, self.options, self._searcher)
        if seconds < inf or not all(kernel.kept for kernel in kernels):
            call = stages()
            later = [*call.of_one_board(), *call.of_quick_order(), *call.of_products()]
            ready(kernels, later=later if self._is_nine and most else ())
        board = Batch.of([self.board])
        rows, [count] = find_each(board, self.options, self._searcher, most, seconds)
        if count > most:
            return None
        self._in_memory, self._count = InMemoryIndex(rows, self.board.n), len(rows)
        return self._in_memory

    def _candidates(self) -> NDArray[np.uint64]:
        """Return the candidates that a contraction begins with, of a board that has solutions."""
        simplified = Frontier.of([self.board]).simplified(SearchSettings())
        candidates: NDArray[np.uint64] = simplified.candidates[0]
        return candidates

    @Once
    def contraction(self) -> Join | Parts | None:
        """The contraction of a board of another shape than 9x9, if there is one."""
        return contraction_for_order(self.board)

    @Once
    def _by_contraction(self) -> QuickGeneral | None:
        if self.contraction is None:
            return None
        try:
            return QuickGeneral(self.contraction, self.engine.threads, self._count)
        except TooExpensive:  # products of the sum pass one word
            return None

    @Once
    def _by_prefixes(self) -> Ascending:
        return Ascending(self.board, self.options, self.engine, self._searcher, lambda: self.count)


def _unpickled(board: Board, options: Options) -> Orders:
    return Orders(board, options, engine_for(options))


def contraction_for_order(board: Board) -> Join | Parts | None:
    """Return the contraction that numbers a board's solutions, by the board alone; or None."""
    if board.geometry == NINE or board.given_candidates is not None:
        return None
    try:
        # Options do not matter: they must not change the order.
        found = contraction_of(board, Frontier.of([board]), MEMORY, CONTRACTION_SECONDS)
    except TooExpensive:
        return None
    if not isinstance(found, Join | Parts):
        return None
    most = PARTS_SECONDS if isinstance(found, Parts) else CONTRACTION_SECONDS
    return found if found.seconds <= most else None
