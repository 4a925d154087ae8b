"""Symmetries of a 9x9 board that take solutions to solutions, and orbits of pairs under them.

A symmetry replaces each digit by another digit, and permutes the slots of each line: the three
columns of a stack or the three rows of a band, in all three boxes of the line alike. A *slot
permutation* is an index of ``Tables.permutations``. All this is a symmetry of the board if it takes
the permutations that each digit may have in each line, the masks of ``Lists``, to those of the
digit's image. Then it takes every map of a line to a map of the line, and every solution to a
solution: it replaces each digit, and moves it to another row and column of its box.

Pairs of partitions whose solutions are images of each other form an orbit. They have equally many
solutions. So one pair of each orbit, its representative, is summed, and the sum is multiplied by
the size of the orbit. A symmetry that is overlooked costs time, but never changes a count.

Part of the stage ``arrange_pairs``: writes ``Symmetries`` and ``Orbits``.
"""

from __future__ import annotations

import numpy as np

from gpusudoku.kernels.contraction.nine.arrays import MAX_SYMMETRIES, A, B, P
from gpusudoku.kernels.kernel import jitable


@jitable
def write_orbits(symmetric, tables, lists, indexing, roles, symmetries, orbits):
    """Write the orbits of pairs of partitions; return their number.

    Without ``symmetric``, each pair is an orbit of its own.
    """
    symmetry_count = 0  # then ``images`` are not read
    if symmetric:
        symmetry_count = find_symmetries(lists.masks, tables, symmetries)
        write_images(symmetry_count, tables, indexing, roles, symmetries, orbits)
    return walk_orbits(symmetry_count, roles.shape[A, P], roles.shape[B, P], orbits)


@jitable
def find_symmetries(masks, tables, symmetries):
    """Write symmetries that generate many, perhaps not all; return their number.

    Swaps of two digits are tried, then double swaps, which are two swaps at once. Those that are
    products of earlier symmetries are not tried.
    """
    _permute_masks(masks, tables.permutations, symmetries)
    swap_count = _find_swaps(masks, symmetries)
    return _find_double_swaps(swap_count, masks, symmetries)


@jitable
def _permute_masks(masks, permutations, symmetries):
    """Write ``symmetries.permuted_masks``: the masks under each slot permutation."""
    for line in range(6):
        for digit in range(9):
            for slot_permutation in range(6):
                permuted_mask = _permute_mask(masks[line, digit], slot_permutation, permutations)
                symmetries.permuted_masks[line, digit, slot_permutation] = permuted_mask


@jitable
def _permute_mask(mask, slot_permutation, permutations):
    """Return a mask of permutations, each followed by ``slot_permutation``."""
    permuted_mask = 0
    for permutation in range(6):
        if (mask >> permutation) & 1:
            permuted_mask |= 1 << compose(slot_permutation, permutation, permutations)
    return permuted_mask


@jitable
def _find_swaps(masks, symmetries):
    """Write the symmetries that swap two digits, and the digits' classes; return their number."""
    digit_class = symmetries.digit_class
    # The symmetries found so far permute the digits of a class in all ways.
    for digit in range(9):
        digit_class[digit] = digit
    count = 0
    for low in range(9):
        for high in range(low + 1, 9):
            # The symmetries so far generate the swap of two digits of one class.
            if digit_class[low] == digit_class[high]:
                continue
            if _write_if_symmetry(count, low, high, 0, 0, masks, symmetries):
                count += 1
                _merge_classes(digit_class[low], digit_class[high], digit_class)
    return count


@jitable
def _merge_classes(kept_class, merged_class, digit_class):
    """Move the digits of ``merged_class`` to ``kept_class``."""
    for digit in range(9):
        if digit_class[digit] == merged_class:
            digit_class[digit] = kept_class


@jitable
def _find_double_swaps(count, masks, symmetries):
    """Write symmetries that are two swaps at once, behind ``count`` others; return the new count.

    The pairs (low, high) and (low_2, high_2) are swapped. They have no digit in common, and low is
    the least of the four, so each double swap is tried once.
    """
    digit_class = symmetries.digit_class
    for low in range(9):
        for high in range(low + 1, 9):
            for low_2 in range(low + 1, 9):
                for high_2 in range(low_2 + 1, 9):
                    # Symmetries beyond the room are overlooked, which only costs time.
                    if high in (low_2, high_2) or count == MAX_SYMMETRIES:
                        continue
                    # Two swaps that are symmetries each generate this double swap.
                    if (
                        digit_class[low] == digit_class[high]
                        and digit_class[low_2] == digit_class[high_2]
                    ):
                        continue
                    if _write_if_symmetry(count, low, high, low_2, high_2, masks, symmetries):
                        count += 1
    return count


@jitable
def compose(outer, inner, permutations):
    """Return the index of the permutation that applies ``inner``, and then ``outer``."""
    image_0 = permutations[outer, permutations[inner, 0]]
    image_1 = permutations[outer, permutations[inner, 1]]
    image_2 = permutations[outer, permutations[inner, 2]]
    # Permutations are in ascending order: there are two for each image of 0.
    return 2 * image_0 + (image_1 > image_2)


@jitable
def _write_if_symmetry(index, low, high, low_2, high_2, masks, symmetries):
    """Write a double swap as symmetry ``index``; return whether it is a symmetry of the board.

    For a single swap, low_2 and high_2 are equal. What is written is valid only for a symmetry.
    """
    swapped = symmetries.exchanged[index]
    swapped[0] = low
    swapped[1] = high
    swapped[2] = low_2
    swapped[3] = high_2

    digits = symmetries.digits[index]
    for digit in range(9):
        digits[digit] = digit
    digits[low] = high
    digits[high] = low
    if low_2 != high_2:
        digits[low_2] = high_2
        digits[high_2] = low_2

    # Lines permute their slots independently. Each one needs a permutation that fits.
    for line in range(6):
        slot_permutation = _find_slot_permutation(line, digits, masks, symmetries.permuted_masks)
        if slot_permutation < 0:
            return False
        symmetries.slot_permutations[index, line] = slot_permutation
    return True


@jitable
def _find_slot_permutation(line, digits, masks, permuted_masks):
    """Return the slot permutation of a line that fits a replacement of digits; or -1.

    With it, the mask of each digit becomes that of ``digits[digit]``. If several permutations fit,
    the one with the least index in ``Tables.permutations`` is returned.
    """
    for slot_permutation in range(6):
        fits = True
        for digit in range(9):
            if masks[line, digits[digit]] != permuted_masks[line, digit, slot_permutation]:
                fits = False
                break
        if fits:
            return slot_permutation
    return -1


@jitable
def write_images(symmetry_count, tables, indexing, roles, symmetries, orbits):
    """Write ``orbits.images`` of the partitions of A and B at P, by their indices."""
    # A permutation of slots changes no partition, so only the swaps of digits count.
    box = roles.crossing[P] % 3
    swaps = tables.swaps
    for symmetry in range(symmetry_count):
        low, high, low_2, high_2 = symmetries.exchanged[symmetry]
        for summed_role in (A, B):
            line = roles.summed[summed_role]
            for index in range(roles.shape[summed_role, P]):
                partition = indexing.partition[line, box, index]
                # A single swap has low_2 == high_2, and swaps[digit, digit] changes nothing.
                image = swaps[low_2, high_2, swaps[low, high, partition]]
                orbits.images[symmetry, summed_role, index] = indexing.index_of[line, box, image]


@jitable
def walk_orbits(symmetry_count, a_count, b_count, orbits):
    """Write ``orbits`` from its ``images``; return the number of orbits.

    Parameters
    ----------
    symmetry_count
        The number of symmetries; with 0, each pair is an orbit of its own.
    a_count, b_count
        The numbers of partitions that A and B have at P.
    """
    representatives = orbits.representatives
    pair_count = a_count * b_count
    orbits.is_visited[:pair_count] = 0
    orbit_count = 0
    end = 0
    for pair in range(pair_count):
        if orbits.is_visited[pair]:
            continue
        # Orbits of lesser pairs are complete, so this pair is the representative of a new orbit.
        start = end
        end = _walk_orbit(pair, start, symmetry_count, a_count, orbits)
        orbits.start[orbit_count] = start
        representatives[orbit_count, 0] = pair // a_count
        representatives[orbit_count, 1] = pair % a_count
        representatives[orbit_count, 2] = end - start
        orbit_count += 1
    orbits.start[orbit_count] = end
    return orbit_count


@jitable
def _walk_orbit(representative, start, symmetry_count, a_count, orbits):
    """Write the members of an orbit from position ``start`` on; return the position of their end.

    This is a breadth-first search, and ``orbits.members`` is its queue.
    """
    members = orbits.members
    images = orbits.images
    is_visited = orbits.is_visited
    members[start] = representative
    orbits.parent[start] = -1
    orbits.symmetry[start] = -1
    is_visited[representative] = 1

    position = start
    end = start + 1
    while position < end:
        b = members[position] // a_count
        a = members[position] % a_count
        for symmetry in range(symmetry_count):
            image = np.int64(images[symmetry, B, b]) * a_count + images[symmetry, A, a]
            if not is_visited[image]:
                members[end] = image
                is_visited[image] = 1
                orbits.parent[end] = position
                orbits.symmetry[end] = symmetry
                end += 1
        position += 1
    return end
