"""Selections of solutions by their numbers: from K to L, or part I of N."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from gpusudoku.errors import InputError, shown
from gpusudoku.options import MOST_PARTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gpusudoku.listing import Slice, Solutions

MOST_DIGITS = 4000
"""Of a number that is read: Python takes few more, and no count has as many."""


def number_of(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """Parse the number of a solution, of any size, for click."""
    if value is None:
        return None
    text = value.strip()
    if not (text.isascii() and text.isdigit()) or len(text) > MOST_DIGITS:
        raise click.BadParameter(f"{shown(text)}: expected an integer from 0 up")
    return int(text)


def numbers_of(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> tuple[int | None, ...]:
    """Parse several numbers."""
    return tuple(number_of(ctx, param, value) for value in values)


class WhichPart(NamedTuple):
    """One of several parts of a whole, whose sizes differ by one at most."""

    number: int
    """From 1 on."""
    parts: int

    def __str__(self) -> str:
        return f"{self.number}/{self.parts}"


def parsed_part(ctx: click.Context, param: click.Parameter, value: str | None) -> WhichPart | None:
    """Parse I/N, for click."""
    if value is None:
        return None
    match = re.fullmatch(rf"\s*(\d{{1,{MOST_DIGITS}}})/(\d{{1,{MOST_DIGITS}}})\s*", value, re.ASCII)
    part = WhichPart(int(match[1]), int(match[2])) if match else WhichPart(0, 0)
    if not 1 <= part.number <= part.parts <= MOST_PARTS:
        raise click.BadParameter(
            f"{shown(value)}: expected I/N, I from 1 to N, N at most {MOST_PARTS}, such as 3/100"
        )
    return part


@dataclass(frozen=True)
class Selection:
    """The solutions of each board that are listed, and their order.

    Raises
    ------
    InputError
        If one excludes the other.
    """

    in_order: bool
    """True if all come in ascending order."""
    first: int | None
    last: int | None
    """Numbers in ascending order: from ``first`` to before ``last``."""
    part: WhichPart | None
    """A part of the quick order."""
    limit: int | None
    """The most solutions."""

    def __post_init__(self) -> None:
        if self.part is not None and (self.ascending or self.limit is not None):
            raise InputError("--part cannot be combined with --sorted, --from, --to or --limit")
        if self.first is not None and self.last is not None and self.first > self.last:
            raise InputError(f"--from {self.first} is more than --to {self.last}")

    @property
    def ascending(self) -> bool:
        """True if they come in ascending order."""
        return self.in_order or self.first is not None or self.last is not None

    @property
    def by_number(self) -> bool:
        """True if their order matters: a search finds them in any order."""
        return self.ascending or self.part is not None

    @property
    def order(self) -> str:
        """The name of the order."""
        return "ascending" if self.ascending else "quick"

    def is_beyond(self, solutions: Solutions) -> bool:
        """Tell whether a board has too few solutions for the first number."""
        if not self.first or self.first == self.last:
            return False
        return self.first >= solutions.count

    def blocks(self, solutions: Solutions, done: int = 0) -> Iterable[NDArray[Any]]:
        """Give those of one board after the first ``done``, as arrays uint8 (k, cells)."""
        if self.ascending:
            return self._slice(solutions, done).blocks()
        first, last = self.range(solutions)
        return solutions.blocks(first + done, last)

    def lines(self, solutions: Solutions, done: int = 0) -> Iterable[bytes | memoryview]:
        """Give the same as text, in whole lines."""
        if self.ascending:
            return self._slice(solutions, done).lines()
        first, last = self.range(solutions)
        return solutions.lines(first + done, last)

    def most(self, solutions: Solutions, counts: bool) -> int | None:
        """Return the most that one board has of them; None if only a long count tells.

        ``counts`` tells whether a count of all solutions is quick.
        """
        if not self.ascending:
            first, last = self.range(solutions)
            return last - first
        if self.last is None and not counts:
            return self.limit
        end = solutions.count if self.last is None else self.last
        left = max(0, end - (self.first or 0))
        return left if self.limit is None else min(left, self.limit)

    def _slice(self, solutions: Solutions, done: int) -> Slice:
        wanted = solutions[self.first : self.last][: self.limit]
        return wanted[done:] if done else wanted

    def range(self, solutions: Solutions) -> tuple[int, int]:
        """Return where those of one board begin and end in the quick order."""
        first, last = solutions.part(*(self.part or (1, 1)))
        return first, last if self.limit is None else min(self.limit, last)
