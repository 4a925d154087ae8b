"""The tensors of the crossing lines of a 9x9 board. Special to 3x3 boxes.

The tensor of a crossing line X has at [c][a][b] the number of its maps (over its divisor) whose
three partitions are orthogonal to the partitions c, a and b of the summed lines C, A and B there.
So it is X's list contracted with orthogonality at A, B and C, which takes two steps:

- ``contract_ab`` contracts at A and B. The result, ``intermediate``, has at [z][a][b] those maps
  whose partition at C is z.
- ``contract_c`` adds up the z that are orthogonal to c: 36 vectors give one.

Before them, ``list_orthogonal`` writes down which numbers are orthogonal.

No entry exceeds 1,728, which is what the largest entry is without clues: a clue only removes maps.
An entry of ``intermediate`` counts some of the maps of an entry of the tensor. So 16 bits hold
both.
"""

from __future__ import annotations

import numpy as np

from gpusudoku.kernels.contraction.nine.arrays import ORTHOGONAL, A, B, C
from gpusudoku.kernels.contraction.nine.keys import number_at
from gpusudoku.kernels.kernel import jitable

SEGMENT = 1024
"""Entries of a row that are added up at a time: they stay in a first-level cache."""


@jitable
def list_orthogonal(role, tables, numbering, roles, orthogonal):
    """Write ``orthogonal``: which numbers are, where the line in a crossing role meets A, B, C."""
    x, summed = roles.crossing[role], roles.summed
    for k in range(3):
        line, other = (summed[C], x) if k == C else (x, summed[k])
        numbers, lengths = orthogonal.numbers[k], orthogonal.lengths[k]
        list_numbers(line, other, tables.orthogonal, numbering, numbers, lengths)
    count, width = numbering.occurring[x, summed[B] % 3], roles.shape[B, role]
    orthogonal.indicator[: count * width] = 0
    for i in range(count):
        for k in range(orthogonal.lengths[B, i]):
            orthogonal.indicator[i * width + orthogonal.numbers[B, i, k]] = 1


@jitable
def list_numbers(line, other, orthogonal, numbering, numbers, lengths):
    """Write the numbers of another line that are orthogonal to each of a line's."""
    for i in range(numbering.occurring[line, other % 3]):
        partition, length = numbering.partition[line, other % 3, i], 0
        for k in range(ORTHOGONAL):
            number = numbering.number[other, line % 3, orthogonal[partition, k]]
            if number >= 0:
                numbers[i, length] = number
                length += 1
        lengths[i] = length


@jitable
def contract_ab(role, first, last, lists, numbering, roles, orthogonal, intermediate):
    """Write ``intermediate`` of a crossing role, from row z = first to before last."""
    x, summed = roles.crossing[role], roles.summed
    height, width = roles.shape[A, role], roles.shape[B, role]
    indicator = orthogonal.indicator
    intermediate[first * height * width : last * height * width] = 0
    for e in range(lists.size[x]):
        key = lists.keys[x, e]
        z = number_at(key, x, summed[C], numbering.number)
        if z < first or z >= last:
            continue
        at_a = number_at(key, x, summed[A], numbering.number)
        at_b = number_at(key, x, summed[B], numbering.number)
        times = np.int16(lists.multiplicity[x, e])
        ones = indicator[at_b * width : (at_b + 1) * width]
        for i in range(orthogonal.lengths[A, at_a]):
            row = (z * height + orthogonal.numbers[A, at_a, i]) * width
            to = intermediate[row : row + width]
            for j in range(width):
                to[j] += np.int16(times * ones[j])


@jitable
def contract_c(role, first, last, roles, orthogonal, intermediate, tensors):
    """Write the entries [:, first:last] of a crossing role's tensor; return the largest of them.

    The tensor's rows are taken as vectors over (a, b).
    """
    row = roles.shape[A, role] * roles.shape[B, role]
    tensor = tensors.entries[role]
    largest = np.int16(0)
    for start in range(first, last, SEGMENT):
        stop = min(start + SEGMENT, last)
        for c in range(roles.shape[C, role]):
            to = tensor[c * row + start : c * row + stop]
            to[:] = 0
            numbers, length = orthogonal.numbers[C, c], orthogonal.lengths[C, c]
            for k in range(0, length - 3, 4):
                _add_four(numbers[k : k + 4], row, start, intermediate, to)
            for k in range(length // 4 * 4, length):
                _add_one(numbers[k], row, start, intermediate, to)
            for j in range(len(to)):
                largest = max(largest, to[j])
    return np.int64(largest)


# Slices, because the compiler knows that indices into them are not negative.


@jitable
def _add_one(z, row, start, intermediate, to):
    """Add the part from ``start`` on of one row of ``intermediate``."""
    one = intermediate[z * row + start : z * row + start + len(to)]
    for j in range(len(to)):
        to[j] += one[j]


@jitable
def _add_four(z, row, start, intermediate, to):
    """Add four rows at once: the sum is loaded and stored less often."""
    count = len(to)
    one = intermediate[z[0] * row + start : z[0] * row + start + count]
    two = intermediate[z[1] * row + start : z[1] * row + start + count]
    three = intermediate[z[2] * row + start : z[2] * row + start + count]
    four = intermediate[z[3] * row + start : z[3] * row + start + count]
    for j in range(count):
        pair = np.int16(one[j] + two[j])
        to[j] += np.int16(pair + np.int16(three[j] + four[j]))
