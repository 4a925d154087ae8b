"""Alphabets: the symbols of the digits and of an empty cell.

A character is ``1-9``, then ``A-Z`` in either case for the digits 10 to 35; ``. 0 * _`` are empty.
Numbers are decimal, ``0`` and ``. * _`` are empty.

A board of 16 digits may be hexadecimal: ``0-9A-F`` for the digits 1 to 16, ``. * _`` empty. It is
taken for hexadecimal if it has a ``0``, no ``G``, and

* either another sign for an empty cell: then ``0`` is a digit;
* or no such sign, and exactly one ``0`` in every row and every column: this is a full board. (Read
  as a board with sixteen empty cells, it would have just as many solutions.)

Every other board of 16 digits has letters ``A-G`` for 10 to 16.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.text import DIGITS

HEX_DIGITS = b"0123456789ABCDEF"
UNKNOWN = 255
"""The value of a byte that is no symbol. It is above every digit, so that no board accepts it."""


def _table(digits: bytes, empty: bytes) -> bytes:
    """Make a table for :meth:`bytes.translate` from symbols, in either case, to values."""
    table = bytearray([UNKNOWN]) * 256
    for value, (upper, lower) in enumerate(zip(digits, digits.lower(), strict=True), 1):
        table[upper] = table[lower] = value
    for symbol in empty:
        table[symbol] = 0
    return bytes(table)


CHARACTERS = _table(DIGITS, b".0*_")
WITHOUT_ZERO = _table(DIGITS, b".*_")
"""The characters without ``0``: a board of 16 digits without it is never hexadecimal."""
HEXADECIMAL = _table(HEX_DIGITS, b".*_")
_NUMBERS = {b"%d" % value: value for value in range(65)}
_NUMBERS |= {b"%02d" % value: value for value in range(10)}
_NUMBERS |= {b".": 0, b"*": 0, b"_": 0}


def character_values(text: bytes, n: int) -> NDArray[np.uint8]:
    """The values of the n * n characters of a board, ``UNKNOWN`` where a byte is no symbol.

    Returns
    -------
    uint8 (n * n)
    """
    hexadecimal = n == 16 and _is_hexadecimal(text)
    return np.frombuffer(text.translate(HEXADECIMAL if hexadecimal else CHARACTERS), np.uint8)


def plain_values(text: bytes, n: int) -> NDArray[np.uint8]:
    """The values of the characters of many boards, ``UNKNOWN`` also where a value is ambiguous.

    Returns
    -------
    uint8 (length of the text)
    """
    return np.frombuffer(text.translate(WITHOUT_ZERO if n == 16 else CHARACTERS), np.uint8)


def number_values(tokens: Iterable[bytes]) -> NDArray[np.uint8]:
    """The values of decimal numbers and empty signs, ``UNKNOWN`` for everything else.

    Returns
    -------
    uint8 (number of tokens)
    """
    return np.array([_NUMBERS.get(token, UNKNOWN) for token in tokens], np.uint8)


def digit_of(cell: bytes) -> int:
    """The digit that a number or a single character stands for, 0 if there is none."""
    digit = _NUMBERS.get(cell, CHARACTERS[cell[0]] if len(cell) == 1 else UNKNOWN)
    return digit if digit != UNKNOWN else 0


def _is_hexadecimal(text: bytes) -> bool:
    """Whether 256 characters are hexadecimal, by the rule at the head of this module."""
    if b"0" not in text or b"G" in text.upper():
        return False
    if any(sign in text for sign in (b".", b"*", b"_")):
        return True
    zeros = (np.frombuffer(text, np.uint8) == ord("0")).reshape(16, 16)
    return bool((zeros.sum(0) == 1).all() and (zeros.sum(1) == 1).all())
