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
from numba import int16, int32, int64

from gpusudoku.kernels.contraction.nine.arrays import MULTIPLICITY, A, B, C, P, Q, R
from gpusudoku.kernels.contraction.nine.slabs import DOTTED, HIGH, LOW, PACK, TILE
from gpusudoku.kernels.kernel import jitable


@jitable
def narrow_enough(lists, roles, tensors):
    """Say whether 16-bit entries and 32-bit sums hold."""
    left = tensors.largest[roles.tensor[Q]]
    right = tensors.largest[roles.tensor[R]]
    right *= _largest_multiplicity(roles.summed[A], lists)
    right *= _largest_multiplicity(roles.summed[B], lists)
    return right < 1 << 15 and left * right * TILE < 1 << 31


@jitable
def _largest_multiplicity(line, lists):
    """Return the largest multiplicity of a line."""
    largest = np.int32(0)
    for e in range(lists.size[line]):
        largest = max(largest, lists.multiplicity[line, e])
    return np.int64(largest)


@jitable
def _end_of_group(first, last, pairs):
    """Return the end of the pairs that have the same b as pair ``first``, at most ``last``."""
    end = first
    while end < last and pairs[end, 0] == pairs[first, 0]:
        end += 1
    return end


@jitable
def _number_rows(crossing, first, last, operands, pairs, row):
    """Write ``row`` of the factor of Q or R: the numbers of A that these pairs need get a row."""
    start, entries = operands.start[A], operands.entries[A]
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
    tensor, column = tensors.entries[roles.tensor[P]], slabs.column
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
def _fill(crossing, first, runs, words, roles, operands, factor):
    """Write rows of the slab of Q or R, run after run; ``words`` is a run's length in words."""
    slab, gathered = factor.slab_words, factor.gathered_words
    for k in range(runs):
        source = factor.row[operands.entries[A, first + k, crossing]]
        to = k * words
        for c in range(roles.shape[C, crossing]):
            for l in range(words):  # noqa: E741 - as in the formula
                slab[c, to + l] = gathered[source, c, l]


def build_sum_pairs(entry: Any, total: Any) -> Callable[..., None]:
    """Make ``sum_pairs`` for slabs of one width.

    Parameters
    ----------
    entry
        Numba's type of a slab's entries.
    total
        Numba's type of a dot product.
    """
    per_word = 64 // entry.bitwidth

    @jitable
    def gather(crossing, b, length, roles, operands, tensors, factor):
        """Write the runs of Q or R for one b: for every c, and every a that has a row."""
        tensor, column, times = tensors.entries[roles.tensor[crossing]], factor.column, factor.times
        height, width = roles.shape[A, crossing], roles.shape[B, crossing]
        first, count = operands.start[B, b], operands.start[B, b + 1] - operands.start[B, b]
        gathered, entries = factor.gathered, operands.entries[B]
        for l in range(count):  # noqa: E741
            column[l] = entries[first + l, crossing]
            times[l] = entries[first + l, MULTIPLICITY] if crossing == R else 1
        for i in range(roles.shape[C, crossing]):
            for x in range(height):
                to = factor.row[x]
                if to < 0:
                    continue
                base = (i * height + x) * width
                line = tensor[base : base + width]
                for l in range(count):  # noqa: E741
                    gathered[to, i, l] = entry(line[column[l]] * times[l])
                for l in range(count, length):  # noqa: E741
                    gathered[to, i, l] = 0

    @jitable
    def scale(first, runs, length, roles, operands, slab):
        """Multiply the runs in the slab of R by the multiplicities of their entries of A."""
        for k in range(runs):
            times = operands.entries[A, first + k, MULTIPLICITY]
            if times != 1:
                for c in range(roles.shape[C, R]):
                    for l in range(k * length, (k + 1) * length):  # noqa: E741
                        slab[c, l] = entry(slab[c, l] * times)

    @jitable
    def dot_all(terms, length, slabs):
        """Return the sum of all terms, each a dot product times its factor.

        Neighbours share a row of ``left``, so four are summed at once.
        """
        left, right = slabs.left.slab, slabs.right.slab
        result, e = 0, 0
        while e < terms:
            u = slabs.terms[e, 0]
            if e + 4 <= terms and slabs.terms[e + 3, 0] == u:
                v0, v1 = slabs.terms[e, 1], slabs.terms[e + 1, 1]
                v2, v3 = slabs.terms[e + 2, 1], slabs.terms[e + 3, 1]
                s0, s1, s2, s3 = total(0), total(0), total(0), total(0)
                for i in range(length):
                    x = total(left[u, i])
                    s0 = total(s0 + total(x * total(right[v0, i])))
                    s1 = total(s1 + total(x * total(right[v1, i])))
                    s2 = total(s2 + total(x * total(right[v2, i])))
                    s3 = total(s3 + total(x * total(right[v3, i])))
                result += slabs.factors[e] * s0 + slabs.factors[e + 1] * s1
                result += slabs.factors[e + 2] * s2 + slabs.factors[e + 3] * s3
                e += 4
            else:
                v0, s0 = slabs.terms[e, 1], total(0)
                for i in range(length):
                    s0 = total(s0 + total(total(left[u, i]) * total(right[v0, i])))
                result += slabs.factors[e] * s0
                e += 1
        return result

    def sum_pairs(first, last, roles, operands, tensors, pairs, slabs):
        """Add the sum of pairs[first:last], each times the size of its orbit, to ``slabs.sums``."""
        start, sums, left, right = operands.start, slabs.sums, slabs.left, slabs.right
        while first < last:
            b, end = pairs[first, 0], _end_of_group(first, last, pairs)
            count = start[B, b + 1] - start[B, b]
            length = (count + PACK - 1) // PACK * PACK
            words, at_once = length // per_word, TILE // length
            _number_rows(Q, first, end, operands, pairs, left.row)
            _number_rows(R, first, end, operands, pairs, right.row)
            gather(Q, b, length, roles, operands, tensors, left)
            gather(R, b, length, roles, operands, tensors, right)
            for pair in range(first, end):
                a = pairs[pair, 1]
                terms = _select(a, b, roles, operands, tensors, slabs)
                if terms == 0:
                    continue
                result, k, stop = 0, start[A, a], start[A, a + 1]
                sums[DOTTED] += terms * (stop - k) * count
                while k < stop:
                    runs = min(at_once, stop - k)
                    _fill(Q, k, runs, words, roles, operands, left)
                    _fill(R, k, runs, words, roles, operands, right)
                    scale(k, runs, length, roles, operands, right.slab)
                    result += dot_all(terms, runs * length, slabs)
                    k += runs
                times = np.int64(pairs[pair, 2])
                sums[LOW] += times * (result & 0xFFFFFFFF)
                sums[HIGH] += times * (result >> 32)
            first = end

    return jitable(sum_pairs)


sum_narrow = build_sum_pairs(int16, int32)
"""``sum_pairs`` where ``narrow_enough`` holds."""
sum_wide = build_sum_pairs(int32, int64)
"""``sum_pairs`` for every other board."""
