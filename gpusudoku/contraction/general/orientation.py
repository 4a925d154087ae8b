"""The sum over the maps of the stacks, or of the bands: its branches, its cost, its bounds."""

from __future__ import annotations

from math import prod

import numpy as np

from gpusudoku.contraction.general.boxes import Sides
from gpusudoku.contraction.general.index import JoinScratch, make_index, scratch_bytes
from gpusudoku.contraction.general.maps import Ints, Words
from gpusudoku.contraction.general.orbits import images, moves_of_pairs, orbits
from gpusudoku.kernels.contraction.general.arrays import Branches
from gpusudoku.kernels.contraction.general.join import join, probe

MOST_PAIRS = 1 << 20
"""Pairs of entries among which orbits are sought, at most."""
LEAST_SAVING = 4
"""Branches of one pair each do not share the work for their first entries. So there have to be
fewer orbits than pairs by this factor."""
WALKS = 32
"""Walks of the probe."""
WORDS_PER_LEVEL = 1 << 18
"""Words that a walk of the probe looks at on one level, about."""


class Orientation:
    """One of the two ways to sum a board.

    Parameters
    ----------
    sides
        The lists, none of them empty.
    swaps
        Digits that may be swapped in all lists.

    Attributes
    ----------
    steps
        Words that the whole sum looks at, estimated.
    scratch_bytes
        What each thread takes, about.
    summed, crossing
        The lists, those of the summed lines as they are summed.
    order
        Which line each of the summed lines is.
    bands
        Whether the bands are summed.
    pairs
        As in ``Sides``, for the lists as they are here.
    index
        The lists as kernels read them.
    branches
        All branches of the sum.
    swaps
        Those of digits, of which each orbit of branches has one branch.
    """

    def __init__(self, sides: Sides, swaps: list[tuple[int, int]]) -> None:
        # Short lists come first: there are few branches near the root.
        order = sorted(range(len(sides.summed)), key=lambda j: len(sides.summed[j]))
        self.order, self.bands, self.swaps = order, sides.bands, swaps
        self.summed = [sides.summed[j].arranged(range(len(sides.crossing))) for j in order]
        # Sorted like this, the maps that fit an entry of the first list lie in few words.
        self.crossing = [line.arranged(order) for line in sides.crossing]
        self.pairs = [[boxes[j] for j in order] for boxes in sides.pairs]
        self.index = make_index(Sides(self.summed, self.crossing, self.pairs))
        self._by_pairs = False
        self.branches = self._choose_branches()
        tries = max(1, int(WORDS_PER_LEVEL // self.index.words.sum()))
        levels = self.scratch().levels
        self._branch_steps = probe(self.index, levels, self.branches, WALKS, tries)
        self.steps = max(1, int(self._branch_steps * len(self.branches.first)))
        self.scratch_bytes = scratch_bytes(sides)

    def _choose_branches(self) -> Branches:
        """A branch for each first entry, or for each pair of entries; one of every orbit."""
        sizes = [len(line) for line in self.summed]
        begin, end = (sizes[0], sizes[0] + sizes[1]) if len(sizes) > 1 else (0, 1)
        firsts = np.arange(sizes[0])
        weights = np.ones_like(firsts)
        if self.swaps:
            first = [images(self.summed[0], swap) for swap in self.swaps]
            alone = [np.zeros(1, np.int64)] * len(first)
            firsts, weights = np.unique(orbits(first, alone), return_counts=True)
            pairs = sizes[0] * (end - begin)
            if len(sizes) > 1 and pairs <= MOST_PAIRS:
                second = [images(self.summed[1], swap) for swap in self.swaps]
                found, found_weights = np.unique(orbits(first, second), return_counts=True)
                if LEAST_SAVING * len(found) <= len(firsts) * (end - begin):
                    self._by_pairs = True
                    one, other = np.divmod(found, end - begin)
                    return Branches(one, begin + other, begin + other + 1, found_weights)
        return Branches(firsts, np.full_like(firsts, begin), np.full_like(firsts, end), weights)

    def moves(self) -> list[Ints]:
        """For every swap int64: which branch each becomes, of those that there are without swaps.

        They are numbered: first entries, or pairs of a first and a second entry, row by row.
        """
        first = [images(self.summed[0], swap) for swap in self.swaps]
        if not self._by_pairs:
            return first
        return moves_of_pairs(first, [images(self.summed[1], swap) for swap in self.swaps])

    def leaders(self) -> Ints:
        """int64 (branches): which of those that ``moves`` numbers each branch is."""
        if not self._by_pairs:
            return self.branches.first
        seconds = self.branches.begin - self.index.begin[1]
        leaders: Ints = self.branches.first * len(self.summed[1]) + seconds
        return leaders

    def cut(self, steps: int) -> tuple[Branches, int]:
        """Cut every branch into the same number of pieces, of about so many steps or less.

        Returns the pieces of all branches, those of each together, and how many it has.
        """
        first, begin, end, weight = self.branches
        ranges = end - begin
        cuts = min(int(self._branch_steps // steps) + 1, int(ranges.max()))
        ends = begin[:, None] + ranges[:, None] * np.arange(cuts + 1) // cuts
        fields = (
            np.repeat(first, cuts), ends[:, :-1].ravel(), ends[:, 1:].ravel(),
            np.repeat(weight, cuts),
        )  # fmt: skip
        return Branches(*fields), cuts

    def tasks(self, steps: int) -> list[Branches]:
        """Cut the sum into tasks of about the given number of steps."""
        # The range of second entries is cut where a branch is expected to take too long.
        pieces, _ = self.cut(steps)
        branches = len(pieces.first)
        size = max(1, int(steps * branches // self.steps))
        at = range(size, branches, size)
        return [Branches(*task) for task in zip(*(np.split(f, at) for f in pieces), strict=True)]

    def scratch(self) -> JoinScratch:
        """Make what a thread needs to sum in."""
        return JoinScratch.of(self.index)

    @property
    def term_bound(self) -> int:
        """A number that no term of the sum exceeds."""
        most = prod(int(line.multiplicity.max()) for line in self.summed)
        return most * prod(line.total for line in self.crossing)

    @property
    def sum_bound(self) -> int:
        """A number that no sum of terms exceeds."""
        return prod(line.total for line in [*self.summed, *self.crossing])

    def sum(
        self, branches: Branches, primes: Words, scratch: JoinScratch, stop: Ints
    ) -> tuple[Words, int]:
        """Sum some branches, each by itself.

        Parameters
        ----------
        branches
            What to sum.
        primes
            uint64 (primes): primes below 2^31. If there are none, ``term_bound`` must be below
            2^63.
        scratch
            What to sum in.
        stop
            int64 (1): not 0 to stop.

        Returns
        -------
        uint64 (branches, 2), low word and high word, or (branches, primes), modulo each; and the
        number of terms, -1 if it was stopped.
        """
        out = np.zeros((len(branches.first), len(primes) or 2), np.uint64)
        return out, join(self.index, *scratch, branches, primes, stop, out)
