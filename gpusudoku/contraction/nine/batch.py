"""Many 9x9 boards, each contracted by one thread. Special to 3x3 boxes."""

from __future__ import annotations

import time

import numpy as np

from gpusudoku.board.batch import Batch
from gpusudoku.contraction.nine.sum import SLAB_BYTES, SPACE_BYTES, kernels
from gpusudoku.contraction.nine.tables import tables
from gpusudoku.jobs.job import Job, Task, Worker
from gpusudoku.kernels.contraction.nine.arrays import HIGH, LOW, make_slabs, make_space
from gpusudoku.kernels.contraction.nine.cpu import COUNTED, FACTOR, RESULTS, STATUS
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.search.frontier import Frontier

TASK_BOARDS = 8
DEAR_SECONDS = 0.05
"""A board that costs more than this is left out, so that Ctrl-C waits for no more than
TASK_BOARDS of these."""


def contract_cheap(boards: Batch, threads: int, memory: int) -> tuple[list[int], list[int]]:
    """Count those of many 9x9 boards that cost little.

    Returns the counts, in the order of the boards, and the indices of those that were left out.

    Raises
    ------
    Interrupted
        After Ctrl-C.
    """
    live = Frontier.of(boards).simplified(SearchSettings())
    candidates = live.candidates
    threads = max(1, min(threads, memory // (SPACE_BYTES + SLAB_BYTES)))
    workers = [_Thread() for _ in range(threads)]
    job = Job(len(boards))
    tasks = [
        Task((candidates[i : i + TASK_BOARDS], live.roots[i : i + TASK_BOARDS]), 0.0)
        for i in range(0, len(live), TASK_BOARDS)
    ]
    _ = kernels().count_boards  # compiled now: in a thread Ctrl-C would wait for it
    job.run(tasks, workers)
    return job.counts, sorted(index for worker in workers for index in worker.left)


class _Thread(Worker):
    """One thread and the memory it counts in."""

    def __init__(self) -> None:
        self.space, self.slabs = make_space(), make_slabs(wide=False)
        self.left: list[int] = []

    def __call__(self, job: Job) -> float:
        busy = 0.0
        count_boards = kernels().count_boards
        while (task := job.take()) is not None:
            start = time.perf_counter()
            candidates, roots = task.payload
            results = np.empty((len(roots), RESULTS), np.int64)
            count_boards(candidates, DEAR_SECONDS * 1e9, tables(), self.space, self.slabs, results)
            found = []
            for root, row in zip(roots.tolist(), results.tolist(), strict=True):
                if row[STATUS] == COUNTED:
                    found.append((root, ((row[HIGH] << 32) + row[LOW]) * row[FACTOR]))
                else:
                    self.left.append(root)
            job.report(found)
            busy += time.perf_counter() - start
        return busy
