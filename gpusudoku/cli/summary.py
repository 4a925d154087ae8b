"""The closing lines of a batch: what became of its boards, and how long that took."""

from __future__ import annotations

import time
from collections.abc import Mapping

from gpusudoku.cli.messages import note
from gpusudoku.results import Counts

SEVERAL, NONE = 3, 4
"""What --exit-code makes of boards that are no puzzles: the status of a batch is the largest."""


class Tally:
    """How many boards have one solution, several, or none.

    Parameters
    ----------
    before
        The ``notes`` of a tally that is gone on with.
    seconds
        How long that took.
    """

    def __init__(self, before: Mapping[str, int] | None = None, seconds: float = 0.0) -> None:
        counts = before or {}
        self.boards = counts.get("boards", 0)
        """How many there are in all."""
        self._one, self._several = counts.get("one", 0), counts.get("several", 0)
        self._none = counts.get("none", 0)
        self._hidden = False
        """Whether nobody looked for a second solution."""
        self._start = time.perf_counter() - seconds

    def add(self, results: Counts) -> None:
        """Take in boards that were worked on together."""
        counts = results.numbers
        self.boards += len(results)
        self._one += int((counts == 1).sum())
        self._several += int((counts > 1).sum())
        self._none += int((counts == 0).sum())
        self._hidden = results.limit == 1

    @property
    def notes(self) -> dict[str, int]:
        """All of it, to go on later."""
        some = {"one": self._one, "several": self._several, "none": self._none}
        return {"boards": self.boards, **some}

    @property
    def status(self) -> int:
        """What --exit-code exits with."""
        return NONE if self._none else SEVERAL if self._several else 0

    def show(self, unreadable: int) -> None:
        """Print the line on stderr; ``unreadable`` boards were read in vain."""
        seconds = time.perf_counter() - self._start
        some = (
            f"{self._one:,} solvable"
            if self._hidden
            else f"{self._one:,} unique, {self._several:,} several"
        )
        note(
            f"{self.boards + unreadable:,} boards: {some}, {self._none:,} none, "
            f"{unreadable:,} unreadable; {seconds:,.2f} s, "
            f"{self.boards / seconds:,.0f} boards a second"
        )
