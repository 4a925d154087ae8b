"""From the sums of pairs to environments, and from these to the shares of a pivot's three boxes.

``find_orthogonal_entries``, ``join_pair`` and ``join_same_b`` add the sums of pairs to the
environments: they *join* the entries of the pivot to them. ``shares`` describes these sums.

In the box of the pivot P and a summed line, the slots of the two lines are the row and the column
of a digit. If P is a band, the solutions in which entries of P are of class p, and those of the
summed line of class s, have digit d in row r and column c in

    (share of p's maps that give d's set slot r) * (share of s's maps that give d's set slot c)

of all cases: the choice of an entry's map does not depend on the other lines. All shares of a class
are fractions with one denominator (``EntryClasses``). Sums are made for every two denominators,
without dividing. They are divided in the end, when they are multiplied by all divisors.

Exactness. The values of an environment add up to less than 2^62 (``shares``). They are split into
two limbs, of which the low one has LIMB bits. There are at most 280 * 36 * 55^2 < 2^25 values, as
no partition has more than 55 entries in a box, and a product of two slot counts is below 2^8. So
the sums of low limbs stay below 2^(28 + 8 + 25), those of high limbs below 2^(62 - 28 + 8).

Stages: ``collect``, and parts of ``sum_environments_narrow`` and ``sum_environments_wide``.
"""

from __future__ import annotations

import numpy as np

from gpusudoku.kernels.arguments import Group, array_of
from gpusudoku.kernels.contraction.nine.arrays import MULTIPLICITY, PARTITIONS, A, B, C, P
from gpusudoku.kernels.contraction.nine.pivot_sums import CLASSES, orthogonal_indices
from gpusudoku.kernels.kernel import jitable


@jitable
def find_orthogonal_entries(b, pivot, class_sums):
    """Write which entries of P are orthogonal to b, sorted by their indices at A."""
    start = class_sums.start
    entry_count = pivot.size[0]

    # ``is_used`` marks the indices of P at B that are orthogonal to b, until the end of this.
    is_orthogonal = class_sums.is_used
    is_orthogonal[:] = 0
    for i in range(pivot.orthogonal_count[B, b]):
        is_orthogonal[pivot.orthogonal[B, b, i]] = 1

    # A counting sort: each start is first the number of entries, then their end.
    start[:] = 0
    for entry in range(entry_count):
        if is_orthogonal[pivot.entries[entry, B]]:
            start[pivot.entries[entry, A]] += 1
    for index in range(PARTITIONS):
        start[index + 1] += start[index]
    for entry in range(entry_count - 1, -1, -1):
        if is_orthogonal[pivot.entries[entry, B]]:
            index = pivot.entries[entry, A]
            start[index] -= 1
            class_sums.orthogonal[start[index]] = entry
    class_sums.is_used[:] = 0


@jitable
def join_pair(pair, a, b_class_count, pivot_sum, environment, class_sums):
    """Add a pair to the environment of A, and to the sums of the pairs with the same b."""
    pivot = pivot_sum.pivot
    shape = pivot_sum.roles.shape
    joined = class_sums.joined
    first_class = pivot.first_class
    a_class_count = np.int64(first_class[A, a + 1] - first_class[A, a])
    c_class_count = np.int64(first_class[C, shape[C, P]])
    by_b_size = shape[C, P] * b_class_count
    for i in range(pivot.orthogonal_count[A, a]):
        index_a = np.int64(pivot.orthogonal[A, a, i])
        start = class_sums.start[index_a]
        end = class_sums.start[index_a + 1]
        if start == end:  # no entry with this index is orthogonal to b
            continue
        # The environments of B and C get these sums in ``join_same_b``, once for all a.
        _add_sums(index_a, c_class_count, class_sums.by_c, class_sums.same_b_by_c, class_sums)
        _add_sums(index_a, by_b_size, class_sums.by_b, class_sums.same_b_by_b, class_sums)
        class_sums.is_used[index_a] = 1
        offset = pivot.offset[A, index_a, a]
        for position in range(start, end):
            fields = pivot.entries[class_sums.orthogonal[position]]
            index_c = np.int64(fields[C])
            multiplicity = np.int64(fields[MULTIPLICITY])
            row = index_c * a_class_count
            # All entries with this index at C share a row, which is written when first needed.
            if class_sums.joined_pair[index_c] != pair:
                class_sums.joined_pair[index_c] = pair
                for k in range(a_class_count):
                    joined[row + k] = _sum_orthogonal(
                        k, a_class_count, index_c, pivot, class_sums.by_a
                    )
            target = pivot.part_start[A, fields[CLASSES + A]] + offset
            for k in range(a_class_count):
                environment[target + k] += multiplicity * joined[row + k]


@jitable
def _sum_orthogonal(column, column_count, index_c, pivot, sums):
    """Return the sum of a column of ``sums`` over the indices of C that are orthogonal to P's.

    ``sums`` has a row for each index of C. Most often there is one column, so that a loop over the
    columns should not be the inner one.
    """
    total = np.int64(0)
    for i in range(pivot.orthogonal_count[C, index_c]):
        row = np.int64(pivot.orthogonal[C, index_c, i])
        total += sums[row * column_count + column]
    return total


@jitable
def _add_sums(index_a, size, pair_sums, same_b_sums, class_sums):
    """Add the sums of a pair to those of the pairs with the same b, for one index of P at A."""
    target = same_b_sums[index_a * size : (index_a + 1) * size]
    if class_sums.is_used[index_a]:
        for i in range(size):
            target[i] += pair_sums[i]
    else:
        for i in range(size):
            target[i] = pair_sums[i]


@jitable
def join_same_b(b, pivot_sum, environment, class_sums):
    """Add the sums of all pairs with the same b to the environments of B and C."""
    pivot = pivot_sum.pivot
    first_class = pivot.first_class
    c_count = pivot_sum.roles.shape[C, P]
    b_class_count = np.int64(first_class[B, b + 1] - first_class[B, b])
    c_class_count = np.int64(first_class[C, c_count])
    by_b_size = c_count * b_class_count
    for index_a in range(PARTITIONS):
        if not class_sums.is_used[index_a]:
            continue
        by_c = class_sums.same_b_by_c[index_a * c_class_count : (index_a + 1) * c_class_count]
        by_b = class_sums.same_b_by_b[index_a * by_b_size : (index_a + 1) * by_b_size]
        for position in range(class_sums.start[index_a], class_sums.start[index_a + 1]):
            fields = pivot.entries[class_sums.orthogonal[position]]
            index_c = np.int64(fields[C])
            multiplicity = np.int64(fields[MULTIPLICITY])
            # A part has the classes of the orthogonal indices of C one after the other.
            target_c = pivot.part_start[C, fields[CLASSES + C]]
            for i in range(pivot.orthogonal_count[C, index_c]):
                c = np.int64(pivot.orthogonal[C, index_c, i])
                for c_class in range(first_class[C, c], first_class[C, c + 1]):
                    environment[target_c] += multiplicity * by_c[c_class]
                    target_c += 1
            target_b = pivot.part_start[B, fields[CLASSES + B]] + pivot.offset[B, fields[B], b]
            for l in range(b_class_count):  # noqa: E741 - as in the formula of the sum
                total = _sum_orthogonal(l, b_class_count, index_c, pivot, by_b)
                environment[target_b + l] += multiplicity * total


LIMB = 28
"""Bits of the low limb."""
DENOMINATORS = 13
"""Values of denominators: 0 to 12."""


class ShareSums(Group):
    """The shares of a box, as sums that are not yet divided. ``collect`` writes it.

    A sum is low + (high << LIMB). Limbs 0 and 1 are the low and the high one.
    """

    shares = array_of(np.int64, DENOMINATORS, DENOMINATORS, 2, 9, 3, 3)
    """At [denominator of P's class][denominator of the summed line's class][limb][digit][slot in P]
    [slot in the summed line]: to be divided by both denominators."""
    is_written = array_of(np.int8, DENOMINATORS, DENOMINATORS)
    """For which denominators ``shares`` is written; other parts of it are undefined."""
    part = array_of(np.int64, DENOMINATORS, 2, 3, 3)
    """The same for one class of P and one partition of the summed line, at [denominator of the
    summed line's class][limb][set of the summed line][slot there]."""
    limb_count = array_of(np.int8, DENOMINATORS)
    """By denominator, the number of limbs of ``part`` that are used; 0 if ``part`` is all 0."""


@jitable
def collect(summed_role, tables, indexing, entry_classes, roles, pivot, environment, share_sums):
    """Write ``share_sums`` of the box where P meets the line in a summed role."""
    pivot_line = roles.crossing[P]
    summed_line = roles.summed[summed_role]
    box = summed_line % 3
    share_sums.is_written[:] = 0
    share_sums.part[:] = 0
    share_sums.limb_count[:] = 0
    # Rows of ``pivot.orthogonal`` are indices of P at C, and of the summed line at A and B.
    row_count = roles.shape[summed_role, P]
    if summed_role == C:
        row_count = indexing.partition_count[pivot_line, box]
    for row in range(row_count):
        for i in range(pivot.orthogonal_count[summed_role, row]):
            pivot_index, summed_index = orthogonal_indices(summed_role, row, i, pivot)
            offset = pivot.offset[summed_role, pivot_index, summed_index]
            pivot_partition = indexing.partition[pivot_line, box, pivot_index]
            summed_partition = indexing.partition[summed_line, pivot_line % 3, summed_index]
            pivot_sets = tables.sets[pivot_partition]
            summed_sets = tables.sets[summed_partition]
            first_class = entry_classes.first_class[pivot_line, box, pivot_index]
            end_class = entry_classes.first_class[pivot_line, box, pivot_index + 1]
            for pivot_class in range(first_class, end_class):
                start = pivot.part_start[summed_role, pivot_class] + offset
                _gather_part(
                    start,
                    summed_index,
                    summed_line,
                    pivot_line % 3,
                    entry_classes,
                    environment,
                    share_sums,
                )
                denominator = entry_classes.denominator[pivot_line, box, pivot_class]
                slot_counts = entry_classes.slot_counts[pivot_line, box, pivot_class]
                _spread_part(denominator, slot_counts, pivot_sets, summed_sets, share_sums)


@jitable
def _gather_part(start, index, line, box, entry_classes, environment, share_sums):
    """Write ``part`` for one class of P and all classes of a partition of the summed line.

    start is where their values begin in the environment; line and box are the summed line's.
    """
    position = start
    first_class = entry_classes.first_class[line, box]
    for entry_class in range(first_class[index], first_class[index + 1]):
        value = environment[position]
        position += 1
        if value == 0:
            continue
        # Two limbs, because a value times two slot counts, added up, may pass 64 bits.
        low = value & (1 << LIMB) - 1
        high = value >> LIMB
        denominator = entry_classes.denominator[line, box, entry_class]
        slot_counts = entry_classes.slot_counts[line, box, entry_class]
        limb_count = np.int8(1 + (high > 0))
        share_sums.limb_count[denominator] = max(share_sums.limb_count[denominator], limb_count)
        for set_index in range(3):
            for slot in range(3):
                count = slot_counts[set_index, slot]
                share_sums.part[denominator, 0, set_index, slot] += low * count
                share_sums.part[denominator, 1, set_index, slot] += high * count


@jitable
def _spread_part(pivot_denominator, slot_counts, pivot_sets, summed_sets, share_sums):
    """Add ``part`` to the shares of all digits, and clear it.

    Parameters
    ----------
    pivot_denominator, slot_counts
        Those of the class of P.
    pivot_sets, summed_sets
        The set of each digit in the partitions of P and of the summed line.
    """
    for denominator in range(DENOMINATORS):
        limb_count = share_sums.limb_count[denominator]
        if limb_count == 0:
            continue
        part = share_sums.part[denominator]
        sums = share_sums.shares[pivot_denominator, denominator]
        if not share_sums.is_written[pivot_denominator, denominator]:
            share_sums.is_written[pivot_denominator, denominator] = 1
            sums[:] = 0
        for limb in range(limb_count):
            for digit in range(9):
                summed_set = summed_sets[digit]
                for pivot_slot in range(3):
                    count = np.int64(slot_counts[pivot_sets[digit], pivot_slot])
                    if count == 0:
                        continue
                    for summed_slot in range(3):
                        product = count * part[limb, summed_set, summed_slot]
                        sums[limb, digit, pivot_slot, summed_slot] += product
        # Clear for the next class of P: few denominators are in use, so this costs little.
        part[:] = 0
        share_sums.limb_count[denominator] = 0
