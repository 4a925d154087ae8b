"""The tensors of the crossing lines of a 9x9 board. Special to 3x3 boxes.

The tensor of a crossing line has at [c][a][b] the number of its maps whose three partitions are
orthogonal to the partitions c, a and b of the summed lines C, A and B there. Two steps give all
entries: ``half`` has at [z][a][b] those maps whose partition at C is z; adding up the z that are
orthogonal to c gives the tensor, 36 vectors to one.

No entry exceeds 1,728, which is what the largest entry is without clues: a clue only removes maps.
An entry of ``half`` counts some of the maps of an entry of the tensor. So 16 bits hold both.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpusudoku.kernels.contraction.nine.arrays import ORTHOGONAL, A, B, C, P
from gpusudoku.kernels.jit import Jit

PIECE = 1024
"""Entries of a row added up at a time: they stay in a first-level cache."""


def build_relate(jit: Jit) -> Callable[..., bool]:
    """Make ``relate(role, tables, space)``: prepare for the tensor of role 0, 1 or 2 (P, Q, R).

    Fills ``near[0]`` (for every number of C, those of the crossing line's partitions there),
    ``near[1]`` (for every number of the crossing line at A, those of A) and ``indicator``
    (between the crossing line's numbers at B and B's). Returns False, with ``slot`` set, if an
    earlier role has the same tensor.
    """

    @jit
    def same(role, other, space):
        x, y = space.plan[P + role], space.plan[P + other]
        if space.size[x] != space.size[y]:
            return False
        for e in range(space.size[x]):
            if space.keys[x, e] != space.keys[y, e]:
                return False
            if space.multiplicity[x, e] != space.multiplicity[y, e]:
                return False
        for summed in range(A, C + 1):
            line = space.plan[summed]
            if space.occurring[line, x % 3] != space.occurring[line, y % 3]:
                return False
            for i in range(space.occurring[line, x % 3]):
                if space.partition[line, x % 3, i] != space.partition[line, y % 3, i]:
                    return False
        return True

    @jit
    def list_near(line, place, other, other_place, which, tables, space):
        for i in range(space.occurring[line, place]):
            partition, count = space.partition[line, place, i], 0
            for k in range(ORTHOGONAL):
                number = space.number[other, other_place, tables.orthogonal[partition, k]]
                if number >= 0:
                    space.near[which, i, count] = number
                    count += 1
            space.nears[which, i] = count

    @jit
    def relate(role, tables, space):
        for other in range(role):
            if same(role, other, space):
                space.slot[role] = space.slot[other]
                return False
        space.slot[role] = role
        x, a, b, c = space.plan[P + role], space.plan[A], space.plan[B], space.plan[C]
        list_near(c, x % 3, x, c % 3, 0, tables, space)
        list_near(x, a % 3, a, x % 3, 1, tables, space)
        count, width = space.occurring[x, b % 3], space.occurring[b, x % 3]
        list_near(x, b % 3, b, x % 3, 2, tables, space)
        space.indicator[: count * width] = 0
        for i in range(count):
            for k in range(space.nears[2, i]):
                space.indicator[i * width + space.near[2, i, k]] = 1
        return True

    return relate


def build_halve(jit: Jit) -> Callable[..., None]:
    """Make ``halve(role, first, last, space)``: ``half`` from row z = first to before last."""

    @jit
    def halve(role, first, last, space):
        x, a, b, c = space.plan[P + role], space.plan[A], space.plan[B], space.plan[C]
        height, width = space.occurring[a, x % 3], space.occurring[b, x % 3]
        half, indicator = space.half, space.indicator
        half[first * height * width : last * height * width] = 0
        for e in range(space.size[x]):
            key = space.keys[x, e]
            z = np.int64(space.number[x, c % 3, (key >> (18 - 9 * (c % 3))) & 511])
            if z < first or z >= last:
                continue
            at_a = space.number[x, a % 3, (key >> (18 - 9 * (a % 3))) & 511]
            at_b = np.int64(space.number[x, b % 3, (key >> (18 - 9 * (b % 3))) & 511])
            times = np.int16(space.multiplicity[x, e])
            ones = indicator[at_b * width : (at_b + 1) * width]
            for i in range(space.nears[1, at_a]):
                row = (z * height + space.near[1, at_a, i]) * width
                to = half[row : row + width]
                for j in range(width):
                    to[j] += np.int16(times * ones[j])

    return halve


def build_complete(jit: Jit) -> Callable[..., int]:
    """Make ``complete(role, first, last, space)``: entries [:, first:last] of the tensor.

    Its rows are taken as vectors over (a, b). Returns the largest entry.
    """
    # Slices, because the compiler knows that indices into them are not negative.

    @jit
    def add_one(to, half, z, row, start):
        one = half[z * row + start : z * row + start + len(to)]
        for j in range(len(to)):
            to[j] += one[j]

    @jit
    def add_four(to, half, near, row, start):
        """Four at a time: the sum is loaded and stored less often."""
        count = len(to)
        one = half[near[0] * row + start : near[0] * row + start + count]
        two = half[near[1] * row + start : near[1] * row + start + count]
        three = half[near[2] * row + start : near[2] * row + start + count]
        four = half[near[3] * row + start : near[3] * row + start + count]
        for j in range(count):
            pair = np.int16(one[j] + two[j])
            to[j] += np.int16(pair + np.int16(three[j] + four[j]))

    @jit
    def complete(role, first, last, space):
        x, a, b, c = space.plan[P + role], space.plan[A], space.plan[B], space.plan[C]
        row = space.occurring[a, x % 3] * space.occurring[b, x % 3]
        half, tensor = space.half, space.tensors[role]
        largest = np.int16(0)
        for start in range(first, last, PIECE):
            stop = min(start + PIECE, last)
            for i in range(space.occurring[c, x % 3]):
                to = tensor[i * row + start : i * row + stop]
                to[:] = 0
                nears = space.nears[0, i]
                for k in range(0, nears - 3, 4):
                    add_four(to, half, space.near[0, i, k : k + 4], row, start)
                for k in range(nears // 4 * 4, nears):
                    add_one(to, half, space.near[0, i, k], row, start)
                for j in range(len(to)):
                    largest = max(largest, to[j])
        return np.int64(largest)

    return complete
