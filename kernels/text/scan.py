"""Where something ends in a buffer whose last byte is a line end."""

from __future__ import annotations

from gpusudoku.kernels.bits import lowest_index
from gpusudoku.kernels.kernel import jitable
from gpusudoku.kernels.text.values import QUOTE, SPACE, WIDE
from gpusudoku.kernels.text.wide import differences, stops

RETURN, NEWLINE = ord("\r"), ord("\n")


@jitable
def text_end(data, start, stop):
    """The place of the next byte that is ``stop``, a quote or a control character.

    There is one: the line end.
    """
    end = start
    while end + WIDE <= len(data):
        found = stops(data, end, stop)
        if found:
            return end + lowest_index(found)
        end += WIDE
    while data[end] != stop and data[end] != QUOTE and data[end] >= SPACE:
        end += 1
    return end


@jitable
def same_end(data, place, before, end):
    """How far the bytes from a place on are those from an earlier place on, which ends at ``end``.

    It may be farther near the end of the buffer. Returns the place behind them.
    """
    last = place + end - before
    while place < last and place + WIDE <= len(data):
        found = differences(data, place, data, before)
        if found:
            return min(place + lowest_index(found), last)
        place, before = place + WIDE, before + WIDE
    return min(place, last)


@jitable
def line_end(data, place):
    """The place behind the line end that stands in a place, -1 if there is none."""
    if data[place] == RETURN:
        place += 1
    return place + 1 if data[place] == NEWLINE else -1
