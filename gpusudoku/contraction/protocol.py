"""The interface of a contraction, and a budget for estimating one."""

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

    The sum consists of independent, numbered tasks. They depend on the board alone, not on threads,
    device or speed. One call may sum any number of consecutive tasks.
    """

    seconds: float
    """The estimated time in seconds on one reference core. It is 0 if the board is known to have
    no solution."""
    listing_seconds: float
    """The measured time of making this estimate in seconds, without compiling."""

    @property
    def device_sum(self) -> Callable[[Any], Callable[[range], tuple[int, int]]] | None:
        """Bring the sum to a current ``engines.cuda.device.Gpu``; None if only threads can sum."""

    @property
    def factor(self) -> int:
        """The number by which the caller multiplies the sum of all tasks."""

    @property
    def tasks(self) -> int:
        """The number of tasks, once prepared; 0 if there is no solution."""

    def max_threads(self, memory: int) -> int:
        """Return the number of threads that fit into ``memory`` bytes, at least 1."""

    def prepare(self, threads: int) -> None:
        """Make everything that the first task needs."""

    def scratch(self) -> Any:
        """Make the memory in which a thread sums."""

    def sum(self, tasks: range, scratch: Any, stop: NDArray[np.int64]) -> tuple[int, int]:
        """Return the exact sum of consecutive tasks, and the number of products added up.

        The interpreter's lock is released during the sum. Once ``stop[0]`` is not 0, the call
        returns soon and its result is meaningless.
        """


class Effort:
    """A budget of work for estimating a contraction, in seconds on a reference core.

    Steps are counted and not timed, so that plans are the same on every machine and in every run.
    ``alternative_seconds`` is the time of the other method, infinite if there is none. It is
    reported to the watch once, when more than LONG_SECONDS have been spent. With None nothing is
    reported.
    """

    def __init__(self, max_seconds: float = inf, alternative_seconds: float | None = None) -> None:
        self.spent = 0.0
        self._max_seconds = max_seconds
        self._alternative_seconds = alternative_seconds

    def covers(self, steps: float, step_seconds: float) -> bool:
        """Tell whether the remaining budget suffices for some steps."""
        return self.spent + steps * step_seconds <= self._max_seconds

    def spend(self, steps: float, step_seconds: float) -> None:
        """Account for steps before they are taken; TooExpensive if they exceed the budget."""
        # Every step of an estimate passes here, so that an interrupt waits for one step.
        check_cancelled()
        if not self.covers(steps, step_seconds):
            raise TooExpensive(
                "too expensive to contract: the estimate alone would take more than"
                f" {self._max_seconds:.2g} s"
            )
        self.spent += steps * step_seconds
        # Reported once, before the step that makes the estimate long, and not after it.
        if self._alternative_seconds is not None and self.spent > LONG_SECONDS:
            current_watch().estimating(self._alternative_seconds)
            self._alternative_seconds = None


UNBOUNDED = Effort()
"""An effort without a bound."""
