"""The solutions of a 9x9 board in contraction order: some by number, or all. Special to 3x3 boxes.

``kernels/contraction/nine/order.py`` defines the contraction order, which depends on the board
alone. All solutions are products of words. A thread writes them from *strips*, rows of cells that
hold the digits of one crossing line.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import accumulate, islice
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.contraction.nine.sum import Nine, stages, tables
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.jobs.job import pieces, spread
from gpusudoku.jobs.ordered import ordered_map
from gpusudoku.kernels.compile_many import ready
from gpusudoku.kernels.contraction.nine.order import REMAINDER, Asked, Fitting, Relabelling, Words
from gpusudoku.kernels.contraction.nine.pair_sums import Slabs
from gpusudoku.kernels.contraction.nine.strips import CELLS, Boxes, Known, Strips, make_strips
from gpusudoku.kernels.contraction.nine.writing import SPARE

CALLS_PER_THREAD = 8
"""Calls into which work is cut for each thread, at least, so that all threads end together."""
SOON_SECONDS = 0.01
"""Work that takes no longer than this is done by the caller's thread; an interrupt waits."""
PLACES = 1 << 14
"""Numbers that are located at a time, as an interrupt waits for them."""
CALL_NUMBERS = 512
"""Numbers that are worth a call on another thread."""
KEPT_PAIRS = 8
"""The sums of pairs are kept if there are no more of them: the empty board has five. A pair takes
some 5 MB of memory, and a fiftieth of a second to be summed."""
KEPT_SECONDS = 4e-6
KEPT_NUMBERS = 1 << 14
"""The time that a number takes then, and the numbers that are worth a call: more at once are
cheaper, as they share what the caches hold."""
BLOCK = 1 << 15
"""Solutions in a block: 2.7 MB of text. Larger ones do not stay in a cache until they are read."""
FIRST_PLACES = 16
MAX_PLACES = 1 << 10
"""Blocks located at once, at first and at most: those of one pair take about as long as one."""


class PairPlaces(NamedTuple):
    """The places of some solutions in the order; all three are int64 arrays, or integers."""

    orbit: Any
    """The index in ``Orbits.pairs`` of the pair that leads the orbit."""
    position: Any
    """The position of the pair in ``Orbits.members``."""
    number: Any
    """The solutions of the pair that come before."""


class NineOrder:
    """All solutions of a board, in the contraction order, whatever the number of threads.

    For other arguments see ``Nine``. If it is not symmetric, it is another order.
    """

    def __init__(
        self,
        candidates: NDArray[np.uint64],
        threads: int = 1,
        *,
        symmetric: bool = True,
        wide: bool = False,
    ) -> None:
        ready([*stages().of_one_board(), *stages().of_contraction_order()])
        self.threads = threads
        self.nine = nine = Nine(candidates, symmetric=symmetric, wide=wide)
        self.words, self.fitting = Words(), Fitting()
        self.relabelling = Relabelling()
        nine.prepare(threads)
        self._scratch: SimpleQueue[Slabs] = SimpleQueue()
        self._summed: dict[int, Slabs] = {}
        """The sums of pairs that are kept, by the index in ``Orbits.pairs``."""
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
        if self.count:  # make the lists that lead from cells to grids
            work = nine.workspace
            stages().list_words(tables(), work.scratch, work.lists, self.words)
            stages().mark_fitting(tables(), work.lists, work.numbering, work.roles, self.fitting)
            members = int(self._first[-1])
            stages().relabel(members, tables(), work.symmetries, work.orbits, self.relabelling)

    def _sum_pairs(self) -> NDArray[np.int64]:
        """Sum every pair in ``Orbits.pairs``: its solutions, but for the divisors."""
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
        """Lend a thread memory: made if all are in use, or an interrupt lost one."""
        try:
            slabs = self._scratch.get_nowait()
        except Empty:
            slabs = self.nine.scratch()
        try:
            yield slabs
        finally:
            self._scratch.put(slabs)

    def locate(self, numbers: Sequence[int] | NDArray[Any]) -> PairPlaces:
        """Find the places of solutions by numbers in any order; IndexError if there is none."""
        if len(numbers) > PLACES:
            parts = (numbers[at : at + PLACES] for at in range(0, len(numbers), PLACES))
            return PairPlaces(*map(np.concatenate, zip(*map(self.locate, parts), strict=True)))
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
        before = given - self._starts[orbit]
        solutions = self._solutions[orbit]
        member = (before // solutions).astype(np.int64)
        return PairPlaces(orbit, self._first[orbit] + member, (before % solutions).astype(np.int64))

    def at(self, numbers: Sequence[int] | NDArray[Any]) -> NDArray[np.uint8]:
        """Return the solutions with these numbers: uint8 (numbers, 81); see ``locate``.

        Numbers of one pair are best given together: the pair is summed again for each call, unless
        the board has no more than KEPT_PAIRS.
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
            stages().choose_words(
                cells, work.lists, work.roles, work.operands, work.tensors,
                self.words, self.fitting, chosen,
            )  # fmt: skip
            positions = place.position[rows]
            stages().write_grids(
                chosen, positions, rows, tables(), self.words, self.relabelling, grids
            )

        kept = self._summed.keys() >= {*np.unique(place.orbit).tolist()}
        seconds = KEPT_SECONDS if kept else self.nine.seconds / max(1, self.nine.pairs)
        calls = -(-len(order) // (KEPT_NUMBERS if kept else CALL_NUMBERS))
        parts = pieces(range(len(order)), min(CALLS_PER_THREAD * self.threads, calls))
        if len(parts) < 2 and seconds * len(order) < SOON_SECONDS:
            check_cancelled()
            for part in parts:
                run(part, None, np.zeros(1, np.int64))
        else:
            spread(run, parts, [None] * self.threads)
        return grids

    def cells(
        self, orbits: NDArray[np.int64], numbers: NDArray[np.int64], stop: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Find the cells of solutions of least pairs.

        ``orbits``, in ascending order, and ``numbers`` are as in ``PairPlaces``. Returns int64
        (solutions, 4): the entries of A, B and C in ``Operands``, and the number of solutions of
        the cell that come before. It means nothing once ``stop[0]`` is not 0.
        """
        factor = self.nine.factor
        chosen, start = np.unique(orbits, return_index=True)
        ends = np.append(start, len(orbits))
        parts = numbers // factor
        cells = np.zeros((len(orbits), 4), np.int64)
        if self.nine.pairs > KEPT_PAIRS:
            with self._slabs() as slabs:
                self._find(chosen, ends, parts, stop, slabs, cells)
        else:
            for orbit, first, last in zip(chosen.tolist(), ends[:-1], ends[1:], strict=True):
                slabs = self._sums(orbit, stop)
                within = np.array([0, last - first])
                some = parts[first:last]
                self._find([orbit], within, some, stop, slabs, cells[first:last], summed=True)
        cells[:, REMAINDER] = cells[:, REMAINDER] * factor + numbers % factor
        return cells

    def _sums(self, orbit: int, stop: NDArray[np.int64]) -> Slabs:
        """Return the sums of a pair, which are kept; they mean nothing once ``stop[0]`` is not 0.

        Threads that want them at the same time all make them: it is done soon.
        """
        if orbit not in self._summed:
            slabs = self.nine.scratch()
            nothing = np.zeros(2, np.int64)
            self._find([orbit], nothing, nothing[:0], stop, slabs, np.empty((0, 4), np.int64))
            if stop[0]:
                return slabs
            self._summed.setdefault(orbit, slabs)
        return self._summed[orbit]

    def _find(
        self,
        orbits: Sequence[int] | NDArray[np.int64],
        ends: NDArray[np.int64],
        numbers: NDArray[np.int64],
        stop: NDArray[np.int64],
        slabs: Slabs,
        cells: NDArray[np.int64],
        *,
        summed: bool = False,
    ) -> None:
        """Call ``find_cells``; ``ends`` are where numbers of pairs begin, then where they end."""
        work = self.nine.workspace
        asked = Asked(work.orbits.pairs[orbits], ends, numbers)
        find = stages().find_wide if self.nine.wide else stages().find_narrow
        find(summed, asked, work.roles, work.operands, work.tensors, stop, slabs, cells)


class Products:
    """Writes all solutions of a board, or a range of them, on several threads."""

    def __init__(self, order: NineOrder) -> None:
        ready(stages().of_products())
        self._order, boxes = order, Boxes()
        work = order.nine.workspace
        if order.count:
            stages().write_boxes(tables(), work.lists, work.roles, order.words, boxes)
        self._known = Known(
            lists=work.lists,
            roles=work.roles,
            tensors=work.tensors,
            operands=work.operands,
            orbits=work.orbits,
            words=order.words,
            fitting=order.fitting,
            relabelling=order.relabelling,
            boxes=boxes,
        )

    def rows(
        self,
        first: int = 0,
        last: int | None = None,
        *,
        text: bool = False,
        threads: int | None = None,
    ) -> Generator[NDArray[np.uint8], None, None]:
        """Yield the solutions from number ``first`` to before ``last``, by default all, in blocks.

        Blocks are uint8 (k, 81), digits from 1 on; or with ``text`` lines, uint8 (k, 82). Each is
        an array of its own, contiguous, with BLOCK rows, but for the last. A few for each thread
        are in memory at a time. ``threads`` include the caller's; by default they are as many as
        the order has. Closing the generator stops them.
        """
        end = self._order.count if last is None else last
        if not 0 <= first <= end <= self._order.count:
            raise IndexError(f"there are {self._order.count} solutions")
        return self._blocks(range(first, end), text, threads or self._order.threads)

    def _blocks(
        self, numbers: range, text: bool, threads: int
    ) -> Generator[NDArray[np.uint8], None, None]:
        """Write solutions, in their order."""
        width = CELLS + text
        scratch: SimpleQueue[Strips] = SimpleQueue()
        for _ in range(threads):
            scratch.put(make_strips(text))

        def write(start: tuple[NDArray[np.int64], int]) -> NDArray[np.uint8]:
            cursor, solutions = start
            out = np.empty(solutions * width + SPARE, np.uint8)
            strips = scratch.get()
            try:
                stages().write_solutions(cursor, solutions, self._known, strips, out)
            finally:
                scratch.put(strips)
            return out[: solutions * width].reshape(-1, width)

        with closing(ordered_map(self._starts(numbers), write, threads)) as blocks:
            for done in blocks:
                assert done.result is not None
                yield done.result

    def _starts(self, numbers: range) -> Iterator[tuple[NDArray[np.int64], int]]:
        """Yield the cursor for ``write_solutions``, int64 (6), and the length of every block."""

        def find(place: PairPlaces, _: None, stop: NDArray[np.int64]) -> NDArray[np.int64]:
            return self._order.cells(place.orbit, place.number, stop)

        starts = iter(numbers[::BLOCK])
        many = FIRST_PLACES
        while some := [*islice(starts, many)]:
            place = self._order.locate(some)
            [cells] = spread(find, [place], [None])
            cursors = np.column_stack([cells, place.orbit, place.position])
            for start, cursor in zip(some, cursors, strict=True):
                yield cursor, min(BLOCK, numbers.stop - start)
            many = min(2 * many, MAX_PLACES)
