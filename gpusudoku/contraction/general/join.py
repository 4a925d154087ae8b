"""Counting the solutions of a board of any shape as a join over the maps of its stacks.

With s a map of every stack, m its multiplicity and W the number of maps of a band that fit what
all of them have in the band:

    solutions = sum over (s_1 .. s_R) of  m_1(s_1) .. m_R(s_R)  W_1 .. W_C

or the same with bands and stacks exchanged, whichever is cheaper: an ``Orientation``. Where terms
or sums do not fit into machine words, they are taken modulo primes, and their remainders combined.
"""

from __future__ import annotations

import time
from math import isqrt, prod

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general.boxes import (
    JoinScratch,
    Sides,
    allowed_lines,
    bytes_needed,
    index_steps,
    list_sides,
    make_index,
    scratch_bytes,
    without_seen,
)
from gpusudoku.contraction.general.graph import MAX_MAPS
from gpusudoku.contraction.general.maps import Ints, Words
from gpusudoku.contraction.general.symmetries import (
    free_swaps,
    images_of,
    least_of_orbits,
    moves_of_pairs,
)
from gpusudoku.contraction.protocol import UNBOUNDED, Effort
from gpusudoku.errors import TooExpensive
from gpusudoku.jobs.forks import cached_property
from gpusudoku.kernels.compile_many import ready
from gpusudoku.kernels.contraction.general.arrays import Branches
from gpusudoku.kernels.contraction.general.join import join, probe
from gpusudoku.kernels.contraction.general.lists import group, list_paths, orthogonal, scatter

MEMORY = 1 << 31
"""Bytes that a contraction may take, by default."""
STEP_SECONDS = 1e-9
"""One step of the sum takes about this long."""
INDEX_SECONDS = 2e-9
"""The time of a step of indexing the lists, see ``index_steps``."""
TASK_STEPS = 1 << 26
"""A task is not longer than about this, for progress."""
MIN_STEPS = 1 << 20
"""Nothing shorter is cut into tasks."""
MAX_TASKS = 1 << 16
"""A sum has about this many tasks at most, however long they get."""
TASKS = 128
"""A sum has at least this many tasks if they are not too short."""
KERNELS = group, list_paths, orthogonal, scatter, probe, join

MAX_PAIRS = 1 << 20
"""Pairs of entries among which orbits are sought, at most."""
MIN_SAVING = 4
"""Branches of one pair each do not share the work for their first entries. So there have to be
fewer orbits than pairs by this factor."""
WALKS = 32
"""Walks of the probe."""
WORDS_PER_LEVEL = 1 << 18
"""Words that a walk of the probe looks at on one level, about."""


def primes_above(bound: int) -> Words:
    """Find primes below 2^31 whose product is larger than a bound, the largest first: uint64."""
    primes: list[int] = []
    number = 1 << 31
    while prod(primes) <= bound:
        number -= 1
        if all(number % k for k in range(2, isqrt(number) + 1)):
            primes.append(number)
    return np.array(primes, np.uint64)


def combine(remainders: list[int], primes: list[int]) -> int:
    """Return the least number with remainders modulo primes; without these, with two words."""
    if not primes:
        return remainders[0] + (remainders[1] << 64)
    number, modulus = 0, 1
    for remainder, prime in zip(remainders, primes, strict=True):
        number += modulus * ((remainder - number) * pow(modulus, -1, prime) % prime)
        modulus *= prime
    return number


class Orientation:
    """One of the two ways to sum a board: over the lists of stacks, or of bands; none is empty.

    ``swaps`` are of digits, and leave all lists as they are: one branch of every orbit is summed.
    ``summed``, ``crossing``, ``pairs`` and ``bands`` are as in ``Sides``, the lines in the order in
    which they are summed; ``order`` has their numbers.
    """

    def __init__(self, sides: Sides, swaps: list[tuple[int, int]]) -> None:
        # Short lists come first: there are few branches near the root.
        order = sorted(range(len(sides.summed)), key=lambda j: len(sides.summed[j]))
        self.order = order
        self.bands = sides.bands
        self.swaps = swaps
        self.summed = [sides.summed[j].arrange(range(len(sides.crossing))) for j in order]
        # Sorted like this, the maps that fit an entry of the first list lie in few words.
        self.crossing = [line.arrange(order) for line in sides.crossing]
        self.pairs = [[boxes[j] for j in order] for boxes in sides.pairs]
        self.index = make_index(Sides(self.summed, self.crossing, self.pairs))
        """The lists as kernels read them."""
        self._by_pairs = False
        self.branches = self._choose_branches()
        tries = max(1, int(WORDS_PER_LEVEL // self.index.words.sum()))
        levels = self.scratch().levels
        self._branch_steps = probe(self.index, levels, self.branches, WALKS, tries)
        self.steps = max(1, int(self._branch_steps * len(self.branches.first)))
        """Words that the whole sum looks at, estimated."""
        self.scratch_bytes = scratch_bytes(sides)

    def _choose_branches(self) -> Branches:
        """Make a branch for each first entry, or for each pair of entries; one of every orbit."""
        sizes = [len(line) for line in self.summed]
        begin, end = (sizes[0], sizes[0] + sizes[1]) if len(sizes) > 1 else (0, 1)
        firsts = np.arange(sizes[0])
        weights = np.ones_like(firsts)
        if self.swaps:
            first = self._images(0)
            firsts, weights = np.unique(least_of_orbits(first), return_counts=True)
            if len(sizes) > 1 and sizes[0] * sizes[1] <= MAX_PAIRS:
                labels = least_of_orbits(moves_of_pairs(first, self._images(1)))
                pairs, pair_weights = np.unique(labels, return_counts=True)
                if MIN_SAVING * len(pairs) <= len(firsts) * sizes[1]:
                    self._by_pairs = True
                    one, other = np.divmod(pairs, sizes[1])
                    return Branches(one, begin + other, begin + other + 1, pair_weights)
        return Branches(firsts, np.full_like(firsts, begin), np.full_like(firsts, end), weights)

    def _images(self, level: int) -> list[Ints]:
        """Find the images of the entries of a summed line under every swap."""
        return [images_of(self.summed[level], swap) for swap in self.swaps]

    def moves(self) -> list[Ints]:
        """Find the images of first entries, or of pairs with second ones, under every swap."""
        first = self._images(0)
        return moves_of_pairs(first, self._images(1)) if self._by_pairs else first

    def leaders(self) -> Ints:
        """Return the number of every branch among those of ``moves``: int64 (branches)."""
        if not self._by_pairs:
            return self.branches.first
        seconds = self.branches.begin - self.index.begin[1]
        leaders: Ints = self.branches.first * len(self.summed[1]) + seconds
        return leaders

    def cut(self, steps: int) -> tuple[Branches, int]:
        """Cut every branch into as many pieces, of about ``steps`` steps; return their number."""
        first, begin, end, weight = self.branches
        ranges = end - begin
        cuts = min(int(self._branch_steps // steps) + 1, int(ranges.max()))
        ends = begin[:, None] + ranges[:, None] * np.arange(cuts + 1) // cuts
        firsts = np.repeat(first, cuts)
        weights = np.repeat(weight, cuts)
        return Branches(firsts, ends[:, :-1].ravel(), ends[:, 1:].ravel(), weights), cuts

    def tasks(self, steps: int) -> list[Branches]:
        """Cut the sum into tasks of about the given number of steps."""
        # The range of second entries is cut where a branch is expected to take too long.
        pieces, _ = self.cut(steps)
        branches = len(pieces.first)
        size = max(1, int(steps * branches // self.steps))
        at = range(size, branches, size)
        return [Branches(*task) for task in zip(*(np.split(f, at) for f in pieces), strict=True)]

    def scratch(self) -> JoinScratch:
        """Make the memory in which a thread sums."""
        return JoinScratch.of(self.index)

    @property
    def term_bound(self) -> int:
        """A number that no term of the sum exceeds."""
        most = prod(int(line.multiplicity.max()) for line in self.summed)
        return most * prod(line.total for line in self.crossing)

    def sum(
        self, branches: Branches, primes: Words, scratch: JoinScratch, stop: Ints
    ) -> tuple[Words, int]:
        """Sum some branches, each by itself.

        Primes are below 2^31; if there are none, ``term_bound`` must be below 2^63. Returns uint64
        (branches, 2), low word and high word, or (branches, primes), modulo each; and the number of
        terms, -1 if it was stopped.
        """
        out = np.zeros((len(branches.first), len(primes) or 2), np.uint64)
        return out, join(self.index, *scratch, branches, primes, stop, out)


class Join:
    """The sum for one board: listed when made, then summed by the task; see ``Contraction``.

    ``candidates`` is uint64 (n * n), bit d - 1 for digit d; one bit in a fixed cell. They must
    follow from the fixed cells: a candidate that was removed for any other reason, such as a guess,
    may come back. TooExpensive is raised, with figures, if there are more than ``most_maps`` maps
    of a line, or if it takes more than ``memory`` bytes, about, or more than the effort.

    As checks, it sums all maps that differ by a swap of digits if it is not ``symmetric``, and sums
    modulo primes even where two words would do if it is ``wide``.
    """

    device_sum = None

    def __init__(
        self,
        candidates: NDArray[np.uint64],
        geometry: Geometry,
        *,
        most_maps: int = MAX_MAPS,
        memory: int = MEMORY,
        symmetric: bool = True,
        wide: bool = False,
        effort: Effort = UNBOUNDED,
    ) -> None:
        ready(KERNELS)
        start = time.perf_counter()
        self.steps, self.factor = 0, 1
        self.orientation: Orientation | None = None
        """None if it is known that there is no solution; then ``steps`` is 0."""
        self.geometry, self.allowed = geometry, (np.zeros(0, bool),) * 2
        """``allowed`` is from ``allowed_lines``, if there are lists."""
        self.primes: Words = np.zeros(0, np.uint64)
        """See ``Orientation.sum``."""
        left = without_seen(candidates, geometry)
        allowed = None if left is None else allowed_lines(left, geometry)
        sides = None if allowed is None else list_sides(*allowed, most_maps, memory, effort)
        if allowed is not None and sides is not None:
            self.allowed = allowed
            swaps = free_swaps(allowed) if symmetric else []
            orientation = self.orientation = _cheaper(sides, swaps, memory, effort)
            self.steps = orientation.steps
            lines = [*sides.summed, *sides.crossing]
            self.factor = prod(line.factor for line in lines)
            if wide or orientation.term_bound >= 1 << 63:
                self.primes = primes_above(prod(line.total for line in lines))
        self.seconds = self.steps * STEP_SECONDS
        self.listing_seconds = time.perf_counter() - start

    def most_threads(self, memory: int) -> int:
        thread_bytes = 1 if self.orientation is None else self.orientation.scratch_bytes
        return max(1, memory // thread_bytes)

    def prepare(self, threads: int) -> None:
        """Nothing is left to prepare."""

    @cached_property
    def _tasks(self) -> list[Branches]:
        """The branches of each task."""
        if self.orientation is None:
            return []
        steps = max(MIN_STEPS, min(TASK_STEPS, self.steps // TASKS), self.steps // MAX_TASKS)
        return self.orientation.tasks(steps)

    @property
    def tasks(self) -> int:
        return len(self._tasks)

    def scratch(self) -> JoinScratch:
        assert self.orientation is not None
        return self.orientation.scratch()

    def sum(self, tasks: range, scratch: JoinScratch, stop: Ints) -> tuple[int, int]:
        """See ``Contraction``; the products are the terms of the sum."""
        assert self.orientation is not None
        total, terms = 0, 0
        primes = self.primes.tolist()
        for task in tasks:
            branches = self._tasks[task]
            sums, found = self.orientation.sum(branches, self.primes, scratch, stop)
            if found < 0:
                return 0, 0
            terms += found
            for row, weight in zip(sums.tolist(), branches.weight.tolist(), strict=True):
                total += weight * combine(row, primes)
        return total, terms


def _cheaper(
    sides: Sides, swaps: list[tuple[int, int]], memory: int, effort: Effort
) -> Orientation:
    """Choose whether to sum over stacks or bands, by steps; or raise TooExpensive."""
    best: Orientation | None = None
    # First that with fewer ways to choose an entry of every summed line.
    choices = sorted([sides, sides.exchanged], key=lambda choice: prod(map(len, choice.summed)))
    needs = [bytes_needed(choice) for choice in choices]
    for choice, need in zip(choices, needs, strict=True):
        if need > memory:
            continue
        steps = index_steps(choice)
        # To index this orientation may take longer than to sum in the other.
        if best is not None and (best.steps < need or not effort.covers(steps, INDEX_SECONDS)):
            continue
        effort.spend(steps, INDEX_SECONDS)
        orientation = Orientation(choice, swaps)
        if best is None or orientation.steps < best.steps:
            best = orientation
    if best is None:
        raise TooExpensive(
            f"too expensive to contract: {min(needs):,} bytes of memory, more than {memory:,}"
        )
    return best
