"""A search in the memory of a GPU: the boards, the stacks of all threads, and their results.

The kernel is launched repeatedly, each time for a number of rounds. In a round every thread
simplifies its board by one step, and may split it. A few boards become many on the GPU itself:
while the pool has fewer boards than there are threads, every thread with several boards gives some
to the pool at the end of a launch, and threads without one take them in the next launch. The first
launches are short, and each doubles or triples the number of boards. Later launches are longer, up
to a fraction of the time of the search, because an idle thread waits for the end of a launch.

A *transfer* copies the solutions found and the remaining boards to the host, both together.
"""

from __future__ import annotations

import time
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.engines.cuda.device import Gpu
from gpusudoku.engines.engine import WorkCounters
from gpusudoku.jobs.job import Job
from gpusudoku.kernels.search.arguments import (
    BUSY_THREADS,
    GUESSES,
    MAX_HEIGHT,
    NEXT_TO_FILL,
    NEXT_TO_TAKE,
    NODES,
    POOL_STATE_WORDS,
    STACK_STATE_WORDS,
    TALLY_WORDS,
    TOP,
    Pool,
    SearchResults,
    Stack,
    encode_limit,
)
from gpusudoku.kernels.search.shape import SearchSettings, Shape
from gpusudoku.search.frontier import Frontier

ROOM_BYTES = 64 << 20
"""The size of a GPU's buffer for solutions."""
MEMORY_SHARE = 0.5
"""The fraction of a GPU's free memory that stacks may take."""
MIN_DEPTH = 64
"""If memory is short, there are fewer threads rather than stacks with fewer rows than this."""

LAUNCH_SECONDS = 0.2
"""The longest launch. Ctrl-C waits for its end."""
LAUNCH_SHARE = 0.05
"""The longest launch, as a fraction of the time of the search so far."""
BUSY_LAUNCH = 8.0
"""While most threads have boards, a launch may take this many times as long as the shortest one,
which is only overhead, even if that exceeds LAUNCH_SHARE."""
IDLE_LAUNCH = 2.0
"""The same while most threads have no boards, and wait for others to give them some."""
FIRST_ROUNDS = 4
"""Rounds of the first launches. They are enough to simplify and split most boards."""
MAX_ROUNDS = 1 << 15
"""Rounds of a launch, about 0.2 s on an H100. Launches that end early because the buffer is full do
not show how long the next one may take."""
NO_WARPS_FINISHED = 0
"""The number of warps that have used up their rounds when a launch begins."""
GROWTH = 1.25
"""If a launch makes this many times as many boards, and there are fewer boards than threads, the
next launch is as short."""

TRANSFER_SHARE = 0.02
"""The fraction of the time that transfers may take. If this GPU fails, other GPUs repeat the work
since the last transfer."""
HELD_BYTES = 256 << 20
"""Solutions that wait on the host for the next transfer, in bytes. With more, it is due."""
GATHERED_BYTES = 128 << 20
"""Boards that are copied from a GPU at a time, in bytes: a GPU may have little free memory."""


class Transfer(NamedTuple):
    """Results since the previous transfer, and the remaining boards. They belong together."""

    counts: NDArray[np.uint64]
    """uint64 (roots): the number of solutions found of each root."""
    solutions: list[tuple[NDArray[np.uint8], NDArray[np.int64]]]
    """Blocks of solutions, uint8 (k, n * n), and their roots, int64 (k)."""
    counters: WorkCounters
    remaining: Frontier
    """The boards on the stacks, then those of the pool. Boards on stacks were split most."""


def load_kernel(gpu: Gpu, shape: Shape, settings: SearchSettings) -> Any:
    """Return the kernel of a search for a GPU, which must be the current one."""
    return gpu.kernel("search.cuda", "kernel", shape, settings, gpu.launch_settings(shape))


class DeviceSearch:
    """A search on a GPU, which must be the current one."""

    def __init__(self, gpu: Gpu, frontier: Frontier, settings: SearchSettings, job: Job) -> None:
        self._start = time.perf_counter()
        self.gpu = gpu
        self.shape = frontier.shape
        kernel = load_kernel(gpu, self.shape, settings)
        xp = gpu.xp
        cells = self.shape.n**2
        block = gpu.launch_settings(self.shape).block
        self.threads, self.depth = self._size_of_stacks(block * gpu.blocks_at_once(kernel, block))
        self.stacks = Stack(
            xp.empty((self.threads, self.depth, self.shape.words), self.shape.word),
            xp.empty((self.threads, self.depth), np.int64),
            xp.empty((STACK_STATE_WORDS, self.threads), np.int64),
            xp.zeros((TALLY_WORDS, self.threads), np.uint64),
        )
        gpu.set_bytes(self.stacks.state, 0xFF)  # all bits set: -1, an empty stack
        # Threads give boards to the pool while it has fewer boards than there are threads, or if
        # their stacks are full.
        board_count = len(frontier)
        self._capacity = max(board_count, 2 * self.threads)
        self.pool = Pool(
            xp.empty((self._capacity, self.shape.words), self.shape.word),
            xp.empty(self._capacity, np.int64),
            xp.zeros(POOL_STATE_WORDS, np.int64),
        )
        gpu.write(self.pool.boards[:board_count], np.ascontiguousarray(frontier.boards))
        gpu.write(self.pool.roots[:board_count], np.ascontiguousarray(frontier.roots))
        buffer_rows = max(1, ROOM_BYTES // cells) if job.on_solutions else 0
        self.results = SearchResults(
            xp.zeros(len(job.numbers), np.uint64),
            xp.empty((buffer_rows, cells), np.uint8),
            xp.empty(buffer_rows, np.int64),
            xp.zeros(1, np.int64),
        )
        blocks = -(-self.threads // block)
        self._launch = gpu.prepare_launch(
            kernel, blocks, block, self.pool, self.stacks, self.results
        )
        # The pool is a ring buffer: boards were put into it up to _given, and removed up to _taken.
        self._taken = 0
        self._given = board_count
        self._busy_threads = 0
        self._rounds = FIRST_ROUNDS
        self._shortest_launch = inf
        self._limit = encode_limit(job.limit)
        self._counters = WorkCounters()
        self._solutions: list[tuple[NDArray[np.uint8], NDArray[np.int64]]] = []
        self._transferred_counts = np.zeros(len(job.numbers), np.uint64)
        # Copying boards to the GPU takes about as long as copying them back. If solutions are
        # listed, the first transfer is due immediately, because the first solutions should come
        # soon.
        self._last_transfer = time.perf_counter()
        self._transfer_seconds = 0.0
        if not job.on_solutions:
            self._transfer_seconds = self._last_transfer - self._start

    def _size_of_stacks(self, max_stacks: int) -> tuple[int, int]:
        """Return the number of stacks, ``max_stacks`` if possible, and the rows of each.

        Board k of a stack has at least k cells fixed, so at most n^2 boards wait while one is being
        searched. A board is split only if there is a row for the other half and one more. A thread
        whose stack is too short gives boards to the pool, or ends the launch early.
        """
        full_depth = self.shape.n**2 + 2
        row_bytes = self.shape.row_bytes + 8  # a board and its root
        warp = self.gpu.warp
        rows = int(self.gpu.free_bytes() * MEMORY_SHARE) // row_bytes
        rows = max(2 * warp, min(max_stacks * full_depth, rows))
        depth = min(max(MIN_DEPTH, rows // max_stacks), full_depth, rows // warp)
        whole_warps = rows // depth // warp * warp
        return min(max_stacks, whole_warps), depth

    @property
    def boards(self) -> int:
        """The number of boards in the pool, and of threads that have boards."""
        return self._given - self._taken + self._busy_threads

    def launch(self) -> bool:
        """Launch the kernel and wait for it. Return False if no thread can continue."""
        gpu = self.gpu
        pool_boards = self._given - self._taken
        boards_before = self.boards
        launch_start = time.perf_counter()
        # If each thread with boards gives this many, all threads without one get one.
        gives = max(0, -(-(self.threads - pool_boards) // max(1, self._busy_threads)))
        end = self._taken + self._capacity
        state = [self._taken, self._given, self._given, end, 0, NO_WARPS_FINISHED]
        gpu.write(self.pool.state, np.array(state, np.int64))
        self._launch(self._rounds, gives, self._limit)
        new_state = gpu.host(self.pool.state).tolist()  # waits for the kernel
        # Threads claim places by counting up, also beyond the last board: those got nothing.
        taken = min(new_state[NEXT_TO_TAKE], self._given)
        can_continue: bool = taken > self._taken or new_state[BUSY_THREADS] > 0
        self._taken = taken
        self._given = min(new_state[NEXT_TO_FILL], end)
        self._busy_threads = new_state[BUSY_THREADS]
        if self._taken >= self._capacity:
            self._taken -= self._capacity
            self._given -= self._capacity
        if len(self.results.solutions):
            self._take_solutions()
        launch_end = time.perf_counter()
        seconds = launch_end - launch_start
        self._set_rounds(seconds, launch_end - self._start, boards_before)
        self._counters.launches += 1
        self._counters.thread_seconds += seconds * self.threads
        mean_busy_threads = (min(boards_before, self.threads) + self._busy_threads) / 2
        self._counters.busy_seconds += seconds * mean_busy_threads
        return can_continue

    def _set_rounds(self, seconds: float, elapsed: float, boards_before: int) -> None:
        """Set the length of the next launch from the time of this one.

        ``elapsed`` is the time of the search so far, ``boards_before`` the number of boards before
        the launch.
        """
        self._shortest_launch = min(self._shortest_launch, seconds)
        if self._busy_threads < self.threads // 2:
            max_seconds = IDLE_LAUNCH * self._shortest_launch
        else:
            max_seconds = max(BUSY_LAUNCH * self._shortest_launch, LAUNCH_SHARE * elapsed)
            max_seconds = min(LAUNCH_SECONDS, max_seconds)
        grows = boards_before * GROWTH < self.boards < self.threads
        if seconds > max_seconds:
            self._rounds = max(FIRST_ROUNDS, self._rounds // 2)
        elif seconds < max_seconds / 2 and not grows:
            self._rounds = min(2 * self._rounds, MAX_ROUNDS)

    def _take_solutions(self) -> None:
        """Copy the solutions in the buffer to the host, and empty it for the next launch."""
        results = self.results
        row_count = min(int(self.gpu.host(results.claimed_rows)[0]), len(results.solutions))
        if row_count:
            solutions = self.gpu.host(results.solutions[:row_count])
            roots = self.gpu.host(results.roots[:row_count])
            self._solutions.append((solutions, roots))
            self.gpu.write(results.claimed_rows, np.zeros(1, np.int64))

    @property
    def is_due(self) -> bool:
        """True if solutions and boards should be transferred now."""
        held_bytes = sum(rows.nbytes for rows, _ in self._solutions)
        seconds = time.perf_counter() - self._last_transfer
        return held_bytes >= HELD_BYTES or seconds * TRANSFER_SHARE > self._transfer_seconds

    def transfer(self) -> Transfer:
        """Copy results since the previous transfer, and the remaining boards, to the host.

        The boards also remain on the GPU.
        """
        start = time.perf_counter()
        counts = self.gpu.host(self.results.counts)
        tally = self.gpu.host(self.stacks.tally)
        nodes, guesses = tally.sum(axis=1)[[NODES, GUESSES]].tolist()
        counters = self._counters
        counters.nodes = nodes
        counters.guesses = guesses
        counters.deepest = int(tally[MAX_HEIGHT].max())
        counters.gpus = [self.gpu.card.name]
        counters.threads = self.threads
        new_counts = counts - self._transferred_counts
        transfer = Transfer(new_counts, self._solutions, counters, self._remaining_boards())
        self.gpu.set_bytes(self.stacks.tally, 0)
        self._counters = WorkCounters()
        self._transferred_counts = counts
        self._solutions = []
        self._last_transfer = time.perf_counter()
        self._transfer_seconds = self._last_transfer - start
        return transfer

    def _remaining_boards(self) -> Frontier:
        """Copy all remaining boards from the GPU."""
        heights = self.gpu.host(self.stacks.state[TOP]) + 1
        busy_threads = np.flatnonzero(heights)
        heights = heights[busy_threads]
        # For every board on a stack: its thread, and its row on the stack.
        threads = np.repeat(busy_threads, heights)
        first_boards = np.repeat(np.cumsum(heights) - heights, heights)
        rows_of_stacks = np.arange(len(threads)) - first_boards
        pool_rows = np.arange(self._taken, self._given) % self._capacity
        boards = self._gathered(self.stacks.boards, threads, rows_of_stacks)
        boards += self._gathered(self.pool.boards, pool_rows)
        roots = self._gathered(self.stacks.roots, threads, rows_of_stacks)
        roots += self._gathered(self.pool.roots, pool_rows)
        no_boards = np.empty((0, self.shape.words), self.shape.word)
        rows = np.concatenate([no_boards, *boards])
        rows[:, self.shape.planes :] = 0  # padding, in which threads write arbitrary values
        return Frontier(self.shape, rows, np.concatenate([np.empty(0, np.int64), *roots]))

    def _gathered(self, array: Any, *indices: NDArray[np.int64]) -> list[NDArray[Any]]:
        """Copy the rows at some indices from the GPU, in chunks."""
        xp = self.gpu.xp
        chunks = []
        max_rows = max(1, GATHERED_BYTES // self.shape.row_bytes)
        for start in range(0, len(indices[0]), max_rows):
            chunk = tuple(xp.asarray(index[start : start + max_rows]) for index in indices)
            chunks.append(self.gpu.host(array[chunk]))
        return chunks
