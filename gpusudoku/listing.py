"""Solutions one after the other, streamed while the workers search."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.counting import make_engine
from gpusudoku.engines import Engine
from gpusudoku.jobs.job import Progress
from gpusudoku.options import OptionFields, Options
from gpusudoku.planning.search import Exploration
from gpusudoku.results import Stats

WAITING_BLOCKS = 4
"""Blocks of solutions that may wait for the reader before the workers wait for it too."""


class Listing:
    """An iterator over blocks of solutions, uint8 (k, cells) arrays, each board row by row.

    Solutions come as they are found: in a fixed order on one CPU thread, in any order on more.
    No more than the limit are given. ``stats`` is there once the iterator has ended; ``close``
    stops the workers before.

    Parameters
    ----------
    board
        Any board.
    engine
        Made by ``counting.make_engine`` before; by default made for this listing.
    progress
        Called about twenty times a second, in another thread.
    **options
        The fields of ``Options``.
    """

    def __init__(
        self,
        board: Board,
        *,
        engine: Engine | None = None,
        progress: Callable[[Progress], None] | None = None,
        **options: Unpack[OptionFields],
    ) -> None:
        settings = Options(**options)
        self.stats: Stats | None = None
        self._board, self._progress, self._left = board, progress, settings.limit
        self._blocks: queue.Queue[NDArray[np.uint8] | None] = queue.Queue(WAITING_BLOCKS)
        self._closed = threading.Event()
        self._error: BaseException | None = None
        # Compiled here, not in the thread, so that Ctrl-C can interrupt that.
        engine = engine or make_engine(settings)
        self._exploration = Exploration([board], engine, settings, self._put)
        self._thread = threading.Thread(target=self._search, daemon=True)
        self._thread.start()

    def __iter__(self) -> Iterator[NDArray[np.uint8]]:
        return self

    def __next__(self) -> NDArray[np.uint8]:
        block = None if self._left == 0 or self._closed.is_set() else self._next_block()
        if block is None:
            self.close()
            if self._error is not None:
                raise self._error
            raise StopIteration
        if self._left is not None:
            block = block[: self._left]
            self._left -= len(block)
        return block

    def _next_block(self) -> NDArray[np.uint8] | None:
        while True:
            try:
                return self._blocks.get(timeout=0.2)  # without one, Windows lets no Ctrl-C in
            except queue.Empty:
                continue

    def close(self) -> None:
        """Stop the workers and wait for them."""
        self._closed.set()
        self._exploration.job.stop()
        self._thread.join()

    def _search(self) -> None:
        try:
            self.stats = self._exploration.run(self._progress)
            self.stats.describe(self._board)
        except BaseException as error:  # handed to the thread that reads
            self._error = error
        self._put(None)

    def _put(
        self, block: NDArray[np.uint8] | None, owners: NDArray[np.int64] | None = None
    ) -> None:
        while not self._closed.is_set():
            try:
                self._blocks.put(block, timeout=0.1)
            except queue.Full:
                continue
            return


def solutions(board: Board, **options: Unpack[OptionFields]) -> Iterator[Board]:
    """All solutions of a board, one after the other, in constant memory.

    Options are the fields of ``Options``. Closing the iterator stops the search.

    Raises
    ------
    InputError, DeviceError
        As ``count`` does.
    """
    with closing(Listing(board, **options)) as listing:
        for block in listing:
            for cells in block:
                yield Board(cells, board.geometry)


@dataclass(frozen=True)
class Solution:
    """The outcome of ``solve``."""

    board: Board | None
    """A solution, None if there is none."""
    unique: bool | None
    """Whether it is the only one; None if that was not asked (or there is none)."""
    stats: Stats


def solve(
    board: Board,
    *,
    check_unique: bool = True,
    engine: Engine | None = None,
    progress: Callable[[Progress], None] | None = None,
    **options: Unpack[OptionFields],
) -> Solution:
    """Find a solution and, unless told not to, say whether it is the only one.

    All workers stop at the second solution, or at the first if uniqueness is not asked.
    Options are the fields of ``Options`` but the limit, and the others as for ``Listing``.

    Raises
    ------
    InputError, DeviceError
        As ``count`` does.
    """
    options["limit"] = 2 if check_unique else 1
    with closing(Listing(board, engine=engine, progress=progress, **options)) as listing:
        found = [cells for block in listing for cells in block]
    stats = listing.stats or Stats()
    if not found:
        return Solution(None, None, stats)
    unique = len(found) == 1 if check_unique else None
    return Solution(Board(found[0], board.geometry), unique, stats)
