"""Alphabets: the symbols of the digits and of an empty cell.

A character is ``1-9``, then ``A-Z`` in either case for the digits 10 to 35; ``. 0 * _ - ?`` are
empty. Numbers are decimal, with the same signs for empty. On a board of two to nine digits ``x`` is
empty, too, if no other sign for an empty cell occurs.

A board of 16 digits may be hexadecimal: ``0-9A-F`` for the digits 1 to 16, ``. * _ - ?`` empty. It
is taken for hexadecimal if it has a ``0``, no ``G``, and

* either another sign for an empty cell: then ``0`` is a digit;
* or no such sign, and exactly one ``0`` in every row and every column: this is a full board. (Read
  as a board with sixteen empty cells, it would have just as many solutions.)

A board of 10 to 26 digits, such as 16, may have letters alone, ``A-P`` for 1 to 16. It is taken for
that if it has a letter that would be too large a digit otherwise, none of ``1-9``, and no ``0``
beside another sign for an empty cell. Letters ``A-G`` alone stay 10 to 16: with other digits for
them, the board has just as many solutions.

Every other board of 16 digits has letters ``A-G`` for 10 to 16.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.text import DIGITS
from gpusudoku.kernels.text.values import UNKNOWN, value_of

HEX_DIGITS = b"0123456789ABCDEF"


def _table(digits: bytes, empty: bytes) -> bytes:
    """Make a table for :meth:`bytes.translate` from symbols, in either case, to values."""
    table = bytearray([UNKNOWN]) * 256
    for value, (upper, lower) in enumerate(zip(digits, digits.lower(), strict=True), 1):
        table[upper] = table[lower] = value
    for symbol in empty:
        table[symbol] = 0
    return bytes(table)


_SIGNS = b".*_-?"
BLANKS = b"0" + _SIGNS
"""The signs for an empty cell."""
CHARACTERS = bytes(value_of(symbol, 0) for symbol in range(256))
"""The value of every byte."""
WITHOUT_ZERO = bytes(value_of(symbol, UNKNOWN) for symbol in range(256))
"""The characters without ``0``: a board of 16 digits without it is never hexadecimal."""
HEXADECIMAL = _table(HEX_DIGITS, _SIGNS)
_WITH_X = CHARACTERS.replace(bytes([DIGITS.index(b"X") + 1]), b"\0")
_NUMBERS = {b"%d" % value: value for value in range(65)}
_NUMBERS |= {b"%02d" % value: value for value in range(10)}
_NUMBERS |= {bytes([sign]): 0 for sign in _SIGNS}
_MOST_WITH_X = 9
_FIGURES = 9
"""Digits that are no letters."""


def character_values(text: bytes, n: int) -> NDArray[np.uint8]:
    """The values of the n * n characters of a board, ``UNKNOWN`` where a byte is no symbol.

    Returns
    -------
    uint8 (n * n)
    """
    if may_be_letters(text, n) and not (b"0" in text and _has(text, _SIGNS)):
        values = np.frombuffer(text.translate(CHARACTERS), np.uint8)
        if values.max() > n:
            return np.where(values > 0, values - _FIGURES, values)
    table = CHARACTERS
    if n == 16 and _is_hexadecimal(text):
        table = HEXADECIMAL
    elif 1 < n <= _MOST_WITH_X and (b"x" in text or b"X" in text) and not _has(text, BLANKS):
        table = _WITH_X
    return np.frombuffer(text.translate(table), np.uint8)


def may_be_letters(text: bytes, n: int) -> bool:
    """Whether cells may have the first n letters of the alphabet for their digits."""
    letters = DIGITS[_FIGURES:][:n]
    return _FIGURES < n == len(letters) and not text.upper().translate(None, letters + BLANKS)


def is_blank(cell: bytes) -> bool:
    """Whether a number or a character is a sign for an empty cell."""
    return _NUMBERS.get(cell) == 0


def number_values(tokens: Sequence[bytes], n: int) -> NDArray[np.uint8]:
    """The values of decimal numbers and empty signs, ``UNKNOWN`` for everything else.

    Returns
    -------
    uint8 (number of tokens)
    """
    values = [_NUMBERS.get(token, UNKNOWN) for token in tokens]
    if 1 < n <= _MOST_WITH_X and 0 not in values:
        values = [0 if token in (b"x", b"X") else value
                  for token, value in zip(tokens, values, strict=True)]  # fmt: skip
    return np.array(values, np.uint8)


def digit_of(cell: bytes) -> int:
    """The digit that a number or a single character stands for, 0 if there is none, or for x."""
    digit = _NUMBERS.get(cell, _WITH_X[cell[0]] if len(cell) == 1 else UNKNOWN)
    return digit if digit != UNKNOWN else 0


def _has(text: bytes, signs: bytes) -> bool:
    return any(sign in text for sign in signs)


def _is_hexadecimal(text: bytes) -> bool:
    """Whether 256 characters are hexadecimal, by the rule at the head of this module."""
    if b"0" not in text or b"G" in text.upper():
        return False
    if _has(text, _SIGNS):
        return True
    zeros = (np.frombuffer(text, np.uint8) == ord("0")).reshape(16, 16)
    return bool((zeros.sum(0) == 1).all() and (zeros.sum(1) == 1).all())
