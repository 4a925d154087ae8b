"""The interface of a contraction, and the effort that may go into making one."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gpusudoku.errors import TooExpensive
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.jobs.watch import current_watch

LONG_SECONDS = 1.0
"""An estimate that takes longer than this is reported to the watch."""


class Contraction(Protocol):
    """A sum that counts the solutions of one board.

    It is the sum of independent, numbered tasks. They depend on the board alone, never on threads,
    device or speed; one call sums as many of them as its caller likes.
    """

    seconds: float
    """Estimated time on one core, in seconds of a machine of 2024: a price, no promise. 0 if it
    is known that there is no solution."""
    listing_seconds: float
    """The time that this estimate took, without compiling."""

    @property
    def device_sum(self) -> Callable[[Any], Callable[[range], tuple[int, int]]] | None:
        """Bring the sum to a current ``engines.cuda.device.Gpu``; None if only threads can sum."""

    @property
    def factor(self) -> int:
        """The number by which the sum of all tasks is to be multiplied."""

    @property
    def tasks(self) -> int:
        """The number of tasks, once prepared; 0 if there is no solution."""

    def most_threads(self, memory: int) -> int:
        """Return the number of threads that fit into ``memory`` bytes, at least 1."""

    def prepare(self, threads: int) -> None:
        """Make all that the first task needs."""

    def scratch(self) -> Any:
        """Make the memory in which a thread sums."""

    def sum(self, tasks: range, scratch: Any, stop: NDArray[np.int64]) -> tuple[int, int]:
        """Return the exact sum of some consecutive tasks, and the number of products added up.

        The interpreter's lock is released meanwhile. Once ``stop[0]`` is not 0 the result does
        not matter any more, and is wanted soon.
        """


class Effort:
    """A budget of work for estimating a contraction, in seconds of a machine of 2024.

    Work is counted, not timed: plans must be the same on every machine and every day. ``instead``
    is the time of another method, infinite without one: it is reported to the watch once, before
    a step after which more than LONG_SECONDS are spent. With None nothing is reported.
    """

    def __init__(self, seconds: float = inf, instead: float | None = None) -> None:
        self.spent = 0.0
        self._most = seconds
        self._instead = instead

    def covers(self, steps: float, step_seconds: float) -> bool:
        """Tell whether so much is left."""
        return self.spent + steps * step_seconds <= self._most

    def spend(self, steps: float, step_seconds: float) -> None:
        """Account for steps before they are done; TooExpensive if they may not be spent."""
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
"""An effort without a bound."""
