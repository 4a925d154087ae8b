"""The beginning of a search: a moment in the thread that calls, which is all that most boards take.

There is no estimate, no frontier, no job and no other thread, and what the search works in is kept
for the next board. If boards are left when the moment is over, they are the frontier with which a
plan begins, so nothing of the search is done twice.
"""

from __future__ import annotations

import time
from collections import defaultdict
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.engines.cpu import WIDTH
from gpusudoku.engines.engine import Engine
from gpusudoku.errors import Interrupted
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.jobs.watch import Progress, current_watch
from gpusudoku.kernels.compile_many import ready
from gpusudoku.kernels.kernel import Kernel, block_of
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.arguments import (
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
from gpusudoku.options import Options
from gpusudoku.planning.choose import contractible, likely_searched
from gpusudoku.planning.search import Begun, search_kernels, search_settings
from gpusudoku.results import SearchStats
from gpusudoku.search.frontier import Frontier, node_seconds
from gpusudoku.search.techniques import technique_names

DIRECT_SECONDS = 0.0003
"""The moment, on a core of 2024: some ten thousand nodes of 9x9 boards. A contraction, which takes
some milliseconds at least, waits for it in vain."""
MOST_LISTED = 64
"""The most solutions that are listed."""
STACK_BYTES = 1 << 20
"""The stack of a search, at most, if that has room for the lanes; kept for the next board."""


class Direct(NamedTuple):
    """The outcome of the beginning of a search."""

    number: int
    """The solutions found, at most the limit."""
    solutions: NDArray[np.uint8]
    """uint8 (number, n * n): all of them, in the order in which they were found; none unless they
    were asked for."""
    left: Begun | None
    """The search as it stands; None if it is finished."""
    stats: SearchStats


def search_directly(
    board: Batch, options: Options, engine: Engine, *, listed: bool = False
) -> Direct | None:
    """Begin to search the board of a batch of one, and list the solutions if that is asked for.

    None if it is to be planned from the start: for a GPU, with a cutoff, if it may be contracted
    and the search is not compiled yet, or if more than MOST_LISTED solutions are to be listed.
    """
    if engine.name != "cpu" or options.method == "contraction" or options.cutoff is not None:
        return None
    limit = options.limit
    if listed and (limit is None or limit > MOST_LISTED):
        return None
    check_cancelled()
    shape = shape_of(board.geometry.box_rows, board.geometry.box_columns)
    settings = search_settings(options)
    try:
        memory = _unused_memory(shape, settings, listed)
        if memory is None:
            if not _is_ready(cpu.run(shape, settings), board[0], options, engine):
                return None
            memory = _Memory(shape, settings, listed)
        memory.pack(board)
        start = time.perf_counter()
        memory.search(limit, int(DIRECT_SECONDS / node_seconds(shape)))
        seconds = time.perf_counter() - start
    except KeyboardInterrupt:
        raise Interrupted("interrupted") from None
    tally = memory.stack.tally.tolist()
    nodes, guesses, deepest = tally[NODES], tally[GUESSES], tally[DEEPEST]
    count, frontier = int(memory.found.counts[0]), None
    if limit is None or count < limit:
        frontier = memory.left(nodes, guesses)
    else:
        count = limit
    solutions = memory.found.solutions[:count].copy()
    _unused[shape, settings, listed].append(memory)
    watch = current_watch()
    if frontier is None and watch.sees_progress:
        watch.progress(Progress(1.0, count, seconds))
    stats = SearchStats(
        strategy=options.strategy,
        propagate=technique_names(settings.techniques),
        cutoff=None,
        cutoff_by=options.cutoff_by,
        cutoff_reached=True,
        frontier_width=WIDTH,
        frontier_boards=1,
        boards_explored=1 + guesses,
        nodes=nodes,
        deepest=deepest,
        seconds=seconds,
        expansion_seconds=0.0,
        utilisation=(1.0,) + (0.0,) * (engine.workers - 1),
    )
    left = None if frontier is None else Begun(frontier, count, deepest, seconds)
    return Direct(count, solutions, left, stats)


class _Memory:
    """The memory of searches of boards of one shape, one after the other."""

    def __init__(self, shape: Shape, settings: SearchSettings, listed: bool) -> None:
        cells = shape.n * shape.n
        depth = max(3 * shape.lanes, STACK_BYTES // shape.row_bytes)
        boards, roots = np.zeros((1, shape.words), shape.word), np.zeros(1, np.int64)
        self.shape = shape
        self.pool = CpuPool.of(boards, roots, 1, shape)
        self._fresh_pool_state = self.pool.state.copy()
        self.stack = Stack.empty(min(depth, shape.lanes * (cells + 3)), shape)
        self.found = Found.empty(1, shape.lanes + MOST_LISTED if listed else 0, cells)
        self._cells = np.zeros((1, cells), np.uint8)
        self._run = cpu.run(shape, settings)
        self._lanes = Lanes.empty(shape)
        self._recalls = np.zeros(1, np.int64)  # nobody recalls so short a search
        groups = self.pool, self.stack, self.found, self._recalls, 0
        arguments = *groups, 0, np.uint64(0), self._lanes
        self._packed = self._cells, *shape.places, boards, self._lanes.memory
        self._packing = block_of(cpu.pack(shape).signature, self._packed)
        self._running = block_of(self._run.signature, arguments)
        self._budget = len(block_of(self._run.signature[: len(groups)], groups))

    def pack(self, board: Batch) -> None:
        """Make a board the next to be searched."""
        self._cells[:] = board.cells
        pack = cpu.pack(self.shape).for_boards(1)
        if isinstance(pack, Kernel):
            pack.call(self._packing)
        else:
            pack(*self._packed)
        if board.candidates is not None:
            self.pool.boards[:] &= self.shape.rows_of(board.candidates)

    def search(self, limit: int | None, nodes: int) -> None:
        """Search the board for so many nodes."""
        stack = self.stack
        self.found.counts[0] = self.found.used[0] = 0
        self.pool.state[:] = self._fresh_pool_state
        stack.state[:] = -1
        stack.tally[:] = 0
        self._running[self._budget] = nodes
        self._running[self._budget + 1] = int(limit_of(limit))
        self._run.call(self._running)

    def left(self, nodes: int, guesses: int) -> Frontier | None:
        """Return the boards that are left after so much work; None if none are."""
        stack = self.stack
        height = int(stack.state[TOP]) + 1
        if height == 0:
            return None
        boards, roots = stack.boards[height - 1 :: -1].copy(), np.zeros(height, np.int64)
        return Frontier(self.shape, boards, roots, nodes=nodes, guesses=guesses)


_unused: defaultdict[tuple[Shape, SearchSettings, bool], list[_Memory]] = defaultdict(list)
"""Memories that no search is using. To take or give one back is one step, whatever the threads."""


def _unused_memory(shape: Shape, settings: SearchSettings, listed: bool) -> _Memory | None:
    """Take a memory that no search is using; None if there is none."""
    with suppress(IndexError):
        return _unused[shape, settings, listed].pop()
    return None


def _is_ready(run: Kernel, board: Board, options: Options, engine: Engine) -> bool:
    """Load the search; compile it if it is likely to be needed, with what a plan would need."""
    if likely_searched(board, options) and not run.fetch():
        from gpusudoku.contraction.prepare import contraction_kernels  # imported lazily: it is slow

        later = contraction_kernels(board.geometry) if contractible(board, options) else ()
        ready(search_kernels(board.geometry, options, engine), later=later)
    return run.fetch()
