"""What those who run a plan need to know of a device: every engine keeps to ``Engine``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from gpusudoku.contraction.protocol import Contraction
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
    """The most boards that waited on one stack."""


class Engine(Protocol):
    """A device that searches and contracts."""

    name: str
    """``cpu`` or ``cuda``."""
    workers: int
    """How many workers run at once."""
    threads: int
    """How many CPU threads do what the device has no kernel for."""
    most_boards: int
    """The most boards of a batch that are worth searching together."""
    side_by_side: int
    """How many such blocks it searches at a time, each in the thread that runs a plan of it with
    ``CpuEngine(1)``; 1 if they are searched one after the other."""

    def prepare(self, frontier: Frontier, settings: SearchSettings) -> int:
        """Compile, so that ``explore`` only explores; returns how many boards keep it busy."""

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
        tasks: range | None,
        job: Job,
        memory: int,
        progress: Callable[[Progress], None] | None = None,
    ) -> int:
        """Run the job: some tasks of a contraction (None: all), in ``memory`` bytes.

        Returns how many products were added up.
        """
