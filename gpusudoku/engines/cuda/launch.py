"""The boards, the stacks of all threads and the results of one search in a GPU's memory.

A ``Launch`` allocates them once and launches the kernel on them, again and again, with a budget of
nodes. CuPy holds the memory; in the simulator NumPy does.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from gpusudoku.engines.cuda.device import Gpu
from gpusudoku.engines.cuda.tuning import CONTIGUOUS
from gpusudoku.jobs.job import Job
from gpusudoku.jobs.pace import Pace
from gpusudoku.kernels.search.arguments import (
    NODES,
    STATES,
    TALLIES,
    Found,
    Stack,
    Work,
    limit_of,
)
from gpusudoku.kernels.search.select import gpu_search_for
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.search.frontier import Frontier

ROOM_BYTES = 64 << 20
"""The size of a GPU's buffer for solutions."""

LEAST_DEPTH = 64
"""Where memory is short there are fewer threads, before stacks become shallower than this."""

MEMORY_SHARE = 0.5
"""The share of a GPU's free memory that stacks may take."""


class Launch:
    """The boards of a task on a GPU, the stacks of all threads, and what they find.

    It is made by the thread whose current device is the GPU.

    Parameters
    ----------
    gpu
        Where to search.
    frontier
        The boards to search.
    settings
        How to search.
    job
        Says how many counters there are, whether solutions are listed, and the limit.
    budget
        The nodes that every thread looks at in the first launch.
    """

    def __init__(
        self, gpu: Gpu, frontier: Frontier, settings: SearchSettings, job: Job, budget: int
    ) -> None:
        # Imported here because Numba looks for the simulator only once, at its first import.
        from gpusudoku.kernels.search.cuda import kernel

        layout, tuning = frontier.layout, gpu.tuning
        self.gpu, self.boards, self.limit = gpu, len(frontier), limit_of(job.limit)
        self.search = search = gpu_search_for(layout, settings)
        self._contiguous = search.contiguous or tuning.stacks == CONTIGUOUS
        compiled = kernel(layout, settings, self._contiguous, tuning.max_registers)
        self._pace = Pace(budget, tuning.launch_seconds)
        xp = gpu.xp
        self.work = Work(
            search.rows_of(xp.asarray(frontier.boards)),
            xp.asarray(frontier.roots),
            xp.zeros(1, np.int64),
        )
        roots, room = len(job.numbers), ROOM_BYTES // layout.n**2 if job.on_solutions else 0
        self.found = Found(
            xp.zeros(roots, np.uint64),
            xp.empty((room, layout.n**2), np.uint8),
            xp.empty(room, np.int64),
            xp.zeros(1, np.int64),
        )
        self.reported = np.zeros(roots, np.uint64)
        # Stacks come last, and share the memory that is left.
        # Board k of a stack has at least k cells fixed, so no more than n^2 wait while one is
        # looked at; and none is split without a row for it and a free one. Stacks that are too
        # short only make their threads stop early: the host expands and relaunches.
        level_bytes = search.words * np.dtype(search.word).itemsize + 8  # a board, and its root
        levels = max(2 * gpu.warp, int(gpu.free_bytes() * MEMORY_SHARE) // level_bytes)
        blocks, per_block = gpu.grid_of(compiled)
        self.most_threads = most = blocks * per_block
        """The threads that the GPU can run at once."""
        deepest = min(layout.n**2 + 2, levels // gpu.warp)
        self.depth = min(max(LEAST_DEPTH, levels // most), deepest)
        self.threads = min(most, levels // self.depth // gpu.warp * gpu.warp)
        self._kernel = gpu.configured(compiled, -(-self.threads // per_block), per_block)
        self.stacks = Stack(
            xp.empty(self._shape(search.words), search.word),
            xp.empty(self._shape(), np.int64),
            xp.full((STATES, self.threads), -1, np.int64),
            xp.zeros((TALLIES, self.threads), np.uint64),
        )
        groups = (self.work, self.stacks, self.found)
        self._groups = [type(group)(*map(gpu.for_kernel, group)) for group in groups]
        self._nonpeers = gpu.for_kernel(xp.asarray(layout.nonpeers))

    def _shape(self, *words: int) -> tuple[int, ...]:
        """The shape of an array of the stacks, which lie in memory in one of two ways."""
        if self._contiguous:
            return self.threads, self.depth, *words
        return self.depth, *words, self.threads

    def stacked(self, level: Any, thread: Any) -> tuple[Any, Any]:
        """The boards, (k, words), and roots at levels (k) of the stacks of threads (k)."""
        boards, roots = self.stacks.boards, self.stacks.roots
        if self._contiguous:
            return boards[thread, level], roots[thread, level]
        return boards[level, :, thread], roots[level, thread]

    def again(self) -> None:
        """Launch the kernel and wait for it; sets the next budget by the time it took."""
        budget = self._pace.size
        start = time.perf_counter()
        self._kernel(*self._groups, budget, self.limit, self._nonpeers)
        self.gpu.finish()
        seconds = time.perf_counter() - start
        spent = int(self.stacks.tally[NODES].max())
        self._pace.took(seconds, full=spent == budget)
