"""The forecast of a search: the nodes that the tasks of a worker should still take.

The tree of a search is so uneven that the share of its boards says nothing of the work. So a worker
samples the tree below the boards that remain, as the estimate of the whole search does. The nodes
of the work done are known, so the forecast improves as the search proceeds.
"""

from __future__ import annotations

import time
from contextlib import suppress
from math import inf

from gpusudoku.errors import Cancelled
from gpusudoku.jobs.cancel import cancelling
from gpusudoku.jobs.job import Job, Task
from gpusudoku.kernels.search.shape import SearchSettings
from gpusudoku.search.frontier import HOPELESS, Frontier, estimate_search

FIRST_SECONDS = 1.0
"""The time until the first sample: a shorter search needs no forecast."""
SAMPLING_SHARE = 0.005
"""The share of the time of all threads that may go into samples, which one of them makes."""
MIN_EFFORT = 4
MAX_EFFORT = 64
"""The effort of the first sample, and the most that is reached by doubling it."""
MAX_BOARDS = 1 << 14
"""The number of boards from which a sample begins is less than twice this: a GPU has millions."""
TRUST = 2 / 3
"""The weight of a new sample against the forecast before it, which had half the effort."""


class Forecast:
    """The forecast of one worker, for the progress of a job that is watched."""

    def __init__(self, settings: SearchSettings, job: Job, threads: int = 1) -> None:
        self._settings = settings
        self._threads = threads
        self._job = job
        self._samples = 0
        self._effort = MIN_EFFORT
        self._due = time.perf_counter() + FIRST_SECONDS if job.is_watched else inf

    @property
    def is_due(self) -> bool:
        """True if it is time for another sample."""
        return time.perf_counter() >= self._due

    def revise(self, task: Task, remaining: Frontier) -> None:
        """Sample the boards that remain of a task, and change what it is expected to take.

        The new sample is independent of the forecast before, so their difference tells how good
        they are. A sample that gave up tells only that much remains.
        """
        start = time.perf_counter()
        step = max(1, len(remaining) // MAX_BOARDS)
        boards = Frontier(remaining.shape, remaining.boards[::step], remaining.roots[::step])
        # If the search is to end, the worker notices by itself, and hands back what remains.
        with suppress(Cancelled), cancelling(self._job.deadline):
            self._samples += 1
            estimate = estimate_search(boards, self._settings, self._effort, self._samples)
            nodes = estimate.nodes * len(remaining) / len(boards)
            weight = task.weight + TRUST * (nodes - task.weight)
            doubt = 0.0 if estimate.exact and step == 1 else abs(nodes - weight)
            if estimate.nodes >= HOPELESS:
                doubt = weight
            self._job.expect(task, weight, doubt)
        self._effort = min(2 * self._effort, MAX_EFFORT)
        seconds = time.perf_counter() - start
        self._due = start + seconds / (SAMPLING_SHARE * self._threads)
