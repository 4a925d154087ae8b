"""The roles of the lines, and the tensors of the crossing lines.

``choose_roles`` gives each line a role, by the price of each way.

The tensor of a crossing line X has at [c][a][b] the number of its maps (over its divisor) whose
three partitions are orthogonal to the partitions c, a and b of the summed lines C, A and B there.
So it is X's list contracted with orthogonality at A, B and C, which takes two steps:

- ``contract_ab`` contracts at A and B. The result, ``intermediate``, has at [z][a][b] those maps
  whose partition at C is z.
- ``contract_c`` adds up the z that are orthogonal to c: 36 vectors give one.

Before them, ``list_orthogonal`` writes down which numbers are orthogonal.

No entry exceeds 1,728, the largest entry without clues, because a clue only removes maps. An entry
of ``intermediate`` counts some of the maps of an entry of the tensor. So 16 bits hold both.

Stages: these four, and ``number_partitions``, which is a part of ``survey``.
"""

from __future__ import annotations

from math import inf

import numpy as np

from gpusudoku.kernels.contraction.nine.arrays import ORTHOGONAL, PARTITIONS, A, B, C, P, Q, R
from gpusudoku.kernels.contraction.nine.lists import number_at, partition_at
from gpusudoku.kernels.kernel import jitable

PLANS = 36
"""Ways to give the lines roles that differ in price: stacks or bands are summed, one of three is
C, the others are A and B either way round, one of three crossing lines is P."""

# Nanoseconds on one core of a machine of 2024; only their ratios matter. The roles decide on the
# contraction order of a board's solutions (``order``), so who changes these changes that order.
PER_TERM = 0.6
"""To look whether an entry of C counts for a pair."""
PER_DOT = 4.0
"""To begin a dot product."""
PER_PRODUCT = 0.033
"""To add one product to a dot product."""
PER_RUN = 6.0
"""To copy the run of one entry of A into a row of a slab."""
PER_GATHER = 0.8
"""To gather one entry of a tensor."""
PER_ENTRY = 1.2
"""To make one entry of a tensor: 36 vectors are added up."""


@jitable
def number_partitions(size, keys, numbering):
    """Number the partitions that occur, for every line and place."""
    for line in range(6):
        for place in range(3):
            number = numbering.number[line, place]
            partition = numbering.partition[line, place]
            number[:] = -1
            for e in range(size[line]):
                number[partition_at(keys[line, e], place)] = 0
            count = 0
            for x in range(PARTITIONS):
                if number[x] == 0:
                    number[x] = count
                    partition[count] = x
                    count += 1
            numbering.occurring[line, place] = count


@jitable
def choose_roles(lists, numbering, roles):
    """Write the cheapest roles; return their price in nanoseconds.

    There must be a solution, as far as ``survey`` knows.
    """
    return _write_cheapest(0, PLANS, 1, lists, numbering, roles)


@jitable
def choose_turn(pivot, lists, numbering, roles):
    """Write the cheapest roles in which a line is P; return their price in nanoseconds."""
    first = PLANS // 2 * (pivot < 3) + pivot % 3  # in the first half stacks are summed
    return _write_cheapest(first, first + PLANS // 2, 3, lists, numbering, roles)


@jitable
def _write_cheapest(first, last, step, lists, numbering, roles):
    """Write the cheapest roles of some plans, and which tensors are equal; return their price."""
    order = _symmetry(lists.masks)
    least = inf
    best = 0
    for plan in range(first, last, step):
        _assign(plan, numbering.occurring, roles)
        price = _price(order, lists.size, roles)
        if price < least:
            least = price
            best = plan
    _assign(best, numbering.occurring, roles)
    for role in range(3):
        roles.tensor[role] = role
        for other in range(role):
            if _same_tensor(role, other, lists, numbering, roles):
                roles.tensor[role] = roles.tensor[other]
    return least


@jitable
def _assign(plan, occurring, roles):
    """Write the roles of one plan, and the shapes of its tensors."""
    first = plan // 18 * 3
    third = plan // 6 % 3
    flip = plan // 3 % 2
    pivot = plan % 3
    roles.summed[A] = first + (third + 1 + flip) % 3
    roles.summed[B] = first + (third + 2 - flip) % 3
    roles.summed[C] = first + third
    for k in range(3):
        roles.crossing[P + k] = 3 - first + (pivot + k) % 3
    for crossing in range(3):
        x = roles.crossing[crossing]
        for summed in range(3):
            roles.shape[summed, crossing] = occurring[roles.summed[summed], x % 3]
        roles.depth[crossing] = occurring[x, roles.summed[C] % 3]


@jitable
def _price(order, size, roles):
    """Return what the roles cost in nanoseconds; ``order`` is the number of known symmetries.

    The lists are known, the tensors are not: a share of P's tensor is taken for zero as if
    partitions were drawn at random. Only sums, products and quotients are taken, which come out the
    same on every machine, so that all choose the same roles.
    """
    shape = roles.shape
    pairs = float(shape[A, P] * shape[B, P])
    chance = ORTHOGONAL / PARTITIONS
    in_c = size[roles.summed[C]]
    terms = in_c * (1.0 - _power(1.0 - chance * chance * chance, size[roles.crossing[P]]))
    runs = size[roles.summed[A]] / shape[A, P]
    run = size[roles.summed[B]] / shape[B, P]
    rows = shape[C, Q] + shape[C, R]
    per_pair = in_c * PER_TERM + terms * (PER_DOT + runs * run * PER_PRODUCT)
    per_pair += rows * runs * PER_RUN
    gathered = shape[A, Q] * shape[C, Q] + shape[A, R] * shape[C, R]
    per_group = gathered * (PER_RUN + run * PER_GATHER)
    entries = 0
    for crossing in range(3):
        entries += shape[A, crossing] * shape[B, crossing] * shape[C, crossing]
    groups = max(1.0, shape[B, P] / order)
    return max(1.0, pairs / order) * per_pair + groups * per_group + entries * PER_ENTRY


@jitable
def _symmetry(masks):
    """Return the number of relabellings that exchange digits which are alike.

    There are more symmetries; these are known before anything else is.
    """
    order = 1.0
    for digit in range(9):
        alike = 1
        for other in range(digit):
            alike += are_alike(digit, other, masks)
        order *= alike
    return order


@jitable
def are_alike(one, other, masks):
    """Say whether every line allows two digits the same permutations."""
    same = True
    for line in range(6):
        same &= masks[line, one] == masks[line, other]
    return same


@jitable
def _same_tensor(one, other, lists, numbering, roles):
    """Say whether two crossing roles have equal tensors: equal lists, and equal numbers."""
    x = roles.crossing[one]
    y = roles.crossing[other]
    if lists.like[x] != lists.like[y]:
        return False
    for line in roles.summed:
        if numbering.occurring[line, x % 3] != numbering.occurring[line, y % 3]:
            return False
        for i in range(numbering.occurring[line, x % 3]):
            if numbering.partition[line, x % 3, i] != numbering.partition[line, y % 3, i]:
                return False
    return True


@jitable
def _power(base, exponent):
    """Return base^exponent by squaring; ``exponent`` is an integer."""
    result = 1.0
    while exponent > 0:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result


SEGMENT = 1024
"""Entries of a row that are added up at a time: they stay in a first-level cache."""


@jitable
def list_orthogonal(role, tables, numbering, roles, orthogonal):
    """Write ``orthogonal``: which numbers are, where the line in a crossing role meets A, B, C."""
    x = roles.crossing[role]
    summed = roles.summed
    for k in range(3):
        line, other = (summed[C], x) if k == C else (x, summed[k])
        numbers = orthogonal.numbers[k]
        lengths = orthogonal.lengths[k]
        list_numbers(line, other, tables.orthogonal, numbering, numbers, lengths)
    count = numbering.occurring[x, summed[B] % 3]
    width = roles.shape[B, role]
    orthogonal.indicator[: count * width] = 0
    for i in range(count):
        for k in range(orthogonal.lengths[B, i]):
            orthogonal.indicator[i * width + orthogonal.numbers[B, i, k]] = 1


@jitable
def list_numbers(line, other, orthogonal, numbering, numbers, lengths):
    """Write the numbers of another line that are orthogonal to each of a line's."""
    for i in range(numbering.occurring[line, other % 3]):
        partition = numbering.partition[line, other % 3, i]
        length = 0
        for k in range(ORTHOGONAL):
            number = numbering.number[other, line % 3, orthogonal[partition, k]]
            if number >= 0:
                numbers[i, length] = number
                length += 1
        lengths[i] = length


@jitable
def contract_ab(role, first, last, lists, numbering, roles, orthogonal, intermediate):
    """Write ``intermediate`` of a crossing role, from row z = first to before last."""
    x = roles.crossing[role]
    summed = roles.summed
    height = roles.shape[A, role]
    width = roles.shape[B, role]
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
            numbers = orthogonal.numbers[C, c]
            length = orthogonal.lengths[C, c]
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
