"""From candidates to the lists of a board's stacks and bands.

``make_lists`` lists the maps of each line, packs their partitions into *keys*, sorts and counts
these, and drops entries that no solution can have (``prune``). ``sort_entries``, which is a part of
``arrange_pairs``, puts the entries of the summed lines into the order of the sum.

Stages: ``allow_permutations``, and parts of ``make_lists`` and ``arrange_pairs``.
"""

from __future__ import annotations

import numpy as np

from gpusudoku.kernels.contraction.nine.arrays import MULTIPLICITY, PARTITIONS, C, P, Q
from gpusudoku.kernels.kernel import jitable

PARTITION_BITS = 9
"""Bits of a partition in a key: 280 partitions need nine. ``arrays.Lists`` has a drawing."""
PARTITION_VALUES = 1 << PARTITION_BITS
"""Values that the bits of one partition can take."""


@jitable
def pack(partition_0, partition_1, partition_2):
    """Pack the partitions in the boxes 0, 1 and 2 into a key."""
    high = np.int32(partition_0) << 2 * PARTITION_BITS
    middle = np.int32(partition_1) << PARTITION_BITS
    return high | middle | np.int32(partition_2)


@jitable
def partition_at(key, box):
    """Return the partition that a key has in box 0, 1 or 2 of its line."""
    return (key >> PARTITION_BITS * (2 - box)) & (PARTITION_VALUES - 1)


@jitable
def index_at(key, line, met_line, indices):
    """Return the index of the partition that a line's key has where the line meets another.

    ``indices`` is ``Indexing.index_of``.
    """
    box = met_line % 3
    return np.int64(indices[line, box, partition_at(key, box)])


@jitable
def find_key(key, keys, size):
    """Return the position of a key among the first ``size`` keys, which are sorted; or -1."""
    low = 0
    high = size
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    if low < size and keys[low] == key:
        return low
    return -1


COUNTER_BITS = 3
"""Bits of a counter in ``enumerate_maps``. There are nine counters. That of slot s in box b counts
the digits placed there, in the bits from 3 * (3 * b + s) on.

    bits     26 25 24   ...   11 10 9   8 7 6   5 4 3   2 1 0
    box      2          ...   1         0       0       0
    slot     2          ...   0         2       1       0
"""
FULL_BITS = sum(4 << COUNTER_BITS * counter for counter in range(9))
"""The highest bit of each counter. It becomes 1 when a fourth digit comes to a slot."""
CODE_BITS = 16
"""Bits of a code among the packed codes of a map. A code is less than 3^9 = 19,683.

    bits     47 ... 32   31 ... 16   15 ... 0
    code of  box 2       box 1       box 0
"""


@jitable
def allow_permutations(candidates, tables, lists):
    """Write ``lists.masks`` from candidates.

    ``candidates`` is uint64 (81): the digits that are possible in every cell, digit 1 in the lowest
    bit. A permutation is allowed for a digit if each of the three boxes of the line has the digit
    as a candidate in some cell of the column (of a stack; the row, of a band) that the permutation
    chooses there.
    """
    masks = lists.masks
    permutations = tables.permutations
    masks[:] = 0
    for digit in range(9):
        candidate_bit = np.uint64(1) << np.uint64(digit)
        # Bit 9 * band + 3 * stack + slot: does this row or column of the box have the digit?
        rows = 0
        columns = 0
        for cell in range(81):
            if candidates[cell] & candidate_bit != np.uint64(0):
                row = cell // 9
                column = cell % 9
                box_bit = 9 * (row // 3) + 3 * (column // 3)
                rows |= 1 << (box_bit + row % 3)
                columns |= 1 << (box_bit + column % 3)
        for permutation in range(6):
            for line in range(3):
                allowed_in_stack = True
                allowed_in_band = True
                for box in range(3):
                    slot = permutations[permutation, box]
                    allowed_in_stack &= (columns >> (9 * box + 3 * line + slot)) & 1 == 1
                    allowed_in_band &= (rows >> (9 * line + 3 * box + slot)) & 1 == 1
                if allowed_in_stack:
                    masks[line, digit] |= np.uint8(1 << permutation)
                if allowed_in_band:
                    masks[3 + line, digit] |= np.uint8(1 << permutation)


@jitable
def list_entries(tables, scratch, lists):
    """Write the lists of all six lines from ``lists.masks``; return False if a list is empty."""
    keys = lists.keys
    multiplicity = lists.multiplicity
    size = lists.size
    for line in range(6):
        equal_line = _line_with_same_masks(line, lists.masks)
        if equal_line >= 0:
            # Lines without clues have the longest lists, so copying often pays.
            size[line] = size[equal_line]
            for e in range(size[equal_line]):
                keys[line, e] = keys[equal_line, e]
                multiplicity[line, e] = multiplicity[equal_line, e]
        else:
            map_keys = scratch.map_keys
            codes = scratch.codes
            map_count = enumerate_maps(lists.masks[line], tables, scratch.stack, codes)
            for i in range(map_count):
                map_keys[0, i] = key_of(codes[i], tables)
            size[line] = _count_keys(
                map_count, map_keys[0], map_keys[1], scratch.starts, keys[line], multiplicity[line]
            )
        if size[line] == 0:
            return False
    return True


@jitable
def _line_with_same_masks(line, masks):
    """Return an earlier stack (or band) with the same masks, and so the same maps; or -1."""
    equal_line = -1
    for earlier_line in range(3 * (line // 3), line):
        is_equal = True
        for digit in range(9):
            is_equal &= masks[line, digit] == masks[earlier_line, digit]
        if is_equal:
            equal_line = earlier_line
    return equal_line


@jitable
def _count_keys(map_count, map_keys, buffer, starts, keys, multiplicity):
    """Write a line's list from the keys of its maps; return its length.

    The keys of the maps are sorted, with ``buffer`` as scratch memory, and equal ones are counted.
    """
    # A radix sort: stable sorts by the last box, the middle one, and the first one.
    for box in range(2, -1, -1):
        _sort_by_partition(map_keys, map_count, box, starts, buffer)
        map_keys, buffer = buffer, map_keys
    entry = -1
    for i in range(map_count):
        if entry < 0 or keys[entry] != map_keys[i]:
            entry += 1
            keys[entry] = map_keys[i]
            multiplicity[entry] = 0
        multiplicity[entry] += 1
    return entry + 1


@jitable
def _sort_by_partition(source, count, box, starts, target):
    """Write keys sorted by their partitions in a box; the sort is stable."""
    starts[:] = 0
    for i in range(count):
        starts[partition_at(source[i], box) + 1] += 1
    for partition in range(PARTITION_VALUES):
        starts[partition + 1] += starts[partition]
    for i in range(count):
        partition = partition_at(source[i], box)
        target[starts[partition]] = source[i]
        starts[partition] += 1


@jitable
def enumerate_maps(masks, tables, stack, maps):
    """Write the packed codes of every map that a line's masks allow; return the number of maps.

    ``CODE_BITS`` shows the layout of packed codes.

    The search places digit by digit, depth first, beginning with the digits that have the fewest
    permutations. Nine counters in one integer (``COUNTER_BITS``) have the number of digits in each
    slot of each box.
    """
    order = stack[0]
    counters = stack[1]
    codes = stack[2]
    untried = stack[3]  # bit sets of permutations
    # Insertion sort by the number of permutations: fewer branches near the root.
    for digit in range(9):
        i = digit
        while i > 0 and _permutation_count(masks[order[i - 1]]) > _permutation_count(masks[digit]):
            order[i] = order[i - 1]
            i -= 1
        order[i] = digit
    counters[0] = 0
    codes[0] = 0
    untried[0] = masks[order[0]]
    depth = 0
    map_count = 0
    while depth >= 0:
        if untried[depth] == 0:
            depth -= 1
            continue
        permutation = 0
        while (untried[depth] >> permutation) & 1 == 0:
            permutation += 1
        untried[depth] &= untried[depth] - 1  # clears the lowest bit
        # One addition counts the digit in all three boxes.
        new_counters = counters[depth] + tables.count_steps[permutation]
        if new_counters & FULL_BITS != 0:
            continue  # a fourth digit in a slot
        code = codes[depth] + tables.code_steps[order[depth], permutation]
        if depth < 8:
            depth += 1
            counters[depth] = new_counters
            codes[depth] = code
            untried[depth] = masks[order[depth]]
            continue
        # Nine digits are in three slots, and no slot has more than three: each has three.
        maps[map_count] = code
        map_count += 1
    return map_count


@jitable
def _permutation_count(mask):
    """Return the number of permutations in a mask."""
    count = 0
    for permutation in range(6):
        count += (mask >> permutation) & 1
    return count


@jitable
def code_at(codes, box):
    """Return the code that packed codes have for box 0, 1 or 2."""
    return (codes >> CODE_BITS * box) & (1 << CODE_BITS) - 1


@jitable
def key_of(codes, tables):
    """Return the key of the map with these packed codes."""
    return pack(
        tables.partition_of[code_at(codes, 0)],
        tables.partition_of[code_at(codes, 1)],
        tables.partition_of[code_at(codes, 2)],
    )


@jitable
def prune(orthogonal_bits, occurring, keys, multiplicity, size):
    """Drop entries that no solution can have; return False if a list becomes empty.

    Where a stack and a band meet in a box, their partitions must be orthogonal. An entry without
    an orthogonal partner in some crossing line is dropped, which may leave entries of other lines
    without a partner. So this is repeated until nothing changes. ``occurring`` is scratch memory.
    """
    in_stack = occurring[0]
    in_band = occurring[1]
    has_changed = True
    while has_changed:
        has_changed = False
        for band in range(3):
            for stack in range(3):
                band_line = 3 + band
                _find_occurring(stack, band, size, keys, in_stack)
                _find_occurring(band_line, stack, size, keys, in_band)
                for line, box, partners in (stack, band, in_band), (band_line, stack, in_stack):
                    has_changed |= _drop_without_partner(
                        line, box, partners, orthogonal_bits, keys, multiplicity, size
                    )
                if size[stack] == 0 or size[band_line] == 0:
                    return False
    return True


@jitable
def _find_occurring(line, box, size, keys, bits):
    """Write the bit set of the partitions that a line's entries have in a box."""
    bits[:] = np.uint64(0)
    for e in range(size[line]):
        partition = np.int64(partition_at(keys[line, e], box))
        bits[partition >> 6] |= np.uint64(1) << np.uint64(partition & 63)


@jitable
def _drop_without_partner(line, box, partners, orthogonal_bits, keys, multiplicity, size):
    """Drop a line's entries that are orthogonal to no partition of ``partners``, a bit set.

    Returns whether an entry was dropped.
    """
    new_size = 0
    for e in range(size[line]):
        key = keys[line, e]
        partition = partition_at(key, box)
        orthogonal_partners = np.uint64(0)
        for word in range(5):
            orthogonal_partners |= orthogonal_bits[partition, word] & partners[word]
        if orthogonal_partners != np.uint64(0):
            # The entries that stay move up, and keep their order.
            keys[line, new_size] = key
            multiplicity[line, new_size] = multiplicity[line, e]
            new_size += 1
    is_shorter = new_size < size[line]
    size[line] = new_size
    return is_shorter


@jitable
def divide_multiplicities(lists):
    """Divide the multiplicities of every line by their greatest common divisor."""
    for line in range(6):
        divisor = np.int64(0)
        largest = np.int64(0)
        multiplicity = lists.multiplicity[line]
        for e in range(lists.size[line]):
            # Euclid's algorithm. The divisor of the first entry is gcd(0, b) = b.
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
def find_equal_lists(lists):
    """Write ``lists.equal_line``: for every line, the first line with the same list."""
    for line in range(6):
        lists.equal_line[line] = line
        for earlier_line in range(line):
            if lists.equal_line[line] == line and _have_same_list(line, earlier_line, lists):
                lists.equal_line[line] = earlier_line


@jitable
def _have_same_list(line, earlier_line, lists):
    """Return whether two lines have the same keys and multiplicities."""
    if lists.size[line] != lists.size[earlier_line]:
        return False
    for e in range(lists.size[line]):
        if lists.keys[line, e] != lists.keys[earlier_line, e]:
            return False
        if lists.multiplicity[line, e] != lists.multiplicity[earlier_line, e]:
            return False
    return True


@jitable
def sort_entries(lists, indexing, roles, operands):
    """Write ``operands``: the entries of A and B sorted by their indices at P, those of C by Q.

    This is a counting sort, and stable: entries with the same index stay in the order of
    ``lists.keys``. The order decides on the contraction order of a board's solutions.
    """
    indices = indexing.index_of
    for summed_role in range(3):
        line = roles.summed[summed_role]
        sort_line = roles.crossing[Q if summed_role == C else P]
        entries = operands.entries[summed_role]
        start = operands.start[summed_role]
        start[:] = 0
        for e in range(lists.size[line]):
            start[index_at(lists.keys[line, e], line, sort_line, indices)] += 1
        for i in range(PARTITIONS):
            start[i + 1] += start[i]
        # Each start is now the end of its index's entries. Taking the entries from the last to the
        # first fills these ranges from their ends, and moves each start to where it belongs.
        for e in range(lists.size[line] - 1, -1, -1):
            key = lists.keys[line, e]
            index = index_at(key, line, sort_line, indices)
            start[index] -= 1
            entry = entries[start[index]]
            operands.list_position[summed_role, start[index]] = e
            for crossing_role in range(3):
                crossing_line = roles.crossing[crossing_role]
                entry[crossing_role] = index_at(key, line, crossing_line, indices)
            entry[MULTIPLICITY] = lists.multiplicity[line, e]
