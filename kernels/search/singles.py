"""Naked and hidden singles, for all cells of a board at once; the 9x9 search has ``nine/step``.

Sixty-four cells are looked at per instruction. Over the planes of all digits, ``one``, ``two`` and
``three`` collect the cells that have at least one, two and three candidates; a cell in one but not
in two is a naked single. For hidden singles the same is done over the rows of one plane: a column
in one but not in two has a single place for that digit, likewise a box after folding its columns.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpusudoku.kernels.bits import ONE, ZERO, lowest_index, ones, popcount
from gpusudoku.kernels.jit import Jit
from gpusudoku.kernels.search.layout import Layout
from gpusudoku.kernels.search.settings import CHANGED, DEAD, OPEN, SOLVED


def build_survey(layout: Layout, jit: Jit) -> Callable[..., int]:
    """Make ``survey(s, scratch)``: find the cells with no, one and two candidates.

    Leaves the unfixed cells with one candidate in scratch[:W], those with two in scratch[W:2W].
    Returns DEAD, CHANGED (there are cells with one), OPEN or SOLVED.
    """
    n, W, fixed = layout.n, layout.plane_words, layout.fixed
    whole, last = layout.whole_word, layout.last_word

    @jit
    def survey(s, scratch):
        missing, singles, more = ZERO, ZERO, ZERO
        for w in range(W):
            one, two, three = ZERO, ZERO, ZERO
            for d in range(n):
                x = s[d * W + w]
                three |= two & x
                two |= one & x
                one |= x
            cells = last if w == W - 1 else whole
            missing |= one ^ cells
            single = cells & ~two & ~s[fixed + w]
            scratch[w] = single
            scratch[W + w] = two & ~three
            singles |= single
            more |= two
        if missing != ZERO:
            return DEAD
        if singles != ZERO:
            return CHANGED
        return OPEN if more != ZERO else SOLVED

    return survey


def build_fix_singles(layout: Layout, jit: Jit) -> Callable[..., None]:
    """Make ``fix_singles(s, scratch, nonpeers)``: fix all the cells that ``survey`` found."""
    n, W, fixed, pending = layout.n, layout.plane_words, layout.fixed, layout.pending

    @jit
    def fix_singles(s, scratch, nonpeers):
        for w in range(W):
            s[fixed + w] |= scratch[w]
        changed = ZERO
        for d in range(n):
            hit = ZERO
            for w in range(W):
                hit |= s[d * W + w] & scratch[w]
            if hit == ZERO:
                continue
            changed |= ONE << np.uint64(d)
            for w in range(W):
                x = s[d * W + w] & scratch[w]
                while x != ZERO:
                    index = 64 * w + lowest_index(x)
                    x &= x - ONE
                    # Two equal singles in one unit remove each other: the next survey is DEAD.
                    for v in range(W):
                        s[d * W + v] &= nonpeers[index, v]
        s[pending] |= changed

    return fix_singles


def build_hidden_singles(layout: Layout, jit: Jit) -> Callable[..., int]:
    """Make ``hidden_singles(s, scratch)``: strike all else where a digit has its only place.

    Looks at the pending digits and those that change on the way. Returns DEAD if a digit has no
    place in some unit, CHANGED if a candidate was struck (the cell is a naked single now), or OPEN.
    """
    n, R, C = layout.n, layout.box_rows, layout.box_columns
    K, W = layout.rows_per_word, layout.plane_words
    fixed, pending = layout.fixed, layout.pending
    rows = 2 * W
    boxes = rows + n
    row_cells, box_cells = ones(n), ones(C)
    lefts = np.uint64(sum(1 << c for c in range(0, n, C)))

    @jit
    def hidden_singles(s, scratch):
        changed = False
        todo = s[pending]
        while todo != ZERO:
            d = lowest_index(todo)
            todo &= todo - ONE
            standing = 0
            for w in range(W):
                standing += popcount(s[d * W + w] & s[fixed + w])
            if standing == n:
                continue
            found = 0  # units with one place left for d, those where it stands included
            column_one, column_two = ZERO, ZERO
            for band in range(C):
                one, two = ZERO, ZERO
                for r in range(band * R, band * R + R):
                    x = (s[d * W + r // K] >> np.uint64(r % K * n)) & row_cells
                    if x == ZERO:
                        return DEAD
                    scratch[rows + r] = x
                    if x & (x - ONE) == ZERO:
                        found += 1
                    two |= one & x
                    one |= x
                column_two |= two | (column_one & one)
                column_one |= one
                # Fold the C columns of every box onto its leftmost one.
                box_one, box_two = one, two
                for c in range(1, C):
                    shifted = one >> np.uint64(c)
                    box_two |= (two >> np.uint64(c)) | (box_one & shifted)
                    box_one |= shifted
                if box_one & lefts != lefts:
                    return DEAD
                single = box_one & ~box_two & lefts
                found += popcount(single)
                scratch[boxes + band] = single * box_cells
            if column_one != row_cells:
                return DEAD
            columns = column_one & ~column_two
            if found + popcount(columns) == 3 * standing:
                continue
            for w in range(W):
                hidden = ZERO
                for r in range(w * K, min(w * K + K, n)):
                    x = scratch[rows + r]
                    if x & (x - ONE) != ZERO:
                        x &= columns | scratch[boxes + r // R]
                    hidden |= x << np.uint64(r % K * n)
                hidden &= ~s[fixed + w]
                if hidden == ZERO:
                    continue
                for e in range(n):
                    x = s[e * W + w] & hidden
                    if e != d and x != ZERO:
                        s[e * W + w] ^= x
                        todo |= ONE << np.uint64(e)
                        changed = True
            if changed:
                break
        s[pending] = todo
        return CHANGED if changed else OPEN

    return hidden_singles
