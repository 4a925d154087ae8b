"""Batches, cut and joined to blocks that are worth an engine's while."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from gpusudoku.board.batch import Batch
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError
from gpusudoku.jobs.cancel import CancelToken
from gpusudoku.jobs.ordered import InOrder
from gpusudoku.jobs.pace import Pace

Result = TypeVar("Result")

FIRST_BOARDS = 16
"""Boards in the first block: whoever streams boards that take long sees the first results soon."""
BLOCK_SECONDS = 0.5
"""A block should take about this long to read and to work on, by all threads together."""
THREAD_SECONDS = 0.1
"""A block that one thread works on should take about this long."""
PATIENCE_SECONDS = 0.5
"""After this time a thread puts a block down, and all threads work on it together."""


class Work(Protocol):
    """What is done to blocks."""

    def __call__(self, block: Batch, cancel: CancelToken | None) -> Generator[Any, None, None]:
        """Give the results of a block in its order.

        Without a token all threads work on it together. With one only the thread that calls does,
        while others work on other blocks; it stops by ``Cancelled`` once it is asked to, and what
        is better done by all threads is given as ``Later``.
        """


@dataclass(frozen=True)
class Later(Generic[Result]):
    """Results that all threads are to work out together, as they are asked for."""

    results: Generator[Result, None, None]


def in_blocks(
    batches: Iterable[Batch],
    most: int,
    work: Work,
    then: Callable[[Any], Any] | None = None,
    threads: int = 1,
) -> Generator[Any, None, None]:
    """Work on boards in blocks, and give what comes of each, in the order of the boards.

    A block has one geometry and FIRST_BOARDS boards at first. Blocks grow while they are quick;
    the time in which the caller handles results does not count. Fewer boards come where the
    geometry changes, at the end, and before an InputError, which is raised once all boards before
    it were worked on.

    All threads work on the first block of a geometry together. As long as blocks are quick, each
    thread has one of its own; a block that turns out to take long is done anew by all of them.

    Parameters
    ----------
    batches
        Read as they are needed, by the thread that iterates.
    most
        The number of boards in a block, at most.
    work
        Gives the results of a block.
    then
        What is made of every result, by the thread that has it; by default nothing.
    threads
        How many there are, the one that iterates included; 1 if blocks are never to be worked on
        side by side.
    """
    return _Flow(batches, most, work, then or _as_it_is, threads).results()


def _as_it_is(result: Any) -> Any:
    return result


class _Flow:
    """Boards on their way from batches to results."""

    def __init__(
        self,
        batches: Iterable[Batch],
        most: int,
        work: Work,
        then: Callable[[Any], Any],
        threads: int,
    ) -> None:
        self._work, self._then, self._threads = work, then, threads
        self._pace = Pace(FIRST_BOARDS, BLOCK_SECONDS, most)
        self._blocks = _blocks(batches, self._pace)
        self._next: Batch | None = None
        """A block that was read too early."""
        self._quick = False
        """Whether blocks are quick enough for each to be one thread's."""
        self._known: set[Geometry] = set()
        """The shapes of the boards so far: their kernels are compiled."""

    def results(self) -> Generator[Any, None, None]:
        """Work on all boards."""
        start = time.perf_counter()
        while (block := self._read()) is not None:
            seconds, size = 0.0, self._pace.size
            with closing(self._together(self._work(block, None))) as results:
                for result in results:
                    seconds += time.perf_counter() - start
                    yield result
                    start = time.perf_counter()
            seconds += time.perf_counter() - start
            self._pace.took(seconds, full=len(block) == size)
            self._quick = seconds * self._threads < 2 * THREAD_SECONDS
            if self._quick and self._threads > 1:
                self._known.add(block.geometry)
                yield from self._side_by_side()
            start = time.perf_counter()

    def _read(self) -> Batch | None:
        """The next block; None if there is none."""
        block, self._next = self._next, None
        return next(self._blocks, None) if block is None else block

    def _together(self, work: Generator[Any, None, None]) -> Generator[Any, None, None]:
        """Have all threads work out some results."""
        with closing(work):
            yield from map(self._then, work)

    def _side_by_side(self) -> Generator[Any, None, None]:
        """Work on blocks as long as they are quick, one on each thread."""
        with closing(
            InOrder(self._while_quick(), self._by_one, self._threads, PATIENCE_SECONDS)
        ) as ordered:
            for done in ordered:
                block, pieces = done.item, done.result
                if pieces is None:
                    self._quick = False
                    ordered.settle()
                    yield from self._together(self._work(block, None))
                    continue
                # Those that were cut before the pace changed say nothing of the size that it has.
                if len(block) <= self._pace.size:
                    seconds = done.seconds * BLOCK_SECONDS / THREAD_SECONDS
                    self._pace.took(seconds, full=len(block) == self._pace.size)
                for piece in pieces:
                    if isinstance(piece, Later):
                        ordered.settle()
                        yield from self._together(piece.results)
                    else:
                        yield piece

    def _while_quick(self) -> Iterator[Batch]:
        start = time.perf_counter()
        while self._quick and (block := self._read()) is not None:
            if block.geometry not in self._known:  # its kernels may have to be compiled first
                self._quick, self._next = False, block
                return
            # Nobody waits with results for boards that come slowly.
            self._quick &= time.perf_counter() - start < THREAD_SECONDS
            yield block
            start = time.perf_counter()

    def _by_one(self, block: Batch, cancel: CancelToken) -> list[Any]:
        """Work on a block in this thread."""
        pieces = self._work(block, cancel)
        return [piece if isinstance(piece, Later) else self._then(piece) for piece in pieces]


def _blocks(batches: Iterable[Batch], pace: Pace) -> Iterator[Batch]:
    """Cut and join batches to blocks of the size that is wanted when each is asked for."""
    held: list[Batch] = []
    boards = 0
    error = None
    try:
        for batch in batches:
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
    except InputError as caught:
        error = caught
    if held:
        yield Batch.joined(held)
    if error is not None:
        raise error
