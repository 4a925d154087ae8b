"""Pairs of partitions that count alike. Special to 3x3 boxes.

A relabelling of the digits under which every line has the same maps as before, with the same
multiplicities, takes the pair (a, b) of partitions at P to another with the same number of
solutions. So one pair of each orbit is summed, times the size of the orbit.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpusudoku.kernels.contraction.nine.arrays import (
    GENERATORS,
    MOST_GENERATORS,
    PAIRS,
    PARTITIONS,
    A,
    B,
    C,
    P,
    Q,
    R,
)
from gpusudoku.kernels.contraction.nine.plan import build_alike
from gpusudoku.kernels.jit import Jit

WORTH_A_LOOK = 200_000
"""With fewer pairs times maps of C, looking for hidden symmetries takes longer than summing."""


def build_find_generators(jit: Jit) -> Callable[..., None]:
    """Make ``find_generators(pairs, tables, space)``: relabellings that change no list.

    Digits that every line allows the same permutations, those without clues above all, can be
    exchanged. Among the others all exchanges of two are tried, and of two and two at once: clues
    in one box often change places that way. These are checked on the lists, so no thought about
    clues is needed; there may be more symmetries, but every one found is one.
    """
    alike = build_alike(jit)

    @jit
    def find(keys, size, key):
        low, high = 0, size
        while low < high:
            middle = (low + high) // 2
            if keys[middle] < key:
                low = middle + 1
            else:
                high = middle
        return low if low < size and keys[low] == key else -1

    @jit
    def is_symmetry(to, space):
        for line in range(6):
            size, keys = space.size[line], space.keys[line]
            for e in range(size):
                key = keys[e]
                image = np.int32(to[key >> 18]) << 18
                image |= (np.int32(to[(key >> 9) & 511]) << 9) | np.int32(to[key & 511])
                # A relabelling is one to one: if all images are there, none is left over.
                at = find(keys, size, image)
                if at < 0 or space.multiplicity[line, at] != space.multiplicity[line, e]:
                    return False
        return True

    @jit
    def keep(first, second, space):
        """Take one relabelling after the other as a generator, if that is a symmetry."""
        found = space.plan[GENERATORS]
        if found < MOST_GENERATORS:
            for x in range(PARTITIONS):
                space.generators[found, x] = second[first[x]]
            if is_symmetry(space.generators[found], space):
                space.plan[GENERATORS] = found + 1

    @jit
    def find_generators(pairs, tables, space):
        alone = np.int64(0)  # the digits that are like no other, as a bit set
        for digit in range(9):
            before, others = -1, 0
            for other in range(9):
                if other != digit and alike(space, digit, other):
                    others += 1
                    before = other if other < digit else before
            if others == 0:
                alone |= 1 << digit
            elif before >= 0:
                found = space.plan[GENERATORS]
                for x in range(PARTITIONS):
                    space.generators[found, x] = tables.swaps[before, digit, x]
                space.plan[GENERATORS] = found + 1
        if pairs * space.size[space.plan[C]] < WORTH_A_LOOK:
            return
        for one in range(9):
            for two in range(one + 1, 9):
                if not (alone >> one) & (alone >> two) & 1:
                    continue
                first = tables.swaps[one, two]
                keep(first, tables.swaps[0, 0], space)
                for three in range(one + 1, 9):
                    for four in range(three + 1, 9):
                        if two not in (three, four) and (alone >> three) & (alone >> four) & 1:
                            keep(first, tables.swaps[three, four], space)

    return find_generators


def build_pair_up(jit: Jit) -> Callable[..., None]:
    """Make ``pair_up(tables, symmetric, space)``: the least pair of every orbit, sorted.

    Orbits are found by uniting pairs with their images. Not ``symmetric``: all pairs are listed.
    """
    find_generators = build_find_generators(jit)

    @jit
    def root(parent, pair):
        while parent[pair] != pair:
            parent[pair] = parent[parent[pair]]
            pair = parent[pair]
        return pair

    @jit
    def pair_up(tables, symmetric, space):
        plan, place = space.plan, space.plan[P] % 3
        a, b = plan[A], plan[B]
        height, width = space.occurring[b, place], space.occurring[a, place]
        plan[GENERATORS] = 0
        if symmetric:
            find_generators(height * width, tables, space)
        parent, orbit = space.parent, space.orbit
        for pair in range(height * width):
            parent[pair] = pair
            orbit[pair] = 0
        for g in range(plan[GENERATORS]):
            to = space.generators[g]
            for i in range(height):
                image = np.int64(space.number[b, place, to[space.partition[b, place, i]]]) * width
                for j in range(width):
                    other = image + space.number[a, place, to[space.partition[a, place, j]]]
                    one, two = root(parent, i * width + j), root(parent, other)
                    parent[max(one, two)] = min(one, two)
        count = 0
        for pair in range(height * width):
            orbit[root(parent, pair)] += 1
        for pair in range(height * width):
            if orbit[pair] > 0:
                space.pairs[count, 0] = pair // width
                space.pairs[count, 1] = pair % width
                space.pairs[count, 2] = orbit[pair]
                count += 1
        plan[PAIRS] = count

    return pair_up


def build_arrange(jit: Jit) -> Callable[..., None]:
    """Make ``arrange(space)``: the maps of A, B and C as numbers, in the order of the sum."""

    @jit
    def arrange(space):
        plan, p, q, r = space.plan, space.plan[P], space.plan[Q], space.plan[R]
        for role in range(3):
            line = plan[A + role]
            sorting = p if role < 2 else q
            shift = 18 - 9 * (sorting % 3)
            start = space.start[role]
            start[:] = 0
            for e in range(space.size[line]):
                number = space.number[line, sorting % 3, (space.keys[line, e] >> shift) & 511]
                start[number + 1] += 1
            for i in range(PARTITIONS):
                start[i + 1] += start[i]
                space.counters[i] = start[i]
            for e in range(space.size[line]):
                key = space.keys[line, e]
                number = space.number[line, sorting % 3, (key >> shift) & 511]
                entry = space.maps[role, space.counters[number]]
                space.counters[number] += 1
                entry[0] = space.number[line, p % 3, (key >> (18 - 9 * (p % 3))) & 511]
                entry[1] = space.number[line, q % 3, (key >> (18 - 9 * (q % 3))) & 511]
                entry[2] = space.number[line, r % 3, (key >> (18 - 9 * (r % 3))) & 511]
                entry[3] = space.multiplicity[line, e]

    return arrange
