"""The beginnings of solutions, and going through all solutions that have some of them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.engines.engine import Engine
from gpusudoku.errors import Cancelled, TooExpensive
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.options import Options
from gpusudoku.orders.few import find_each

FIRST_MOST, LAST_MOST = 1 << 10, 1 << 13
"""So many solutions with one prefix are found at once, at first and later: the first come soon."""
MOST_BYTES = 1 << 22
"""Fewer of larger boards: these bytes."""
LIST_SECONDS = 20.0
"""If the solutions with some prefixes are not found in this time on a core, there may well be none,
which can take forever to show."""
QUICK = 1 / 8
"""More is found at once from then on, if a search took no more than this part of that time."""
TOGETHER = 32
"""Prefixes that are searched for together, at most."""
FULL = 8
"""If no more than one in so many of the solutions that might be found at once is there, shorter
prefixes are tried."""


class Prefixes:
    """The prefixes of the solutions of a board: digits of its first empty cells, as bytes.

    Parameters
    ----------
    board
        Any board.
    """

    def __init__(self, board: Board) -> None:
        self.board, self.cells = board, np.flatnonzero(board.cells == 0)

    def filled(self, prefix: bytes) -> Board:
        """The board with a prefix."""
        cells = self.board.cells.copy()
        cells[self.cells[: len(prefix)]] = np.frombuffer(prefix, np.uint8)
        return Board(cells, self.board.geometry, candidates=self.board.given_candidates)

    def digits(self, prefix: bytes) -> list[int]:
        """The candidates of the cell after a prefix, in ascending order."""
        mask = int(self.filled(prefix).candidates[self.cells[len(prefix)]])
        return [digit for digit in range(1, self.board.n + 1) if mask >> digit - 1 & 1]

    def longer(self, prefix: bytes) -> list[bytes]:
        """The prefixes with one cell more, the last first."""
        return [prefix + bytes([digit]) for digit in reversed(self.digits(prefix))]

    def found(
        self, some: Sequence[bytes], options: Options, searcher: Engine, most: int
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """The solutions with prefixes in ascending order that have few; see ``find_each``.

        Raises
        ------
        TooExpensive
            If they are not found in LIST_SECONDS.
        """
        boards = Batch.of([self.filled(prefix) for prefix in some])
        try:
            return find_each(boards, options, searcher, most, LIST_SECONDS)
        except Cancelled:
            check_cancelled()  # by whoever asked, not for lack of time
            raise TooExpensive(
                "too expensive: this needs the solutions with some first cells filled in, and to"
                f" find them takes more than {LIST_SECONDS:.0f} s"
            ) from None


class _Part(NamedTuple):
    """The solutions with a prefix."""

    prefix: bytes
    rows: NDArray[np.uint8] | None
    """All of them, in ascending order, once they are found."""


class Through:
    """Goes through solutions in ascending order, without counting any.

    The solutions with some prefixes are searched for together and sorted. Those with a prefix that
    has too many are left, and searched for with longer prefixes.

    Parameters
    ----------
    prefixes
        Those of the board.
    options
        How to search.
    searcher
        What searches.
    large
        Prefixes of which it is known that they have many solutions. The first ones are added.
    """

    def __init__(
        self, prefixes: Prefixes, options: Options, searcher: Engine, large: set[bytes]
    ) -> None:
        self._prefixes, self._options, self._searcher = prefixes, options, searcher
        self._large = large
        self._bound = min(LAST_MOST, max(1, MOST_BYTES // prefixes.board.geometry.cells))
        self._most, self._together = min(FIRST_MOST, self._bound), 1
        self._length = 0
        """Shorter prefixes should have too many solutions."""

    def rows(self, start: Sequence[bytes]) -> Iterator[NDArray[np.uint8]]:
        """The solutions with some prefixes, the last first, in blocks.

        What takes too long together is searched for one by one.

        Raises
        ------
        TooExpensive
            If even the solution with one prefix is not found in LIST_SECONDS.
        """
        todo = [_Part(prefix, None) for prefix in start]
        begun = False
        while todo:
            if (rows := todo[-1].rows) is not None:
                todo.pop()
                if len(rows):
                    begun = True
                    yield rows
                continue
            group = self._group(todo)
            try:
                found = self._found(group)
            except TooExpensive:
                if self._most == len(group) == 1:
                    raise
                self._most = self._together = 1
                todo += [_Part(prefix, None) for prefix in reversed(group)]
                continue
            if not begun:
                self._large.update(part.prefix for part in found if part.rows is None)
            for part in reversed(found):
                todo += [part] if part.rows is not None else self._split(part.prefix)

    def _group(self, todo: list[_Part]) -> list[bytes]:
        """Take the next prefixes that are to be searched for."""
        group: list[bytes] = []
        while len(group) < self._together and todo and todo[-1].rows is None:
            prefix = todo.pop().prefix
            too_short = len(prefix) < min(self._length, len(self._prefixes.cells))
            if too_short or prefix in self._large:
                todo += self._split(prefix)
            else:
                group.append(prefix)
        return group

    def _split(self, prefix: bytes) -> list[_Part]:
        """The prefixes with one cell more that has several candidates, the last first."""
        longer = [prefix]
        while len(longer) == 1 and len(longer[0]) < len(self._prefixes.cells):
            longer = self._prefixes.longer(longer[0])
        return [_Part(each, None) for each in longer]

    def _found(self, group: list[bytes]) -> list[_Part]:
        """Search for the solutions with each of some prefixes; parts in ascending order."""
        if not group:
            return []
        start_time = time.thread_time()
        ordered, counts = self._prefixes.found(group, self._options, self._searcher, self._most)
        is_quick = time.thread_time() - start_time <= QUICK * LIST_SECONDS
        whole = counts <= self._most
        self._learn(group, whole, len(ordered), is_quick)
        parts, start = [], 0
        for is_whole, run in groupby(range(len(group)), whole.__getitem__):
            indices = [*run]
            if is_whole:
                end = start + int(counts[indices].sum())
                parts.append(_Part(b"", ordered[start:end]))
                start = end
            else:
                parts += [_Part(group[index], None) for index in indices]
        return parts

    def _learn(
        self, group: list[bytes], whole: NDArray[np.bool_], found: int, is_quick: bool
    ) -> None:
        """Choose how much is found at once from now on, and with how long prefixes."""
        if not whole.all():
            self._length = 1 + max(len(group[index]) for index in np.flatnonzero(~whole))
            return
        if not found or not is_quick:
            return
        if found * FULL <= self._most * len(group):
            self._length = min(self._length, *map(len, group)) - 1
        self._most = min(2 * self._most, self._bound)
        self._together = min(2 * self._together, TOGETHER)
