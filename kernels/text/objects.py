"""Flat JSON objects, one on each line, all with the same keys, cut into their values."""

from __future__ import annotations

import numpy as np
from numba import int64, uint8

from gpusudoku.kernels.kernel import jitable, kernel
from gpusudoku.kernels.text.boards import BYTES
from gpusudoku.kernels.text.scan import QUOTE, line_end, text_end

BACKSLASH, MINUS, POINT, ZERO, NINE, NULL = (
    ord("\\"),
    ord("-"),
    ord("."),
    ord("0"),
    ord("9"),
    ord("n"),
)
_WORDS = np.frombuffer(b"truefalsenull", np.uint8)
_FIRST_LETTERS = np.array([0, 4, 9, 13])
"""Where each of the words begins."""
MOST_DIGITS = 15
"""Decimals of so many digits differ as floating-point numbers, so that each stays as it is."""
LEAST_PLACE = 4
"""A number below 1 with more zeros behind its point is written with an exponent."""
MOST_WHOLE_DIGITS = 600
"""Python reads integers of this length, whatever its limit is."""


@jitable
def _matched(data, place, text, start, end):
    """The place behind a piece of a text if it stands in a place, else -1."""
    size = end - start
    if place + size > len(data):
        return -1
    piece, same = data[place : place + size], text[start:end]
    for k in range(len(piece)):
        if piece[k] != same[k]:
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


@kernel(BYTES, BYTES, int64[::1], int64[::1], int64[::1], int64[:, ::1], int64[:, ::1])
def cut_objects(data, text, cuts, board, places, starts, ends):
    """Cut objects up to the first that takes a closer look; returns how many.

    An object has the keys of the pattern, byte for byte, and whatever stands beside them. Its
    values are strings without escapes, ``true``, ``false`` and ``null``, and the numbers that
    Python writes as they stand. What stands in the board is not looked at.

    data      uint8 (bytes)             whole lines
    text      uint8 (t)                 the pattern: what stands before, between and behind values,
                                        and a text that is the same in all objects, with quotes
    cuts      int64 (values + 3)        where each piece of it begins, and where the last one ends
    board     int64 (3)                 the index of the board's value; the bytes of a board; the
                                        index of the value that is the same, -1 for none
    places    int64 (B + 1)             where each object begins, and where the last line ends
    starts    int64 (B, values)         where each value begins, without quotes
    ends      int64 (B, values)         and where it ends; that of ``null`` is empty
    """
    rows, values = starts.shape
    column, length, same = board[0], board[1], board[2]
    places[0] = 0
    for row in range(rows):
        place = places[row]
        for value in range(values):
            place = _matched(data, place, text, cuts[value], cuts[value + 1])
            if place < 0 or place >= len(data):
                return row
            if data[place] == QUOTE:
                starts[row, value] = place + 1
                if value == column:
                    place += length + 1
                    if place >= len(data):
                        return row
                else:
                    place = text_end(data, place + 1, uint8(BACKSLASH))
                if data[place] != QUOTE:
                    return row
                ends[row, value] = place
                place += 1
                if value == same:
                    begin = starts[row, value] - 1
                    if _matched(data, begin, text, cuts[values + 1], cuts[values + 2]) != place:
                        return row
                continue
            if value in (column, same):
                return row
            starts[row, value] = place
            is_null = data[place] == NULL
            if data[place] == MINUS or ZERO <= data[place] <= NINE:
                place = _number_end(data, place)
            else:
                place = _word_end(data, place)
            if place < 0:
                return row
            ends[row, value] = starts[row, value] if is_null else place
        place = _matched(data, place, text, cuts[values], cuts[values + 1])
        if place < 0 or place >= len(data):
            return row
        place = line_end(data, place)
        if place < 0:
            return row
        places[row + 1] = place
    return rows
