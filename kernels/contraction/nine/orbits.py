"""Pairs of partitions that have the same sum. Special to 3x3 boxes.

A relabelling of the digits under which every line has the same entries as before, with the same
multiplicities, takes the pair (a, b) of partitions at P to another with the same number of
solutions. So one pair of each orbit is summed, times the size of the orbit.

Part of the stage ``arrange``: writes ``Orbits``.
"""

from __future__ import annotations

import numpy as np

from gpusudoku.kernels.contraction.nine.arrays import MOST_GENERATORS, PARTITIONS, A, B, C, P
from gpusudoku.kernels.contraction.nine.keys import find_key, pack, partition_at
from gpusudoku.kernels.contraction.nine.roles import are_alike
from gpusudoku.kernels.kernel import jitable

WORTH_A_LOOK = 200_000
"""With fewer pairs times entries of C, looking for hidden symmetries takes longer than summing."""


@jitable
def pair_up(symmetric, swaps, lists, numbering, roles, orbits):
    """Write the least pair of every orbit; return the number of orbits.

    Orbits are found by uniting pairs with their images. Not ``symmetric``: every pair is an orbit.
    """
    a, b, place = roles.summed[A], roles.summed[B], roles.crossing[P] % 3
    height, width = roles.shape[B, P], roles.shape[A, P]
    parent, size, pairs = orbits.parent, orbits.size, orbits.pairs
    generators = 0
    if symmetric:
        hidden = height * width * lists.size[roles.summed[C]] >= WORTH_A_LOOK
        generators = _find_generators(hidden, swaps, lists, orbits.generators)
    for pair in range(height * width):
        parent[pair] = pair
        size[pair] = 0
    for g in range(generators):
        to = orbits.generators[g]
        for i in range(height):
            image = np.int64(numbering.number[b, place, to[numbering.partition[b, place, i]]])
            for j in range(width):
                other = numbering.number[a, place, to[numbering.partition[a, place, j]]]
                one, two = _root(i * width + j, parent), _root(image * width + other, parent)
                parent[max(one, two)] = min(one, two)
    for pair in range(height * width):
        size[_root(pair, parent)] += 1
    count = 0
    for pair in range(height * width):
        if size[pair] > 0:
            pairs[count, 0], pairs[count, 1] = pair // width, pair % width
            pairs[count, 2] = size[pair]
            count += 1
    return count


@jitable
def _root(pair, parent):
    """Return the root of a pair's tree; the path to it gets shorter."""
    while parent[pair] != pair:
        parent[pair] = parent[parent[pair]]
        pair = parent[pair]
    return pair


@jitable
def _find_generators(hidden, swaps, lists, generators):
    """Write relabellings that change no list; return their number.

    Digits that every line allows the same permutations, those without clues above all, can be
    exchanged. ``hidden``: among the others all exchanges of two are tried, and of two and two at
    once. Clues in one box often change places that way. These are checked on the lists, so no
    thought about clues is needed; there may be more symmetries, but every one found is one.
    """
    found = 0
    alone = np.int64(0)  # the digits that are like no other, as a bit set
    for digit in range(9):
        before, others = -1, 0
        for other in range(9):
            if other != digit and are_alike(digit, other, lists.masks):
                others += 1
                before = other if other < digit else before
        if others == 0:
            alone |= 1 << digit
        elif before >= 0:
            for x in range(PARTITIONS):
                generators[found, x] = swaps[before, digit, x]
            found += 1
    if not hidden:
        return found
    for one in range(9):
        for two in range(one + 1, 9):
            if not (alone >> one) & (alone >> two) & 1:
                continue
            first = swaps[one, two]
            found = _try(first, swaps[0, 0], found, lists, generators)
            for three in range(one + 1, 9):
                for four in range(three + 1, 9):
                    if two not in (three, four) and (alone >> three) & (alone >> four) & 1:
                        second = swaps[three, four]
                        found = _try(first, second, found, lists, generators)
    return found


@jitable
def _try(first, second, found, lists, generators):
    """Write one relabelling after the other as one generator if it is a symmetry.

    Returns how many generators there are then.
    """
    if found == MOST_GENERATORS:
        return found
    for x in range(PARTITIONS):
        generators[found, x] = second[first[x]]
    return found + _is_symmetry(generators[found], lists)


@jitable
def _is_symmetry(to, lists):
    """Say whether every list stays the same if each partition x becomes to[x]."""
    for line in range(6):
        size, keys = lists.size[line], lists.keys[line]
        for e in range(size):
            key = keys[e]
            image = pack(
                to[partition_at(key, 0)], to[partition_at(key, 1)], to[partition_at(key, 2)]
            )
            # A relabelling is one to one: if all images are there, none is left over.
            at = find_key(image, keys, size)
            if at < 0 or lists.multiplicity[line, at] != lists.multiplicity[line, e]:
                return False
    return True
