"""The solutions of a board in the order of its join, by number.

The order depends on the board alone: branches as ``Orientation`` has them, the members of each
one's orbit, the terms as the walk meets them, and in a term the words of the summed lines and of
the crossing lines, in the order of the lists; the last changes fastest. Solutions of other members
of an orbit are those of its leader, in the same order, under the symmetry that leads there.
"""

from __future__ import annotations

from itertools import accumulate
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.contraction.general.boxes import JoinScratch
from gpusudoku.contraction.general.join import MEMORY, Join, Orientation, combine
from gpusudoku.contraction.general.maps import Ints, Words
from gpusudoku.contraction.general.symmetries import (
    OrbitForest,
    Symmetry,
    find_orbits,
    move_grids,
    symmetry_of,
)
from gpusudoku.contraction.general.words import LineWords, line_words
from gpusudoku.errors import MismatchError, TooExpensive
from gpusudoku.jobs.cancel import CancellableLock, check_cancelled
from gpusudoku.jobs.forks import cached_property
from gpusudoku.jobs.job import pieces, spread
from gpusudoku.kernels.compile_many import ready
from gpusudoku.kernels.contraction.general.arrays import Branches
from gpusudoku.kernels.contraction.general.numbers import (
    MISSED,
    TOO_LARGE,
    Found,
    find_crossing,
    find_terms,
)

KERNELS = find_terms, find_crossing
PIECE_STEPS = 1 << 20
"""Steps of a piece of a branch, about; a number costs one piece."""
CALLS_PER_THREAD = 8
"""Calls into which work is cut for each thread, so that all threads end together."""
CALL_NUMBERS = 1024
"""Numbers that are worth a call on another thread; no more, so that an interrupt waits little."""
PLACES = 1 << 14
"""Numbers that are located at a time, as an interrupt waits for them."""
LOW = (1 << 64) - 1


class _GridTables(NamedTuple):
    """The way from the terms of a join to grids."""

    summed: list[LineWords]
    """The words of the summed lines, as they are summed."""
    crossing: list[LineWords]
    orbits: OrbitForest | None
    """The orbits of the branches; None if there are no swaps of digits."""
    symmetries: list[Symmetry]
    """The symmetry of every swap."""


class _TermPlaces(NamedTuple):
    """The places of k solutions in the sum."""

    branch: Ints
    """int64 (k): the branch that leads the orbit."""
    member: Ints
    """int64 (k): the member of the orbit."""
    piece: Ints
    """int64 (k): the piece of the sum."""
    words: Words
    """uint64 (k, 2): the number in the piece, low word and high word."""
    rest: NDArray[Any]
    """Integers (k): the number among those that the factors of the lists make of it."""


class JoinOrder:
    """All solutions of a board, by number, whatever the number of threads.

    TooExpensive is raised, also by ``at``, if a term of the sum would pass one word.
    """

    def __init__(self, join: Join, threads: int = 1) -> None:
        ready(KERNELS)
        self.count = 0
        self._join, self._threads = join, min(threads, join.most_threads(MEMORY))
        self._lock = CancellableLock()
        if join.orientation is not None:
            self._way: Orientation = join.orientation
            if prod(int(line.multiplicity.max()) for line in self._way.summed) >= 1 << 63:
                raise too_large()
            self._sum_pieces()

    def _sum_pieces(self) -> None:
        way = self._way
        factor = self._join.factor
        self._pieces, self._cuts = way.cut(PIECE_STEPS)
        sums = self._sums()
        ends = [*accumulate(sums, initial=0)]
        branches = [
            (ends[k + self._cuts] - ends[k]) * factor for k in range(0, len(sums), self._cuts)
        ]
        totals = (w * s for w, s in zip(way.branches.weight.tolist(), branches, strict=True))
        starts = [*accumulate(totals, initial=0)]
        self.count = starts[-1]
        self._dtype = np.dtype(np.int64 if self.count < 1 << 63 else object)
        self._ends = np.array(ends, self._dtype)
        """The sums of all pieces before each."""
        self._starts = np.array(starts, self._dtype)
        """The first number of every branch's orbit."""
        self._solutions = np.array(branches, self._dtype)
        """The solutions of every branch alone."""

    def _sums(self) -> list[int]:
        """Sum all pieces."""
        primes = self._join.primes
        known = primes.tolist()

        def run(part: range, scratch: JoinScratch, stop: Ints) -> list[int]:
            chosen = Branches(*(field[part.start : part.stop] for field in self._pieces))
            rows, _ = self._way.sum(chosen, primes, scratch, stop)
            return [combine(row, known) for row in rows.tolist()]

        parts = pieces(range(len(self._pieces.first)), CALLS_PER_THREAD * self._threads)
        found = spread(run, parts, self._scratch(len(parts)))
        return [value for part in found for value in part]

    def _scratch(self, parts: int) -> list[JoinScratch]:
        """Make the memory of the threads that have some parts to work on."""
        return [self._way.scratch() for _ in range(min(self._threads, parts))]

    def at(self, numbers: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the solutions with some numbers from 0 on; see ``SolutionIndex``."""
        with self._lock:  # listed once, before threads want them
            known = self._known
        starts = range(0, max(1, len(numbers)), PLACES)
        located = (self._locate(numbers[start : start + PLACES]) for start in starts)
        at = _TermPlaces(*map(np.concatenate, zip(*located, strict=True)))
        order = np.lexsort((*at.words.T, at.piece))
        factor = self._join.factor
        grids = np.empty((len(order), self._join.geometry.cells), np.uint8)

        def run(part: range, scratch: JoinScratch, stop: Ints) -> None:
            rows = order[part.start : part.stop]
            found = self._terms(at.piece[rows], at.words[rows], scratch, stop)
            left = found.rest.astype(self._dtype) * factor + at.rest[rows]
            names = None if stop[0] else self._names(known, found, left, stop)
            if names is None:
                return
            some = self._grids(*names)
            if known.orbits is not None:
                things = known.orbits.members[known.orbits.first[at.branch[rows]] + at.member[rows]]
                move_grids(some, things, known.orbits, known.symmetries)
            grids[rows] = some

        parts = pieces(range(len(order)), -(-len(order) // CALL_NUMBERS))
        spread(run, parts, self._scratch(len(parts)))
        return grids + np.uint8(1)

    def _locate(self, numbers: NDArray[Any]) -> _TermPlaces:
        """Find the places of solutions in the sum."""
        check_cancelled()
        given = numbers.astype(self._dtype)
        branch = np.searchsorted(self._starts, given, side="right") - 1
        solutions = self._solutions[branch]
        factor = self._join.factor
        number = given - self._starts[branch]
        # Places in the whole sum, as if there were no orbits; what is left over are the factors'.
        place = number % solutions // factor + self._ends[branch * self._cuts]
        piece = np.searchsorted(self._ends, place, side="right") - 1
        return _TermPlaces(
            branch=branch,
            member=(number // solutions).astype(np.int64),
            piece=piece,
            words=_words(place - self._ends[piece]),
            rest=number % factor,
        )

    def _terms(self, piece: Ints, words: Words, scratch: JoinScratch, stop: Ints) -> Found:
        """Find the terms of numbers in ascending order; they mean nothing if it was stopped."""
        way = self._way
        chosen, first = np.unique(piece, return_index=True)
        branches = Branches(*(field[chosen] for field in self._pieces))
        levels = len(way.summed)
        lines = len(way.crossing)
        found = Found(
            entries=np.empty((len(piece), levels), np.int64),
            totals=np.empty((len(piece), lines), np.int64),
            rest=np.empty(len(piece), np.uint64),
        )
        asked = np.append(first, len(piece))
        status = find_terms(way.index, *scratch, branches, asked, words, found, stop)
        if status == TOO_LARGE:
            raise too_large()
        if status == MISSED:
            raise MismatchError("a part of the sum has fewer solutions than before: this is a bug")
        return found

    def _names(
        self, known: _GridTables, found: Found, left: NDArray[Any], stop: Ints
    ) -> tuple[list[NDArray[np.uint8]], list[NDArray[np.uint8]]] | None:
        """Write the words of the lines for numbers in terms, ``left``; None if it was stopped."""
        way = self._way
        levels = len(way.summed)
        lines = len(way.crossing)
        names: list[Any] = [None] * (levels + lines)
        for line in reversed(range(lines)):
            maps = way.crossing[line]
            whole = found.totals[:, line].astype(self._dtype) * maps.factor
            left, number = left // whole, left % whole
            place = np.empty((len(number), 2), np.int64)
            place[:, 1] = number // maps.factor
            size = int(way.index.words[line])
            words = np.empty(size, np.uint64)
            before = np.empty(size + 1, np.int64)
            entries = found.entries
            multiplicity = maps.multiplicity
            find_crossing(way.index, entries, line, multiplicity, words, before, place, stop)
            if stop[0]:
                return None
            number = place[:, 1].astype(self._dtype) * maps.factor + number % maps.factor
            names[line] = known.crossing[line].names(place[:, 0], number)
        for level in reversed(range(levels)):
            maps = way.summed[level]
            entry = found.entries[:, level] - way.index.begin[level]
            whole = maps.multiplicity[entry].astype(self._dtype) * maps.factor
            left, number = left // whole, left % whole
            names[lines + way.order[level]] = known.summed[level].names(entry, number)
        return names[lines:], names[:lines]

    def _grids(
        self, summed: list[NDArray[np.uint8]], crossing: list[NDArray[np.uint8]]
    ) -> NDArray[np.uint8]:
        """Make grids of the words of lines, each uint8 (k, lines that it crosses, n)."""
        stacks, bands = (crossing, summed) if self._way.bands else (summed, crossing)
        geometry = self._join.geometry
        grids = np.empty((len(stacks[0]), geometry.cells), np.uint8)
        rows = np.arange(len(grids))[:, None]
        for i, band in enumerate(bands):
            for j, stack in enumerate(stacks):
                row = i * geometry.box_rows + band[:, j].astype(np.int64)
                column = j * geometry.box_columns + stack[:, i].astype(np.int64)
                grids[rows, row * geometry.n + column] = np.arange(geometry.n)
        return grids

    @cached_property
    def _known(self) -> _GridTables:
        join = self._join
        way = self._way
        summed, crossing = line_words(join)
        symmetries = [symmetry_of(swap, join.allowed, join.geometry) for swap in way.swaps]
        if not symmetries:
            return _GridTables(summed, crossing, None, symmetries)
        moves = way.moves()
        orbits = find_orbits(way.leaders(), moves, len(moves[0]))
        return _GridTables(summed, crossing, orbits, symmetries)


def too_large() -> TooExpensive:
    """Make the error of a sum whose numbers do not lead to solutions."""
    return TooExpensive("too expensive: the products of this board's sum pass 64 bits")


def _words(numbers: NDArray[Any]) -> Words:
    """Split integers below 2^128 into low words and high words: uint64 (k, 2)."""
    if numbers.dtype == np.int64:
        return np.column_stack([numbers, np.zeros_like(numbers)]).astype(np.uint64)
    return np.column_stack([numbers & LOW, numbers >> 64]).astype(np.uint64)
