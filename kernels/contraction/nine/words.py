"""The words of every line: its maps with the names of columns and rows. Special to 3x3 boxes.

Entries are all that counting needs. Who wants solutions needs their *words*, too: every map once,
as the three codes that it has at the places 0, 1 and 2. A code names the set of each digit: the
column of a stack or the row of a band. A solution is six words, one of each line, whose partitions
are orthogonal wherever two lines cross; so of a crossing line those entries matter that are
orthogonal to the three entries of the summed lines. They are the intersection of three bit sets.

The stages ``list_words``, which writes ``Words``, and ``mark_fitting``, which writes ``Fitting``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.arguments import Group
from gpusudoku.kernels.contraction.nine.arrays import (
    MOST_ENTRIES,
    MOST_MAPS,
    ORTHOGONAL,
    PARTITIONS,
)
from gpusudoku.kernels.contraction.nine.keys import find_key, partition_at
from gpusudoku.kernels.contraction.nine.maps import code_at, key_of, list_maps
from gpusudoku.kernels.kernel import jitable

WORD = 64
"""Entries in one integer of a bit set."""
MOST_WIDTH = -(-MOST_ENTRIES // WORD)
"""Integers that a bit set of entries takes, at most."""


class Words(Group):
    """The words of the six lines. ``list_words`` writes them."""

    codes: NDArray[np.int16]
    """int16 (6, MOST_MAPS, 3): the words of every line, each as its codes by place. They are sorted
    by their entries, in the order of ``Lists.keys``, and those of an entry by their codes."""
    start: NDArray[np.int32]
    """int32 (6, MOST_ENTRIES + 1): where the words of every entry begin; then their end."""


class Fitting(Group):
    """Which entries of crossing lines fit where summed ones cross. ``mark_fitting`` writes them."""

    width: NDArray[np.int64]
    """int64 (3): how many integers a set of entries of P, Q and R takes."""
    sets: NDArray[np.uint64]
    """uint64 (3, 3, 280 * MOST_WIDTH): by crossing role, summed role and number of the summed line:
    the entries of X that are orthogonal to it, as a set of ``width`` integers. Entry e, in the
    order of ``Lists.keys``, is bit e % 64 of integer e // 64."""


def make_words() -> Words:
    """Room for the words of any board, 4 MB of it."""
    return Words(
        codes=(np.int16, (6, MOST_MAPS, 3)),
        start=(np.int32, (6, MOST_ENTRIES + 1)),
    )


def make_fitting() -> Fitting:
    """Room for the sets of any board, 5 MB of it."""
    return Fitting(
        width=(np.int64, (3,)),
        sets=(np.uint64, (3, 3, PARTITIONS * MOST_WIDTH)),
    )


@jitable
def list_words(tables, scratch, lists, words):
    """Write ``words`` of all six lines, with ``scratch`` on the way."""
    for line in range(6):
        other = _line_with_same_words(line, lists)
        if other < 0:
            count = list_maps(lists.masks[line], tables, scratch.stack, scratch.codes)
            _sort_words(line, count, tables, scratch.codes, lists, words)
        else:
            _copy_words(line, other, lists.size[line], words)


@jitable
def _copy_words(line, other, size, words):
    """Give a line of ``size`` entries the words of another."""
    for e in range(size + 1):
        words.start[line, e] = words.start[other, e]
    for i in range(words.start[line, size]):
        for place in range(3):
            words.codes[line, i, place] = words.codes[other, i, place]


@jitable
def _line_with_same_words(line, lists):
    """Return an earlier line with the same masks and entries, so with the same words; or -1."""
    for other in range(line):
        same = lists.like[line] == lists.like[other]
        for digit in range(9):
            same &= lists.masks[line, digit] == lists.masks[other, digit]
        if same:
            return other
    return -1


@jitable
def _sort_words(line, count, tables, maps, lists, words):
    """Write a line's words from the codes of its maps, but for entries that were dropped."""
    keys, size = lists.keys[line], lists.size[line]
    codes, start = words.codes[line], words.start[line]
    # Where the words of entry e begin is kept at e + 1 at first, and moves on to their end.
    start[0], begin = 0, 0
    for e in range(size):
        start[e + 1] = begin
        begin += lists.multiplicity[line, e] * lists.divisor[line]
    for i in range(count):
        e = find_key(key_of(maps[i], tables), keys, size)
        if e >= 0:
            word = codes[start[e + 1]]
            for place in range(3):
                word[place] = code_at(maps[i], place)
            start[e + 1] += 1
    for e in range(size):
        _sort_few(codes, start[e], start[e + 1])


@jitable
def _sort_few(codes, first, last):
    """Sort words[first:last], twelve at most, by their codes."""
    for i in range(first + 1, last):
        one, two, three, at = codes[i, 0], codes[i, 1], codes[i, 2], i
        while at > first and _is_before(one, two, three, codes[at - 1]):
            for place in range(3):
                codes[at, place] = codes[at - 1, place]
            at -= 1
        codes[at, 0], codes[at, 1], codes[at, 2] = one, two, three


@jitable
def _is_before(one, two, three, other):
    """Say whether three codes come before those of another word."""
    if one != other[0]:
        return one < other[0]
    if two != other[1]:
        return two < other[1]
    return three < other[2]


@jitable
def mark_fitting(tables, lists, numbering, roles, fitting):
    """Write ``fitting``: which entries fit, wherever a crossing line meets a summed one."""
    one = np.uint64(1)
    for crossing in range(3):
        x = roles.crossing[crossing]
        size, keys = lists.size[x], lists.keys[x]
        width = (size + WORD - 1) // WORD
        fitting.width[crossing] = width
        for summed in range(3):
            line, sets = roles.summed[summed], fitting.sets[crossing, summed]
            numbers = numbering.number[line, x % 3]
            sets[: roles.shape[summed, crossing] * width] = np.uint64(0)
            for e in range(size):
                orthogonal = tables.orthogonal[partition_at(keys[e], line % 3)]
                for i in range(ORTHOGONAL):
                    number = np.int64(numbers[orthogonal[i]])
                    if number >= 0:
                        sets[number * width + e // WORD] |= one << np.uint64(e % WORD)
