"""What was found of a run whose portions are worked at side by side, and what is left of it."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Protocol

from gpusudoku.engines.engine import WorkCounters
from gpusudoku.planning.portion import Portion, Step
from gpusudoku.runs.tasks import share_done


class Keeper(Protocol):
    """Whoever keeps that: in memory, or, as a ``Ledger``, in a file."""

    nodes: float
    """Of all searches together, as many as are expected; infinite if nobody knows."""

    @property
    def count(self) -> int:
        """Solutions found, in all."""

    @property
    def seconds(self) -> float:
        """Seconds of work, in all."""

    @property
    def tally(self) -> WorkCounters:
        """What was done, in all."""

    @property
    def done(self) -> float:
        """The estimated share of the work that is done, 0 to 1."""

    def deal(self, hands: int = 1, ids: Iterable[int] | None = None) -> dict[int, Portion]:
        """Deal out what is left to at most so many hands: all of it, or some portions."""

    def save(self, number: int, step: Step) -> None:
        """Keep what came of a portion. What is left of it keeps its number."""


class InMemory:
    """Keeps a run in memory; see ``Keeper``."""

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

    def save(self, number: int, step: Step) -> None:
        """See ``Keeper``."""
        self.count += step.count
        self.seconds += step.seconds
        self.tally.add(step.tally)
        if step.left:
            self._left[number] = step.left
        else:
            del self._left[number]
