"""The interface of a device, which every engine keeps to."""

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
    """Partial boards looked at."""
    guesses: int = 0
    """Boards split in two, each of which makes one more partial board."""
    deepest: int = 0
    """The most boards that waited on one stack."""
    products: int = 0
    """Products of a contraction that were added up."""
    gpus: list[str] = field(default_factory=list)
    """The names of the GPUs that did it, sorted, each once; none if the CPU did."""
    launches: int = 0
    """Launches of a GPU's search; 0 if the CPU searched."""
    threads: int = 0
    """Threads of such a launch, at most."""
    thread_seconds: float = 0.0
    """Seconds of each launch times its threads, added up."""
    busy_seconds: float = 0.0
    """The same with the threads that had a board: the mean of those before and after the launch."""

    def add(self, other: WorkCounters) -> None:
        """Add other work."""
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
        """The fields of ``SearchStats`` that say what GPUs did; none if the CPU searched."""
        if not self.gpus:
            return {}
        busy = self.busy_seconds / self.thread_seconds if self.thread_seconds else 0.0
        return {
            "launches": self.launches,
            "gpu": ", ".join(self.gpus),
            "gpu_threads": self.threads,
            "gpu_busy": busy,
        }


class BegunSearch(NamedTuple):
    """A search that has begun: what remains of it, and what it found and took."""

    roots: Frontier
    """The boards that are searched, packed; none if it is finished."""
    remaining: Frontier
    """The boards that remain, with the nodes and guesses so far; none if it is finished."""
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
"""Runs of a contraction's tasks, and the sum of each."""


def warn_of(error: DeviceError) -> None:
    """Warn of a GPU that cannot be used, or is lost while others go on."""
    warn(str(error), RuntimeWarning, stacklevel=2)


class Priced(Protocol):
    """Work with an expected time, such as a plan."""

    @property
    def method(self) -> str:
        """``search`` or ``contraction``."""

    @property
    def seconds(self) -> float:
        """The expected seconds on the reference core, estimated when they are needed."""


class Engine(Protocol):
    """A device that searches and contracts. The defaults suit an engine for a single device."""

    kind: str
    """The device that works, unless ``best`` returns another engine: ``cpu`` or ``cuda``."""
    device: str
    """The value of the option ``device``: ``cpu``, ``cuda``, or ``auto`` for an ``AutoEngine``."""
    threads: int
    """The CPU threads for work without a kernel for the device."""
    most_boards: int
    """The largest number of boards in a block of a batch."""
    side_by_side: int
    """The number of blocks that are processed at a time, each by a thread of its own."""

    @property
    def workers(self) -> int:
        """The number of workers that run at once; it falls if a GPU is lost."""

    @property
    def has_gpu(self) -> bool:
        """True if the engine uses GPUs."""
        return self.kind == "cuda"

    @property
    def gpu_names(self) -> Sequence[str]:
        """The names of the GPUs that it uses."""
        return ()

    @property
    def for_block(self) -> Engine:
        """The engine for one of several blocks that are processed at a time."""
        return self

    def seconds(self, core_seconds: float, method: str, geometry: Geometry) -> float:
        """Convert seconds on the reference core to the expected seconds on this device."""

    def gpu_seconds(self, core_seconds: float, method: str, geometry: Geometry) -> float:
        """Convert seconds on the reference core to those on GPUs, including their start.

        inf if they have no kernel for the work.
        """
        return inf

    def best(self, work: Priced, geometry: Geometry, share: float = 1.0) -> Engine:
        """Return the engine for a share of some work; an engine for several devices chooses one."""
        return self

    def for_long_work(self) -> Engine:
        """Return the engine for work that takes long: that of the GPUs, if they can be used."""
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
        """Search the board of a batch of one briefly, and list its solutions if asked to.

        ``compile_search`` is called if the search is not compiled, and may compile it. None if the
        board is to be planned from the start: on a GPU, if the search is still not compiled, or if
        many solutions may be listed.
        """
        return None

    def prepare(self, frontier: Frontier, settings: SearchSettings) -> int:
        """Compile, so that ``explore`` only explores; return the boards that keep it busy."""

    def explore(self, frontier: Frontier, settings: SearchSettings, job: Job) -> WorkCounters:
        """Run the job on all boards of the frontier; one that ends early leaves a ``Frontier``."""

    def contract(
        self, contraction: Contraction, tasks: Sequence[range], job: Job, memory: int, sums: Sums
    ) -> WorkCounters:
        """Run the job: some tasks of a contraction that is prepared, in ``memory`` bytes.

        ``sums`` gets those of all runs of tasks that were summed, also if the job is interrupted.
        If it ends early, it leaves runs of tasks, ``range``.
        """
