"""Packing boards: from cells to the planes that ``layout`` draws."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpusudoku.kernels.bits import ONE, ZERO
from gpusudoku.kernels.jit import Jit
from gpusudoku.kernels.search.branch import build_place
from gpusudoku.kernels.search.layout import Layout


def build_pack(layout: Layout, jit: Jit) -> Callable[..., None]:
    """Make ``pack(cells, index_of, nonpeers, boards)``.

    Packs uint8 (B, n * n) cells, 0 for empty, into uint64 (B, words) boards. A board whose clues
    contradict each other comes out without candidates, so that any search finds it dead.
    """
    n, W, fixed, pending = layout.n, layout.plane_words, layout.fixed, layout.pending
    whole, last = layout.whole_word, layout.last_word
    place = build_place(layout, jit)

    @jit
    def pack(cells, index_of, nonpeers, boards):
        for b in range(cells.shape[0]):
            s = boards[b]
            for d in range(n):
                for w in range(W):
                    s[d * W + w] = last if w == W - 1 else whole
            for w in range(W):
                s[fixed + w] = ZERO
            s[pending] = ZERO
            for d in range(n):
                s[pending] |= ONE << np.uint64(d)
            for cell in range(n * n):
                digit = np.int64(cells[b, cell]) - 1
                if digit < 0:
                    continue
                index = index_of[cell]
                bit = ONE << np.uint64(index % 64)
                if s[digit * W + index // 64] & bit == ZERO:
                    for i in range(n * W):
                        s[i] = ZERO
                    break
                place(s, nonpeers, digit, index)

    return pack
