"""The sum over pairs of partitions: long dot products of narrow integers.

For a pair (a, b) of partitions at P let k run over the entries of A that have a there and l over
those of B that have b. Two *slabs* hold, for every partition c of C at Q and at R,

    left[c][k, l]  = Q's tensor at [c][k's at Q][l's at Q]
    right[c][k, l] = R's tensor at [c][k's at R][l's at R] * multiplicities of k and l

and the pair's number of solutions is the sum over the entries of C, of P's tensor at [c][a][b]
times the entry's multiplicity times the dot product of a row of ``left`` and a row of ``right``.
In both slabs the l of one k are consecutive: this is a *run*. All pairs with the same b share runs,
which are gathered once and copied from there.

Exactness. A dot product of at most TILE terms is checked beforehand to stay below 2^31, and entries
below 2^15, from the actual maxima (``narrow_enough``); if not, the wide kernel takes 32-bit entries
and 64-bit sums: a multiplicity is at most 12, a tensor's entry at most 1728, so an entry of
``right`` is at most 248,832 and TILE products stay below 2^39. The sum over a pair counts solutions
(up to divisors); without clues no pair has more than 97,034,115,530,096,640 < 2^57, and clues only
remove some. It is multiplied by the size of its orbit in two halves of 32 bits; sizes add up to at
most 280^2 < 2^17, so neither half passes 2^49.

At the end of the file are the arrays that the sum on a GPU reads: the host needs them without
Numba, which ``cuda`` imports.

Stages: ``sum_narrow`` and ``sum_wide``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gpusudoku.kernels.arguments import Group, array_of, words_of
from gpusudoku.kernels.contraction.nine.arrays import (
    MAX_ENTRIES,
    MULTIPLICITY,
    PARTITIONS,
    A,
    B,
    C,
    Lists,
    P,
    Q,
    R,
    Roles,
    Tensors,
)
from gpusudoku.kernels.kernel import jitable

PER_PARTITION = 55
"""Entries of a line that have a given partition at a given place, at most."""
STRIDE = 56
"""Room for the entries of one partition: PER_PARTITION, filled up to a multiple of PACK."""
PACK = 4
"""Runs are filled up with zeros to a multiple of this number: they are copied in words of 64 bits,
of which the narrowest have four entries."""
TILE = 840
"""Longest dot product: two slabs of 280 rows of it are about what a second-level cache holds, and
rows do not start at multiples of a page's size, which would have them contend for its ways."""

LOW, HIGH, DOTTED = range(3)
"""Fields of ``Slabs.sums``."""
LEFT, RIGHT = range(2)
"""The sides of the dot products."""
LENGTH, TERMS = range(2)
"""Fields of ``Slabs.held``."""


class Slabs(Group):
    """What a thread sums in. Entries of slabs have 16 bits or, where these are too few, 32.

    Arrays that are there twice begin with an axis of the *sides*: LEFT has the tensor of Q, RIGHT
    that of R, times the multiplicities of the entries of A and B.
    """

    sums = array_of(np.int64, 3)
    """The sum is HIGH * 2^32 + LOW; DOTTED products were added up."""
    results = array_of(np.int64, PARTITIONS * PARTITIONS)
    """The sum of every pair of ``Orbits.pairs`` that was summed."""
    row = array_of(np.int64, 2, PARTITIONS)
    """The row of ``gathered`` that belongs to each number of A; -1 if none does."""
    column = array_of(np.int16, STRIDE)
    """Where the entries of a b are in a row of the tensor."""
    times = array_of(np.int64, STRIDE)
    """What the tensor is multiplied by at the entries of a b."""
    pivots = array_of(np.int16, PARTITIONS)
    """The tensor of P at one (a, b)."""
    terms = array_of(np.int16, MAX_ENTRIES, 2)
    """The numbers at Q and R of the entries of C that count for a pair."""
    factors = array_of(np.int64, MAX_ENTRIES)
    """For each of them, the tensor of P times the multiplicity."""
    chosen = array_of(np.int16, MAX_ENTRIES)
    """Which entry of C each of them is, where solutions are looked for."""
    totals = array_of(np.int64, MAX_ENTRIES)
    """For each of them, the dot product, where that is to be kept."""
    held = array_of(np.int64, 2)
    """The length of the runs that are gathered, and the number of terms of a pair, where solutions
    are looked for."""
    slab = array_of("entry", 2, PARTITIONS, TILE)
    """A row for every number of C, over pairs of entries of A and B."""
    slab_words = words_of("slab")
    """The memory of ``slab``, seen as words of 64 bits, several entries each."""
    gathered = array_of("entry", 2, PARTITIONS, PARTITIONS, STRIDE)
    """The runs that slabs are copied from, for one b: at [row][c], the tensor over the entries of
    b."""
    gathered_words = words_of("gathered")
    """The memory of ``gathered``, seen as words of 64 bits."""


def make_slabs(wide: bool) -> Slabs:
    """Room for one thread's sums: 23 MB, twice as much if wide."""
    return Slabs(entry=np.int32 if wide else np.int16)


@jitable
def narrow_enough(lists, roles, tensors):
    """Say whether 16-bit entries and 32-bit sums hold."""
    left = tensors.largest[roles.tensor[Q]]
    right = tensors.largest[roles.tensor[R]]
    right *= lists.largest[roles.summed[A]] * lists.largest[roles.summed[B]]
    return right < 1 << 15 and left * right * TILE < 1 << 31


@jitable
def end_of_group(first, last, pairs):
    """Return the end of the pairs that have the same b as pair ``first``, at most ``last``."""
    end = first
    while end < last and pairs[end, 0] == pairs[first, 0]:
        end += 1
    return end


@jitable
def _number_rows(side, first, last, operands, pairs, slabs):
    """Write ``row`` of a side: the numbers of A that these pairs need get a row."""
    start = operands.start[A]
    entries = operands.entries[A]
    row = slabs.row[side]
    crossing = Q + side
    row[:] = -1
    needed = 0
    for pair in range(first, last):
        a = pairs[pair, 1]
        for k in range(start[a], start[a + 1]):
            x = entries[k, crossing]
            if row[x] < 0:
                row[x] = needed
                needed += 1


@jitable
def _select(a, b, roles, operands, tensors, slabs):
    """Write the terms of a pair, entries of C where P's tensor is not zero; return how many."""
    tensor = tensors.entries[roles.tensor[P]]
    column = slabs.pivots
    width = roles.shape[B, P]
    row = roles.shape[A, P] * width
    some = False
    for i in range(roles.shape[C, P]):
        column[i] = tensor[i * row + a * width + b]
        some |= column[i] != 0
    if not some:
        return 0
    count = 0
    entries = operands.entries[C]
    for e in range(operands.start[C, -1]):
        value = np.int64(column[entries[e, P]])
        slabs.terms[count, 0], slabs.terms[count, 1] = entries[e, Q], entries[e, R]
        slabs.factors[count] = value * entries[e, MULTIPLICITY]
        count += value != 0
    return count


@jitable
def _fill(side, first, runs, words, roles, operands, slabs):
    """Write rows of the slab of a side, run after run; ``words`` is a run's length in words."""
    slab = slabs.slab_words[side]
    gathered = slabs.gathered_words[side]
    row = slabs.row[side]
    for k in range(runs):
        source = row[operands.entries[A, first + k, Q + side]]
        to = k * words
        for c in range(roles.shape[C, Q + side]):
            for l in range(words):  # noqa: E741 - as in the formula
                slab[c, to + l] = gathered[source, c, l]


def build_slabs(entry: Any) -> tuple[Callable[..., int], Callable[..., None]]:
    """Make ``gather_group`` and ``lay_out`` for slabs whose entries are of a type of Numba."""
    per_word = 8 // np.dtype(entry).itemsize

    @jitable
    def gather(side, b, length, roles, operands, tensors, slabs):
        """Write the runs of a side for one b: for every c, and every a that has a row."""
        crossing = Q + side
        column = slabs.column
        times = slabs.times
        row = slabs.row[side]
        tensor = tensors.entries[roles.tensor[crossing]]
        gathered = slabs.gathered[side]
        height = roles.shape[A, crossing]
        width = roles.shape[B, crossing]
        first = operands.start[B, b]
        count = operands.start[B, b + 1] - operands.start[B, b]
        entries = operands.entries[B]
        for l in range(count):  # noqa: E741
            column[l] = entries[first + l, crossing]
            times[l] = entries[first + l, MULTIPLICITY] if side == RIGHT else 1
        for i in range(roles.shape[C, crossing]):
            for x in range(height):
                to = row[x]
                if to < 0:
                    continue
                base = (i * height + x) * width
                line = tensor[base : base + width]
                for l in range(count):  # noqa: E741
                    gathered[to, i, l] = entry(line[column[l]] * times[l])
                for l in range(count, length):  # noqa: E741
                    gathered[to, i, l] = 0

    @jitable
    def scale(first, runs, length, roles, operands, slabs):
        """Multiply the runs on the RIGHT by the multiplicities of their entries of A."""
        slab = slabs.slab[RIGHT]
        for k in range(runs):
            times = operands.entries[A, first + k, MULTIPLICITY]
            if times != 1:
                for c in range(roles.shape[C, R]):
                    for l in range(k * length, (k + 1) * length):  # noqa: E741
                        slab[c, l] = entry(slab[c, l] * times)

    @jitable
    def gather_group(first, end, pairs, roles, operands, tensors, slabs):
        """Gather the runs that some pairs with the same b need; return the length of a run."""
        b = pairs[first, 0]
        count = operands.start[B, b + 1] - operands.start[B, b]
        length = (count + PACK - 1) // PACK * PACK
        for side in range(2):
            _number_rows(side, first, end, operands, pairs, slabs)
            gather(side, b, length, roles, operands, tensors, slabs)
        return length

    @jitable
    def lay_out(first, runs, length, roles, operands, slabs):
        """Write the slabs of some entries of A, from ``first`` on, and all of a group's b."""
        for side in range(2):
            _fill(side, first, runs, length // per_word, roles, operands, slabs)
        scale(first, runs, length, roles, operands, slabs)

    return gather_group, lay_out


def build_pair_sum(
    entry: Any, total: Any, keep: bool
) -> tuple[Callable[..., Any], Callable[..., int]]:
    """Make ``gather_group`` and ``sum_pair`` for slabs of one width.

    Parameters
    ----------
    entry
        Numba's type of a slab's entries.
    total
        Numba's type of a dot product.
    keep
        Whether ``slabs.totals`` is written: the dot product of every term.
    """
    gather_group, lay_out = build_slabs(entry)

    @jitable
    def dot_all(count, length, slabs):
        """Return the sum of all terms, each a dot product times its factor.

        Neighbours share a row of ``left``, so four are summed at once.
        """
        left = slabs.slab[LEFT]
        right = slabs.slab[RIGHT]
        terms = slabs.terms
        factors = slabs.factors
        totals = slabs.totals
        result, e = 0, 0
        while e < count:
            u = terms[e, 0]
            if e + 4 <= count and terms[e + 3, 0] == u:
                v0 = terms[e, 1]
                v1 = terms[e + 1, 1]
                v2 = terms[e + 2, 1]
                v3 = terms[e + 3, 1]
                s0 = total(0)
                s1 = total(0)
                s2 = total(0)
                s3 = total(0)
                for i in range(length):
                    x = total(left[u, i])
                    s0 = total(s0 + total(x * total(right[v0, i])))
                    s1 = total(s1 + total(x * total(right[v1, i])))
                    s2 = total(s2 + total(x * total(right[v2, i])))
                    s3 = total(s3 + total(x * total(right[v3, i])))
                result += factors[e] * s0 + factors[e + 1] * s1
                result += factors[e + 2] * s2 + factors[e + 3] * s3
                if keep:
                    totals[e] += s0
                    totals[e + 1] += s1
                    totals[e + 2] += s2
                    totals[e + 3] += s3
                e += 4
            else:
                v0 = terms[e, 1]
                s0 = total(0)
                for i in range(length):
                    s0 = total(s0 + total(total(left[u, i]) * total(right[v0, i])))
                result += factors[e] * s0
                if keep:
                    totals[e] += s0
                e += 1
        return result

    @jitable
    def sum_pair(a, b, length, roles, operands, tensors, slabs):
        """Return the sum of a pair, whose runs are gathered."""
        terms = _select(a, b, roles, operands, tensors, slabs)
        result = 0
        k = operands.start[A, a]
        stop = operands.start[A, a + 1]
        if keep:
            slabs.totals[:terms] = 0
        if terms == 0:
            return result
        slabs.sums[DOTTED] += terms * (stop - k) * (operands.start[B, b + 1] - operands.start[B, b])
        at_once = TILE // length
        while k < stop:
            runs = min(at_once, stop - k)
            lay_out(k, runs, length, roles, operands, slabs)
            result += dot_all(terms, runs * length, slabs)
            k += runs
        return result

    return gather_group, sum_pair


def build_sum_pairs(entry: Any, total: Any) -> Callable[..., None]:
    """Make ``sum_pairs`` for slabs of one width; see ``build_pair_sum``."""
    gather_group, sum_pair = build_pair_sum(entry, total, keep=False)

    def sum_pairs(first, last, roles, operands, tensors, orbits, stop, slabs):
        """Add the sum of orbits.pairs[first:last], each times its size, to ``slabs.sums``.

        The sum of each by itself is written to ``slabs.results``. stop is int64 (1); once it is not
        0 no more pairs are summed, and the rest is left as it is.
        """
        pairs = orbits.pairs
        sums = slabs.sums
        while first < last:
            b = pairs[first, 0]
            end = end_of_group(first, last, pairs)
            length = gather_group(first, end, pairs, roles, operands, tensors, slabs)
            for pair in range(first, end):
                if stop[0] != 0:
                    return
                result = sum_pair(pairs[pair, 1], b, length, roles, operands, tensors, slabs)
                slabs.results[pair] = result
                times = np.int64(pairs[pair, 2])
                sums[LOW] += times * (result & 0xFFFFFFFF)
                sums[HIGH] += times * (result >> 32)
            first = end

    return jitable(sum_pairs)


sum_narrow = build_sum_pairs(np.int16, np.int32)
"""``sum_pairs`` where ``narrow_enough`` holds."""
sum_wide = build_sum_pairs(np.int32, np.int64)
"""``sum_pairs`` for every other board."""


MAX_THREADS = 512
"""Threads of a block, at most."""
FOUR = 4
"""Fields of a word of 64 bits."""


class DeviceOperands(NamedTuple):
    """The arrays of ``Operands``, in memory of the GPU."""

    entries: Any
    """int16 (3, entries, 4)"""
    words: Any
    """int64 (entries of C): the four fields of each entry as one word, the first one lowest."""
    start: Any
    """int64 (3, 281)"""


class RoleTensors(NamedTuple):
    """The tensors of the crossing roles, each indexed [a][b][c] by numbers.

    The last axis is filled up to a multiple of FOUR.
    """

    p: Any
    """int16: the tensor of P."""
    q: Any
    """int64: the tensor of Q, FOUR numbers of C a word, the first one lowest."""
    r: Any
    """int64: the tensor of R, in the same way."""


def narrow_on_gpu(lists: Lists, roles: Roles, tensors: Tensors) -> bool:
    """Tell whether columns of 16 bits and inner sums of 32 bits hold on a GPU.

    The CPU's sum has other bounds: ``pair_sums.narrow_enough``.
    """
    p, _, r = (int(largest) for largest in tensors.largest[roles.tensor])
    a, b, c = (int(largest) for largest in lists.largest[roles.summed])
    return r * a * b < 1 << 16 and r * a * b * p * c * PER_PARTITION < 1 << 32
