"""Boards of one character for each cell, taken from the places where they stand."""

from __future__ import annotations

import numpy as np
from numba import int64, types, uint8

from gpusudoku.kernels.kernel import inlined, kernel
from gpusudoku.kernels.text.values import DASH, UNKNOWN, value_of

BYTES = types.Array(uint8, 1, "C", readonly=True)
"""Bytes that nobody changes."""


inlined(value_of)


@kernel(BYTES, int64[::1], int64, uint8[:, ::1])
def take_boards(data, starts, n, cells):
    """Take boards up to the first that is not certain; returns how many.

    A board is certain if each of its characters is a digit up to n or a sign for an empty cell. A
    board of 16 digits must not have a ``0``, which may be a digit. One without a digit must not
    have a dash: it may be a rule.

    data      uint8 (bytes)
    starts    int64 (B)             where the n * n characters of each board begin
    cells     uint8 (B, n * n)      the values of the boards that are taken
    """
    zero = UNKNOWN if n == 16 else 0
    for board in range(len(starts)):
        # Slices, because their indices are known not to be negative: so this becomes vectors.
        symbols = data[starts[board] : starts[board] + n * n]
        values = cells[board]
        largest = np.uint8(0)
        for cell in range(len(symbols)):
            value = np.uint8(value_of(symbols[cell], zero))
            values[cell] = value
            largest = max(largest, value)
        if largest > n:
            return board
        if largest == 0:
            for cell in range(len(symbols)):
                if symbols[cell] == DASH:
                    return board
    return len(starts)
