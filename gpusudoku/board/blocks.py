"""Batches divided and joined into blocks that are large enough to be efficient."""

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
from gpusudoku.jobs.job import ChunkSize, MeanCost
from gpusudoku.jobs.ordered import Schedule, ordered_map

Result = TypeVar("Result")

FIRST_BOARDS = 16
"""Boards in the first block: few, so that the first results come soon even if boards take long."""
BLOCK_SECONDS = 0.5
"""Time that all threads together should take to read a block and to process it."""
THREAD_SECONDS = 0.05
"""Time that one thread should take for a block. The results of AHEAD such blocks for each thread
are kept in memory."""
QUICK_BLOCK_SECONDS = 0.1
"""Each thread takes a block of its own while blocks are quick: reading one takes less than this (or
more only because threads wait for each other), and so does processing one by all threads."""
SMALL_SECONDS = 0.002
"""A block that takes less time is not given to another thread. The interpreted code around its
kernels takes longer than they do, and only one thread at a time can run that."""
PAUSE_SECONDS = 0.1
"""If a stream of boards pauses for this long, the boards before the pause become a block."""
MAX_THREAD_SECONDS = 0.5
"""Time after which a thread abandons a block, and all threads process it together."""

Do = Callable[[Batch, bool], Generator[Any, None, None]]
"""Processes a block and yields its results in order.

The second argument, *alone*, is False if all threads are to work on the block together. It is True
if only the calling thread is to work on it, while other threads process other blocks. Boards that
all threads should process together are then yielded as ``Deferred``.
"""


@dataclass(frozen=True)
class Deferred(Generic[Result]):
    """Results that all threads compute together, when they are read."""

    results: Generator[Result, None, None]


class _ReadBlock(NamedTuple):
    """A block as it was read."""

    boards: Batch
    size: int
    """The number of boards that was requested."""
    seconds: float
    """The time spent reading it."""


def in_blocks(
    batches: Iterable[Batch], max_boards: int, do: Do, threads: int = 1
) -> Generator[Any, None, None]:
    """Process boards in blocks of at most ``max_boards``; yield the results in the boards' order.

    A block has one geometry. The first one has FIRST_BOARDS boards; blocks grow while they are
    quick, not counting the caller's time. An error of reading is raised after the results of all
    boards before it. The iterating thread reads batches when they are needed.

    All threads work on the first block of a geometry together, as kernels may be compiled. While
    blocks are quick, each thread processes one of its own, and the reading thread processes small
    ones itself. A block that takes too long is processed again, by all threads.
    """
    chunk_size = ChunkSize(FIRST_BOARDS, BLOCK_SECONDS, max_boards)
    costs: dict[Geometry, MeanCost] = {}  # of a board of each shape
    is_quick = False
    slowdown = 1.0  # the elapsed time of a block divided by the time of its thread on a core

    def read_blocks() -> Iterator[_ReadBlock]:
        blocks = blocks_of(batches, chunk_size)
        while True:
            size = chunk_size.size
            start = time.perf_counter()
            boards = next(blocks, None)
            if boards is None:
                return
            yield _ReadBlock(boards, size, time.perf_counter() - start)

    def choose_schedule(block: _ReadBlock) -> Schedule:
        cost = costs.get(block.boards.geometry)
        # Finished results do not wait for boards that come slowly. If threads wait for cores or for
        # Python's lock, reading takes longer, too, although the boards are there.
        if not is_quick or cost is None or block.seconds > QUICK_BLOCK_SECONDS * slowdown:
            return Schedule.EXCLUSIVE
        return Schedule.INLINE if cost.of(len(block.boards)) < SMALL_SECONDS else Schedule.POOL

    def by_one_thread(block: _ReadBlock) -> list[Any]:
        return list(do(block.boards, True))

    def by_all_threads(block: _ReadBlock) -> Generator[Any, None, None]:
        nonlocal is_quick
        seconds = block.seconds
        core_seconds = 0.0
        end = object()
        with closing(do(block.boards, False)) as results:
            while True:
                start = time.perf_counter()
                core_start = time.process_time()
                result = next(results, end)
                seconds += time.perf_counter() - start
                core_seconds += time.process_time() - core_start
                if result is end:
                    break
                yield result
        chunk_size.adapt(seconds, full=len(block.boards) == block.size)
        # The time on cores, as threads that wait for a core or for each other would be quicker
        # alone.
        is_quick = threads > 1 and core_seconds < QUICK_BLOCK_SECONDS
        costs.setdefault(block.boards.geometry, MeanCost())

    with closing(
        ordered_map(read_blocks(), by_one_thread, threads, MAX_THREAD_SECONDS, choose_schedule)
    ) as finished_blocks:
        for finished in finished_blocks:
            block = finished.item
            if finished.result is None:
                yield from by_all_threads(block)
                continue
            costs[block.boards.geometry].add(finished.seconds, len(block.boards))
            if finished.schedule is Schedule.POOL and finished.seconds > SMALL_SECONDS:
                slowdown = max(1.0, finished.elapsed / finished.seconds)
            # Blocks that were read before the size changed say nothing about its current value.
            if block.size == chunk_size.size:
                seconds = finished.seconds * BLOCK_SECONDS / THREAD_SECONDS
                chunk_size.adapt(seconds, full=len(block.boards) == block.size)
            for result in finished.result:
                if isinstance(result, Deferred):
                    yield from result.results
                else:
                    yield result


def blocks_of(batches: Iterable[Batch], chunk_size: ChunkSize) -> Iterator[Batch]:
    """Divide and join batches into blocks of the chunk size; shorter ones before a pause."""
    pending: list[Batch] = []
    boards = 0
    try:
        start = time.perf_counter()
        for batch in batches:
            check_cancelled()
            has_paused = time.perf_counter() - start > PAUSE_SECONDS
            if pending and batch.geometry != pending[0].geometry:
                yield Batch.joined(pending)
                pending = []
                boards = 0
            pending.append(batch)
            boards += len(batch)
            while boards >= chunk_size.size:
                size = chunk_size.size  # it may change while the block is processed
                all_pending = Batch.joined(pending)
                yield all_pending.part(0, size)
                pending = [all_pending.part(size, boards)] if boards > size else []
                boards -= size
            if pending and has_paused:
                yield Batch.joined(pending)
                pending = []
                boards = 0
            start = time.perf_counter()
    except Interrupted:  # an interrupt, unlike other errors, does not wait for the boards before it
        raise
    except Exception:
        if pending:
            yield Batch.joined(pending)
        raise
    if pending:
        yield Batch.joined(pending)
