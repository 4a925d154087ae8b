"""From candidates to the lists of a board's stacks and bands.

``survey`` lists the maps of each line, packs their partitions into *keys*, sorts and counts these,
and drops entries that no solution can have (``prune``). ``sort_entries``, which is a part of
``arrange``, puts the entries of the summed lines in the order of the sum.

Stages: ``allow_permutations``, and parts of ``survey`` and ``arrange``.
"""

from __future__ import annotations

import numpy as np

from gpusudoku.kernels.contraction.nine.arrays import MULTIPLICITY, PARTITIONS, C, P, Q
from gpusudoku.kernels.kernel import jitable

BITS = 9
"""Bits of a partition in a key: 280 partitions need nine."""
FIELDS = 1 << BITS
"""Values that the bits of one partition can take."""


@jitable
def pack(first, second, third):
    """Make the key of three partitions, those at the places 0, 1 and 2."""
    return (np.int32(first) << 2 * BITS) | (np.int32(second) << BITS) | np.int32(third)


@jitable
def partition_at(key, place):
    """Return the partition that a key has at a place: 0, 1 or 2."""
    return (key >> BITS * (2 - place)) & (FIELDS - 1)


@jitable
def number_at(key, line, other, numbers):
    """Return the number of the partition that a line's key has where the line crosses another.

    numbers is ``Numbering.number``.
    """
    place = other % 3
    return np.int64(numbers[line, place, partition_at(key, place)])


@jitable
def find_key(key, keys, size):
    """Return the index of a key among the first ``size`` keys, which are sorted; or -1."""
    low = 0
    high = size
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < size and keys[low] == key else -1


GUARD = sum(4 << 3 * field for field in range(9))
"""The highest bits of nine counters of three bits: set in one that has passed 3."""
CODE_BITS = 16
"""Bits of a code among those of a map."""


@jitable
def allow_permutations(candidates, tables, lists):
    """Turn candidates into ``lists.masks``.

    candidates is uint64 (81): the digits still possible in every cell, digit 1 in the lowest bit.
    A permutation is allowed to a digit if in each of the three boxes of the line some cell of the
    column (of a stack; the row, of a band) has the digit as a candidate.
    """
    masks = lists.masks
    permutations = tables.permutations
    masks[:] = 0
    for digit in range(9):
        bit = np.uint64(1) << np.uint64(digit)
        rows, columns = 0, 0  # bit 9 * band + 3 * stack + row or column in the box
        for cell in range(81):
            if candidates[cell] & bit != np.uint64(0):
                r = cell // 9
                c = cell % 9
                box = 9 * (r // 3) + 3 * (c // 3)
                rows |= 1 << (box + r % 3)
                columns |= 1 << (box + c % 3)
        for k in range(6):
            for line in range(3):
                in_stack, in_band = True, True
                for other in range(3):
                    step = permutations[k, other]
                    in_stack &= (columns >> (9 * other + 3 * line + step)) & 1 == 1
                    in_band &= (rows >> (9 * line + 3 * other + step)) & 1 == 1
                if in_stack:
                    masks[line, digit] |= np.uint8(1 << k)
                if in_band:
                    masks[3 + line, digit] |= np.uint8(1 << k)


@jitable
def list_lines(tables, scratch, lists):
    """Write the lists of all six lines from ``lists.masks``; False if one of them is empty."""
    keys = lists.keys
    multiplicity = lists.multiplicity
    size = lists.size
    for line in range(6):
        other = _line_with_same_masks(line, lists.masks)
        if other >= 0:
            size[line] = size[other]
            for e in range(size[other]):
                keys[line, e] = keys[other, e]
                multiplicity[line, e] = multiplicity[other, e]
        else:
            raw = scratch.raw
            codes = scratch.codes
            count = list_maps(lists.masks[line], tables, scratch.stack, codes)
            for i in range(count):
                raw[0, i] = key_of(codes[i], tables)
            size[line] = _sort_keys(
                count, raw[0], raw[1], scratch.counters, keys[line], multiplicity[line]
            )
        if size[line] == 0:
            return False
    return True


@jitable
def _line_with_same_masks(line, masks):
    """Return an earlier line of the same kind that has the same masks, so the same maps; or -1."""
    found = -1
    for other in range(3 * (line // 3), line):
        same = True
        for digit in range(9):
            same &= masks[line, digit] == masks[other, digit]
        if same:
            found = other
    return found


@jitable
def _sort_keys(count, one, other, counters, keys, multiplicity):
    """Write a line's list from the keys of its maps, ``one``; return its length.

    The keys are sorted, and equal ones are counted.
    """
    for place in range(2, -1, -1):
        _sort(one, count, place, counters, other)
        one, other = other, one
    last = -1
    for i in range(count):
        if last < 0 or keys[last] != one[i]:
            last += 1
            keys[last] = one[i]
            multiplicity[last] = 0
        multiplicity[last] += 1
    return last + 1


@jitable
def list_maps(masks, tables, stack, maps):
    """Write the codes of every map that a line's masks allow; return the number of maps.

    The codes of a map are packed into one integer: see ``code_at``.

    Digit by digit, those with the fewest permutations first, depth first; nine counters in one
    integer say how many digits every set has in each of the three boxes, three at most.
    """
    order = stack[0]
    counts = stack[1]
    codes = stack[2]
    left = stack[3]
    for digit in range(9):
        i = digit
        while i > 0 and _choices(masks[order[i - 1]]) > _choices(masks[digit]):
            order[i] = order[i - 1]
            i -= 1
        order[i] = digit
    counts[0] = 0
    codes[0] = 0
    left[0] = masks[order[0]]
    depth, found = 0, 0
    while depth >= 0:
        if left[depth] == 0:
            depth -= 1
            continue
        k = 0
        while (left[depth] >> k) & 1 == 0:
            k += 1
        left[depth] &= left[depth] - 1
        count = counts[depth] + tables.count_steps[k]
        if count & GUARD != 0:
            continue
        code = codes[depth] + tables.code_steps[order[depth], k]
        if depth < 8:
            depth += 1
            counts[depth] = count
            codes[depth] = code
            left[depth] = masks[order[depth]]
            continue
        # Nine digits, three sets, none above three: every set has three digits.
        maps[found] = code
        found += 1
    return found


@jitable
def code_at(codes, place):
    """Return the code that a map has at a place: 0, 1 or 2."""
    return (codes >> CODE_BITS * place) & (1 << CODE_BITS) - 1


@jitable
def key_of(codes, tables):
    """Return the key of the map with these codes."""
    return pack(
        tables.partition_of[code_at(codes, 0)],
        tables.partition_of[code_at(codes, 1)],
        tables.partition_of[code_at(codes, 2)],
    )


@jitable
def _choices(mask):
    """Return the number of permutations in a mask."""
    count = 0
    for k in range(6):
        count += (mask >> k) & 1
    return count


@jitable
def _sort(source, count, place, counters, target):
    """Sort keys by the partition at a place; equal ones stay in their order."""
    counters[:] = 0
    for i in range(count):
        counters[partition_at(source[i], place) + 1] += 1
    for field in range(FIELDS):
        counters[field + 1] += counters[field]
    for i in range(count):
        field = partition_at(source[i], place)
        target[counters[field]] = source[i]
        counters[field] += 1


@jitable
def prune(orthogonal_bits, marks, keys, multiplicity, size):
    """Drop entries that go with no entry of some line they cross; False if a list gets empty.

    Where a stack and a band meet in a box, their partitions must be orthogonal. Entries without
    any counterpart are dropped until none is left to drop.
    """
    in_stack = marks[0]
    in_band = marks[1]
    changed = True
    while changed:
        changed = False
        for band in range(3):
            for stack in range(3):
                _mark(stack, band, size, keys, in_stack)
                _mark(3 + band, stack, size, keys, in_band)
                for line, place, marked in (stack, band, in_band), (3 + band, stack, in_stack):
                    changed |= _drop(line, place, marked, orthogonal_bits, keys, multiplicity, size)
                if size[stack] == 0 or size[3 + band] == 0:
                    return False
    return True


@jitable
def _mark(line, place, size, keys, marks):
    """Set the bits of the partitions that a line's entries have at a place."""
    marks[:] = np.uint64(0)
    for e in range(size[line]):
        x = np.int64(partition_at(keys[line, e], place))
        marks[x >> 6] |= np.uint64(1) << np.uint64(x & 63)


@jitable
def _drop(line, place, marks, orthogonal_bits, keys, multiplicity, size):
    """Drop a line's entries that are orthogonal to no marked partition; say whether any was."""
    kept = 0
    for e in range(size[line]):
        key = keys[line, e]
        x = partition_at(key, place)
        common = np.uint64(0)
        for w in range(5):
            common |= orthogonal_bits[x, w] & marks[w]
        if common != np.uint64(0):
            keys[line, kept] = key
            multiplicity[line, kept] = multiplicity[line, e]
            kept += 1
    dropped = kept < size[line]
    size[line] = kept
    return dropped


@jitable
def divide(lists):
    """Divide the multiplicities of every line by their greatest common divisor."""
    for line in range(6):
        divisor = np.int64(0)
        largest = np.int64(0)
        multiplicity = lists.multiplicity[line]
        for e in range(lists.size[line]):
            a = divisor
            b = np.int64(multiplicity[e])
            largest = max(largest, b)
            while b:
                a, b = b, a % b
            divisor = a
        for e in range(lists.size[line]):
            multiplicity[e] //= divisor
        lists.divisor[line] = divisor
        lists.largest[line] = largest // divisor


@jitable
def find_alike(lists):
    """Write ``lists.like``: which lines have the same list."""
    for line in range(6):
        lists.like[line] = line
        for other in range(line):
            if lists.like[line] == line and _same_list(line, other, lists):
                lists.like[line] = other


@jitable
def _same_list(one, other, lists):
    """Say whether two lines have the same keys and multiplicities."""
    if lists.size[one] != lists.size[other]:
        return False
    for e in range(lists.size[one]):
        if lists.keys[one, e] != lists.keys[other, e]:
            return False
        if lists.multiplicity[one, e] != lists.multiplicity[other, e]:
            return False
    return True


@jitable
def sort_entries(lists, numbering, roles, operands):
    """Write the entries of A and B sorted by their numbers at P, those of C sorted by Q."""
    for summed in range(3):
        line = roles.summed[summed]
        sorting = roles.crossing[Q if summed == C else P]
        entries = operands.entries[summed]
        start = operands.start[summed]
        start[:] = 0
        for e in range(lists.size[line]):
            start[number_at(lists.keys[line, e], line, sorting, numbering.number)] += 1
        for i in range(PARTITIONS):
            start[i + 1] += start[i]
        # Each start is now the end of its number's entries; entries are filled in from there.
        for e in range(lists.size[line] - 1, -1, -1):
            key = lists.keys[line, e]
            number = number_at(key, line, sorting, numbering.number)
            start[number] -= 1
            entry = entries[start[number]]
            operands.listed[summed, start[number]] = e
            for crossing in range(3):
                entry[crossing] = number_at(key, line, roles.crossing[crossing], numbering.number)
            entry[MULTIPLICITY] = lists.multiplicity[line, e]
