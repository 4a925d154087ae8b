"""Where something ends in a buffer whose last byte is a line end."""

from __future__ import annotations

import numpy as np

from gpusudoku.kernels.kernel import jitable

QUOTE, RETURN, NEWLINE, SPACE = ord('"'), ord("\r"), ord("\n"), ord(" ")
_STEP = 32


@jitable
def text_end(data, start, stop):
    """The place of the next byte that is ``stop``, a quote or a control character.

    There is one: the line end. Many bytes are looked at together, which becomes vectors.
    """
    end = start
    while end + _STEP <= len(data):
        piece = data[end : end + _STEP]
        found = np.uint8(0)
        for place in range(len(piece)):
            symbol = piece[place]
            found |= np.uint8((symbol == stop) | (symbol == QUOTE) | (symbol < SPACE))
        if found:
            break
        end += _STEP
    while data[end] != stop and data[end] != QUOTE and data[end] >= SPACE:
        end += 1
    return end


@jitable
def line_end(data, place):
    """The place behind the line end that stands in a place, -1 if there is none."""
    if data[place] == RETURN:
        place += 1
    return place + 1 if data[place] == NEWLINE else -1
