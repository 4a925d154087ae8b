"""Which tasks are in portions: how much is done, and what a step can have come of."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from gpusudoku.planning.portion import Portion, Step

MOST_EXPECTED = 0.99
"""No more is taken to be done, by what was expected, as long as anything is left."""


def merged(runs: Iterable[range]) -> list[range]:
    """Runs of numbers as the fewest that have the same numbers, ascending."""
    joined: list[range] = []
    for run in sorted((run for run in runs if run), key=lambda run: run.start):
        if joined and run.start <= joined[-1].stop:
            joined[-1] = range(joined[-1].start, max(joined[-1].stop, run.stop))
        else:
            joined.append(run)
    return joined


def unfinished_runs(portion: Portion) -> list[range]:
    """The tasks that are in a portion, whole or in part."""
    begun = np.unique(portion.task_of).tolist()
    return merged([*portion.tasks, *(range(task, task + 1) for task in begun)])


def tasks_in(portions: Iterable[Portion]) -> int:
    """How many tasks are in some portions, whole or in part."""
    return sum(map(len, merged(run for portion in portions for run in unfinished_runs(portion))))


def share_done(left: Collection[Portion], tasks: int, worked: float) -> float:
    """The share of so many tasks that is done, if these portions are left of them.

    Many tasks may be begun before one is finished. So ``worked``, the share of the expected work
    that was done, counts if it is more, short of the end.
    """
    if not left:
        return 1.0
    return max(1 - tasks_in(left) / max(1, tasks), min(worked, MOST_EXPECTED))


def check_step(portion: Portion, step: Step) -> None:
    """Complain unless a step can have come of a portion: nothing is found or left twice.

    Raises
    ------
    ValueError
        If it cannot.
    """
    mine, whole, still = unfinished_runs(portion), merged(portion.tasks), merged(step.left.tasks)
    for found in step.found:
        if not _holds(mine, found.tasks):
            raise ValueError(f"tasks {found.tasks}: finished, or not of this portion")
        if found.solutions and any(_meet(found.tasks, run) for run in still):
            raise ValueError(f"tasks {found.tasks}: found, and left as if nobody had begun them")
    if not all(_holds(mine, run) for run in unfinished_runs(step.left)):
        raise ValueError("tasks are left that were not in this portion")
    if not all(_holds(whole, run) for run in still):
        raise ValueError("tasks are left whole that had been begun")


def _holds(runs: Sequence[range], inner: range) -> bool:
    """Whether one of some merged runs holds another run."""
    at = bisect_right(runs, inner.start, key=lambda run: run.start) - 1
    return not inner or (at >= 0 and inner.stop <= runs[at].stop)


def _meet(one: range, other: range) -> bool:
    return one.start < other.stop and other.start < one.stop
