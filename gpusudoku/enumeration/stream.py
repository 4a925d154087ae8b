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
"""Blocks of solutions in the queue. When it is full, the workers wait for the reader."""
LISTED_TOGETHER = 64
"""Boards of a batch with fewer solutions are listed together."""
LISTED_BOARDS = 1 << 12
"""Boards of a block. About LISTED_TOGETHER times as many solutions are in memory for each block."""


class _SearchThread:
    """A search in a thread of its own, which puts solutions into a queue.

    The thread refers to this object, not to the ``Stream``, so that a stream that is no longer used
    is freed, and stops the search.
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
        # Compiled here, not in the thread, so that Ctrl-C can interrupt it.
        self._plan.compile(engine)
        self._thread = threading.Thread(target=self._run, daemon=True)
        start_thread(self._thread)

    def next_block(self) -> NDArray[np.uint8] | None:
        """Wait for the next block; None after the last one, or if the stream is closed."""
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
        """Wait for the workers, which have finished, reached the limit, or were stopped."""
        self.closed = True
        self._thread.join()

    def _run(self) -> None:
        """Run the search, in the thread."""
        try:
            with cancelling(*self._tokens, self._stop), watching(self._watch):
                self.stats = self._plan.run(self._engine, on_solutions=self._put).stats
        except BaseException as error:  # raised in the thread that reads, unless that closed it
            self.error = None if self._stop.cancelled else error
        self._put(None)

    def _put(self, block: NDArray[np.uint8] | None, _: object = None) -> None:
        """Put a block into the queue when there is room; drop it after a close or cancellation."""
        while not (self.closed or any(token.cancelled for token in self._tokens)):
            try:
                self._blocks.put(block, timeout=ASK_SECONDS)
            except queue.Full:
                continue
            return


class Stream:
    """An iterator over blocks of solutions, uint8 (k, cells) arrays, each board row by row.

    Solutions come in the order in which they are found, at most as many as the limit. On one CPU
    thread that order is deterministic. ``close``, the cancel tokens of the thread that made the
    stream, and dropping the stream stop the workers. Progress is reported in another thread.
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
        # Called when the stream is freed. It must not refer to the stream.
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
        # Threads may find a few more solutions than the limit.
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
    possibly_unsolvable: Batch
    """The boards that may have no solutions. All other boards have some."""
    solutions: Iterable[NDArray[np.uint8]] | None
    """Blocks of solutions, uint8 (k, n * n), to be read before the next boards. None if there is
    one board, with too many solutions to be listed together with others."""
    board_of: NDArray[np.int64] | None = None
    """int64 (k): the index of the board of each solution, if all solutions are in one block; None
    if there is one board."""


def list_batches(
    batches: Iterable[Batch], options: Options, engine: Engine
) -> Generator[ListedBoards, None, None]:
    """List the solutions of boards in blocks, in their order, at most the limit of each board.

    Boards with fewer than LISTED_TOGETHER solutions are listed here, in ascending order. The caller
    must list every other board.
    """
    return in_blocks(
        batches,
        LISTED_BOARDS,
        lambda block, alone: _list(block, options, engine.for_block if alone else engine, alone),
        engine.parallel_blocks,
    )


def _list(
    block: Batch, options: Options, engine: Engine, alone: bool
) -> Generator[ListedBoards | Deferred[ListedBoards], None, None]:
    rows, roots, _ = find_solutions(block, replace(options, limit=LISTED_TOGETHER), engine)
    counts = np.bincount(roots, minlength=len(block))
    order = np.argsort(roots, kind="stable")
    # Usually few boards have several solutions, so only their rows are compared.
    is_compared = counts[roots[order]] > 1
    if is_compared.any():
        compared = order[is_compared]
        order[is_compared] = compared[np.lexsort((sort_keys(rows[compared]), roots[compared]))]
    results = _split_at_many(block, rows[order], counts, options.limit)
    if alone and (counts >= LISTED_TOGETHER).any():
        yield Deferred(results)
    else:
        yield from results


def _split_at_many(
    block: Batch, rows: NDArray[np.uint8], counts: NDArray[np.int64], limit: int | None
) -> Generator[ListedBoards, None, None]:
    """Yield the sorted solutions of boards with few solutions, and each other board alone."""
    board_of = np.repeat(np.arange(len(block)), counts)
    if limit is not None:
        starts = np.cumsum(counts) - counts
        is_within_limit = np.arange(len(rows)) - starts[board_of] < limit
        rows = rows[is_within_limit]
        board_of = board_of[is_within_limit]
    start = 0
    for index in [*np.flatnonzero(counts >= LISTED_TOGETHER).tolist(), len(block)]:
        if start < index:
            boards = block.part(start, index)
            unsolvable = boards.select(counts[start:index] == 0)
            row_range = slice(*np.searchsorted(board_of, [start, index]).tolist())
            yield ListedBoards(boards, unsolvable, [rows[row_range]], board_of[row_range] - start)
        if index < len(block):
            yield ListedBoards(block.part(index, index + 1), block.part(0, 0), None)
        start = index + 1
