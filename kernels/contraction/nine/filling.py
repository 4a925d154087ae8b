"""Boxes put into strips. Special to 3x3 boxes.

Within a pair the entries of A and B meet each entry of C. So the strips of Q and R are *prepared*
for every two words of A and B, as far as there is room: all words that fit both, with two boxes
filled in. An entry of C chooses among them, and fills in the third.

Part of the stage ``write_solutions``.
"""

from __future__ import annotations

import numpy as np

from gpusudoku.kernels.bits import ONE, lowest_index
from gpusudoku.kernels.contraction.nine.arrays import A, B, C, P, Q, R
from gpusudoku.kernels.contraction.nine.boxes import BOX, NO_BOX, NUMBERS, PARTNERS
from gpusudoku.kernels.contraction.nine.strips import (
    FIRST_STRIP,
    MOST_CHOICES,
    MOST_FITTING,
    MOST_PREPARED,
    STRIP,
    ZERO,
    place_word,
    words_of,
)
from gpusudoku.kernels.contraction.nine.unite import unite_three
from gpusudoku.kernels.contraction.nine.words import WORD
from gpusudoku.kernels.kernel import jitable


@jitable
def write_strips(crossing, known, strips):
    """Write the strips of the words of a crossing role that fit."""
    x, found, at = known.roles.crossing[crossing], strips.found[crossing], strips.at[crossing]
    words, images, count = known.boxes.words[x], strips.images[x], strips.fitting[crossing]
    for i in range(count):
        at[i] = (FIRST_STRIP[crossing] + i) * STRIP
    for place in range(3):
        to, ranks, first = _at_place(crossing, place, known, strips)
        for i in range(count):
            rank = known.boxes.rank[ranks + images[words[found[i], place]]]
            _write_box(first + rank, crossing, at[i] + to, known.boxes, strips)
    strips.stale[crossing] = False


@jitable
def _at_place(crossing, place, known, strips):
    """Return what all strips of a crossing role have in common at a place.

    That is where the box is in a strip, where the ranks of the crossing line's codes begin, and
    the index of the box of the first rank.
    """
    x, across = known.roles.crossing[crossing], strips.across[crossing, place]
    to = 27 * (x - 3) + 3 * place if x >= 3 else 27 * place + 3 * x
    return to, across // 6 * NUMBERS, across * PARTNERS


@jitable
def _write_box(box, crossing, at, boxes, strips):
    """Write a box into a strip."""
    zero = strips.form[ZERO] if crossing == P else np.uint8(0)
    for row in range(3):
        unite_three(boxes.boxes, box * BOX + 3 * row, zero, strips.strips, at + 9 * row)


@jitable
def prepare_pair(b, a, known, strips):
    """Prepare the strips of Q and R for a pair; return whether there was room."""
    operands, starts, choice = known.operands, known.operands.start, 0
    strips.start[:, 0] = 0
    for k in range(starts[A, a], starts[A, a + 1]):
        for l in range(starts[B, b], starts[B, b + 1]):  # noqa: E741 - as in the formula of the sum
            strips.choice[cell_of(b, a, k, l, starts)] = choice
            for word_k in words_of(A, k, known):
                place_word(A, word_k, known, strips)
                for word_l in words_of(B, l, known):
                    place_word(B, word_l, known, strips)
                    if choice == MOST_CHOICES:
                        return False
                    for crossing in (Q, R):
                        of_a, of_b = (
                            operands.entries[A, k, crossing],
                            operands.entries[B, l, crossing],
                        )
                        if not _prepare(crossing, choice, of_a, of_b, known, strips):
                            return False
                    choice += 1
    return True


@jitable
def cell_of(b, a, k, l, starts):  # noqa: E741 - as in the formula of the sum
    """Return the number of a cell among those of a pair that have the same entry of C."""
    return (k - starts[A, a]) * (starts[B, b + 1] - starts[B, b]) + l - starts[B, b]


@jitable
def _prepare(crossing, choice, a, b, known, strips):
    """Prepare the strips of a crossing role for a choice; return whether there was room.

    The strips have the boxes where the line meets A and B.
    """
    x, summed, fitting = known.roles.crossing[crossing], known.roles.summed, known.fitting
    start, sets, width = known.words.start[x], fitting.sets[crossing], fitting.width[crossing]
    words, images, own = known.boxes.words[x], strips.images[x], strips.own[crossing]
    place_a, place_b, place_c = summed[A] % 3, summed[B] % 3, summed[C] % 3
    to_a, ranks_a, first_a = _at_place(crossing, place_a, known, strips)
    to_b, ranks_b, first_b = _at_place(crossing, place_b, known, strips)
    boxes, i = known.boxes, strips.start[crossing, choice]
    for w in range(width):
        both = sets[A, a * width + w] & sets[B, b * width + w]
        while both != 0:
            e = WORD * w + lowest_index(both)
            both &= both - ONE
            for word in range(start[e], start[e + 1]):
                if i == MOST_PREPARED:
                    return False
                own[i] = images[words[word, place_c]]
                at = (FIRST_STRIP[crossing] + MOST_FITTING + i) * STRIP
                rank_a, rank_b = (
                    boxes.rank[ranks_a + images[words[word, place_a]]],
                    boxes.rank[ranks_b + images[words[word, place_b]]],
                )
                _write_box(first_a + rank_a, crossing, at + to_a, boxes, strips)
                _write_box(first_b + rank_b, crossing, at + to_b, boxes, strips)
                i += 1
    strips.start[crossing, choice + 1] = i
    return True


@jitable
def choose_strips(crossing, choice, known, strips):
    """Choose the prepared strips of a crossing role that fit the entry of C, and complete them."""
    at, own = strips.at[crossing], strips.own[crossing]
    to, ranks, first = _at_place(crossing, known.roles.summed[C] % 3, known, strips)
    ranks_of, one, count = known.boxes.rank, strips.start[crossing, choice], 0
    while count < strips.fitting[crossing]:
        at[count] = one
        count += ranks_of[ranks + own[one]] != NO_BOX
        one += 1
    base = FIRST_STRIP[crossing] + MOST_FITTING
    for i in range(count):
        rank = ranks_of[ranks + own[at[i]]]
        at[i] = (base + at[i]) * STRIP
        _write_box(first + rank, crossing, at[i] + to, known.boxes, strips)
