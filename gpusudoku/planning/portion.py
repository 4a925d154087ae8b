"""What is left to do of a long count, and what a while of work at it finds.

A count consists of numbered tasks. Whoever works at some of them for a while has found numbers of
solutions that add up, and has a rest: tasks that nobody has begun, and boards that are left of
those that somebody has. What was found and what is left always belong together: kept together, they
can be taken up again by any process on any machine, and no solution is lost or counted twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.engines.engine import WorkCounters
from gpusudoku.errors import Interrupted


@dataclass(frozen=True, eq=False)
class Portion:
    """Some of a plan's work: whole tasks, and boards that are left of others.

    ``tasks`` are runs of task numbers, of step 1, none empty. ``boards`` is uint64 (k, words), one
    board a row as the plan packs it, and ``task_of``, int64 (k), the task that each descends from.
    No task is in both.
    """

    tasks: tuple[range, ...]
    boards: NDArray[np.uint64]
    task_of: NDArray[np.int64]

    @classmethod
    def of(cls, tasks: Iterable[range]) -> Portion:
        """Whole tasks."""
        runs = tuple(run for run in tasks if run)
        return cls(runs, np.zeros((0, 0), np.uint64), np.zeros(0, np.int64))

    @classmethod
    def joined(cls, portions: Sequence[Portion]) -> Portion:
        """All that is in some portions of one plan."""
        begun = [portion for portion in portions if len(portion.boards)]
        whole = cls.of(run for portion in portions for run in portion.tasks)
        if not begun:
            return whole
        boards = np.concatenate([portion.boards for portion in begun])
        return cls(whole.tasks, boards, np.concatenate([portion.task_of for portion in begun]))

    def __bool__(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.tasks) or len(self.boards) > 0

    def __len__(self) -> int:
        """Tasks that nobody has begun, and boards: into so many it can be divided."""
        return sum(map(len, self.tasks)) + len(self.boards)

    @property
    def unfinished(self) -> set[int]:
        """The numbers of all tasks that are not finished."""
        numbers = {number for run in self.tasks for number in run}
        return numbers | set(self.task_of.tolist())

    def dealt(self, hands: int) -> list[Portion]:
        """The same as at most so many portions, dealt out as one deals cards; none is empty."""
        hands = max(1, min(hands, len(self)))
        numbers = [number for run in self.tasks for number in run]
        return [
            Portion(
                tuple(runs(numbers[hand::hands])),
                self.boards[hands - 1 - hand :: hands],
                self.task_of[hands - 1 - hand :: hands],
            )
            for hand in range(hands)
        ]


class Found(NamedTuple):
    """What was found of some tasks that follow each other."""

    tasks: range
    solutions: int
    """How many, exact at any size; of a task that is not finished, those so far."""


@dataclass(frozen=True)
class Step:
    """What came of working at a portion for a while."""

    found: tuple[Found, ...]
    """What is new: of every task that was worked at, or of runs of them."""
    left: Portion
    """What is left to do."""
    tally: WorkCounters = field(default_factory=WorkCounters)
    """What was done for that. An interrupt leaves none."""
    seconds: float = 0.0
    """How long it took."""
    idle_seconds: float = 0.0
    """How long workers had nothing to do in it, all together: the price of stopping for a save."""
    workers: int = 1
    """How many there were."""
    interrupted: Interrupted | None = None
    """What ended it early, Ctrl-C or a cancellation; for the caller to raise once all is saved."""

    @property
    def count(self) -> int:
        """All solutions that are new."""
        return sum(found.solutions for found in self.found)


def runs(numbers: Sequence[int]) -> list[range]:
    """Ascending numbers as ranges of those that follow each other."""
    found: list[range] = []
    for number in numbers:
        if found and found[-1].stop == number:
            found[-1] = range(found[-1].start, number + 1)
        else:
            found.append(range(number, number + 1))
    return found
