"""Strips: what a word of a crossing line puts into its 27 cells. Special to 3x3 boxes.

A strip is a row of 81 cells with the digits of one crossing line in 27 of them. It belongs to a
word of this line and to the codes of the three summed lines where they meet it. The relabelling
that leads from the least pair of an orbit to another is done to the numbers of codes, so that it
costs nothing for a strip, or for a solution. ``filling`` puts boxes into strips.

Part of the stage ``write_solutions``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.arguments import Group
from gpusudoku.kernels.contraction.nine.arrays import (
    PARTITIONS,
    Lists,
    Operands,
    Orbits,
    Roles,
    Tensors,
)
from gpusudoku.kernels.contraction.nine.boxes import NUMBERS, POWERS, Boxes
from gpusudoku.kernels.contraction.nine.slabs import PER_PARTITION
from gpusudoku.kernels.contraction.nine.unite import WIDE
from gpusudoku.kernels.contraction.nine.unrank import Relabelling
from gpusudoku.kernels.contraction.nine.words import Fitting, Words
from gpusudoku.kernels.kernel import jitable

MOST_FITTING = 1_728
"""Words of a crossing line that fit three entries, at most: see ``tensors``."""
MOST_PREPARED = 1 << 14
"""Strips of Q, and of R, that are prepared, at most."""
MOST_CHOICES = 1 << 13
"""Choices of two words of A and B for which they are prepared, at most."""
CELLS = 81
STRIP = 3 * WIDE
"""Bytes of a strip: the cells, what ends a solution, and zeros up to whole vectors."""
FIRST_STRIP = (0, MOST_FITTING, 2 * MOST_FITTING + MOST_PREPARED)
"""Where the strips of P, Q and R begin; those of Q and R that are prepared come MOST_FITTING later.
"""
STRIPS = 3 * MOST_FITTING + 2 * MOST_PREPARED

LEFT, AT, SKIP, PREPARED, FOR = range(5)
"""Fields of ``Strips.state``: solutions that are left to be written; the byte where the next one
begins; solutions to be skipped before it; whether strips are prepared, and the position of the pair
for which they are, or for which there was no room."""
ZERO, END = range(2)
"""Fields of ``Strips.form``."""


class Known(NamedTuple):
    """What is known about a board before its solutions are written."""

    lists: Lists
    roles: Roles
    tensors: Tensors
    operands: Operands
    orbits: Orbits
    words: Words
    fitting: Fitting
    relabelling: Relabelling
    boxes: Boxes


class Strips(Group):
    """What a thread writes solutions with."""

    form: NDArray[np.uint8]
    """uint8 (2): ZERO is what a digit 0 is written as, END is what ends a solution; both are 0 if
    digits are to be written as they are."""
    state: NDArray[np.int64]
    """int64 (5): see LEFT."""
    digits: NDArray[np.uint8]
    """uint8 (9): what every digit becomes, from 1 on; all 0 as long as ``images`` is not written.
    """
    names: NDArray[np.uint8]
    """uint8 (6): what becomes of the names of every line's sets."""
    images: NDArray[np.uint16]
    """uint16 (6, NUMBERS): what becomes of the number of a code, by line."""
    placed: NDArray[np.int64]
    """int64 (3): the words of A, B and C whose codes are in ``across``; -1 if none are."""
    across: NDArray[np.int64]
    """int64 (3, 3): by crossing role and place, the number of the summed line's code there."""
    fitting: NDArray[np.int64]
    """int64 (3): how many words of P, Q and R fit."""
    found: NDArray[np.int32]
    """int32 (3, MOST_FITTING): these words, as indices of ``Words``."""
    stale: NDArray[np.uint8]
    """uint8 (3): whether the strips of P, Q and R still have to be made from that."""
    at: NDArray[np.int32]
    """int32 (3, MOST_FITTING): where their strips begin."""
    choice: NDArray[np.int32]
    """int32 (55 * 55): for entries k and l of a pair, the first choice of their words."""
    start: NDArray[np.int32]
    """int32 (3, MOST_CHOICES + 1): where the strips of Q and R begin that are prepared for each
    choice, and their end; nothing for P."""
    own: NDArray[np.uint16]
    """uint16 (3, MOST_PREPARED): the numbers of their codes where they meet C."""
    strips: NDArray[np.uint8]
    """uint8 (STRIPS * STRIP): the strips; see FIRST_STRIP. In those of P the digits have their
    form, and there is what stands around them."""
    united: NDArray[np.uint8]
    """uint8 (STRIP): a strip of P and one of Q."""


def make_strips(text: bool) -> Strips:
    """What a thread takes, 4 MB: to write lines of text, or digits as they are."""
    strips = Strips(
        form=(np.uint8, (2,)),
        state=(np.int64, (5,)),
        digits=(np.uint8, (9,)),
        names=(np.uint8, (6,)),
        images=(np.uint16, (6, NUMBERS)),
        placed=(np.int64, (3,)),
        across=(np.int64, (3, 3)),
        fitting=(np.int64, (3,)),
        found=(np.int32, (3, MOST_FITTING)),
        stale=(np.uint8, (3,)),
        at=(np.int32, (3, MOST_FITTING)),
        choice=(np.int32, (PER_PARTITION * PER_PARTITION,)),
        start=(np.int32, (3, MOST_CHOICES + 1)),
        own=(np.uint16, (3, MOST_PREPARED)),
        strips=(np.uint8, (STRIPS * STRIP,)),
        united=(np.uint8, (STRIP,)),
    )
    strips.form[:] = (ord("0"), ord("\n")) if text else (0, 0)
    strips.digits[:], strips.across[:], strips.state[FOR] = 0, -1, -1
    # The strips of a role fill in the same cells always, so what is around these stays.
    strips.strips[:] = 0
    of_p = strips.strips.reshape(STRIPS, STRIP)[:MOST_FITTING]
    of_p[:, :CELLS], of_p[:, CELLS] = strips.form
    return strips


@jitable
def relabel(position, relabelling, boxes, strips):
    """Write what becomes of the numbers of codes, unless it is there."""
    digits, names = relabelling.digits[position], relabelling.names[position]
    same = True
    for digit in range(9):
        same &= strips.digits[digit] == digits[digit] + 1
    for line in range(6):
        same &= strips.names[line] == names[line]
    if same:
        return
    strips.placed[:] = -1
    for digit in range(9):
        strips.digits[digit] = digits[digit] + 1
    for line in range(6):
        strips.names[line] = names[line]
    for partition in range(PARTITIONS):
        code = 0
        for digit in range(9):
            code += boxes.sets[6 * partition, digit] * POWERS[digits[digit]]
        image = np.int64(boxes.number[code])
        for naming in range(6):
            inner = boxes.composed[naming, image % 6]
            for line in range(6):
                renamed = np.int64(boxes.composed[names[line], inner])
                strips.images[line, 6 * partition + naming] = image - image % 6 + renamed


@jitable
def words_of(summed, entry, known):
    """Return the words of an entry of a summed role."""
    line, e = known.roles.summed[summed], known.operands.listed[summed, entry]
    return range(known.words.start[line, e], known.words.start[line, e + 1])


@jitable
def place_word(summed, word, known, strips):
    """Let a word of a summed role be what the crossing lines meet."""
    if strips.placed[summed] == word:
        return
    strips.placed[summed] = word
    line = known.roles.summed[summed]
    for crossing in range(3):
        number = known.boxes.words[line, word, known.roles.crossing[crossing] % 3]
        image = np.int64(strips.images[line, number])
        if strips.across[crossing, line % 3] != image:
            strips.across[crossing, line % 3], strips.stale[crossing] = image, True
