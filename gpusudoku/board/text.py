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
_TOGETHER = 1 << 11
"""Boards whose characters are made together: so many stay in the processor's cache."""


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


def as_characters(cells: NDArray[np.uint8], room: int = 0) -> NDArray[np.uint8]:
    """The characters of many boards, uint8 (B, n * n), of at most 35 digits.

    Returns
    -------
    uint8 (B, n * n + room)
        What stands in the room behind each board has no meaning.
    """
    boards, size = cells.shape
    lines = np.empty((boards, size + room), np.uint8)
    for start in range(0, boards, _TOGETHER):
        part = lines[start : start + _TOGETHER]
        part[:, :size] = cells[start : start + _TOGETHER]
        codes = part.reshape(-1)  # arithmetic on one row of bytes is a few bytes a cycle quicker
        empty = (codes == 0).view(np.uint8)
        if size > 9 * 9:
            codes += (ord("A") - ord("9") - 1) * (codes > 9).view(np.uint8)
        codes += ord("0")
        codes -= (ord("0") - ord(".")) * empty
    return lines
