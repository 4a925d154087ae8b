"""What a byte stands for, the same in Python and in kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

UNKNOWN = 255
"""The value of a byte that is no symbol. It is above every digit, so that no board accepts it."""
DASH = ord("-")


def value_of(symbol: Any, zero: Any) -> Any:
    """The value of a symbol: ``1-9`` and ``A-Z`` or ``a-z`` are 1 to 35, ``.*_-?`` are 0.

    It is no table, and has no branches, so that compiled code works on many bytes at once.

    symbol    0 .. 255
    zero      the value of ``0``: 0, or ``UNKNOWN`` where it may be a digit
    """
    digit = np.uint8((symbol - 48) & 255)
    letter = np.uint8(((symbol | 32) - 97) & 255)
    empty = (symbol == 46) | (symbol == 42) | (symbol == 95) | (symbol == 45) | (symbol == 63)
    value = np.uint8(0) if empty else np.uint8(UNKNOWN)
    value = np.uint8(letter + 10) if letter < 26 else value
    value = digit if digit < 10 else value
    return np.uint8(zero) if digit == 0 else value
