"""Counting the solutions of a board of any shape as a join over the maps of its stacks.

With s a map of every stack, m its multiplicity and W the number of maps of a band that fit what
all of them have in the band:

    solutions = sum over (s_1 .. s_R) of  m_1(s_1) .. m_R(s_R)  W_1 .. W_C

or the same with bands and stacks exchanged, whichever is cheaper.
"""

from __future__ import annotations

import time
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general.boxes import (
    Sides,
    allowed_lines,
    list_maps,
    pruned,
    without_seen,
)
from gpusudoku.contraction.general.effort import UNBOUNDED, Effort
from gpusudoku.contraction.general.graph import MOST_MAPS
from gpusudoku.contraction.general.index import JoinScratch, bytes_needed, index_steps
from gpusudoku.contraction.general.maps import Ints, Words
from gpusudoku.contraction.general.orbits import free_swaps
from gpusudoku.contraction.general.orientation import Orientation
from gpusudoku.contraction.general.remainders import combined, primes_above
from gpusudoku.errors import TooExpensive
from gpusudoku.kernels.compiling import ready
from gpusudoku.kernels.contraction.general.arrays import Branches
from gpusudoku.kernels.contraction.general.join import join, probe
from gpusudoku.kernels.contraction.general.lists import group, list_paths, orthogonal, scatter

MEMORY = 1 << 31
"""Bytes that a contraction may take, unless it is told another number."""
STEP_SECONDS = 1e-9
"""One step of the sum takes about this long."""
INDEX_SECONDS = 2e-9
"""What a step of indexing the lists takes, see ``index_steps``."""
TASK_STEPS = 1 << 26
"""A task is not longer than about this, for progress."""
LEAST_STEPS = 1 << 20
"""Nothing shorter is cut into tasks."""
MOST_TASKS = 1 << 16
"""A sum has about this many tasks at most, however long they get."""
TASKS = 128
"""A sum has at least this many tasks if they are not too short."""


KERNELS = group, list_paths, orthogonal, scatter, probe, join
"""All that a join needs compiled."""


class Join:
    """The sum for one board: listed when made, then summed by the task; see ``Contraction``.

    Parameters
    ----------
    candidates
        uint64 (n * n): per cell the mask of digits that are possible, bit d - 1 for digit d; one
        bit in a fixed cell. They must follow from the fixed cells. A candidate that was removed
        for any other reason, such as a guess, may come back.
    geometry
        The shape of the board.
    most_maps
        Maps of a stack or band that are listed, at most.
    memory
        Bytes that may be taken, about.
    symmetric
        Whether maps that differ by a swap of digits are summed once. If not, all are, as a check.
    effort
        What may be spent on making this.
    wide
        Whether to sum modulo primes even where two words would do, as a check.

    Raises
    ------
    TooExpensive
        If a bound is exceeded. The text gives the figures.

    Attributes
    ----------
    steps
        Words that the whole sum looks at, estimated; 0 if it is known that there is no solution.
    factor
        The number that the sum of all tasks is to be multiplied by.
    seconds, listing_seconds
        See ``Contraction``.
    orientation
        How it is summed; None if it is known that there is no solution.
    geometry
        The shape of the board.
    allowed
        What ``allowed_lines`` gives for the lists, if there are any.
    primes
        Those modulo which it is summed; see ``Orientation.sum``.
    """

    device_sum = None

    def __init__(
        self,
        candidates: NDArray[np.uint64],
        geometry: Geometry,
        *,
        most_maps: int = MOST_MAPS,
        memory: int = MEMORY,
        symmetric: bool = True,
        wide: bool = False,
        effort: Effort = UNBOUNDED,
    ) -> None:
        ready(KERNELS)
        start = time.perf_counter()
        self.steps, self.factor = 0, 1
        self.orientation: Orientation | None = None
        self.geometry, self.allowed = geometry, (np.zeros(0, bool),) * 2
        self.primes: Words = np.zeros(0, np.uint64)
        left = without_seen(candidates, geometry)
        allowed = None if left is None else allowed_lines(left, geometry)
        sides = None if allowed is None else _sides(*allowed, most_maps, memory, effort)
        if allowed is not None and sides is not None:
            self.allowed = allowed
            swaps = free_swaps(allowed) if symmetric else []
            orientation = self.orientation = _cheaper(sides, swaps, memory, effort)
            self.steps = orientation.steps
            self.factor = prod(line.factor for line in [*sides.summed, *sides.crossing])
            if wide or orientation.term_bound >= 1 << 63:
                self.primes = primes_above(orientation.sum_bound)
        self.seconds = self.steps * STEP_SECONDS
        self.listing_seconds = time.perf_counter() - start

    def most_threads(self, memory: int) -> int:
        """See ``Contraction``."""
        thread_bytes = 1 if self.orientation is None else self.orientation.scratch_bytes
        return max(1, memory // thread_bytes)

    def prepare(self, threads: int) -> None:
        """Nothing is left to prepare."""

    @cached_property
    def _tasks(self) -> list[Branches]:
        """The branches that each task sums."""
        if self.orientation is None:
            return []
        steps = max(LEAST_STEPS, min(TASK_STEPS, self.steps // TASKS), self.steps // MOST_TASKS)
        return self.orientation.tasks(steps)

    @property
    def tasks(self) -> int:
        """See ``Contraction``."""
        return len(self._tasks)

    def scratch(self) -> JoinScratch:
        """See ``Contraction``."""
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
                total += weight * (combined(row, primes) if primes else row[0] + (row[1] << 64))
        return total, terms


def _sides(
    stacks: NDArray[np.bool_],
    bands: NDArray[np.bool_],
    most_maps: int,
    memory: int,
    effort: Effort,
) -> Sides | None:
    """The lists of all lines, pruned; None if one is empty, so that there is no solution."""
    maps = list_maps(stacks, bands, most_maps, memory, effort)
    if maps is None:
        return None
    sides = pruned(*maps, memory, effort)
    return sides if all(len(line) for line in [*sides.summed, *sides.crossing]) else None


def _cheaper(
    sides: Sides, swaps: list[tuple[int, int]], memory: int, effort: Effort
) -> Orientation:
    """Sum over the stacks or over the bands, whichever takes fewer steps.

    Raises
    ------
    TooExpensive
        If either takes more than ``memory`` bytes, or the first is more than the effort.
    """
    best: Orientation | None = None
    choices = sorted([sides, sides.exchanged], key=lambda choice: choice.tuples)
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
