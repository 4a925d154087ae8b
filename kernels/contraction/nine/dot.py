"""The sum over pairs of partitions: long dot products of narrow integers. Special to 3x3 boxes.

For a pair (a, b) of partitions at P let k run over the entries of A that have a there and l over
those of B that have b. Two *slabs* hold, for every partition c of C at Q and at R,

    left[c][k, l]  = Q's tensor at [c][k's at Q][l's at Q]
    right[c][k, l] = R's tensor at [c][k's at R][l's at R] * multiplicities of k and l

and the pair's number of solutions is the sum over the entries of C, of P's tensor at [c][a][b]
times the entry's multiplicity times the dot product of a row of ``left`` and a row of ``right``.
In both slabs the l of one k lie together: this is a *run*. All pairs with the same b share runs,
which are gathered once and copied from there.

Exactness. A dot product of at most TILE terms is checked beforehand to stay below 2^31, and entries
below 2^15, from the actual maxima (``narrow_enough``); if not, the wide kernel takes 32-bit entries
and 64-bit sums: a multiplicity is at most 12, a tensor's entry at most 1728, so an entry of
``right`` is at most 248,832 and TILE products stay below 2^39. The sum over a pair counts solutions
(up to divisors); without clues no pair has more than 97,034,115,530,096,640 < 2^57, and clues only
remove some. It is multiplied by the size of its orbit in two halves of 32 bits; sizes add up to at
most 280^2 < 2^17, so neither half passes 2^49.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpusudoku.kernels.contraction.nine.arrays import MULTIPLICITY, A, B, C, P, Q, R
from gpusudoku.kernels.contraction.nine.slabs import DOTTED, HIGH, LEFT, LOW, PACK, RIGHT, TILE
from gpusudoku.kernels.kernel import jitable


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
    start, entries, row, crossing = (
        operands.start[A],
        operands.entries[A],
        slabs.row[side],
        Q + side,
    )
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
    tensor, column = tensors.entries[roles.tensor[P]], slabs.pivots
    width = roles.shape[B, P]
    row = roles.shape[A, P] * width
    some = False
    for i in range(roles.shape[C, P]):
        column[i] = tensor[i * row + a * width + b]
        some |= column[i] != 0
    if not some:
        return 0
    count, entries = 0, operands.entries[C]
    for e in range(operands.start[C, -1]):
        value = np.int64(column[entries[e, P]])
        slabs.terms[count, 0], slabs.terms[count, 1] = entries[e, Q], entries[e, R]
        slabs.factors[count] = value * entries[e, MULTIPLICITY]
        count += value != 0
    return count


@jitable
def _fill(side, first, runs, words, roles, operands, slabs):
    """Write rows of the slab of a side, run after run; ``words`` is a run's length in words."""
    slab, gathered, row = slabs.slab_words[side], slabs.gathered_words[side], slabs.row[side]
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
        crossing, column, times, row = Q + side, slabs.column, slabs.times, slabs.row[side]
        tensor, gathered = tensors.entries[roles.tensor[crossing]], slabs.gathered[side]
        height, width = roles.shape[A, crossing], roles.shape[B, crossing]
        first, count = operands.start[B, b], operands.start[B, b + 1] - operands.start[B, b]
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
        left, right = slabs.slab[LEFT], slabs.slab[RIGHT]
        terms, factors, totals = slabs.terms, slabs.factors, slabs.totals
        result, e = 0, 0
        while e < count:
            u = terms[e, 0]
            if e + 4 <= count and terms[e + 3, 0] == u:
                v0, v1 = terms[e, 1], terms[e + 1, 1]
                v2, v3 = terms[e + 2, 1], terms[e + 3, 1]
                s0, s1, s2, s3 = total(0), total(0), total(0), total(0)
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
                v0, s0 = terms[e, 1], total(0)
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
        result, k, stop = 0, operands.start[A, a], operands.start[A, a + 1]
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
        pairs, sums = orbits.pairs, slabs.sums
        while first < last:
            b, end = pairs[first, 0], end_of_group(first, last, pairs)
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
