"""Solutions as products of words, written about as fast as memory takes them.

Given words of the summed lines A, B and C, the crossing lines are independent: every word of P that
is orthogonal to those three goes with every such word of Q and of R. Each fills in 27 cells of its
own. So each gets a strip, and a solution is the union of three strips. Nothing is searched, and no
cell is looked at by itself. Solutions come in contraction order; see ``order``.

Stage: ``write_solutions``, which writes ``Strips``.
"""

from __future__ import annotations

import numpy as np

from gpusudoku.kernels.bits import ONE, lowest_index
from gpusudoku.kernels.contraction.nine.arrays import A, B, C, P, Q, R
from gpusudoku.kernels.contraction.nine.order import REMAINDER, WORD
from gpusudoku.kernels.contraction.nine.strips import (
    AT,
    CELLS,
    END,
    FOR,
    LEFT,
    PREPARED,
    SKIP,
    STRIP,
    WIDE,
    cell_of,
    choose_strips,
    place_word,
    prepare_pair,
    relabel,
    unite,
    words_of,
    write_strips,
)
from gpusudoku.kernels.kernel import jitable

SPARE = STRIP - CELLS
"""Bytes that are written behind the last solution, at most."""
ORBIT, POSITION = range(4, 6)
"""Fields of a cursor, after those of a cell of ``find_cells``: the orbit, and the position of the
pair. Its REMAINDER is not divided."""


def write_solutions(cursor, count, known, strips, out):
    """Write so many solutions from one of them on; there must be so many.

    cursor    int64 (6)    where the first is: see ORBIT
    out       uint8        ``count`` solutions of CELLS bytes, and of one more if there is what ends
                           each; then SPARE bytes
    """
    state = strips.state
    orbits = known.orbits
    state[LEFT], state[AT], state[SKIP] = count, 0, cursor[REMAINDER]
    orbit = cursor[ORBIT]
    position = cursor[POSITION]
    b = np.int64(orbits.pairs[orbit, 0])
    a = np.int64(orbits.pairs[orbit, 1])
    k, l, c = cursor[A], cursor[B], cursor[C]  # noqa: E741 - as in the formula of the sum
    strips.placed[:] = -1
    while True:
        relabel(position, known.relabelling, known.boxes, strips)
        if state[FOR] != position:
            state[FOR], state[PREPARED] = position, prepare_pair(b, a, known, strips)
        _write_pair(b, a, k, l, c, known, strips, out)
        if state[LEFT] == 0:
            return
        position += 1
        if position == orbits.first[orbit + 1]:
            orbit += 1
            b = np.int64(orbits.pairs[orbit, 0])
            a = np.int64(orbits.pairs[orbit, 1])
        k, l, c = known.operands.start[A, a], known.operands.start[B, b], 0  # noqa: E741


@jitable
def _write_pair(b, a, k, l, c, known, strips, out):  # noqa: E741 - as in the formula of the sum
    """Write the solutions of a pair from a cell on, or as many as are left."""
    operands = known.operands
    roles = known.roles
    state = strips.state
    in_p = roles.tensor[P]
    in_q = roles.tensor[Q]
    in_r = roles.tensor[R]
    tensors = known.tensors.entries
    starts = operands.start
    for i in range(c, starts[C, -1]):
        of_c = operands.entries[C, i]
        ways = tensors[in_p, _row(P, of_c[P], a, roles) + b]
        if ways == 0:
            continue
        _find_fitting(P, a, b, of_c[P], ways, known, strips)
        while k < starts[A, a + 1]:
            of_a = operands.entries[A, k]
            row_q = _row(Q, of_c[Q], of_a[Q], roles)
            row_r = _row(R, of_c[R], of_a[R], roles)
            for j in range(l, starts[B, b + 1]):
                of_b = operands.entries[B, j]
                ways_q = tensors[in_q, row_q + of_b[Q]]
                ways_r = tensors[in_r, row_r + of_b[R]]
                if ways_q != 0 and ways_r != 0:
                    for crossing, some in (Q, ways_q), (R, ways_r):
                        if state[PREPARED]:
                            x = roles.crossing[crossing]
                            strips.fitting[crossing] = some * known.lists.divisor[x]
                        else:
                            these = of_a[crossing], of_b[crossing], of_c[crossing]
                            _find_fitting(crossing, *these, some, known, strips)
                    _write_cell(cell_of(b, a, k, j, starts), k, j, i, known, strips, out)
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
    x = known.roles.crossing[crossing]
    fitting = known.fitting
    found = strips.found[crossing]
    start = known.words.start[x]
    sets = fitting.sets[crossing]
    width = fitting.width[crossing]
    some = ways * known.lists.divisor[x]
    count = 0
    w = 0
    of_a = sets[A, a * width :]
    of_b = sets[B, b * width :]
    of_c = sets[C, c * width :]
    while count < some:
        all_three = of_a[w] & of_b[w] & of_c[w]
        while all_three != 0:
            e = WORD * w + lowest_index(all_three)
            all_three &= all_three - ONE
            for word in range(start[e], start[e + 1]):
                found[count] = word
                count += 1
        w += 1
    strips.fitting[crossing] = count
    strips.stale[crossing] = True


@jitable
def _write_cell(cell, k, l, c, known, strips, out):  # noqa: E741 - as in the formula of the sum
    """Write the solutions of a cell that are not to be skipped, or as many as are left."""
    state = strips.state
    products = strips.fitting[P] * strips.fitting[Q] * strips.fitting[R]
    skip = state[SKIP]
    choice = strips.choice[cell]
    state[SKIP] = 0
    for word_k in words_of(A, k, known):
        for word_l in words_of(B, l, known):
            for word_c in words_of(C, c, known):
                if skip >= products:
                    skip -= products
                    continue
                place_word(A, word_k, known, strips)
                place_word(B, word_l, known, strips)
                place_word(C, word_c, known, strips)
                for crossing in range(3):
                    if crossing != P and state[PREPARED]:
                        choose_strips(crossing, choice, known, strips)
                    elif strips.stale[crossing]:
                        write_strips(crossing, known, strips)
                _multiply(skip, strips, out)
                if state[LEFT] == 0:
                    return
                skip = 0
            choice += 1


@jitable
def _multiply(skip, strips, out):
    """Write all unions of three strips, from one of them on, or as many as are left."""
    state = strips.state
    all_strips = strips.strips
    united = strips.united
    at = strips.at
    in_p = strips.fitting[P]
    in_q = strips.fitting[Q]
    in_r = strips.fitting[R]
    left = state[LEFT]
    to = state[AT]
    width = CELLS + (strips.form[END] != 0)
    p = skip // (in_q * in_r)
    q = skip // in_r % in_q
    r = skip % in_r
    while left > 0 and p < in_p:
        of_p = np.int64(at[P, p])
        of_q = np.int64(at[Q, q])
        for part in range(0, STRIP, WIDE):
            unite(all_strips, of_p + part, all_strips, of_q + part, united, part)
        last = min(in_r, r + left)
        for i in range(r, last):
            of_r = np.int64(at[R, i])
            for part in range(0, STRIP, WIDE):
                unite(united, part, all_strips, of_r + part, out, to + part)
            to += width
        left -= last - r
        r = 0
        q = q + 1
        if q == in_q:
            p = p + 1
            q = 0
    state[LEFT], state[AT] = left, to
