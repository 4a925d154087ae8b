"""Results of counting and solving: numbers, solutions and statistics of one board or of many."""

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
"""Digits of a count that a notebook shows in full. Longer ones are shown as ``about 1.234e+99``."""

_PLAIN_FORMAT = re.compile(r"(.?[<>^])?(\d*)([,_]?)d?")
"""The formats that also work for ``1,000+``: alignment, width, separator of thousands."""


def decimal_digits(number: int) -> str:
    """Return all digits of an integer.

    ``str`` refuses integers of more than 4300 digits, and counts of large boards can have more.
    """
    return str(Decimal(number))


@dataclass(frozen=True)
class SearchStats:
    """Statistics of a search. Times are in seconds, without start-up and compilation."""

    method: ClassVar[str] = "search"
    strategy: str
    """The strategy that chose the cell to guess."""
    propagate: str
    """The techniques that were applied at every node."""
    cutoff: float | None
    """The cutoff for frontier boards; None if the frontier was expanded to a number of boards."""
    cutoff_by: str
    """What the cutoff limits: ``space``, the search space, or ``empty``, the empty cells."""
    cutoff_reached: bool
    """False if the frontier reached its largest allowed size before the cutoff."""
    frontier_width: int
    """The number of frontier boards that the device needs to be busy."""
    frontier_boards: int
    """The number of frontier boards made; 1, the board itself, if a quick search was enough."""
    boards_explored: int
    """Partial boards made: the board itself, and one more for every guess."""
    nodes: int
    """Partial boards visited, including those visited while making the frontier."""
    deepest: int
    """The largest number of boards on one stack."""
    seconds: float
    """The time of the whole search."""
    expansion_seconds: float
    """The part of ``seconds`` that making the frontier took."""
    utilisation: tuple[float, ...]
    """For every worker, the fraction of the remaining time in which it worked. For a CPU thread
    that is its time on a core."""
    launches: int = 0
    """Launches of the kernel on GPUs; 0 if the CPU searched."""
    gpu: str = ""
    """The name of the GPU, or of several; empty if the CPU searched."""
    gpu_threads: int = 0
    """The number of threads in a launch."""
    gpu_busy: float = 0.0
    """The fraction of these threads that had a board, averaged over the time of all launches."""


@dataclass(frozen=True)
class ContractionStats:
    """Statistics of a contraction. Times are in seconds, without start-up and compilation."""

    method: ClassVar[str] = "contraction"
    products: int
    """The number of products added up."""
    seconds: float
    """The time of the whole contraction."""
    utilisation: tuple[float, ...]
    """For every worker, the fraction of the time of the sum in which it worked."""
    on_gpu: bool = False
    """True if GPUs added the products. The CPU always makes the lists and tensors."""
    gpu: str = ""
    """The name of the GPU, or of several; empty if the CPU added the products."""


def numbers_of(counts: Sequence[int]) -> NDArray[Any]:
    """Return counts as an array (B): int64, or object (Python integers) if one exceeds int64."""
    # NumPy would convert larger integers to floats, or to uint64.
    fits = max(counts, default=0) < 1 << 63
    return np.array(counts, np.int64 if fits else object)


Stats = SearchStats | ContractionStats


@dataclass(frozen=True)
class Estimates:
    """Estimated times from which a method was chosen, in seconds on the reference core.

    The reference core is one core of a typical CPU of 2024.
    """

    search_seconds: float | None = None
    """The time of a search; None if it was not estimated."""
    contraction_seconds: float | None = None
    """The time of a contraction; None if it was not estimated, or no contraction is possible."""
    no_contraction: str = ""
    """The reason why no contraction is possible, if one was considered."""

    def seconds_of(self, method: str) -> float | None:
        """Return the estimated seconds of a method; None if it was not estimated."""
        return {"search": self.search_seconds, "contraction": self.contraction_seconds}[method]


def _arithmetic(operation: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Make two methods of ``Count``: for its number as the first operand, and as the last."""
    return (
        lambda count, *operands: operation(operator.index(count), *operands),
        lambda count, operand: operation(operand, operator.index(count)),
    )


@dataclass(frozen=True, repr=False, eq=False)
class Count:
    """The number of solutions of a board.

    If ``exact`` is true, ``count`` is the number. Otherwise a limit was reached, and ``count`` is a
    lower bound.

    An exact count behaves like the number in comparisons, arithmetic, ``int``, ``bool``, ``hash``,
    ``round`` and formats. A count that is not exact equals only itself. Comparing it with another
    number works if the lower bound decides the comparison. ``bool`` is true if a solution was
    found, and formats show ``1,000+``. Everything else raises a ValueError.
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
    """Statistics of the count. Boards of a batch share those of all boards counted together."""
    estimates: Estimates | None = None
    """The estimates from which the method was chosen; None for a board of a batch."""
    ended_after: float | None = None
    """The time limit in seconds, if it ended the count."""

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Count):
            # Two lower bounds may be equal although the counts differ.
            return self is other or (self.exact and other.exact and self.count == other.count)
        return self.exact and self.count == other

    def __hash__(self) -> int:
        # Equal to an integer, so it must have the hash of the integer.
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
        """Compare with another number. Raise a ValueError if the outcome is unknown."""
        if self is other:
            return holds(self.count, self.count)
        is_count = isinstance(other, Count)
        other_bounds = other._bounds if is_count else [other]
        outcomes = [
            holds(bound, other_bound) for bound in self._bounds for other_bound in other_bounds
        ]
        # The comparison holds for all numbers between the bounds, for none, or it is unknown.
        if any(outcome != outcomes[0] for outcome in outcomes[1:]):
            limited = other if self.exact else self
            limited._unknown(f"compare {self} with {other if is_count else described(other)}")
        return outcomes[0]

    @property
    def _bounds(self) -> list[float]:
        """Return the smallest and the largest possible number."""
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
        """Raise an InputError that explains why the number is unknown."""
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
        # Decimal, because ``str`` refuses integers of more than 4300 digits.
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
        """Write the number of solutions, a very long one in scientific notation."""
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
        """True if there is a solution; None if the time limit ended the work too early to know."""
        return None if self.count == 0 and not self.exact else bool(self)

    @property
    def unique(self) -> bool | None:
        """True if there is exactly one solution; None if the limit ended the count too early."""
        return self.count == 1 if self.exact or self.count > 1 else None

    def as_dict(self) -> dict[str, Any]:
        """Return all fields as JSON types; integers that may exceed 2^53 are strings."""
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
    """The result of ``solve``. It is true if a solution was found."""

    error: ClassVar[InputError | None] = None
    """None; a ``BadBoard`` has its error here."""
    puzzle: Board
    """The board that was solved."""
    board: Board | None
    """A solution, or None if no solution was found."""
    unique: bool | None
    """True if the solution is unique; None if no second one was searched for, or time ended."""
    stats: Stats
    """Statistics of the search. Boards of a batch share those of all boards solved together."""

    def __bool__(self) -> bool:
        return self.board is not None

    @property
    def solvable(self) -> bool | None:
        """True if there is a solution; None if the time limit ended the work too early to know."""
        return None if self.board is None and self.unique is None else bool(self)

    def __str__(self) -> str:
        """Return a description: ``the only solution``, ``one of several solutions`` and so on."""
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
    """Return whether a count means a unique solution; None if the limit was 1 and reached."""
    return None if count == limit == 1 else count == 1


@dataclass(frozen=True)
class ResultBlock(RowBlock):
    """Results of boards that were counted or solved together, in columns of B rows.

    Iterating yields a ``Solution`` for each board if there are solutions, else a ``Count``.
    """

    # ``boards`` is a column, too, but always in main memory.
    _COLUMNS = ("numbers", "solutions", "shares", "errors")
    boards: Batch
    numbers: NDArray[Any]
    """int64 (B), or object (Python integers) if one exceeds int64: the number of solutions of each
    board, at most the limit."""
    limit: int | None
    """The number of solutions at which counting stops. Counts that reach it are not exact."""
    device: str
    """``cpu`` or ``cuda``."""
    jobs: int
    """The number of workers."""
    stats: Stats
    """Statistics of the whole block."""
    estimates: Estimates | None = None
    """The estimates from which the method was chosen, if the block has a single board."""
    continued: bool = False
    """True if the statistics include boards of earlier blocks."""
    ended_after: float | None = None
    """The time limit in seconds, if it ended the work. Then the block has a single board."""
    solutions: NDArray[np.uint8] | None = None
    """uint8 (B, n * n): a solution of every board that has one; rows of 0 for other boards."""
    shares: NDArray[Any] | None = None
    """object (B, n * n, n): the number of solutions with each digit in each cell."""
    errors: NDArray[Any] | None = None
    """object (B): a ``TooExpensive`` for each board whose shares are too expensive, else None. The
    shares of these boards are 0."""
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

    def select(self, rows: Any, /) -> Self:
        """Return some rows, given as a slice, a mask, bool (B), or indices, int64 (k)."""
        boards = self.boards.select(host_array(rows))
        return replace(super().select(rows), boards=boards, lines=None)

    def is_exact(self, count: int) -> bool:
        """Return whether a count of this block is exact."""
        return self.ended_after is None and (self.limit is None or count < self.limit)

    def is_unique(self, count: int) -> bool | None:
        """Return whether a count of this block is exactly 1; None if a limit hides that."""
        if self.ended_after and count < 2:
            return None  # the rest of the search could find another solution
        return is_unique(count, self.limit)

    @property
    def is_undecided(self) -> bool:
        """True if the time limit hides whether the board has one solution, several or none."""
        return self.ended_after is not None and bool((self.numbers < 2).all())

    def text(self, count: int) -> str:
        """Return a count of this block as text: ``N+`` for a lower bound."""
        return decimal_digits(count) + "+" * (not self.is_exact(count))


@dataclass(frozen=True)
class BadBoard:
    """The result for a board that could not be read: see ``count_many``.

    It is not a number: adding it, comparing it, or using it as a condition is an error. Among
    blocks it is a block of one board.
    """

    index: int
    """The index of the board, from 0."""
    error: InputError
    """The error, which names the place in the input."""

    @property
    def numbers(self) -> NDArray[Any]:
        """An array (1) that contains None."""
        return np.array([None], object)

    def __bool__(self) -> bool:
        raise InputError(str(self.error))

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[BadBoard]:
        yield self

    def part(self, start: int, end: int) -> BadBoard:
        """Return the block itself: it has only one board."""
        return self
