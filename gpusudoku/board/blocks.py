"""Batches, cut and joined to blocks that are worth an engine's while."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import Interrupted
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.jobs.job import Cost, Pace
from gpusudoku.jobs.ordered import By, InOrder

Result = TypeVar("Result")

FIRST_BOARDS = 16
"""Boards in the first block: whoever streams boards that take long sees the first results soon."""
BLOCK_SECONDS = 0.5
"""A block should take about this long to read and to work on, by all threads together."""
THREAD_SECONDS = 0.025
"""A block that one thread works on should take about this long: what comes of AHEAD such blocks for
each thread is kept in memory."""
QUICK_SECONDS = 0.1
"""Blocks are one thread's each while reading one takes less time, and all cores together need less
for one."""
SMALL_SECONDS = 0.002
"""A block that takes less time is not worth handing to another thread: what surrounds the compiled
loops takes longer than these, and only one thread at a time can do that."""
PAUSE_SECONDS = 0.1
"""Whoever makes the boards of a stream and waits for so long gets what comes of them."""
PATIENCE_SECONDS = 0.5
"""After this time a thread puts a block down, and all threads work on it together."""


Do = Callable[[Batch, bool], Generator[Any, None, None]]
"""Gives the results of a block in its order.

Either all threads work on it together; or only the thread that calls does, *alone*, while others
work on other blocks: what is better done by all threads is then given as ``Later``.
"""


@dataclass(frozen=True)
class Later(Generic[Result]):
    """Results that all threads are to work out together, as they are asked for."""

    results: Generator[Result, None, None]


@dataclass(frozen=True)
class Work:
    """What is done to boards in blocks; see ``in_blocks``."""

    do: Do
    most: int
    threads: int = 1

    def on(self, batches: Iterable[Batch]) -> Generator[Any, None, None]:
        """Do it."""
        return in_blocks(batches, self.most, self.do, self.threads)

    def then(self, function: Callable[[Any], Any]) -> Work:
        """Make work that gives what a function makes of every result, in the thread that has it."""

        def do(block: Batch, alone: bool) -> Generator[Any, None, None]:
            for piece in self.do(block, alone):
                if isinstance(piece, Later):
                    yield Later(function(result) for result in piece.results)
                else:
                    yield function(piece)

        return replace(self, do=do)


def in_blocks(
    batches: Iterable[Batch],
    most: int,
    do: Do,
    threads: int = 1,
) -> Generator[Any, None, None]:
    """Work on boards in blocks, and give what comes of each, in the order of the boards.

    A block has one geometry and FIRST_BOARDS boards at first. Blocks grow while they are quick;
    the time in which the caller handles results does not count. Fewer boards come where the
    geometry changes, at the end, and before an error of reading, which is raised once all boards
    before it were worked on.

    All threads work on the first block of a geometry together. As long as blocks are quick, each
    thread has one of its own, and the one that reads does those at once that are hardly any work. A
    block that turns out to take long is done anew by all threads.

    Parameters
    ----------
    batches
        Read as they are needed, by the thread that iterates.
    most
        The number of boards in a block, at most.
    do
        Gives the results of a block.
    threads
        How many there are, the one that iterates included; 1 if blocks are never to be worked on
        side by side.
    """
    return _Flow(batches, most, do, threads).results()


@dataclass(frozen=True)
class _Cut:
    """A block, and how it was come by."""

    block: Batch
    size: int
    """How many boards it was to have."""
    seconds: float
    """How long it was read."""

    @property
    def full(self) -> bool:
        return len(self.block) == self.size


class _Flow:
    """Boards on their way from batches to results."""

    def __init__(self, batches: Iterable[Batch], most: int, do: Do, threads: int) -> None:
        self._batches, self._do, self._threads = batches, do, threads
        self._pace = Pace(FIRST_BOARDS, BLOCK_SECONDS, most)
        self._quick = False
        """Whether blocks are quick enough for each to be one thread's."""
        self._costs: dict[Geometry, Cost] = {}
        """What a board takes, of each shape that there was: its kernels are compiled."""

    def results(self) -> Generator[Any, None, None]:
        """Work on all boards."""
        with closing(
            InOrder(self._cuts(), self._by_one, self._threads, PATIENCE_SECONDS, self._by)
        ) as ordered:
            for done in ordered:
                if done.result is None:
                    ordered.settle()
                    yield from self._by_all(done.item)
                    continue
                self._learn(done.item, done.seconds)
                for piece in done.result:
                    if isinstance(piece, Later):
                        ordered.settle()
                        yield from piece.results
                    else:
                        yield piece

    def _cuts(self) -> Iterator[_Cut]:
        """The blocks as they are read."""
        blocks = cut_blocks(self._batches, self._pace)
        while True:
            start, size = time.perf_counter(), self._pace.size
            block = next(blocks, None)
            if block is None:
                return
            yield _Cut(block, size, time.perf_counter() - start)

    def _by(self, cut: _Cut) -> By:
        """Who is to work on a block: its own thread, this one, or all together."""
        cost = self._costs.get(cut.block.geometry)  # if there is none, kernels may be compiled
        # Nobody waits with results for boards that come slowly.
        if not self._quick or cost is None or cut.seconds > QUICK_SECONDS:
            return By.NONE
        return By.READER if cost.of(len(cut.block)) < SMALL_SECONDS else By.ANY

    def _by_all(self, cut: _Cut) -> Generator[Any, None, None]:
        """Have all threads work on a block."""
        spent, start = np.array([cut.seconds, 0.0]), _clocks()
        with closing(self._do(cut.block, False)) as results:
            for result in results:
                spent += _clocks() - start
                yield result
                start = _clocks()
        spent += _clocks() - start
        self._pace.took(spent[0], full=cut.full)
        # Threads that wait for a core, or for others, would take less alone.
        self._quick = self._threads > 1 and spent[1] < QUICK_SECONDS
        self._costs.setdefault(cut.block.geometry, Cost())

    def _learn(self, cut: _Cut, seconds: float) -> None:
        """Learn from how long one thread worked on a block."""
        self._costs[cut.block.geometry].took(seconds, len(cut.block))
        # Blocks that were cut before the pace changed say nothing of the size that it has.
        if cut.size == self._pace.size:
            self._pace.took(seconds * BLOCK_SECONDS / THREAD_SECONDS, full=cut.full)

    def _by_one(self, cut: _Cut) -> list[Any]:
        """Work on a block in this thread."""
        return list(self._do(cut.block, True))


def _clocks() -> NDArray[np.float64]:
    """Seconds by the clock, and those that all threads were on cores."""
    return np.array([time.perf_counter(), time.process_time()])


def cut_blocks(batches: Iterable[Batch], pace: Pace) -> Iterator[Batch]:
    """Cut and join batches to blocks of the size that is wanted when each is asked for.

    Those that came before a pause wait for no more than one batch after it.
    """
    held: list[Batch] = []
    boards = 0
    error: Exception | None = None
    try:
        asked = time.perf_counter()
        for batch in batches:
            check_cancelled()
            paused = time.perf_counter() - asked > PAUSE_SECONDS
            if held and batch.geometry != held[0].geometry:
                yield Batch.joined(held)
                held, boards = [], 0
            start = 0
            while boards + len(batch) - start >= pace.size:
                end = start + pace.size - boards
                yield Batch.joined([*held, batch.part(start, end)])
                held, boards, start = [], 0, end
            if start < len(batch):
                held.append(batch.part(start, len(batch)))
                boards += len(batch) - start
            if held and paused:
                yield Batch.joined(held)
                held, boards = [], 0
            asked = time.perf_counter()
    except Interrupted:  # nor does a cancellation wait for its turn, nor Ctrl-C
        raise
    except Exception as caught:
        error = caught
    if held:
        yield Batch.joined(held)
    if error is not None:
        raise error
