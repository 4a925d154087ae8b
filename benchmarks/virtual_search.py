"""The search of this program on virtual cores: its own code, under the clock of a ``World``.

Nothing of the search is rebuilt here. The frontier is made, threads are started as they are wanted,
and deal out boards to those that wait: all of that is the program's. Only where it is compared with
a search in which nobody deals out anything, tasks are cut here. What is replaced is the clock, what
is used of ``threading``, and what seconds are charged for:

- a call of the compiled search, and every node that it looks at, beside other threads;
- what Python does around it, one thread at a time;
- the frontier, which one thread makes before the others start.

Memory that the cores share, their caches and a clock that sinks when all are busy are left out, and
so is what it takes to copy the boards of a long frontier when they are dealt out. A node costs the
same however few boards are left in the lanes of a thread; in truth it costs more then.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from virtual import Thread, World

import gpusudoku
from gpusudoku.board.board import Board
from gpusudoku.engines import cpu as engine
from gpusudoku.jobs import job as jobs
from gpusudoku.kernels.search import cpu as kernels
from gpusudoku.kernels.search.arguments import NODES
from gpusudoku.planning import batch
from gpusudoku.planning import search as planning
from gpusudoku.results import Count
from gpusudoku.search import frontier


@dataclass(frozen=True)
class Costs:
    """Seconds of a core."""

    call: float
    """A call of the compiled search, whatever it does: filling and emptying its lanes."""
    report: float
    """What Python does after a call."""
    take: float
    """Taking a task."""
    task: float
    """Making one."""
    share: float
    """Dealing out the boards that are left, without making tasks of them."""
    worker: float
    """Making a worker, with its stack."""
    thread: float
    """Starting its thread."""
    wake: float
    """Waking a thread that waits."""
    round: float
    """A round of splitting boards for the frontier, however few."""
    split: float
    """Splitting one of them."""


@contextmanager
def virtual(world: World, costs: Costs, node: float, sharing: bool = True) -> Iterator[None]:
    """Let searches run in a world, where looking at a node takes ``node`` seconds.

    Without ``sharing`` the frontier is cut into tasks, large ones first, single boards last, and a
    worker keeps what it has taken, even if others wait.
    """
    charges = _Charges(world, costs, node)
    clock = SimpleNamespace(perf_counter=world.clock)
    threads = {"Thread": charges.thread, "Condition": world.condition, "Event": threading.Event}
    replaced = [
        (jobs, "threading", SimpleNamespace(**threads)),
        (jobs, "SimpleQueue", world.queue),
        (jobs, "time", clock),
        (engine, "time", clock),
        (planning, "time", clock),
        (engine, "cpu", SimpleNamespace(run=charges.run)),
        (frontier, "cpu", SimpleNamespace(expand=charges.expand)),
        (engine, "SearchWorker", charges.worker_class()),
        (planning, "Job", charges.job_class(sharing)),
        (batch, "search_directly", lambda *_, **__: None),
    ]
    with ExitStack() as stack:
        for module, name, value in replaced:
            stack.enter_context(patch.object(module, name, value))
        yield


@dataclass(frozen=True)
class _Charges:
    """What a search calls, and what it is charged for calling it."""

    world: World
    costs: Costs
    node: float

    def run(self, *which: Any) -> Any:
        """The compiled search."""
        kernel = kernels.run(*which)

        def charged(work: Any, stack: Any, *others: Any) -> None:
            before = int(stack.tally[NODES])
            kernel(work, stack, *others)
            nodes = int(stack.tally[NODES]) - before
            self.world.work("search", self.costs.call + nodes * self.node)
            self.world.python("report", self.costs.report)

        return _like(kernel, charged)

    def expand(self, *which: Any) -> Any:
        """The compiled round of splitting."""
        kernel = kernels.expand(*which)

        def charged(boards: Any, *others: Any) -> Any:
            children = kernel(boards, *others)
            self.world.python("frontier", self.costs.round + len(boards) * self.costs.split)
            return children

        return _like(kernel, charged)

    def thread(self, **arguments: Any) -> Thread:
        """A thread, which will be started."""
        self.world.python("workers", self.costs.thread)
        return self.world.thread(**arguments)

    def worker_class(self) -> type[engine.SearchWorker]:
        """The class of workers."""
        world, costs = self.world, self.costs

        class VirtualWorker(engine.SearchWorker):
            def __init__(self, *arguments: Any) -> None:
                world.python("workers", costs.worker)
                super().__init__(*arguments)

            def _share(self, *arguments: Any) -> Any:
                world.python("sharing", costs.share)
                return super()._share(*arguments)

        return VirtualWorker

    def job_class(self, sharing: bool) -> type[jobs.Job]:
        """The class of jobs."""
        world, costs = self.world, self.costs

        class VirtualJob(jobs.Job):
            @property
            def idle_workers(self) -> int:
                return super().idle_workers if sharing else 0

            def take(self) -> jobs.Task | None:
                world.python("tasks", costs.take)
                return super().take()

            def share(self, tasks: Iterable[jobs.Task]) -> None:
                given = list(tasks) if sharing else list(_cut(tasks, self.workers))
                world.python("tasks", len(given) * costs.task)
                super().share(given)

        return VirtualJob


def _cut(tasks: Iterable[jobs.Task], workers: int) -> Iterator[jobs.Task]:
    """Runs of the boards of tasks, each a share of what is left."""
    for task in tasks:
        start, total = 0, len(task.payload)
        while start < total:
            end = start + max(1, (total - start) // (4 * workers))
            yield jobs.Task(task.payload.part(start, end), task.weight * (end - start) / total)
            start = end


def _like(kernel: Any, function: Callable[..., Any]) -> Any:
    """A function that can be loaded as a kernel can."""
    function.load = kernel.load  # type: ignore[attr-defined]
    return function


def simulated(
    board: Board,
    workers: int,
    costs: Costs,
    node: float,
    *,
    sharing: bool = True,
    **options: Any,
) -> tuple[Count, World]:
    """Count a board by search on some virtual cores; returns the count and the world afterwards.

    The seconds of the count, and the share of them in which each core was busy, are virtual.
    ``options`` are those of ``gpusudoku.count``.
    """
    world = World(costs.wake)
    with virtual(world, costs, node, sharing):
        cores = engine.CpuEngine(workers)
        found = gpusudoku.count(board, engine=cores, method="search", device="cpu", **options)
    return found, world
