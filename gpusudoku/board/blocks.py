"""Batches, cut and joined to blocks that are worth an engine's while."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from gpusudoku.board.batch import Batch
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import Interrupted
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.jobs.job import Cost, Pace
from gpusudoku.jobs.ordered import Where, ordered_map

Result = TypeVar("Result")

FIRST_BOARDS = 16
"""Boards in the first block: the first results come soon, also of boards that take long."""
BLOCK_SECONDS = 0.5
"""Time that all threads together should take to read a block and to work on it."""
THREAD_SECONDS = 0.05
"""Time that one thread should take for a block: the results of AHEAD such blocks for each thread
are kept in memory."""
QUICK_SECONDS = 0.1
"""Each thread takes a block of its own while reading a block takes less than this, or more only
because threads wait for each other, and working on it by all threads takes less, too."""
SMALL_SECONDS = 0.002
"""A block that takes less time is not worth handing to another thread: what surrounds the compiled
loops takes longer than these, and only one thread at a time can do that."""
PAUSE_SECONDS = 0.1
"""If the boards of a stream pause for so long, those before the pause are worked on."""
PATIENCE_SECONDS = 0.5
"""Time after which a thread puts a block down, and all threads work on it together."""

Do = Callable[[Batch, bool], Generator[Any, None, None]]
"""Gives the results of a block in its order.

Either all threads work on it together; or only the thread that calls does, *alone*, while others
work on other blocks: what is better done by all threads is then given as ``Deferred``.
"""


@dataclass(frozen=True)
class Deferred(Generic[Result]):
    """Results that all threads are to work out together, as they are asked for."""

    results: Generator[Result, None, None]


class _Cut(NamedTuple):
    """A block as it was read."""

    block: Batch
    size: int
    """The boards that it was to have."""
    seconds: float
    """The time that reading it took."""


def in_blocks(
    batches: Iterable[Batch], most: int, do: Do, threads: int = 1
) -> Generator[Any, None, None]:
    """Work on boards in blocks of at most so many, and give the results in the boards' order.

    A block has one geometry; from FIRST_BOARDS on, blocks grow while they are quick, without the
    caller's time. An error of reading is raised once all boards before it were worked on. The
    thread that iterates reads batches as they are needed.

    All threads work on the first block of a geometry together: kernels may be compiled. While
    blocks are quick, each of several threads has one of its own, and the one that reads does those
    at once that are hardly any work. A block that takes long is done anew by all threads.
    """
    pace = Pace(FIRST_BOARDS, BLOCK_SECONDS, most)
    costs: dict[Geometry, Cost] = {}  # of a board of each shape that there was
    quick = False
    slowdown = 1.0  # how many times as long a block takes as its thread is on a core

    def cuts() -> Iterator[_Cut]:
        blocks = cut_blocks(batches, pace)
        while True:
            start, size = time.perf_counter(), pace.size
            block = next(blocks, None)
            if block is None:
                return
            yield _Cut(block, size, time.perf_counter() - start)

    def where(cut: _Cut) -> Where:
        cost = costs.get(cut.block.geometry)
        # Results wait for no boards that come slowly. Where threads wait for cores or for Python's
        # lock, reading takes longer, too, though the boards are there.
        if not quick or cost is None or cut.seconds > QUICK_SECONDS * slowdown:
            return Where.EXCLUSIVE
        return Where.INLINE if cost.of(len(cut.block)) < SMALL_SECONDS else Where.POOL

    def by_one(cut: _Cut) -> list[Any]:
        return list(do(cut.block, True))

    def by_all(cut: _Cut) -> Generator[Any, None, None]:
        nonlocal quick
        seconds, on_cores, end = cut.seconds, 0.0, object()
        with closing(do(cut.block, False)) as results:
            while True:
                start, start_on_cores = time.perf_counter(), time.process_time()
                result = next(results, end)
                seconds += time.perf_counter() - start
                on_cores += time.process_time() - start_on_cores
                if result is end:
                    break
                yield result
        pace.took(seconds, full=len(cut.block) == cut.size)
        # Threads that wait for a core, or for others, would take less alone.
        quick = threads > 1 and on_cores < QUICK_SECONDS
        costs.setdefault(cut.block.geometry, Cost())

    with closing(ordered_map(cuts(), by_one, threads, PATIENCE_SECONDS, where)) as blocks:
        for done in blocks:
            cut = done.item
            if done.result is None:
                yield from by_all(cut)
                continue
            costs[cut.block.geometry].took(done.seconds, len(cut.block))
            if done.where is Where.POOL and done.seconds > SMALL_SECONDS:
                slowdown = max(1.0, done.elapsed / done.seconds)
            # Blocks that were cut before the pace changed say nothing of the size that it has.
            if cut.size == pace.size:
                seconds = done.seconds * BLOCK_SECONDS / THREAD_SECONDS
                pace.took(seconds, full=len(cut.block) == cut.size)
            for piece in done.result:
                if isinstance(piece, Deferred):
                    yield from piece.results
                else:
                    yield piece


def cut_blocks(batches: Iterable[Batch], pace: Pace) -> Iterator[Batch]:
    """Cut and join batches to blocks of the pace's size, or less after a pause."""
    held: list[Batch] = []
    boards = 0
    try:
        asked = time.perf_counter()
        for batch in batches:
            check_cancelled()
            paused = time.perf_counter() - asked > PAUSE_SECONDS
            if held and batch.geometry != held[0].geometry:
                yield Batch.joined(held)
                held, boards = [], 0
            held.append(batch)
            boards += len(batch)
            while boards >= pace.size:
                block, end = Batch.joined(held), pace.size
                yield block.part(0, end)
                held = [block.part(end, boards)] if boards > end else []
                boards -= end
            if held and paused:
                yield Batch.joined(held)
                held, boards = [], 0
            asked = time.perf_counter()
    except Interrupted:  # neither it nor Ctrl-C waits for its turn
        raise
    except Exception:
        if held:
            yield Batch.joined(held)
        raise
    if held:
        yield Batch.joined(held)
