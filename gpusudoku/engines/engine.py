"""The interface of all engines, and the data that they exchange."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, NamedTuple, Protocol
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.protocol import Contraction
from gpusudoku.errors import DeviceError
from gpusudoku.jobs.job import Job
from gpusudoku.kernels.search.shape import SearchSettings
from gpusudoku.search.frontier import Frontier


@dataclass
class WorkCounters:
    """The work of an engine, added up over its workers."""

    nodes: int = 0
    """Partial boards visited."""
    guesses: int = 0
    """Boards split in two. Each split makes one more partial board."""
    deepest: int = 0
    """The largest number of boards on one stack."""
    products: int = 0
    """Products of a contraction that were added."""
    gpus: list[str] = field(default_factory=list)
    """The names of the GPUs that worked, sorted, each once; empty if only the CPU worked."""
    launches: int = 0
    """Launches of a search on GPUs; 0 if the CPU searched."""
    threads: int = 0
    """Threads of a launch; the largest number if GPUs differ."""
    thread_seconds: float = 0.0
    """The sum, over all launches, of the seconds times the threads."""
    busy_seconds: float = 0.0
    """The same sum for threads with a board: the mean of the numbers before and after a launch."""

    def add(self, other: WorkCounters) -> None:
        """Add the counters of other work."""
        self.nodes += other.nodes
        self.guesses += other.guesses
        self.deepest = max(self.deepest, other.deepest)
        self.products += other.products
        self.gpus = sorted({*self.gpus, *other.gpus})
        self.launches += other.launches
        self.threads = max(self.threads, other.threads)
        self.thread_seconds += other.thread_seconds
        self.busy_seconds += other.busy_seconds

    @property
    def gpu_search(self) -> dict[str, Any]:
        """The fields of ``SearchStats`` about GPUs; empty if the CPU searched."""
        if not self.gpus:
            return {}
        busy_share = self.busy_seconds / self.thread_seconds if self.thread_seconds else 0.0
        return {
            "launches": self.launches,
            "gpu": ", ".join(self.gpus),
            "gpu_threads": self.threads,
            "gpu_busy": busy_share,
        }


class BegunSearch(NamedTuple):
    """A search that has begun: its results so far, and the remaining boards."""

    roots: Frontier
    """The boards that are searched, packed; empty if the search is finished."""
    remaining: Frontier
    """The remaining boards, with the nodes and guesses so far; empty if the search is finished."""
    number: int
    """The number of solutions so far, at most the limit."""
    counters: WorkCounters
    seconds: float
    solutions: NDArray[np.uint8]
    """uint8 (number, n * n): the solutions in the order in which they were found, if listed."""

    @property
    def is_finished(self) -> bool:
        """True if no boards remain, or the limit is reached."""
        return not len(self.remaining)


Sums = list[tuple[range, int]]
"""Ranges of tasks of a contraction, each with its sum."""


def warn_of(error: DeviceError) -> None:
    """Warn about a GPU that cannot be used, or that failed while others continue."""
    warn(str(error), RuntimeWarning, stacklevel=2)


class Priced(Protocol):
    """Work with an estimated time, such as a plan."""

    @property
    def method(self) -> str:
        """``search`` or ``contraction``."""

    @property
    def seconds(self) -> float:
        """The estimated seconds on the reference core, computed when they are needed."""


class Engine(Protocol):
    """A device that searches and contracts. The default methods suit an engine for one device."""

    kind: str
    """The device that works: ``cpu`` or ``cuda``. An ``AutoEngine`` is ``cpu``; see ``best``."""
    device: str
    """The value of the option ``device``: ``cpu``, ``cuda`` or, for an ``AutoEngine``, ``auto``."""
    threads: int
    """The number of CPU threads, for work without a kernel for the device."""
    max_boards: int
    """The largest number of boards in a block of a batch."""
    parallel_blocks: int
    """The number of blocks that are processed at the same time, one per thread."""

    @property
    def workers(self) -> int:
        """The number of workers that run at the same time. It decreases if a GPU fails."""

    @property
    def has_gpu(self) -> bool:
        """True if the engine uses GPUs."""
        return self.kind == "cuda"

    @property
    def gpu_names(self) -> Sequence[str]:
        """The names of the GPUs that the engine uses."""
        return ()

    @property
    def for_block(self) -> Engine:
        """The engine for one of several blocks that are processed at the same time."""
        return self

    def seconds(self, core_seconds: float, method: str, geometry: Geometry) -> float:
        """Convert seconds on the reference core to the expected seconds on this device."""

    def gpu_seconds(self, core_seconds: float, method: str, geometry: Geometry) -> float:
        """Convert seconds on the reference core to those on GPUs, including their start.

        Return inf if GPUs have no kernel for the work.
        """
        return inf

    def best(self, work: Priced, geometry: Geometry, share: float = 1.0) -> Engine:
        """Return the engine for a fraction of ``work``. An ``AutoEngine`` chooses a device."""
        return self

    def for_long_work(self) -> Engine:
        """Return the engine for long work: the GPUs, if they can be used."""
        return self

    def quick_search(
        self,
        board: Batch,
        settings: SearchSettings,
        limit: int | None,
        *,
        listed: bool = False,
        compile_search: Callable[[], None] = lambda: None,
    ) -> BegunSearch | None:
        """Search the only board of a batch for a short time, or return None.

        Parameters
        ----------
        board
            A batch of one board.
        settings, limit
            The settings and the limit of the search.
        listed
            Whether to return the solutions.
        compile_search
            A function that is called if the search is not compiled. It may compile it.

        Returns
        -------
        The search so far. None on a GPU, if the search is still not compiled, or if too many
        solutions would be listed.
        """
        return None

    def prepare(self, frontier: Frontier, settings: SearchSettings) -> int:
        """Compile what ``explore`` needs. Return the number of boards that keep the engine busy."""

    def explore(self, frontier: Frontier, settings: SearchSettings, job: Job) -> WorkCounters:
        """Run the job on all boards of a frontier. Remaining tasks have ``Frontier`` payloads."""

    def contract(
        self, contraction: Contraction, tasks: Sequence[range], job: Job, memory: int, sums: Sums
    ) -> WorkCounters:
        """Run the job on tasks of a prepared contraction, in at most ``memory`` bytes.

        The sums of all finished ranges of tasks are appended to ``sums``, also if the job is
        interrupted. The remaining tasks of a job that ends early have ``range`` payloads.
        """
