"""Counting the solutions of a board of any shape as a join over the maps of its stacks.

With s a map of every stack, m its multiplicity and W the number of maps of a band that go with
what all of them have in the band:

    solutions = sum over (s_1 .. s_R) of  m_1(s_1) .. m_R(s_R)  W_1 .. W_C

or the same with bands and stacks exchanged, whichever is cheaper.
"""

from __future__ import annotations

import time
from functools import cached_property
from math import isqrt, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general.boxes import all_maps, both_allowed, fixed, met
from gpusudoku.contraction.general.index import Part, Tables, bytes_needed, load, scratch_bytes
from gpusudoku.contraction.general.maps import Ints, Maps, Words
from gpusudoku.contraction.general.orbits import swaps
from gpusudoku.errors import TooExpensive

STEP_SECONDS = 1e-9
"""One step of the sum takes about this long."""
TASK_STEPS = 1 << 26
"""A task is not longer than about this, for progress."""
LEAST_STEPS = 1 << 20
"""Nothing shorter is cut into tasks."""
MOST_TASKS = 1 << 16
"""About so many tasks at most."""
TASKS = 128
"""Tasks of a sum that is long enough for so many."""


class Join:
    """One board: listed when made, then summed by the task; see ``Contraction``.

    Parameters
    ----------
    candidates
        uint64 (n * n): per cell the mask of digits that are possible, bit d - 1 for digit d; one
        bit in a fixed cell. They must follow from the fixed cells: a candidate that was taken
        away for any other reason, as a guess, may come back.
    geometry
        The shape of the board.
    most_maps
        Maps of a stack or band that are listed.
    memory
        Bytes that may be taken, about.
    symmetric
        Whether maps that differ by a swap of digits are summed once; if not, all are (to check
        that).
    wide
        Whether to sum modulo primes even where two words would do (to check that).

    Raises
    ------
    TooExpensive
        If a bound is exceeded; the text gives the figures.

    Attributes
    ----------
    steps
        Words that the whole sum looks at, estimated; 0 if it is known that there is no solution.
    factor
        What the sum of all tasks is to be multiplied by.
    """

    device_sum = None

    def __init__(
        self,
        candidates: NDArray[np.uint64],
        geometry: Geometry,
        *,
        most_maps: int = 1 << 22,
        memory: int = 1 << 31,
        symmetric: bool = True,
        wide: bool = False,
    ) -> None:
        load()
        start = time.perf_counter()
        self.steps, self.factor = 0, 1
        self._tables: Tables | None = None
        self._thread_bytes = 0
        self._list(candidates, geometry, most_maps, memory, symmetric)
        self._primes: Words = _primes(0)
        if self._tables is not None:
            self.steps = self._tables.steps
            if wide or self._tables.term_bound >= 1 << 63:
                self._primes = _primes(self._tables.sum_bound)
        self.seconds = self.steps * STEP_SECONDS
        self.listing_seconds = time.perf_counter() - start

    def _list(
        self,
        candidates: NDArray[np.uint64],
        geometry: Geometry,
        most_maps: int,
        memory: int,
        symmetric: bool,
    ) -> None:
        """Make the tables of the cheaper orientation, unless there is no solution."""
        left = fixed(candidates, geometry)
        if left is None:
            return
        sides = both_allowed(left, geometry)
        maps = all_maps(*sides, most_maps, memory)
        if maps is None:
            return
        stacks, bands, pairs = met(*maps, memory)
        if not all(len(one.many) for one in [*stacks, *bands]):
            return
        self.factor = prod(one.factor for one in [*stacks, *bands])
        turned = [[box.T for box in column] for column in zip(*pairs, strict=True)]
        choices = [(stacks, bands, pairs), (bands, stacks, turned)]
        choices.sort(key=lambda choice: _tuples(choice[0]))
        free = swaps(sides) if symmetric else []
        for outer, inner, boxes in choices:
            need = bytes_needed(outer, inner)
            # To make the tables of this orientation may take longer than to sum in the other.
            if need > memory or (self._tables and self._tables.steps < need):
                continue
            tables = Tables(outer, inner, boxes, free)
            if self._tables is None or tables.steps < self._tables.steps:
                self._tables = tables
                self._thread_bytes = scratch_bytes(outer, inner)
        if self._tables is None:
            need = min(bytes_needed(outer, inner) for outer, inner, _ in choices)
            raise TooExpensive(
                f"too expensive to contract: {need:,} bytes of memory, more than {memory:,}"
            )

    def most_threads(self, memory: int) -> int:
        """See ``Contraction``."""
        return max(1, memory // max(1, self._thread_bytes))

    def prepare(self, threads: int) -> None:
        """Nothing is left to prepare."""

    @cached_property
    def _parts(self) -> list[Part]:
        """The sum in parts, one for each task."""
        if self._tables is None:
            return []
        steps = max(LEAST_STEPS, min(TASK_STEPS, self.steps // TASKS), self.steps // MOST_TASKS)
        return self._tables.parts(steps)

    @property
    def tasks(self) -> int:
        """See ``Contraction``."""
        return len(self._parts)

    def scratch(self) -> Any:
        """See ``Contraction``."""
        assert self._tables is not None
        return self._tables.scratch()

    def sum(self, tasks: range, scratch: Any, stop: Ints) -> tuple[int, int]:
        """See ``Contraction``; the products are the terms of the sum."""
        assert self._tables is not None
        total, terms = 0, 0
        primes = self._primes.tolist()
        for task in tasks:
            pieces, weights = self._parts[task]
            sums, found = self._tables.sums(pieces, self._primes, scratch, stop)
            if found < 0:
                return 0, 0
            terms += found
            for row, weight in zip(sums.tolist(), weights.tolist(), strict=True):
                total += weight * (_combined(row, primes) if primes else row[0] + (row[1] << 64))
        return total, terms


def _tuples(side: list[Maps]) -> int:
    return prod(len(one.many) for one in side)


def _primes(bound: int) -> Words:
    """uint64: primes below 2^31 whose product is above a bound; none for 0."""
    primes: list[int] = []
    number = 1 << 31
    while bound > 0 and prod(primes) <= bound:
        number -= 1
        if all(number % k for k in range(2, isqrt(number) + 1)):
            primes.append(number)
    return np.array(primes, np.uint64)


def _combined(rests: list[int], primes: list[int]) -> int:
    """The least number with given remainders."""
    number, modulus = 0, 1
    for rest, prime in zip(rests, primes, strict=True):
        number += modulus * ((rest - number) * pow(modulus, -1, prime) % prime)
        modulus *= prime
    return number
