"""Many 9x9 boards, each contracted by one thread. Special to 3x3 boxes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.contraction.nine.sum import SLABS_BYTES, WORKSPACE_BYTES, stages, tables
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.jobs.job import spread
from gpusudoku.kernels.compile_many import ready
from gpusudoku.kernels.contraction.nine.arrays import Workspace, make_workspace
from gpusudoku.kernels.contraction.nine.cpu import FACTOR, LEFT, RESULTS, STATUS
from gpusudoku.kernels.contraction.nine.pair_sums import HIGH, LOW, Slabs, make_slabs
from gpusudoku.kernels.search.shape import SearchSettings
from gpusudoku.search.frontier import Frontier

TASK_BOARDS = 8
"""Boards that a thread takes at a time, at most."""
TASKS_PER_THREAD = 4
"""Tasks for each thread, at least, so that all threads end together."""
CHEAP_SECONDS = 0.005
"""Boards that cost no more are counted by one call of the compiled code, others by a call each."""
EXPENSIVE_SECONDS = 0.05
"""A board that costs more than this is left out."""


def contract_cheap(boards: Batch, threads: int, memory: int) -> tuple[list[int], list[int]]:
    """Return the counts of 9x9 boards, and the indices of those left out as too expensive."""
    live = Frontier.of(boards).simplified(SearchSettings())
    candidates = live.candidates
    threads = max(1, min(threads, memory // (WORKSPACE_BYTES + SLABS_BYTES)))
    scratch = [(make_workspace(), make_slabs(wide=False)) for _ in range(threads)]
    size = min(TASK_BOARDS, -(-len(live) // (TASKS_PER_THREAD * threads)) or 1)
    some = [candidates[start : start + size] for start in range(0, len(live), size)]
    ready(stages().of_many_boards())
    rows = [row for found in spread(_count_cheap, some, scratch) for row in found.tolist()]
    counts = [0] * len(boards)
    left = []
    for root, row in zip(live.roots.tolist(), rows, strict=True):
        if row[STATUS] == LEFT:
            left.append(root)
        else:
            counts[root] = ((row[HIGH] << 32) + row[LOW]) * row[FACTOR]
    return counts, left


def _count_cheap(
    candidates: NDArray[np.uint64], scratch: tuple[Workspace, Slabs], stop: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Count boards that are not too expensive: int64 (B, RESULTS)."""
    work, slabs = scratch

    def count(some: NDArray[np.uint64], seconds: float) -> NDArray[np.int64]:
        results = np.empty((len(some), RESULTS), np.int64)
        stages().count_boards(
            some, seconds * 1e9, tables(), work, stop, slabs, stages().addresses, results
        )
        return results

    results = count(candidates, CHEAP_SECONDS)
    for left in np.flatnonzero(results[:, STATUS] == LEFT).tolist():
        check_cancelled()
        results[left] = count(candidates[left : left + 1], EXPENSIVE_SECONDS)[0]
    return results
