"""The canonical line of a board: ``.`` for an empty cell, 1-9 and A-Z for the digits.

Above 35 digits it is numbers separated by commas, 0 for an empty cell. A board with given
candidates has a separate form, which every reader refuses. ``formats`` knows all other forms.
"""

from __future__ import annotations

from math import isqrt

import numpy as np
from numpy.typing import NDArray

DIGITS = b"123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""The characters of the digits from 1 to 35."""

_CHARACTERS = (b"." + DIGITS).ljust(256)
_TAIL = 128
"""From this code on, the table for whole lines holds the characters of a tail."""
_LINES = (b"." + DIGITS).ljust(_TAIL) + bytes(range(_TAIL))


def write_cells(cells: NDArray[np.uint8]) -> str:
    """Write the canonical line of one board, uint8 (n * n)."""
    if isqrt(cells.size) > len(DIGITS):
        return ",".join(map(str, cells.tolist()))
    return cells.tobytes().translate(_CHARACTERS).decode()


def write_candidates(masks: NDArray[np.uint64], n: int) -> str:
    """Write every cell's candidates in braces, as in ``{123}{4}{59}``, for uint64 (n * n) masks.

    Above 35 digits they are numbers separated by commas.
    """
    wide = n > len(DIGITS)
    digits = [str(d) for d in range(1, n + 1)] if wide else list(DIGITS.decode())
    cells = (
        ("," if wide else "").join(digits[d] for d in range(n) if mask >> d & 1)
        for mask in masks.tolist()
    )
    return "".join(f"{{{cell}}}" for cell in cells)


def write_lines(cells: NDArray[np.uint8], tails: NDArray[np.bytes_] | None = None) -> bytes:
    """Write the canonical lines of many boards, uint8 (k, n * n), each with a newline.

    ``tails``, bytes (k), is ASCII text to put at the end of each line.
    """
    n = isqrt(cells.shape[1])
    if tails is None:
        tails = np.full(len(cells), b"")
    if n > len(DIGITS):
        rows = zip(cells.tolist(), tails.tolist(), strict=True)
        return b"".join(
            [b"%b%b\n" % (",".join(map(str, row)).encode(), tail) for row, tail in rows]
        )
    width = tails.dtype.itemsize
    lines = np.empty((len(cells), n * n + width + 1), np.uint8)
    lines[:, : n * n] = cells
    # Codes that no digit has: as they are, but for the padding, which is left out again.
    lines[:, n * n : -1] = tails.view(np.uint8).reshape(len(cells), width) + _TAIL
    lines[:, -1] = _TAIL + ord("\n")
    return lines.tobytes().translate(_LINES, bytes([_TAIL]))
