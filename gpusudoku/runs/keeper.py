"""Keepers of a run: they have what was found and what is left, in portions done side by side."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from math import inf
from typing import Protocol

import numpy as np

from gpusudoku.engines.engine import WorkCounters
from gpusudoku.planning.plan import Portion, StepResult

MOST_EXPECTED = 0.99
"""The largest share that is taken to be done by the expected work, as long as anything is left."""


class Keeper(Protocol):
    """Keeps a run: in memory, or, as a ``SqliteRunStore``, in a file."""

    nodes: float
    """The expected nodes of all searches together; infinite if unknown."""
    hint: str
    """The end of a message about an interrupt: how to go on."""

    @property
    def count(self) -> int:
        """Solutions found, in all."""

    @property
    def seconds(self) -> float:
        """Seconds of work, in all."""

    @property
    def tally(self) -> WorkCounters:
        """The work done, in all."""

    @property
    def done(self) -> float:
        """The estimated share of the work that is done, 0 to 1."""

    def deal(self, hands: int = 1, ids: Iterable[int] | None = None) -> dict[int, Portion]:
        """Divide what is left, all of it or some portions, into at most so many portions."""

    def save(self, number: int, step: StepResult) -> None:
        """Keep what came of a portion; what is left of it keeps its number."""


class InMemory:
    """Keeps a run in memory; see ``Keeper``."""

    hint = ""

    def __init__(self, portion: Portion) -> None:
        self.count = 0
        self.seconds = 0.0
        self.tally, self.nodes = WorkCounters(), inf
        self._left = {0: portion} if portion else {}
        self._tasks, self._next = len(portion), 1

    @property
    def done(self) -> float:
        """See ``Keeper``."""
        return share_done(self._left.values(), self._tasks, self.tally.nodes / self.nodes)

    def deal(self, hands: int = 1, ids: Iterable[int] | None = None) -> dict[int, Portion]:
        """See ``Keeper``."""
        taken = [self._left.pop(number) for number in list(self._left if ids is None else ids)]
        if not taken:
            return {}
        dealt = dict(enumerate(Portion.joined(taken).dealt(hands), self._next))
        self._next += len(dealt)
        self._left |= dealt
        return dealt

    def save(self, number: int, step: StepResult) -> None:
        """See ``Keeper``."""
        self.count += step.count
        self.seconds += step.seconds
        self.tally.add(step.tally)
        if step.left:
            self._left[number] = step.left
        else:
            del self._left[number]


def tasks_in(portions: Iterable[Portion]) -> int:
    """Count the tasks that are in some portions, whole or in part."""
    return sum(map(len, _merged(run for portion in portions for run in _unfinished(portion))))


def share_done(left: Collection[Portion], tasks: int, worked: float) -> float:
    """Return the share of so many tasks that is done, if these portions are left of them.

    Many tasks may be begun before one is finished. So ``worked``, the share of the expected work
    that was done, counts if it is more, short of the end.
    """
    if not left:
        return 1.0
    return max(1 - tasks_in(left) / max(1, tasks), min(worked, MOST_EXPECTED))


def check_step(portion: Portion, step: StepResult) -> None:
    """Raise a ValueError if a step of a portion finds or leaves what it cannot, or twice."""
    mine, whole, still = _unfinished(portion), _merged(portion.tasks), _merged(step.left.tasks)
    for tasks, solutions in step.found:
        if not _holds(mine, tasks):
            raise ValueError(f"tasks {tasks}: finished, or not of this portion")
        if solutions and any(tasks.start < run.stop and run.start < tasks.stop for run in still):
            raise ValueError(f"tasks {tasks}: found, and left as if nobody had begun them")
    if not all(_holds(mine, run) for run in _unfinished(step.left)):
        raise ValueError("tasks are left that were not in this portion")
    if not all(_holds(whole, run) for run in still):
        raise ValueError("tasks are left whole that had been begun")


def _merged(runs: Iterable[range]) -> list[range]:
    """Return runs of numbers as the fewest that have the same numbers, ascending."""
    joined: list[range] = []
    for run in sorted((run for run in runs if run), key=lambda run: run.start):
        if joined and run.start <= joined[-1].stop:
            joined[-1] = range(joined[-1].start, max(joined[-1].stop, run.stop))
        else:
            joined.append(run)
    return joined


def _unfinished(portion: Portion) -> list[range]:
    """Return the tasks that are in a portion, whole or in part."""
    begun = np.unique(portion.task_of).tolist()
    return _merged([*portion.tasks, *(range(task, task + 1) for task in begun)])


def _holds(runs: Sequence[range], inner: range) -> bool:
    """Tell whether one of some merged runs holds another run."""
    at = bisect_right(runs, inner.start, key=lambda run: run.start) - 1
    return not inner or (at >= 0 and inner.stop <= runs[at].stop)
