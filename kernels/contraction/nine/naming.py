"""Which columns or rows the sets of a partition are: the *kinds* of entries. Special to 3x3 boxes.

An entry of a line fixes partitions; its words name the sets. Of an entry's words so many give a set
of its partition at a place each of the three names. Only their shares matter to where digits stand.
Entries that have the same partition at a place, and the same shares, are of one *kind* there. A
line without clues has one kind for every partition: each set has each name in a third of the words.
Where clues tell the columns (or rows) of a box apart, a partition has one kind, too: each set has
one name. In between there are several.

The stage ``name_entries``, which writes ``Naming``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.arguments import Group
from gpusudoku.kernels.contraction.nine.arrays import MOST_ENTRIES, PARTITIONS
from gpusudoku.kernels.contraction.nine.keys import partition_at
from gpusudoku.kernels.kernel import jitable

BITS = 4
"""Bits of the number of an entry's words that give a set a name: twelve at most."""
CELLS = 9
"""Sets of a partition times names of each."""


class Naming(Group):
    """The kinds of entries at every line and place. ``name_entries`` writes them.

    Kinds are numbered from 0 on, those of a number's partition one after the other.
    """

    kind: NDArray[np.int16]
    """int16 (6, 3, MOST_ENTRIES): the kind of every entry."""
    first: NDArray[np.int16]
    """int16 (6, 3, 281): the first kind of every number; then the number of kinds."""
    names: NDArray[np.int8]
    """int8 (6, 3, MOST_ENTRIES, 3, 3): how many words give every set (as ``Tables.sets`` numbers
    them) every name, divided by the greatest common divisor of these nine numbers."""
    total: NDArray[np.int8]
    """int8 (6, 3, MOST_ENTRIES): the sum over all names of a set, which is the same for each."""
    packed: NDArray[np.int64]
    """int64 (MOST_ENTRIES): the names of the kinds that were found at one line and place, nine
    numbers in one, in the order in which they were found."""
    number: NDArray[np.int16]
    """int16 (MOST_ENTRIES): the number to which each of these belongs."""
    before: NDArray[np.int16]
    """int16 (MOST_ENTRIES): the kind of the same number that was found before it, or -1."""
    last: NDArray[np.int16]
    """int16 (280): the kind that was found last of every number, or -1."""
    place: NDArray[np.int16]
    """int16 (MOST_ENTRIES): the kind's number in the end."""


def make_naming() -> Naming:
    """Room for the kinds of any board, 3 MB of it."""
    most = MOST_ENTRIES
    return Naming(
        kind=(np.int16, (6, 3, most)),
        first=(np.int16, (6, 3, PARTITIONS + 1)),
        names=(np.int8, (6, 3, most, 3, 3)),
        total=(np.int8, (6, 3, most)),
        packed=(np.int64, (most,)),
        number=(np.int16, (most,)),
        before=(np.int16, (most,)),
        last=(np.int16, (PARTITIONS,)),
        place=(np.int16, (most,)),
    )


@jitable
def name_entries(lists, numbering, words, naming):
    """Write ``naming`` of all six lines."""
    for line in range(6):
        for place in range(3):
            found = _find_kinds(line, place, lists, numbering, words, naming)
            _number_kinds(line, place, found, lists, numbering, naming)


@jitable
def _find_kinds(line, place, lists, numbering, words, naming):
    """Write the kinds of a line's entries at a place as they are found; return their number."""
    found, last = 0, naming.last
    last[:] = -1
    for e in range(lists.size[line]):
        packed = _names(line, place, words.start[line, e], words.start[line, e + 1], words)
        number = numbering.number[line, place, partition_at(lists.keys[line, e], place)]
        kind = int(last[number])
        while kind >= 0 and naming.packed[kind] != packed:
            kind = int(naming.before[kind])
        if kind < 0:
            kind, found = found, found + 1
            naming.packed[kind], naming.number[kind] = packed, number
            naming.before[kind], last[number] = last[number], kind
        naming.kind[line, place, e] = kind
    return found


@jitable
def _names(line, place, first, last, words):
    """Return how many of the words[first:last] give each set each name, over what they share."""
    packed = np.int64(0)
    for i in range(first, last):
        code = np.int64(words.codes[line, i, place])
        one = code % 3  # the name of set 0, to which the first digit belongs
        while code % 3 == one:
            code //= 3
        two = code % 3
        for cell in one, 3 + two, 9 - one - two:
            packed += np.int64(1 << BITS * cell)
    divisor = np.int64(0)
    for field in range(CELLS):
        a, b = divisor, np.int64((packed >> BITS * field) & (1 << BITS) - 1)
        while b:
            a, b = b, a % b
        divisor = a
    return packed // divisor


@jitable
def _number_kinds(line, place, found, lists, numbering, naming):
    """Give the kinds that were found the numbers that they have in the end."""
    first, count = naming.first[line, place], numbering.occurring[line, place]
    first[: count + 1] = 0
    for kind in range(found):
        first[naming.number[kind] + 1] += 1
    for number in range(count):
        first[number + 1] += first[number]
    for kind in range(found):
        # A number's kinds are chained from the last to the first.
        before, place_in_chain = naming.before[kind], np.int16(0)
        if before >= 0:
            place_in_chain = np.int16(naming.place[before] - first[naming.number[kind]] + 1)
        to = first[naming.number[kind]] + place_in_chain
        naming.place[kind], naming.total[line, place, to] = to, 0
        for cell in range(CELLS):
            words = (naming.packed[kind] >> BITS * cell) & (1 << BITS) - 1
            naming.names[line, place, to, cell // 3, cell % 3] = words
            naming.total[line, place, to] += words if cell < 3 else 0
    kinds = naming.kind[line, place]
    for e in range(lists.size[line]):
        kinds[e] = naming.place[kinds[e]]
