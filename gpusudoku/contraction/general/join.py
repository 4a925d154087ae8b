"""Counting the solutions of a board of any shape as a join over the lists of its stacks.

Let x_j be an entry of the list of stack j, m its multiplicity, and W_i the number of maps of band i
whose partitions are orthogonal to those of all x_j. Then

    solutions = sum over x_1 .. x_R of  m(x_1) .. m(x_R)  W_1 .. W_C

or the same with bands and stacks exchanged, whichever is cheaper: an ``Orientation``. If terms or
sums do not fit into machine words, they are computed modulo primes, and combined from these.
"""

from __future__ import annotations

import time
from math import isqrt, prod

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general.boxes import (
    CrossingLists,
    JoinScratch,
    allowed_in_lines,
    count_index_steps,
    estimate_bytes,
    estimate_scratch_bytes,
    make_index,
    make_lists,
    remove_seen_candidates,
)
from gpusudoku.contraction.general.entry_lists import Bools, Ints, Words
from gpusudoku.contraction.general.graph import MAX_MAPS
from gpusudoku.contraction.general.symmetries import (
    find_entry_images,
    find_free_swaps,
    find_least_members,
    find_pair_images,
)
from gpusudoku.contraction.protocol import UNBOUNDED, Effort
from gpusudoku.errors import TooExpensive
from gpusudoku.jobs.forks import cached_property
from gpusudoku.kernels.compile_many import load_kernels
from gpusudoku.kernels.contraction.general.arrays import Branches
from gpusudoku.kernels.contraction.general.join import join, probe
from gpusudoku.kernels.contraction.general.lists import (
    list_paths,
    make_bit_sets,
    mark_orthogonal,
    number_equal_rows,
)

MEMORY = 1 << 31
"""By default, the largest number of bytes of a contraction."""
STEP_SECONDS = 1e-9
"""The time of one step of the sum: of a word that the sum looks at."""
INDEX_SECONDS = 2e-9
"""The time of a step of indexing the lists: see ``count_index_steps``."""
MAX_TASK_STEPS = 1 << 26
"""The approximate largest size of a task, for the sake of the progress bar."""
MIN_STEPS = 1 << 20
"""The smallest size of a task."""
MAX_TASKS = 1 << 16
"""The approximate largest number of tasks of a sum, however large they become."""
MIN_TASKS = 128
"""The smallest number of tasks of a sum, unless they would be too small."""
KERNELS = number_equal_rows, list_paths, mark_orthogonal, make_bit_sets, probe, join

MAX_PAIRS = 1 << 20
"""The largest number of pairs of entries among which orbits are searched."""
MIN_SAVING = 4
"""Branches of one pair each do not share the work for their first entries. So they must reduce the
number of pairs by at least this factor."""
WALKS = 32
"""The number of walks of the probe."""
WORDS_PER_LEVEL = 1 << 18
"""The approximate number of words that a walk of the probe looks at on one level."""


def primes_above(bound: int) -> Words:
    """Find primes below 2^31 whose product is larger than a bound, the largest first: uint64."""
    primes: list[int] = []
    number = 1 << 31
    while prod(primes) <= bound:
        number -= 1
        if all(number % k for k in range(2, isqrt(number) + 1)):
            primes.append(number)
    return np.array(primes, np.uint64)


def combine_remainders(remainders: list[int], moduli: list[int]) -> int:
    """Return the least number with some remainders, by the Chinese remainder theorem.

    Without moduli the remainders are the low word and the high word of the number.
    """
    if not moduli:
        return remainders[0] + (remainders[1] << 64)
    # Invariant: ``number`` has the right remainders modulo all factors of ``product``.
    number = 0
    product = 1
    for remainder, modulus in zip(remainders, moduli, strict=True):
        number += product * ((remainder - number) * pow(product, -1, modulus) % modulus)
        product *= modulus
    return number


class Orientation:
    """One of the two ways to sum a board: over the lists of stacks, or of bands; none is empty.

    ``swaps`` are pairs of digits whose swap leaves all lists unchanged, so that one branch of every
    orbit is summed. ``summed``, ``crossing``, ``orthogonal`` and ``bands_are_summed`` are as in
    ``CrossingLists``, with the summed lines in the order of the levels.
    """

    def __init__(self, lists: CrossingLists, swaps: list[tuple[int, int]]) -> None:
        # Short lists come first, so that there are few branches near the root.
        self.order = sorted(range(len(lists.summed)), key=lambda j: len(lists.summed[j]))
        """The number of the summed line of every level."""
        self.bands_are_summed = lists.bands_are_summed
        self.swaps = swaps
        self.summed = [lists.summed[j].arrange(range(len(lists.crossing))) for j in self.order]
        # Sorted like this, the entries that fit an entry of the first level are in few words.
        self.crossing = [line.arrange(self.order) for line in lists.crossing]
        self.orthogonal = [[boxes[j] for j in self.order] for boxes in lists.orthogonal]
        self.index = make_index(CrossingLists(self.summed, self.crossing, self.orthogonal))
        """The lists as the kernels read them."""
        self._branches_have_pairs = False
        self.branches = self._choose_branches()
        # The probe estimates the steps of a branch, as a mean over all branches.
        tries = max(1, int(WORDS_PER_LEVEL // self.index.set_words.sum()))
        levels = self.scratch().levels
        self._branch_steps = probe(self.index, levels, self.branches, WALKS, tries)
        self.steps = max(1, int(self._branch_steps * len(self.branches.first_entry)))
        """The estimated number of words that the whole sum looks at."""
        self.scratch_bytes = estimate_scratch_bytes(lists)

    def _choose_branches(self) -> Branches:
        """Make a branch for each first entry, or for each pair of entries; one of every orbit."""
        first_size = len(self.summed[0])
        if not self.swaps:
            first_entries = np.arange(first_size)
            return self._branches_of_first_entries(first_entries, np.ones_like(first_entries))
        first_images = self._entry_images(0)
        first_entries, weights = np.unique(find_least_members(first_images), return_counts=True)
        # A swap that fixes a first entry may exchange second entries, so pairs may save more.
        if len(self.summed) > 1 and first_size * len(self.summed[1]) <= MAX_PAIRS:
            second_size = len(self.summed[1])
            pair_images = find_pair_images(first_images, self._entry_images(1))
            least_pairs = find_least_members(pair_images)
            pairs, pair_weights = np.unique(least_pairs, return_counts=True)
            if MIN_SAVING * len(pairs) <= len(first_entries) * second_size:
                self._branches_have_pairs = True
                pair_first_entries, pair_second_entries = np.divmod(pairs, second_size)
                begin = self.index.begin[1] + pair_second_entries
                return Branches(pair_first_entries, begin, begin + 1, pair_weights)
        return self._branches_of_first_entries(first_entries, weights)

    def _branches_of_first_entries(self, first_entries: Ints, weights: Ints) -> Branches:
        """Make branches with all second entries; with one level, their range is of length 1."""
        begin = 0
        end = 1
        if len(self.summed) > 1:
            begin, end = self.index.begin[1:3]
        return Branches(
            first_entries,
            np.full_like(first_entries, begin),
            np.full_like(first_entries, end),
            weights,
        )

    def _entry_images(self, level: int) -> list[Ints]:
        """Find the images of the entries of a level under every swap."""
        return [find_entry_images(self.summed[level], swap) for swap in self.swaps]

    def moves(self) -> list[Ints]:
        """Find the images of first entries, or of pairs of entries, under every swap.

        They are the items of the orbits: a branch is the representative of an orbit.
        """
        first_images = self._entry_images(0)
        if not self._branches_have_pairs:
            return first_images
        return find_pair_images(first_images, self._entry_images(1))

    def representatives(self) -> Ints:
        """Return the item of every branch, an index of the arrays of ``moves``."""
        if not self._branches_have_pairs:
            return self.branches.first_entry
        # The entries of all levels are numbered in a row; those of level 1 from begin[1] on.
        second = self.branches.begin - self.index.begin[1]
        pairs: Ints = self.branches.first_entry * len(self.summed[1]) + second
        return pairs

    def cut(self, steps: int) -> tuple[Branches, int]:
        """Cut every branch into the same number of pieces; return the pieces, and that number.

        The pieces have ranges of second entries, and take about ``steps`` steps each.
        """
        first_entry, begin, end, weight = self.branches
        lengths = end - begin
        pieces = min(int(self._branch_steps // steps) + 1, int(lengths.max()))
        bounds = begin[:, None] + lengths[:, None] * np.arange(pieces + 1) // pieces
        branches = Branches(
            first_entry=np.repeat(first_entry, pieces),
            begin=bounds[:, :-1].ravel(),
            end=bounds[:, 1:].ravel(),
            weight=np.repeat(weight, pieces),
        )
        return branches, pieces

    def tasks(self, steps: int) -> list[Branches]:
        """Cut the sum into tasks of about ``steps`` steps."""
        # Branches that are expected to take longer are cut; short ones are put together.
        pieces, _ = self.cut(steps)
        piece_count = len(pieces.first_entry)
        task_pieces = max(1, int(steps * piece_count // self.steps))
        bounds = range(task_pieces, piece_count, task_pieces)
        split_fields = (np.split(field, bounds) for field in pieces)
        return [Branches(*fields) for fields in zip(*split_fields, strict=True)]

    def scratch(self) -> JoinScratch:
        """Make the memory in which a thread sums."""
        return JoinScratch.of(self.index)

    @property
    def term_bound(self) -> int:
        """An upper bound of the terms of the sum."""
        max_multiplicities = (int(line.multiplicity.max()) for line in self.summed)
        totals = (line.total for line in self.crossing)
        return prod(max_multiplicities) * prod(totals)

    def sum(
        self, branches: Branches, primes: Words, scratch: JoinScratch, stop: Ints
    ) -> tuple[Words, int]:
        """Sum branches, each by itself.

        Primes must be below 2^31. Without primes, ``term_bound`` must be below 2^63. Returns the
        sums, as uint64 (branches, 2), low word and high word, or uint64 (branches, primes), modulo
        each prime; and the number of terms, -1 if ``stop[0]`` was not 0.
        """
        sums = np.zeros((len(branches.first_entry), len(primes) or 2), np.uint64)
        return sums, join(self.index, *scratch, branches, primes, stop, sums)


class Join:
    """The contraction of one board: listed when made, then summed task by task.

    See ``Contraction``. ``candidates`` is uint64 (n * n), bit d - 1 for digit d; a fixed cell has
    one bit. The candidates must follow from the fixed cells: a candidate that was removed for
    another reason, such as a guess, may be counted nevertheless. TooExpensive is raised, with the
    figures, if a line has more than ``max_maps`` maps, or if the contraction exceeds about
    ``memory`` bytes or the effort.

    Two arguments serve as checks: without ``symmetric`` every branch is summed, and with ``wide``
    sums are taken modulo primes even where two words suffice.
    """

    device_sum = None

    def __init__(
        self,
        candidates: NDArray[np.uint64],
        geometry: Geometry,
        *,
        max_maps: int = MAX_MAPS,
        memory: int = MEMORY,
        symmetric: bool = True,
        wide: bool = False,
        effort: Effort = UNBOUNDED,
    ) -> None:
        load_kernels(KERNELS)
        start = time.perf_counter()
        self.geometry = geometry
        self.steps = 0
        self.factor = 1
        self.orientation: Orientation | None = None
        """None if it is known that there is no solution; then ``steps`` is 0."""
        self.allowed: tuple[Bools, Bools] = (np.zeros(0, bool),) * 2
        """The result of ``allowed_in_lines``, if there are lists."""
        self.primes: Words = np.zeros(0, np.uint64)
        """See ``Orientation.sum``."""
        remaining = remove_seen_candidates(candidates, geometry)
        if remaining is not None:
            allowed = allowed_in_lines(remaining, geometry)
            lists = make_lists(*allowed, max_maps, memory, effort)
            if lists is not None:
                self.allowed = allowed
                swaps = find_free_swaps(allowed) if symmetric else []
                self.orientation = _choose_orientation(lists, swaps, memory, effort)
                self.steps = self.orientation.steps
                lines = [*lists.summed, *lists.crossing]
                self.factor = prod(line.factor for line in lines)
                if wide or self.orientation.term_bound >= 1 << 63:
                    # The sum is at most the number of combinations of maps of all lines.
                    self.primes = primes_above(prod(line.total for line in lines))
        # ``steps`` is deterministic, and so is the estimate; only listing is timed.
        self.seconds = self.steps * STEP_SECONDS
        self.listing_seconds = time.perf_counter() - start

    def max_threads(self, memory: int) -> int:
        thread_bytes = 1 if self.orientation is None else self.orientation.scratch_bytes
        return max(1, memory // thread_bytes)

    def prepare(self, threads: int) -> None:
        """Do nothing: the constructor has prepared the sum."""

    @cached_property
    def _task_branches(self) -> list[Branches]:
        """The branches of each task."""
        if self.orientation is None:
            return []
        # MAX_TASKS counts most: a long sum has larger tasks than MAX_TASK_STEPS.
        task_steps = max(
            MIN_STEPS, min(MAX_TASK_STEPS, self.steps // MIN_TASKS), self.steps // MAX_TASKS
        )
        return self.orientation.tasks(task_steps)

    @property
    def tasks(self) -> int:
        return len(self._task_branches)

    def scratch(self) -> JoinScratch:
        assert self.orientation is not None
        return self.orientation.scratch()

    def sum(self, tasks: range, scratch: JoinScratch, stop: Ints) -> tuple[int, int]:
        """See ``Contraction``; the products are the terms of the sum."""
        assert self.orientation is not None
        total = 0
        term_count = 0
        primes = self.primes.tolist()
        for task in tasks:
            branches = self._task_branches[task]
            sums, branch_terms = self.orientation.sum(branches, self.primes, scratch, stop)
            if branch_terms < 0:
                return 0, 0
            term_count += branch_terms
            for remainders, weight in zip(sums.tolist(), branches.weight.tolist(), strict=True):
                total += weight * combine_remainders(remainders, primes)
        return total, term_count


def _choose_orientation(
    lists: CrossingLists, swaps: list[tuple[int, int]], memory: int, effort: Effort
) -> Orientation:
    """Choose whether to sum over stacks or bands, by steps; or raise TooExpensive."""
    cheapest: Orientation | None = None
    # The one with fewer combinations of entries of the summed lines is likely the cheaper one.
    choices = sorted(
        [lists, lists.exchanged], key=lambda choice: prod(len(line) for line in choice.summed)
    )
    needed_bytes = [estimate_bytes(choice) for choice in choices]
    for choice, choice_bytes in zip(choices, needed_bytes, strict=True):
        if choice_bytes > memory:
            continue
        index_steps = count_index_steps(choice)
        # To index the second one may take longer than to sum the first one.
        if cheapest is not None and (
            cheapest.steps < choice_bytes or not effort.covers(index_steps, INDEX_SECONDS)
        ):
            continue
        effort.spend(index_steps, INDEX_SECONDS)
        orientation = Orientation(choice, swaps)
        if cheapest is None or orientation.steps < cheapest.steps:
            cheapest = orientation
    if cheapest is None:
        raise TooExpensive(
            f"too expensive to contract: {min(needed_bytes):,} bytes of memory, more than"
            f" {memory:,}"
        )
    return cheapest
