"""The keys of a list: three partitions packed into one integer. Special to 3x3 boxes."""

from __future__ import annotations

import numpy as np

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
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < size and keys[low] == key else -1
