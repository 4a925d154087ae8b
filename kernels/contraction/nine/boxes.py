"""What stands in the boxes where lines cross, written out beforehand. Special to 3x3 boxes.

A code of a band and a code of a stack with orthogonal partitions make a box: the first says in
which row each digit stands, the second in which column. There are 1,680 codes, and each makes a box
with 216 others.

The *number* of a code is six times its partition, plus its *naming*: the permutation that makes it
of the partition's canonical code, in which sets come up in the order of their names.

The stage ``write_boxes``, which writes ``Boxes``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.arguments import Group
from gpusudoku.kernels.contraction.nine.arrays import MOST_MAPS, ORTHOGONAL, PARTITIONS, P
from gpusudoku.kernels.contraction.nine.symmetries import compose
from gpusudoku.kernels.kernel import jitable

NUMBERS = 6 * PARTITIONS
"""Codes whose sets have three digits each."""
PARTNERS = 6 * ORTHOGONAL
"""Codes with which a code makes a box."""
BOX = 9
"""Bytes of a box."""
NO_BOX = 255
"""The rank of codes that do not make a box."""
POWERS = tuple(3**digit for digit in range(9))
"""What the set of each digit counts in a code."""


class Boxes(Group):
    """The boxes of crossing and summed lines, and the numbers of codes. ``write_boxes`` writes it.

    The codes of crossing lines that make a box with one of a summed line have *ranks*, from 0 on.
    """

    number: NDArray[np.int16]
    """int16 (3^9): the number of every code, or -1 if its sets do not have three digits each."""
    sets: NDArray[np.uint8]
    """uint8 (6 * 280, 9): the set of every digit, by the number of a code."""
    composed: NDArray[np.uint8]
    """uint8 (6, 6): the permutation that is the second and then the first."""
    rank: NDArray[np.uint8]
    """uint8 (280 * 6 * 280): by partition of a summed line, and number of a crossing line's code,
    the rank of the latter, or NO_BOX."""
    boxes: NDArray[np.uint8]
    """uint8 (6 * 280 * PARTNERS * BOX): by number of a summed line's code, and rank: a box, row
    by row, digits from 1 on."""
    words: NDArray[np.uint16]
    """uint16 (6, MOST_MAPS, 3): the numbers of the codes of ``Words``."""


def make_boxes() -> Boxes:
    """Room for the boxes of any board, 7 MB of it."""
    return Boxes(
        number=(np.int16, (3**9,)),
        sets=(np.uint8, (NUMBERS, 9)),
        composed=(np.uint8, (6, 6)),
        rank=(np.uint8, (PARTITIONS * NUMBERS,)),
        boxes=(np.uint8, (NUMBERS * PARTNERS * BOX,)),
        words=(np.uint16, (6, MOST_MAPS, 3)),
    )


def write_boxes(tables, lists, roles, words, boxes):
    """Write ``boxes``, whose crossing lines are bands or stacks as those of the board are."""
    _number_codes(tables, boxes)
    for after in range(6):
        for before in range(6):
            boxes.composed[after, before] = compose(after, before, tables.permutations)
    crossing_is_band = roles.crossing[P] >= 3
    boxes.rank[:] = NO_BOX
    for summed in range(PARTITIONS):
        for k in range(ORTHOGONAL):
            partition = np.int64(tables.orthogonal[summed, k])
            for naming in range(6):
                rank, crossing = 6 * k + naming, 6 * partition + naming
                boxes.rank[summed * NUMBERS + crossing] = rank
                for other in range(6 * summed, 6 * summed + 6):
                    box = (other * PARTNERS + rank) * BOX
                    if crossing_is_band:
                        _write_box(box, crossing, other, boxes)
                    else:
                        _write_box(box, other, crossing, boxes)
    for line in range(6):
        for word in range(words.start[line, lists.size[line]]):
            for place in range(3):
                boxes.words[line, word, place] = boxes.number[words.codes[line, word, place]]


@jitable
def _number_codes(tables, boxes):
    """Write the numbers and the sets of codes."""
    boxes.number[:] = -1
    for canonical in range(3**9):
        partition = np.int64(tables.partition_of[canonical])
        if partition < 0 or not _is_canonical(canonical):
            continue
        for naming in range(6):
            code, sets = 0, boxes.sets[6 * partition + naming]
            for digit in range(9):
                one = tables.permutations[naming, canonical // POWERS[digit] % 3]
                sets[digit] = one
                code += one * POWERS[digit]
            boxes.number[code] = 6 * partition + naming


@jitable
def _is_canonical(code):
    """Say whether the sets of a code come up in the order of their names."""
    expected = 0
    for digit in range(9):
        one = code // POWERS[digit] % 3
        if one > expected:
            return False
        expected += one == expected
    return True


@jitable
def _write_box(box, band, stack, boxes):
    """Write a box by the numbers of a band's and of a stack's code."""
    for digit in range(9):
        row, column = boxes.sets[band, digit], boxes.sets[stack, digit]
        boxes.boxes[box + 3 * row + column] = digit + 1
