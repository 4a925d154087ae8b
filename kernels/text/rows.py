"""Rows of a table, cut into their fields."""

from __future__ import annotations

from numba import int64, uint8

from gpusudoku.kernels.kernel import kernel
from gpusudoku.kernels.text.boards import BYTES
from gpusudoku.kernels.text.scan import line_end, text_end
from gpusudoku.kernels.text.values import QUOTE

COMMENT = ord("#")
FENCES = (*range(ord(" ") + 1), ord(">"), ord("`"), ord("~"), ord("["), ord("<"))
"""What a fence around code begins with."""
FENCE = 40
"""A line of fewer bytes may be a fence around code, if it begins like one."""
QUOTED = 1 << 17
"""A longer line with quotes is left to others, who have a limit for a field."""


@kernel(BYTES, uint8, int64, int64, int64[::1], int64[::1], int64[:, :, ::1])
def cut_rows(data, delimiter, column, length, places, boards, others):
    """Cut rows up to the first that takes a closer look; returns how many.

    A row has all columns, a field of the right length in that of the boards, no quotes but those
    around a whole field, and no control characters. Nor does it begin like a comment or a fence.
    What stands in the board's field is not looked at.

    data      uint8 (bytes)             whole lines
    column    the index of the boards' column
    length    the bytes of a board
    places    int64 (B + 1)             where each row begins, and where the last one ends
    boards    int64 (B)                 where each board begins
    others    int64 (2, B, columns - 1) where each other field begins, without its quotes, and
                                        where it ends
    """
    starts, ends = others[0], others[1]
    rows, columns = len(boards), starts.shape[1] + 1
    places[0] = 0
    for row in range(rows):
        place = begin = places[row]
        if begin == len(data) or data[begin] == COMMENT:
            return row
        has_quotes = False
        for field in range(columns):
            quoted = data[place] == QUOTE
            has_quotes |= quoted
            place += quoted
            if field == column:
                boards[row] = place
                place += length
                if place >= len(data):
                    return row
            else:
                other = field - (field > column)
                starts[row, other] = place
                place = text_end(data, place, QUOTE if quoted else delimiter)
                ends[row, other] = place
            if quoted:
                if data[place] != QUOTE:
                    return row
                place += 1
            if field < columns - 1:
                if data[place] != delimiter:
                    return row
                place += 1
        place = line_end(data, place)
        if place < 0 or (has_quotes and place - begin > QUOTED):
            return row
        if place - begin < FENCE and data[begin] in FENCES:
            return row
        places[row + 1] = place
    return rows
