"""The quick search of one board, in the calling thread. It is enough for most boards.

It makes no estimate, no frontier, no job and no thread, and its memory is used again for the next
board. If boards remain, they are the frontier of the plan, so that nothing is searched twice.
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
from gpusudoku.kernels.arguments import make_frame
from gpusudoku.kernels.kernel import Kernel
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.arguments import (
    BELOW_BOTTOM,
    GUESSES,
    MAX_HEIGHT,
    NODES,
    TOP,
    CpuPool,
    Lanes,
    SearchResults,
    Stack,
    encode_limit,
)
from gpusudoku.kernels.search.shape import SearchSettings, Shape, shape_of
from gpusudoku.search.frontier import Frontier, node_seconds

QUICK_SECONDS = 0.0003
"""The time of a quick search on the reference core: about ten thousand nodes of 9x9 boards. It is
lost if the board is then contracted, which takes milliseconds."""
MAX_LISTED = 64
"""Solutions that a quick search can list."""
STACK_BYTES = 1 << 20
"""The size of the stack of a quick search; larger if the lanes need it."""

Boards = tuple[NDArray[Any], NDArray[np.int64]]
"""Packed boards and their roots."""


class SearchMemory:
    """The memory of a thread that searches: its stack, its lanes, and a buffer for solutions.

    In practice the stack has room for a whole search, unless that takes more than ``stack_bytes``.
    A lane that goes down the tree leaves at most as many boards as there are cells: board k that it
    leaves has at least k cells fixed, by the guesses before it.
    """

    def __init__(
        self,
        shape: Shape,
        settings: SearchSettings,
        results: SearchResults,
        stack_bytes: int | None = None,
    ) -> None:
        depth = shape.lanes * (shape.n * shape.n + 3)
        if stack_bytes is not None:
            depth = min(depth, max(3 * shape.lanes, stack_bytes // shape.row_bytes))
        self.shape = shape
        self.run = cpu.run(shape, settings)
        self.stack = Stack.empty(depth, shape)
        self.lanes = Lanes.empty(shape)
        self.results = results

    @property
    def remaining(self) -> Boards:
        """A copy of the boards on the stack, the top first, and their roots."""
        state = self.stack.state
        rows = slice(int(state[BELOW_BOTTOM]) + 1, int(state[TOP]) + 1)
        return self.stack.boards[rows][::-1].copy(), self.stack.roots[rows][::-1].copy()


def run_quick_search(
    board: Batch,
    settings: SearchSettings,
    limit: int | None,
    *,
    listed: bool = False,
    compile_search: Callable[[], None] = lambda: None,
) -> BegunSearch | None:
    """Search the only board of a batch for QUICK_SECONDS; see ``Engine.quick_search``."""
    if listed and (limit is None or limit > MAX_LISTED):
        return None
    check_cancelled()
    shape = shape_of(board.geometry.box_rows, board.geometry.box_columns)
    free_memories = _free_memories[shape, settings, listed]
    try:
        # Not ``if free_memories``, because another thread may take the last one.
        memory = None
        with suppress(IndexError):
            memory = free_memories.pop()
        if memory is None:
            run = cpu.run(shape, settings)
            if not run.load_from_cache():
                compile_search()
            if not run.load_from_cache():
                return None
            memory = _QuickMemory(shape, settings, listed)
        begun = memory.search(board, limit)
    # After an interrupt the memory is dropped, because its state is unknown.
    except KeyboardInterrupt:
        raise Interrupted("interrupted") from None
    free_memories.append(memory)
    watch = current_watch()
    if begun.is_finished and watch.sees_progress:
        watch.progress(Progress(1.0, begun.number, begun.seconds))
    return begun


class _QuickMemory(SearchMemory):
    """The memory of quick searches of boards of one shape."""

    def __init__(self, shape: Shape, settings: SearchSettings, listed: bool) -> None:
        cells = shape.n * shape.n
        # The limit is checked after a step, in which every lane can find a solution.
        buffer_rows = shape.lanes + MAX_LISTED if listed else 0
        super().__init__(shape, settings, SearchResults.empty(1, buffer_rows, cells), STACK_BYTES)
        boards = np.zeros((1, shape.words), shape.word)
        self._pool = CpuPool.of(boards, np.zeros(1, np.int64), 1, shape)
        self._initial_pool_state = self._pool.state.copy()
        self._cells = np.zeros((1, cells), np.uint8)
        self._pack_arguments = self._cells, *shape.cell_positions, boards, self.lanes.memory
        self._pack_frame = make_frame(cpu.pack(shape).signature, self._pack_arguments)
        self._no_boards = Frontier(shape, boards[:0], np.zeros(0, np.int64))
        self._recalls = np.zeros(1, np.int64)  # stays 0: the search is too short to be recalled
        # All arguments of the kernel as one array. A search replaces the budget and the limit.
        before_budget = self._pool, self.stack, self.results, self._recalls, 0
        arguments = (*before_budget, 0, np.uint64(0), self.lanes)
        self._arguments = make_frame(self.run.signature, arguments)
        self._budget_index = len(
            make_frame(self.run.signature[: len(before_budget)], before_budget)
        )

    def search(self, board: Batch, limit: int | None) -> BegunSearch:
        """Search a board until the time or the limit is reached."""
        shape = self.shape
        stack = self.stack
        results = self.results
        self._pack(board)
        start = time.perf_counter()
        results.counts[0] = 0
        results.claimed_rows[0] = 0
        self._pool.state[:] = self._initial_pool_state
        stack.state[:] = -1  # empty
        stack.tally[:] = 0
        self._arguments[self._budget_index] = int(QUICK_SECONDS / node_seconds(shape))
        self._arguments[self._budget_index + 1] = int(encode_limit(limit))
        self.run.call(self._arguments)
        seconds = time.perf_counter() - start
        tally = stack.tally.tolist()
        counters = WorkCounters(tally[NODES], tally[GUESSES], tally[MAX_HEIGHT])
        count = int(results.counts[0])
        roots = remaining = self._no_boards
        if limit is not None and count >= limit:
            count = limit
        elif stack.state[TOP] >= 0:
            roots = Frontier(shape, self._pool.boards.copy(), np.zeros(1, np.int64))
            remaining = Frontier(
                shape, *self.remaining, nodes=counters.nodes, guesses=counters.guesses
            )
        solutions = results.solutions[:count].copy()
        return BegunSearch(roots, remaining, count, counters, seconds, solutions)

    def _pack(self, board: Batch) -> None:
        """Pack a board into the pool."""
        self._cells[:] = board.cells
        pack = cpu.pack(self.shape).for_boards(1)
        if isinstance(pack, Kernel):
            pack.call(self._pack_frame)
        else:
            pack(*self._pack_arguments)
        if board.candidates is not None:
            self._pool.boards[:] &= self.shape.rows_of(board.candidates)


_free_memories: defaultdict[tuple[Shape, SearchSettings, bool], list[_QuickMemory]] = defaultdict(
    list
)
"""Memories that no search uses. ``pop`` and ``append`` are atomic, so threads need no lock."""
