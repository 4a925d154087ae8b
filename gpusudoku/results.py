"""What a count says: the number, how it was found, and what that took.

``Count.as_dict`` is what ``--json`` prints of a single board.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.drawing import draw
from gpusudoku.errors import Cancelled
from gpusudoku.jobs.cancel import CancelToken, cancelling_of, check_cancelled

One = TypeVar("One", covariant=True)
Blocks = TypeVar("Blocks", bound="Block[Any]")

LONGEST_NUMBER = 60
"""Digits of a count that is shown in full where it stands for itself, as in a notebook."""


def decimal_digits(number: int) -> str:
    """All digits of an integer; ``str`` refuses those of more than 4300, which boards can have."""
    return str(Decimal(number))


@dataclass(frozen=True)
class SearchStats:
    """What a search did. Times are in seconds, without start-up and compiling."""

    method: ClassVar[str] = "search"
    strategy: str
    """How the cell to guess was chosen."""
    propagate: str
    """The techniques that were applied at every node."""
    cutoff: float | None
    """How large frontier boards may be; None if only their number mattered."""
    cutoff_by: str
    """Whether the cutoff is a search space or a number of empty cells."""
    cutoff_reached: bool
    """False if the frontier was as large as it may be before that."""
    frontier_width: int
    """The number of frontier boards that the device wants."""
    frontier_boards: int
    """The number of frontier boards that there were."""
    boards_explored: int
    """Partial boards made: the root, and one more for every guess."""
    nodes: int
    """Boards looked at, also while the frontier was made."""
    deepest: int
    """The most boards that waited on one stack."""
    seconds: float
    """The whole search."""
    expansion_seconds: float
    """Making the frontier, which is part of it."""
    utilisation: tuple[float, ...]
    """For every worker the share of the remaining time in which it worked."""


@dataclass(frozen=True)
class ContractionStats:
    """What a contraction did. Times are in seconds, without start-up and compiling."""

    method: ClassVar[str] = "contraction"
    products: int
    """How many products were added up."""
    seconds: float
    """The whole contraction."""
    utilisation: tuple[float, ...]
    """For every worker the share of the sum's time in which it worked."""


def numbers_of(counts: Sequence[int]) -> NDArray[Any]:
    """Counts as an array (B): int64, or Python's integers where one exceeds that."""
    fits = max(counts, default=0) < 1 << 63
    return np.array(counts, np.int64 if fits else object)


Stats = SearchStats | ContractionStats


@dataclass(frozen=True)
class Estimates:
    """What the methods were estimated to take before one was chosen, on one core of 2024."""

    search_seconds: float | None = None
    """What a search takes; None if nobody asked."""
    contraction_seconds: float | None = None
    """What a contraction takes; None if nobody asked, or there is none."""
    no_contraction: str = ""
    """Why there is no contraction, if one was looked for."""

    def seconds_of(self, method: str) -> float | None:
        """What a method was estimated to take, if it was."""
        return {"search": self.search_seconds, "contraction": self.contraction_seconds}[method]


@dataclass(frozen=True, repr=False)
class Count:
    """The number of solutions of a board.

    ``count`` is exact if ``exact``; if not, a limit was given and the count is that or more.
    """

    board: Board
    count: int
    exact: bool
    device: str
    """``cpu`` or ``cuda``."""
    jobs: int
    """How many workers there were: CPU threads or GPUs."""
    stats: Stats
    """What was done; for a board of a batch, for all boards that were counted together."""
    estimates: Estimates | None = None
    """What was estimated before; None for a board of a batch."""

    def __str__(self) -> str:
        return decimal_digits(self.count) if self.exact else f"{self.count}+"

    def __repr__(self) -> str:
        of_what = f"{self._in_words()} of {self.board.describe()}"
        return f"<Count: {of_what}, by {self.method} on {self.device}>"

    def _repr_html_(self) -> str:
        return draw(self.board.geometry, self.board.cells, caption=self._in_words())

    def _in_words(self) -> str:
        """How many solutions there are; of a number that fills lines only its size."""
        number = str(self)
        if len(number) > LONGEST_NUMBER:
            number = f"about {Decimal(self.count):.3e}"
        return f"{number} solution{'' if number == '1' else 's'}"

    @property
    def method(self) -> str:
        """``search`` or ``contraction``."""
        return self.stats.method

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON types; integers that may exceed 2^53 are strings."""
        estimates = self.estimates or Estimates()
        return {
            "board": str(self.board),
            "box": str(self.board.geometry),
            "count": decimal_digits(self.count),
            "exact": self.exact,
            "method": self.method,
            "device": self.device,
            "jobs": self.jobs,
            "empty_cells": self.board.empty_cells,
            "filling_factor": self.board.filling_factor,
            "search_space": decimal_digits(self.board.search_space),
            "search_estimate": estimates.search_seconds,
            "contraction_estimate": estimates.contraction_seconds,
            "no_contraction": estimates.no_contraction,
            **asdict(self.stats),
            "utilisation": list(self.stats.utilisation),
        }


@dataclass(frozen=True)
class Counts:
    """The counts of boards that were counted together; iterating gives a ``Count`` for each."""

    boards: Batch
    numbers: NDArray[Any]
    """int64 (B), or object, Python's integers, where one exceeds that: at most the limit."""
    limit: int | None
    """Counts that reach it are not exact."""
    device: str
    """``cpu`` or ``cuda``."""
    jobs: int
    """How many workers there were."""
    stats: Stats
    """What was done for all of them."""
    estimates: Estimates | None = None
    """What was estimated before, for a single board."""
    continued: bool = False
    """Whether the statistics are those of boards that came before, too."""

    @classmethod
    def of(cls, board: Batch, count: Count, limit: int | None) -> Counts:
        """The count of a single board, which the batch holds."""
        numbers, stats = numbers_of([count.count]), count.stats
        return cls(board, numbers, limit, count.device, count.jobs, stats, count.estimates)

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[Count]:
        for board, count in zip(self.boards, self.counts, strict=True):
            exact = self.is_exact(count)
            yield Count(board, count, exact, self.device, self.jobs, self.stats, self.estimates)

    @property
    def counts(self) -> list[int]:
        """The numbers as a list."""
        counts: list[int] = self.numbers.tolist()
        return counts

    def part(self, start: int, end: int) -> Counts:
        """Those of the boards from start to before end."""
        boards = self.boards.part(start, end)
        return replace(self, boards=boards, numbers=self.numbers[start:end])

    def chosen(self, mask: NDArray[np.bool_]) -> Counts:
        """Those for which the mask, bool (B), is true."""
        return replace(self, boards=self.boards.chosen(mask), numbers=self.numbers[mask])

    def is_exact(self, count: int) -> bool:
        """Whether one of the counts is exact."""
        return self.limit is None or count < self.limit

    def is_unique(self, count: int) -> bool | None:
        """Whether one of the counts means a single solution; None if the limit hides that."""
        return None if count == self.limit == 1 else count == 1

    def text(self, count: int) -> str:
        """One of the counts as it is shown: ``N+`` for N or more."""
        return decimal_digits(count) if self.is_exact(count) else f"{count}+"


class Block(Protocol[One]):
    """Results of boards that were worked on together."""

    @property
    def numbers(self) -> NDArray[Any]:
        """The number of solutions found of every board."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[One]: ...

    def part(self, start: int, end: int) -> Self:
        """Those of the boards from start to before end."""


class Results(Generic[Blocks, One]):
    """An iterator over the results of many boards, in their order.

    Boards are worked on in blocks, and an object for a board is made only when it is asked for:
    ``blocks`` and ``numbers`` make none. ``close`` stops the work on boards that nobody asked for,
    and so does the token that the call was given.
    """

    def __init__(
        self, blocks: Generator[Blocks, None, None], cancel: CancelToken | None = None
    ) -> None:
        self._blocks, self._cancel = cancelling_of(cancel, blocks), cancel
        self._block: Blocks | None = None
        self._objects: Iterator[One] = iter(())
        self._taken = 0

    def __iter__(self) -> Results[Blocks, One]:
        return self

    def __next__(self) -> One:
        try:
            check_cancelled(self._cancel)
        except Cancelled:
            self.close()  # whoever keeps the error keeps this, too, and would keep its threads
            raise
        while True:
            for one in self._objects:
                self._taken += 1
                return one
            self._block, self._taken = next(self._blocks), 0
            self._objects = iter(self._block)

    def blocks(self) -> Iterator[Blocks]:
        """What is left, in blocks of boards that were worked on together."""
        block, self._block, self._objects = self._block, None, iter(())
        if block is not None and self._taken < len(block):
            yield block.part(self._taken, len(block))
        for block in self._blocks:  # which goes on when nobody asks for the rest here
            yield block

    def numbers(self) -> NDArray[Any]:
        """The number of solutions found of every board that is left.

        An array (B), int64, or of Python's integers where one exceeds that. A number that reaches
        the limit may be smaller than the count.
        """
        found = [np.zeros(0, np.int64), *(block.numbers for block in self.blocks())]
        return np.concatenate(found)

    def close(self) -> None:
        """Stop the work."""
        self._blocks.close()
        self._objects, self._block = iter(()), None
