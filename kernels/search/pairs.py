"""Naked and hidden pairs.

The cells that share a unit with both of two cells p and q (which share one themselves) are exactly
the other cells of the units that p and q share; as a mask: ``~(nonpeers[p] | nonpeers[q])``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpusudoku.kernels.bits import ONE, ZERO, lowest_index, ones, popcount
from gpusudoku.kernels.jit import Jit
from gpusudoku.kernels.search.layout import Layout
from gpusudoku.kernels.search.settings import CHANGED, OPEN


def build_strike_pair(layout: Layout, jit: Jit) -> Callable[..., bool]:
    """Make ``strike_pair(s, nonpeers, d, e, p, q)``: take digits d, e from all units of p and q.

    d and e (counted from 0) stand in the cells of indices p and q in one order or the other.
    Returns whether a candidate was removed.
    """
    W, pending = layout.plane_words, layout.pending

    @jit
    def strike_pair(s, nonpeers, d, e, p, q):
        changed = False
        for w in range(W):
            shared = ~(nonpeers[p, w] | nonpeers[q, w])
            if (s[d * W + w] | s[e * W + w]) & shared != ZERO:
                s[d * W + w] &= ~shared
                s[e * W + w] &= ~shared
                s[pending] |= (ONE << np.uint64(d)) | (ONE << np.uint64(e))
                changed = True
        return changed

    return strike_pair


def build_naked_pairs(layout: Layout, jit: Jit) -> Callable[..., int]:
    """Make ``naked_pairs(s, scratch, nonpeers)``: two cells of a unit with the same two candidates.

    Both digits are removed from the other cells of every unit that the two cells share. Needs the
    cells with two candidates in scratch[W:2W], as ``survey`` leaves them. Returns CHANGED or OPEN.
    """
    n, W = layout.n, layout.plane_words
    strike_pair = build_strike_pair(layout, jit)

    @jit
    def naked_pairs(s, scratch, nonpeers):
        changed = False
        for w in range(W):
            cells = scratch[W + w]
            while cells != ZERO:
                bit = cells & (~cells + ONE)
                cells ^= bit
                p = 64 * w + lowest_index(bit)
                d, e = -1, -1
                for digit in range(n):
                    if s[digit * W + w] & bit != ZERO:
                        d, e = e, digit
                if d < 0:  # an earlier pair has taken a candidate since
                    continue
                for v in range(w, W):
                    partners = s[d * W + v] & s[e * W + v] & scratch[W + v] & ~nonpeers[p, v]
                    while partners != ZERO:
                        q = 64 * v + lowest_index(partners)
                        partners &= partners - ONE
                        if q > p and strike_pair(s, nonpeers, d, e, p, q):
                            changed = True
        return CHANGED if changed else OPEN

    return naked_pairs


def build_hidden_pairs(layout: Layout, jit: Jit) -> Callable[..., int]:
    """Make ``hidden_pairs(s, scratch, nonpeers)``: two digits with the same two places in a unit.

    All other digits are removed from the two cells, and the two digits from the other cells of
    every unit that the cells share. Returns CHANGED or OPEN.
    """
    n, R, C = layout.n, layout.box_rows, layout.box_columns
    K, W, pending = layout.rows_per_word, layout.plane_words, layout.pending
    places = 2 * W
    row_cells, box_cells = ones(n), ones(C)
    strike_pair = build_strike_pair(layout, jit)

    @jit
    def row_of(s, d, r):
        return (s[d * W + r // K] >> np.uint64(r % K * n)) & row_cells

    @jit
    def places_in(s, d, kind, i):
        """The places of digit d in unit i of a kind (row, column, box) as an n-bit mask."""
        if kind == 0:
            return row_of(s, d, i)
        mask = ZERO
        if kind == 1:
            for r in range(n):
                mask |= ((row_of(s, d, r) >> np.uint64(i)) & ONE) << np.uint64(r)
            return mask
        for k in range(R):
            x = (row_of(s, d, i // R * R + k) >> np.uint64(i % R * C)) & box_cells
            mask |= x << np.uint64(k * C)
        return mask

    @jit
    def slot_in(kind, i, place):
        r, c = i, place
        if kind == 1:
            r, c = place, i
        elif kind == 2:
            r, c = i // R * R + place // C, i % R * C + place % C
        return 64 * (r // K) + r % K * n + c

    @jit
    def hidden_pairs(s, scratch, nonpeers):
        changed = False
        for kind in range(3):
            for i in range(n):
                for d in range(n):
                    mask = places_in(s, d, kind, i)
                    if popcount(mask) != 2:
                        mask = ZERO
                    scratch[places + d] = mask
                    if mask == ZERO:
                        continue
                    for e in range(d):
                        if scratch[places + e] != mask:
                            continue
                        p = slot_in(kind, i, lowest_index(mask))
                        q = slot_in(kind, i, lowest_index(mask & (mask - ONE)))
                        if strike_pair(s, nonpeers, d, e, p, q):
                            changed = True
                        for f in range(n):
                            if f == d or f == e:  # noqa: SIM109 - no tuples in a kernel
                                continue
                            for index in (p, q):
                                bit = ONE << np.uint64(index % 64)
                                if s[f * W + index // 64] & bit != ZERO:
                                    s[f * W + index // 64] ^= bit
                                    s[pending] |= ONE << np.uint64(f)
                                    changed = True
        return CHANGED if changed else OPEN

    return hidden_pairs
