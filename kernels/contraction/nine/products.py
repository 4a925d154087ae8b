"""Solutions as products of words, written about as fast as memory takes them. Special to 3x3 boxes.

Given words of the summed lines A, B and C, the crossing lines are independent: every word of P that
is orthogonal to those three goes with every such word of Q and of R. And each fills in 27 cells of
its own. So each gets a *strip*, 81 cells with what stands in these 27, and a solution is the union
of three strips. Nothing is searched, and no cell is looked at by itself.

Solutions come in the quick order; ``unrank`` says what it is. The relabelling that leads from the
least pair of an orbit to another is done to the strips, so that it costs nothing for a solution.

The stage ``write_solutions``, which writes ``Strips``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.bits import ONE, lowest_index
from gpusudoku.kernels.contraction.nine.arrays import (
    PARTITIONS,
    A,
    B,
    C,
    Lists,
    Operands,
    Orbits,
    P,
    Q,
    R,
    Roles,
    Tensors,
)
from gpusudoku.kernels.contraction.nine.boxes import BOX, NUMBERS, PARTNERS, POWERS, ROW, Boxes
from gpusudoku.kernels.contraction.nine.unrank import REMAINDER, Relabelling
from gpusudoku.kernels.contraction.nine.words import WORD, Fitting, Words
from gpusudoku.kernels.groups import Group
from gpusudoku.kernels.kernel import jitable
from gpusudoku.kernels.text.values import WIDE
from gpusudoku.kernels.text.wide import unite, unite_four

MOST_FITTING = 1_728
"""Words of a crossing line that fit three entries, at most: see ``tensors``."""
CELLS = 81
STRIP = 3 * WIDE
"""Bytes of a strip: the cells, what ends a solution, and zeros up to whole vectors."""
SPARE = STRIP - CELLS
"""Bytes that are written behind the last solution, at most."""

ORBIT, POSITION = range(4, 6)
"""Fields of a cursor, after those of a cell of ``find_cells``: the orbit, and the position of the
pair. Its REMAINDER is not divided."""
LEFT, AT, SKIP = range(3)
"""Fields of ``Strips.state``: solutions that are left to be written, the byte where the next one
begins, and solutions to be skipped before it."""
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

    form: NDArray[np.uint32]
    """uint32 (2): ZERO is what four digits 0 are written as, END is what ends a solution; both are
    0 if digits are to be written as they are."""
    state: NDArray[np.int64]
    """int64 (3): see LEFT, AT and SKIP."""
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
    strips: NDArray[np.uint8]
    """uint8 (3 * MOST_FITTING * STRIP): the strips of the words of P, Q and R. In those of P the
    digits have their form, and there is what stands around them."""
    united: NDArray[np.uint8]
    """uint8 (STRIP): a strip of P and one of Q."""


def make_strips(text: bool) -> Strips:
    """What a thread takes, half a MB: to write lines of text, or digits as they are."""
    strips = Strips(
        form=(np.uint32, (2,)),
        state=(np.int64, (3,)),
        digits=(np.uint8, (9,)),
        names=(np.uint8, (6,)),
        images=(np.uint16, (6, NUMBERS)),
        placed=(np.int64, (3,)),
        across=(np.int64, (3, 3)),
        fitting=(np.int64, (3,)),
        found=(np.int32, (3, MOST_FITTING)),
        stale=(np.uint8, (3,)),
        strips=(np.uint8, (3 * MOST_FITTING * STRIP,)),
        united=(np.uint8, (STRIP,)),
    )
    zero, end = (ord("0"), ord("\n")) if text else (0, 0)
    strips.form[:] = zero * 0x01010101, end
    strips.digits[:], strips.across[:] = 0, -1
    # The strips of a role fill in the same cells always, so what is around these stays.
    by_role = strips.strips.reshape(3, MOST_FITTING, STRIP)
    by_role[:] = 0
    by_role[P, :, :CELLS] = zero
    return strips


def write_solutions(cursor, count, known, strips, out):
    """Write so many solutions from one of them on; there must be so many.

    cursor    int64 (6)    where the first is: see ORBIT
    out       uint8        ``count`` solutions of CELLS bytes, and of one more if there is what ends
                           each; then SPARE bytes
    """
    state, orbits = strips.state, known.orbits
    state[LEFT], state[AT], state[SKIP] = count, 0, cursor[REMAINDER]
    orbit, position = cursor[ORBIT], cursor[POSITION]
    b, a = np.int64(orbits.pairs[orbit, 0]), np.int64(orbits.pairs[orbit, 1])
    k, l, c = cursor[A], cursor[B], cursor[C]  # noqa: E741 - as in the formula of the sum
    strips.placed[:] = -1
    while True:
        _relabel(position, known.relabelling, known.boxes, strips)
        _write_pair(b, a, k, l, c, known, strips, out)
        if state[LEFT] == 0:
            return
        position += 1
        if position == orbits.first[orbit + 1]:
            orbit += 1
            b, a = np.int64(orbits.pairs[orbit, 0]), np.int64(orbits.pairs[orbit, 1])
        k, l, c = known.operands.start[A, a], known.operands.start[B, b], 0  # noqa: E741


@jitable
def _relabel(position, relabelling, boxes, strips):
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
def _write_pair(b, a, k, l, c, known, strips, out):  # noqa: E741 - as in the formula of the sum
    """Write the solutions of a pair from a cell on, or as many as are left."""
    operands, roles, state = known.operands, known.roles, strips.state
    in_p, in_q, in_r = roles.tensor[P], roles.tensor[Q], roles.tensor[R]
    tensors, starts = known.tensors.entries, operands.start
    for i in range(c, starts[C, -1]):
        of_c = operands.entries[C, i]
        ways = tensors[in_p, _row(P, of_c[P], a, roles) + b]
        if ways == 0:
            continue
        _find_fitting(P, a, b, of_c[P], ways, known, strips)
        while k < starts[A, a + 1]:
            of_a = operands.entries[A, k]
            row_q, row_r = _row(Q, of_c[Q], of_a[Q], roles), _row(R, of_c[R], of_a[R], roles)
            for j in range(l, starts[B, b + 1]):
                of_b = operands.entries[B, j]
                ways_q, ways_r = tensors[in_q, row_q + of_b[Q]], tensors[in_r, row_r + of_b[R]]
                if ways_q != 0 and ways_r != 0:
                    _find_fitting(Q, of_a[Q], of_b[Q], of_c[Q], ways_q, known, strips)
                    _find_fitting(R, of_a[R], of_b[R], of_c[R], ways_r, known, strips)
                    _write_cell(k, j, i, known, strips, out)
                    if state[LEFT] == 0:
                        return
            k, l = k + 1, starts[B, b]  # noqa: E741
        k = starts[A, a]


@jitable
def _row(crossing, c, a, roles):
    """Return where the row of a crossing role's tensor begins that has numbers of C and A."""
    return (c * roles.shape[A, crossing] + a) * roles.shape[B, crossing]


@jitable
def _find_fitting(crossing, a, b, c, ways, known, strips):
    """Find the words of a crossing role that fit numbers of A, B and C.

    ``ways`` is the entry of the role's tensor, so it is known how many words there are.
    """
    x, fitting, found = known.roles.crossing[crossing], known.fitting, strips.found[crossing]
    start, sets, width = known.words.start[x], fitting.sets[crossing], fitting.width[crossing]
    some, count, w = ways * known.lists.divisor[x], 0, 0
    of_a, of_b, of_c = sets[A, a * width :], sets[B, b * width :], sets[C, c * width :]
    while count < some:
        all_three = of_a[w] & of_b[w] & of_c[w]
        while all_three != 0:
            e = WORD * w + lowest_index(all_three)
            all_three &= all_three - ONE
            for word in range(start[e], start[e + 1]):
                found[count] = word
                count += 1
        w += 1
    strips.fitting[crossing], strips.stale[crossing] = count, True


@jitable
def _write_cell(k, l, c, known, strips, out):  # noqa: E741 - as in the formula of the sum
    """Write the solutions of a cell that are not to be skipped, or as many as are left."""
    state, products = strips.state, strips.fitting[P] * strips.fitting[Q] * strips.fitting[R]
    skip = state[SKIP]
    state[SKIP] = 0
    for word_k in _words_of(A, k, known):
        for word_l in _words_of(B, l, known):
            for word_c in _words_of(C, c, known):
                if skip >= products:
                    skip -= products
                    continue
                _place(A, word_k, known, strips)
                _place(B, word_l, known, strips)
                _place(C, word_c, known, strips)
                for crossing in range(3):
                    if strips.stale[crossing]:
                        _write_strips(crossing, known, strips)
                _multiply(skip, strips, out)
                if state[LEFT] == 0:
                    return
                skip = 0


@jitable
def _words_of(summed, entry, known):
    """Return the words of an entry of a summed role."""
    line, e = known.roles.summed[summed], known.operands.listed[summed, entry]
    return range(known.words.start[line, e], known.words.start[line, e + 1])


@jitable
def _place(summed, word, known, strips):
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


@jitable
def _write_strips(crossing, known, strips):
    """Write the strips of the words of a crossing role that fit."""
    x, boxes, across = known.roles.crossing[crossing], known.boxes, strips.across[crossing]
    images, words, found = strips.images[x], boxes.words[x], strips.found[crossing]
    # What belongs to the summed lines is the same for all words.
    first_0, first_1, first_2 = across[0] * PARTNERS, across[1] * PARTNERS, across[2] * PARTNERS
    ranks_0 = boxes.rank[across[0] // 6 * NUMBERS :]
    ranks_1 = boxes.rank[across[1] // 6 * NUMBERS :]
    ranks_2 = boxes.rank[across[2] // 6 * NUMBERS :]
    zero = strips.form[ZERO] if crossing == P else np.uint32(0)
    at, step = (27 * (x - 3), 3) if x >= 3 else (3 * x, 27)
    at += crossing * MOST_FITTING * STRIP
    for i in range(strips.fitting[crossing]):
        word = words[found[i]]
        box_0 = (first_0 + ranks_0[images[word[0]]]) * BOX
        box_1 = (first_1 + ranks_1[images[word[1]]]) * BOX
        box_2 = (first_2 + ranks_2[images[word[2]]]) * BOX
        # A row's fourth byte is what stands around digits, or what follows comes in its place:
        # boxes are written from left to right, rows from the top down, and the end at last.
        for row in range(3):
            to = at + 9 * row
            unite_four(boxes.boxes, box_0 + ROW * row, zero, strips.strips, to)
            unite_four(boxes.boxes, box_1 + ROW * row, zero, strips.strips, to + step)
            unite_four(boxes.boxes, box_2 + ROW * row, zero, strips.strips, to + 2 * step)
        if crossing == P:
            strips.strips[i * STRIP + CELLS] = strips.form[END]
        at += STRIP
    strips.stale[crossing] = False


@jitable
def _multiply(skip, strips, out):
    """Write all unions of three strips, from one of them on, or as many as are left."""
    state, all_strips, united = strips.state, strips.strips, strips.united
    in_p, in_q, in_r = strips.fitting[P], strips.fitting[Q], strips.fitting[R]
    first_q, first_r = MOST_FITTING * STRIP, 2 * MOST_FITTING * STRIP
    left, at, width = state[LEFT], state[AT], CELLS + (strips.form[END] != 0)
    p, q, r = skip // (in_q * in_r), skip // in_r % in_q, skip % in_r
    while left > 0 and p < in_p:
        of_p, of_q = p * STRIP, first_q + q * STRIP
        for part in range(0, STRIP, WIDE):
            unite(all_strips, of_p + part, all_strips, of_q + part, united, part)
        last = min(in_r, r + left)
        for of_r in range(first_r + r * STRIP, first_r + last * STRIP, STRIP):
            for part in range(0, STRIP, WIDE):
                unite(united, part, all_strips, of_r + part, out, at + part)
            at += width
        left -= last - r
        r, q = 0, q + 1
        if q == in_q:
            p, q = p + 1, 0
    state[LEFT], state[AT] = left, at
