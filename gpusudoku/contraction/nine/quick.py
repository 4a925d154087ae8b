"""The solutions of a 9x9 board in the quick order, by number. Special to 3x3 boxes.

``kernels/contraction/nine/unrank.py`` says what the quick order is. It depends on the board alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.contraction.nine.sum import Nine, stages
from gpusudoku.contraction.nine.tables import tables
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.jobs.job import pieces, spread
from gpusudoku.kernels.compiling import ready
from gpusudoku.kernels.contraction.nine.slabs import Slabs
from gpusudoku.kernels.contraction.nine.unrank import REMAINDER, Asked, make_relabelling
from gpusudoku.kernels.contraction.nine.words import make_fitting, make_words

CALLS_PER_THREAD = 8
"""Calls into which work is cut for each thread, at least, so that all threads end together."""
SOON_SECONDS = 0.01
"""What takes no longer than about this is done in the thread that calls, and an interrupt waits."""
PLACES = 1 << 14
"""Numbers that are located at a time, as an interrupt waits for them."""
CALL_NUMBERS = 512
"""Numbers that are worth handing to another thread."""


class Place(NamedTuple):
    """Where some solutions are in the quick order; all three are int64 arrays, or integers."""

    orbit: Any
    """Which of ``Orbits.pairs`` leads the orbit."""
    position: Any
    """The position of the pair in ``Orbits.members``."""
    number: Any
    """How many solutions of the pair come before."""


class QuickOrder:
    """All solutions of a board, in the quick order.

    Parameters
    ----------
    candidates
        uint64 (81): see ``Nine``.
    threads
        On how many threads it works. What comes out does not depend on them.
    symmetric, wide
        See ``Nine``. Not symmetric, it is another order.
    """

    def __init__(
        self,
        candidates: NDArray[np.uint64],
        threads: int = 1,
        *,
        symmetric: bool = True,
        wide: bool = False,
    ) -> None:
        ready([*stages().of_one_board(), *stages().of_quick_order()])
        self.threads = threads
        self.nine = nine = Nine(candidates, symmetric=symmetric, wide=wide)
        self.words, self.fitting = make_words(), make_fitting()
        self.relabelling = make_relabelling()
        nine.prepare(threads)
        self._scratch: SimpleQueue[Slabs] = SimpleQueue()
        results = self._sum_pairs()
        orbits = nine.workspace.orbits
        self._first = orbits.first[: nine.pairs + 1].astype(np.int64)
        solutions = [result * nine.factor for result in results.tolist()]
        sizes = np.diff(self._first).tolist()
        totals = (size * each for size, each in zip(sizes, solutions, strict=True))
        starts = [*accumulate(totals, initial=0)]
        self.count: int = starts[-1]
        """The number of solutions."""
        self._dtype = np.dtype(np.int64 if self.count < 1 << 63 else object)
        self._starts = np.array(starts, self._dtype)
        self._solutions = np.array(solutions, self._dtype)
        if self.count:
            self._prepare()

    def _prepare(self) -> None:
        """Make what leads from cells to grids."""
        work = self.nine.workspace
        stages().list_words(tables(), work.scratch, work.lists, self.words)
        known = work.lists, work.numbering, work.roles
        stages().mark_fitting(tables(), *known, self.fitting)
        count = int(self._first[-1])
        stages().relabel(count, tables(), work.symmetries, work.orbits, self.relabelling)

    def _sum_pairs(self) -> NDArray[np.int64]:
        """The sum of every pair in ``Orbits.pairs``: its solutions, but for the divisors."""
        results = np.zeros(self.nine.pairs, np.int64)

        def run(tasks: range, _: None, stop: NDArray[np.int64]) -> None:
            first, last = self.nine.pairs_of(tasks)
            with self._slabs() as slabs:
                self.nine.sum(tasks, slabs, stop)
                results[first:last] = slabs.results[first:last]

        parts = pieces(range(self.nine.tasks), CALLS_PER_THREAD * self.threads)
        spread(run, parts, [None] * self.threads)
        return results

    @contextmanager
    def _slabs(self) -> Iterator[Slabs]:
        """What a thread works in: made if all are in use, or an interrupt lost one."""
        try:
            slabs = self._scratch.get_nowait()
        except Empty:
            slabs = self.nine.scratch()
        try:
            yield slabs
        finally:
            self._scratch.put(slabs)

    def locate(self, numbers: Sequence[int] | NDArray[Any]) -> Place:
        """Where the solutions with these numbers are.

        Parameters
        ----------
        numbers
            Integers, or an array of them, from 0 to ``count`` - 1, in any order.

        Raises
        ------
        IndexError
            If there is no such solution.
        """
        if len(numbers) > PLACES:
            parts = (numbers[at : at + PLACES] for at in range(0, len(numbers), PLACES))
            return Place(*map(np.concatenate, zip(*map(self.locate, parts), strict=True)))
        check_cancelled()
        if not (isinstance(numbers, np.ndarray) and numbers.dtype == np.int64 == self._dtype):
            numbers = np.array(numbers, object)
        for number in (numbers.min(), numbers.max()) if len(numbers) else ():
            if not 0 <= number < self.count:
                raise IndexError(
                    f"there is no solution {number}: there are {self.count}, from 0 on"
                )
        given = numbers.astype(self._dtype, copy=False)
        orbit = np.searchsorted(self._starts, given, side="right") - 1
        before, solutions = given - self._starts[orbit], self._solutions[orbit]
        member = (before // solutions).astype(np.int64)
        return Place(orbit, self._first[orbit] + member, (before % solutions).astype(np.int64))

    def at(self, numbers: Sequence[int] | NDArray[Any]) -> NDArray[np.uint8]:
        """The solutions with these numbers, as uint8 (numbers, 81), in the order of the numbers.

        Numbers of one pair are best asked for together: the pair is summed again for each call.
        See ``locate`` for what they are, and for the error that is raised.
        """
        place = self.locate(numbers)
        grids = np.empty((len(place.orbit), 81), np.uint8)
        order = np.argsort(place.orbit, kind="stable")
        work = self.nine.workspace

        def run(part: range, _: None, stop: NDArray[np.int64]) -> None:
            rows = order[part.start : part.stop]
            cells = self.cells(place.orbit[rows], place.number[rows], stop)
            if stop[0]:
                return
            chosen = np.empty((len(rows), 6), np.int32)
            known = work.lists, work.roles, work.operands, work.tensors, self.words, self.fitting
            stages().choose_words(cells, *known, chosen)
            moved = tables(), self.words, self.relabelling
            stages().write_grids(chosen, place.position[rows], rows, *moved, grids)

        most = min(CALLS_PER_THREAD * self.threads, -(-len(order) // CALL_NUMBERS))
        parts = pieces(range(len(order)), most)
        if len(parts) < 2 and self.nine.seconds * len(order) < SOON_SECONDS * self.nine.pairs:
            check_cancelled()
            for part in parts:
                run(part, None, np.zeros(1, np.int64))
        else:
            spread(run, parts, [None] * self.threads)
        return grids

    def cells(
        self, orbits: NDArray[np.int64], numbers: NDArray[np.int64], stop: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """The cells of solutions of least pairs.

        Parameters
        ----------
        orbits
            int64 (solutions): as in ``Place``, in ascending order.
        numbers
            int64 (solutions): as in ``Place``.
        stop
            int64 (1): once it is not 0, what is returned means nothing.

        Returns
        -------
        int64 (solutions, 4): the entries of A, B and C in ``Operands``, and how many solutions of
        the cell come before.
        """
        work, factor = self.nine.workspace, self.nine.factor
        chosen, start = np.unique(orbits, return_index=True)
        pairs, ends = work.orbits.pairs[chosen], np.append(start, len(orbits))
        asked = Asked(pairs, ends, numbers // factor)
        cells = np.zeros((len(orbits), 4), np.int64)
        find = stages().find_wide if self.nine.wide else stages().find_narrow
        with self._slabs() as slabs:
            find(asked, work.roles, work.operands, work.tensors, stop, slabs, cells)
        cells[:, REMAINDER] = cells[:, REMAINDER] * factor + numbers % factor
        return cells
