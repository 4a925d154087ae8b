"""Which line of a 9x9 board takes which role, by the price of each way. Special to 3x3 boxes.

The stage ``choose_roles``, which writes ``Roles``; and part of the stage ``survey``, which writes
``Numbering``.
"""

from __future__ import annotations

from math import inf

from gpusudoku.kernels.contraction.nine.arrays import ORTHOGONAL, PARTITIONS, A, B, C, P, Q, R
from gpusudoku.kernels.contraction.nine.keys import partition_at
from gpusudoku.kernels.kernel import jitable

PLANS = 36
"""Ways to give the lines roles that differ in price: stacks or bands are summed, one of three is
C, the others are A and B either way round, one of three crossing lines is P."""

# Nanoseconds on one core of a machine of 2024; only their ratios matter. The roles decide on the
# contraction order of a board's solutions (``unrank``), so who changes these changes that order.
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
    least, best = inf, 0
    for plan in range(first, last, step):
        _assign(plan, numbering.occurring, roles)
        price = _price(order, lists.size, roles)
        if price < least:
            least, best = price, plan
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
    first, third, flip, pivot = plan // 18 * 3, plan // 6 % 3, plan // 3 % 2, plan % 3
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
    x, y = roles.crossing[one], roles.crossing[other]
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
