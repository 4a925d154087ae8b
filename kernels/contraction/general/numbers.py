"""From the number of a solution to the entries that it uses: the join, walked once more.

The terms of the sum come in the order of the walk. A term counts the solutions that use its entries
of the summed lines, up to the factors of the lists. So a number leads to a term, and what is left
of it, less than the term, to one entry of every crossing line.

Why nothing overflows. Numbers and the sum of the terms gone through have two words, as in ``join``.
A product that would pass one word is noticed before it is taken; then the walk is given up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.arguments import int64, uint64
from gpusudoku.kernels.bits import ONE, ZERO, lowest_index, popcount
from gpusudoku.kernels.contraction.general.arrays import Branches, Index, Levels, Walk
from gpusudoku.kernels.contraction.general.join import UNKNOWN, begin, entry_totals, step
from gpusudoku.kernels.kernel import inlined, kernel

STOPPED = -1
TOO_LARGE = -2
MISSED = -3
"""It gave up; a term passes one word; a number is not below its branch's sum."""
MOST = np.uint64((1 << 63) - 1)


@inlined
def times(product, factor):
    """The product of two numbers below 2^63, or 0 if it is not below that itself."""
    return product * factor if factor == ZERO or product <= MOST // factor else ZERO


class Found(NamedTuple):
    """The terms that numbers lead to."""

    entries: NDArray[np.int64] = int64[:, ::1]
    """(numbers, levels): the entry of every summed line, numbered as in ``Index``."""
    totals: NDArray[np.int64] = int64[:, ::1]
    """(numbers, lines): the totals of the crossing lines."""
    rest: NDArray[np.uint64] = uint64[::1]
    """(numbers): what is left of the number, less than the term."""


@kernel(
    *(Index(), Levels(), Walk(), Branches(), int64[::1], uint64[:, ::1], Found(), int64[::1]),
    returns=int64,
)
def find_terms(index, levels, walk, branches, first, numbers, found, stop):
    """Find the terms that some numbers lead to.

    branches   Branches                       where they are
    first      int64 (branches + 1)           where the numbers of every branch begin; their end
    numbers    uint64 (numbers, 2)            low word and high word, ascending in every branch:
                                              below the branch's sum
    found      Found                          out
    stop       int64 (1)                      not 0: give up

    Returns 0, or STOPPED, TOO_LARGE or MISSED.
    """
    last = index.begin.shape[0] - 2
    lines = index.words.shape[0]
    for branch in range(branches.first.shape[0]):
        level = begin(walk, branches, branch)
        low = ZERO
        high = ZERO
        asked = first[branch]
        end = first[branch + 1]
        while level >= 0 and asked < end:
            if stop[0] != 0:
                return STOPPED
            if level < last:
                level = step(index, levels, walk, branches, branch, level)
                continue
            for k in range(walk.memo.shape[0]):
                walk.memo[k] = UNKNOWN
            entry = walk.entry[level]
            while entry < walk.end[level] and asked < end and stop[0] == 0:
                line = entry_totals(index, levels, walk, level, entry)
                if line < lines:
                    entry = index.skip[entry, line]
                    continue
                places = index.place[entry - index.begin[level]]
                term = times(walk.product[level], index.multiplicity[entry])
                for line in range(lines):
                    term = times(term, np.uint64(walk.memo[places[line]]))
                if term == ZERO:
                    return TOO_LARGE
                after = low + term
                carried = high + np.uint64(after < low)
                while asked < end and (
                    numbers[asked, 1] < carried
                    or (numbers[asked, 1] == carried and numbers[asked, 0] < after)
                ):
                    found.rest[asked] = numbers[asked, 0] - low
                    for above in range(level):
                        found.entries[asked, above] = walk.entry[above] - 1
                    found.entries[asked, level] = entry
                    for line in range(lines):
                        found.totals[asked, line] = walk.memo[places[line]]
                    asked += 1
                low = after
                high = carried
                entry += 1
            level -= 1
        if asked < end:
            return STOPPED if stop[0] != 0 else MISSED
    return 0


@kernel(
    Index(), int64[:, ::1], int64, int64[::1], uint64[::1], int64[::1], int64[:, ::1], int64[::1]
)
def find_crossing(index, entries, line, multiplicity, words, before, found, stop):
    """Find the entries of a crossing line that numbers lead to, given those of the summed ones.

    entries       int64 (numbers, levels)    as ``find_terms`` writes them; the work for rows
                                             that are equal in a run is done once
    line          int                        the crossing line
    multiplicity  int64 (entries)            of its entries
    words         uint64 (words)             scratch: the bit set of the entries that fit
    before        int64 (words + 1)          scratch: their multiplicities before each word
    found         int64 (numbers, 2)         out: the entry; the number, which is below the total,
                                             and then what is left of it
    stop          int64 (1)                  not 0: give up
    """
    size = words.shape[0]
    depth = entries.shape[1]
    plane_begin = index.plane_begin[line]
    for row in range(entries.shape[0]):
        if stop[0] != 0:
            return
        same = row > 0
        left = found[row, 1]
        for level in range(depth):
            same = same and entries[row, level] == entries[row - 1, level]
        if not same:
            before[0] = 0
            for k in range(size):
                word = ~ZERO
                for level in range(depth):
                    word &= index.sets[index.set_of[entries[row, level], line] + k]
                words[k] = word
                total = 0
                if word != ZERO:
                    for bit in range(index.plane_count[line]):
                        total += popcount(word & index.planes[plane_begin + bit * size + k]) << bit
                before[k + 1] = before[k] + total
        low = 0
        high = size
        while high - low > 1:
            middle = (low + high) // 2
            if before[middle] <= left:
                low = middle
            else:
                high = middle
        left = left - before[low]
        word = words[low]
        entry = 64 * low + lowest_index(word)
        while left >= multiplicity[entry]:
            left -= multiplicity[entry]
            word &= word - ONE
            entry = 64 * low + lowest_index(word)
        found[row, 0], found[row, 1] = entry, left
