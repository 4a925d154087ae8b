"""The sum over pairs of partitions: long dot products of narrow integers. Special to 3x3 boxes.

For a pair (a, b) of partitions at P let k run over the maps of A that have a there and l over those
of B that have b. Two *slabs* hold, for every partition c of C at Q and at R,

    left[c][k, l]  = Q's tensor at [c][k's at Q][l's at Q]
    right[c][k, l] = R's tensor at [c][k's at R][l's at R] * multiplicities of k and l

and the pair's number of solutions is the sum over the maps of C, of P's tensor at [c][a][b] times
the map's multiplicity times the dot product of a row of ``left`` and a row of ``right``.

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

from gpusudoku.kernels.contraction.nine.arrays import DOTTED, HIGH, LOW, TILE, A, B, C, P, Q, R
from gpusudoku.kernels.jit import Jit

PACK = 4
"""Runs are filled up with zeros to a multiple of this: they are copied word by word."""


def build_narrow_enough(jit: Jit) -> Callable[..., bool]:
    """Make ``narrow_enough(space)``: whether 16-bit entries and 32-bit sums hold."""

    @jit
    def most(space, role):
        largest, line = np.int32(0), space.plan[A + role]
        for e in range(space.size[line]):
            largest = max(largest, space.multiplicity[line, e])
        return np.int64(largest)

    @jit
    def narrow_enough(space):
        left = space.largest[space.slot[1]]
        right = space.largest[space.slot[2]] * most(space, 0) * most(space, 1)
        return right < 1 << 15 and left * right * TILE < 1 << 31

    return narrow_enough


def build_sum_pairs(jit: Jit, entry: Any, total: Any) -> Callable[..., None]:
    """Make ``sum_pairs(first, last, space, slabs)``: add up ``space.pairs[first:last]``.

    entry and total are the types of a slab's entries and of a dot product. The sum is added to
    ``slabs.sums``.
    """
    per_word = 64 // entry.bitwidth

    @jit
    def gather(which, b, length, rows, space, slabs):
        """The tensor's entries at the maps of one b, for every c and every a that is needed."""
        role = 1 + which
        tensor = space.tensors[space.slot[role]]
        plan, place = space.plan, space.plan[P + role] % 3
        height, width = space.occurring[plan[A], place], space.occurring[plan[B], place]
        first, count = space.start[1, b], space.start[1, b + 1] - space.start[1, b]
        for l in range(count):  # noqa: E741 - as in the formula
            slabs.column[l] = space.maps[1, first + l, role]
            slabs.factors[l] = space.maps[1, first + l, 3] if role == 2 else 1
        for i in range(space.occurring[plan[C], place]):
            for x in range(height):
                to = slabs.place[which, x]
                if to < 0:
                    continue
                base = (i * height + x) * width
                line = tensor[base : base + width]
                for l in range(count):  # noqa: E741
                    rows[to, i, l] = entry(line[slabs.column[l]] * slabs.factors[l])
                for l in range(count, length):  # noqa: E741
                    rows[to, i, l] = 0

    @jit
    def fill(which, count, words, first, runs, length, slab, space, slabs):
        """Rows of a slab, one run after the other; words and length count words of 64 bits."""
        for k in range(runs):
            source = slabs.place[which, space.maps[0, first + k, 1 + which]]
            to = k * length
            for c in range(count):
                for l in range(length):  # noqa: E741
                    slab[c, to + l] = words[source, c, l]

    @jit
    def scale(count, first, runs, length, slab, space):
        for k in range(runs):
            times = space.maps[0, first + k, 3]
            if times != 1:
                for c in range(count):
                    for l in range(k * length, (k + 1) * length):  # noqa: E741
                        slab[c, l] = entry(slab[c, l] * times)

    @jit
    def dot_all(terms, length, slabs):
        """The dot products of all terms, each times its factor; neighbours share a left row."""
        left, right = slabs.left, slabs.right
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

    @jit
    def select(a, b, space, slabs):
        """The maps of C for which P's tensor is not zero; returns how many."""
        plan, tensor = space.plan, space.tensors[space.slot[0]]
        place = plan[P] % 3
        width = space.occurring[plan[B], place]
        row, column = space.occurring[plan[A], place] * width, slabs.column
        some = False
        for i in range(space.occurring[plan[C], place]):
            column[i] = tensor[i * row + a * width + b]
            some |= column[i] != 0
        if not some:
            return 0
        count, maps = 0, space.maps[2]
        for e in range(space.size[plan[C]]):
            value = np.int64(column[maps[e, 0]])
            slabs.terms[count, 0], slabs.terms[count, 1] = maps[e, 1], maps[e, 2]
            slabs.factors[count] = value * maps[e, 3]
            count += value != 0
        return count

    @jit
    def sum_pairs(first, last, space, slabs):
        plan, maps = space.plan, space.maps[0]
        left, right = slabs.words_left, slabs.words_right
        rows_left = space.occurring[plan[C], plan[Q] % 3]
        rows_right = space.occurring[plan[C], plan[R] % 3]
        while first < last:
            b, end = space.pairs[first, 0], first
            slabs.place[:] = -1
            needed_q, needed_r = 0, 0
            while end < last and space.pairs[end, 0] == b:
                a = space.pairs[end, 1]
                for k in range(space.start[0, a], space.start[0, a + 1]):
                    if slabs.place[0, maps[k, 1]] < 0:
                        slabs.place[0, maps[k, 1]] = needed_q
                        needed_q += 1
                    if slabs.place[1, maps[k, 2]] < 0:
                        slabs.place[1, maps[k, 2]] = needed_r
                        needed_r += 1
                end += 1
            count = space.start[1, b + 1] - space.start[1, b]
            length = (count + PACK - 1) // PACK * PACK
            gather(0, b, length, slabs.rows_q, space, slabs)
            gather(1, b, length, slabs.rows_r, space, slabs)
            words, at_once = length // per_word, TILE // length
            for pair in range(first, end):
                a = space.pairs[pair, 1]
                terms = select(a, b, space, slabs)
                if terms == 0:
                    continue
                result, k, stop = 0, space.start[0, a], space.start[0, a + 1]
                slabs.sums[DOTTED] += terms * (stop - k) * count
                while k < stop:
                    runs = min(at_once, stop - k)
                    fill(0, rows_left, slabs.words_q, k, runs, words, left, space, slabs)
                    fill(1, rows_right, slabs.words_r, k, runs, words, right, space, slabs)
                    scale(rows_right, k, runs, length, slabs.right, space)
                    result += dot_all(terms, runs * length, slabs)
                    k += runs
                times = np.int64(space.pairs[pair, 2])
                slabs.sums[LOW] += times * (result & 0xFFFFFFFF)
                slabs.sums[HIGH] += times * (result >> 32)
            first = end

    return sum_pairs
