"""Shares: the solutions of a 9x9 board with each digit in each cell. Special to 3x3 boxes.

They take three sums, *turns*, in each of which another crossing line is the pivot P. A turn has an
*environment* for each of the three boxes of its pivot: solutions, by kinds of words of the lines
that cross there. A *sweep* is a call of a kernel that adds pairs to the environments, until they
are full. The turns of one board are shared by all threads; of many boards each thread takes one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, partial
from itertools import chain
from math import prod

import numpy as np
from numpy.typing import NDArray

from gpusudoku.contraction.general.symmetries import average, divide
from gpusudoku.contraction.nine.sum import Nine, stages, tables
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.jobs.job import Job, Task, pieces, spread
from gpusudoku.jobs.watch import watching
from gpusudoku.kernels.compile_many import ready
from gpusudoku.kernels.contraction.nine.arrays import P, Symmetries, make_workspace
from gpusudoku.kernels.contraction.nine.environments import LIMB, Found
from gpusudoku.kernels.contraction.nine.order import Words
from gpusudoku.kernels.contraction.nine.pair_sums import make_slabs, narrow_enough
from gpusudoku.kernels.contraction.nine.shares import ShareStages
from gpusudoku.kernels.contraction.nine.turns import (
    FIRST,
    LAST,
    MOST,
    PENDING,
    USED,
    Known,
    Naming,
    make_ledger,
    make_turn_arrays,
)

SHARES = 9 * 81
"""Cells times digits: share 9 * cell + digit - 1 is that of a digit in a cell."""
INDICES = np.arange(SHARES).reshape(3, 3, 3, 3, 9)
"""The shares by band, row in it, stack, column in it, and digit."""
CHEAP_SECONDS = 0.005
"""A board of a lower estimate is not worth cutting up; its memory, some 10 MB, is kept."""
MAX_KEPT = 8
"""Memories that are kept for other boards, at most."""
MAX_PENDING = 1 << 62
"""Solutions that an environment holds, at most."""
TASKS_PER_WORKER = 8
"""Times that every worker comes for more in a turn, unless the board is CHEAP."""
TASK_SECONDS = 0.02
"""A task costs no more than about this: an interrupt waits for it."""
ALONE_SECONDS = 0.002
"""A board that costs less is left to one thread: starting others would cost more."""
EXPENSIVE_SECONDS = 0.05
"""Of many boards, one that costs more than this is left to all threads together."""

BoxShares = tuple[NDArray[np.intp], NDArray[np.object_]]
"""The shares of a box: their indices, and their values."""


@cache
def share_stages() -> ShareStages:
    """Return the stages, with the tables' type."""
    return ShareStages(tables().layout)


class ShareMemory:
    """Memory for the shares of one board after the other, any board; untouched it costs nothing."""

    def __init__(self) -> None:
        self.workspace, self.words, self.naming = make_workspace(), Words(), Naming()
        self.turn = make_turn_arrays(self.workspace.roles)
        self.seconds = 0.0
        """The estimated cost of the most expensive board so far."""
        self._sweepers: dict[tuple[int, bool], Sweeper] = {}

    def sweeper(self, worker: int, wide: bool) -> Sweeper:
        """Return the memory of one of the threads that work here, numbered from 0 on."""
        if (worker, wide) not in self._sweepers:
            self._sweepers[worker, wide] = Sweeper(wide)
        return self._sweepers[worker, wide]


_kept: deque[ShareMemory] = deque(maxlen=MAX_KEPT)


def take_memory() -> ShareMemory:
    """Take memory that was kept, if any: fresh memory costs more time than a cheap board."""
    with suppress(IndexError):
        return _kept.pop()
    return ShareMemory()


def keep_memory(memory: ShareMemory) -> None:
    """Keep memory that is free again, unless it has become large."""
    if memory.seconds < CHEAP_SECONDS:
        _kept.append(memory)


class Sweeper:
    """The memory in which one thread adds up environments; ``wide`` for boards of wide slabs."""

    def __init__(self, wide: bool) -> None:
        self.slabs, self.ledger = make_slabs(wide), make_ledger(wide)
        self._wide, self._buffer, self._found = wide, np.zeros(0, np.int64), Found()
        self._environment = self._buffer

    def begin(self, memory: ShareMemory, most_pending: int) -> None:
        """Clear the environments for the turn of the board in a memory."""
        # Not the memory itself, which has this sweeper: the circle would delay its release.
        self._workspace = memory.workspace
        self._naming = memory.naming
        self._turn = memory.turn
        size = int(self._turn.pivot.size[1])
        if len(self._buffer) < size:
            self._buffer = np.zeros(size, np.int64)
        self._environment = self._buffer[:size]
        self._environment[:] = 0
        self.ledger.state[PENDING], self.ledger.state[MOST] = 0, most_pending

    def sweep(self, pairs: range, stop: NDArray[np.int64]) -> Iterator[BoxShares]:
        """Add some pairs to the environments; give shares as soon as these are full."""
        call = share_stages()
        state = self.ledger.state
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
        turn = self._turn
        work = self._workspace
        factor = prod(work.lists.divisor.tolist())
        known = tables(), work.numbering, self._naming, turn.roles, turn.pivot
        for summed in range(3):
            check_cancelled()
            share_stages().collect(summed, *known, self._environment, self._found)
            pivot = int(turn.roles.crossing[P])
            line = int(turn.roles.summed[summed])
            yield in_box(pivot, line, exact(self._found, factor))
        self._environment[:] = 0
        self.ledger.state[PENDING] = 0


def exact(found: Found, factor: int) -> NDArray[np.object_]:
    """Make the shares of a box Python integers (9, 3, 3), by digit and names."""
    total = np.zeros((9, 3, 3), object)
    for one, two in zip(*np.nonzero(found.written), strict=True):
        low, high = found.shares[one, two]
        most = (int(low.max()) + (int(high.max()) << LIMB)) * factor
        fits = np.int64 if most < 1 << 63 else object
        numbers = (low.astype(fits) + (high.astype(fits) << LIMB)) * factor
        total += divide(numbers, int(one * two))
    return total


def in_box(pivot: int, summed: int, shares: NDArray[np.object_]) -> BoxShares:
    """Place the 81 shares of the box of two lines."""
    if pivot < 3:  # a stack, whose names are columns
        shares, pivot, summed = shares.swapaxes(1, 2), summed, pivot
    places = INDICES[pivot - 3, :, summed].transpose(2, 0, 1)
    return places.ravel(), shares.ravel()


def image_of(symmetries: Symmetries, which: int) -> NDArray[np.intp]:
    """Map every share to the index of its image under a symmetry: intp (SHARES)."""
    names = tables().permutations[symmetries.names[which]]  # (6, 3)
    band, row, stack, column, digit = np.indices(INDICES.shape)
    to = band, names[3 + band, row], stack, names[stack, column], symmetries.digits[which][digit]
    found: NDArray[np.intp] = INDICES[to].ravel()
    return found


def nine_shares(candidates: NDArray[np.uint64], threads: int) -> NDArray[np.object_]:
    """Count the solutions with each digit in each cell: integers (81, 9); see ``Nine``."""
    memory = take_memory()
    shares = NineShares(candidates, memory=memory).run(threads)
    keep_memory(memory)
    return shares


def many_nine_shares(boards: NDArray[np.uint64], threads: int) -> NDArray[np.object_]:
    """Count the shares of many boards, candidates uint64 (B, 81): Python integers (B, 81, 9)."""
    shares = np.zeros((len(boards), 81, 9), object)

    def write(index: int, memory: ShareMemory, stop: NDArray[np.int64]) -> bool:
        """Write the shares of a board; False if it costs too much, or needs wide slabs."""
        board = NineShares(boards[index], memory=memory)
        if board.seconds > EXPENSIVE_SECONDS:
            return False
        sums = np.zeros(SHARES, object)
        sweeper = memory.sweeper(0, wide=False)
        for pairs in board.turns(1):
            if board.wide:
                return False
            sweeper.begin(memory, MAX_PENDING)
            for places, some in chain(sweeper.sweep(range(pairs), stop), sweeper.flush()):
                sums[places] += some
        shares[index] = board.finished(sums)
        return True

    memories = [take_memory() for _ in range(min(threads, len(boards)))]
    written = spread(write, range(len(boards)), memories)
    for memory in memories:
        keep_memory(memory)
    for index, is_done in enumerate(written):
        if not is_done:
            shares[index] = nine_shares(boards[index], threads)
    return shares


class NineShares:
    """The shares of one board, a turn for each of three pivots; for arguments see ``Nine``.

    As a check, ``most_pending`` is the number of solutions that an environment holds, at most.
    """

    def __init__(
        self,
        candidates: NDArray[np.uint64],
        *,
        symmetric: bool = True,
        wide: bool = False,
        most_pending: int = MAX_PENDING,
        memory: ShareMemory | None = None,
    ) -> None:
        ready([*stages().of_one_board(), stages().list_words, *share_stages().of_one_board()])
        self.memory = memory or ShareMemory()
        self.most_pending = most_pending
        work = self.memory.workspace
        self.nine = Nine(candidates, symmetric=symmetric, workspace=work)
        self.wide = wide
        """True if the current turn needs wide slabs."""
        self._symmetric = symmetric
        self._always_wide = wide
        self._found = 0
        self._pivots: range = range(0)
        self.seconds = 0.0
        """Estimated time on one core: see ``Contraction``."""
        if self.nine.solvable:
            prices = [self._choose(line) for line in range(6)]
            self.seconds = min(sum(prices[:3]), sum(prices[3:])) / 1e9
            self._pivots = range(3) if sum(prices[:3]) < sum(prices[3:]) else range(3, 6)

    def run(self, threads: int) -> NDArray[np.object_]:
        """Count the shares; see ``nine_shares``."""
        sums = np.zeros(SHARES, object)
        if self.seconds < ALONE_SECONDS:
            threads = 1
        workers = [partial(self._sweep, number) for number in range(threads)]
        cheap = self.seconds < CHEAP_SECONDS  # cutting up would cost more than it saves
        most = max(TASKS_PER_WORKER * threads, int(self.seconds / TASK_SECONDS))
        for pairs in self.turns(threads):
            with watching(None):
                job = Job(SHARES)
            parts = pieces(range(pairs), threads if cheap else most)
            job.run([Task(part, 0.0) for part in parts], workers)
            sums += job.numbers
        return self.finished(sums)

    def _sweep(self, number: int, job: Job) -> float:
        """Sweep ranges of pairs as one of the threads that share a turn; see ``Worker``."""
        sums = np.zeros(SHARES, object)
        sweeper = self.memory.sweeper(number, self.wide)
        sweeper.begin(self.memory, self.most_pending)
        tasks = iter(job.take, None)
        swept = (box for task in tasks for box in sweeper.sweep(task.payload, job.flag))
        for indices, shares in chain(swept, sweeper.flush()):
            sums[indices] += shares
        job.report(enumerate(sums.tolist()))
        return 0.0  # nothing asks how long it was at work

    def turns(self, threads: int) -> Iterator[int]:
        """Make one turn after the other; yield the number of its pairs, which are to be swept."""
        if not self._pivots:
            return
        memory = self.memory
        memory.seconds = max(memory.seconds, self.seconds)
        work = memory.workspace
        words = memory.words
        naming = memory.naming
        turn = memory.turn
        call = share_stages()
        lists = work.lists
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
        work = self.memory.workspace
        price: float = share_stages().choose_turn(pivot, work.lists, work.numbering, work.roles)
        return price

    def finished(self, sums: NDArray[np.object_]) -> NDArray[np.object_]:
        """Make shares of the sums of all turns; the caller checks that they add up."""
        images = [image_of(self.memory.workspace.symmetries, s) for s in range(self._found)]
        return average(sums, images).reshape(81, 9)
