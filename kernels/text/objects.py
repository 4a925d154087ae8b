"""JSON objects, one on each line, all with the same keys, cut into their values."""

from __future__ import annotations

import numpy as np
from numba import int64

from gpusudoku.kernels.bits import ONE
from gpusudoku.kernels.kernel import jitable, kernel
from gpusudoku.kernels.text.boards import BYTES
from gpusudoku.kernels.text.scan import NEWLINE, line_end, same_end, text_end
from gpusudoku.kernels.text.values import QUOTE, SPACE, WIDE
from gpusudoku.kernels.text.wide import differences

BACKSLASH, MINUS, POINT, ZERO, NINE, NULL = (
    ord("\\"),
    ord("-"),
    ord("."),
    ord("0"),
    ord("9"),
    ord("n"),
)
_WORDS = np.frombuffer(b"truefalsenull" + bytes(WIDE), np.uint8)
_FIRST_LETTERS = np.array([0, 4, 9, 13])
"""Where each of the words begins."""
OBJECT, LIST = ord("{"), ord("[")
OPENING, CLOSING = (OBJECT, LIST), (ord("}"), ord("]"))
MOST_DIGITS = 15
"""Decimals of so many digits differ as floating-point numbers, so that each stays as it is."""
LEAST_PLACE = 4
"""A number below 1 with more zeros behind its point is written with an exponent."""
MOST_WHOLE_DIGITS = 600
"""Python reads integers of this length, whatever its limit is."""


@jitable
def _matched(data, place, text, start, end):
    """The place behind a piece of a text if it stands in a place, else -1.

    Behind the text there are ``WIDE`` bytes more.
    """
    while start + WIDE <= end and place + WIDE <= len(data):
        if differences(data, place, text, start):
            return -1
        place, start = place + WIDE, start + WIDE
    size = end - start
    if place + WIDE <= len(data):
        these = (ONE << np.uint64(size)) - ONE
        return -1 if differences(data, place, text, start) & these else place + size
    if place + size > len(data):
        return -1
    for k in range(size):
        if data[place + k] != text[start + k]:
            return -1
    return place + size


@jitable
def _digits_end(data, place):
    while ZERO <= data[place] <= NINE:
        place += 1
    return place


@jitable
def _fraction_end(data, place, whole, small):
    """Where the digits behind a point end, -1 if Python would write the number in another way."""
    end = _digits_end(data, place)
    digits = end - place
    if digits == 0 or whole + digits > MOST_DIGITS:
        return -1
    if digits > 1 and data[end - 1] == ZERO:
        return -1
    first = place
    while first < end and data[first] == ZERO:
        first += 1
    return -1 if small and first < end and first - place >= LEAST_PLACE else end


@jitable
def _number_end(data, place):
    """Where a number ends, -1 if Python would write it in another way."""
    negative = data[place] == MINUS
    start = place + negative
    end = _digits_end(data, start)
    whole, is_zero = end - start, data[start] == ZERO
    if whole == 0 or whole > MOST_WHOLE_DIGITS or (is_zero and whole > 1):
        return -1
    if data[end] == POINT:
        return _fraction_end(data, end + 1, whole, is_zero)
    return -1 if negative and is_zero else end


@jitable
def _word_end(data, place):
    """Where ``true``, ``false`` or ``null`` ends, -1 if none of them stands in the place."""
    for word in range(3):
        end = _matched(data, place, _WORDS, _FIRST_LETTERS[word], _FIRST_LETTERS[word + 1])
        if end >= 0:
            return end
    return -1


@jitable
def string_end(data, place):
    """The place of the quote at the end of a string that begins before, -1 if there is none."""
    while True:
        place = text_end(data, place, np.uint8(BACKSLASH))
        if data[place] == QUOTE:
            return place
        if data[place] != BACKSLASH or data[place + 1] < SPACE:
            return -1
        place += 2


@jitable
def _nested_end(data, place):
    """The place behind the bracket that closes the one in a place, -1 if there is none."""
    depth = 0
    while True:
        symbol = data[place]
        if symbol == QUOTE:
            place = string_end(data, place + 1)
            if place < 0:
                return -1
        elif symbol in OPENING:
            depth += 1
        elif symbol in CLOSING:
            depth -= 1
        elif symbol == NEWLINE:
            return -1
        place += 1
        if depth == 0:
            return place


@jitable
def other_end(data, place):
    """Where a number or a word ends, -1 if neither stands in a place."""
    if data[place] == MINUS or ZERO <= data[place] <= NINE:
        return _number_end(data, place)
    return _word_end(data, place)


@kernel(
    BYTES, BYTES, int64[::1], int64[::1], int64[::1], int64[::1], int64[:, :, ::1], int64[::1],
    seconds=1.0,
)  # fmt: skip
def cut_objects(data, text, cuts, board, places, boards, others, behind):
    """Cut objects up to the first that takes a closer look; returns how many.

    An object has the keys of the pattern, byte for byte, and whatever stands beside them. Its
    values are ``true``, ``false`` and ``null``, the numbers that Python writes as they stand, and
    strings. A string with an escape, a list or an object among the values is odd: here it is only
    found out where it ends. What stands in the board is not looked at.

    What is as in the line before, from a place on, is cut as it was there.

    data      uint8 (bytes)             whole lines
    text      uint8 (t + WIDE)          the pattern: what stands before, between and behind values,
                                        and a text that is the same in all objects, with quotes
    cuts      int64 (values + 3)        where each piece of it begins, and where the last one ends
    board     int64 (3)                 the index of the board's value; the bytes of a board; the
                                        index of the value that is the same, -1 for none
    places    int64 (B + 1)             where each object begins, and where the last line ends
    boards    int64 (B)                 where each board begins
    others    int64 (2, B, values - 1)  where each other value begins, without quotes, and where it
                                        ends: ``null`` is empty; the start of an odd one, with its
                                        quotes, is given as ~start
    behind    int64 (values)            takes the places behind the values of one object
    """
    starts, ends = others[0], others[1]
    rows, values = len(boards), len(behind)
    column, length, same = board[0], board[1], board[2]
    places[0] = 0
    for row in range(rows):
        place = begin = places[row]
        before = places[row - 1] if row else 0
        value = 0
        while value < values:
            if row and value != column:
                shift, alike = place - before, same_end(data, place, before, begin)
                while value < values and value != column and behind[value] + shift < alike:
                    other = value - (value > column)
                    start = starts[row - 1, other]
                    starts[row, other] = start + shift if start >= 0 else start - shift
                    ends[row, other] = ends[row - 1, other] + shift
                    before = behind[value]
                    place = behind[value] = before + shift
                    value += 1
                if value == values:
                    break
            place = _matched(data, place, text, cuts[value], cuts[value + 1])
            if place < 0 or place >= len(data):
                return row
            if value == column:
                boards[row] = place + 1
                end = place + length + 1
                if data[place] != QUOTE or end >= len(data) or data[end] != QUOTE:
                    return row
                place = end + 1
            else:
                start, symbol = place, data[place]
                is_odd = symbol in OPENING
                if symbol == QUOTE:
                    place = text_end(data, start + 1, np.uint8(BACKSLASH))
                    is_odd = data[place] == BACKSLASH
                    place = (string_end(data, place) if is_odd else place) + 1
                    if place == 0 or data[place - 1] != QUOTE:
                        return row
                else:
                    place = _nested_end(data, start) if is_odd else other_end(data, start)
                    if place < 0:
                        return row
                if value == same and (
                    _matched(data, start, text, cuts[values + 1], cuts[values + 2]) != place
                ):
                    return row
                other = value - (value > column)
                quote = np.int64(symbol == QUOTE and not is_odd)
                starts[row, other] = ~start if is_odd else start + quote
                ends[row, other] = start if symbol == NULL else place - quote
            before, behind[value] = behind[value], place
            value += 1
        place = _matched(data, place, text, cuts[values], cuts[values + 1])
        if place < 0 or place >= len(data):
            return row
        place = line_end(data, place)
        if place < 0:
            return row
        places[row + 1] = place
    return rows
