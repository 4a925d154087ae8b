"""How many solutions of a 9x9 board have which digit in which cell. Special to 3x3 boxes."""

from __future__ import annotations

import time
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from gpusudoku.contraction.nine.share_sums import SHARES, check_sums, evened, image_of
from gpusudoku.contraction.nine.sum import Nine, stages
from gpusudoku.contraction.nine.sweeper import Part, Room, Sweeper, make_room, share_stages
from gpusudoku.contraction.nine.tables import tables
from gpusudoku.jobs.job import Job, Task, Worker
from gpusudoku.jobs.pieces import pieces
from gpusudoku.kernels.compiling import ready
from gpusudoku.kernels.contraction.nine.turns import Known

MOST_PENDING = 1 << 62
"""Solutions that an environment holds, at most."""
TASKS_PER_WORKER = 8
"""Times that every worker comes for more in a turn, unless the board is CHEAP."""
TASK_SECONDS = 0.02
"""What is taken at a time costs no more than about this: an interrupt waits for it."""
CHEAP_SECONDS = 0.005
"""A board that costs less has one task in every turn: cutting up would cost more."""


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
    return NineShares(candidates).run(threads)


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
        self.room, self.most_pending = room or make_room(), most_pending
        self.pairs: list[int] = []
        """Pairs to be summed in every turn, once prepared."""
        work = self.room.workspace
        self.nine = Nine(candidates, symmetric=symmetric, wide=wide, workspace=work)
        self._symmetric, self._found = symmetric, 0
        self.seconds = 0.0
        """Estimated time on one core: see ``Contraction``."""
        if self.nine.solvable:
            choose = share_stages().choose_turning_roles
            self.seconds = choose(work.lists, work.numbering, work.roles) / 1e9

    def run(self, threads: int) -> NDArray[np.object_]:
        """Work them out on so many threads; see ``nine_shares``."""
        job = Job(SHARES)
        self.prepare(threads)
        if self.pairs:
            cheap = self.seconds < CHEAP_SECONDS
            most = TASKS_PER_WORKER * threads, int(self.seconds / TASK_SECONDS)
            tasks = [
                Task((turn, piece), 0.0)
                for turn, pairs in enumerate(self.pairs)
                for piece in pieces(range(pairs), 1 if cheap else max(most))
            ]
            job.run(tasks, [ShareWorker(self) for _ in range(threads)])
        return self.finished(job.numbers)

    def prepare(self, threads: int) -> None:
        """Make the tensors, the kinds of entries and the turns, if there may be a solution."""
        if not self.nine.solvable:
            return
        work, words, naming, turns = self.room
        call, symmetries = share_stages(), work.symmetries
        self.nine.make_tensors(threads)
        stages().list_words(tables(), work.scratch, work.lists, words)
        call.name_entries(work.lists, work.numbering, words, naming)
        if self._symmetric:
            self._found = call.find_symmetries(work.lists.masks, tables(), symmetries)
        known = Known(tables(), work.lists, work.numbering, naming)
        self.pairs = [
            call.make_turn(turned, self._found, known, work.roles, symmetries, turn)
            for turned, turn in enumerate(turns)
        ]
        if self.nine.wide:
            call.sweep_wide.load()

    def finished(self, sums: NDArray[np.object_]) -> NDArray[np.object_]:
        """The shares, from what the sweeps of all turns add up to.

        Raises
        ------
        ArithmeticError
            If they do not add up: some would be wrong.
        """
        images = [image_of(self.room.workspace.symmetries, s) for s in range(self._found)]
        shares = evened(sums, images).reshape(81, 9)
        check_sums(shares)
        return shares


class ShareWorker(Worker):
    """One of the threads that share the tasks of a board."""

    def __init__(self, board: NineShares) -> None:
        self._board, self._sweeper = board, Sweeper(board.nine.wide)

    def __call__(self, job: Job) -> float:
        """See ``Worker``."""
        busy, current = 0.0, -1
        sums = np.zeros(SHARES, object)

        def add(some: Iterable[Part]) -> None:
            for indices, shares in some:
                sums[indices] += shares

        while (task := job.take()) is not None:
            start = time.perf_counter()
            turn, pairs = task.payload
            if turn != current:
                add(self._sweeper.flush())
                self._sweeper.begin(self._board.room, turn, self._board.most_pending)
                current = turn
            add(self._sweeper.sweep(pairs))
            busy += time.perf_counter() - start
        start = time.perf_counter()
        add(self._sweeper.flush())
        job.report(enumerate(sums.tolist()))
        return busy + time.perf_counter() - start
