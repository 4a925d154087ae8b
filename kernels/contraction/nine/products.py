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
from gpusudoku.kernels.contraction.nine.words import WORD, Fitting, Words
from gpusudoku.kernels.groups import Group
from gpusudoku.kernels.kernel import jitable
from gpusudoku.kernels.text.values import WIDE
from gpusudoku.kernels.text.wide import unite

MOST_FITTING = 1_728
"""Words of a crossing line that fit three entries, at most: see ``tensors``."""
STRIP = 3 * WIDE
"""Bytes of a strip: 81 cells, what ends the line, and zeros up to whole vectors."""
SPARE = STRIP - 81
"""Bytes of the output that are written beyond the last solution, at most."""
BALANCED = 1_680
"""Codes whose sets have three digits each."""

POSITION, ENTRY_C, CELL, OFFSET = range(4)
"""Fields of a cursor: the position of a pair, an entry of C, the number of a cell among those of
this entry, and how many solutions of the cell come before. Cell (k, l) is k's place among the
entries of a, times the number of entries of b, plus l's place among these."""
LEFT, AT, SKIP = range(3)
"""Fields of ``Strips.state``: solutions left to be written; the byte where the next begins; and the
solutions to be skipped before it."""


class Places(Group):
    """Where the digits of a code stand; see ``gpusudoku.contraction.nine.products``."""

    number: NDArray[np.int16]
    """int16 (3^9): codes whose sets have three digits each are numbered; others have -1."""
    offsets: NDArray[np.uint8]
    """uint8 (2, 6, BALANCED, 9): by kind of line, what becomes of names, number of a code, and
    digit: how many cells the digit stands behind the first of its box; for stacks because of its
    column, for bands because of its row."""


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
    fitting: Fitting
    places: Places


class Strips(Group):
    """What a thread writes solutions with."""

    state: NDArray[np.int64]
    """int64 (3): see LEFT, AT and SKIP."""
    fitting: NDArray[np.int64]
    """int64 (3): how many words of P, Q and R fit."""
    found: NDArray[np.int32]
    """int32 (3, MOST_FITTING): these words, as indices of ``Words``."""
    digits: NDArray[np.uint8]
    """uint8 (9): what is written for every digit."""
    names: NDArray[np.int64]
    """int64 (6): what becomes of the names of every line."""
    theirs: NDArray[np.uint8]
    """uint8 (3, 3, 9): by crossing role, summed role and digit: the first cell of the box, and the
    offset because of the summed line's word."""
    strips: NDArray[np.uint8]
    """uint8 (3 * MOST_FITTING * STRIP): the strips of the words of P, Q and R."""
    united: NDArray[np.uint8]
    """uint8 (STRIP): a strip of P and one of Q."""


def make_strips() -> Strips:
    """Room for the strips of a thread, half a MB of it."""
    return Strips(
        state=(np.int64, (3,)),
        fitting=(np.int64, (3,)),
        found=(np.int32, (3, MOST_FITTING)),
        digits=(np.uint8, (9,)),
        names=(np.int64, (6,)),
        theirs=(np.uint8, (3, 3, 9)),
        strips=(np.uint8, (3 * MOST_FITTING * STRIP,)),
        united=(np.uint8, (STRIP,)),
    )


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


def write_solutions(cursor, count, form, known, walk, permutations, strips, out):
    """Write so many solutions from a cursor on; there must be so many.

    form          uint8 (10)     what is written for the digits 1 to 9, and behind a solution; a
                                 zero if there is to be nothing
    permutations  ``Tables.permutations``
    out           uint8: ``count`` solutions of 81 bytes, and what is behind, then SPARE bytes
    """
    state = strips.state
    state[LEFT], state[AT], state[SKIP] = count, 0, cursor[OFFSET]
    position, c, cell = cursor[POSITION], cursor[ENTRY_C], cursor[CELL]
    while state[LEFT] > 0:
        for digit in range(9):
            strips.digits[digit] = form[walk.digits[position, digit]]
        for line in range(6):
            strips.names[line] = walk.names[position, line]
        b, a = np.int64(walk.pairs[position, 0]), np.int64(walk.pairs[position, 1])
        _write_pair(b, a, c, cell, form[9], known, strips, out)
        position, c, cell = position + 1, 0, 0


@jitable
def _write_pair(b, a, c, cell, end, known, strips, out):
    """Write the solutions of a pair from a cell of an entry of C on, or as many as are left."""
    operands, roles, state = known.operands, known.roles, strips.state
    in_p = known.tensors.entries[roles.tensor[P]]
    in_q, in_r = known.tensors.entries[roles.tensor[Q]], known.tensors.entries[roles.tensor[R]]
    first, last = operands.start[B, b], operands.start[B, b + 1]
    for one in range(c, operands.start[C, -1]):
        entry = operands.entries[C, one]
        if in_p[_row(P, entry[P], a, roles) + b] == 0:
            continue
        _find_fitting(P, a, b, entry[P], known, strips)
        k = operands.start[A, a] + (cell // (last - first) if one == c else 0)
        skipped = cell % (last - first) if one == c else 0
        while k < operands.start[A, a + 1]:
            outer = operands.entries[A, k]
            row_q, row_r = _row(Q, entry[Q], outer[Q], roles), _row(R, entry[R], outer[R], roles)
            for l in range(first + skipped, last):  # noqa: E741 - as in the formula
                other = operands.entries[B, l]
                if in_q[row_q + other[Q]] != 0 and in_r[row_r + other[R]] != 0:
                    _find_fitting(Q, outer[Q], other[Q], entry[Q], known, strips)
                    _find_fitting(R, outer[R], other[R], entry[R], known, strips)
                    _write_cell(k, l, one, end, known, strips, out)
                    if state[LEFT] == 0:
                        return
            k, skipped = k + 1, 0


@jitable
def _find_fitting(crossing, a, b, c, known, strips):
    """Find the words of a crossing role that fit numbers of A, B and C."""
    fitting, found = known.fitting, strips.found[crossing]
    start = known.words.start[known.roles.crossing[crossing]]
    width, count = fitting.width[crossing], 0
    sets = fitting.sets[crossing]
    for w in range(width):
        both = sets[A, a * width + w] & sets[B, b * width + w] & sets[C, c * width + w]
        while both != 0:
            e = WORD * w + lowest_index(both)
            both &= both - ONE
            for word in range(start[e], start[e + 1]):
                found[count] = word
                count += 1
    strips.fitting[crossing] = count


@jitable
def _write_cell(k, l, c, end, known, strips, out):  # noqa: E741 - as in the formula
    """Write the solutions of a cell that are not to be skipped, or as many as are left."""
    state = strips.state
    first_k, count_k = _words_of(A, k, known)
    first_l, count_l = _words_of(B, l, known)
    first_c, count_c = _words_of(C, c, known)
    one_choice = strips.fitting[P] * strips.fitting[Q] * strips.fitting[R]
    choice, skip = state[SKIP] // one_choice, state[SKIP] % one_choice
    state[SKIP] = 0
    while choice < count_k * count_l * count_c and state[LEFT] > 0:
        _place(A, first_k + choice // (count_l * count_c), known, strips)
        _place(B, first_l + choice // count_c % count_l, known, strips)
        _place(C, first_c + choice % count_c, known, strips)
        for crossing in range(3):
            _write_strips(crossing, end if crossing == P else np.uint8(0), known, strips)
        _multiply(skip, 81 + (end != 0), strips, out)
        choice, skip = choice + 1, 0


@jitable
def _words_of(summed, entry, known):
    """Return the first word, and the number of words, of an entry of a summed role."""
    line, e = known.roles.summed[summed], known.operands.listed[summed, entry]
    first = np.int64(known.words.start[line, e])
    return first, known.words.start[line, e + 1] - first


@jitable
def _place(summed, word, known, strips):
    """Let a word of a summed role say in which column (or row) each digit stands."""
    line, places = known.roles.summed[summed], known.places
    names = strips.names[line]
    for crossing in range(3):
        x = known.roles.crossing[crossing]
        band, stack = max(line, x) - 3, min(line, x)
        box = np.uint8(27 * band + 3 * stack)
        number = places.number[known.words.codes[line, word, x % 3]]
        offsets, theirs = places.offsets[line // 3, names, number], strips.theirs[crossing, summed]
        for digit in range(9):
            theirs[digit] = box + offsets[digit]


@jitable
def _write_strips(crossing, end, known, strips):
    """Write the strips of the words of a crossing role that fit."""
    x, places, summed = known.roles.crossing[crossing], known.places, known.roles.summed
    names, codes = strips.names[x], known.words.codes[x]
    for i in range(strips.fitting[crossing]):
        first = (crossing * MOST_FITTING + i) * STRIP
        strip = strips.strips[first : first + STRIP]
        for byte in range(STRIP):
            strip[byte] = 0
        strip[81] = end
        word = codes[strips.found[crossing, i]]
        for other in range(3):
            offsets = places.offsets[x // 3, names, places.number[word[summed[other] % 3]]]
            theirs = strips.theirs[crossing, other]
            for digit in range(9):
                strip[offsets[digit] + theirs[digit]] = strips.digits[digit]


@jitable
def _multiply(skip, width, strips, out):
    """Write all unions of three strips, from one of them on, or as many as are left."""
    state, united = strips.state, strips.united
    in_q, in_r = strips.fitting[Q], strips.fitting[R]
    first_q, first_r = MOST_FITTING * STRIP, 2 * MOST_FITTING * STRIP
    pair, inner, left, at = skip // in_r, skip % in_r, state[LEFT], state[AT]
    while pair < strips.fitting[P] * in_q and left > 0:
        one, other = pair // in_q * STRIP, first_q + pair % in_q * STRIP
        for part in range(0, STRIP, WIDE):
            unite(strips.strips, one + part, strips.strips, other + part, united, part)
        last = min(in_r, inner + left)
        for i in range(inner, last):
            strip = first_r + i * STRIP
            for part in range(0, STRIP, WIDE):
                unite(united, part, strips.strips, strip + part, out, at + part)
            at += width
        left -= last - inner
        pair, inner = pair + 1, 0
    state[LEFT], state[AT] = left, at
