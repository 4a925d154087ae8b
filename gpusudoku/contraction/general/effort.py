"""How much work may go into finding out what a contraction takes.

It is counted, not timed: plans must be the same on every machine and every day.
"""

from __future__ import annotations

from math import inf

from gpusudoku.errors import TooExpensive
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.jobs.watch import current_watch

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
