"""Many 9x9 boards, each contracted by one thread. Special to 3x3 boxes."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.contraction.nine.sum import SLABS_BYTES, WORKSPACE_BYTES, stages, tables
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.jobs.job import Job, Task, Worker
from gpusudoku.jobs.watch import watching
from gpusudoku.kernels.compiling import ready
from gpusudoku.kernels.contraction.nine.arrays import make_workspace
from gpusudoku.kernels.contraction.nine.cpu import FACTOR, LEFT, RESULTS, STATUS
from gpusudoku.kernels.contraction.nine.slabs import HIGH, LOW, make_slabs
from gpusudoku.kernels.search.settings import SearchSettings
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
    """Count those of many 9x9 boards that cost little.

    Returns the counts, in the order of the boards, and the indices of those that were left out.
    """
    live = Frontier.of(boards).simplified(SearchSettings())
    candidates = live.candidates
    threads = max(1, min(threads, memory // (WORKSPACE_BYTES + SLABS_BYTES)))
    workers = [BatchWorker() for _ in range(threads)]
    with watching(None):
        job = Job(len(boards))
    size = min(TASK_BOARDS, -(-len(live) // (TASKS_PER_THREAD * threads)) or 1)
    tasks = [
        Task((candidates[i : i + size], live.roots[i : i + size]), 0.0)
        for i in range(0, len(live), size)
    ]
    ready(stages().of_many_boards())
    job.run(tasks, workers)
    return job.counts, sorted(index for worker in workers for index in worker.left)


class BatchWorker(Worker):
    """One thread and the memory in which it counts board after board."""

    def __init__(self) -> None:
        self.workspace, self.slabs = make_workspace(), make_slabs(wide=False)
        self.left: list[int] = []

    def __call__(self, job: Job) -> float:
        """See ``Worker``."""
        busy = 0.0
        while (task := job.take()) is not None:
            start = time.perf_counter()
            candidates, roots = task.payload
            results = self._count(candidates, CHEAP_SECONDS, job.flag)
            for left in np.flatnonzero(results[:, STATUS] == LEFT).tolist():
                check_cancelled()
                one = candidates[left : left + 1]
                results[left] = self._count(one, EXPENSIVE_SECONDS, job.flag)[0]
            if job.stopped:  # the last one may be cut short
                break
            found = []
            for root, row in zip(roots.tolist(), results.tolist(), strict=True):
                if row[STATUS] == LEFT:
                    self.left.append(root)
                else:
                    found.append((root, ((row[HIGH] << 32) + row[LOW]) * row[FACTOR]))
            job.report(found)
            busy += time.perf_counter() - start
        return busy

    def _count(
        self, candidates: NDArray[np.uint64], most: float, stop: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Count boards, none of which may cost more seconds: int64 (B, RESULTS)."""
        results = np.empty((len(candidates), RESULTS), np.int64)
        work, slabs, addresses = self.workspace, self.slabs, stages().addresses
        stages().count_boards(
            candidates, most * 1e9, tables(), work, stop, slabs, addresses, results
        )
        return results
