"""The solutions of a board in the order of its join, by rank.

The order depends on the board alone. It goes through the branches of the ``Orientation``, the
members of each branch's orbit, the terms in the order of the walk, and in a term the maps of the
summed lines and of the crossing lines, in the order of the lists; the last map changes fastest. The
solutions of other members of an orbit are those of its representative, in the same order, under the
symmetry that leads there.

A rank is split in this way, where ``factor`` is the product of the factors of all lists::

    rank = (solutions of the orbits before)
         + member * (solutions of the branch)
         + (sum of the branch's pieces before + rank_in_piece) * factor
         + rank_in_factor
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.contraction.general.boxes import JoinScratch
from gpusudoku.contraction.general.entry_lists import Ints, Words
from gpusudoku.contraction.general.join import MEMORY, Join, Orientation, combine_remainders
from gpusudoku.contraction.general.line_maps import LineMaps, Slots, maps_of_lines
from gpusudoku.contraction.general.symmetries import (
    OrbitForest,
    Symmetry,
    find_orbits,
    move_grids,
    symmetry_of,
)
from gpusudoku.errors import MismatchError, TooExpensive
from gpusudoku.jobs.cancel import CancellableLock, check_cancelled
from gpusudoku.jobs.forks import cached_property
from gpusudoku.jobs.job import run_on_threads, split_range
from gpusudoku.kernels.compile_many import load_kernels
from gpusudoku.kernels.contraction.general.arrays import Branches
from gpusudoku.kernels.contraction.general.ranks import (
    MISSED,
    TOO_LARGE,
    RankTerms,
    find_crossing_entries,
    find_terms,
)

KERNELS = find_terms, find_crossing_entries
PIECE_STEPS = 1 << 20
"""The approximate number of steps of a piece of a branch; a rank costs one piece."""
CALLS_PER_THREAD = 8
"""The number of calls for each thread, so that all threads finish at about the same time."""
CALL_RANKS = 1024
"""The number of ranks that is worth a call on another thread, and that an interrupt waits for."""
LOCATED_RANKS = 1 << 14
"""The number of ranks that are located at a time, as an interrupt waits for them."""
LOW = (1 << 64) - 1
"""The mask of the low word of a number of two words."""


class _GridTables(NamedTuple):
    """What leads from the terms of a join to grids."""

    summed: list[LineMaps]
    """The maps of the summed lines, by level."""
    crossing: list[LineMaps]
    """The maps of the crossing lines."""
    orbits: OrbitForest | None
    """The orbits of the branches; None if there are no swaps of digits."""
    symmetries: list[Symmetry]
    """The symmetry of every swap."""


class _TermLocations(NamedTuple):
    """Where k solutions are in the sum."""

    branch: Ints
    """int64 (k): the branch that represents the orbit."""
    member: Ints
    """int64 (k): the member of the orbit."""
    piece: Ints
    """int64 (k): the piece of the sum."""
    rank_in_piece: Words
    """uint64 (k, 2): the rank in the piece, up to the factor of the join, low word and high word.
    """
    rank_in_factor: NDArray[Any]
    """Integers (k): the rank among the solutions that have the same rank in the piece."""

    def select(self, rows: Ints) -> _TermLocations:
        """Return the locations of some of the solutions."""
        fields: list[Any] = [field[rows] for field in self]
        return _TermLocations(*fields)


class JoinOrder:
    """All solutions of a board by rank, independent of the number of threads.

    TooExpensive is raised, also by ``at``, if a term of the sum exceeds one word.
    """

    def __init__(self, join: Join, threads: int = 1) -> None:
        load_kernels(KERNELS)
        self.count = 0
        """The number of solutions."""
        self._join = join
        self._threads = min(threads, join.max_threads(MEMORY))
        self._lock = CancellableLock()
        if join.orientation is not None:
            self._orientation: Orientation = join.orientation
            max_multiplicities = (int(line.multiplicity.max()) for line in join.orientation.summed)
            # The kernel multiplies these before it can notice that a term is too large.
            if prod(max_multiplicities) >= 1 << 63:
                raise too_large()
            self._locate_branches()

    def _locate_branches(self) -> None:
        """Sum all pieces of the branches, and find the first rank of every orbit."""
        # A branch may be long, so its pieces are located, too; a rank is found within one.
        branches = self._orientation.branches
        self._pieces, self._pieces_per_branch = self._orientation.cut(PIECE_STEPS)
        piece_sums = self._sum_pieces()
        sums_before = [*accumulate(piece_sums, initial=0)]
        # Every branch has the same number of pieces, which follow one another.
        branch_bounds = sums_before[:: self._pieces_per_branch]
        solutions = [(end - start) * self._join.factor for start, end in pairwise(branch_bounds)]
        orbit_solutions = (
            size * branch_solutions
            for size, branch_solutions in zip(branches.weight.tolist(), solutions, strict=True)
        )
        first_ranks = [*accumulate(orbit_solutions, initial=0)]
        self.count = first_ranks[-1]
        self._dtype = np.dtype(np.int64 if self.count < 1 << 63 else object)
        """The type of ranks: Python's integers where 64 bits do not suffice."""
        self._sums_before = np.array(sums_before, self._dtype)
        """The sum of all pieces before each; then the sum of all."""
        self._first_ranks = np.array(first_ranks, self._dtype)
        """The first rank of every branch's orbit; then the number of solutions."""
        self._branch_solutions = np.array(solutions, self._dtype)
        """The solutions of every branch alone."""

    def _sum_pieces(self) -> list[int]:
        """Return the sum of every piece."""
        primes = self._join.primes
        moduli = primes.tolist()

        def sum_chunk(chunk: range, scratch: JoinScratch, stop: Ints) -> list[int]:
            branches = Branches(*(field[chunk.start : chunk.stop] for field in self._pieces))
            rows, _ = self._orientation.sum(branches, primes, scratch, stop)
            return [combine_remainders(row, moduli) for row in rows.tolist()]

        chunks = split_range(range(len(self._pieces.first_entry)), CALLS_PER_THREAD * self._threads)
        chunk_sums = run_on_threads(sum_chunk, chunks, self._make_scratch(len(chunks)))
        return [piece_sum for sums in chunk_sums for piece_sum in sums]

    def _make_scratch(self, chunks: int) -> list[JoinScratch]:
        """Make the memory of the threads that work on a number of chunks."""
        return [self._orientation.scratch() for _ in range(min(self._threads, chunks))]

    def at(self, ranks: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the solutions with some ranks; see ``SolutionIndex``."""
        with self._lock:  # the first call makes the tables, before its threads use them
            tables = self._tables
        starts = range(0, max(1, len(ranks)), LOCATED_RANKS)
        chunks = (self._locate(ranks[start : start + LOCATED_RANKS]) for start in starts)
        locations = _TermLocations(*map(np.concatenate, zip(*chunks, strict=True)))
        # By pieces, then by high words, then by low words.
        order = np.lexsort((*locations.rank_in_piece.T, locations.piece))
        grids = np.empty((len(order), self._join.geometry.cells), np.uint8)

        def write_chunk(chunk: range, scratch: JoinScratch, stop: Ints) -> None:
            rows = order[chunk.start : chunk.stop]
            chunk_grids = self._find_grids(tables, locations.select(rows), scratch, stop)
            if chunk_grids is not None:
                grids[rows] = chunk_grids

        row_chunks = split_range(range(len(order)), -(-len(order) // CALL_RANKS))
        run_on_threads(write_chunk, row_chunks, self._make_scratch(len(row_chunks)))
        return grids + np.uint8(1)

    def _locate(self, ranks: NDArray[Any]) -> _TermLocations:
        """Find where solutions are in the sum."""
        check_cancelled()
        ranks = ranks.astype(self._dtype)
        branch = np.searchsorted(self._first_ranks, ranks, side="right") - 1
        solutions = self._branch_solutions[branch]
        rank_in_orbit = ranks - self._first_ranks[branch]
        # The rank in the sum of all pieces, in which every orbit counts once.
        factor = self._join.factor
        first_piece = branch * self._pieces_per_branch
        rank_in_sum = rank_in_orbit % solutions // factor + self._sums_before[first_piece]
        piece = np.searchsorted(self._sums_before, rank_in_sum, side="right") - 1
        return _TermLocations(
            branch=branch,
            member=(rank_in_orbit // solutions).astype(np.int64),
            piece=piece,
            rank_in_piece=_split_words(rank_in_sum - self._sums_before[piece]),
            # The factor divides the solutions of the branch, so the member does not matter.
            rank_in_factor=rank_in_orbit % factor,
        )

    def _find_grids(
        self, tables: _GridTables, locations: _TermLocations, scratch: JoinScratch, stop: Ints
    ) -> NDArray[np.uint8] | None:
        """Write solutions, with digits from 0 on; None if it was stopped."""
        terms = self._find_terms(locations.piece, locations.rank_in_piece, scratch, stop)
        if stop[0]:
            return None
        rank_in_term = terms.remainder.astype(self._dtype) * self._join.factor
        rank_in_term += locations.rank_in_factor
        slots = self._find_slots(tables, terms, rank_in_term, stop)
        if slots is None:
            return None
        grids = self._make_grids(*slots)
        orbits = tables.orbits
        if orbits is not None:
            items = orbits.members[orbits.start[locations.branch] + locations.member]
            move_grids(grids, items, orbits, tables.symmetries)
        return grids

    def _find_terms(self, piece: Ints, ranks: Words, scratch: JoinScratch, stop: Ints) -> RankTerms:
        """Find the terms of sorted ranks in pieces; meaningless once ``stop[0]`` is not 0."""
        orientation = self._orientation
        # The ranks are sorted by pieces: each piece is walked once for all its ranks.
        unique_pieces, starts = np.unique(piece, return_index=True)
        branches = Branches(*(field[unique_pieces] for field in self._pieces))
        terms = RankTerms(
            entries=np.empty((len(piece), len(orientation.summed)), np.int64),
            totals=np.empty((len(piece), len(orientation.crossing)), np.int64),
            remainder=np.empty(len(piece), np.uint64),
        )
        bounds = np.append(starts, len(piece))
        status = find_terms(orientation.index, *scratch, branches, bounds, ranks, terms, stop)
        if status == TOO_LARGE:
            raise too_large()
        if status == MISSED:
            raise MismatchError("a part of the sum has fewer solutions than before: this is a bug")
        return terms

    def _find_slots(
        self, tables: _GridTables, terms: RankTerms, ranks: NDArray[Any], stop: Ints
    ) -> tuple[list[Slots], list[Slots]] | None:
        """Find the maps of the summed and of the crossing lines from ranks in terms.

        Returns None if it was stopped. The map of the last line changes fastest, so the ranks are
        divided by the numbers of maps from the last line to the first.
        """
        orientation = self._orientation
        # ``ranks`` is a number in a mixed base, with a digit for each line.
        crossing: list[Any] = [None] * len(orientation.crossing)
        for number in reversed(range(len(crossing))):
            line = orientation.crossing[number]
            map_count = terms.totals[:, number].astype(self._dtype) * line.factor
            entry, map_rank = self._crossing_entries(number, terms, ranks % map_count, stop)
            if stop[0]:
                return None
            crossing[number] = tables.crossing[number].slots(entry, map_rank)
            ranks = ranks // map_count
        summed: list[Any] = [None] * len(orientation.summed)
        for level in reversed(range(len(summed))):
            line = orientation.summed[level]
            entry = terms.entries[:, level] - orientation.index.begin[level]
            map_count = line.multiplicity[entry].astype(self._dtype) * line.factor
            slots = tables.summed[level].slots(entry, ranks % map_count)
            summed[orientation.order[level]] = slots
            ranks = ranks // map_count
        return summed, crossing

    def _crossing_entries(
        self, number: int, terms: RankTerms, ranks: NDArray[Any], stop: Ints
    ) -> tuple[Ints, NDArray[Any]]:
        """Find the entries of a crossing line from ranks among its maps that fit a term.

        Returns the entries, and the ranks among the maps of these; meaningless once ``stop[0]`` is
        not 0.
        """
        index = self._orientation.index
        line = self._orientation.crossing[number]
        # The kernel replaces the rank among all maps, in column 1, by that among an entry's maps.
        entry_and_rank = np.empty((len(ranks), 2), np.int64)
        entry_and_rank[:, 1] = ranks // line.factor
        bit_set = np.empty(int(index.set_words[number]), np.uint64)
        totals_before = np.empty(len(bit_set) + 1, np.int64)
        find_crossing_entries(
            index, terms.entries, number, line.multiplicity, bit_set, totals_before,
            entry_and_rank, stop,
        )  # fmt: skip
        entry, entry_rank = entry_and_rank.T
        return entry, entry_rank.astype(self._dtype) * line.factor + ranks % line.factor

    def _make_grids(self, summed: list[Slots], crossing: list[Slots]) -> NDArray[np.uint8]:
        """Make grids from the maps of lines, each uint8 (k, lines that it crosses, n)."""
        if self._orientation.bands_are_summed:
            bands = summed
            stacks = crossing
        else:
            bands = crossing
            stacks = summed
        geometry = self._join.geometry
        grids = np.empty((len(stacks[0]), geometry.cells), np.uint8)
        rows = np.arange(len(grids))[:, None]
        # In a box, the band's map gives the row of each digit, the stack's map the column.
        for i, band in enumerate(bands):
            for j, stack in enumerate(stacks):
                row = i * geometry.box_rows + band[:, j].astype(np.int64)
                column = j * geometry.box_columns + stack[:, i].astype(np.int64)
                grids[rows, row * geometry.n + column] = np.arange(geometry.n)
        return grids

    @cached_property
    def _tables(self) -> _GridTables:
        join = self._join
        orientation = self._orientation
        summed, crossing = maps_of_lines(join)
        symmetries = [symmetry_of(swap, join.allowed, join.geometry) for swap in orientation.swaps]
        if not symmetries:
            return _GridTables(summed, crossing, None, symmetries)
        moves = orientation.moves()
        orbits = find_orbits(orientation.representatives(), moves, len(moves[0]))
        return _GridTables(summed, crossing, orbits, symmetries)


def too_large() -> TooExpensive:
    """Make the error of a sum whose terms are too large to find solutions by rank."""
    return TooExpensive("too expensive: the products of this board's sum pass 64 bits")


def _split_words(numbers: NDArray[Any]) -> Words:
    """Split integers below 2^128 into low words and high words: uint64 (k, 2)."""
    if numbers.dtype == np.int64:
        return np.column_stack([numbers, np.zeros_like(numbers)]).astype(np.uint64)
    return np.column_stack([numbers & LOW, numbers >> 64]).astype(np.uint64)
