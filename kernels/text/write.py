"""Rows of text, put together from pieces.

A piece is a span of one buffer that holds whatever stands in any row.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, types, uint8

from gpusudoku.kernels.bits import ONE
from gpusudoku.kernels.kernel import kernel
from gpusudoku.kernels.text.boards import BYTES
from gpusudoku.kernels.text.values import QUOTE, SPACE, WIDE
from gpusudoku.kernels.text.wide import copy, stops, write_cells

TILDE = ord("~")
SPANS = types.Array(types.int64, 2, "C", readonly=True)


@kernel(BYTES, boolean[::1], SPANS, SPANS, uint8[::1])
def join(data, boards, starts, ends, out):
    """Put all rows one behind the other; returns how many bytes they have.

    ``data[starts[p, b] : ends[p, b]]`` is piece p of row b, for int64 (P, B). Where ``boards``,
    bool (P), is true, it is the values of a board, of at most 35 digits, and its line is written.
    ``data`` has ``WIDE`` bytes more, and ``out`` is as long as all pieces, and ``WIDE`` longer.
    """
    place = 0
    for row in range(starts.shape[1]):
        for piece in range(starts.shape[0]):
            start, end = starts[piece, row], ends[piece, row]
            # What is copied beyond a piece is overwritten by the next.
            if boards[piece]:
                for done in range(0, end - start, WIDE):
                    write_cells(data, start + done, out, place + done)
            else:
                copy(data, start, out, place)
                for done in range(WIDE, end - start, WIDE):
                    copy(data, start + done, out, place + done)
            place += end - start
    return place


@kernel(BYTES, SPANS, SPANS, uint8, boolean[::1])
def find_odd(data, starts, ends, sign, odd):
    """Mark the rows in which a text has more than plain characters, or a quote, or the sign.

    ``data[starts[b, c] : ends[b, c]]`` is text c of row b, for int64 (B, C); plain characters are
    those of ASCII from the blank to the tilde. ``odd`` is bool (B).
    """
    for row in range(starts.shape[0]):
        found: np.bool_ = np.bool_(False)
        for column in range(starts.shape[1]):
            place, end = starts[row, column], ends[row, column]
            while place < end and place + WIDE <= len(data):
                these = (ONE << np.uint64(min(end - place, WIDE))) - ONE
                found |= (stops(data, place, sign, TILDE) & these) != 0
                place += WIDE
            for k in range(place, end):
                byte = data[k]
                found |= (byte < SPACE) | (byte > TILDE) | (byte == QUOTE) | (byte == sign)
        odd[row] = found
