"""What the join of one side's maps with the other's looks at, and what it will cost."""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Any

import numpy as np
from numba.extending import register_jitable

from gpusudoku.contraction.general.boxes import Pairs
from gpusudoku.contraction.general.maps import Ints, Maps, Words, kernel
from gpusudoku.contraction.general.orbits import images, orbits
from gpusudoku.kernels.contraction.general import join as loops
from gpusudoku.kernels.jit import compiled

MOST_PAIRS = 1 << 20
"""Pairs of entries whose orbits are sought."""
WALKS = 32
"""Walks of the probe."""
GLANCES = 1 << 18
"""Words that one level of a walk may look at, about."""
Part = tuple[Ints, Ints]
"""Pieces of the sum, int64 (pieces, 3) as ``join`` takes them, and what each is multiplied by."""


@cache
def _kernel(name: str) -> Any:
    jit = register_jitable(_nrt=False, forceinline=True)
    return compiled(getattr(loops, f"build_{name}")(jit), getattr(loops, name.upper()))


def load() -> None:
    """Compile whatever a join needs, which is not to be counted in its time."""
    for name in "group", "list_paths", "orthogonal", "scatter":
        kernel(name)
    for name in "join", "probe":
        _kernel(name)


def bytes_needed(outer: list[Maps], inner: list[Maps]) -> int:
    """Bytes that ``Tables`` take, about."""
    words = [len(one.many) // 64 + 1 for one in inner]
    sets = sum(len(t) * w for one in outer for t, w in zip(one.partitions, words, strict=True))
    entries = 6 * sum(one.entries.size for one in [*outer, *inner])
    return 8 * (2 * sets + entries) + scratch_bytes(outer, inner)


def scratch_bytes(outer: list[Maps], inner: list[Maps]) -> int:
    """Bytes that each thread takes, about."""
    words = max(len(one.many) // 64 + 1 for one in inner)
    slots = sum(len(table) for one in outer for table in one.partitions)
    return 8 * (2 * len(outer) * len(inner) * words + slots)


class Tables:
    """The maps of one side (the outer ones) are gone through, those of the other side counted.

    Parameters
    ----------
    outer, inner
        The maps of the stacks and of the bands, or the other way round; none is empty.
    pairs
        For inner k and outer j, in [k][j], which of their partitions go together, uint8 (the
        outer's, the inner's).
    swaps
        Digits that may be swapped in all lists.
    """

    def __init__(
        self,
        outer: list[Maps],
        inner: list[Maps],
        pairs: list[list[Pairs]],
        swaps: list[tuple[int, int]],
    ) -> None:
        # Few branches near the root.
        order = sorted(range(len(outer)), key=lambda j: len(outer[j].many))
        self._outer = [outer[j].arranged(range(len(inner))) for j in order]
        # So sorted the maps that go with an entry of the first list lie in few words.
        self._inner = [one.arranged(order) for one in inner]
        self._fixed = self._lay_out([[row[j] for j in order] for row in pairs])
        self._pieces, self._weights = self._choose(swaps)
        tries = max(1, int(GLANCES // self._fixed[1].sum()))
        scratch = self.scratch()[:3]
        self._mean = _kernel("probe")(*self._fixed, *scratch, self._pieces, WALKS, tries)
        self.steps = max(1, int(self._mean * len(self._pieces)))
        """Words that the whole sum looks at, about."""

    def parts(self, steps: int) -> list[Part]:
        """The sum in parts of about so many steps."""
        # The range of second entries is cut where a piece is expected to take too long.
        ranges = self._pieces[:, 2] - self._pieces[:, 1]
        cuts = min(int(self._mean // steps) + 1, int(ranges.max()))
        ends = self._pieces[:, 1, None] + ranges[:, None] * np.arange(cuts + 1) // cuts
        firsts = np.repeat(self._pieces[:, 0], cuts)
        pieces = np.column_stack([firsts, ends[:, :-1].ravel(), ends[:, 1:].ravel()])
        size = max(1, int(steps * len(pieces) // self.steps))
        at = range(size, len(pieces), size)
        weights = np.repeat(self._weights, cuts)
        return list(zip(np.split(pieces, at), np.split(weights, at), strict=True))

    def _lay_out(self, pairs: list[list[Pairs]]) -> tuple[Any, ...]:
        """What the kernels read, in the order in which they take it."""
        words = np.array([-(-len(one.many) // 64) for one in self._inner])
        bits, rows, size = [], [], 0
        for level, one in enumerate(self._outer):
            starts = []
            for k, other in enumerate(self._inner):
                sets = np.zeros((len(one.partitions[k]), words[k]), np.uint64)
                which = np.ascontiguousarray(other.entries[:, level])
                kernel("scatter")(np.ascontiguousarray(pairs[k][level]), which, sets)
                bits.append(sets.ravel())
                starts.append(size)
                size += sets.size
            rows.append(one.entries * words + starts)
        last = self._outer[-1]
        distinct = [len(table) for table in last.partitions]
        planes = [_planes(one.many) for one in self._inner]
        begin = np.cumsum([0, *(len(one.many) for one in self._outer)])
        turns = [_turns(one.entries) for one in self._outer]
        plane_starts = np.cumsum([0, *(p.size for p in planes[:-1])])
        return (
            np.concatenate(bits),
            words,
            begin,
            np.concatenate(rows),
            np.concatenate([one.many for one in self._outer]).astype(np.uint64),
            np.concatenate([skip + start for (skip, _), start in zip(turns, begin, strict=False)]),
            np.concatenate([*(differs for _, differs in turns), [0]]),
            last.entries + np.cumsum([0, *distinct[:-1]]),
            np.concatenate([p.ravel() for p in planes]),
            np.column_stack([plane_starts, [len(p) for p in planes], distinct]),
        )

    def scratch(self) -> tuple[Any, ...]:
        """What one call of ``sums`` at a time works in."""
        words = self._fixed[1]
        levels = len(self._outer)
        shape = levels, len(words), int(words.max())
        value, index = np.empty(shape, np.uint64), np.empty(shape, np.int64)
        value[0], index[0] = ~np.uint64(0), np.arange(shape[2])
        count = np.zeros(shape[:2], np.int64)
        count[0] = words
        memo = np.empty(int(self._fixed[9][:, 2].sum()), np.int64)
        at, end, fresh = np.empty((3, levels), np.int64)
        return value, index, count, memo, at, end, fresh, np.empty(levels, np.uint64)

    def _choose(self, swaps: list[tuple[int, int]]) -> tuple[Ints, Ints]:
        """One piece of every orbit of first entries, or of pairs of first and second ones."""
        firsts = np.arange(len(self._outer[0].many))
        begin = self._fixed[2]
        low, high = (begin[1], begin[2]) if len(self._outer) > 1 else (0, 1)
        weights = np.ones_like(firsts)
        if swaps:
            first = [images(self._outer[0], swap) for swap in swaps]
            alone = [np.zeros(1, np.int64)] * len(swaps)
            firsts, weights = np.unique(orbits(first, alone), return_counts=True)
            if len(self._outer) > 1 and len(first[0]) * (high - low) <= MOST_PAIRS:
                second = [images(self._outer[1], swap) for swap in swaps]
                found, sizes = np.unique(orbits(first, second), return_counts=True)
                # Pieces of one pair each do not share the work for their first entries.
                if 4 * len(found) <= len(firsts) * (high - low):
                    one, other = np.divmod(found, high - low)
                    return np.column_stack([one, low + other, low + other + 1]), sizes
        return np.column_stack(np.broadcast_arrays(firsts, low, high)), weights

    @property
    def term_bound(self) -> int:
        """No term of the sum is larger."""
        most = prod(int(one.many.max()) for one in self._outer)
        return most * prod(one.total for one in self._inner)

    @property
    def sum_bound(self) -> int:
        """No sum of terms is larger."""
        return prod(one.total for one in [*self._outer, *self._inner])

    def sums(
        self, pieces: Ints, primes: Words, scratch: tuple[Any, ...], stop: Ints
    ) -> tuple[Words, int]:
        """The sums of some pieces.

        Parameters
        ----------
        pieces
            int64 (pieces, 3).
        primes
            uint64 (primes); with none of them ``term_bound`` must be below 2^63.
        stop
            int64 (1): not 0 to stop.

        Returns
        -------
        uint64 (pieces, 2), low word and high word, or (pieces, primes), modulo each; and the
        number of terms, -1 if it was stopped.
        """
        out = np.zeros((len(pieces), len(primes) or 2), np.uint64)
        tables, rest = (*self._fixed, *scratch[:3]), scratch[3:]
        return out, _kernel("join")(*tables, pieces, primes, *rest, stop, out)


def _planes(many: Ints) -> Words:
    """uint64 (bits, words): bit k of the multiplicities, as bit sets."""
    size = -(-len(many) // 64) * 64
    bits = np.zeros((int(many.max()).bit_length(), size), np.uint8)
    bits[:, : len(many)] = many >> np.arange(len(bits))[:, None] & 1
    return np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def _turns(entries: Ints) -> tuple[Ints, Ints]:
    """For sorted entries the next one that differs by band, and where each first differs.

    Returns
    -------
    int64 (entries, bands): the next entry that differs in this band or one before, and int64
    (entries): the first band in which an entry differs from the one before, 0 for the first.
    """
    size = len(entries)
    differ = np.logical_or.accumulate(entries[1:] != entries[:-1], axis=1)
    skip = np.full_like(entries, size)
    skip[:-1] = np.where(differ, np.arange(1, size)[:, None], size)
    skip = np.ascontiguousarray(np.minimum.accumulate(skip[::-1])[::-1])
    return skip, np.concatenate([[0], differ.argmax(axis=1)])
