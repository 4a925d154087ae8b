"""How many solutions of a 9x9 board have which digit in which cell. Special to 3x3 boxes."""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import numpy as np
from numba import typeof
from numpy.typing import NDArray

from gpusudoku.contraction.nine.sum import Nine, stages
from gpusudoku.contraction.nine.tables import tables
from gpusudoku.jobs.job import Job, Task, Worker
from gpusudoku.jobs.pieces import pieces
from gpusudoku.kernels.compiling import ready
from gpusudoku.kernels.contraction.nine.arrays import P
from gpusudoku.kernels.contraction.nine.cpu_shares import ShareStages
from gpusudoku.kernels.contraction.nine.environments import LIMB, Found, make_found
from gpusudoku.kernels.contraction.nine.ledger import (
    FIRST,
    LAST,
    MOST,
    PENDING,
    USED,
    make_ledger,
)
from gpusudoku.kernels.contraction.nine.naming import make_naming
from gpusudoku.kernels.contraction.nine.slabs import make_slabs
from gpusudoku.kernels.contraction.nine.turns import make_turn_arrays
from gpusudoku.kernels.contraction.nine.words import make_words

SHARES = 9 * 81
"""Cells times digits: share 9 * cell + digit - 1 is that of a digit in a cell."""
MOST_PENDING = 1 << 62
"""Solutions that an environment holds, at most."""
TASKS_PER_WORKER = 32
"""Times that every worker comes for more in a turn."""


@cache
def share_stages() -> ShareStages:
    """The stages, with the tables' types."""
    return ShareStages(typeof(tables()))


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
    """

    def __init__(
        self,
        candidates: NDArray[np.uint64],
        *,
        symmetric: bool = True,
        wide: bool = False,
        most_pending: int = MOST_PENDING,
    ) -> None:
        ready([*stages().of_one_board(), stages().list_words, *share_stages().of_one_board()])
        self.nine = Nine(candidates, symmetric=symmetric, wide=wide)
        self.naming, self.turns, self.pairs = make_naming(), [], [0]
        self.most_pending = most_pending
        self._symmetric, self._found = symmetric, 0

    def run(self, threads: int) -> NDArray[np.object_]:
        """Work them out on so many threads; see ``nine_shares``."""
        job = Job(SHARES)
        if self.nine.factor and self.nine._solvable:
            self.prepare(threads)
            tasks = [
                Task((turn, piece), 0.0)
                for turn in range(3)
                for piece in pieces(range(self.pairs[turn]), TASKS_PER_WORKER * threads)
            ]
            job.run(tasks, [ShareWorker(self) for _ in range(threads)])
        shares = self._evened(job.numbers).reshape(81, 9)
        _check(shares)
        return shares

    def prepare(self, threads: int) -> None:
        """Make the tensors, the kinds of entries and the turns."""
        work, words, call = self.nine.workspace, make_words(), share_stages()
        call.choose_turning_roles(work.lists, work.numbering, work.roles)
        self.nine.prepare(threads)
        stages().list_words(tables(), work.scratch, work.lists, words)
        call.name_entries(work.lists, work.numbering, words, self.naming)
        found = 0
        if self._symmetric:
            found = call.find_symmetries(work.lists.masks, tables(), work.symmetries)
        self._found = found
        self.turns = [make_turn_arrays() for _ in range(3)]
        known = tables(), work.lists, work.numbering, self.naming, work.roles, work.symmetries
        self.pairs = [
            call.make_turn(turned, found, *known, turn) for turned, turn in enumerate(self.turns)
        ]
        if self.nine.wide:
            call.sweep_wide.load()

    def _evened(self, shares: NDArray[np.object_]) -> NDArray[np.object_]:
        """What shares of one pair of each orbit, times its size, are for all pairs together.

        Symmetries take every pair of an orbit to each other, so each share becomes the mean of
        those that they take it to.
        """
        images = [self._image(s) for s in range(self._found)]
        if not images:
            return shares
        least, before = np.arange(SHARES), None
        while before is None or (least != before).any():
            before = least
            for image in images:
                least = np.minimum(least, least[image])
                np.minimum.at(least, image, least)  # the other way round
        sums, sizes = np.zeros(SHARES, object), np.bincount(least, minlength=SHARES)
        np.add.at(sums, least, shares)
        return _divided(sums[least], sizes[least])

    def _image(self, symmetry: int) -> NDArray[np.intp]:
        """Where a symmetry takes every cell and digit: indices of shares (SHARES)."""
        known = self.nine.workspace.symmetries
        names = tables().permutations[known.names[symmetry]]  # (6, 3)
        digit = known.digits[symmetry]
        indices = np.arange(SHARES).reshape(3, 3, 3, 3, 9)
        band, row, stack, column, d = np.indices(indices.shape)
        image = band, names[3 + band, row], stack, names[stack, column], digit[d]
        return indices[image].ravel()


class ShareWorker(Worker):
    """One thread that adds up environments in memory of its own."""

    def __init__(self, board: NineShares) -> None:
        self.board, self._turn = board, -1
        self.slabs, self.ledger = make_slabs(board.nine.wide), make_ledger(board.nine.wide)
        self.environment, self.found = np.zeros(0, np.int64), make_found()
        self.ledger.state[:] = 0

    def __call__(self, job: Job) -> float:
        """See ``Worker``."""
        busy = 0.0
        while (task := job.take()) is not None:
            start = time.perf_counter()
            turn, pairs = task.payload
            if turn != self._turn:
                self._flush(job)
                self._begin(turn)
            self._sweep(pairs, job)
            busy += time.perf_counter() - start
        start = time.perf_counter()
        self._flush(job)
        return busy + time.perf_counter() - start

    def _begin(self, turn: int) -> None:
        self._turn = turn
        self.environment = np.zeros(self.board.turns[turn].pivot.size[1], np.int64)
        self.ledger.state[PENDING] = 0

    def _sweep(self, pairs: range, job: Job) -> None:
        """Sweep some pairs of this turn."""
        call, state, nine = share_stages(), self.ledger.state, self.board.nine
        sweep = call.sweep_wide if nine.wide else call.sweep_narrow
        state[FIRST], state[LAST], state[USED] = pairs.start, pairs.stop, 0
        state[MOST] = self.board.most_pending
        turn = self.board.turns[self._turn]
        while state[FIRST] < state[LAST]:
            sweep(turn, nine.workspace.tensors, self.environment, self.slabs, self.ledger)
            if state[FIRST] < state[LAST]:
                self._flush(job)

    def _flush(self, job: Job) -> None:
        """Turn what the environments hold into shares, report these, and clear them."""
        if self.ledger.state[PENDING] == 0:
            return
        board = self.board
        turn, work = board.turns[self._turn], board.nine.workspace
        known = tables(), work.numbering, board.naming, turn, self.environment
        for summed in range(3):
            share_stages().collect(summed, *known, self.found)
            lines = int(turn.roles.crossing[P]), int(turn.roles.summed[summed])
            job.report(_in_box(*lines, _exact(self.found, board.nine.factor)))
        self.environment[:] = 0
        self.ledger.state[PENDING] = 0


def _exact(found: Found, factor: int) -> NDArray[np.object_]:
    """The shares of a box as Python integers (9, 3, 3), by digit and names."""
    total = np.zeros((9, 3, 3), object)
    for one, two in zip(*np.nonzero(found.shares.any(axis=(2, 3, 4, 5))), strict=True):
        low, high = found.shares[one, two].astype(object)
        total += _divided((low + (high << LIMB)) * factor, int(one * two))
    return total


def _divided(numbers: NDArray[np.object_], divisor: Any) -> NDArray[np.object_]:
    """Integers divided by one that divides them all.

    Raises
    ------
    ArithmeticError
        If it does not: a number would be wrong.
    """
    quotients = numbers // divisor
    if (quotients * divisor != numbers).any():
        raise ArithmeticError("shares that are no whole numbers")
    return quotients


def _check(shares: NDArray[np.object_]) -> None:
    """Check that shares add up to the same in every cell, row, column and box.

    Raises
    ------
    ArithmeticError
        If they do not: some would be wrong.
    """
    total = shares[0].sum()
    boxes = shares.reshape(3, 3, 3, 3, 9)
    sums = [shares.sum(axis=1), *(boxes.sum(axis=axes) for axes in ((0, 1), (1, 3), (2, 3)))]
    if any((each != total).any() for each in sums):
        raise ArithmeticError("shares that do not add up")


def _in_box(pivot: int, summed: int, shares: NDArray[np.object_]) -> list[tuple[int, int]]:
    """The shares of the box where two lines cross as pairs of an index and a share."""
    if pivot < 3:  # a stack, whose names are columns
        shares, pivot, summed = shares.swapaxes(1, 2), summed, pivot
    indices = np.arange(SHARES).reshape(3, 3, 3, 3, 9)  # band, row, stack, column, digit
    places = indices[pivot - 3, :, summed].transpose(2, 0, 1)
    return list(zip(places.ravel().tolist(), shares.ravel().tolist(), strict=True))
