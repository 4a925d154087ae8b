"""Who numbers the solutions of a board, and who tells their shares.

Two orders are fixed by the board alone. *Ascending* compares the digits cell by cell. *Quick* is
ascending, too, where there are few solutions. Where there are many it is the order of the
contraction, if there is one for the board: for those of 9x9 cells whose candidates follow from
their clues there always is, for those of other shapes see ``general``.
"""

from __future__ import annotations

from functools import cached_property
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku import __version__
from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.contraction.general.join import Join
from gpusudoku.contraction.general.parts import Parts
from gpusudoku.contraction.nine.shares import nine_shares
from gpusudoku.contraction.prepare import is_nine
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.engine import Engine
from gpusudoku.engines.make import engine_for
from gpusudoku.errors import Cancelled, TooExpensive
from gpusudoku.jobs.cancel import Turns, check_cancelled
from gpusudoku.kernels.compiling import ready
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.options import Options
from gpusudoku.orders.ascending import LEAF, Ascending
from gpusudoku.orders.few import Few, find, most_solutions
from gpusudoku.orders.general import QuickGeneral, contracted, general_shares
from gpusudoku.orders.nine import QuickNine
from gpusudoku.orders.protocol import Ordered, Ranked
from gpusudoku.orders.shares import (
    MOST_VISITED,
    SUMS,
    VISITED_PER_SECOND,
    check_shares,
    counted_shares,
    visited_shares,
)
from gpusudoku.planning.run import count_board
from gpusudoku.planning.search import search_kernels
from gpusudoku.search.frontier import Frontier

MOST_SECONDS = 600.0
"""If a count should take longer on one core, nothing is done that only begins with it."""
SUM_SECONDS = 20.0
"""A contraction of another shape that takes less counts the solutions, whatever a search takes."""
LOOK_SECONDS = 5.0
"""Solutions that are not found to be few in this time on one core are taken for many until they are
counted: of a large board a single one can take forever. Of 9x9 boards of clues it soon shows."""
ONE_ORDER = 1 << 16
"""Boards with no more solutions have no quick order of their own: to find these and sort them takes
a few hundredths of a second. So it is part of what the quick order is."""


class Orders:
    """The solutions of one board; each thing is found out once, when somebody asks for it.

    Parameters
    ----------
    board
        Any board.
    options
        How to search and count; without a limit.
    engine
        What does that.
    """

    def __init__(self, board: Board, options: Options, engine: Engine) -> None:
        self.board, self.options, self._engine = board, options, engine
        self._searcher = CpuEngine(engine.threads)
        """Lists are short: a GPU would take longer to begin than this to end."""
        self._lock = Turns()
        self._few: Few | None = None
        self._quick: Ordered | None = None
        self._count: int | None = None
        self._shares: NDArray[Any] | None = None
        self._any: bool | None = None
        self._looked = 0.0
        """Seconds for which it was looked whether there are few."""
        self._contracts = is_nine(board.geometry, board.given_candidates)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (__version__, self.board, self.options)

    @property
    def is_counted(self) -> bool:
        """Whether the number of solutions is known already."""
        return self._count is not None

    @property
    def count(self) -> int:
        """The number of solutions, for what else is wanted.

        A contraction that is made for that counts them, too, if it does not take long.

        Raises
        ------
        TooExpensive
            If to count them should take too long. For 9x9 boards it never does.
        """
        with self._lock:
            if self._count is None and not self._are_few() and self._general is not None:
                order = self._by_contraction if self._general.seconds <= SUM_SECONDS else None
                self._count = None if order is None else order.count
            return self.counted(inf if self._contracts else MOST_SECONDS)

    def counted(self, most_seconds: float = inf) -> int:
        """The number of solutions; TooExpensive if that should take longer on one core."""
        with self._lock:
            if self._count is None and not self._are_few(most_seconds):
                counted = count_board(self.board, self.options, self._engine, most_seconds)
                self._count = counted.count
            assert self._count is not None
            return self._count

    @property
    def any(self) -> bool:
        """Whether there is a solution, which is searched for as long as that takes."""
        if self._count is not None:
            return self._count > 0
        with self._lock:
            if self._any is None:
                rows = self._found(0)
                self._any = rows is None
                if rows is not None:
                    self._keep(rows)
            return self._any

    @property
    def ascending(self) -> Ranked:
        """The solutions in ascending order."""
        with self._lock:
            if self._few is None and not self._are_few():
                return self._by_prefixes
            assert self._few is not None
            return self._few

    @property
    def quick(self) -> Ordered:
        """The solutions in the quick order."""
        with self._lock:
            if self._quick is None:
                self._quick = self._make_quick()
            return self._quick

    @property
    def shares(self) -> NDArray[Any]:
        """For every cell and digit how many solutions have it there: object (cells, n).

        Raises
        ------
        MismatchError
            If they do not add up to the count in every cell, row, column and box.
        """
        with self._lock:
            if self._shares is None:
                self._shares = self._make_shares()
            return self._shares

    def _make_shares(self) -> NDArray[Any]:
        geometry = self.board.geometry
        if self._few is not None or self._are_few():
            assert self._few is not None
            shares = self._few.shares()
        elif self._contracts:
            shares = nine_shares(self._candidates(), self._engine.threads)
        elif self.count <= most_solutions(geometry):
            shares = self._all().shares()
        else:
            shares = self._shares_of_many()
        count = int(shares[0].sum()) if self._count is None else self._count
        check_shares(shares, geometry, count)
        self._count = count
        shares.setflags(write=False)
        return shares

    def _shares_of_many(self) -> NDArray[Any]:
        """The shares of a board of another kind with many solutions, in the cheapest way."""
        count, can_visit = self.count, self.count <= MOST_VISITED
        price = count / VISITED_PER_SECOND if can_visit else inf
        if self._general is not None and SUMS * self._general.seconds < price:
            try:
                return general_shares(self._general, self.board, count, self._engine.threads)
            except TooExpensive:
                pass  # this shows only while they are summed
        if can_visit:
            return visited_shares(self.board, self.options, self._searcher)
        return counted_shares(self.board, self.options, self._engine)

    def _are_few(self, seconds: float = inf) -> bool:
        """Whether a look, which takes no longer than this on one core, finds all solutions.

        Of a board with many, and of one that takes too long, it does not; but few that are counted
        are searched for however long it takes.
        """
        seconds = inf if self._contracts else min(seconds, LOOK_SECONDS)
        if self._count is not None:
            if self._few is None and self._count <= LEAF:
                self._all()
        elif self._looked < seconds:
            try:
                rows = self._found(LEAF, seconds)
                self._looked = inf
                if rows is not None:
                    self._keep(rows)
            except Cancelled:
                check_cancelled()  # by whoever asked, not for lack of time
                self._looked = seconds
        return self._few is not None

    def _make_quick(self) -> Ordered:
        if self._few is not None or self._are_few():
            assert self._few is not None
            return self._few
        most = ONE_ORDER if self._contracts else most_solutions(self.board.geometry)
        if self._contracts and (self._count is None or self._count > most):
            order = QuickNine(self._candidates(), self._engine.threads)
            self._count = order.count
            if order.count > most:
                return order
        if self.count <= most:
            return self._all()
        return self._by_prefixes if self._by_contraction is None else self._by_contraction

    def _all(self) -> Few:
        """All solutions, once it is known that they are few enough."""
        rows = self._found(self.count)
        assert rows is not None
        return self._keep(rows)

    def _keep(self, rows: NDArray[np.uint8]) -> Few:
        self._few, self._count = Few(rows, self.board.n), len(rows)
        return self._few

    def _found(self, most: int, seconds: float = inf) -> NDArray[np.uint8] | None:
        """All solutions, or None if there are more; Cancelled if the search takes too long."""
        if seconds < inf:
            ready(search_kernels(self.board.geometry, self.options, self._searcher))
        return find(Batch.of([self.board]), self.options, self._searcher, most, seconds)

    def _candidates(self) -> NDArray[np.uint64]:
        """What a contraction begins with, of a board that has solutions."""
        simplified = Frontier.of([self.board]).simplified(SearchSettings())
        candidates: NDArray[np.uint64] = simplified.candidates[0]
        return candidates

    @cached_property
    def _general(self) -> Join | Parts | None:
        """The contraction of a board of another shape, if there is one."""
        return contracted(self.board)

    @cached_property
    def _by_contraction(self) -> QuickGeneral | None:
        """The order of that contraction."""
        if self._general is None:
            return None
        try:
            return QuickGeneral(self._general, self._engine.threads, self._count)
        except TooExpensive:  # products of the sum pass one word
            return None

    @cached_property
    def _by_prefixes(self) -> Ascending:
        engines = self._engine, self._searcher
        return Ascending(self.board, self.options, *engines, lambda: self.count)


def _restored(version: str, board: Board, options: Options) -> Orders:
    """What was pickled: nothing of it depends on the version so far."""
    return Orders(board, options, engine_for(options))
