"""Packing boards: from cells to the rows that ``shape`` draws."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpusudoku.kernels.parts import Jit
from gpusudoku.kernels.search.moves import build_moves
from gpusudoku.kernels.search.shape import Shape


def build_pack(shape: Shape, jit: Jit) -> Callable[..., None]:
    """Make ``pack(cells, words, bits, boards)``.

    Packs uint8 (B, n * n) cells, 0 for empty, into (B, words) boards. A board whose clues
    contradict each other comes out without candidates, so that any search finds it dead. ``words``
    and ``bits`` are the shape's ``places``.
    """
    n, K, planes, every = shape.n, shape.plane_words, shape.planes, shape.word(shape.cells)
    place = build_moves(shape, jit).place

    @jit
    def pack(cells, words, bits, boards):
        columns = boards.T
        for b in range(cells.shape[0]):
            for w in range(planes):
                columns[w, b] = every
            for w in range(planes, columns.shape[0]):
                columns[w, b] = 0
            for cell in range(n * n):
                digit = np.int64(cells[b, cell]) - 1
                if digit < 0:
                    continue
                j, bit = words[cell], bits[cell]
                if columns[K * digit + j, b] & bit == 0:
                    for w in range(planes):
                        columns[w, b] = 0
                    break
                for d in range(n):
                    if d != digit:
                        columns[K * d + j, b] &= ~bit
                place(columns, b, digit, j, bit)

    return pack
