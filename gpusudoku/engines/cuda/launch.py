"""The boards, the stacks of all threads and the results of one search in a GPU's memory.

A ``Launch`` allocates them once and launches the kernel on them, again and again, with a budget of
nodes. From time to time it brings a *haul* to the host: the solutions found and the boards left,
both together.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.engines.cuda.device import Gpu
from gpusudoku.engines.engine import WorkCounters
from gpusudoku.jobs.job import Job, Pace
from gpusudoku.kernels.search.arguments import (
    DEEPEST,
    GUESSES,
    NODES,
    STATES,
    TALLIES,
    TOP,
    Found,
    Stack,
    Work,
    limit_of,
)
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.search.frontier import Frontier

ROOM_BYTES = 64 << 20
"""The size of a GPU's buffer for solutions."""

LEAST_DEPTH = 64
"""Where memory is short there are fewer threads, before stacks become shallower than this."""

MEMORY_SHARE = 0.5
"""The share of a GPU's free memory that stacks may take."""

HAUL_SHARE = 0.02
"""The share of the time that may go into bringing boards to the host: work done since then has to
be done again if the GPU is lost."""
HELD_BYTES = 256 << 20
"""Bytes of solutions that wait on the host for the boards left, at most."""
GATHERED_BOARDS = 1 << 20
"""Boards brought back from a GPU at a time: it may have little memory left."""


class Haul(NamedTuple):
    """Solutions found since the last haul, and boards left: the host has both, or neither."""

    counts: NDArray[np.uint64]
    """uint64 (roots)"""
    solutions: list[tuple[NDArray[np.uint8], NDArray[np.int64]]]
    """Blocks of solutions, uint8 (k, n * n), and their roots, int64 (k)."""
    tally: WorkCounters
    left: Frontier
    """Boards on the stacks, which come first, having been split most, and those not taken yet."""


class Launch:
    """The boards of a task on a GPU, the stacks of all threads, and their solutions.

    Every thread looks at ``budget`` nodes in the first launch. Each of the ``halvings`` halves all
    that takes memory, until one warp has one board, and the shortest stacks.
    """

    def __init__(
        self,
        gpu: Gpu,
        frontier: Frontier,
        settings: SearchSettings,
        job: Job,
        budget: int,
        halvings: int = 0,
    ) -> None:
        # Imported here because Numba looks for the simulator only once, at its first import.
        from gpusudoku.kernels.search.cuda import kernel

        start = time.perf_counter()
        shape, tuning = frontier.shape, gpu.tuning
        self.gpu, self.limit = gpu, limit_of(job.limit)
        self._frontier, self.boards = frontier, max(1, len(frontier) >> halvings)
        compiled = kernel(shape, settings, tuning.max_registers)
        self._pace = Pace(budget, tuning.launch_seconds)
        xp = gpu.xp
        self.work = Work(
            xp.asarray(frontier.boards[: self.boards]),
            xp.asarray(frontier.roots[: self.boards]),
            xp.zeros(1, np.int64),
        )
        roots = len(job.numbers)
        room = max(1, (ROOM_BYTES // shape.n**2) >> halvings) if job.on_solutions else 0
        self.found = Found(
            xp.zeros(roots, np.uint64),
            xp.empty((room, shape.n**2), np.uint8),
            xp.empty(room, np.int64),
            xp.zeros(1, np.int64),
        )
        blocks, per_block = gpu.grid_of(compiled)
        self.most_threads = blocks * per_block
        """The threads that the GPU can run at once."""
        self.threads, self.depth = self._size_of_stacks(halvings)
        self._kernel = gpu.configured(compiled, -(-self.threads // per_block), per_block)
        self.stacks = Stack(
            xp.empty((self.threads, self.depth, shape.words), shape.word),
            xp.empty((self.threads, self.depth), np.int64),
            xp.full((STATES, self.threads), -1, np.int64),
            xp.zeros((TALLIES, self.threads), np.uint64),
        )
        groups = (self.work, self.stacks, self.found)
        self._groups = [type(group)(*map(gpu.for_kernel, group)) for group in groups]
        self._solutions: list[tuple[NDArray[np.uint8], NDArray[np.int64]]] = []
        self._tally, self._hauled = WorkCounters(), np.zeros(roots, np.uint64)
        # It takes much the same time to bring boards there and to bring them back. But a listing
        # waits for the first solutions.
        self._haul_seconds = 0.0 if job.on_solutions else time.perf_counter() - start
        self._always_due = job.limit is not None
        self._last_haul = time.perf_counter()

    def _size_of_stacks(self, halvings: int) -> tuple[int, int]:
        """Return the number of stacks, and the rows of each; they share the memory that is left.

        Board k of a stack has at least k cells fixed, so no more than n^2 wait while one is looked
        at; and none is split without a row for it and a free one. Stacks that are too short only
        make their threads stop early: the host expands and relaunches.
        """
        gpu, shape, most = self.gpu, self._frontier.shape, self.most_threads
        level_bytes = shape.row_bytes + 8  # a board, and its root
        deepest = shape.n**2 + 2
        levels = min(most * deepest, int(gpu.free_bytes() * MEMORY_SHARE) // level_bytes)
        levels = max(2 * gpu.warp, levels >> halvings)
        depth = min(max(LEAST_DEPTH, levels // most), deepest, levels // gpu.warp)
        return min(most, levels // depth // gpu.warp * gpu.warp), depth

    def again(self) -> None:
        """Launch the kernel and wait for it; set the next budget by the time it took."""
        budget = self._pace.size
        start = time.perf_counter()
        self._kernel(*self._groups, budget, self.limit)
        self.gpu.finish()
        seconds = time.perf_counter() - start
        spent = int(self.stacks.tally[NODES].max())
        self._pace.took(seconds, full=spent == budget)

    def look(self) -> None:
        """See how far the last launch came, and empty the buffer of solutions for the next one."""
        host, found = self.gpu.host, self.found
        rows = min(int(found.used[0]), len(found.solutions))
        if rows:
            self._solutions.append((host(found.solutions[:rows]), host(found.roots[:rows])))
        found.used[...] = 0
        tally = host(self.stacks.tally)
        nodes, guesses = tally[[NODES, GUESSES]].sum(axis=1).tolist()
        self._tally.add(WorkCounters(nodes, guesses, int(tally[DEEPEST].max())))
        self.stacks.tally[...] = 0
        self._tops = host(self.stacks.state[TOP])
        self._taken = min(int(self.work.cursor[0]), self.boards)

    @property
    def is_dry(self) -> bool:
        """True if most threads have nothing to do, or wait."""
        alive = int((self._tops >= 0).sum())
        # A thread with a full stack waits; one without a board may take one.
        full = int((self._tops == self.depth - 1).sum())
        taking = min(self.threads - alive, self.boards - self._taken)
        return alive - full + taking < max(1, self.threads // 2)

    @property
    def is_due(self) -> bool:
        """True if the solutions should not wait any longer: a limit may have been reached."""
        held = sum(rows.nbytes for rows, _ in self._solutions)
        seconds = time.perf_counter() - self._last_haul
        return self._always_due or held >= HELD_BYTES or seconds * HAUL_SHARE > self._haul_seconds

    def haul(self) -> Haul:
        """Bring the solutions since the last time, and the boards left; these stay there, too."""
        start = time.perf_counter()
        counts = self.gpu.host(self.found.counts)
        left = self._left()
        haul = Haul(counts - self._hauled, self._solutions, self._tally, left)
        self._hauled, self._solutions, self._tally = counts, [], WorkCounters()
        self._last_haul = time.perf_counter()
        self._haul_seconds = self._last_haul - start
        return haul

    def _left(self) -> Frontier:
        xp, host = self.gpu.xp, self.gpu.host
        counts = self._tops + 1
        thread = np.repeat(np.arange(self.threads), counts)
        level = np.arange(len(thread)) - np.repeat(np.cumsum(counts) - counts, counts)
        boards, roots = [], []
        for start in range(0, len(thread), GATHERED_BOARDS):
            some = slice(start, start + GATHERED_BOARDS)
            rows, owners = self.stacked(xp.asarray(level[some]), xp.asarray(thread[some]))
            boards.append(host(rows))
            boards[-1][:, self._frontier.shape.planes :] = 0  # where threads write anything
            roots.append(host(owners))
        boards.append(self._frontier.boards[self._taken :])
        roots.append(self._frontier.roots[self._taken :])
        return Frontier(self._frontier.shape, np.concatenate(boards), np.concatenate(roots))

    def stacked(self, level: Any, thread: Any) -> tuple[Any, Any]:
        """Return the boards, (k, words), and roots at levels (k) of the stacks of threads (k)."""
        return self.stacks.boards[thread, level], self.stacks.roots[thread, level]
