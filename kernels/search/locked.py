"""Locked candidates: digits that a box and a line (a row or a column) have where they meet.

If the places of a digit in a box all lie in one line, the digit leaves the rest of the line: the
box *points*. If its places in a line all lie in one box, it leaves the rest of the box: the line
*claims* it. For the rows of a band this is seen from which row has places in which box, one bit
each. A row with one bit claims, a box with one bit points; and where the boxes that are claimed
are those that point, there is nothing to strike. The same holds for bands and columns.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpusudoku.kernels.bits import ONE, ZERO, lowest_index, ones, popcount
from gpusudoku.kernels.jit import Jit
from gpusudoku.kernels.search.layout import Layout
from gpusudoku.kernels.search.settings import CHANGED, DEAD, OPEN


def build_locked_candidates(layout: Layout, jit: Jit) -> Callable[..., int]:
    """Make ``locked_candidates(s, scratch, digits)``: look at each of a word of digits once.

    Returns DEAD if a digit has no place in some unit, or needs two in one; CHANGED if a candidate
    was struck, or OPEN.
    """
    n, R, C = layout.n, layout.box_rows, layout.box_columns
    K, W = layout.rows_per_word, layout.plane_words
    fixed, pending = layout.fixed, layout.pending
    rows, bands = 2 * W, 2 * W
    pointers = bands + C
    row_cells, box_cells = ones(n), ones(C)
    lefts = np.uint64(sum(1 << c for c in range(0, n, C)))

    @jit
    def lock_rows(s, scratch, d, band):
        """Strike digit d within the rows of a band."""
        one, two, claimed, clash = ZERO, ZERO, ZERO, ZERO
        for r in range(band * R, band * R + R):
            x = (s[d * W + r // K] >> np.uint64(r % K * n)) & row_cells
            # Fold the C columns of every box onto its leftmost one.
            boxes = x
            for c in range(1, C):
                boxes |= x >> np.uint64(c)
            boxes &= lefts
            if boxes == ZERO:
                return DEAD
            scratch[rows + r] = boxes
            two |= one & boxes
            one |= boxes
            if boxes & (boxes - ONE) == ZERO:
                clash |= claimed & boxes
                claimed |= boxes
        if one != lefts or clash != ZERO:
            return DEAD
        pointing = one & ~two
        if pointing == claimed:
            return OPEN
        for r in range(band * R, band * R + R):
            boxes = scratch[rows + r]
            if boxes & (boxes - ONE) == ZERO:
                continue
            left = boxes & pointing
            if left == ZERO:
                left = boxes & ~claimed
            elif left & (left - ONE) != ZERO:
                return DEAD
            if left == ZERO:
                return DEAD
            struck = (boxes ^ left) * box_cells
            s[d * W + r // K] &= ~(struck << np.uint64(r % K * n))
        return CHANGED

    @jit
    def lock_columns(s, scratch, d):
        """Strike digit d within the columns; it has places in every row and box."""
        one, two, pointed, clash = ZERO, ZERO, ZERO, ZERO
        for band in range(C):
            x = ZERO
            for r in range(band * R, band * R + R):
                x |= s[d * W + r // K] >> np.uint64(r % K * n)
            x &= row_cells
            two |= one & x
            one |= x
            box_one, box_two = x, ZERO
            for c in range(1, C):
                shifted = x >> np.uint64(c)
                box_two |= box_one & shifted
                box_one |= shifted
            pointing = x & (lefts & ~box_two) * box_cells
            clash |= pointed & pointing
            pointed |= pointing
            scratch[bands + band] = x
            scratch[pointers + band] = pointing
        if one != row_cells or clash != ZERO:
            return DEAD
        claimed = one & ~two
        if pointed == claimed:
            return OPEN
        for band in range(C):
            x = scratch[bands + band]
            claiming = x & claimed
            box_one, box_two = claiming, ZERO
            for c in range(1, C):
                shifted = claiming >> np.uint64(c)
                box_two |= box_one & shifted
                box_one |= shifted
            if box_two & lefts != ZERO:
                return DEAD
            struck = pointed & ~scratch[pointers + band]
            struck |= (box_one & lefts) * box_cells & ~claiming
            for r in range(band * R, band * R + R):
                s[d * W + r // K] &= ~(struck << np.uint64(r % K * n))
        return CHANGED

    @jit
    def locked_candidates(s, scratch, digits):
        changed = ZERO
        while digits != ZERO:
            d = lowest_index(digits)
            digits &= digits - ONE
            standing = 0
            for w in range(W):
                standing += popcount(s[d * W + w] & s[fixed + w])
            if standing == n:
                continue
            found = False
            for band in range(C):
                status = lock_rows(s, scratch, d, band)
                if status == DEAD:
                    return DEAD
                found |= status == CHANGED
            status = lock_columns(s, scratch, d)
            if status == DEAD:
                return DEAD
            if found or status == CHANGED:
                changed |= ONE << np.uint64(d)
        s[pending] |= changed
        return CHANGED if changed != ZERO else OPEN

    return locked_candidates
