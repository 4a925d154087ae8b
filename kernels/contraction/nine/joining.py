"""From the sums of pairs to the environments: the entries of the pivot are joined to them.

Parts of the stage ``sweep``, which says what these sums are. Special to 3x3 boxes.
"""

from __future__ import annotations

import numpy as np

from gpusudoku.kernels.contraction.nine.arrays import MULTIPLICITY, PARTITIONS, A, B, C, P
from gpusudoku.kernels.contraction.nine.turns import KINDS
from gpusudoku.kernels.kernel import jitable


@jitable
def find_fitting(b, pivot, ledger):
    """Write which entries of P are orthogonal to b."""
    start, touched = ledger.start, ledger.touched
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
    pivot, shape = turn.pivot, turn.roles.shape
    first, joined = pivot.first, ledger.joined
    a_kinds = np.int64(first[A, a + 1] - first[A, a])
    kinds, numbers = np.int64(first[C, shape[C, P]]), shape[C, P]
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
            z, times = np.int64(entry[C]), np.int64(entry[MULTIPLICITY])
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
    pivot, numbers, first = turn.pivot, turn.roles.shape[C, P], turn.pivot.first
    b_kinds, kinds = np.int64(first[B, b + 1] - first[B, b]), np.int64(first[C, numbers])
    for at_a in range(PARTITIONS):
        if not ledger.touched[at_a]:
            continue
        ledger.touched[at_a] = 0
        of_c = ledger.of_c[at_a * kinds : (at_a + 1) * kinds]
        of_b = ledger.of_b[at_a * numbers * b_kinds : (at_a + 1) * numbers * b_kinds]
        for f in range(ledger.start[at_a], ledger.start[at_a + 1]):
            entry = pivot.entries[ledger.fitting[f]]
            z, times = np.int64(entry[C]), np.int64(entry[MULTIPLICITY])
            to_c = pivot.begin[C, entry[KINDS + C]]
            to_b = pivot.begin[B, entry[KINDS + B]] + pivot.offset[B, entry[B], b]
            for j in range(pivot.lengths[C, z]):
                x = np.int64(pivot.numbers[C, z, j])
                for kind in range(first[C, x], first[C, x + 1]):
                    environment[to_c] += times * of_c[kind]
                    to_c += 1
            for k in range(b_kinds):
                environment[to_b + k] += times * _sum_of(k, b_kinds, z, pivot, of_b)
