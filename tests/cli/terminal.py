"""What a terminal shows of a process that writes to it."""

import os
import re


def read(screen, until=None):
    """What a terminal shows, until a pattern is there, or till nobody writes any more."""
    shown = ""
    while until is None or not re.search(until, shown):
        try:
            piece = os.read(screen, 1 << 12)
        except OSError:  # as Linux tells the end
            piece = b""
        if not piece:
            assert until is None, shown
            break
        shown += piece.decode()
    return shown
