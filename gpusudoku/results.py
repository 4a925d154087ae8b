"""Results of counting and solving: numbers, solutions and statistics, of one board or of many.

``--json`` prints ``Count.as_dict`` of a single board.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.arrays import host_array
from gpusudoku.board.batch import Batch, RowBlock
from gpusudoku.board.board import Board
from gpusudoku.board.text import draw
from gpusudoku.errors import InputError, described

LONGEST_NUMBER = 60
"""Digits of a count that is shown in full where it stands for itself, as in a notebook."""

_PLAIN_FORMAT = re.compile(r"(.?[<>^])?(\d*)([,_]?)d?")
"""An alignment, a width, a separator of thousands: of a format, what text can follow."""


def decimal_digits(number: int) -> str:
    """All digits of an integer; ``str`` refuses those of more than 4300, which boards can have."""
    return str(Decimal(number))


@dataclass(frozen=True)
class SearchStats:
    """Statistics of a search. Times are in seconds, without start-up and compiling."""

    method: ClassVar[str] = "search"
    strategy: str
    """The strategy that chose the cell to guess."""
    propagate: str
    """The techniques that were applied at every node."""
    cutoff: float | None
    """The largest size of frontier boards; None if only their number mattered."""
    cutoff_by: str
    """``space`` or ``empty``: the cutoff is a search space or a number of empty cells."""
    cutoff_reached: bool
    """False if the frontier was as large as it may be before that."""
    frontier_width: int
    """The number of frontier boards that the device wants."""
    frontier_boards: int
    """The number of frontier boards that there were; 1, the board itself, if it took a moment."""
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
    """For every worker the share of the remaining time in which it worked: a CPU thread by its time
    on a core."""
    launches: int = 0
    """Launches of the kernel on GPUs; 0 if the CPU searched."""
    gpu: str = ""
    """The name of the GPU, or the names of several; empty if the CPU searched."""
    gpu_threads: int = 0
    """The number of threads of a launch."""
    gpu_busy: float = 0.0
    """The share of these threads that had a board, on average over the time of all launches."""


@dataclass(frozen=True)
class ContractionStats:
    """Statistics of a contraction. Times are in seconds, without start-up and compiling."""

    method: ClassVar[str] = "contraction"
    products: int
    """Products that were added up."""
    seconds: float
    """The whole contraction."""
    utilisation: tuple[float, ...]
    """For every worker the share of the sum's time in which it worked."""
    on_gpu: bool = False
    """True if GPUs summed; the CPU makes the lists and tensors in any case."""
    gpu: str = ""
    """The name of the GPU, or the names of several; empty if the CPU summed."""


def numbers_of(counts: Sequence[int]) -> NDArray[Any]:
    """Counts as an array (B): int64, or Python's integers where one exceeds that."""
    fits = max(counts, default=0) < 1 << 63
    return np.array(counts, np.int64 if fits else object)


Stats = SearchStats | ContractionStats


@dataclass(frozen=True)
class Estimates:
    """Estimated seconds for each method on one typical 2024 core, made before choosing."""

    search_seconds: float | None = None
    """Seconds of a search; None if they were not estimated."""
    contraction_seconds: float | None = None
    """Seconds of a contraction; None if they were not estimated, or there is none."""
    no_contraction: str = ""
    """The reason why there is no contraction, if one was estimated."""

    def seconds_of(self, method: str) -> float | None:
        """Return the estimated seconds of a method; None if it was not estimated."""
        return {"search": self.search_seconds, "contraction": self.contraction_seconds}[method]


def _arithmetic(operation: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Make methods of ``Count`` that apply an operation to its number, as first or last operand."""
    return (
        lambda count, *operands: operation(operator.index(count), *operands),
        lambda count, operand: operation(operand, operator.index(count)),
    )


@dataclass(frozen=True, repr=False, eq=False)
class Count:
    """The number of solutions of a board.

    ``count`` is exact if ``exact``; if not, a limit was reached and the count is that or more.

    It behaves like the number: in comparisons, arithmetic, ``int``, ``bool``, ``hash``, ``round``
    and formats. If a limit was reached, it equals only itself, and it is less or greater than
    another number only where the limit decides that. Everything else is a ValueError then, but
    ``bool``, which is true once a solution is found, and formats, which show ``1,000+``.
    """

    error: ClassVar[InputError | None] = None
    """None; a ``BadBoard`` has its error here."""
    board: Board
    count: int
    exact: bool
    device: str
    """``cpu`` or ``cuda``."""
    jobs: int
    """The number of workers: CPU threads or GPUs."""
    stats: Stats
    """Statistics; of a board of a batch, of all boards that were counted together."""
    estimates: Estimates | None = None
    """Estimates made before; None for a board of a batch."""
    ended_after: float | None = None
    """The time limit in seconds, if it ended the count."""

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Count):
            return self is other or (self.exact and other.exact and self.count == other.count)
        return self.exact and self.count == other

    def __hash__(self) -> int:
        return hash(self.count) if self.exact else object.__hash__(self)

    def __lt__(self, other: Any) -> bool:
        return self._compare(operator.lt, other)

    def __le__(self, other: Any) -> bool:
        return self._compare(operator.le, other)

    def __gt__(self, other: Any) -> bool:
        return self._compare(operator.gt, other)

    def __ge__(self, other: Any) -> bool:
        return self._compare(operator.ge, other)

    def _compare(self, holds: Callable[[Any, Any], bool], other: Any) -> bool:
        """Compare with another number; a ValueError unless all possible numbers agree."""
        if self is other:
            return holds(self.count, self.count)
        is_count = isinstance(other, Count)
        other_bounds = other._bounds if is_count else [other]
        outcomes = [
            holds(bound, other_bound) for bound in self._bounds for other_bound in other_bounds
        ]
        if any(outcome != outcomes[0] for outcome in outcomes[1:]):
            limited = other if self.exact else self
            limited._unknown(f"compare {self} with {other if is_count else described(other)}")
        return outcomes[0]

    @property
    def _bounds(self) -> list[float]:
        """Return the least and the greatest possible number."""
        return [self.count] if self.exact else [self.count, math.inf]

    def __bool__(self) -> bool:
        if self.count == 0 and not self.exact:
            self._unknown("tell whether there is a solution")
        return self.count > 0

    def __index__(self) -> int:
        if not self.exact:
            self._unknown(f"use {self} as an integer")
        return self.count

    __add__, __radd__ = _arithmetic(operator.add)
    __sub__, __rsub__ = _arithmetic(operator.sub)
    __mul__, __rmul__ = _arithmetic(operator.mul)
    __truediv__, __rtruediv__ = _arithmetic(operator.truediv)
    __floordiv__, __rfloordiv__ = _arithmetic(operator.floordiv)
    __mod__, __rmod__ = _arithmetic(operator.mod)
    __divmod__, __rdivmod__ = _arithmetic(divmod)
    __pow__, __rpow__ = _arithmetic(pow)

    def __neg__(self) -> int:
        return -operator.index(self)

    def __pos__(self) -> int:
        return operator.index(self)

    def __abs__(self) -> int:
        return operator.index(self)

    def __round__(self, ndigits: int | None = None) -> int:
        return round(operator.index(self), ndigits)

    def _unknown(self, purpose: str) -> NoReturn:
        """Raise an InputError: a limit hides the number."""
        why = f"the limit {decimal_digits(self.count)} was reached"
        if self.ended_after is not None:
            why = f"the count ended after {self.ended_after:g} s"
        raise InputError(
            f"cannot {purpose}: {why}; count without a limit, or use .count, a lower bound"
        )

    def __format__(self, spec: str) -> str:
        plain = _PLAIN_FORMAT.fullmatch(spec)
        if plain is None:
            return format(operator.index(self), spec)
        alignment, width, separator = plain.groups()
        digits = f"{Decimal(self.count):,}".replace(",", separator) + "+" * (not self.exact)
        return f"{digits:{alignment or '>'}{width}}"

    def __str__(self) -> str:
        return f"{self:d}"

    def __repr__(self) -> str:
        of_what = f"{self._in_words()} of {self.board.describe()}"
        return f"<Count: {of_what}, by {self.method} on {self.device}>"

    def _repr_html_(self) -> str:
        return draw(self.board.geometry, self.board.cells, caption=self._in_words())

    def _in_words(self) -> str:
        """Write the number of solutions; of a number that fills lines only its size."""
        number = str(self)
        if len(number) > LONGEST_NUMBER:
            number = f"about {Decimal(self.count):.3e}"
        return f"{number} solution{'' if number == '1' else 's'}"

    @property
    def method(self) -> str:
        """``search`` or ``contraction``."""
        return self.stats.method

    @property
    def solvable(self) -> bool | None:
        """Tell whether there is a solution; None if the time limit hides that."""
        return None if self.count == 0 and not self.exact else bool(self)

    @property
    def unique(self) -> bool | None:
        """Tell whether there is exactly one solution; None if the limit hides that."""
        return self.count == 1 if self.exact or self.count > 1 else None

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


@dataclass(frozen=True, repr=False)
class Solution:
    """The outcome of ``solve``, true if a solution was found."""

    error: ClassVar[InputError | None] = None
    """None; a ``BadBoard`` has its error here."""
    puzzle: Board
    """The board that was solved."""
    board: Board | None
    """A solution, None if none was found."""
    unique: bool | None
    """True if there is exactly one; None if nobody looked for a second, or the time was over."""
    stats: Stats
    """Statistics of the search; of a board of many, of all boards that were solved together."""

    def __bool__(self) -> bool:
        return self.board is not None

    @property
    def solvable(self) -> bool | None:
        """Tell whether there is a solution; None if the time limit hides that."""
        return None if self.board is None and self.unique is None else bool(self)

    def __str__(self) -> str:
        """In words: ``the only solution``, ``one of several solutions`` and so on."""
        if self.board is None:
            return "unknown (time limit)" if self.unique is None else "no solution"
        names = {True: "the only solution", False: "one of several solutions", None: "a solution"}
        return names[self.unique]

    def __repr__(self) -> str:
        return f"<Solution: {self} of {self.puzzle.describe()}>"

    def _repr_html_(self) -> str:
        board = self.puzzle if self.board is None else self.board
        return draw(board.geometry, board.cells, self.puzzle.cells > 0, f"{self}".capitalize())


def is_unique(count: int, limit: int | None) -> bool | None:
    """Tell whether a count means a single solution; None if the limit hides that."""
    return None if count == limit == 1 else count == 1


@dataclass(frozen=True)
class ResultBlock(RowBlock):
    """Results of boards that were worked on together, in columns of B rows.

    Iterating gives a ``Solution`` for each board if there are solutions, else a ``Count``.
    """

    _COLUMNS = ("numbers", "solutions", "shares", "errors")  # and boards, in main memory
    boards: Batch
    numbers: NDArray[Any]
    """int64 (B), or object, Python's integers, where one exceeds that: solutions found of each
    board, at most the limit."""
    limit: int | None
    """Counts that reach it are not exact."""
    device: str
    """``cpu`` or ``cuda``."""
    jobs: int
    """The number of workers."""
    stats: Stats
    """Statistics of all of them together."""
    estimates: Estimates | None = None
    """Estimates made before, for a single board."""
    continued: bool = False
    """True if the statistics include boards that came before."""
    ended_after: float | None = None
    """The time limit in seconds, if it ended the work on the board; there is one board then."""
    solutions: NDArray[np.uint8] | None = None
    """uint8 (B, n * n): a solution of every board that has one, 0 in all cells of the others."""
    shares: NDArray[Any] | None = None
    """object (B, n * n, n): the number of solutions with each digit in each cell."""
    errors: NDArray[Any] | None = None
    """object (B): a ``TooExpensive`` for each board whose shares are, and are 0; else None."""
    lines: bytes | memoryview | None = None
    """What a command writes, a line for each board, if the thread that counted them made it."""

    @classmethod
    def of(cls, board: Batch, count: Count, limit: int | None) -> ResultBlock:
        """Wrap the count of a batch of one."""
        return cls(
            board,
            numbers_of([count.count]),
            limit,
            count.device,
            count.jobs,
            count.stats,
            count.estimates,
            ended_after=count.ended_after,
        )

    def __repr__(self) -> str:
        work = f"by {self.stats.method} on {self.device}"
        return f"<ResultBlock: {self.boards.describe()}, {work}>"

    def __iter__(self) -> Iterator[Any]:
        return iter(self.counts()) if self.solutions is None else self._solutions()

    def counts(self) -> list[Count]:
        """Make a ``Count`` for each board."""
        counts = [
            Count(board, n, self.is_exact(n), self.device, self.jobs, self.stats, self.estimates)
            for board, n in zip(self.boards, self.numbers.tolist(), strict=True)
        ]
        if self.ended_after is not None:
            counts = [replace(count, ended_after=self.ended_after) for count in counts]
        return counts

    def _solutions(self) -> Iterator[Solution]:
        assert self.solutions is not None
        rows = host_array(self.solutions)
        for board, cells, n in zip(self.boards, rows, self.numbers.tolist(), strict=True):
            solution = Board.of_digits(cells.copy(), board.geometry) if n else None
            yield Solution(board, solution, self.is_unique(n), self.stats)

    def chosen(self, mask: Any) -> Self:
        """Return the results for which the mask, bool (B), is true; or those of a slice."""
        boards = self.boards.chosen(host_array(mask))
        return replace(super().chosen(mask), boards=boards, lines=None)

    def is_exact(self, count: int) -> bool:
        """Tell whether one of the counts is exact."""
        return self.ended_after is None and (self.limit is None or count < self.limit)

    def is_unique(self, count: int) -> bool | None:
        """Tell whether one of the counts means a single solution; None if a limit hides that."""
        return None if self.ended_after and count < 2 else is_unique(count, self.limit)

    @property
    def is_undecided(self) -> bool:
        """True if the time limit hides whether the board has one solution, several or none."""
        return self.ended_after is not None and bool((self.numbers < 2).all())

    def text(self, count: int) -> str:
        """Write one of the counts as it is shown: ``N+`` for N or more."""
        return decimal_digits(count) + "+" * (not self.is_exact(count))


@dataclass(frozen=True)
class BadBoard:
    """A board that could not be read, in the place of its result: see ``count_many``.

    It is no number: to add it, to order it, or to ask whether it is true, is an error. Among blocks
    it is a block of one board.
    """

    index: int
    """Its place among the boards, from 0."""
    error: InputError
    """The error, with its place."""

    @property
    def numbers(self) -> NDArray[Any]:
        """An array (1) that holds None."""
        return np.array([None], object)

    def __bool__(self) -> bool:
        raise InputError(str(self.error))

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[BadBoard]:
        yield self

    def part(self, start: int, end: int) -> BadBoard:
        """Return it as it is: there is no smaller part."""
        return self
