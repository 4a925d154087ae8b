"""What those who run a contraction need to know of it, whatever the shape of the board.

----
How much work may go into finding out what a contraction takes.

It is counted, not timed: plans must be the same on every machine and every day.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gpusudoku.errors import TooExpensive
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.jobs.watch import current_watch


class Contraction(Protocol):
    """A sum that counts the solutions of one board.

    It is the sum of independent, numbered tasks. They depend on the board alone, never on threads,
    device or speed; whoever runs them puts as many into one call as is worth while.
    """

    seconds: float
    """Estimated time on one core, in seconds of a machine of 2024: a price, no promise. 0 if it
    is known that there is no solution."""
    listing_seconds: float
    """What it took to find that out, without compiling."""

    @property
    def device_sum(self) -> Callable[[Any], Callable[[range], tuple[int, int]]] | None:
        """What brings the sum to a GPU; None if only threads can sum.

        It takes an ``engines.cuda.device.Gpu``, the current one, and returns what ``sum`` is there.
        """

    @property
    def factor(self) -> int:
        """What the sum of all tasks is to be multiplied by."""

    @property
    def tasks(self) -> int:
        """The number of tasks, once prepared; 0 if there is no solution."""

    def most_threads(self, memory: int) -> int:
        """How many threads can sum in so many bytes, at least 1."""

    def prepare(self, threads: int) -> None:
        """Make whatever must be there before the first task, on so many threads."""

    def widened(self) -> Contraction | None:
        """The same contraction, prepared, with the same tasks, that sums in wider numbers.

        None if this one does.
        """

    def scratch(self) -> Any:
        """Make what a thread needs to sum in."""

    def sum(self, tasks: range, scratch: Any, stop: NDArray[np.int64]) -> tuple[int, int]:
        """The exact sum of some consecutive tasks, and how many products were added up.

        The interpreter's lock is released meanwhile. Once ``stop[0]`` is not 0 the result does
        not matter any more, and is wanted soon.
        """


LONG_SECONDS = 1.0
"""A watch is told of whatever takes longer than this."""


class Effort:
    """Seconds that may be spent, of a machine of 2024; whoever works adds up what it takes.

    Parameters
    ----------
    seconds
        As many as this; a step that would take more is not begun.
    instead
        What another method would take, infinite without one: the watch is told this once, before a
        step after which it is more than LONG_SECONDS. None: nobody is told.
    """

    def __init__(self, seconds: float = inf, instead: float | None = None) -> None:
        self.spent = 0.0
        self._most, self._instead = seconds, instead

    def covers(self, steps: float, step_seconds: float) -> bool:
        """Whether so much is left."""
        return self.spent + steps * step_seconds <= self._most

    def spend(self, steps: float, step_seconds: float) -> None:
        """Account for a number of steps, before they are done.

        Raises
        ------
        Cancelled
            If whoever looks is to stop.
        TooExpensive
            If they are more than may be spent.
        """
        check_cancelled()
        if not self.covers(steps, step_seconds):
            raise TooExpensive(
                "too expensive to contract: to find out what it takes would take more than"
                f" {self._most:.2g} s"
            )
        self.spent += steps * step_seconds
        if self._instead is not None and self.spent > LONG_SECONDS:
            current_watch().estimating(self._instead)
            self._instead = None


UNBOUNDED = Effort()
"""For those who want to know, whatever it takes."""
