"""Values of JSON objects that cannot stand as they are: strings with escapes, lists, objects."""

from __future__ import annotations

import numpy as np
from numba import int64, uint8

from gpusudoku.kernels.kernel import jitable, kernel
from gpusudoku.kernels.text.boards import BYTES
from gpusudoku.kernels.text.objects import (
    BACKSLASH,
    CLOSING,
    LIST,
    OBJECT,
    OPENING,
    other_end,
)  # fmt: skip
from gpusudoku.kernels.text.values import QUOTE, SPACE

TAB, COMMA, COLON, LETTER_U, TILDE = ord("\t"), ord(","), ord(":"), ord("u"), ord("~")
_LETTERS = np.frombuffer(b'"\\bfnrt/', np.uint8)
_MEANT = np.frombuffer(b'"\\\b\f\n\r\t/', np.uint8)
"""What each of the letters behind a backslash stands for."""
_HEX = np.frombuffer(b"0123456789abcdef", np.uint8)
HIGH, LOW, BEYOND, PLANE = 0xD800, 0xDC00, 0xE000, 0x10000
"""Where halves of characters begin, those that come second, what is none, and whole ones."""
MOST_KEYS = 64
"""Objects of more keys, and deeper ones, are left to others."""
GROWTH = 6
"""A byte becomes so many at most: a delete character is written as an escape."""


@jitable
def _hexadecimal(data, place):
    """The number that four hexadecimal digits are; -1 if they are none."""
    code = np.int64(0)
    for k in range(4):
        symbol = np.int64(data[place + k])
        letter = (symbol | 32) - 97
        if 48 <= symbol < 58:
            code = 16 * code + symbol - 48
        elif 0 <= letter < 6:
            code = 16 * code + letter + 10
        else:
            return -1
    return code


@jitable
def _escaped(data, place):
    """The character behind a backslash, -1 if it is none, and the place behind it."""
    symbol = data[place]
    if symbol != LETTER_U:
        for k in range(len(_LETTERS)):
            if symbol == _LETTERS[k]:
                return np.int64(_MEANT[k]), place + 1
        return -1, place
    code = _hexadecimal(data, place + 1)
    place += 5
    if HIGH <= code < LOW and data[place] == BACKSLASH and data[place + 1] == LETTER_U:
        second = _hexadecimal(data, place + 2)
        if LOW <= second < BEYOND:
            return PLANE + ((code - HIGH) << 10) + second - LOW, place + 6
    return code, place


@jitable
def _unescaped(data, place):
    """The character that begins in a place, which is UTF-8 and not ASCII, and the place behind."""
    first = np.int64(data[place])
    more = 1 + (first >= 0xE0) + (first >= 0xF0)
    code = first & (0x3F >> more)
    for k in range(1, more + 1):
        code = (code << 6) | (np.int64(data[place + k]) & 0x3F)
    return code, place + more + 1


@jitable
def _put_utf8(code, out, size):
    """Write a character, or half of one; returns the new size."""
    if code < 0x80:
        out[size] = code
        return size + 1
    more = 1 + (code >= 0x800) + (code >= PLANE)
    out[size] = ((0xF0 << (3 - more)) & 0xFF) | (code >> (6 * more))
    for k in range(1, more + 1):
        out[size + k] = 0x80 | ((code >> (6 * (more - k))) & 0x3F)
    return size + more + 1


@jitable
def _put_unit(code, out, size):
    """Write an escape of four digits; returns the new size."""
    out[size], out[size + 1] = BACKSLASH, LETTER_U
    for k in range(4):
        out[size + 2 + k] = _HEX[(code >> (12 - 4 * k)) & 15]
    return size + 6


@jitable
def _put_json(code, out, size):
    """Write a character as Python writes it in JSON; returns the new size."""
    if SPACE <= code <= TILDE and code != QUOTE and code != BACKSLASH:
        out[size] = code
        return size + 1
    for k in range(len(_LETTERS)):
        if code == _MEANT[k]:
            out[size], out[size + 1] = BACKSLASH, _LETTERS[k]
            return size + 2
    if code >= PLANE:
        size = _put_unit(HIGH + ((code - PLANE) >> 10), out, size)
        code = LOW + ((code - PLANE) & 0x3FF)
    return _put_unit(code, out, size)


@jitable
def _put_string(data, place, out, size, as_json):
    """Write what a string says, or the string as JSON.

    Returns the place behind it, -1 if it is no string, and the new size.
    """
    if data[place] != QUOTE:
        return -1, size
    size = _put_byte(QUOTE, out, size) if as_json else size
    place += 1
    while data[place] != QUOTE:
        symbol = np.int64(data[place])
        if symbol < SPACE:
            return -1, size
        if symbol == BACKSLASH:
            symbol, place = _escaped(data, place + 1)
            if symbol < 0:
                return -1, size
            size = _put_json(symbol, out, size) if as_json else _put_utf8(symbol, out, size)
        elif as_json:
            if symbol < 0x80:
                place += 1
            else:
                symbol, place = _unescaped(data, place)
            size = _put_json(symbol, out, size)
        else:
            out[size] = symbol
            place, size = place + 1, size + 1
    return place + 1, _put_byte(QUOTE, out, size) if as_json else size


@jitable
def _put_byte(sign, out, size):
    out[size] = sign
    return size + 1


@jitable
def _behind_blanks(data, place):
    while data[place] == SPACE or data[place] == TAB:
        place += 1
    return place


@jitable
def _put_key(data, place, out, size, keys, first, count):
    """Write a key of an object, which has others already, and the colon behind it.

    Returns the place behind that, -1 if it is no key or one of two, and the new size.
    """
    start = size
    place, size = _put_string(data, place, out, size, True)
    if place < 0 or count == MOST_KEYS:
        return -1, size
    for key in range(first, count):
        other = keys[0, key]
        alike = keys[1, key] - other == size - start
        for k in range(size - start if alike else 0):
            alike &= out[other + k] == out[start + k]
        if alike:
            return -1, size
    keys[0, count], keys[1, count] = start, size
    place = _behind_blanks(data, place)
    if data[place] != COLON:
        return -1, size
    out[size], out[size + 1] = COLON, SPACE
    return _behind_blanks(data, place + 1), size + 2


@jitable
def _put_nested(data, place, out, size, keys):
    """Write a list or an object as Python writes it.

    Returns the place behind it, -1 if it takes a closer look, and the new size.

    keys      int64 (3, MOST_KEYS)      room for the keys of all objects that are open: where each
                                        begins and ends; and of what is open: the number of keys
                                        before, ~number for a list
    """
    depth = count = 0
    while True:
        symbol = data[place]
        if symbol in OPENING:
            if depth == MOST_KEYS:
                return -1, size
            keys[2, depth] = count if symbol == OBJECT else ~count
            depth += 1
            out[size], size = symbol, size + 1
            place = _behind_blanks(data, place + 1)
            if symbol == OBJECT and data[place] != CLOSING[0]:
                place, size = _put_key(data, place, out, size, keys, count, count)
                count += 1
                if place < 0:
                    return -1, size
                continue
            if symbol == LIST and data[place] != CLOSING[1]:
                continue
        elif symbol == QUOTE:
            place, size = _put_string(data, place, out, size, True)
        else:
            end = other_end(data, place)
            for k in range(place, end):
                out[size], size = data[k], size + 1
            place = end
        if place < 0:
            return -1, size
        while depth:
            first = keys[2, depth - 1]
            place = _behind_blanks(data, place)
            symbol = data[place]
            place += 1
            if symbol == (CLOSING[0] if first >= 0 else CLOSING[1]):
                out[size], size = symbol, size + 1
                depth, count = depth - 1, max(first, ~first)
                continue
            if symbol != COMMA:
                return -1, size
            out[size], out[size + 1] = COMMA, SPACE
            size += 2
            place = _behind_blanks(data, place)
            if first >= 0:
                place, size = _put_key(data, place, out, size, keys, first, count)
                count += 1
                if place < 0:
                    return -1, size
            break
        if depth == 0:
            return place, size


@kernel(
    BYTES, int64[:, ::1], int64[:, ::1], int64, uint8[::1], int64[:, ::1], int64[::1], seconds=1.5
)
def write_odd(data, starts, ends, offset, out, keys, sizes):
    """Write the odd values of objects up to one that takes a closer look; returns how many objects.

    Strings become what they say, lists and objects what Python writes for them.

    data      uint8 (bytes)             UTF-8
    starts    int64 (B, values)         as ``cut_objects`` gives them; the new start of an odd one
    ends      int64 (B, values)         and the end; both count from ``-offset``
    out       uint8                     takes the bytes: ``GROWTH`` times those of the odd values
    keys      int64 (3, MOST_KEYS)      scratch
    sizes     int64 (1)                 takes how many bytes there are
    """
    size = 0
    for row in range(len(starts)):
        for value in range(starts.shape[1]):
            if starts[row, value] >= 0:
                continue
            start, place = size, ~starts[row, value]
            if data[place] == QUOTE:
                place, size = _put_string(data, place, out, size, False)
            else:
                place, size = _put_nested(data, place, out, size, keys)
            if place != ends[row, value]:
                return row
            starts[row, value], ends[row, value] = start + offset, size + offset
        sizes[0] = size
    return len(starts)
