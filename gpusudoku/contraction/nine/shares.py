"""From the sums of the sweeps to exact shares, as Python integers. Special to 3x3 boxes.

----
What one thread does of a turn of the shares. Special to 3x3 boxes.

----
How many solutions of a 9x9 board have which digit in which cell. Special to 3x3 boxes.

----
The shares of many 9x9 boards, each worked out by one thread. Special to 3x3 boxes.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from math import prod

import numpy as np
from numba import typeof
from numpy.typing import NDArray

from gpusudoku.contraction.general.symmetries import average, divide
from gpusudoku.contraction.nine.sum import Nine, stages, tables
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.jobs.job import Job, Task, Worker
from gpusudoku.jobs.pieces import pieces
from gpusudoku.jobs.watch import watching
from gpusudoku.kernels.compiling import ready
from gpusudoku.kernels.contraction.nine.arrays import P, Symmetries, make_workspace
from gpusudoku.kernels.contraction.nine.cpu_shares import ShareStages
from gpusudoku.kernels.contraction.nine.dot import narrow_enough
from gpusudoku.kernels.contraction.nine.environments import LIMB, Found, make_found
from gpusudoku.kernels.contraction.nine.ledger import FIRST, LAST, MOST, PENDING, USED, make_ledger
from gpusudoku.kernels.contraction.nine.naming import make_naming
from gpusudoku.kernels.contraction.nine.slabs import make_slabs
from gpusudoku.kernels.contraction.nine.turns import Known, make_turn_arrays
from gpusudoku.kernels.contraction.nine.words import make_words

SHARES = 9 * 81
"""Cells times digits: share 9 * cell + digit - 1 is that of a digit in a cell."""
INDICES = np.arange(SHARES).reshape(3, 3, 3, 3, 9)
"""The shares by band, row in it, stack, column in it, and digit."""


def exact(found: Found, factor: int) -> NDArray[np.object_]:
    """The shares of a box as Python integers (9, 3, 3), by digit and names."""
    total = np.zeros((9, 3, 3), object)
    for one, two in zip(*np.nonzero(found.written), strict=True):
        low, high = found.shares[one, two]
        most = (int(low.max()) + (int(high.max()) << LIMB)) * factor
        fits = np.int64 if most < 1 << 63 else object
        numbers = (low.astype(fits) + (high.astype(fits) << LIMB)) * factor
        total += divide(numbers, int(one * two))
    return total


def in_box(
    pivot: int, summed: int, shares: NDArray[np.object_]
) -> tuple[NDArray[np.intp], NDArray[np.object_]]:
    """The shares of the box where two lines cross: their indices, and what they are (81)."""
    if pivot < 3:  # a stack, whose names are columns
        shares, pivot, summed = shares.swapaxes(1, 2), summed, pivot
    places = INDICES[pivot - 3, :, summed].transpose(2, 0, 1)
    return places.ravel(), shares.ravel()


def image_of(symmetries: Symmetries, which: int) -> NDArray[np.intp]:
    """Where a symmetry takes every cell and digit: indices of shares (SHARES)."""
    names = tables().permutations[symmetries.names[which]]  # (6, 3)
    band, row, stack, column, digit = np.indices(INDICES.shape)
    to = band, names[3 + band, row], stack, names[stack, column], symmetries.digits[which][digit]
    found: NDArray[np.intp] = INDICES[to].ravel()
    return found


CHEAP_SECONDS = 0.005
"""A board that is estimated to cost less touches some ten megabytes at most, and is soon done."""
MOST_KEPT = 8
"""Rooms that are kept for other boards, at most."""

BoxShares = tuple[NDArray[np.intp], NDArray[np.object_]]
"""Some shares: their indices, and what they are."""


@cache
def share_stages() -> ShareStages:
    """The stages, with the tables' types."""
    return ShareStages(typeof(tables()))


class Room:
    """Where the shares of one board after the other are worked out.

    There is room for any board; what no board touches takes no memory.
    """

    def __init__(self) -> None:
        self.workspace, self.words, self.naming = make_workspace(), make_words(), make_naming()
        self.turn = make_turn_arrays(self.workspace.roles)
        self.seconds = 0.0
        """What the most expensive board so far was estimated to cost."""
        self._sweepers: dict[tuple[int, bool], Sweeper] = {}

    def sweeper(self, worker: int, wide: bool) -> Sweeper:
        """The memory of one of the threads that work here, numbered from 0 on."""
        if (worker, wide) not in self._sweepers:
            self._sweepers[worker, wide] = Sweeper(wide)
        return self._sweepers[worker, wide]


_kept: deque[Room] = deque(maxlen=MOST_KEPT)


def take_room() -> Room:
    """A room that was kept, if there is one: fresh memory costs more time than a cheap board."""
    with suppress(IndexError):
        return _kept.pop()
    return Room()


def keep_room(room: Room) -> None:
    """Keep a room in which nobody works any more, unless it has become large."""
    if room.seconds < CHEAP_SECONDS:
        _kept.append(room)


class Sweeper:
    """The memory in which one thread adds up environments.

    Parameters
    ----------
    wide
        Whether it is for boards that need wide slabs.
    """

    def __init__(self, wide: bool) -> None:
        self.slabs, self.ledger = make_slabs(wide), make_ledger(wide)
        self._wide, self._room, self._found = wide, np.zeros(0, np.int64), make_found()
        self._environment = self._room

    def begin(self, room: Room, most_pending: int) -> None:
        """Clear the environments for the turn of the board that is worked out in a room."""
        # Not the room itself, which has this sweeper: it could not be given up at once.
        self._workspace, self._naming, self._turn = room.workspace, room.naming, room.turn
        size = int(self._turn.pivot.size[1])
        if len(self._room) < size:
            self._room = np.zeros(size, np.int64)
        self._environment = self._room[:size]
        self._environment[:] = 0
        self.ledger.state[PENDING], self.ledger.state[MOST] = 0, most_pending

    def sweep(self, pairs: range, stop: NDArray[np.int64]) -> Iterator[BoxShares]:
        """Add some pairs to the environments; give shares as soon as these are full.

        ``stop``, int64 (1), is not 0 once the thread is to stop, and then Cancelled is soon raised.
        """
        call, state = share_stages(), self.ledger.state
        sweep = call.sweep_wide if self._wide else call.sweep_narrow
        tensors = self._workspace.tensors
        state[FIRST], state[LAST], state[USED] = pairs.start, pairs.stop, 0
        while state[FIRST] < state[LAST]:
            check_cancelled()
            sweep(*self._turn, tensors, stop, self._environment, self.slabs, self.ledger)
            if state[FIRST] < state[LAST]:
                yield from self.flush()

    def flush(self) -> Iterator[BoxShares]:
        """Give the shares that the environments hold, as indices and integers; clear these."""
        if self.ledger.state[PENDING] == 0:
            return
        turn, work = self._turn, self._workspace
        factor = prod(work.lists.divisor.tolist())
        known = tables(), work.numbering, self._naming, turn.roles, turn.pivot
        for summed in range(3):
            check_cancelled()
            share_stages().collect(summed, *known, self._environment, self._found)
            lines = int(turn.roles.crossing[P]), int(turn.roles.summed[summed])
            yield in_box(*lines, exact(self._found, factor))
        self._environment[:] = 0
        self.ledger.state[PENDING] = 0


MOST_PENDING = 1 << 62
"""Solutions that an environment holds, at most."""
TASKS_PER_WORKER = 8
"""Times that every worker comes for more in a turn, unless the board is CHEAP."""
TASK_SECONDS = 0.02
"""What is taken at a time costs no more than about this: an interrupt waits for it."""
ALONE_SECONDS = 0.002
"""A board that costs less is worked out by one thread: starting others would cost more."""


def nine_shares(candidates: NDArray[np.uint64], threads: int) -> NDArray[np.object_]:
    """How many solutions of a 9x9 board have which digit in which cell.

    Parameters
    ----------
    candidates
        uint64 (81), as for ``Nine``.
    threads
        How many there are to work.

    Returns
    -------
    Python integers (81, 9), by cell in reading order and digit. Those of a cell add up to the
    number of solutions.

    Raises
    ------
    Interrupted
        After Ctrl-C.
    """
    room = take_room()
    shares = NineShares(candidates, room=room).run(threads)
    keep_room(room)
    return shares


class NineShares:
    """The shares of one board: three sums, each with another crossing line as the pivot.

    Parameters
    ----------
    candidates, symmetric, wide
        As for ``Nine``.
    most_pending
        Solutions that an environment holds, at most (to check what happens then).
    room
        Where it is worked out; by default made for this board.
    """

    def __init__(
        self,
        candidates: NDArray[np.uint64],
        *,
        symmetric: bool = True,
        wide: bool = False,
        most_pending: int = MOST_PENDING,
        room: Room | None = None,
    ) -> None:
        ready([*stages().of_one_board(), stages().list_words, *share_stages().of_one_board()])
        self.room, self.most_pending = room or Room(), most_pending
        work = self.room.workspace
        self.nine = Nine(candidates, symmetric=symmetric, workspace=work)
        self.wide = wide
        """Whether the turn that is worked out needs wide slabs."""
        self._symmetric, self._always_wide, self._found = symmetric, wide, 0
        self._pivots: range = range(0)
        self.seconds = 0.0
        """Estimated time on one core: see ``Contraction``."""
        if self.nine.solvable:
            prices = [self._choose(line) for line in range(6)]
            self.seconds = min(sum(prices[:3]), sum(prices[3:])) / 1e9
            self._pivots = range(3) if sum(prices[:3]) < sum(prices[3:]) else range(3, 6)

    def run(self, threads: int) -> NDArray[np.object_]:
        """Work them out on so many threads; see ``nine_shares``."""
        sums = np.zeros(SHARES, object)
        if self.seconds < ALONE_SECONDS:
            threads = 1
        workers = [ShareWorker(self, number) for number in range(threads)]
        cheap = self.seconds < CHEAP_SECONDS  # cutting up would cost more than it saves
        most = max(TASKS_PER_WORKER * threads, int(self.seconds / TASK_SECONDS))
        for pairs in self.turns(threads):
            with watching(None):
                job = Job(SHARES)
            parts = pieces(range(pairs), threads if cheap else most)
            job.run([Task(part, 0.0) for part in parts], workers)
            sums += job.numbers
        return self.finished(sums)

    def turns(self, threads: int) -> Iterator[int]:
        """Make one turn after the other; give the number of its pairs, which are to be swept."""
        if not self._pivots:
            return
        room = self.room
        room.seconds = max(room.seconds, self.seconds)
        work, words, naming, turn = room.workspace, room.words, room.naming, room.turn
        call, lists = share_stages(), work.lists
        stages().list_words(tables(), work.scratch, lists, words)
        call.name_entries(lists, work.numbering, words, naming)
        if self._symmetric:
            self._found = call.find_symmetries(lists.masks, tables(), work.symmetries)
        known = Known(tables(), lists, work.numbering, naming)
        summed: list[int] = []
        made: dict[int, int] = {}
        for pivot in self._pivots:
            check_cancelled()
            self._choose(pivot)
            if work.roles.summed.tolist() == summed:  # the tensors are there
                work.roles.tensor[:] = [made[line] for line in work.roles.crossing.tolist()]
            else:
                self.nine.make_tensors(threads)
            summed = work.roles.summed.tolist()
            made = dict(zip(work.roles.crossing.tolist(), work.roles.tensor.tolist(), strict=True))
            self.wide = self._always_wide or not narrow_enough(lists, work.roles, work.tensors)
            if self.wide:
                call.sweep_wide.load()
            yield call.make_turn(self._found, known, work.symmetries, turn)

    def _choose(self, pivot: int) -> float:
        """Write the roles of a turn; return their price."""
        work = self.room.workspace
        price: float = share_stages().choose_turn(pivot, work.lists, work.numbering, work.roles)
        return price

    def finished(self, sums: NDArray[np.object_]) -> NDArray[np.object_]:
        """The shares, from what the sweeps of all turns add up to.

        Raises
        ------
        MismatchError
            If they are no whole numbers. Whether they add up is for the caller to check.
        """
        images = [image_of(self.room.workspace.symmetries, s) for s in range(self._found)]
        return average(sums, images).reshape(81, 9)


class ShareWorker(Worker):
    """One of the threads that share the tasks of a turn: ranges of its pairs."""

    def __init__(self, board: NineShares, number: int) -> None:
        self._board, self._number = board, number

    def __call__(self, job: Job) -> float:
        """See ``Worker``."""
        board, sums = self._board, np.zeros(SHARES, object)
        sweeper = board.room.sweeper(self._number, board.wide)
        sweeper.begin(board.room, board.most_pending)
        busy = 0.0
        while True:
            task = job.take()
            start = time.perf_counter()
            found = sweeper.flush() if task is None else sweeper.sweep(task.payload, job.flag)
            for indices, shares in found:
                sums[indices] += shares
            busy += time.perf_counter() - start
            if task is None:
                break
        job.report(enumerate(sums.tolist()))
        return busy


EXPENSIVE_SECONDS = 0.05
"""Of many boards, one that costs more than this is left to all threads together."""


def many_nine_shares(boards: NDArray[np.uint64], threads: int) -> NDArray[np.object_]:
    """The shares of many 9x9 boards, each worked out by one thread, if it does not cost much.

    Parameters
    ----------
    boards
        uint64 (B, 81): the candidates of each, as for ``nine_shares``.
    threads
        How many there are to work.

    Returns
    -------
    Python integers (B, 81, 9).

    Raises
    ------
    Interrupted
        After Ctrl-C.
    """
    shares = np.zeros((len(boards), 81, 9), object)
    if not len(boards):
        return shares
    workers = [BatchShareWorker(boards, shares) for _ in range(min(threads, len(boards)))]
    with watching(None):
        job = Job(1)
    job.run([Task(index, 1 / len(boards)) for index in range(len(boards))], workers)
    for worker in workers:
        keep_room(worker.room)
    for index in sorted(index for worker in workers for index in worker.left):
        shares[index] = nine_shares(boards[index], threads)
    return shares


class BatchShareWorker(Worker):
    """One thread and the memory in which it works out the shares of board after board.

    Parameters
    ----------
    boards
        The candidates of all boards; tasks are their indices.
    shares
        Where the shares are written.
    """

    def __init__(self, boards: NDArray[np.uint64], shares: NDArray[np.object_]) -> None:
        self._boards, self._shares = boards, shares
        self.room = take_room()
        self.left: list[int] = []
        """Boards that were left out: they cost too much, or need wide slabs."""

    def __call__(self, job: Job) -> float:
        """See ``Worker``."""
        start = time.perf_counter()
        while (task := job.take()) is not None:
            board = NineShares(self._boards[task.payload], room=self.room)
            if board.seconds > EXPENSIVE_SECONDS or not self._work_out(task, board, job.flag):
                self.left.append(task.payload)
        return time.perf_counter() - start

    def _work_out(self, task: Task, board: NineShares, stop: NDArray[np.int64]) -> bool:
        """Write the shares of a board, unless it needs wide slabs; say whether they are."""
        sums, sweeper = np.zeros(SHARES, object), self.room.sweeper(0, wide=False)
        for pairs in board.turns(1):
            if board.wide:
                return False
            sweeper.begin(self.room, MOST_PENDING)
            for some in sweeper.sweep(range(pairs), stop), sweeper.flush():
                for indices, shares in some:
                    sums[indices] += shares
        self._shares[task.payload] = board.finished(sums)
        return True
