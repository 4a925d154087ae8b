"""Alphabets: the symbols of the digits and of an empty cell; strings as bytes of symbols.

The digits are ``1-9``, then ``A-Z`` in either case for 10 to 35. The signs for an empty cell are
``. 0 * _ - ?``. Numbers are decimal, with the same signs. On a board of two to nine digits ``x`` is
an empty cell, too, if no other sign occurs.

Digits may begin with 0: if a board of n digits has a ``0``, another sign for an empty cell and no
digit n, its digits run from 0 to n - 1 and become 1 to n. On a board of 16 digits this is
hexadecimal, ``0-9A-F``. On other boards, zeros are empty cells if a row or column has two of them.
A full board of 16 digits is hexadecimal, too, if it has no ``G``, no other sign for an empty cell,
and exactly one ``0`` in every row and every column. (Read as a board with sixteen empty cells, it
would have just as many solutions.)

A board of 5 to 26 digits may have letters only: the first n, such as ``A-P`` for 1 to 16, or any n
in alphabetical order. It must have a letter that would be too large a digit otherwise, none of
``1-9``, and not both ``0`` and another sign for an empty cell. Letters ``A-G`` alone stay 10 to 16:
with other digits, the board has just as many solutions. 16 letters may be a row, and are not a
board of 4 digits.

Every other board of 16 digits has letters ``A-G`` for 10 to 16.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from functools import lru_cache
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.text import DIGITS

HEX_DIGITS = b"0123456789ABCDEF"
_SIGNS = b".*_-?"
BLANKS = b"0" + _SIGNS
"""The signs for an empty cell."""
UNKNOWN = 255
"""The value of a byte that is not a symbol. It is above every digit, so no board accepts it."""
_VALUES = dict.fromkeys(_SIGNS, 0) | {
    symbol: value + 1 for digits in (DIGITS, DIGITS.lower()) for value, symbol in enumerate(digits)
}
WITHOUT_ZERO = bytes(_VALUES.get(symbol, UNKNOWN) for symbol in range(256))
"""The value of every byte, but ``0`` is unknown: without it, a board of 16 digits is never
hexadecimal."""
CHARACTERS = bytes((_VALUES | {ord("0"): 0}).get(symbol, UNKNOWN) for symbol in range(256))
"""The value of every byte."""
_HEXADECIMAL_SIZE = 16
_MAX_WITH_X = 9
"""The maximum number of digits of a board on which ``x`` may be an empty cell."""
_WITH_X = CHARACTERS.replace(bytes([DIGITS.index(b"X") + 1]), b"\0")
"""The value of every byte if ``x`` is an empty cell."""
_NUMBERS = {b"%d" % value: value for value in range(65)}
_NUMBERS |= {b"%02d" % value: value for value in range(10)}
_NUMBERS |= {bytes([sign]): 0 for sign in _SIGNS} | {b"-1": 0}
"""The value of every number, and of the signs for an empty cell."""
_ZEROS = (b"0", b"00")
_EMPTY = {"none", "null", "nan", "na", ""}
_DECIMAL = re.compile(rb"-?\d{1,2}\.\d*(?:e[+-]\d\d)?")
LETTERS = DIGITS[9:]

_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_NO_SYMBOL = ord("!")
"""A byte that replaces characters outside ASCII."""
_WHITE = np.isin(np.arange(256), [*b" \t\r\n"])
_MAX_BLANKS = 4
"""The maximum number of blanks removed from each end. A parser reads strings with more blanks."""


def character_values(text: bytes, n: int) -> NDArray[np.uint8]:
    """Return the values of the n * n characters of a board, ``UNKNOWN`` for other bytes."""
    alphabet = alphabet_of(text, n)
    if n != _HEXADECIMAL_SIZE and alphabet.startswith(b"0"):
        warn_from_zero(n)
    return values_in(alphabet, text)


def values_in(alphabet: bytes, text: bytes) -> NDArray[np.uint8]:
    """Return the values of characters in an alphabet, as ``character_values`` does."""
    signs = BLANKS
    if b"X" in text.upper() and 1 < len(alphabet) <= _MAX_WITH_X and not {*text} & {*BLANKS}:
        signs += b"xX"
    return np.frombuffer(text.translate(_table(alphabet, signs)), np.uint8)


@lru_cache(1 << 6)
def _table(alphabet: bytes, signs: bytes) -> bytes:
    """Return the value of every byte."""
    digits = [*range(1, len(alphabet) + 1)] * 2
    values = dict.fromkeys(signs, 0) | dict(zip(alphabet + alphabet.lower(), digits, strict=True))
    return bytes(values.get(symbol, UNKNOWN) for symbol in range(256))


@lru_cache(1)  # a reader asks twice
def alphabet_of(text: bytes, n: int) -> bytes:
    """Return the n symbols of the digits on a board of n * n characters, in upper case."""
    if not text.translate(None, b".123456789"):
        return DIGITS[:n]  # most boards
    text = text.upper()
    from_zero = (b"0" + DIGITS)[:n]
    if has_zero_and_sign(text):
        zeros = np.frombuffer(text, np.uint8) == ord("0")
        may_be_digits = n == _HEXADECIMAL_SIZE or are_digits(zeros)
        if may_be_digits and not text.translate(None, from_zero + _SIGNS):
            return from_zero
    elif letters := letters_of(text, n):
        return letters
    elif n == _HEXADECIMAL_SIZE and b"0" in text and b"G" not in text:
        zeros = (np.frombuffer(text, np.uint8) == ord("0")).reshape(n, n)
        # There is no other sign for an empty cell, so that the board must be full.
        if all((zeros.sum(axis) == 1).all() for axis in (0, 1)):
            return from_zero
    return DIGITS[:n]


def letters_of(text: bytes, n: int) -> bytes:
    """Return the n letters for the digits of cells with letters only; empty for other cells."""
    symbols = text.upper().translate(None, BLANKS)
    first_letters = LETTERS[:n]
    if not (symbols.isalpha() and 4 < n == len(first_letters)):
        return b""
    letters = bytes(sorted({*symbols}))
    alphabets = [letters]
    # Without another sign, x may be an empty cell.
    if n <= _MAX_WITH_X and len(symbols) == len(text):
        alphabets.insert(0, letters.replace(b"X", b""))
    for alphabet in alphabets:
        if alphabet and not alphabet.translate(None, first_letters):
            # Letters that are digits up to n, such as A-G, keep their values.
            return first_letters if CHARACTERS[alphabet[-1]] > n else b""
        if len(alphabet) == n:
            return alphabet
    return b""


def is_blank(cell: bytes) -> bool:
    """Tell whether a number or a character is a sign for an empty cell."""
    return _NUMBERS.get(_whole_number(cell)) == 0


def number_values(tokens: Sequence[bytes], n: int) -> NDArray[np.uint8]:
    """Return the values of decimal numbers and empty signs, ``UNKNOWN`` for other tokens."""
    tokens = [_whole_number(token) if len(token) > 1 else token for token in tokens]
    values = [_NUMBERS.get(token, UNKNOWN) for token in tokens]
    is_zero = [token in _ZEROS for token in tokens]
    has_other_sign = sum(is_zero) < values.count(0)
    may_begin_with_0 = any(is_zero) and has_other_sign and max(values) < n
    if may_begin_with_0 and are_digits(np.array(is_zero)):
        warn_from_zero(n)
        # All digits, and the zeros, become one larger; other signs stay 0.
        values = [value + (value > 0 or zero)
                  for value, zero in zip(values, is_zero, strict=True)]  # fmt: skip
    if 1 < n <= _MAX_WITH_X and 0 not in values:
        values = [0 if token in (b"x", b"X") else value
                  for token, value in zip(tokens, values, strict=True)]  # fmt: skip
    return np.array(values, np.uint8)


def are_numbers(tokens: Sequence[bytes]) -> bool:
    """Tell whether tokens are certainly numbers, such as -1 and 5.0, and not runs of characters.

    Tokens of equal length may be runs: in ``-1 32`` the dash may be an empty cell.
    """
    if not any(token == b"-1" or b".0" in token for token in tokens):
        return False
    may_be_runs = len({len(token) for token in tokens}) == 1
    are_alike = all(token == b"-1" for token in tokens) or all(b".0" in token for token in tokens)
    if may_be_runs and not are_alike:
        return False
    return all(_whole_number(token) in _NUMBERS for token in tokens)


def cell_of_list(text: str) -> str:
    """Return the text of a cell in a list, with a sign if it is empty."""
    text = text.strip()
    return "." if text.lower() in _EMPTY else text


def _whole_number(token: bytes) -> bytes:
    """Return 5 for 5.0 and 5.000e+00, as tools for floating-point numbers write it."""
    if _DECIMAL.fullmatch(token) and float(token).is_integer():
        return b"%d" % float(token)
    return token


def digit_of(cell: bytes) -> int:
    """Return the digit of a number or a character; 0 if it is not a digit, and for x."""
    digit = _NUMBERS.get(_whole_number(cell), _WITH_X[cell[0]] if len(cell) == 1 else UNKNOWN)
    return digit if digit != UNKNOWN else 0


def has_zero_and_sign(text: bytes | memoryview) -> bool:
    """Tell whether a text has a ``0`` and another sign for an empty cell."""
    data = bytes(text)
    return b"0" in data and any(sign in data for sign in _SIGNS)


def are_digits(is_zero: NDArray[np.bool_]) -> bool:
    """Tell whether zeros, bool (n * n), may be digits: at most one in each row and column."""
    n = isqrt(is_zero.size)
    zeros = is_zero.reshape(n, n)
    return bool(zeros.sum(axis=0).max() <= 1 and zeros.sum(axis=1).max() <= 1)


def warn_from_zero(n: int) -> None:
    """Warn that the digits of a board of n digits begin with 0."""
    # Python shows each warning text once.
    warnings.warn(
        f"0 and another sign for empty cells, but no {n}: 0 to {n - 1} are read as 1 to {n}",
        stacklevel=1,
    )


def joined_texts(
    texts: Sequence[str] | Sequence[bytes] | NDArray[Any],
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """Return the characters of texts as bytes, and the start and size of each text without blanks.

    The arrays are uint8 (size), int64 (B) and int64 (B).
    """
    if isinstance(texts, np.ndarray):
        sizes = np.char.str_len(texts).astype(np.int64)
        width = int(sizes.max(initial=1))
        starts = np.arange(len(texts)) * width
        data: NDArray[Any] = np.ascontiguousarray(texts, f"={texts.dtype.kind}{width}")
        if texts.dtype.kind == "U":
            codes = data.view(np.uint32)
            data = np.where(codes < 128, codes, _NO_SYMBOL).astype(np.uint8)
        # One byte more, so that the start of an empty string is an index, too.
        data = np.append(data.view(np.uint8), np.uint8(_NO_SYMBOL))
    else:
        sizes = np.fromiter(map(len, texts), np.int64, len(texts))
        starts = np.cumsum(sizes) - sizes
        data = as_symbols(texts)
    for _ in range(_MAX_BLANKS):
        begins_blank = (sizes > 0) & _WHITE[data[starts]]
        ends_blank = (sizes > begins_blank) & _WHITE[data[np.maximum(starts + sizes - 1, 0)]]
        if not (begins_blank | ends_blank).any():
            break
        starts = starts + begins_blank
        sizes = sizes - begins_blank - ends_blank
    return data, starts, sizes


def as_symbols(texts: Any) -> NDArray[np.uint8]:
    """Return the characters of texts as bytes, uint8, and one byte more so that it is not empty."""
    if len(texts) and isinstance(texts[0], bytes):
        data = b"".join([*texts, b"!"])
    else:
        text = "".join([*texts, "!"])
        data = (text if text.isascii() else _NOT_ASCII.sub("!", text)).encode()
    return np.frombuffer(data, np.uint8)
