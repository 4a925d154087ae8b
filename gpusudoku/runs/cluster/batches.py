"""Many boards on a Dask cluster: blocks go out to workers, and the counts come in order.

Blocks are cut as they are on one machine, and are as large as a worker is quick. A worker gets one,
and counts its boards for a few seconds. What it has not counted by then goes out again in smaller
blocks. A single board that takes a worker too long is counted by all of them in tasks, as a board
alone is, when it is its turn and nothing else is under way. If a worker is lost, so is what it did:
its block goes to another one as it was. So no board is ever counted twice.

A few blocks for each worker are in memory, from the first whose counts were not given on; no more
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
from gpusudoku.results import Count, ResultBlock
from gpusudoku.runs.cluster.dealer import telling_loss
from gpusudoku.runs.cluster.machine import OnCluster
from gpusudoku.runs.cluster.worker import CountedBlock, count_some
from gpusudoku.runs.counting import count_in_tasks

MOST_BOARDS = 1 << 12
"""The most boards in a block: they are sent in some milliseconds."""
MOST_SECONDS = 5.0
"""A worker that has worked at a block for so long gives it back: as long it works on for nobody
when this process is killed."""
PIECES = 16
"""What is left of a block is divided into so many."""
AHEAD = 4
"""Blocks that are read before the first of them is given, for each worker."""


class _State(Enum):
    """What becomes of a block."""

    WAITING = auto()
    SENT = auto()
    LONG = auto()
    """It is a board that takes one worker too long."""
    COUNTED = auto()


@dataclass(eq=False)
class _Block:
    """Boards on their way."""

    number: int
    boards: Batch
    size: int = 0
    """How many boards it was to have, by the pace; 0 if it was divided."""
    state: _State = _State.WAITING
    counts: tuple[ResultBlock, ...] = ()


def count_batches_on(
    batches: Iterable[Batch],
    options: Options,
    engine: OnCluster,
) -> Generator[ResultBlock, None, None]:
    """Count on a cluster as ``count_work`` does here.

    Raises
    ------
    ClusterError
        If a worker cannot be used, or the cluster is lost.
    InputError, TooExpensive
        Once all boards before the bad one are counted.
    Interrupted, Cancelled
        After Ctrl-C, or a cancellation.
    """
    return _Flow(batches, options, engine).results()


def count_by_all(board: Batch, options: Options, machine: OnCluster) -> Count:
    """Count on a cluster as ``planning.batch.count_alone`` does here, a limit included."""
    limit, limited = options.limit, machine.up_to(options.limit)
    with current_watch().working_on(board):
        found = count_in_tasks(board[0], replace(options, limit=None), limited).count
    if limit is None or found.count < limit:
        return found
    return replace(found, count=limit, exact=False)


class _Flow:
    """Boards on their way from batches to results."""

    def __init__(self, batches: Iterable[Batch], options: Options, machine: OnCluster) -> None:
        self._options, self._machine = options, machine
        self._pace = Pace(FIRST_BOARDS, BLOCK_SECONDS, MOST_BOARDS)
        self._blocks = cut_blocks(batches, self._pace)
        self._dealer = machine.dealer()
        self._window = deque[_Block]()
        """What was read and not given, in order."""
        self._numbers = count()
        self._all_read = self._slow = False
        self._error: Exception | None = None
        """Of reading."""

    def results(self) -> Generator[ResultBlock, None, None]:
        """Have all boards counted."""
        try:
            while self._window or self._may_read():
                check_cancelled()
                if self._is_counted:
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
            self._dealer.dismiss()

    @property
    def _is_counted(self) -> bool:
        """Whether the next block is counted."""
        return bool(self._window) and self._window[0].state is _State.COUNTED

    def _may_read(self) -> bool:
        """Whether there may be more boards, and room; nobody waits for those that come slowly."""
        if self._all_read or (self._slow and self._window):
            return False
        return len(self._window) < AHEAD * max(1, self._dealer.workers)

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
            self._window.append(_Block(next(self._numbers), boards, size))
            self._send()

    def _go_on(self) -> None:
        """Take what came of blocks, and give workers others; or have them all do the next one."""
        head = self._window[0]
        if head.state is _State.LONG and not self._dealer.busy:
            found = count_by_all(head.boards, self._options, self._machine)
            head.counts = (ResultBlock.of(head.boards, found, self._options.limit),)
            head.state = _State.COUNTED
            return
        self._send()
        with telling_loss():
            for _, block, counted in self._dealer.take():
                self._keep(block, counted)

    def _send(self) -> None:
        """See who is there, and give a block to all who have none, the first ones first.

        Before a board that is for all of them, they come to an end.
        """
        with telling_loss():
            for block in self._dealer.look():
                block.state = _State.WAITING
            if self._window[0].state is _State.LONG:
                return
            waiting = [block for block in self._window if block.state is _State.WAITING]
            for worker, block in zip(self._dealer.idle, waiting, strict=False):
                boards = replace(block.boards, places=None)
                self._dealer.send(
                    *(worker, block, count_some),
                    *(self._dealer.key, self._options, boards, MOST_SECONDS),
                )
                block.state = _State.SENT

    def _keep(self, block: _Block, counted: CountedBlock) -> None:
        """Keep what came of a block; what is left of it is to be sent again, or is long."""
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
            block.state = _State.LONG
            return
        block.boards, block.counts = block.boards.part(0, done), tuple(counts)
        block.state = _State.COUNTED
        self._insert(block, left)

    def _insert(self, block: _Block, left: Batch) -> None:
        """Let smaller blocks stand behind a block, of what is left of it."""
        place, size = self._window.index(block) + 1, -(-len(left) // PIECES)
        for start in reversed(range(0, len(left), max(1, size))):
            piece = _Block(next(self._numbers), left.part(start, start + size))
            self._window.insert(place, piece)
