"""A search in a GPU's memory: its boards, the stacks of all threads, and what they find.

The kernel is launched again and again, each time for so many rounds: in one, every thread takes a
step of its board, and may split it. A few boards become many on the GPU itself. While the pool
holds fewer boards than there are threads, every thread that has several gives it some at the end
of a launch, and those that have none take them in the next one. The first launches are short, and
boards become two or three times as many with each. Then launches get longer, up to a share of the
time that the search has taken: threads that run dry wait for the end of a launch.

From time to time a *haul* brings the solutions found and the boards left to the host, both
together.
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
    BUSY,
    DEEPEST,
    GIVEN,
    GUESSES,
    NODES,
    POOL_STATES,
    STATES,
    TAKEN,
    TALLIES,
    TOP,
    Found,
    Pool,
    Stack,
    limit_of,
)
from gpusudoku.kernels.search.shape import SearchSettings, Shape
from gpusudoku.search.frontier import Frontier

ROOM_BYTES = 64 << 20
"""The size of a GPU's buffer for solutions."""
MEMORY_SHARE = 0.5
"""The share of a GPU's free memory that stacks may take."""
MIN_DEPTH = 64
"""Where memory is short there are fewer threads, before stacks become shallower than this."""

LAUNCH_SECONDS = 0.2
"""A launch should take no longer: Ctrl-C waits for its end."""
LAUNCH_SHARE = 0.05
"""Nor longer than this share of the time that the search has taken."""
FULL_LAUNCH, DRY_LAUNCH = 8.0, 2.0
"""But it should take so many times as long as the shortest launch, which is all overhead: while
most threads are busy, and while most have nothing to do until others give them boards."""
FIRST_ROUNDS = 4
"""Rounds of the first launches: in so many, most boards are simplified and split."""
MAX_ROUNDS = 1 << 15
"""Some 0.2 s on an H100: launches that end early, as threads wait for room, do not tell how long
the next one may be."""
NONE_STOPPED = 0
"""The warps that have spent their rounds when a launch begins."""
GROWTH = 1.25
"""While a launch makes so many times as many boards, and there are fewer than threads, the next one
is as short."""

HAUL_SHARE = 0.02
"""The share of the time that may go into bringing boards to the host: work done since then has to
be done again by other GPUs if this one is lost."""
HELD_BYTES = 256 << 20
"""Bytes of solutions that wait on the host for the boards left, at most."""
GATHERED_BYTES = 128 << 20
"""Bytes of boards brought back from a GPU at a time: it may have little memory left."""


class Haul(NamedTuple):
    """Solutions found since the last haul, and boards left: the host has both, or neither."""

    counts: NDArray[np.uint64]
    """uint64 (roots)"""
    solutions: list[tuple[NDArray[np.uint8], NDArray[np.int64]]]
    """Blocks of solutions, uint8 (k, n * n), and their roots, int64 (k)."""
    tally: WorkCounters
    left: Frontier
    """Boards on the stacks, which come first, having been split most, and those of the pool."""


def load_kernel(gpu: Gpu, shape: Shape, settings: SearchSettings) -> Any:
    """Return the kernel of searches for a GPU, the current one."""
    return gpu.kernel("search.cuda", "kernel", shape, settings, gpu.launch_settings(shape))


class DeviceSearch:
    """The search of some boards on a GPU, the current one."""

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
            xp.empty((STATES, self.threads), np.int64),
            xp.zeros((TALLIES, self.threads), np.uint64),
        )
        gpu.set_bytes(self.stacks.state, 0xFF)  # -1: empty
        # Threads give boards while the pool has fewer than there are threads, or stacks are full.
        boards = len(frontier)
        self._capacity = max(boards, 2 * self.threads)
        self.pool = Pool(
            xp.empty((self._capacity, self.shape.words), self.shape.word),
            xp.empty(self._capacity, np.int64),
            xp.zeros(POOL_STATES, np.int64),
        )
        gpu.write(self.pool.boards[:boards], np.ascontiguousarray(frontier.boards))
        gpu.write(self.pool.roots[:boards], np.ascontiguousarray(frontier.roots))
        room = max(1, ROOM_BYTES // cells) if job.on_solutions else 0
        self.found = Found(
            xp.zeros(len(job.numbers), np.uint64),
            xp.empty((room, cells), np.uint8),
            xp.empty(room, np.int64),
            xp.zeros(1, np.int64),
        )
        groups = self.pool, self.stacks, self.found
        self._launch = gpu.configured(kernel, -(-self.threads // block), block, *groups)
        self._taken = 0
        self._filled = boards
        self._busy = 0
        self._rounds, self._least, self._limit = FIRST_ROUNDS, inf, limit_of(job.limit)
        self._work = WorkCounters()
        self._solutions: list[tuple[NDArray[np.uint8], NDArray[np.int64]]] = []
        self._hauled = np.zeros(len(job.numbers), np.uint64)
        # It takes much the same time to bring boards there and to bring them back. But a listing
        # waits for the first solutions.
        self._last_haul = time.perf_counter()
        self._haul_seconds = 0.0 if job.on_solutions else self._last_haul - self._start

    def _size_of_stacks(self, most: int) -> tuple[int, int]:
        """Return the number of stacks, ``most`` if possible, and the rows of each.

        Board k of a stack has at least k cells fixed, so no more than n^2 wait while one is looked
        at; and none is split without a row for it and a free one. Stacks that are too short only
        make their threads give boards to the pool, or stop early.
        """
        deepest = self.shape.n**2 + 2
        row_bytes = self.shape.row_bytes + 8  # a board, and its root
        rows = int(self.gpu.free_bytes() * MEMORY_SHARE) // row_bytes
        rows = max(2 * self.gpu.warp, min(most * deepest, rows))
        depth = min(max(MIN_DEPTH, rows // most), deepest, rows // self.gpu.warp)
        return min(most, rows // depth // self.gpu.warp * self.gpu.warp), depth

    @property
    def boards(self) -> int:
        """The boards of the pool, and of the stacks one for each that has any."""
        return self._filled - self._taken + self._busy

    def launch(self) -> bool:
        """Launch the kernel and wait for it; return False if nothing can go on here."""
        gpu = self.gpu
        waiting = self._filled - self._taken
        before = self.boards
        begin = time.perf_counter()
        # So many boards from each thread that has some are enough for those that have none.
        gives = max(0, -(-(self.threads - waiting) // max(1, self._busy)))
        end = self._taken + self._capacity
        state = [self._taken, self._filled, self._filled, end, 0, NONE_STOPPED]
        gpu.write(self.pool.state, np.array(state, np.int64))
        self._launch(self._rounds, gives, self._limit)
        seen = gpu.host(self.pool.state).tolist()  # waits for the kernel
        taken = min(seen[TAKEN], self._filled)  # claims past an end came to nothing
        has_gone_on: bool = taken > self._taken or seen[BUSY] > 0
        self._taken, self._filled, self._busy = taken, min(seen[GIVEN], end), seen[BUSY]
        if self._taken >= self._capacity:
            self._taken = self._taken - self._capacity
            self._filled = self._filled - self._capacity
        if len(self.found.solutions):
            self._take_solutions()
        now = time.perf_counter()
        self._pace(now - begin, now - self._start, before)
        self._work.launches += 1
        self._work.thread_seconds += (now - begin) * self.threads
        self._work.busy_seconds += (now - begin) * (min(before, self.threads) + self._busy) / 2
        return has_gone_on

    def _pace(self, seconds: float, elapsed: float, before: int) -> None:
        """Set the length of the next launch by the time that this one took."""
        self._least = min(self._least, seconds)
        grows = before * GROWTH < self.boards < self.threads
        if self._busy < self.threads // 2:
            most = DRY_LAUNCH * self._least
        else:
            most = min(LAUNCH_SECONDS, max(FULL_LAUNCH * self._least, LAUNCH_SHARE * elapsed))
        if seconds > most:
            self._rounds = max(FIRST_ROUNDS, self._rounds // 2)
        elif seconds < most / 2 and not grows:
            self._rounds = min(2 * self._rounds, MAX_ROUNDS)

    def _take_solutions(self) -> None:
        """Empty the buffer of solutions for the next launch."""
        rows = min(int(self.gpu.host(self.found.used)[0]), len(self.found.solutions))
        if rows:
            some = self.found.solutions[:rows], self.found.roots[:rows]
            self._solutions.append((self.gpu.host(some[0]), self.gpu.host(some[1])))
            self.gpu.write(self.found.used, np.zeros(1, np.int64))

    @property
    def is_due(self) -> bool:
        """True if solutions and boards should not wait any longer."""
        held = sum(rows.nbytes for rows, _ in self._solutions)
        seconds = time.perf_counter() - self._last_haul
        return held >= HELD_BYTES or seconds * HAUL_SHARE > self._haul_seconds

    def haul(self) -> Haul:
        """Bring the solutions since the last time, and the boards left; these stay there, too."""
        start = time.perf_counter()
        counts = self.gpu.host(self.found.counts)
        tally = self.gpu.host(self.stacks.tally)
        nodes, guesses = tally.sum(axis=1)[[NODES, GUESSES]].tolist()
        work = self._work
        self._work = WorkCounters()
        work.nodes, work.guesses, work.deepest = nodes, guesses, int(tally[DEEPEST].max())
        work.gpus = [self.gpu.card.name]
        work.threads = self.threads
        haul = Haul(counts - self._hauled, self._solutions, work, self._left())
        self.gpu.set_bytes(self.stacks.tally, 0)
        self._hauled = counts
        self._solutions = []
        self._last_haul = time.perf_counter()
        self._haul_seconds = self._last_haul - start
        return haul

    def _left(self) -> Frontier:
        """Bring all boards that are left."""
        counts = self.gpu.host(self.stacks.state[TOP]) + 1
        busy = np.flatnonzero(counts)
        counts = counts[busy]
        thread = np.repeat(busy, counts)
        level = np.arange(len(thread)) - np.repeat(np.cumsum(counts) - counts, counts)
        place = np.arange(self._taken, self._filled) % self._capacity
        boards = self._gathered(self.stacks.boards, thread, level)
        boards += self._gathered(self.pool.boards, place)
        roots = self._gathered(self.stacks.roots, thread, level)
        roots += self._gathered(self.pool.roots, place)
        empty = np.empty((0, self.shape.words), self.shape.word)
        rows = np.concatenate([empty, *boards])
        rows[:, self.shape.planes :] = 0  # where threads write anything
        return Frontier(self.shape, rows, np.concatenate([np.empty(0, np.int64), *roots]))

    def _gathered(self, array: Any, *indices: NDArray[np.int64]) -> list[NDArray[Any]]:
        """Bring the rows at some indices, in pieces."""
        xp = self.gpu.xp
        found = []
        most = max(1, GATHERED_BYTES // self.shape.row_bytes)
        for start in range(0, len(indices[0]), most):
            some = slice(start, start + most)
            found.append(self.gpu.host(array[tuple(xp.asarray(each[some]) for each in indices)]))
        return found
