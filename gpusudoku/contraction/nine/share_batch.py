"""The shares of many 9x9 boards, each worked out by one thread. Special to 3x3 boxes."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from gpusudoku.contraction.nine.share_sums import SHARES
from gpusudoku.contraction.nine.shares import MOST_PENDING, NineShares, nine_shares
from gpusudoku.contraction.nine.sweeper import keep_room, take_room
from gpusudoku.jobs.job import Job, Task, Worker
from gpusudoku.jobs.watch import watching

EXPENSIVE_SECONDS = 0.05
"""Of many boards, one that costs more than this is left to all threads together."""


def many_nine_shares(boards: NDArray[np.uint64], threads: int) -> NDArray[np.object_]:
    """The shares of many 9x9 boards, each worked out by one thread, if it does not cost much.

    Parameters
    ----------
    boards
        uint64 (B, 81): the candidates of each, as for ``nine_shares``.
    threads
        How many there are to work.

    Returns
    -------
    Python integers (B, 81, 9).

    Raises
    ------
    Interrupted
        After Ctrl-C.
    """
    shares = np.zeros((len(boards), 81, 9), object)
    if not len(boards):
        return shares
    workers = [BatchShareWorker(boards, shares) for _ in range(min(threads, len(boards)))]
    with watching(None):
        job = Job(1)
    job.run([Task(index, 1 / len(boards)) for index in range(len(boards))], workers)
    for worker in workers:
        keep_room(worker.room)
    for index in sorted(index for worker in workers for index in worker.left):
        shares[index] = nine_shares(boards[index], threads)
    return shares


class BatchShareWorker(Worker):
    """One thread and the memory in which it works out the shares of board after board.

    Parameters
    ----------
    boards
        The candidates of all boards; tasks are their indices.
    shares
        Where the shares are written.
    """

    def __init__(self, boards: NDArray[np.uint64], shares: NDArray[np.object_]) -> None:
        self._boards, self._shares = boards, shares
        self.room = take_room()
        self.left: list[int] = []
        """Boards that were left out: they cost too much, or need wide slabs."""

    def __call__(self, job: Job) -> float:
        """See ``Worker``."""
        start = time.perf_counter()
        while (task := job.take()) is not None:
            board = NineShares(self._boards[task.payload], room=self.room)
            if board.seconds > EXPENSIVE_SECONDS or not self._work_out(task, board, job.flag):
                self.left.append(task.payload)
        return time.perf_counter() - start

    def _work_out(self, task: Task, board: NineShares, stop: NDArray[np.int64]) -> bool:
        """Write the shares of a board, unless it needs wide slabs; say whether they are."""
        sums, sweeper = np.zeros(SHARES, object), self.room.sweeper(0, wide=False)
        for pairs in board.turns(1):
            if board.wide:
                return False
            sweeper.begin(self.room, MOST_PENDING)
            for some in sweeper.sweep(range(pairs), stop), sweeper.flush():
                for indices, shares in some:
                    sums[indices] += shares
        self._shares[task.payload] = board.finished(sums)
        return True
