"""Solutions as a search finds them: of one board as a stream, of many boards in blocks."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch, sort_keys
from gpusudoku.board.blocks import Deferred, in_blocks
from gpusudoku.board.board import Board
from gpusudoku.engines.engine import Engine
from gpusudoku.engines.make import engine_for
from gpusudoku.jobs.cancel import ASK_SECONDS, CancelToken, cancelling, check_cancelled, tokens
from gpusudoku.jobs.threads import start_thread
from gpusudoku.jobs.watch import current_watch, watching
from gpusudoku.options import Options
from gpusudoku.planning.count import find_solutions
from gpusudoku.planning.search import SearchPlan
from gpusudoku.results import SearchStats
from gpusudoku.search.frontier import Frontier

WAITING_BLOCKS = 4
"""Blocks of solutions that may wait for the reader before the workers wait for it too."""
FEW = 64
"""Boards of a batch with fewer solutions are listed together."""
LISTED_BOARDS = 1 << 12
"""The most boards that are listed together: about FEW times as many solutions are kept at a time,
more where several threads find them."""


class _SearchThread:
    """A search in a thread of its own, whose solutions wait in a queue.

    The thread refers to this object, not to the ``Stream``, so that a dropped stream is collected.
    """

    def __init__(self, board: Board, options: Options, engine: Engine) -> None:
        self.stats: SearchStats | None = None
        self.closed = False
        self.error: BaseException | None = None
        """The error that ended the search, unless the stream was closed."""
        self._engine = engine
        self._stop = CancelToken()
        self._tokens = tokens()
        self._watch = current_watch()
        self._blocks: queue.Queue[NDArray[np.uint8] | None] = queue.Queue(WAITING_BLOCKS)
        self._plan = SearchPlan(Frontier.of([board]), options)
        self._plan.compile(engine)  # here, not in the thread: Ctrl-C can interrupt that
        self._thread = threading.Thread(target=self._run, daemon=True)
        start_thread(self._thread)

    def next_block(self) -> NDArray[np.uint8] | None:
        """Wait for some solutions; None if there are no more, or if it is closed meanwhile."""
        while not self.closed:
            try:
                return self._blocks.get(timeout=ASK_SECONDS)
            except queue.Empty:
                check_cancelled()
                if not self._thread.is_alive() and self._blocks.empty():  # it was cancelled
                    return None
        return None

    def stop(self) -> None:
        """Make the workers stop soon. The garbage collector may call this, in any thread."""
        self.closed = True
        self._stop.cancel()

    def join(self) -> None:
        """Wait for the workers, who have found all, or as many as the limit, or are to stop."""
        self.closed = True
        self._thread.join()

    def _run(self) -> None:
        """Search all in the thread."""
        try:
            with cancelling(*self._tokens, self._stop), watching(self._watch):
                self.stats = self._plan.run(self._engine, on_solutions=self._put).stats
        except BaseException as error:  # raised in the thread that reads, unless that closed it
            self.error = None if self._stop.cancelled else error
        self._put(None)

    def _put(self, block: NDArray[np.uint8] | None, _: object = None) -> None:
        """Hand a block over, once there is room; unless it is closed, or the search cancelled."""
        while not (self.closed or any(token.cancelled for token in self._tokens)):
            try:
                self._blocks.put(block, timeout=ASK_SECONDS)
            except queue.Full:
                continue
            return


class Stream:
    """An iterator over blocks of solutions, uint8 (k, cells) arrays, each board row by row.

    Solutions come as they are found: in a fixed order on one CPU thread, in any order on more, and
    no more than the limit. ``close`` stops the workers before the end, and so do the tokens of the
    thread that makes the stream, and dropping it, soon. Progress is reported in another thread.
    """

    def __init__(
        self,
        board: Board,
        options: Options | None = None,
        *,
        engine: Engine | None = None,
    ) -> None:
        options = options or Options()
        self._board = board
        self._remaining = options.limit
        engine = engine_for(options, engine)
        self._search = _SearchThread(board, options, engine)
        finalize(self, self._search.stop)

    def __repr__(self) -> str:
        return f"<Stream of the solutions of {self._board.describe()}>"

    @property
    def stats(self) -> SearchStats | None:
        """The statistics of the search, once the iterator has ended."""
        return self._search.stats

    def __iter__(self) -> Iterator[NDArray[np.uint8]]:
        return self

    def __next__(self) -> NDArray[np.uint8]:
        block = None if self._remaining == 0 else self._search.next_block()
        if block is None:
            self._search.join()
            if self._search.error is not None:
                raise self._search.error
            raise StopIteration
        if self._remaining is not None:
            block = block[: self._remaining]
            self._remaining -= len(block)
        return block

    def close(self) -> None:
        """Stop the workers and wait for them."""
        self._search.stop()
        self._search.join()


@dataclass(frozen=True)
class ListedBoards:
    """Solutions of consecutive boards, in their order."""

    boards: Batch
    doubtful: Batch
    """Those of the boards that may have none; all others have some."""
    solutions: Iterable[NDArray[np.uint8]] | None
    """Blocks of uint8 (k, n * n), to be taken before the next boards are; None if these are of one
    board that has too many to be listed together with others."""
    board_of: NDArray[np.int64] | None = None
    """int64 (k): the index of the board of each solution; None if there is one board only. The
    solutions of several boards are in one block."""


def list_batches(
    batches: Iterable[Batch], options: Options, engine: Engine
) -> Generator[ListedBoards, None, None]:
    """List the solutions of boards in blocks, in their order, no more of each than the limit.

    Those of a board with fewer than FEW come in ascending order; the caller lists those of others,
    each by itself.
    """
    return in_blocks(
        batches,
        LISTED_BOARDS,
        lambda block, alone: _list(block, options, engine.for_block if alone else engine, alone),
        engine.side_by_side,
    )


def _list(
    block: Batch, options: Options, engine: Engine, alone: bool
) -> Generator[ListedBoards | Deferred[ListedBoards], None, None]:
    rows, roots, _ = find_solutions(block, replace(options, limit=FEW), engine)
    counts = np.bincount(roots, minlength=len(block))
    order = np.argsort(roots, kind="stable")
    # As a rule few boards have several solutions, and comparing rows takes time.
    is_compared = counts[roots[order]] > 1
    if is_compared.any():
        compared = order[is_compared]
        order[is_compared] = compared[np.lexsort((sort_keys(rows[compared]), roots[compared]))]
    results = _split_at_many(block, rows[order], counts, options.limit)
    if alone and (counts >= FEW).any():
        yield Deferred(results)
    else:
        yield from results


def _split_at_many(
    block: Batch, rows: NDArray[np.uint8], counts: NDArray[np.int64], limit: int | None
) -> Generator[ListedBoards, None, None]:
    """Yield the sorted solutions of boards with few, and the others without any."""
    board_of = np.repeat(np.arange(len(block)), counts)
    if limit is not None:
        starts = np.cumsum(counts) - counts
        wanted = np.arange(len(rows)) - starts[board_of] < limit
        rows = rows[wanted]
        board_of = board_of[wanted]
    start = 0
    for many in [*np.flatnonzero(counts >= FEW).tolist(), len(block)]:
        if start < many:
            boards = block.part(start, many)
            unsolvable = boards.chosen(counts[start:many] == 0)
            listed = slice(*np.searchsorted(board_of, [start, many]).tolist())
            yield ListedBoards(boards, unsolvable, [rows[listed]], board_of[listed] - start)
        if many < len(block):
            yield ListedBoards(block.part(many, many + 1), block.part(0, 0), None)
        start = many + 1
