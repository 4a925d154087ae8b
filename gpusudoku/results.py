"""What a count says: the number, how it was found, and what that took."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Any

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board


def decimal_digits(number: int) -> str:
    """All digits of an integer; ``str`` refuses those of more than 4300, which boards can have."""
    return str(Decimal(number))


@dataclass
class Stats:
    """What a count did. Times are in seconds, without start-up and compiling."""

    empty_cells: int = 0
    filling_factor: float = 0.0
    """Filled cells as a share of all cells."""
    search_space: int = 0
    """Product of the candidate counts of all empty cells."""
    strategy: str = ""
    propagate: str = ""
    cutoff: float | None = None
    """How large frontier boards may be; None if only their number mattered."""
    cutoff_by: str = "space"
    """Whether the cutoff is a search space or a number of empty cells."""
    cutoff_reached: bool = True
    """False if the frontier reached its memory cap before."""
    frontier_width: int = 0
    """Frontier boards that the device wants, by default."""
    frontier_boards: int = 0
    boards_explored: int = 0
    """Partial boards made: the root, and one more for every guess."""
    nodes: int = 0
    """Boards looked at, those of the widening included."""
    deepest: int = 0
    """Boards waiting on one stack, at most."""
    products: int = 0
    """Products that a contraction added up."""
    search_estimate: float | None = None
    """What a search was estimated to take on one core, in seconds of a machine of 2024."""
    contraction_estimate: float | None = None
    """The same of a contraction."""
    no_contraction: str = ""
    """Why there could be no contraction."""
    seconds: float = 0.0
    expansion_seconds: float = 0.0
    utilisation: list[float] = field(default_factory=list)
    """Share of the exploring time that every worker was at work."""

    def describe(self, board: Board) -> None:
        """Fill in the size of the board that was searched."""
        self.empty_cells = board.empty_cells
        self.filling_factor = board.filling_factor
        self.search_space = board.search_space


@dataclass(frozen=True)
class Count:
    """The number of solutions of a board.

    ``count`` is exact if ``exact``; if not, a limit was given and the count is that or more.
    """

    board: Board
    count: int
    exact: bool
    method: str
    device: str
    jobs: int
    """Workers: CPU threads or GPUs."""
    stats: Stats

    def __str__(self) -> str:
        return f"{self.count}" if self.exact else f"{self.count}+"

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON types; integers that may exceed 2^53 are strings."""
        stats = asdict(self.stats)
        stats["search_space"] = decimal_digits(self.stats.search_space)
        return {
            "board": str(self.board),
            "box": str(self.board.geometry),
            "count": str(self.count),
            "exact": self.exact,
            "method": self.method,
            "device": self.device,
            "jobs": self.jobs,
            **stats,
        }


@dataclass(frozen=True)
class Counts:
    """What came of boards that were counted together; iterating gives a ``Count`` for each."""

    boards: Batch
    counts: list[int]
    """At most the limit."""
    limit: int | None
    """Counts that reach it are not exact."""
    method: str
    device: str
    jobs: int
    stats: Stats
    """What was done for all of them."""

    @classmethod
    def of(cls, count: Count, limit: int | None) -> Counts:
        """The count of a single board."""
        return cls(
            Batch.of([count.board]), [count.count], limit, count.method, count.device, count.jobs,
            count.stats,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.counts)

    def __iter__(self) -> Iterator[Count]:
        for board, count in zip(self.boards, self.counts, strict=True):
            exact = self.is_exact(count)
            yield Count(board, count, exact, self.method, self.device, self.jobs, self.stats)

    def is_exact(self, count: int) -> bool:
        """Whether one of the counts is exact."""
        return self.limit is None or count < self.limit
