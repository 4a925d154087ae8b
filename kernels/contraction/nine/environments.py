"""From the environments of a turn to the shares of its three boxes. Special to 3x3 boxes.

In the box of the pivot P and a summed line, digit d stands in the row and the column that the names
of its sets say. Say that P is a band; then the solutions in which entries of P are of kind p, those
of the summed line of kind s, have d in row r and column c in

    (words that name d's set r, of all of p's words) * (those that name d's set c, of all of s's)

of all cases: which words an entry takes is independent of all other lines. The shares of a kind are
fractions with the same denominator for all sets, its ``total``. So sums are made for every two
totals, without dividing; and divided in the end, when they are multiplied by all divisors.

Exactness. An environment's values are below 2^62 together (``shares``). They are taken in two limbs
of LIMB bits. There are at most 280 * 36 * 55^2 < 2^25 values, as no partition has more than 55
entries at a place, and a kind's share has at most 12 words. So the sums of low limbs stay below
2^(28 + 8 + 25), those of high limbs below 2^(62 - 28 + 8).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.arguments import Group
from gpusudoku.kernels.contraction.nine.arrays import C, P
from gpusudoku.kernels.kernel import jitable

LIMB = 28
"""Bits of the low limb."""
TOTALS = 13
"""Totals of kinds, and 0."""


class Found(Group):
    """The shares of a box, in parts. ``collect`` writes it."""

    shares: NDArray[np.int64]
    """int64 (TOTALS, TOTALS, 2, 9, 3, 3): at [total of P's kind][total of the summed line's][low or
    high limb][digit][name in P][name in the summed line], not yet divided by the totals."""
    written: NDArray[np.int8]
    """int8 (TOTALS, TOTALS): for which totals these are; the others are left as they were."""
    part: NDArray[np.int64]
    """int64 (TOTALS, 2, 3, 3): for one kind of P the same, at [total of the summed line's kind]
    [limb][set of the summed line][name there]."""
    used: NDArray[np.int8]
    """int8 (TOTALS): how many of the limbs of such a part are in use; 0 if there is none."""


def make_found() -> Found:
    """Room for the shares of a box."""
    return Found(
        shares=(np.int64, (TOTALS, TOTALS, 2, 9, 3, 3)),
        written=(np.int8, (TOTALS, TOTALS)),
        part=(np.int64, (TOTALS, 2, 3, 3)),
        used=(np.int8, (TOTALS,)),
    )


@jitable
def collect(summed, tables, numbering, naming, roles, pivot, environment, found):
    """Write ``found`` of the box where P meets the line in a summed role."""
    x, line = roles.crossing[P], roles.summed[summed]
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
                numbers, lines = (number, of_other), (x, line)
                _spread(kind, numbers, lines, tables, numbering, naming, found)


@jitable
def _gather(at, number, line, place, naming, environment, found):
    """Write ``part`` for one kind of P and all kinds of a number of the summed line."""
    for kind in range(naming.first[line, place, number], naming.first[line, place, number + 1]):
        value = environment[at]
        at += 1
        if value == 0:
            continue
        low, high = value & (1 << LIMB) - 1, value >> LIMB
        total, names = naming.total[line, place, kind], naming.names[line, place, kind]
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
        part, shares = found.part[total], found.shares[own_total, total]
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
