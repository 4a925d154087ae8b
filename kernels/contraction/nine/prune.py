"""Shorter lists: entries that no solution can have are dropped. Special to 3x3 boxes.

Part of the stage ``survey``: writes ``Lists`` and the marks of ``ListScratch``.
"""

from __future__ import annotations

import numpy as np

from gpusudoku.kernels.contraction.nine.keys import partition_at
from gpusudoku.kernels.kernel import jitable


@jitable
def prune(orthogonal_bits, marks, keys, multiplicity, size):
    """Drop entries that go with no entry of some line they cross; False if a list gets empty.

    Where a stack and a band meet in a box, their partitions must be orthogonal. Entries without
    any counterpart are dropped until none is left to drop.
    """
    in_stack, in_band = marks[0], marks[1]
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
        divisor, largest, multiplicity = np.int64(0), np.int64(0), lists.multiplicity[line]
        for e in range(lists.size[line]):
            a, b = divisor, np.int64(multiplicity[e])
            largest = max(largest, b)
            while b:
                a, b = b, a % b
            divisor = a
        for e in range(lists.size[line]):
            multiplicity[e] //= divisor
        lists.divisor[line], lists.largest[line] = divisor, largest // divisor


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
