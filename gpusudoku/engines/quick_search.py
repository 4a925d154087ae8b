"""The quick search of one board, in the calling thread: most boards need no more.

There is no estimate, no frontier, no job and no other thread, and the memory of the search is kept
for the next board. The boards that remain after it are the frontier with which a plan begins, so
nothing is searched twice.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.engines.engine import BegunSearch, WorkCounters
from gpusudoku.errors import Interrupted
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.jobs.watch import Progress, current_watch
from gpusudoku.kernels.arguments import block_of
from gpusudoku.kernels.kernel import Kernel
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.arguments import (
    BELOW,
    DEEPEST,
    GUESSES,
    NODES,
    TOP,
    CpuPool,
    Found,
    Lanes,
    Stack,
    limit_of,
)
from gpusudoku.kernels.search.shape import SearchSettings, Shape, shape_of
from gpusudoku.search.frontier import Frontier, node_seconds

QUICK_SECONDS = 0.0003
"""The time of a quick search, on the reference core: some ten thousand nodes of 9x9 boards. A
contraction, which takes some milliseconds at least, waits for it in vain."""
MAX_LISTED = 64
"""The most solutions that a quick search lists."""
STACK_BYTES = 1 << 20
"""The stack of a quick search, at most, if that has room for the lanes."""

Boards = tuple[NDArray[Any], NDArray[np.int64]]
"""Packed boards and their roots."""


class SearchMemory:
    """The memory of a thread that searches: its stack, its lanes, and the solutions it has found.

    The stack has room for a whole search in practice, unless that takes more than ``stack_bytes``:
    one lane alone leaves no more boards than there are cells, as board k of those that it leaves on
    its way down has at least k cells fixed, by the guesses that led to it.
    """

    def __init__(
        self, shape: Shape, settings: SearchSettings, found: Found, stack_bytes: int | None = None
    ) -> None:
        depth = shape.lanes * (shape.n * shape.n + 3)
        if stack_bytes is not None:
            depth = min(depth, max(3 * shape.lanes, stack_bytes // shape.row_bytes))
        self.shape = shape
        self.run = cpu.run(shape, settings)
        self.stack = Stack.empty(depth, shape)
        self.lanes = Lanes.empty(shape)
        self.found = found

    @property
    def remaining(self) -> Boards:
        """A copy of the boards on the stack, the last first, and their roots."""
        state = self.stack.state
        rows = slice(int(state[BELOW]) + 1, int(state[TOP]) + 1)
        return self.stack.boards[rows][::-1].copy(), self.stack.roots[rows][::-1].copy()


def run_quick_search(
    board: Batch,
    settings: SearchSettings,
    limit: int | None,
    *,
    listed: bool = False,
    compile_search: Callable[[], None] = lambda: None,
) -> BegunSearch | None:
    """Search the board of a batch of one for QUICK_SECONDS; see ``Engine.quick_search``."""
    if listed and (limit is None or limit > MAX_LISTED):
        return None
    check_cancelled()
    shape = shape_of(board.geometry.box_rows, board.geometry.box_columns)
    unused = _unused[shape, settings, listed]
    try:
        memory = None
        with suppress(IndexError):
            memory = unused.pop()
        if memory is None:
            run = cpu.run(shape, settings)
            if not run.fetch():
                compile_search()
            if not run.fetch():
                return None
            memory = _QuickMemory(shape, settings, listed)
        begun = memory.search(board, limit)
    except KeyboardInterrupt:
        raise Interrupted("interrupted") from None
    unused.append(memory)
    watch = current_watch()
    if begun.is_finished and watch.sees_progress:
        watch.progress(Progress(1.0, begun.number, begun.seconds))
    return begun


class _QuickMemory(SearchMemory):
    """The memory of quick searches of boards of one shape, one after the other."""

    def __init__(self, shape: Shape, settings: SearchSettings, listed: bool) -> None:
        cells = shape.n * shape.n
        room = shape.lanes + MAX_LISTED if listed else 0
        super().__init__(shape, settings, Found.empty(1, room, cells), STACK_BYTES)
        boards = np.zeros((1, shape.words), shape.word)
        self._pool = CpuPool.of(boards, np.zeros(1, np.int64), 1, shape)
        self._fresh_pool_state = self._pool.state.copy()
        self._cells = np.zeros((1, cells), np.uint8)
        self._packed = self._cells, *shape.places, boards, self.lanes.memory
        self._packing = block_of(cpu.pack(shape).signature, self._packed)
        self._no_boards = Frontier(shape, boards[:0], np.zeros(0, np.int64))
        self._recalls = np.zeros(1, np.int64)  # nobody recalls so short a search
        groups = self._pool, self.stack, self.found, self._recalls, 0
        self._running = block_of(self.run.signature, (*groups, 0, np.uint64(0), self.lanes))
        self._budget = len(block_of(self.run.signature[: len(groups)], groups))

    def search(self, board: Batch, limit: int | None) -> BegunSearch:
        """Search a board until the time or the limit is reached."""
        shape = self.shape
        stack = self.stack
        found = self.found
        self._pack(board)
        start = time.perf_counter()
        found.counts[0] = found.used[0] = 0
        self._pool.state[:] = self._fresh_pool_state
        stack.state[:] = -1
        stack.tally[:] = 0
        self._running[self._budget] = int(QUICK_SECONDS / node_seconds(shape))
        self._running[self._budget + 1] = int(limit_of(limit))
        self.run.call(self._running)
        seconds = time.perf_counter() - start
        tally = stack.tally.tolist()
        counters = WorkCounters(tally[NODES], tally[GUESSES], tally[DEEPEST])
        count = int(found.counts[0])
        roots = remaining = self._no_boards
        if limit is not None and count >= limit:
            count = limit
        elif stack.state[TOP] >= 0:
            roots = Frontier(shape, self._pool.boards.copy(), np.zeros(1, np.int64))
            remaining = Frontier(
                shape, *self.remaining, nodes=counters.nodes, guesses=counters.guesses
            )
        solutions = found.solutions[:count].copy()
        return BegunSearch(roots, remaining, count, counters, seconds, solutions)

    def _pack(self, board: Batch) -> None:
        """Make a board the next to be searched."""
        self._cells[:] = board.cells
        pack = cpu.pack(self.shape).for_boards(1)
        if isinstance(pack, Kernel):
            pack.call(self._packing)
        else:
            pack(*self._packed)
        if board.candidates is not None:
            self._pool.boards[:] &= self.shape.rows_of(board.candidates)


_unused: defaultdict[tuple[Shape, SearchSettings, bool], list[_QuickMemory]] = defaultdict(list)
"""Memories that no search is using. To take or give one back is one step, whatever the threads."""
