"""Symmetries of a 9x9 board that take solutions to solutions, and orbits of pairs under them.

A symmetry gives every digit another digit, and exchanges the *names* of sets: the three columns of
each stack and the three rows of each band, in all three boxes of the line alike. It is one of the
board if it takes the permutations that every digit may have in every line, the masks of ``Lists``,
to those of the digit's image. Then it takes every map of a line to a map of the line, and so every
solution to a solution: what stands in row ``rho``, column ``sigma`` of a box is relabelled, and
moves to the row and the column that the two lines' names give for these.

Pairs of partitions whose solutions are images of each other form an orbit, and have equally many of
them. So one pair of each orbit is summed, times the size of the orbit. A symmetry that is
overlooked costs time, but never changes a count.

Part of the stage ``arrange``: writes ``Symmetries`` and ``Orbits``.
"""

from __future__ import annotations

import numpy as np

from gpusudoku.kernels.contraction.nine.arrays import MAX_SYMMETRIES, A, B, P
from gpusudoku.kernels.kernel import jitable


@jitable
def pair_up(symmetric, tables, lists, numbering, roles, symmetries, orbits):
    """Write the orbits of pairs of partitions; return their number.

    Not ``symmetric``: every pair is an orbit.
    """
    found = 0
    if symmetric:
        found = find_symmetries(lists.masks, tables, symmetries)
        write_images(found, tables, numbering, roles, symmetries, orbits)
    return walk_orbits(found, roles.shape[A, P], roles.shape[B, P], orbits)


@jitable
def find_symmetries(masks, tables, symmetries):
    """Write symmetries that generate many, perhaps not all; return their number.

    All exchanges of two digits are tried, and of two and two at once, except where those that were
    found before them are known to generate them.
    """
    permutations = tables.permutations
    kind = symmetries.kind
    for line in range(6):
        for digit in range(9):
            for names in range(6):
                renamed = _renamed(masks[line, digit], names, permutations)
                symmetries.renamed[line, digit, names] = renamed
    for digit in range(9):
        kind[digit] = digit
    found = 0
    for one in range(9):
        for two in range(one + 1, 9):
            if kind[one] != kind[two] and _try(one, two, 0, 0, found, masks, symmetries):
                found += 1
                before = kind[two]
                after = kind[one]
                for digit in range(9):
                    kind[digit] = after if kind[digit] == before else kind[digit]
    for one in range(9):
        for two in range(one + 1, 9):
            for three in range(one + 1, 9):
                for four in range(three + 1, 9):
                    if two in (three, four) or found == MAX_SYMMETRIES:
                        continue
                    if kind[one] == kind[two] and kind[three] == kind[four]:
                        continue
                    found += _try(one, two, three, four, found, masks, symmetries)
    return found


@jitable
def compose(after, before, permutations):
    """Return the index of the permutation that is ``before``, and then ``after``."""
    first = permutations[after, permutations[before, 0]]
    second = permutations[after, permutations[before, 1]]
    third = permutations[after, permutations[before, 2]]
    return 2 * first + (second > third)  # they are in ascending order


@jitable
def _renamed(mask, names, permutations):
    """Return a set of permutations, each followed by that of the names."""
    renamed = 0
    for k in range(6):
        if (mask >> k) & 1:
            renamed |= 1 << compose(names, k, permutations)
    return renamed


@jitable
def _try(one, two, three, four, at, masks, symmetries):
    """Write two exchanges of digits at an index of the symmetries; say whether they are one."""
    exchanged = symmetries.exchanged[at]
    digits = symmetries.digits[at]
    exchanged[0], exchanged[1], exchanged[2], exchanged[3] = one, two, three, four
    for digit in range(9):
        digits[digit] = digit
    digits[one], digits[two] = two, one
    if three != four:
        digits[three], digits[four] = four, three
    for line in range(6):
        names = names_after(line, digits, masks, symmetries.renamed)
        if names < 0:
            return False
        symmetries.names[at, line] = names
    return True


@jitable
def names_after(line, digits, masks, renamed):
    """Return how a line's names go with what every digit becomes, or -1 if they cannot.

    The first of six permutations is taken, as an index of ``Tables.permutations``.
    """
    for names in range(6):
        same = True
        for digit in range(9):
            if masks[line, digits[digit]] != renamed[line, digit, names]:
                same = False
                break
        if same:
            return names
    return -1


@jitable
def write_images(found, tables, numbering, roles, symmetries, orbits):
    """Write ``orbits.images`` for the numbers of partitions of A and B at P."""
    place = roles.crossing[P] % 3
    swaps = tables.swaps
    for s in range(found):
        one, two, three, four = symmetries.exchanged[s]
        for summed in (A, B):
            line = roles.summed[summed]
            for i in range(roles.shape[summed, P]):
                partition = numbering.partition[line, place, i]
                image = swaps[three, four, swaps[one, two, partition]]
                orbits.images[s, summed, i] = numbering.number[line, place, image]


@jitable
def walk_orbits(found, numbers_of_a, numbers_of_b, orbits):
    """Write ``orbits`` from its images under so many symmetries; return the number of orbits."""
    members = orbits.members
    seen = orbits.seen
    images = orbits.images
    pairs = orbits.pairs
    width = numbers_of_a
    count = 0
    end = 0
    seen[: width * numbers_of_b] = 0
    for least in range(width * numbers_of_b):
        if seen[least]:
            continue
        position = end
        first = end
        orbits.first[count] = end
        members[end] = least
        orbits.parent[end] = -1
        orbits.symmetry[end] = -1
        seen[least] = 1
        end += 1
        while position < end:
            b = members[position] // width
            a = members[position] % width
            for s in range(found):
                image = np.int64(images[s, B, b]) * width + images[s, A, a]
                if not seen[image]:
                    members[end] = image
                    seen[image] = 1
                    orbits.parent[end] = position
                    orbits.symmetry[end] = s
                    end += 1
            position += 1
        pairs[count, 0], pairs[count, 1], pairs[count, 2] = (
            least // width,
            least % width,
            end - first,
        )
        count += 1
    orbits.first[count] = end
    return count
