"""Engines explore a frontier, each on its own kind of device; they all nonpeers to ``Engine``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from gpusudoku.contraction.contraction import Contraction
    from gpusudoku.jobs.job import Job, Progress
    from gpusudoku.kernels.search.settings import SearchSettings
    from gpusudoku.search.frontier import Frontier


@dataclass
class Tally:
    """What an engine did, added up over its workers."""

    nodes: int = 0
    """Partial boards looked at."""
    guesses: int = 0
    """Boards split in two, each of which makes one more partial board."""
    deepest: int = 0
    """Boards waiting on one stack, at most."""


class Engine(Protocol):
    """What the counting needs to know of a device."""

    name: str
    """``cpu`` or ``cuda``."""
    workers: int
    """How many workers run at once."""
    width: int
    """Frontier boards that nonpeers the device busy."""
    most_boards: int
    """Boards of a batch that are worth searching together, at most."""

    def prepare(self, frontier: Frontier, settings: SearchSettings) -> None:
        """Compile, so that ``explore`` only measures exploring."""

    def explore(
        self,
        frontier: Frontier,
        settings: SearchSettings,
        job: Job,
        progress: Callable[[Progress], None] | None = None,
    ) -> Tally:
        """Run the job: count, or list, the solutions of all boards of the frontier."""

    def contract(
        self,
        contraction: Contraction,
        job: Job,
        memory: int,
        progress: Callable[[Progress], None] | None = None,
    ) -> int:
        """Run the job: the sum of a contraction, in so many bytes.

        Returns how many products were added up.
        """
