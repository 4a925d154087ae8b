"""The solutions of a 9x9 board in contraction order: by rank, or all. Special to 3x3 boxes.

``kernels/contraction/nine/order.py`` defines the contraction order, which depends on the board
alone. ``NineOrder`` finds solutions by their ranks. ``NineSolutionWriter`` writes all solutions, as
products of maps; a thread writes them from *strips*, rows of cells with the digits of one crossing
line.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import accumulate, islice
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.contraction.nine.sum import NineContraction, stages, tables
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.jobs.job import run_on_threads, split_range
from gpusudoku.jobs.ordered import ordered_map
from gpusudoku.kernels.compile_many import load_kernels
from gpusudoku.kernels.contraction.nine.order import (
    RANK_IN_TRIPLE,
    Maps,
    OrthogonalEntries,
    PairRanks,
    Relabelling,
)
from gpusudoku.kernels.contraction.nine.pair_sums import Slabs
from gpusudoku.kernels.contraction.nine.strips import CELLS, Boxes, SolvedBoard, Strips, make_strips
from gpusudoku.kernels.contraction.nine.writing import SPARE_BYTES

CALLS_PER_THREAD = 8
"""The number of calls for each thread, so that all threads finish at about the same time."""
INLINE_SECONDS = 0.01
"""Work that takes at most this long is done by the caller's thread; an interrupt waits for it."""
LOCATED_RANKS = 1 << 14
"""The number of ranks that are located at a time, as an interrupt waits for them."""
CALL_RANKS = 512
"""The smallest number of ranks that is worth a call on another thread."""
MAX_KEPT_PAIRS = 8
"""The sums of pairs are kept if there are at most this many: the empty board has five. A pair takes
about 5 MB of memory, and a fiftieth of a second to sum."""
KEPT_RANK_SECONDS = 4e-6
"""The time that a rank takes if the sums of its pair are kept."""
KEPT_CALL_RANKS = 1 << 14
"""The smallest number of such ranks that is worth a call. Long calls are cheaper, as the ranks of a
call share the contents of the caches."""
BLOCK_SOLUTIONS = 1 << 15
"""The number of solutions in a block: 2.7 MB of text. Larger blocks do not stay in a cache until
they are read."""
FIRST_LOCATED_BLOCKS = 16
MAX_LOCATED_BLOCKS = 1 << 10
"""The number of blocks located together, at first and at most. Blocks of the same pair take about
as long as one."""


class RankLocations(NamedTuple):
    """Where solutions are in the order; all three are int64 arrays, or integers."""

    orbit: Any
    """The index of the orbit, and of its representative in ``Orbits.representatives``."""
    position: Any
    """The position of the pair in ``Orbits.members``."""
    rank: Any
    """The rank of the solution among those of the pair."""


class NineOrder:
    """All solutions of a board in contraction order; independent of the number of threads.

    For other arguments see ``NineContraction``. Without ``symmetric`` the order is a different one.
    """

    def __init__(
        self,
        candidates: NDArray[np.uint64],
        threads: int = 1,
        *,
        symmetric: bool = True,
        wide: bool = False,
    ) -> None:
        load_kernels([*stages().of_one_board(), *stages().of_contraction_order()])
        self.threads = threads
        self.contraction = NineContraction(candidates, symmetric=symmetric, wide=wide)
        self.maps = Maps()
        self.orthogonal_entries = OrthogonalEntries()
        self.relabelling = Relabelling()
        self._free_slabs: SimpleQueue[Slabs] = SimpleQueue()
        self._kept_sums: dict[int, Slabs] = {}
        """The sums of pairs that are kept, by the index of the orbit."""

        self.contraction.prepare(threads)
        # Solutions of pairs and orbits, accumulated, give the first rank of every orbit.
        pair_sums = self._sum_pairs()
        orbits = self.contraction.workspace.orbits
        self._first_positions = orbits.start[: self.contraction.pairs + 1].astype(np.int64)
        """The position of the representative of every orbit; then the end."""
        pair_solutions = [pair_sum * self.contraction.factor for pair_sum in pair_sums.tolist()]
        orbit_sizes = np.diff(self._first_positions).tolist()
        orbit_solutions = (
            size * solutions for size, solutions in zip(orbit_sizes, pair_solutions, strict=True)
        )
        first_ranks = [*accumulate(orbit_solutions, initial=0)]
        self.count: int = first_ranks[-1]
        """The number of solutions."""
        self._dtype = np.dtype(np.int64 if self.count < 1 << 63 else object)
        """The type of ranks: Python's integers where 64 bits do not suffice."""
        self._first_ranks = np.array(first_ranks, self._dtype)
        """The rank of the first solution of every orbit; then the number of solutions."""
        self._pair_solutions = np.array(pair_solutions, self._dtype)
        """The number of solutions of each pair of every orbit."""
        if self.count:
            self._list_maps()

    def _list_maps(self) -> None:
        """Write the arrays that lead from triples to grids."""
        work = self.contraction.workspace
        stages().list_maps(tables(), work.scratch, work.lists, self.maps)
        stages().mark_orthogonal_entries(
            tables(), work.lists, work.indexing, work.roles, self.orthogonal_entries
        )
        members = int(self._first_positions[-1])
        stages().relabel(members, tables(), work.symmetries, work.orbits, self.relabelling)

    def _sum_pairs(self) -> NDArray[np.int64]:
        """Sum the representative of every orbit: its number of solutions, up to the divisors."""
        contraction = self.contraction
        sums = np.zeros(contraction.pairs, np.int64)

        def sum_tasks(tasks: range, _: None, stop: NDArray[np.int64]) -> None:
            pairs = contraction.pairs_of(tasks)
            with self._borrowed_slabs() as slabs:
                contraction.sum(tasks, slabs, stop)
                sums[pairs.start : pairs.stop] = slabs.results[pairs.start : pairs.stop]

        # Slabs are borrowed and not given to threads, as finding triples needs them again.
        chunks = split_range(range(contraction.tasks), CALLS_PER_THREAD * self.threads)
        run_on_threads(sum_tasks, chunks, [None] * self.threads)
        return sums

    @contextmanager
    def _borrowed_slabs(self) -> Iterator[Slabs]:
        """Lend a thread its memory; it is made if none is free, also after an interrupt."""
        try:
            slabs = self._free_slabs.get_nowait()
        except Empty:
            slabs = self.contraction.scratch()
        try:
            yield slabs
        finally:
            self._free_slabs.put(slabs)

    def locate(self, ranks: Sequence[int] | NDArray[Any]) -> RankLocations:
        """Locate solutions by their ranks, in any order; IndexError if a rank does not exist."""
        if len(ranks) > LOCATED_RANKS:
            chunks = (
                ranks[start : start + LOCATED_RANKS]
                for start in range(0, len(ranks), LOCATED_RANKS)
            )
            fields = zip(*map(self.locate, chunks), strict=True)
            return RankLocations(*map(np.concatenate, fields))
        check_cancelled()
        # The bounds are checked before the conversion, as a rank may not fit into 64 bits.
        if not (isinstance(ranks, np.ndarray) and ranks.dtype == np.int64 == self._dtype):
            ranks = np.array(ranks, object)
        for rank in (ranks.min(), ranks.max()) if len(ranks) else ():
            if not 0 <= rank < self.count:
                raise IndexError(
                    f"there is no solution {rank}: there are {self.count}, numbered from 0"
                )
        ranks = ranks.astype(self._dtype, copy=False)
        orbit = np.searchsorted(self._first_ranks, ranks, side="right") - 1
        rank_in_orbit = ranks - self._first_ranks[orbit]
        solutions = self._pair_solutions[orbit]
        member = (rank_in_orbit // solutions).astype(np.int64)
        return RankLocations(
            orbit=orbit,
            position=self._first_positions[orbit] + member,
            rank=(rank_in_orbit % solutions).astype(np.int64),
        )

    def at(self, ranks: Sequence[int] | NDArray[Any]) -> NDArray[np.uint8]:
        """Return the solutions with some ranks: uint8 (ranks, 81); see ``locate``.

        Pass the ranks of one pair together: each call sums the pair again, unless the board has at
        most MAX_KEPT_PAIRS.
        """
        locations = self.locate(ranks)
        grids = np.empty((len(locations.orbit), 81), np.uint8)
        # The ranks of an orbit come together, as each call sums the pair of each of its orbits.
        order = np.argsort(locations.orbit, kind="stable")

        def write_chunk(chunk: range, _: None, stop: NDArray[np.int64]) -> None:
            self._write_grids(locations, order[chunk.start : chunk.stop], grids, stop)

        are_kept = self._kept_sums.keys() >= {*np.unique(locations.orbit).tolist()}
        if are_kept:
            rank_seconds = KEPT_RANK_SECONDS
            call_ranks = KEPT_CALL_RANKS
        else:
            rank_seconds = self.contraction.seconds / max(1, self.contraction.pairs)
            call_ranks = CALL_RANKS
        # Starting threads takes longer than a little work, which is done here instead.
        calls = -(-len(order) // call_ranks)
        chunks = split_range(range(len(order)), min(CALLS_PER_THREAD * self.threads, calls))
        if len(chunks) < 2 and rank_seconds * len(order) < INLINE_SECONDS:
            check_cancelled()
            for chunk in chunks:
                write_chunk(chunk, None, np.zeros(1, np.int64))
        else:
            run_on_threads(write_chunk, chunks, [None] * self.threads)
        return grids

    def _write_grids(
        self,
        locations: RankLocations,
        rows: NDArray[np.int64],
        grids: NDArray[np.uint8],
        stop: NDArray[np.int64],
    ) -> None:
        """Write the solutions of some rows of ``grids``, which are sorted by orbits."""
        triples = self.triples(locations.orbit[rows], locations.rank[rows], stop)
        if stop[0]:
            return
        work = self.contraction.workspace
        maps = np.empty((len(rows), 6), np.int32)
        stages().choose_maps(
            triples, work.lists, work.roles, work.operands, work.tensors,
            self.maps, self.orthogonal_entries, maps,
        )  # fmt: skip
        positions = locations.position[rows]
        stages().write_grids(maps, positions, rows, tables(), self.maps, self.relabelling, grids)

    def triples(
        self, orbits: NDArray[np.int64], ranks: NDArray[np.int64], stop: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Find the entries of A, B and C of solutions of representatives.

        ``orbits``, in ascending order, and ``ranks`` are as in ``RankLocations``. Returns int64
        (solutions, 4): the entries of A, B and C in ``Operands``, and the rank of the solution
        among those of this triple. The result is meaningless once ``stop[0]`` is not 0.
        """
        factor = self.contraction.factor
        # Where the ranks of each orbit begin, as the kernel takes them orbit by orbit.
        unique_orbits, orbit_starts = np.unique(orbits, return_index=True)
        starts = np.append(orbit_starts, len(orbits))
        # The kernel works with sums from which the divisors of the lists are taken out.
        reduced_ranks = ranks // factor
        triples = np.zeros((len(orbits), 4), np.int64)
        if self.contraction.pairs > MAX_KEPT_PAIRS:
            with self._borrowed_slabs() as slabs:
                self._find_triples(unique_orbits, starts, reduced_ranks, stop, slabs, triples)
        else:
            for orbit, start, end in zip(
                unique_orbits.tolist(), starts[:-1], starts[1:], strict=True
            ):
                slabs = self._sums_of(orbit, stop)
                self._find_triples(
                    [orbit], np.array([0, end - start]), reduced_ranks[start:end],
                    stop, slabs, triples[start:end], is_summed=True,
                )  # fmt: skip
        triples[:, RANK_IN_TRIPLE] = triples[:, RANK_IN_TRIPLE] * factor + ranks % factor
        return triples

    def _sums_of(self, orbit: int, stop: NDArray[np.int64]) -> Slabs:
        """Return and keep the sums of an orbit's representative; invalid once ``stop[0]`` is not 0.

        Threads that need the same sums at the same time may each make them, which takes little time
        and no lock.
        """
        if orbit not in self._kept_sums:
            slabs = self.contraction.scratch()
            no_ranks = np.zeros(0, np.int64)
            no_triples = np.empty((0, 4), np.int64)
            starts = np.zeros(2, np.int64)
            self._find_triples([orbit], starts, no_ranks, stop, slabs, no_triples)
            # Sums that were stopped half-way must not be kept.
            if stop[0]:
                return slabs
            self._kept_sums.setdefault(orbit, slabs)
        return self._kept_sums[orbit]

    def _find_triples(
        self,
        orbits: Sequence[int] | NDArray[np.int64],
        starts: NDArray[np.int64],
        ranks: NDArray[np.int64],
        stop: NDArray[np.int64],
        slabs: Slabs,
        triples: NDArray[np.int64],
        *,
        is_summed: bool = False,
    ) -> None:
        """Call the kernel; ``starts`` says where the ranks of each orbit begin, then their end.

        With ``is_summed`` the slabs already hold the sums of the only orbit.
        """
        work = self.contraction.workspace
        pair_ranks = PairRanks(work.orbits.representatives[orbits], starts, ranks)
        find = stages().find_triples_wide if self.contraction.wide else stages().find_triples_narrow
        find(is_summed, pair_ranks, work.roles, work.operands, work.tensors, stop, slabs, triples)


class NineSolutionWriter:
    """Writes all solutions of a board, or a range of them, on several threads."""

    def __init__(self, order: NineOrder) -> None:
        load_kernels(stages().of_solution_writer())
        self._order = order
        work = order.contraction.workspace
        boxes = Boxes()
        if order.count:
            stages().write_boxes(tables(), work.lists, work.roles, order.maps, boxes)
        self._board = SolvedBoard(
            lists=work.lists,
            roles=work.roles,
            tensors=work.tensors,
            operands=work.operands,
            orbits=work.orbits,
            maps=order.maps,
            orthogonal_entries=order.orthogonal_entries,
            relabelling=order.relabelling,
            boxes=boxes,
        )

    def rows(
        self,
        start: int = 0,
        stop: int | None = None,
        *,
        text: bool = False,
        threads: int | None = None,
    ) -> Generator[NDArray[np.uint8], None, None]:
        """Yield the solutions with ranks ``start`` to ``stop`` - 1, by default all, in blocks.

        A block is uint8 (k, 81), with digits from 1 on, or with ``text`` lines, uint8 (k, 82). Each
        block is a new contiguous array of BLOCK_SOLUTIONS rows; the last one may be shorter. A few
        blocks for each thread are in memory at a time. ``threads`` includes the caller's thread and
        defaults to the number of threads of the order. Closing the generator stops the threads.
        IndexError is raised at once if a rank does not exist.
        """
        # Checked here and not in the generator, so that the caller gets the error at once.
        if stop is None:
            stop = self._order.count
        if not 0 <= start <= stop <= self._order.count:
            raise IndexError(f"there are {self._order.count} solutions")
        return self._blocks(range(start, stop), text, threads or self._order.threads)

    def _blocks(
        self, ranks: range, text: bool, threads: int
    ) -> Generator[NDArray[np.uint8], None, None]:
        """Write the solutions with consecutive ranks."""
        row_bytes = CELLS + text  # a line of text has a line feed
        free_strips: SimpleQueue[Strips] = SimpleQueue()
        for _ in range(threads):
            free_strips.put(make_strips(text))

        def write_block(block: tuple[NDArray[np.int64], int]) -> NDArray[np.uint8]:
            cursor, solutions = block
            # The kernel writes whole vectors, some bytes past the end of the last solution.
            out = np.empty(solutions * row_bytes + SPARE_BYTES, np.uint8)
            strips = free_strips.get()
            try:
                stages().write_solutions(cursor, solutions, self._board, strips, out)
            finally:
                free_strips.put(strips)
            return out[: solutions * row_bytes].reshape(-1, row_bytes)

        with closing(ordered_map(self._cursors(ranks), write_block, threads)) as blocks:
            for block in blocks:
                assert block.result is not None
                yield block.result

    def _cursors(self, ranks: range) -> Iterator[tuple[NDArray[np.int64], int]]:
        """Yield the cursor of every block, and its number of solutions.

        A cursor is what ``write_solutions`` starts from: int64 (6), a triple, the rank within it,
        the orbit and the position of the pair.
        """

        def find(locations: RankLocations, _: None, stop: NDArray[np.int64]) -> NDArray[np.int64]:
            return self._order.triples(locations.orbit, locations.rank, stop)

        block_starts = iter(ranks[::BLOCK_SOLUTIONS])
        located_blocks = FIRST_LOCATED_BLOCKS  # few at first, so that the first block comes soon
        while starts := [*islice(block_starts, located_blocks)]:
            locations = self._order.locate(starts)
            # On another thread, so that this one stays free for signals.
            [triples] = run_on_threads(find, [locations], [None])
            cursors = np.column_stack([triples, locations.orbit, locations.position])
            for start, cursor in zip(starts, cursors, strict=True):
                yield cursor, min(BLOCK_SOLUTIONS, ranks.stop - start)
            located_blocks = min(2 * located_blocks, MAX_LOCATED_BLOCKS)
