"""The join backwards: the number of solutions with given classes of maps in a box.

In the box where a summed line and a crossing line meet, an entry of either line has a *class*: its
partition there, and how many of its maps put each digit in each slot. The *environment* of a pair
of orthogonal classes is the number of solutions with an entry of each class, where the maps of the
two lines count once and the maps of all other lines as often as they occur. It is the derivative
of the sum by the multiplicities of the two entries, so it is found like derivatives are, from the
last level back to the first.

At the last level, the totals are known. A term without the total of one crossing line is the
derivative of the term by this total. These derivatives are added up by the class of the summed
line's entry. From there, they are passed on to all entries of the crossing line that fit. At the
other levels, every entry of a crossing line has a *derivative*: the sum over all choices at this
level and below, without the multiplicity of this entry. It is passed up from level to level.

Why nothing overflows. There are only sums and products, so all is exact modulo 2^64, which machine
words do by themselves, and modulo primes below 2^31. There, one factor of a product is reduced. The
other is reduced, too, or is a multiplicity or a number of entries of one line, which are below
2^32, since all its maps were listed. So a product plus a reduced value is below 2^64. The caller
takes enough moduli for their product to exceed the number of solutions. The totals of classes are
at most the number of maps of a line, below 2^63.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.arguments import int64, uint64
from gpusudoku.kernels.bits import ONE, ZERO, lowest_index, popcount
from gpusudoku.kernels.contraction.general.arrays import Branches, Index, Levels, Walk
from gpusudoku.kernels.contraction.general.join import UNKNOWN, start_walk, step
from gpusudoku.kernels.kernel import inlined, kernel


class BoxClasses(NamedTuple):
    """The classes of all entries, and the pairs of them that are orthogonal.

    The entries of all crossing lines are numbered consecutively, line by line.

    A *bit set* has the classes of a crossing line that are orthogonal to a class of the summed
    line: class c is bit c % 64 of word c // 64. The bit sets of all boxes are stored one after the
    other, line by line, level by level, class by class. The orthogonal pairs are numbered in the
    order of their bits, so the number of a pair is the ``first_pair`` of its word plus the number
    of lower bits set in this word::

        word      orthogonal_sets        first_pair
         0        ... 0 0 1 0 1 1          0       pairs 0, 1, 2 are bits 0, 1, 3
         1        ... 0 0 0 1 0 0          3       pair 3 is bit 2
         2        ... 0 0 0 0 0 1          4
    """

    summed: NDArray[np.int64] = int64[:, ::1]
    """(entries, crossing lines): the class of the entries of ``Index`` in the box with each line.
    """
    crossing: NDArray[np.int64] = int64[:, ::1]
    """(crossing entries, levels): the class of the crossing lines' entries in each box."""
    first_entry: NDArray[np.int64] = int64[::1]
    """(crossing lines + 1): the first entry of every crossing line, and the end of all."""
    multiplicity: NDArray[np.int64] = int64[::1]
    """(crossing entries): the multiplicities of the crossing lines' entries."""
    summed_class_count: NDArray[np.int64] = int64[::1]
    """(crossing lines): the number of classes of the last summed line in the box with each."""
    orthogonal_sets: NDArray[np.uint64] = uint64[::1]
    """The bit sets of all boxes."""
    first_pair: NDArray[np.int64] = int64[::1]
    """For every word of ``orthogonal_sets``, the number of its first pair."""
    set_begin: NDArray[np.int64] = int64[:, ::1]
    """(crossing lines, levels): where in ``orthogonal_sets`` the bit sets of a box begin."""
    set_words: NDArray[np.int64] = int64[:, ::1]
    """(crossing lines, levels): the words of each bit set of a box."""


class Derivatives(NamedTuple):
    """The memory and the sums of a thread; all 0 in the beginning.

    The fields from ``totals`` to ``total_derivative`` are indexed by the classes of the last summed
    line in the box with each crossing line. The following ones are indexed by the classes of the
    crossing line in the same box.
    """

    environments: NDArray[np.uint64] = uint64[::1]
    """(orthogonal pairs of classes): the environments in all boxes."""
    entry_derivative: NDArray[np.uint64] = uint64[:, ::1]
    """(levels, crossing entries): the derivatives of the sum over a level and the levels below."""
    totals: NDArray[np.int64] = int64[:, ::1]
    """(crossing lines, summed classes): the totals, or UNKNOWN."""
    unweighted_derivative: NDArray[np.uint64] = uint64[:, ::1]
    """(crossing lines, summed classes): the derivatives by the total and by the multiplicity of the
    entry of the last summed line."""
    total_derivative: NDArray[np.uint64] = uint64[:, ::1]
    """(crossing lines, summed classes): the derivatives by the total."""
    remaining_classes: NDArray[np.uint64] = uint64[:, ::1]
    """(crossing lines, words): the classes of the entries that remain, as bits."""
    class_total: NDArray[np.int64] = int64[:, ::1]
    """(crossing lines, crossing classes): the multiplicities of the remaining entries."""
    entry_count: NDArray[np.uint64] = uint64[:, ::1]
    """(crossing lines, crossing classes): the number of remaining entries."""
    class_derivative: NDArray[np.uint64] = uint64[:, ::1]
    """(crossing lines, crossing classes): the derivatives by the multiplicity of an entry."""


@inlined
def reduced(value, modulus):
    """Return a value modulo a prime, or unchanged if the modulus is 0, which stands for 2^64."""
    return value if modulus == ZERO else value % modulus


@inlined
def pair_number(classes, line, level, summed_class, crossing_class):
    """Return the number of an orthogonal pair of classes."""
    word = classes.set_begin[line, level] + summed_class * classes.set_words[line, level]
    word += crossing_class // 64
    lower_bits = classes.orthogonal_sets[word] & ((ONE << np.uint64(crossing_class % 64)) - ONE)
    return classes.first_pair[word] + popcount(lower_bits)


@inlined
def collect_classes(levels, classes, state, line, level):
    """Collect the classes of a crossing line's entries that remain at the last level."""
    first_entry = classes.first_entry[line]
    end_entry = classes.first_entry[line + 1]
    for k in range(levels.counts[level, line]):
        word = levels.words[level, line, k]
        word_entry = first_entry + 64 * levels.positions[level, line, k]
        while word != ZERO:
            entry = word_entry + lowest_index(word)
            word &= word - ONE
            if entry < end_entry:  # at level 0, all bits of the last word are set
                entry_class = classes.crossing[entry, level]
                state.remaining_classes[line, entry_class // 64] |= ONE << np.uint64(
                    entry_class % 64
                )
                state.class_total[line, entry_class] += classes.multiplicity[entry]
                state.entry_count[line, entry_class] += ONE
    # Nothing is known yet for the new choice of entries above.
    for summed_class in range(classes.summed_class_count[line]):
        state.totals[line, summed_class] = UNKNOWN
        state.unweighted_derivative[line, summed_class] = ZERO
        state.total_derivative[line, summed_class] = ZERO


@inlined
def summed_class_total(classes, state, line, level, summed_class):
    """Return a crossing line's total for a class of the summed line's entries.

    It adds up the multiplicities of the remaining entries whose class is orthogonal to that class.
    """
    multiplicities = 0
    set_words = classes.set_words[line, level]
    start = classes.set_begin[line, level] + summed_class * set_words
    for k in range(set_words):
        word = state.remaining_classes[line, k] & classes.orthogonal_sets[start + k]
        while word != ZERO:
            multiplicities += state.class_total[line, 64 * k + lowest_index(word)]
            word &= word - ONE
    return multiplicities


@inlined
def find_class_totals(classes, state, level, entry):
    """Find the totals of all crossing lines for an entry of the last level.

    Stops at the first line whose total is 0, and returns it, or the number of lines.
    """
    line = 0
    while line < classes.summed_class_count.shape[0]:
        summed_class = classes.summed[entry, line]
        if state.totals[line, summed_class] == UNKNOWN:
            state.totals[line, summed_class] = summed_class_total(
                classes, state, line, level, summed_class
            )
        if state.totals[line, summed_class] == 0:
            break
        line += 1
    return line


@inlined
def add_total_derivatives(index, walk, classes, state, modulus, level, stop):
    """Add up the derivatives of the last level's terms by totals, by the classes of its entries."""
    lines = classes.summed_class_count.shape[0]
    entry = walk.entry[level]
    while entry < walk.end[level] and stop[0] == 0:
        line = find_class_totals(classes, state, level, entry)
        if line < lines:
            entry = index.skip[entry, line]
            continue
        multiplicity = reduced(index.multiplicity[entry], modulus)
        for line in range(lines):
            # The derivative by the total of a line is the product of all other totals. Totals may
            # be 0 modulo a prime, so it is not found by a division.
            product = ONE
            for other_line in range(lines):
                if other_line != line:
                    total = state.totals[other_line, classes.summed[entry, other_line]]
                    product = reduced(product * reduced(np.uint64(total), modulus), modulus)
            summed_class = classes.summed[entry, line]
            unweighted = state.unweighted_derivative[line, summed_class] + product
            weighted = state.total_derivative[line, summed_class] + multiplicity * product
            state.unweighted_derivative[line, summed_class] = reduced(unweighted, modulus)
            state.total_derivative[line, summed_class] = reduced(weighted, modulus)
        entry += 1


@inlined
def pass_to_entries(levels, walk, classes, state, modulus, line, level, stop):
    """Pass the derivatives of the last level on to the environments and to a line's entries.

    Clears the classes of the remaining entries.
    """
    set_words = classes.set_words[line, level]

    # From the classes of the summed line to all orthogonal classes of the crossing line.
    for summed_class in range(classes.summed_class_count[line]):
        unweighted = state.unweighted_derivative[line, summed_class]
        weighted = state.total_derivative[line, summed_class]
        if unweighted | weighted == ZERO or stop[0] != 0:
            continue
        start = classes.set_begin[line, level] + summed_class * set_words
        environment = reduced(walk.product[level] * unweighted, modulus)
        for k in range(set_words):
            orthogonal = classes.orthogonal_sets[start + k]
            word = state.remaining_classes[line, k] & orthogonal
            while word != ZERO:
                bit = word & (~word + ONE)  # the lowest bit
                word ^= bit
                crossing_class = 64 * k + lowest_index(bit)
                derivative = state.class_derivative[line, crossing_class] + weighted
                state.class_derivative[line, crossing_class] = reduced(derivative, modulus)
                # As in ``pair_number``: the lower bits of the word are the pairs before this one.
                pair = classes.first_pair[start + k] + popcount(orthogonal & (bit - ONE))
                total = (
                    state.environments[pair] + environment * state.entry_count[line, crossing_class]
                )
                state.environments[pair] = reduced(total, modulus)

    # From the classes of the crossing line to its entries. There is no level above level 0.
    first_entry = classes.first_entry[line]
    for k in range(levels.counts[level, line]):
        word = levels.words[level, line, k]
        word_entry = first_entry + 64 * levels.positions[level, line, k]
        while word != ZERO and level > 0:
            entry = word_entry + lowest_index(word)
            word &= word - ONE
            state.entry_derivative[level, entry] = state.class_derivative[
                line, classes.crossing[entry, level]
            ]

    # Clear only what is set: boxes may have many more classes than remain.
    for k in range(set_words):
        word = state.remaining_classes[line, k]
        state.remaining_classes[line, k] = ZERO
        while word != ZERO:
            crossing_class = 64 * k + lowest_index(word)
            word &= word - ONE
            state.class_total[line, crossing_class] = 0
            state.entry_count[line, crossing_class] = ZERO
            state.class_derivative[line, crossing_class] = ZERO


@inlined
def clear_derivatives(levels, classes, state, level):
    """Clear the derivatives of a level."""
    for line in range(classes.summed_class_count.shape[0]):
        for k in range(levels.counts[level, line]):
            start = classes.first_entry[line] + 64 * levels.positions[level, line, k]
            for entry in range(start, min(start + 64, classes.first_entry[line + 1])):
                state.entry_derivative[level, entry] = ZERO


@inlined
def pass_up(index, levels, walk, classes, state, modulus, level):
    """Pass the derivatives of a level to the level above, when it has been summed.

    They belong to the entry that is chosen at the level above.
    """
    chosen_entry = walk.entry[level - 1] - 1
    product = walk.product[level - 1]
    multiplicity = reduced(index.multiplicity[chosen_entry], modulus)
    for line in range(classes.summed_class_count.shape[0]):
        summed_class = classes.summed[chosen_entry, line]
        for k in range(levels.counts[level, line]):
            word = levels.words[level, line, k]
            word_entry = classes.first_entry[line] + 64 * levels.positions[level, line, k]
            while word != ZERO:
                entry = word_entry + lowest_index(word)
                word &= word - ONE
                # Without the multiplicities of the chosen entry and of this one, as an environment
                # counts one map of either.
                derivative = state.entry_derivative[level, entry]
                crossing_class = classes.crossing[entry, level - 1]
                pair = pair_number(classes, line, level - 1, summed_class, crossing_class)
                total = state.environments[pair] + product * derivative
                state.environments[pair] = reduced(total, modulus)
                if level > 1:  # no level is above level 0
                    derivative_above = (
                        state.entry_derivative[level - 1, entry] + multiplicity * derivative
                    )
                    state.entry_derivative[level - 1, entry] = reduced(derivative_above, modulus)


@kernel(
    *(Index(), Levels(), Walk(), Branches(), BoxClasses(), Derivatives(), uint64, int64[::1]),
    returns=int64,
    seconds=3.2,
)
def sum_environments(index, levels, walk, branches, classes, state, modulus, stop):
    """Add up the environments of some branches, each multiplied by its weight.

    index, levels, walk    as of ``join``
    branches               Branches       the branches to sum
    classes                BoxClasses
    state                  Derivatives    scratch, and the environments, which are added to
    modulus                int            a prime below 2^31, or 0, which stands for 2^64
    stop                   int64 (1)      the kernel returns early when it is not 0

    Returns 0, or -1 if it was stopped.
    """
    last_level = index.begin.shape[0] - 2
    lines = index.set_words.shape[0]
    for branch in range(branches.first_entry.shape[0]):
        level = start_walk(walk, branches, branch)
        # All products of the walk contain the weight.
        walk.product[0] = reduced(np.uint64(branches.weight[branch]), modulus)
        while level >= 0:
            if stop[0] != 0:
                return -1
            next_level = level - 1
            if level == last_level:
                for line in range(lines):
                    collect_classes(levels, classes, state, line, level)
                add_total_derivatives(index, walk, classes, state, modulus, level, stop)
                for line in range(lines):
                    pass_to_entries(levels, walk, classes, state, modulus, line, level, stop)
            else:
                next_level = step(index, levels, walk, branches, branch, level)
                if next_level > level:  # ``step`` has multiplied without reducing
                    walk.product[next_level] = reduced(walk.product[next_level], modulus)
                    if next_level < last_level:  # at the last level, derivatives are overwritten
                        clear_derivatives(levels, classes, state, next_level)
            # The walk leaves this level, so its derivatives are complete.
            if next_level < level and level > 0:
                pass_up(index, levels, walk, classes, state, modulus, level)
            level = next_level
    return 0
