"""Which line of a 9x9 board takes which role, by the price of each way. Special to 3x3 boxes."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, inf

from gpusudoku.kernels.contraction.nine.arrays import (
    GENERATORS,
    ORTHOGONAL,
    PAIRS,
    PARTITIONS,
    A,
    B,
    C,
    P,
    Q,
    R,
)
from gpusudoku.kernels.contraction.nine.maps import build_occur
from gpusudoku.kernels.jit import Jit

# Nanoseconds on one core of a machine of 2024; only their ratios matter.
PER_TERM = 0.6
"""To look whether a map of C counts for a pair."""
PER_DOT = 4.0
PER_PRODUCT = 0.033
PER_RUN = 6.0
"""To copy the entries of one map of A into a row of a slab."""
PER_GATHER = 0.8
PER_ENTRY = 1.2
"""Of a tensor: the sum of 36 vectors."""


def build_alike(jit: Jit) -> Callable[..., bool]:
    """Make ``alike(space, one, other)``: whether all lines allow two digits the same."""

    @jit
    def alike(space, one, other):
        same = True
        for line in range(6):
            same &= space.masks[line, one] == space.masks[line, other]
        return same

    return alike


def build_symmetry(jit: Jit) -> Callable[..., float]:
    """Make ``symmetry(space)``: the number of relabellings that exchange like digits.

    There are more symmetries; these are known before anything is listed.
    """
    alike = build_alike(jit)

    @jit
    def symmetry(space):
        order = 1.0
        for digit in range(9):
            bivalue = 1
            for other in range(digit):
                bivalue += alike(space, digit, other)
            order *= bivalue
        return order

    return symmetry


def build_price(jit: Jit) -> Callable[..., float]:
    """Make ``price(a, b, c, p, q, r, order, space)``: nanoseconds for lines in these roles.

    The lists are known, the tensors are not: a share of P's entries is taken for zero as if maps
    were drawn at random.
    """

    @jit
    def near(space, crossing, summed):
        return float(space.occurring[summed, crossing % 3])

    @jit
    def price(a, b, c, p, q, r, order, space):
        maps_a, maps_b, maps_c = space.size[a], space.size[b], space.size[c]
        near_a, near_b = near(space, p, a), near(space, p, b)
        pairs = near_a * near_b
        chance = ORTHOGONAL / PARTITIONS
        terms = maps_c * (1.0 - exp(-space.size[p] * chance * chance * chance))
        runs = maps_a / near_a
        length = runs * maps_b / near_b
        rows = near(space, q, c) + near(space, r, c)
        a_pair = maps_c * PER_TERM + terms * (PER_DOT + length * PER_PRODUCT)
        a_pair += rows * runs * PER_RUN
        gathered = near(space, q, a) * near(space, q, c) + near(space, r, a) * near(space, r, c)
        a_group = gathered * (PER_RUN + maps_b / near_b * PER_GATHER)
        entries = pairs * near(space, p, c)
        entries += near(space, q, a) * near(space, q, b) * near(space, q, c)
        entries += near(space, r, a) * near(space, r, b) * near(space, r, c)
        groups = max(1.0, near_b / order)
        return max(1.0, pairs / order) * a_pair + groups * a_group + entries * PER_ENTRY

    return price


def build_choose(jit: Jit) -> Callable[..., float]:
    """Make ``choose(space)``: fill ``space.plan`` with the cheapest roles; returns their price."""
    occur = build_occur(jit)
    symmetry = build_symmetry(jit)
    price = build_price(jit)

    @jit
    def choose(space):
        for line in range(6):
            for place in range(3):
                occur(line, place, space)
        order = symmetry(space)
        plan = space.plan
        plan[GENERATORS] = plan[PAIRS] = 0
        least = inf
        for first in (0, 3):
            crossing = 3 - first
            for third in range(3):
                for flip in range(2):
                    a = first + (third + 1 + flip) % 3
                    b = first + (third + 2 - flip) % 3
                    c = first + third
                    for pivot in range(3):
                        p = crossing + pivot
                        q, r = crossing + (pivot + 1) % 3, crossing + (pivot + 2) % 3
                        cost = price(a, b, c, p, q, r, order, space)
                        if cost < least:
                            least = cost
                            plan[A], plan[B], plan[C] = a, b, c
                            plan[P], plan[Q], plan[R] = p, q, r
        return least

    return choose
