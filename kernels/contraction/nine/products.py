"""Solutions as products of words, written at the speed of memory. Special to 3x3 boxes.

Given words of the summed lines A, B and C, the crossing lines are independent: every word of P goes
with every word of Q and every word of R, as long as each is orthogonal to those three. And each of
them fills in 27 cells of its own. So each gets a *strip*, a row of 81 cells with what stands in
these 27, and zeros elsewhere; a solution is the union of three strips. Nothing is searched, and no
cell is looked at by itself.

The order is the quick one of ``docs/contraction.md``: pairs of (a, b) by position; within a pair
the entries c of C, then the entries k of A and l of B, all as in ``Operands``; then the words of k,
of l, of c, of P, of Q and of R, each as in ``Words``; the last changes fastest. A *cell* below is
what belongs to one c, k and l.

The solutions of a pair are written as the images of those of the least pair of its orbit. That is
done to strips, so it costs nothing for a solution.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.bits import ONE, lowest_index
from gpusudoku.kernels.contraction.nine.arrays import (
    MULTIPLICITY,
    ORTHOGONAL,
    PARTITIONS,
    A,
    B,
    C,
    Lists,
    Operands,
    P,
    Q,
    R,
    Roles,
    Tensors,
)
from gpusudoku.kernels.contraction.nine.symmetries import compose
from gpusudoku.kernels.contraction.nine.words import WORD, Fitting, Words
from gpusudoku.kernels.groups import Group
from gpusudoku.kernels.kernel import jitable
from gpusudoku.kernels.text.values import WIDE
from gpusudoku.kernels.text.wide import put, unite

MOST_FITTING = 1_728
"""Words of a crossing line that fit three entries, at most: see ``tensors``."""
NUMBERS = 6 * PARTITIONS
"""Codes whose sets have three digits each."""
BOXES = 6 * ORTHOGONAL
"""Boxes that a code can make."""
BOX, ROW = 12, 4
"""Bytes of a box and of one of its rows."""
STRIP = 3 * WIDE
"""Bytes of a strip: 81 cells, what ends the line, and zeros up to whole vectors."""
SPARE = STRIP - 81
"""Bytes of the output that are written beyond the last solution, at most."""
POWERS = tuple(3**digit for digit in range(9))
"""What digits count in a code."""

POSITION, ENTRY_C, CELL, OFFSET = range(4)
"""Fields of a cursor: the position of a pair, an entry of C, the number of a cell among those of
this entry, and how many solutions of the cell come before. Cell (k, l) is k's place among the
entries of a, times the number of entries of b, plus l's place among these."""
LEFT, AT, SKIP = range(3)
"""Fields of ``Strips.state``: solutions left to be written; the byte where the next begins; and the
solutions to be skipped before it."""


ZERO, END = range(2)
"""Fields of ``Strips.form``."""


class Boxes(Group):
    """What stands in the boxes of a board's crossing lines. ``write_boxes`` writes it.

    The *number* of a code is 6 times its partition, plus its *naming*: the permutation that makes
    it of the partition's canonical code, in which sets come up in the order of their names.
    """

    number: NDArray[np.int16]
    """int16 (3^9): the number of every code, or -1 if its sets do not have three digits each."""
    sets: NDArray[np.uint8]
    """uint8 (6 * 280, 9): the set of every digit, by the number of a code."""
    composed: NDArray[np.uint8]
    """uint8 (6, 6): the permutation that is the second, and then the first."""
    rank: NDArray[np.uint8]
    """uint8 (280 * 6 * 280): by partition of a summed line, and by number of a crossing line's code
    with an orthogonal partition: which of the boxes of the former that is."""
    rows: NDArray[np.uint8]
    """uint8 (6 * 280 * BOXES * BOX): by number of a summed line's code: the boxes that it can make
    with a crossing line's code. A box is three rows of four bytes: the digits 1 to 9, and a zero
    behind each row."""


def make_boxes() -> Boxes:
    """Room for the boxes of any board, 5 MB of it."""
    return Boxes(
        number=(np.int16, (3**9,)),
        sets=(np.uint8, (NUMBERS, 9)),
        composed=(np.uint8, (6, 6)),
        rank=(np.uint8, (PARTITIONS * NUMBERS,)),
        rows=(np.uint8, (NUMBERS * BOXES * BOX,)),
    )


class Walk(NamedTuple):
    """Pairs in the quick order, by position."""

    pairs: NDArray[np.int32]
    """int32 (positions, 2): the numbers (b, a) of the least pair of the orbit."""
    digits: NDArray[np.uint8]
    """uint8 (positions, 9): what becomes of its digits, from 0 on."""
    names: NDArray[np.uint8]
    """uint8 (positions, 6): what becomes of the names of each line, as an index of
    ``Tables.permutations``."""


class Known(NamedTuple):
    """What is known about a board before its solutions are written."""

    lists: Lists
    roles: Roles
    operands: Operands
    tensors: Tensors
    words: Words
    numbers: NDArray[np.uint16]
    """uint16 (6, MOST_MAPS, 3): the numbers of the codes of ``words``; see ``Boxes``."""
    fitting: Fitting
    boxes: Boxes


class Strips(Group):
    """What a thread writes solutions with."""

    form: NDArray[np.uint32]
    """uint32 (2): ZERO, what is added to four digits to write them, and END, what ends a solution;
    both are 0 if digits are to be written as they are."""
    state: NDArray[np.int64]
    """int64 (3): see LEFT, AT and SKIP."""
    digits: NDArray[np.uint8]
    """uint8 (9): what becomes of the digits; all zeros before anything is known."""
    names: NDArray[np.uint8]
    """uint8 (6): what becomes of the names of every line."""
    image: NDArray[np.uint16]
    """uint16 (6, 6 * 280): what becomes of the number of a code, by line."""
    placed: NDArray[np.int64]
    """int64 (3): the word of A, B and C whose numbers are in ``across``, or -1."""
    across: NDArray[np.int64]
    """int64 (3, 3): by crossing role, the numbers of the codes of the summed lines at their places,
    after relabelling."""
    fitting: NDArray[np.int64]
    """int64 (3): how many words of P, Q and R fit."""
    found: NDArray[np.int32]
    """int32 (3, MOST_FITTING): these words, as indices of ``Words``."""
    stale: NDArray[np.uint8]
    """uint8 (3): whether the strips of P, Q and R are not yet those of these words."""
    strips: NDArray[np.uint8]
    """uint8 (3 * MOST_FITTING * STRIP): the strips of the words of P, Q and R. Those of P have what
    is around digits, too, so the union with others is as it is to be written."""
    united: NDArray[np.uint8]
    """uint8 (STRIP): a strip of P and one of Q."""


def make_strips(text: bool) -> Strips:
    """Room for the strips of a thread, half a MB of it; for lines of text, or for digits alone."""
    strips = Strips(
        form=(np.uint32, (2,)),
        state=(np.int64, (3,)),
        digits=(np.uint8, (9,)),
        names=(np.uint8, (6,)),
        image=(np.uint16, (6, NUMBERS)),
        placed=(np.int64, (3,)),
        across=(np.int64, (3, 3)),
        fitting=(np.int64, (3,)),
        found=(np.int32, (3, MOST_FITTING)),
        stale=(np.uint8, (3,)),
        strips=(np.uint8, (3 * MOST_FITTING * STRIP,)),
        united=(np.uint8, (STRIP,)),
    )
    strips.form[:] = (0x30303030, ord("\n")) if text else (0, 0)
    # The strips of a role always fill the same cells, so what is around them stays.
    by_role = strips.strips.reshape(3, MOST_FITTING, STRIP)
    by_role[...] = 0
    by_role[P, :, :81] = strips.form[ZERO] & 0xFF
    by_role[P, :, 81] = strips.form[END]
    strips.digits[:] = 0
    return strips


@jitable
def _row(crossing, c, a, roles):
    """Return where the row of a crossing role's tensor begins that has numbers of C and A."""
    return (c * roles.shape[A, crossing] + np.int64(a)) * roles.shape[B, crossing]


@jitable
def _divisors(lists):
    """Return the product of all divisors."""
    factor = 1
    for line in range(6):
        factor *= lists.divisor[line]
    return factor


def count_entries(b, a, known, counts):
    """Write how many solutions the pair (b, a) has with each entry of C: int64 (entries)."""
    operands, roles = known.operands, known.roles
    in_p, factor = known.tensors.entries[roles.tensor[P]], _divisors(known.lists)
    for c in range(len(counts)):
        entry, total = operands.entries[C, c], 0
        times = np.int64(in_p[_row(P, entry[P], a, roles) + b]) * entry[MULTIPLICITY]
        if times != 0:
            for k in range(operands.start[A, a], operands.start[A, a + 1]):
                total += _count_run(b, operands.entries[A, k], entry, known)
        counts[c] = factor * times * total


@jitable
def _count_run(b, k, c, known):
    """Return the sum over the entries of b of the products of Q's and R's tensors and
    multiplicities; ``k`` and ``c`` are entries of A and C."""
    operands, roles, total = known.operands, known.roles, 0
    in_q, in_r = known.tensors.entries[roles.tensor[Q]], known.tensors.entries[roles.tensor[R]]
    row_q, row_r = _row(Q, c[Q], k[Q], roles), _row(R, c[R], k[R], roles)
    for l in range(operands.start[B, b], operands.start[B, b + 1]):  # noqa: E741 - as in the formula
        entry = operands.entries[B, l]
        ways = np.int64(in_q[row_q + entry[Q]]) * in_r[row_r + entry[R]]
        total += ways * entry[MULTIPLICITY]
    return total * k[MULTIPLICITY]


def count_cells(b, a, c, known, counts):
    """Write how many solutions the pair (b, a) has with each cell of one entry of C: int64 (cells).

    ``c`` is the index of the entry.
    """
    operands, roles = known.operands, known.roles
    entry = operands.entries[C, c]
    in_p = known.tensors.entries[roles.tensor[P]]
    in_q, in_r = known.tensors.entries[roles.tensor[Q]], known.tensors.entries[roles.tensor[R]]
    factor = _divisors(known.lists) * in_p[_row(P, entry[P], a, roles) + b] * entry[MULTIPLICITY]
    cell = 0
    for k in range(operands.start[A, a], operands.start[A, a + 1]):
        one = operands.entries[A, k]
        row_q, row_r = _row(Q, entry[Q], one[Q], roles), _row(R, entry[R], one[R], roles)
        for l in range(operands.start[B, b], operands.start[B, b + 1]):  # noqa: E741
            other = operands.entries[B, l]
            times = factor * one[MULTIPLICITY] * other[MULTIPLICITY]
            counts[cell] = times * in_q[row_q + other[Q]] * in_r[row_r + other[R]]
            cell += 1


def write_boxes(tables, lists, roles, words, boxes, numbers):
    """Write ``boxes``, for crossing lines of the board's kind, and the ``numbers`` of its words."""
    permutations = tables.permutations
    _number_codes(tables, boxes)
    for after in range(6):
        for before in range(6):
            boxes.composed[after, before] = compose(after, before, permutations)
    in_bands = roles.crossing[P] >= 3
    boxes.rows[:] = 0
    for summed in range(PARTITIONS):
        for k in range(ORTHOGONAL):
            own = np.int64(tables.orthogonal[summed, k])
            for naming in range(6):
                boxes.rank[summed * NUMBERS + 6 * own + naming] = 6 * k + naming
                for other in range(6 * summed, 6 * summed + 6):
                    box = (other * BOXES + 6 * k + naming) * BOX
                    _write_box(box, 6 * own + naming, other, in_bands, boxes)
    for line in range(6):
        for word in range(words.start[line, lists.size[line]]):
            for place in range(3):
                numbers[line, word, place] = boxes.number[words.codes[line, word, place]]


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
                sets[digit] = tables.permutations[naming, canonical // POWERS[digit] % 3]
                code += sets[digit] * POWERS[digit]
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
def _write_box(box, own, other, in_bands, boxes):
    """Write one box by the numbers of a crossing line's code and of a summed line's."""
    rows, columns = (own, other) if in_bands else (other, own)
    for digit in range(9):
        row, column = boxes.sets[rows, digit], boxes.sets[columns, digit]
        boxes.rows[box + ROW * row + column] = digit + 1


def write_solutions(cursor, count, known, walk, strips, out):
    """Write so many solutions from a cursor on; there must be so many.

    out    uint8: ``count`` solutions of 81 bytes, and what ends each; then SPARE bytes
    """
    state = strips.state
    state[LEFT], state[AT], state[SKIP] = count, 0, cursor[OFFSET]
    position, c, cell = cursor[POSITION], cursor[ENTRY_C], cursor[CELL]
    strips.placed[:] = -1
    while state[LEFT] > 0:
        _relabel(walk.digits[position], walk.names[position], known.boxes, strips)
        b, a = np.int64(walk.pairs[position, 0]), np.int64(walk.pairs[position, 1])
        _write_pair(b, a, c, cell, known, strips, out)
        position, c, cell = position + 1, 0, 0


@jitable
def _relabel(digits, names, boxes, strips):
    """Write what becomes of the numbers of codes, unless it is there."""
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
                strips.image[line, 6 * partition + naming] = (
                    image - image % 6 + boxes.composed[names[line], inner]
                )


@jitable
def _write_pair(b, a, c, cell, known, strips, out):
    """Write the solutions of a pair from a cell of an entry of C on, or as many as are left."""
    operands, roles, state = known.operands, known.roles, strips.state
    in_p = known.tensors.entries[roles.tensor[P]]
    in_q, in_r = known.tensors.entries[roles.tensor[Q]], known.tensors.entries[roles.tensor[R]]
    first, last = operands.start[B, b], operands.start[B, b + 1]
    k, begin = operands.start[A, a] + cell // (last - first), first + cell % (last - first)
    for one in range(c, operands.start[C, -1]):
        entry = operands.entries[C, one]
        ways_p = in_p[_row(P, entry[P], a, roles) + b]
        if ways_p == 0:
            continue
        _find_fitting(P, a, b, entry[P], ways_p, known, strips)
        while k < operands.start[A, a + 1]:
            outer = operands.entries[A, k]
            row_q, row_r = _row(Q, entry[Q], outer[Q], roles), _row(R, entry[R], outer[R], roles)
            for l in range(begin, last):  # noqa: E741 - as in the formula
                other = operands.entries[B, l]
                ways_q, ways_r = in_q[row_q + other[Q]], in_r[row_r + other[R]]
                if ways_q != 0 and ways_r != 0:
                    _find_fitting(Q, outer[Q], other[Q], entry[Q], ways_q, known, strips)
                    _find_fitting(R, outer[R], other[R], entry[R], ways_r, known, strips)
                    _write_cell(k, l, one, known, strips, out)
                    if state[LEFT] == 0:
                        return
            k, begin = k + 1, first
        k = operands.start[A, a]


@jitable
def _find_fitting(crossing, a, b, c, ways, known, strips):
    """Find the words of a crossing role that fit numbers of A, B and C; its tensor has ``ways``."""
    found, x = strips.found[crossing], known.roles.crossing[crossing]
    start, width = known.words.start[x], known.fitting.width[crossing]
    sets, count = known.fitting.sets[crossing], 0
    all_ways, w = ways * known.lists.divisor[x], 0
    while count < all_ways:
        both = sets[A, a * width + w] & sets[B, b * width + w] & sets[C, c * width + w]
        while both != 0:
            e = WORD * w + lowest_index(both)
            both &= both - ONE
            for word in range(start[e], start[e + 1]):
                found[count] = word
                count += 1
        w += 1
    strips.fitting[crossing], strips.stale[crossing] = count, True


@jitable
def _write_cell(k, l, c, known, strips, out):  # noqa: E741 - as in the formula
    """Write the solutions of a cell that are not to be skipped, or as many as are left."""
    state, fitting = strips.state, strips.fitting
    skip = state[SKIP]
    state[SKIP] = 0
    for word_k in _words_of(A, k, known):
        for word_l in _words_of(B, l, known):
            for word_c in _words_of(C, c, known):
                if skip and skip >= fitting[P] * fitting[Q] * fitting[R]:
                    skip -= fitting[P] * fitting[Q] * fitting[R]
                    continue
                _place(A, word_k, known, strips)
                _place(B, word_l, known, strips)
                _place(C, word_c, known, strips)
                for crossing in range(3):
                    if strips.stale[crossing]:
                        _write_strips(crossing, known, strips)
                _multiply(skip, strips, out)
                skip = 0
                if state[LEFT] == 0:
                    return


@jitable
def _words_of(summed, entry, known):
    """Return the words of an entry of a summed role."""
    line, e = known.roles.summed[summed], known.operands.listed[summed, entry]
    return range(known.words.start[line, e], known.words.start[line, e + 1])


@jitable
def _place(summed, word, known, strips):
    """Let a word of a summed role stand where the crossing lines meet it."""
    if strips.placed[summed] == word:
        return
    strips.placed[summed] = word
    line = known.roles.summed[summed]
    numbers = known.numbers[line, word]
    for crossing in range(3):
        image = strips.image[line, numbers[known.roles.crossing[crossing] % 3]]
        if strips.across[crossing, line % 3] != image:
            strips.across[crossing, line % 3] = image
            strips.stale[crossing] = True


@jitable
def _write_strips(crossing, known, strips):
    """Write the strips of the words of a crossing role that fit."""
    strips.stale[crossing] = False
    x, boxes, across = known.roles.crossing[crossing], known.boxes, strips.across[crossing]
    image, numbers = strips.image[x], known.numbers[x]
    zero = strips.form[ZERO] if crossing == P else np.uint32(0)
    at, step = (27 * (x - 3), 3) if x >= 3 else (3 * x, 27)
    at += crossing * MOST_FITTING * STRIP
    # What belongs to the summed lines is the same for all words.
    rank_0, box_0 = boxes.rank[_ranks(across[0]) :], across[0] * BOXES
    rank_1, box_1 = boxes.rank[_ranks(across[1]) :], across[1] * BOXES
    rank_2, box_2 = boxes.rank[_ranks(across[2]) :], across[2] * BOXES
    for i in range(strips.fitting[crossing]):
        word = numbers[strips.found[crossing, i]]
        one = (box_0 + rank_0[image[word[0]]]) * BOX
        two = (box_1 + rank_1[image[word[1]]]) * BOX
        three = (box_2 + rank_2[image[word[2]]]) * BOX
        # The fourth byte of a row falls on what is around digits, or is overwritten by what
        # follows: boxes from left to right, rows from the top down.
        for row in range(3):
            put(boxes.rows, one + ROW * row, zero, strips.strips, at + 9 * row)
            put(boxes.rows, two + ROW * row, zero, strips.strips, at + 9 * row + step)
            put(boxes.rows, three + ROW * row, zero, strips.strips, at + 9 * row + 2 * step)
        if crossing == P:
            strips.strips[i * STRIP + 81] = strips.form[END]
        at += STRIP


@jitable
def _ranks(number):
    """Return where the ranks begin that go with the number of a summed line's code."""
    return number // 6 * NUMBERS


@jitable
def _multiply(skip, strips, out):
    """Write all unions of three strips, from one of them on, or as many as are left."""
    state, united = strips.state, strips.united
    in_p, in_q, in_r = strips.fitting[P], strips.fitting[Q], strips.fitting[R]
    first_q, first_r = MOST_FITTING * STRIP, 2 * MOST_FITTING * STRIP
    left, at, width = state[LEFT], state[AT], 81 + (strips.form[END] != 0)
    p, q, r = skip // (in_q * in_r), skip // in_r % in_q, skip % in_r
    while left > 0 and p < in_p:
        one, other = p * STRIP, first_q + q * STRIP
        for part in range(0, STRIP, WIDE):
            unite(strips.strips, one + part, strips.strips, other + part, united, part)
        last = min(in_r, r + left)
        left -= last - r
        for strip in range(first_r + r * STRIP, first_r + last * STRIP, STRIP):
            for part in range(0, STRIP, WIDE):
                unite(united, part, strips.strips, strip + part, out, at + part)
            at += width
        r, q = 0, q + 1
        if q == in_q:
            p, q = p + 1, 0
    state[LEFT], state[AT] = left, at
