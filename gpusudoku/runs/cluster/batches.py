"""Many boards on a Dask cluster: blocks go out to workers, and the counts come in order.

Blocks are cut as they are on one machine, and are as large as a worker is quick. A worker gets one,
and counts its boards for a few seconds. What it has not counted by then goes out again in smaller
blocks. A single board that takes a worker too long is counted by all of them in tasks, as a board
alone is, when it is its turn and nothing else is under way. If a worker is lost, so is what it did:
its block goes to another one as it was. So no board is ever counted twice.

A few blocks for each worker are in memory, from the first whose counts were not yielded; no more
is read before.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Iterable
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import count

from gpusudoku.board.batch import Batch
from gpusudoku.board.blocks import BLOCK_SECONDS, FIRST_BOARDS, QUICK_SECONDS, cut_blocks
from gpusudoku.errors import Interrupted
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.jobs.job import Pace
from gpusudoku.jobs.watch import current_watch
from gpusudoku.options import Options
from gpusudoku.results import ResultBlock
from gpusudoku.runs.cluster.machine import OnCluster, converting_loss
from gpusudoku.runs.cluster.worker import CountedBlock, count_some
from gpusudoku.runs.counting import How, count_in_tasks

MOST_BOARDS = 1 << 12
"""The most boards in a block: they are sent in some milliseconds."""
MOST_SECONDS = 5.0
"""A worker returns a block after so long: as long it works on in vain when this process is
killed."""
PIECES = 16
"""The blocks that the rest of a block is divided into."""
AHEAD = 4
"""Blocks that are read before the first of them is yielded, for each worker."""


class _BlockState(Enum):
    """The states of a block."""

    WAITING = auto()
    SENT = auto()
    LONG = auto()
    """A board that takes one worker too long."""
    COUNTED = auto()


@dataclass(eq=False)
class _BoardBlock:
    """Boards that are counted by one worker at a time."""

    number: int
    boards: Batch
    size: int = 0
    """The number of boards that it was to have, by the pace; 0 if it was divided."""
    state: _BlockState = _BlockState.WAITING
    counts: tuple[ResultBlock, ...] = ()


def count_batches_on(
    batches: Iterable[Batch], options: Options, engine: OnCluster
) -> Generator[ResultBlock, None, None]:
    """Count on a cluster as ``count_batches`` does here."""
    return _BatchCount(batches, options, engine).results()


class _BatchCount:
    """A count of batches that is under way."""

    def __init__(self, batches: Iterable[Batch], options: Options, machine: OnCluster) -> None:
        self._options, self._machine = options, machine
        self._pace = Pace(FIRST_BOARDS, BLOCK_SECONDS, MOST_BOARDS)
        self._blocks = cut_blocks(batches, self._pace)
        self._pool = machine.pool()
        self._window = deque[_BoardBlock]()
        """The blocks that were read and not yielded, in order."""
        self._numbers = count()
        self._all_read = self._slow = False
        self._error: Exception | None = None
        """The error that ended reading."""

    def results(self) -> Generator[ResultBlock, None, None]:
        """Have all boards counted."""
        try:
            while self._window or self._may_read():
                check_cancelled()
                if self._window and self._window[0].state is _BlockState.COUNTED:
                    yield from self._window.popleft().counts
                elif self._may_read():
                    self._read()
                else:
                    self._go_on()
            if self._error is not None:
                raise self._error
        except KeyboardInterrupt:
            raise Interrupted("interrupted") from None
        finally:
            self._pool.dismiss()

    def _may_read(self) -> bool:
        """Tell whether there may be more boards, and room; boards that come slowly may wait."""
        if self._all_read or (self._slow and self._window):
            return False
        return len(self._window) < AHEAD * max(1, self._pool.workers)

    def _read(self) -> None:
        """Read one block ahead, and send it at once: to read the next may mean to wait."""
        start, size = time.perf_counter(), self._pace.size
        try:
            boards = next(self._blocks, None)
        except Interrupted:  # a cancellation does not wait for its turn
            raise
        except Exception as error:
            boards, self._error = None, error
        self._slow = time.perf_counter() - start > QUICK_SECONDS
        self._all_read = boards is None
        if boards is not None:
            self._window.append(_BoardBlock(next(self._numbers), boards, size))
            self._send()

    def _go_on(self) -> None:
        """Take the results of blocks, and give workers others; or have them all do the next one."""
        head = self._window[0]
        if head.state is _BlockState.LONG and not self._pool.busy:
            limit, options = self._options.limit, replace(self._options, limit=None)
            with current_watch().working_on(head.boards):
                machine = self._machine.up_to(limit)
                found = count_in_tasks(head.boards[0], options, machine, How()).count
            if limit is not None and found.count >= limit:
                found = replace(found, count=limit, exact=False)
            head.counts = (ResultBlock.of(head.boards, found, limit),)
            head.state = _BlockState.COUNTED
            return
        self._send()
        with converting_loss():
            for _, block, counted in self._pool.take():
                self._keep(block, counted)

    def _send(self) -> None:
        """Give a block to all workers that have none, but none before a board for all of them."""
        with converting_loss():
            for block in self._pool.look():
                block.state = _BlockState.WAITING
            if self._window[0].state is _BlockState.LONG:
                return
            waiting = [block for block in self._window if block.state is _BlockState.WAITING]
            for worker, block in zip(self._pool.idle, waiting, strict=False):
                boards = replace(block.boards, places=None)
                key, options = self._pool.key, self._options
                self._pool.send(worker, block, count_some, key, options, boards, MOST_SECONDS)
                block.state = _BlockState.SENT

    def _keep(self, block: _BoardBlock, counted: CountedBlock) -> None:
        """Keep the counts of a block; the rest of it is to be sent again, or is long."""
        if block.size == self._pace.size:
            self._pace.took(counted.seconds, full=len(block.boards) == block.size)
        done, counts = 0, []
        for some in counted.counts:
            end = done + len(some)
            counts.append(replace(some, boards=block.boards.part(done, end)))
            done = end
        self._machine.worked_on(some.device for some in counts)
        left = block.boards.part(done, len(block.boards))
        if len(left) == len(block.boards) == 1:
            block.state = _BlockState.LONG
            return
        block.boards, block.counts = block.boards.part(0, done), tuple(counts)
        block.state = _BlockState.COUNTED
        # Smaller blocks of the rest follow it.
        place, size = self._window.index(block) + 1, -(-len(left) // PIECES)
        for start in reversed(range(0, len(left), max(1, size))):
            piece = _BoardBlock(next(self._numbers), left.part(start, start + size))
            self._window.insert(place, piece)
