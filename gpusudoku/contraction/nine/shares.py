"""How many solutions of a 9x9 board have which digit in which cell. Special to 3x3 boxes."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gpusudoku.contraction.means import averaged
from gpusudoku.contraction.nine.share_sums import SHARES, image_of
from gpusudoku.contraction.nine.sum import Nine, stages
from gpusudoku.contraction.nine.sweeper import (
    CHEAP_SECONDS,
    Room,
    keep_room,
    share_stages,
    take_room,
)
from gpusudoku.contraction.nine.tables import tables
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.jobs.job import Job, Task, Worker, pieces
from gpusudoku.jobs.watch import watching
from gpusudoku.kernels.compiling import ready
from gpusudoku.kernels.contraction.nine.dot import narrow_enough
from gpusudoku.kernels.contraction.nine.turns import Known

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
        return averaged(sums, images).reshape(81, 9)


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
