"""The sum over pairs of partitions: long dot products of narrow integers.

For a pair (a, b) of indices at P, let k run over the entries of A that have a there, and l over
those of B that have b. Two *slabs* have a row for every index c of C, at Q and at R:

    left[c][k, l]  = element [c][index of k at Q][index of l at Q] of Q's tensor
    right[c][k, l] = element [c][index of k at R][index of l at R] of R's tensor
                     * multiplicity of k * multiplicity of l

The pair's number of solutions is the sum over its terms, which are entries of C, of

    P's tensor at [c][a][b] * multiplicity of the entry * dot product of a row of left and of right

A row consists of *segments*, one for each k, in which l changes. Segments have a common length, and
zeros fill them up. All pairs with the same b share segments. They are gathered once, and copied
from there to the slabs. For 2 entries k, 6 entries l and PACK = 4:

              segment of the first k    segment of the second k
    left[c]   l0 l1 l2 l3 l4 l5  0  0   l0 l1 l2 l3 l4 l5  0  0   length 16

Exactness. In the narrow kernel, elements have 16 bits and dot products 32. ``is_narrow``
computes from the actual maxima whether elements stay below 2^15, and a dot product of at most TILE
products below 2^31. If not, the wide kernel takes 32-bit elements and 64-bit sums. A multiplicity
is at most 12 and an element of a tensor at most 1,728. So an element of ``right`` is at most
248,832, and TILE products stay below 2^39.

The sum of a pair counts solutions, up to the divisors. Without clues no pair has more than
97,034,115,530,096,640 < 2^57, and clues only remove solutions. It is multiplied by the size of its
orbit in two halves of 32 bits. Sizes add up to at most 280^2 < 2^17, so neither half passes 2^49.

At the end of the file are the arrays that the sum on a GPU reads. They are here and not in ``cuda``
because the host needs them without Numba, which ``cuda`` imports.

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
"""Maximum number of a line's entries that have a given partition in a given box."""
STRIDE = 56
"""Room for the entries of one partition: PER_PARTITION, filled up to a multiple of PACK."""
PACK = 4
"""Zeros fill segments up to a multiple of this length. Segments are copied in words of 64 bits,
which hold four of the narrowest elements."""
TILE = 840
"""Maximum length of a dot product. Two slabs of 280 rows of this length are about what a
second-level cache holds. Rows do not start at multiples of a page's size, because they would then
compete for the same ways of the cache."""

LOW, HIGH, PRODUCT_COUNT = range(3)
"""Fields of ``Slabs.sums``."""
LEFT, RIGHT = range(2)
"""The sides: factors of the dot products."""
SEGMENT_LENGTH, TERM_COUNT = range(2)
"""Fields of ``Slabs.pair_sizes``."""


class Slabs(Group):
    """The memory in which a thread sums. Elements of slabs have 16 bits, or 32 in the wide kernel.

    Arrays with two parts begin with an axis of the *sides*. LEFT has the tensor of Q. RIGHT has the
    tensor of R, times the multiplicities of the entries of A and B.

    Segments are gathered for one b, and copied to the slab of a pair:

        segments[side, row[side, index of k], c, :length]    one segment
        slab[side, c, n * length : (n + 1) * length]         the segment of the n-th entry k
    """

    sums = array_of(np.int64, 3)
    """The sum is HIGH * 2^32 + LOW. PRODUCT_COUNT is the number of products that were added up."""
    results = array_of(np.int64, PARTITIONS * PARTITIONS)
    """The sum of every pair of ``Orbits.representatives`` that was summed."""
    row = array_of(np.int64, 2, PARTITIONS)
    """The row of ``segments`` for each index of A; -1 for indices that have none."""
    b_columns = array_of(np.int16, STRIDE)
    """The index at Q or R of every entry of a b: its column in a row of the tensor."""
    b_factors = array_of(np.int64, STRIDE)
    """The factor by which the tensor is multiplied there."""
    pivots = array_of(np.int16, PARTITIONS)
    """The elements of P's tensor at one (a, b), by index of C."""
    terms = array_of(np.int16, MAX_ENTRIES, 2)
    """The indices at Q and R of the terms of a pair."""
    factors = array_of(np.int64, MAX_ENTRIES)
    """For each term, the element of P's tensor times the multiplicity."""
    term_entries = array_of(np.int16, MAX_ENTRIES)
    """For each term, the entry of C in ``Operands``. Only the search for solutions writes it."""
    totals = array_of(np.int64, MAX_ENTRIES)
    """For each term, the dot product. Only the search for solutions writes it."""
    pair_sizes = array_of(np.int64, 2)
    """SEGMENT_LENGTH of the gathered segments, and TERM_COUNT of a pair. Only the search for
    solutions writes it."""
    slab = array_of("element", 2, PARTITIONS, TILE)
    """A row for every index of C, over pairs of entries of A and B."""
    slab_words = words_of("slab")
    """The memory of ``slab`` as words of 64 bits, with several elements each."""
    segments = array_of("element", 2, PARTITIONS, PARTITIONS, STRIDE)
    """The segments for one b, from which slabs are copied: at [row][c], the elements of the tensor
    at the entries of b."""
    segment_words = words_of("segments")
    """The memory of ``segments`` as words of 64 bits."""


def make_slabs(wide: bool) -> Slabs:
    """Allocate the memory of one thread: 23 MB, or twice as much if ``wide``."""
    return Slabs(element=np.int32 if wide else np.int16)


@jitable
def is_narrow(lists, roles, tensors):
    """Return whether 16-bit elements and 32-bit dot products are large enough."""
    # Signed types: 16 bits hold less than 2^15, 32 bits less than 2^31.
    max_left = tensors.largest[roles.tensor[Q]]
    max_right = tensors.largest[roles.tensor[R]]
    max_right *= lists.largest[roles.summed[A]] * lists.largest[roles.summed[B]]
    return max_right < 1 << 15 and max_left * max_right * TILE < 1 << 31


@jitable
def end_of_same_b(start, stop, pairs):
    """Return the end of the pairs that have the same b as pair ``start``, at most ``stop``."""
    end = start
    while end < stop and pairs[end, 0] == pairs[start, 0]:
        end += 1
    return end


@jitable
def _assign_rows(side, start, stop, operands, pairs, slabs):
    """Write ``row`` of a side: a row for each index of A that the pairs [start:stop] need."""
    a_start = operands.start[A]
    entries = operands.entries[A]
    row = slabs.row[side]
    crossing_role = Q + side
    # Other indices of A get no row, so nothing is gathered for them.
    row[:] = -1
    row_count = 0
    for pair in range(start, stop):
        a = pairs[pair, 1]
        for k in range(a_start[a], a_start[a + 1]):
            index = entries[k, crossing_role]
            if row[index] < 0:
                row[index] = row_count
                row_count += 1


@jitable
def _select_terms(a, b, roles, operands, tensors, slabs):
    """Write the terms of a pair, the entries of C where P's tensor is not zero; return how many."""
    tensor = tensors.elements[roles.tensor[P]]
    pivots = slabs.pivots
    width = roles.shape[B, P]
    row_length = roles.shape[A, P] * width
    has_terms = False
    for c in range(roles.shape[C, P]):
        pivots[c] = tensor[c * row_length + a * width + b]
        has_terms |= pivots[c] != 0
    if not has_terms:
        return 0
    count = 0
    entries = operands.entries[C]
    for e in range(operands.start[C, -1]):
        # Every entry is written to the next place, and stays there if it is a term. That is quicker
        # than a branch which processors cannot predict.
        element = np.int64(pivots[entries[e, P]])
        slabs.terms[count, 0] = entries[e, Q]
        slabs.terms[count, 1] = entries[e, R]
        slabs.factors[count] = element * entries[e, MULTIPLICITY]
        count += element != 0
    return count


@jitable
def _copy_segments(side, first_k, segment_count, words, roles, operands, slabs):
    """Write the rows of a slab, segment after segment.

    The segments are those of the entries of A from ``first_k`` on. ``words`` is the length of a
    segment in words.
    """
    slab = slabs.slab_words[side]
    segments = slabs.segment_words[side]
    row = slabs.row[side]
    for k in range(segment_count):
        source = row[operands.entries[A, first_k + k, Q + side]]
        start = k * words
        for c in range(roles.shape[C, Q + side]):
            for word in range(words):
                slab[c, start + word] = segments[source, c, word]


def build_slabs(element_type: Any) -> tuple[Callable[..., int], Callable[..., None]]:
    """Make ``gather_segments`` and ``write_slabs`` for elements of a type of Numba."""
    per_word = 8 // np.dtype(element_type).itemsize  # elements in a word of 64 bits

    @jitable
    def gather(side, b, length, roles, operands, tensors, slabs):
        """Write the segments of a side for one b: for every c, and every a that has a row."""
        crossing_role = Q + side
        columns = slabs.b_columns
        factors = slabs.b_factors
        row = slabs.row[side]
        tensor = tensors.elements[roles.tensor[crossing_role]]
        segments = slabs.segments[side]
        # Multiplicities of B's entries are included here. Those of A's follow in ``scale``, because
        # entries of A with the same index share a segment.
        height = roles.shape[A, crossing_role]
        width = roles.shape[B, crossing_role]
        first_entry = operands.start[B, b]
        count = operands.start[B, b + 1] - operands.start[B, b]
        entries = operands.entries[B]
        # Looked up once for all c and a.
        for l in range(count):  # noqa: E741 - as in the formula
            columns[l] = entries[first_entry + l, crossing_role]
            factors[l] = entries[first_entry + l, MULTIPLICITY] if side == RIGHT else 1
        for c in range(roles.shape[C, crossing_role]):
            for index in range(height):
                target = row[index]
                if target < 0:
                    continue
                start = (c * height + index) * width
                tensor_row = tensor[start : start + width]
                for l in range(count):  # noqa: E741
                    segments[target, c, l] = element_type(tensor_row[columns[l]] * factors[l])
                # Zeros fill the segment up.
                for l in range(count, length):  # noqa: E741
                    segments[target, c, l] = 0

    @jitable
    def scale(first_k, segment_count, length, roles, operands, slabs):
        """Multiply the segments on the RIGHT by the multiplicities of their entries of A."""
        slab = slabs.slab[RIGHT]
        for k in range(segment_count):
            factor = operands.entries[A, first_k + k, MULTIPLICITY]
            if factor != 1:  # many multiplicities are 1, as they are divided by their divisor
                for c in range(roles.shape[C, R]):
                    for i in range(k * length, (k + 1) * length):
                        slab[c, i] = element_type(slab[c, i] * factor)

    @jitable
    def gather_segments(start, stop, pairs, roles, operands, tensors, slabs):
        """Gather the segments that the pairs [start:stop] need; return the length of a segment.

        The pairs must have the same b.
        """
        b = pairs[start, 0]
        count = operands.start[B, b + 1] - operands.start[B, b]
        length = (count + PACK - 1) // PACK * PACK
        for side in range(2):
            _assign_rows(side, start, stop, operands, pairs, slabs)
            gather(side, b, length, roles, operands, tensors, slabs)
        return length

    @jitable
    def write_slabs(first_k, segment_count, length, roles, operands, slabs):
        """Write both slabs for some entries of A, from ``first_k`` on, and all entries of b."""
        words = length // per_word
        for side in range(2):
            _copy_segments(side, first_k, segment_count, words, roles, operands, slabs)
        scale(first_k, segment_count, length, roles, operands, slabs)

    return gather_segments, write_slabs


def build_dot_all(dot_type: Any, keep: bool) -> Callable[..., int]:
    """Make ``dot_all``; the parameters are those of ``build_pair_sum``."""

    @jitable
    def dot_all(term_count, length, slabs):
        """Return the sum of all terms, each a dot product times its factor.

        Entries of C are sorted by Q. So successive terms often have the same row of the left slab,
        and four of them are summed at once.
        """
        left_slab = slabs.slab[LEFT]
        right_slab = slabs.slab[RIGHT]
        terms = slabs.terms
        factors = slabs.factors
        totals = slabs.totals
        pair_sum = 0
        t = 0
        while t < term_count:
            left_row = terms[t, 0]
            # Terms are sorted, so if the fourth has the same row, those between have it, too.
            if t + 4 <= term_count and terms[t + 3, 0] == left_row:
                right_row_0 = terms[t, 1]
                right_row_1 = terms[t + 1, 1]
                right_row_2 = terms[t + 2, 1]
                right_row_3 = terms[t + 3, 1]
                dot_0 = dot_type(0)
                dot_1 = dot_type(0)
                dot_2 = dot_type(0)
                dot_3 = dot_type(0)
                # ``dot_type`` after each operation keeps Numba from widening it to 64 bits.
                for i in range(length):
                    left_element = dot_type(left_slab[left_row, i])
                    right_0 = dot_type(right_slab[right_row_0, i])
                    right_1 = dot_type(right_slab[right_row_1, i])
                    right_2 = dot_type(right_slab[right_row_2, i])
                    right_3 = dot_type(right_slab[right_row_3, i])
                    dot_0 = dot_type(dot_0 + dot_type(left_element * right_0))
                    dot_1 = dot_type(dot_1 + dot_type(left_element * right_1))
                    dot_2 = dot_type(dot_2 + dot_type(left_element * right_2))
                    dot_3 = dot_type(dot_3 + dot_type(left_element * right_3))
                pair_sum += factors[t] * dot_0 + factors[t + 1] * dot_1
                pair_sum += factors[t + 2] * dot_2 + factors[t + 3] * dot_3
                if keep:
                    totals[t] += dot_0
                    totals[t + 1] += dot_1
                    totals[t + 2] += dot_2
                    totals[t + 3] += dot_3
                t += 4
            else:
                right_row_0 = terms[t, 1]
                dot_0 = dot_type(0)
                for i in range(length):
                    left_element = dot_type(left_slab[left_row, i])
                    right_0 = dot_type(right_slab[right_row_0, i])
                    dot_0 = dot_type(dot_0 + dot_type(left_element * right_0))
                pair_sum += factors[t] * dot_0
                if keep:
                    totals[t] += dot_0
                t += 1
        return pair_sum

    return dot_all


def build_pair_sum(
    element_type: Any, dot_type: Any, keep: bool
) -> tuple[Callable[..., Any], Callable[..., int]]:
    """Make ``gather_segments`` and ``sum_pair`` for slabs of one width.

    Parameters
    ----------
    element_type
        Numba's type of a slab's elements.
    dot_type
        Numba's type of a dot product.
    keep
        Whether to write ``slabs.totals``, the dot product of every term.
    """
    gather_segments, write_slabs = build_slabs(element_type)
    dot_all = build_dot_all(dot_type, keep)

    @jitable
    def sum_pair(a, b, length, roles, operands, tensors, slabs):
        """Return the sum of a pair, whose segments of this length are gathered."""
        term_count = _select_terms(a, b, roles, operands, tensors, slabs)
        pair_sum = 0
        k = operands.start[A, a]
        end_k = operands.start[A, a + 1]
        if keep:
            # The totals add up over all rounds of the loop below.
            slabs.totals[:term_count] = 0
        if term_count == 0:  # nothing to lay out
            return pair_sum
        l_count = operands.start[B, b + 1] - operands.start[B, b]
        slabs.sums[PRODUCT_COUNT] += term_count * (end_k - k) * l_count
        # The slabs hold the segments of a few entries of A at a time.
        max_segments = TILE // length
        while k < end_k:
            segment_count = min(max_segments, end_k - k)
            write_slabs(k, segment_count, length, roles, operands, slabs)
            pair_sum += dot_all(term_count, segment_count * length, slabs)
            k += segment_count
        return pair_sum

    return gather_segments, sum_pair


def build_sum_pairs(element_type: Any, dot_type: Any) -> Callable[..., None]:
    """Make ``sum_pairs`` for slabs of one width; see ``build_pair_sum``."""
    gather_segments, sum_pair = build_pair_sum(element_type, dot_type, keep=False)

    def sum_pairs(start, end, roles, operands, tensors, orbits, stop, slabs):
        """Add the sums of pairs, times the sizes of their orbits, to ``slabs.sums``.

        The pairs are orbits.representatives[start:end]. Their own sums are written to
        ``slabs.results``. ``stop`` is int64 (1). Once it is not 0 no more pairs are summed, and the
        remaining results are not written.
        """
        pairs = orbits.representatives
        sums = slabs.sums
        # Pairs are sorted by b, so those with the same b follow one another.
        while start < end:
            b = pairs[start, 0]
            same_b_end = end_of_same_b(start, end, pairs)
            length = gather_segments(start, same_b_end, pairs, roles, operands, tensors, slabs)
            for pair in range(start, same_b_end):
                if stop[0] != 0:
                    return
                pair_sum = sum_pair(pairs[pair, 1], b, length, roles, operands, tensors, slabs)
                slabs.results[pair] = pair_sum
                # In halves, as the product may pass 2^64; see the head of this file.
                orbit_size = np.int64(pairs[pair, 2])
                sums[LOW] += orbit_size * (pair_sum & 0xFFFFFFFF)
                sums[HIGH] += orbit_size * (pair_sum >> 32)
            start = same_b_end

    return jitable(sum_pairs)


sum_narrow = build_sum_pairs(np.int16, np.int32)
"""``sum_pairs`` where ``is_narrow`` holds."""
sum_wide = build_sum_pairs(np.int32, np.int64)
"""``sum_pairs`` for every other board."""


MAX_THREADS = 512
"""Maximum number of threads of a block."""
FIELDS_PER_WORD = 4
"""16-bit fields of a word of 64 bits."""


class DeviceOperands(NamedTuple):
    """The arrays of ``Operands``, in memory of the GPU."""

    entries: Any
    """int16 (3, entries, 4)"""
    words: Any
    """int64 (entries of C): each entry as one word; ``Operands`` has a drawing."""
    start: Any
    """int64 (3, 281)"""


class RoleTensors(NamedTuple):
    """The tensors of the crossing roles, flat, each indexed [a][b][c].

    Zeros fill the last axis up to a multiple of FIELDS_PER_WORD, so that rows are whole words:

        bits     0 ... 15    16 ... 31    32 ... 47    48 ... 63
        word 0   c = 0       c = 1        c = 2        c = 3
        word 1   c = 4       c = 5        c = 6        c = 7
    """

    p: Any
    """int16: the elements of P's tensor."""
    q: Any
    """int64: the words of Q's tensor."""
    r: Any
    """int64: the words of R's tensor."""


def is_narrow_on_gpu(lists: Lists, roles: Roles, tensors: Tensors) -> bool:
    """Return whether columns of 16 bits and inner sums of 32 bits are large enough on a GPU.

    The CPU's sum has other bounds: ``pair_sums.is_narrow``.
    """
    max_p, _, max_r = (int(largest) for largest in tensors.largest[roles.tensor])
    max_a, max_b, max_c = (int(largest) for largest in lists.largest[roles.summed])
    max_column = max_r * max_a * max_b
    return max_column < 1 << 16 and max_column * max_p * max_c * PER_PARTITION < 1 << 32
