"""From the sums of pairs to environments, and from these to the shares of a turn's three boxes.

``find_fitting``, ``join_pair`` and ``join_group`` add the sums of pairs to the environments: the
entries of the pivot are joined to them. ``shares`` describes these sums.

In the box of the pivot P and a summed line, the names of its sets say in which row and column digit
d is. If P is a band, the solutions in which entries of P are of kind p, and those of the summed
line of kind s, have d in row r and column c in

    (words that name d's set r, of all of p's words) * (those that name d's set c, of all of s's)

of all cases: which words an entry takes is independent of all other lines. The shares of a kind are
fractions with the same denominator for all sets, its ``total``. So sums are made for every two
totals, without dividing; and divided in the end, when they are multiplied by all divisors.

Exactness. An environment's values are below 2^62 together (``shares``). They are taken in two limbs
of LIMB bits. There are at most 280 * 36 * 55^2 < 2^25 values, as no partition has more than 55
entries at a place, and a kind's share has at most 12 words. So the sums of low limbs stay below
2^(28 + 8 + 25), those of high limbs below 2^(62 - 28 + 8).

Stages: ``collect``, and parts of ``sweep_narrow`` and ``sweep_wide``.
"""

from __future__ import annotations

import numpy as np

from gpusudoku.kernels.arguments import Group, array_of
from gpusudoku.kernels.contraction.nine.arrays import MULTIPLICITY, PARTITIONS, A, B, C, P
from gpusudoku.kernels.contraction.nine.turns import KINDS
from gpusudoku.kernels.kernel import jitable


@jitable
def find_fitting(b, pivot, ledger):
    """Write which entries of P are orthogonal to b."""
    start = ledger.start
    touched = ledger.touched
    start[:] = 0
    # ``touched`` marks the orthogonal numbers at B for the moment.
    touched[:] = 0
    for i in range(pivot.lengths[B, b]):
        touched[pivot.numbers[B, b, i]] = 1
    for e in range(pivot.size[0]):
        if touched[pivot.entries[e, B]]:
            start[pivot.entries[e, A]] += 1
    for i in range(PARTITIONS):
        start[i + 1] += start[i]
    for e in range(pivot.size[0] - 1, -1, -1):
        if touched[pivot.entries[e, B]]:
            start[pivot.entries[e, A]] -= 1
            ledger.fitting[start[pivot.entries[e, A]]] = e
    touched[:] = 0


@jitable
def join_pair(pair, a, b_kinds, turn, environment, ledger):
    """Add a pair to the environment of A, and to what is kept of its group."""
    pivot = turn.pivot
    shape = turn.roles.shape
    first = pivot.first
    joined = ledger.joined
    a_kinds = np.int64(first[A, a + 1] - first[A, a])
    kinds = np.int64(first[C, shape[C, P]])
    numbers = shape[C, P]
    for i in range(pivot.lengths[A, a]):
        at_a = np.int64(pivot.numbers[A, a, i])
        if ledger.start[at_a] == ledger.start[at_a + 1]:
            continue
        _keep(at_a, kinds, ledger.by_c, ledger.of_c, ledger)
        _keep(at_a, numbers * b_kinds, ledger.by_b, ledger.of_b, ledger)
        ledger.touched[at_a] = 1
        offset = pivot.offset[A, at_a, a]
        for f in range(ledger.start[at_a], ledger.start[at_a + 1]):
            entry = pivot.entries[ledger.fitting[f]]
            z = np.int64(entry[C])
            times = np.int64(entry[MULTIPLICITY])
            if ledger.joined_for[z] != pair:
                ledger.joined_for[z] = pair
                for k in range(a_kinds):
                    joined[z * a_kinds + k] = _sum_of(k, a_kinds, z, pivot, ledger.by_a)
            to = pivot.begin[A, entry[KINDS + A]] + offset
            for k in range(a_kinds):
                environment[to + k] += times * joined[z * a_kinds + k]


@jitable
def _sum_of(kind, kinds, z, pivot, sums):
    """Return what the numbers of C orthogonal to z have of one of so many kinds together.

    There is one kind most often, so that a loop over the kinds should not be the inner one.
    """
    total = np.int64(0)
    for j in range(pivot.lengths[C, z]):
        total += sums[np.int64(pivot.numbers[C, z, j]) * kinds + kind]
    return total


@jitable
def _keep(at_a, size, by_kind, of_group, ledger):
    """Add the sums of a pair to those of its group, for one number of P at A."""
    kept = of_group[at_a * size : (at_a + 1) * size]
    if ledger.touched[at_a]:
        for i in range(size):
            kept[i] += by_kind[i]
    else:
        for i in range(size):
            kept[i] = by_kind[i]


@jitable
def join_group(b, turn, environment, ledger):
    """Add what is kept of a group to the environments of B and C."""
    pivot = turn.pivot
    numbers = turn.roles.shape[C, P]
    first = turn.pivot.first
    b_kinds = np.int64(first[B, b + 1] - first[B, b])
    kinds = np.int64(first[C, numbers])
    for at_a in range(PARTITIONS):
        if not ledger.touched[at_a]:
            continue
        ledger.touched[at_a] = 0
        of_c = ledger.of_c[at_a * kinds : (at_a + 1) * kinds]
        of_b = ledger.of_b[at_a * numbers * b_kinds : (at_a + 1) * numbers * b_kinds]
        for f in range(ledger.start[at_a], ledger.start[at_a + 1]):
            entry = pivot.entries[ledger.fitting[f]]
            z = np.int64(entry[C])
            times = np.int64(entry[MULTIPLICITY])
            to_c = pivot.begin[C, entry[KINDS + C]]
            to_b = pivot.begin[B, entry[KINDS + B]] + pivot.offset[B, entry[B], b]
            for j in range(pivot.lengths[C, z]):
                x = np.int64(pivot.numbers[C, z, j])
                for kind in range(first[C, x], first[C, x + 1]):
                    environment[to_c] += times * of_c[kind]
                    to_c += 1
            for k in range(b_kinds):
                environment[to_b + k] += times * _sum_of(k, b_kinds, z, pivot, of_b)


LIMB = 28
"""Bits of the low limb."""
TOTALS = 13
"""Totals of kinds, and 0."""


class Found(Group):
    """The shares of a box, in parts. ``collect`` writes it."""

    shares = array_of(np.int64, TOTALS, TOTALS, 2, 9, 3, 3)
    """At [total of P's kind][total of the summed line's][low or high limb][digit][name in P][name
    in the summed line], not yet divided by the totals."""
    written = array_of(np.int8, TOTALS, TOTALS)
    """For which totals these are; the others are left as they were."""
    part = array_of(np.int64, TOTALS, 2, 3, 3)
    """For one kind of P the same, at [total of the summed line's kind] [limb][set of the summed
    line][name there]."""
    used = array_of(np.int8, TOTALS)
    """How many of the limbs of such a part are in use; 0 if there is none."""


@jitable
def collect(summed, tables, numbering, naming, roles, pivot, environment, found):
    """Write ``found`` of the box where P meets the line in a summed role."""
    x = roles.crossing[P]
    line = roles.summed[summed]
    found.written[:] = 0
    found.part[:] = 0
    found.used[:] = 0
    count = numbering.occurring[x, line % 3] if summed == C else roles.shape[summed, P]
    for i in range(count):
        for k in range(pivot.lengths[summed, i]):
            j = np.int64(pivot.numbers[summed, i, k])
            number, of_other = (i, j) if summed == C else (j, i)
            for kind in range(naming.first[x, line % 3, number],
                              naming.first[x, line % 3, number + 1]):  # fmt: skip
                at = pivot.begin[summed, kind] + pivot.offset[summed, number, of_other]
                _gather(at, of_other, line, x % 3, naming, environment, found)
                numbers = (number, of_other)
                lines = (x, line)
                _spread(kind, numbers, lines, tables, numbering, naming, found)


@jitable
def _gather(at, number, line, place, naming, environment, found):
    """Write ``part`` for one kind of P and all kinds of a number of the summed line."""
    for kind in range(naming.first[line, place, number], naming.first[line, place, number + 1]):
        value = environment[at]
        at += 1
        if value == 0:
            continue
        low = value & (1 << LIMB) - 1
        high = value >> LIMB
        total = naming.total[line, place, kind]
        names = naming.names[line, place, kind]
        found.used[total] = max(found.used[total], np.int8(1 + (high > 0)))
        for s in range(3):
            for name in range(3):
                found.part[total, 0, s, name] += low * names[s, name]
                found.part[total, 1, s, name] += high * names[s, name]


@jitable
def _spread(kind, numbers, lines, tables, numbering, naming, found):
    """Add the parts to the shares, and clear them.

    ``numbers`` and ``lines`` are those of P and of the summed line.
    """
    x, line = lines
    own = tables.sets[numbering.partition[x, line % 3, numbers[0]]]
    other = tables.sets[numbering.partition[line, x % 3, numbers[1]]]
    names = naming.names[x, line % 3, kind]
    for total in range(TOTALS):
        if not found.used[total]:
            continue
        own_total = naming.total[x, line % 3, kind]
        part = found.part[total]
        shares = found.shares[own_total, total]
        if not found.written[own_total, total]:
            found.written[own_total, total] = 1
            shares[:] = 0
        for limb in range(found.used[total]):
            for digit in range(9):
                for one in range(3):
                    times = np.int64(names[own[digit], one])
                    if times != 0:
                        for two in range(3):
                            shares[limb, digit, one, two] += times * part[limb, other[digit], two]
        part[:] = 0
        found.used[total] = 0
