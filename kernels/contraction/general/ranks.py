"""Find the entries of the solution with a given rank, by walking through the join once more.

The terms of the sum come in the order of the walk. A term counts the solutions that use its entries
of the summed lines, up to the factors of the lists. So a rank determines a term. The *remainder* of
the rank, which is less than the term, determines one entry of every crossing line.

Why nothing overflows. Ranks, and the sum of the terms before, have two words, as in ``join``. A
product that would exceed one word is detected before it is computed; the kernel then returns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.arguments import int64, uint64
from gpusudoku.kernels.bits import ONE, ZERO, lowest_index, popcount
from gpusudoku.kernels.contraction.general.arrays import Branches, Index, Levels, Walk
from gpusudoku.kernels.contraction.general.join import UNKNOWN, entry_totals, start_walk, step
from gpusudoku.kernels.kernel import inlined, kernel

STOPPED = -1
"""The kernel was stopped."""
TOO_LARGE = -2
"""A term exceeds one word."""
MISSED = -3
"""A rank is not below the sum of its branch."""
MAX_PRODUCT = np.uint64((1 << 63) - 1)


@inlined
def bounded_product(product, factor):
    """Return the product of two numbers below 2^63, or 0 if it is not below 2^63 itself."""
    if factor == ZERO or product <= MAX_PRODUCT // factor:
        return product * factor
    return ZERO


class RankTerms(NamedTuple):
    """The terms that ranks determine."""

    entries: NDArray[np.int64] = int64[:, ::1]
    """(ranks, levels): the entry of every summed line, numbered as in ``Index``."""
    totals: NDArray[np.int64] = int64[:, ::1]
    """(ranks, crossing lines): the totals of the crossing lines."""
    remainder: NDArray[np.uint64] = uint64[::1]
    """(ranks): the remainder of the rank: the rank less the sum of the terms before."""


@inlined
def term_of(index, walk, level, entry):
    """Return the term of an entry of the last level, or 0 if it exceeds one word.

    The totals must be in the memo, and be above 0.
    """
    memo_indices = index.memo_index[entry - index.begin[level]]
    # All factors are above 0, so 0 can only come from an overflow. It stays 0 in later products.
    term = bounded_product(walk.product[level], index.multiplicity[entry])
    for line in range(memo_indices.shape[0]):
        term = bounded_product(term, np.uint64(walk.memo[memo_indices[line]]))
    return term


@inlined
def write_term(index, walk, level, entry, terms, k):
    """Write the entries and totals of a term of the last level as those of rank number ``k``."""
    # The entry to try next follows the chosen one.
    for upper_level in range(level):
        terms.entries[k, upper_level] = walk.entry[upper_level] - 1
    terms.entries[k, level] = entry
    memo_indices = index.memo_index[entry - index.begin[level]]
    for line in range(memo_indices.shape[0]):
        terms.totals[k, line] = walk.memo[memo_indices[line]]


@kernel(
    *(Index(), Levels(), Walk(), Branches(), int64[::1], uint64[:, ::1], RankTerms(), int64[::1]),
    returns=int64,
)
def find_terms(index, levels, walk, branches, starts, ranks, terms, stop):
    """Find the terms that ranks determine.

    branches   Branches                the branches that have them
    starts     int64 (branches + 1)    where the ranks of every branch begin, and the end of all
    ranks      uint64 (ranks, 2)       low word and high word, counted from the start of the branch:
                                       ascending in every branch, and below the branch's sum
    terms      RankTerms               out
    stop       int64 (1)               the kernel returns early when it is not 0

    Returns 0, or STOPPED, TOO_LARGE or MISSED.
    """
    last_level = index.begin.shape[0] - 2
    lines = index.set_words.shape[0]
    for branch in range(branches.first_entry.shape[0]):
        level = start_walk(walk, branches, branch)
        # The sum of the terms of the branch so far.
        low = ZERO
        high = ZERO
        k = starts[branch]
        end = starts[branch + 1]
        while level >= 0 and k < end:
            if stop[0] != 0:
                return STOPPED
            if level < last_level:
                level = step(index, levels, walk, branches, branch, level)
                continue

            # Totals hold for one choice of entries at the levels above.
            for i in range(walk.memo.shape[0]):
                walk.memo[i] = UNKNOWN
            entry = walk.entry[level]
            while entry < walk.end[level] and k < end and stop[0] == 0:
                line = entry_totals(index, levels, walk, level, entry)
                if line < lines:
                    entry = index.skip[entry, line]
                    continue
                term = term_of(index, walk, level, entry)
                if term == ZERO:
                    return TOO_LARGE
                next_low = low + term
                next_high = high + np.uint64(next_low < low)  # the carry
                # Ranks are in ascending order: write all that are below the new sum.
                while k < end and (
                    ranks[k, 1] < next_high or (ranks[k, 1] == next_high and ranks[k, 0] < next_low)
                ):
                    # The remainder is below the term, so the low words are enough.
                    terms.remainder[k] = ranks[k, 0] - low
                    write_term(index, walk, level, entry, terms, k)
                    k += 1
                low = next_low
                high = next_high
                entry += 1
            level -= 1
        # The branch is finished, so all its ranks must have been found.
        if k < end:
            return STOPPED if stop[0] != 0 else MISSED
    return 0


@inlined
def list_fitting_entries(index, line, chosen_entries, words, totals_before):
    """Make the bit set of a crossing line's entries that fit, and its running totals.

    chosen_entries   int64 (levels)        the entries of the summed lines
    words            uint64 (words)        out: the bit set
    totals_before    int64 (words + 1)     out: the multiplicities in all words before each word
    """
    word_count = words.shape[0]
    plane_begin = index.plane_begin[line]
    totals_before[0] = 0
    for k in range(word_count):
        word = ~ZERO  # the bits above the last entry are 0 in each set
        for level in range(chosen_entries.shape[0]):
            word &= index.sets[index.set_begin[chosen_entries[level], line] + k]
        words[k] = word
        word_total = 0
        if word != ZERO:
            for bit in range(index.plane_count[line]):
                plane_word = index.planes[plane_begin + bit * word_count + k]
                word_total += popcount(word & plane_word) << bit
        totals_before[k + 1] = totals_before[k] + word_total


@kernel(
    Index(), int64[:, ::1], int64, int64[::1], uint64[::1], int64[::1], int64[:, ::1], int64[::1]
)
def find_crossing_entries(index, entries, line, multiplicity, words, totals_before, out, stop):
    """Find the entries of a crossing line that remainders determine.

    entries          int64 (ranks, levels)    the entries of the summed lines, as ``find_terms``
                                              writes them; successive equal rows share work
    line             int                      the crossing line
    multiplicity     int64 (entries)          the multiplicities of its entries
    words            uint64 (words)           scratch: the bit set of the entries that fit
    totals_before    int64 (words + 1)        scratch: their multiplicities before each word
    out              int64 (ranks, 2)         in: (unused, remainder), the remainder below the total
                                              of the line; out: the entry, and the remainder within
                                              its multiplicity
    stop             int64 (1)                the kernel returns early when it is not 0
    """
    for row in range(entries.shape[0]):
        if stop[0] != 0:
            return
        is_same = row > 0
        for level in range(entries.shape[1]):
            is_same = is_same and entries[row, level] == entries[row - 1, level]
        # Ranks are sorted, so many successive ones have the same entries.
        if not is_same:
            list_fitting_entries(index, line, entries[row], words, totals_before)

        # Find the last word k with totals_before[k] <= remainder, by bisection.
        remainder = out[row, 1]
        low = 0
        high = words.shape[0]
        while high - low > 1:
            middle = (low + high) // 2
            if totals_before[middle] <= remainder:
                low = middle
            else:
                high = middle

        # Find the entry in the word.
        remainder = remainder - totals_before[low]
        word = words[low]
        entry = 64 * low + lowest_index(word)
        while remainder >= multiplicity[entry]:
            remainder -= multiplicity[entry]
            word &= word - ONE
            entry = 64 * low + lowest_index(word)
        out[row, 0] = entry
        out[row, 1] = remainder
