"""Rows of text, put together from pieces.

A piece is a span of one buffer that holds whatever stands in any row. Places in buffers are made
unsigned where they are used: a signed index is first looked at for being negative, and a loop with
that look inside is not vectorised, which is three times slower.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, int64, types, uint8

from gpusudoku.kernels.kernel import kernel
from gpusudoku.kernels.text.boards import BYTES

QUOTE, FIRST_PLAIN, LAST_PLAIN = ord('"'), ord(" "), ord("~")
SPANS = types.Array(types.int64, 2, "C", readonly=True)


@kernel(BYTES, SPANS, SPANS, uint8[::1])
def join(data, starts, ends, out):
    """Put all rows one behind the other; returns how many bytes they have.

    ``data[starts[p, b] : ends[p, b]]`` is piece p of row b, for int64 (P, B). ``out`` is as long
    as all pieces, at least.
    """
    place = 0
    for row in range(starts.shape[1]):
        for piece in range(starts.shape[0]):
            start = starts[piece, row]
            length = ends[piece, row] - start
            for i in range(length):
                out[np.uint64(place + i)] = data[np.uint64(start + i)]
            place += length
    return place


@kernel(BYTES, SPANS, SPANS, int64, boolean[::1])
def find_odd(data, starts, ends, sign, odd):
    """Mark the rows in which a piece has more than plain characters, or a quote, or the sign.

    Pieces are as for ``join``; plain characters are those of ASCII from the blank to the tilde.
    ``odd`` is bool (B).
    """
    for row in range(starts.shape[1]):
        found: np.bool_ = np.bool_(False)
        for piece in range(starts.shape[0]):
            start = starts[piece, row]
            for i in range(ends[piece, row] - start):
                byte = np.int64(data[np.uint64(start + i)])
                found |= (byte < FIRST_PLAIN) | (byte > LAST_PLAIN)
                found |= (byte == QUOTE) | (byte == sign)
        odd[row] = found
