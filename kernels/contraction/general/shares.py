"""The join backwards: how many solutions use what two lines name alike where they cross.

In the box where a summed line and a crossing line meet, an entry of either has a *naming*: its
partition there, and which of its words name which set how. What is added up for a pair of namings
that fit, its *environment*, is the number of solutions of the whole board with these two, where the
words of the two lines count once and those of all others as often as there are.

At the last level of the walk the totals are known. What all lines but one contribute is given back
to the entries of the summed line, and from these to the entries of the one crossing line that they
fit. Such a value is kept for every entry of a crossing line, and handed up from level to level: it
is the sum over all choices below.

Why nothing overflows. Only sums and products are taken, so all is exact modulo 2^64, which machine
words do by themselves, and modulo primes below 2^31. There one factor of a product is reduced; the
other is too, or is a multiplicity or a number of entries of one line, below 2^32, since all its
maps were listed. So a product and a reduced value to add make less than 2^64. Who calls takes so
many moduli that their product exceeds the number of solutions. What is held at the last level is at
most the number of maps of a line, below 2^63.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.arguments import int64, uint64
from gpusudoku.kernels.bits import ONE, ZERO, lowest_index, popcount
from gpusudoku.kernels.contraction.general.arrays import Branches, Index, Levels, Walk
from gpusudoku.kernels.contraction.general.join import UNKNOWN, begin, step
from gpusudoku.kernels.kernel import inlined, kernel


class Namings(NamedTuple):
    """The namings of all entries, and which of them fit. Entries of all crossing lines follow."""

    summed: NDArray[np.int64] = int64[:, ::1]
    """(entries, crossing lines): the namings of the entries of ``Index``."""
    crossing: NDArray[np.int64] = int64[:, ::1]
    """(crossing entries, levels): those of the crossing lines' entries."""
    first: NDArray[np.int64] = int64[::1]
    """(crossing lines + 1): where the entries of every crossing line begin."""
    multiplicity: NDArray[np.int64] = int64[::1]
    """(crossing entries): the multiplicities of these."""
    places: NDArray[np.int64] = int64[::1]
    """(crossing lines): namings of the last summed line in the box with each."""
    bits: NDArray[np.uint64] = uint64[::1]
    """For every box and every naming of its summed line a bit set: the namings of the crossing line
    that fit it."""
    rank: NDArray[np.int64] = int64[::1]
    """For every word of ``bits`` the place of its first pair among the environments."""
    begin: NDArray[np.int64] = int64[:, ::1]
    """(crossing lines, levels): where in ``bits`` those of a box begin."""
    width: NDArray[np.int64] = int64[:, ::1]
    """(crossing lines, levels): the words of each bit set of a box."""


class Backward(NamedTuple):
    """What a thread works in, and adds to; all 0 in the beginning."""

    environments: NDArray[np.uint64] = uint64[::1]
    """(fitting pairs of namings): the environments of all boxes."""
    above: NDArray[np.uint64] = uint64[:, ::1]
    """(levels, crossing entries): what is handed up from below a level."""
    totals: NDArray[np.int64] = int64[:, ::1]
    """(crossing lines, namings): totals by the naming of the last summed line."""
    alone: NDArray[np.uint64] = uint64[:, ::1]
    """(crossing lines, namings): what is given back to it; its own words count once."""
    weighted: NDArray[np.uint64] = uint64[:, ::1]
    """(crossing lines, namings): the same, and they count as often as there are."""
    present: NDArray[np.uint64] = uint64[:, ::1]
    """(crossing lines, words): the namings of the crossing line that are left, as bits."""
    held: NDArray[np.int64] = int64[:, ::1]
    """(crossing lines, namings): their words."""
    number: NDArray[np.uint64] = uint64[:, ::1]
    """(crossing lines, namings): their entries."""
    back: NDArray[np.uint64] = uint64[:, ::1]
    """(crossing lines, namings): what is given back to them."""


@inlined
def reduced(value, modulus):
    """A value modulo a prime; as it is if the modulus is 0, which stands for 2^64."""
    return value if modulus == ZERO else value % modulus


@inlined
def pair_place(namings, line, level, naming, other):
    """The place of a fitting pair among the environments."""
    word = namings.begin[line, level] + naming * namings.width[line, level] + other // 64
    before = namings.bits[word] & ((ONE << np.uint64(other % 64)) - ONE)
    return namings.rank[word] + popcount(before)


@inlined
def hold(levels, namings, state, line, level):
    """Note the namings of a crossing line's entries that are left at the last level."""
    first = namings.first[line]
    end = namings.first[line + 1]
    for k in range(levels.counts[level, line]):
        word = levels.words[level, line, k]
        entry = first + 64 * levels.positions[level, line, k]
        while word != ZERO:
            here = entry + lowest_index(word)
            word &= word - ONE
            if here < end:  # all bits are set at level 0
                naming = namings.crossing[here, level]
                state.present[line, naming // 64] |= ONE << np.uint64(naming % 64)
                state.held[line, naming] += namings.multiplicity[here]
                state.number[line, naming] += ONE
    for naming in range(namings.places[line]):
        state.totals[line, naming] = UNKNOWN
        state.alone[line, naming] = ZERO
        state.weighted[line, naming] = ZERO


@inlined
def held_total(namings, state, line, level, naming):
    """Add up the multiplicities of a line's entries that are left and fit a naming."""
    found = 0
    width = namings.width[line, level]
    start = namings.begin[line, level] + naming * width
    for k in range(width):
        word = state.present[line, k] & namings.bits[start + k]
        while word != ZERO:
            found += state.held[line, 64 * k + lowest_index(word)]
            word &= word - ONE
    return found


@inlined
def give_back(index, walk, namings, state, modulus, level, stop):
    """Give the terms of the last level back to the namings of its entries."""
    lines = namings.places.shape[0]
    entry = walk.entry[level]
    while entry < walk.end[level] and stop[0] == 0:
        line = 0
        while line < lines:
            naming = namings.summed[entry, line]
            if state.totals[line, naming] == UNKNOWN:
                state.totals[line, naming] = held_total(namings, state, line, level, naming)
            if state.totals[line, naming] == 0:
                break
            line += 1
        if line < lines:
            entry = index.skip[entry, line]
            continue
        times = reduced(index.multiplicity[entry], modulus)
        for line in range(lines):
            others = ONE
            for other in range(lines):
                if other != line:
                    total = np.uint64(state.totals[other, namings.summed[entry, other]])
                    others = reduced(others * reduced(total, modulus), modulus)
            naming = namings.summed[entry, line]
            state.alone[line, naming] = reduced(state.alone[line, naming] + others, modulus)
            weighted = state.weighted[line, naming] + times * others
            state.weighted[line, naming] = reduced(weighted, modulus)
        entry += 1


@inlined
def spread(levels, walk, namings, state, modulus, line, level, stop):
    """Hand what was given back on to a crossing line's entries, and to the environments."""
    width = namings.width[line, level]
    first = namings.first[line]
    for naming in range(namings.places[line]):
        given = state.alone[line, naming] | state.weighted[line, naming]
        if given == ZERO or stop[0] != 0:
            continue
        start = namings.begin[line, level] + naming * width
        scale = reduced(walk.product[level] * state.alone[line, naming], modulus)
        for k in range(width):
            fitting = namings.bits[start + k]
            word = state.present[line, k] & fitting
            while word != ZERO:
                bit = word & (~word + ONE)
                word ^= bit
                other = 64 * k + lowest_index(bit)
                back = state.back[line, other] + state.weighted[line, naming]
                state.back[line, other] = reduced(back, modulus)
                place = namings.rank[start + k] + popcount(fitting & (bit - ONE))
                found = state.environments[place] + scale * state.number[line, other]
                state.environments[place] = reduced(found, modulus)
    for k in range(levels.counts[level, line]):
        word = levels.words[level, line, k]
        entry = first + 64 * levels.positions[level, line, k]
        while word != ZERO and level > 0:
            here = entry + lowest_index(word)
            word &= word - ONE
            state.above[level, here] = state.back[line, namings.crossing[here, level]]
    for k in range(width):
        word = state.present[line, k]
        state.present[line, k] = ZERO
        while word != ZERO:
            other = 64 * k + lowest_index(word)
            word &= word - ONE
            state.held[line, other] = 0
            state.number[line, other] = ZERO
            state.back[line, other] = ZERO


@inlined
def clear(levels, namings, state, level):
    """Have nothing handed up to a level yet."""
    for line in range(namings.places.shape[0]):
        for k in range(levels.counts[level, line]):
            start = namings.first[line] + 64 * levels.positions[level, line, k]
            for entry in range(start, min(start + 64, namings.first[line + 1])):
                state.above[level, entry] = ZERO


@inlined
def hand_up(index, levels, walk, namings, state, modulus, level):
    """Go back to the level above: what was handed up belongs to the entry that is chosen there."""
    chosen = walk.entry[level - 1] - 1
    scale = walk.product[level - 1]
    times = reduced(index.multiplicity[chosen], modulus)
    for line in range(namings.places.shape[0]):
        naming = namings.summed[chosen, line]
        for k in range(levels.counts[level, line]):
            word = levels.words[level, line, k]
            entry = namings.first[line] + 64 * levels.positions[level, line, k]
            while word != ZERO:
                here = entry + lowest_index(word)
                word &= word - ONE
                value = state.above[level, here]
                other = namings.crossing[here, level - 1]
                place = pair_place(namings, line, level - 1, naming, other)
                found = state.environments[place] + scale * value
                state.environments[place] = reduced(found, modulus)
                if level > 1:
                    handed = state.above[level - 1, here] + times * value
                    state.above[level - 1, here] = reduced(handed, modulus)


@kernel(
    *(Index(), Levels(), Walk(), Branches(), Namings(), Backward(), uint64, int64[::1]),
    returns=int64,
    seconds=3.2,
)
def sweep(index, levels, walk, branches, namings, state, modulus, stop):
    """Add the environments of some branches, each as often as its weight says.

    index, levels, walk     as ``join`` has them
    branches                Branches             what to sum
    namings                 Namings
    state                   Backward             scratch, and what is added to
    modulus                 int                  a prime below 2^31, or 0, which stands for 2^64
    stop                    int64 (1)            not 0: give up

    Returns 0, or -1 if it gave up.
    """
    last = index.begin.shape[0] - 2
    lines = index.words.shape[0]
    for branch in range(branches.first.shape[0]):
        level = begin(walk, branches, branch)
        walk.product[0] = reduced(np.uint64(branches.weight[branch]), modulus)
        while level >= 0:
            if stop[0] != 0:
                return -1
            following = level - 1
            if level == last:
                for line in range(lines):
                    hold(levels, namings, state, line, level)
                give_back(index, walk, namings, state, modulus, level, stop)
                for line in range(lines):
                    spread(levels, walk, namings, state, modulus, line, level, stop)
            else:
                following = step(index, levels, walk, branches, branch, level)
                if following > level:
                    walk.product[following] = reduced(walk.product[following], modulus)
                    if following < last:
                        clear(levels, namings, state, following)
            if following < level and level > 0:
                hand_up(index, levels, walk, namings, state, modulus, level)
            level = following
    return 0
