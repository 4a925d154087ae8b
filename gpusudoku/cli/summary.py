"""How a batch ends: what became of its boards, how long that took, and its exit status."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import click

from gpusudoku.cli.messages import note
from gpusudoku.errors import InputError
from gpusudoku.options import is_integer
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
        self._hidden = bool(counts.get("hidden"))
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
        return {"boards": self.boards, **some, "hidden": int(self._hidden)}

    @property
    def seconds(self) -> float:
        """How long it has taken, in all."""
        return time.perf_counter() - self._start

    @property
    def status(self) -> int:
        """What --exit-code exits with."""
        return NONE if self._none else SEVERAL if self._several else 0

    def show(self, unreadable: int) -> None:
        """Print the line on stderr; ``unreadable`` boards were read in vain."""
        seconds = self.seconds
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


@dataclass(frozen=True)
class Ending:
    """How a command ends, or a part of it."""

    status: int
    """Its exit status."""
    unreadable: int
    """Boards that were read in vain."""
    tally: Mapping[str, int] | None = None
    """The ``notes`` of its ``Tally``; None of a command without a closing line."""
    seconds: float = 0.0
    """How long it took."""

    @classmethod
    def of_parts(cls, stats: Sequence[Mapping[str, Any]]) -> Ending:
        """The end of a command, of whose parts these are the fields.

        Raises
        ------
        InputError
            If they are something else.
        """
        try:
            parts = [cls(**fields) for fields in stats]
            tallies = [part.tally for part in parts if part.tally is not None]
            numbers = [number for tally in tallies for number in tally.values()]
            numbers += [number for part in parts for number in (part.status, part.unreadable)]
            times = [float(part.seconds) for part in parts]
            if (
                not all(is_integer(number) and 0 <= number < 1 << 63 for number in numbers)
                or len({tuple(sorted(tally)) for tally in tallies}) > 1
                or not all(isfinite(time) and time >= 0 for time in times)
            ):
                raise ValueError
        except (TypeError, ValueError, OverflowError, AttributeError):
            raise InputError("a damaged record of a part: its statistics are none") from None
        statuses = [part.status for part in parts]
        wrong = [status for status in (2, 1) if status in statuses]
        names = tallies[0] if tallies else ()
        tally = {name: sum(each[name] for each in tallies) for name in names}
        unreadable = sum(part.unreadable for part in parts)
        status = wrong[0] if wrong else max(statuses)
        return cls(status, unreadable, tally if tallies else None, sum(times))

    def show(self) -> None:
        """Print the closing line, and exit with the status if it is not 0."""
        if self.tally is not None:
            Tally(self.tally, self.seconds).show(self.unreadable)
        elif self.unreadable:
            note(f"{self.unreadable:,} boards could not be read, as their parts have told")
        if self.status:
            click.get_current_context().exit(self.status)
