"""The solutions of a board in the order of its join, by number.

The order depends on the board alone: branches as ``Orientation`` has them, the members of each
one's orbit, the terms as the walk meets them, and in a term the words of the summed lines and of
the crossing lines, in the order of the lists; the last changes fastest. Solutions of other members
of an orbit are those of its leader, in the same order, under the symmetry that leads there.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.contraction.general.join import Join
from gpusudoku.contraction.general.maps import Ints
from gpusudoku.contraction.general.orientation import Orientation
from gpusudoku.contraction.general.remainders import combined
from gpusudoku.contraction.general.symmetries import Symmetry, moved, named, orbits_of
from gpusudoku.contraction.general.words import LineWords, words_of
from gpusudoku.errors import TooExpensive
from gpusudoku.jobs.pieces import pieces
from gpusudoku.kernels.compiling import ready
from gpusudoku.kernels.contraction.general.arrays import Branches
from gpusudoku.kernels.contraction.general.numbers import Found, find_crossing, find_terms

KERNELS = find_terms, find_crossing
PIECE_STEPS = 1 << 20
"""Branches are cut into pieces of about so many steps: a number costs one of them."""
CALLS_PER_THREAD = 8
"""Calls into which work is cut for each thread, so that all threads end together."""
CALL_NUMBERS = 512
"""Numbers that are worth handing to another thread."""
LOW = (1 << 64) - 1


class JoinOrder:
    """All solutions of a board, by number.

    Parameters
    ----------
    join
        That of the board.
    threads
        On how many threads it works. What comes out does not depend on them.

    Raises
    ------
    TooExpensive
        Also by ``at``: if a term of the sum would pass one word.
    """

    def __init__(self, join: Join, threads: int = 1) -> None:
        ready(KERNELS)
        self.count = 0
        self._join, self._threads = join, threads
        if join.orientation is not None:
            self._way: Orientation = join.orientation
            if prod(int(line.multiplicity.max()) for line in self._way.summed) >= 1 << 63:
                raise too_large()
            self._sum_pieces()

    def _sum_pieces(self) -> None:
        way, factor = self._way, self._join.factor
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
        self._starts, self._solutions = (
            np.array(starts, self._dtype),
            np.array(branches, self._dtype),
        )
        """The first number of every branch with its orbit; the solutions of the branch alone."""

    def _sums(self) -> list[int]:
        """The sums of all pieces."""
        primes, stop = self._join.primes, np.zeros(1, np.int64)
        whole = range(len(self._pieces.first))

        def run(part: range) -> list[int]:
            chosen = Branches(*(field[part.start : part.stop] for field in self._pieces))
            rows, _ = self._way.sum(chosen, primes, self._way.scratch(), stop)
            known = primes.tolist()
            return [
                combined(row, known) if known else row[0] + (row[1] << 64) for row in rows.tolist()
            ]

        found = self._spread(run, pieces(whole, CALLS_PER_THREAD * self._threads))
        return [value for part in found for value in part]

    def _spread(self, run: Callable[[range], Any], parts: list[range]) -> list[Any]:
        """Run all parts, on threads if there are several."""
        if len(parts) < 2 or self._threads < 2:
            return [run(part) for part in parts]
        with ThreadPoolExecutor(self._threads) as pool:
            return [*pool.map(run, parts)]

    def at(self, numbers: NDArray[Any]) -> NDArray[np.uint8]:
        """The solutions with some numbers, from 0 to the count; see ``orders.protocol.Ordered``."""
        given = numbers.astype(self._dtype)
        branch = np.searchsorted(self._starts, given, side="right") - 1
        solutions, factor = self._solutions[branch], self._join.factor
        within = given - self._starts[branch]
        member = (within // solutions).astype(np.int64)
        # Places in the whole sum, as if there were no orbits; what is left over are the factors'.
        place = within % solutions // factor + self._ends[branch * self._cuts]
        piece = np.searchsorted(self._ends, place, side="right") - 1
        order = np.lexsort((_ranks(place), piece))
        grids = np.empty((len(given), self._join.geometry.cells), np.uint8)

        def run(part: range) -> None:
            rows = order[part.start : part.stop]
            grids[rows] = self._solved(
                piece[rows], place[rows] - self._ends[piece[rows]], within[rows] % factor
            )

        most = min(CALLS_PER_THREAD * self._threads, -(-len(order) // CALL_NUMBERS))
        self._spread(run, pieces(range(len(order)), most))
        if self._way.moves:
            orbits = self._orbits
            things = orbits.members[orbits.first[branch] + member]
            moved(grids, things, orbits, self._symmetries)
        return grids + np.uint8(1)

    def _solved(self, piece: Ints, numbers: NDArray[Any], over: NDArray[Any]) -> NDArray[np.uint8]:
        """The solutions of some pieces, uint8 (k, cells), digits from 0 on.

        ``piece`` is int64 (k), in ascending order, and so are the numbers in each piece.
        """
        way, factor = self._way, self._join.factor
        chosen, first = np.unique(piece, return_index=True)
        branches = Branches(*(field[chosen] for field in self._pieces))
        words = np.zeros((len(numbers), 2), np.uint64)
        words[:, 0] = numbers if numbers.dtype == np.int64 else numbers & LOW
        words[:, 1] = 0 if numbers.dtype == np.int64 else numbers >> 64
        levels, lines = len(way.summed), len(way.crossing)
        found = Found(
            entries=np.empty((len(piece), levels), np.int64),
            totals=np.empty((len(piece), lines), np.int64),
            rest=np.empty(len(piece), np.uint64),
        )
        asked = np.append(first, len(piece))
        scratch = way.scratch()
        if find_terms(way.index, *scratch, branches, asked, words, found):
            raise too_large()
        left = found.rest.astype(self._dtype) * factor + over
        names: list[Any] = [None] * (levels + lines)
        for line in reversed(range(lines)):
            maps = way.crossing[line]
            whole = found.totals[:, line].astype(self._dtype) * maps.factor
            left, number = left // whole, left % whole
            place = np.empty((len(piece), 2), np.int64)
            size = int(way.index.words[line])
            spare = np.empty(size, np.uint64), np.empty(size + 1, np.int64)
            wanted = (number // maps.factor).astype(np.int64)
            find_crossing(way.index, found.entries, line, maps.multiplicity, wanted, *spare, place)
            number = place[:, 1].astype(self._dtype) * maps.factor + number % maps.factor
            names[line] = self._words[1][line].names(place[:, 0], number)
        for level in reversed(range(levels)):
            maps = way.summed[level]
            entry = found.entries[:, level] - way.index.begin[level]
            whole = maps.multiplicity[entry].astype(self._dtype) * maps.factor
            left, number = left // whole, left % whole
            names[lines + way.order[level]] = self._words[0][level].names(entry, number)
        return self._grids(names[lines:], names[:lines])

    def _grids(
        self, summed: list[NDArray[np.uint8]], crossing: list[NDArray[np.uint8]]
    ) -> NDArray[np.uint8]:
        """Grids of words: those of each line are uint8 (k, lines that it crosses, n)."""
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
    def _words(self) -> tuple[list[LineWords], list[LineWords]]:
        """The words of the summed lines, as they are summed, and of the crossing lines."""
        return line_words(self._join)

    @cached_property
    def _symmetries(self) -> list[Symmetry]:
        join = self._join
        return [named(swap, join.allowed, join.geometry) for swap in self._way.swaps]

    @cached_property
    def _orbits(self) -> Any:
        way = self._way
        leaders = way.branches.first
        if len(way.moves[0]) > len(way.summed[0]):  # pairs
            leaders = leaders * len(way.summed[1]) + way.branches.begin - way.index.begin[1]
        return orbits_of(leaders, way.moves, len(way.moves[0]))


def line_words(join: Join) -> tuple[list[LineWords], list[LineWords]]:
    """The words of the summed lines of a join, as they are summed, and of the crossing lines."""
    way = join.orientation
    assert way is not None
    stacks, bands = join.allowed
    summed, crossing = (bands, stacks) if way.bands else (stacks, bands)
    first = [words_of(summed[line], maps) for line, maps in zip(way.order, way.summed, strict=True)]
    return first, [words_of(line, maps) for line, maps in zip(crossing, way.crossing, strict=True)]


def too_large() -> TooExpensive:
    """Why numbers do not lead to solutions."""
    return TooExpensive("too expensive: the products of this board's sum pass 64 bits")


def _ranks(places: NDArray[Any]) -> Ints:
    """What sorts as these numbers do: int64."""
    if places.dtype == np.int64:
        return places
    ranks = np.empty(len(places), np.int64)
    ranks[np.argsort(places, kind="stable")] = np.arange(len(places))
    return ranks
