"""What a search does at every node: constants that select code when kernels are built."""

from __future__ import annotations

from typing import NamedTuple

NAKED_SINGLE = 1
HIDDEN_SINGLE = 2
NAKED_PAIR = 4
HIDDEN_PAIR = 8
LOCKED_CANDIDATES = 16

FIRST = 0
MIN = 1

DEAD = 0
"""Some cell has no candidate or some digit no place: no solution below this board."""
OPEN = 1
"""Nothing left to do but to guess."""
SOLVED = 2
"""Every cell is fixed."""
CHANGED = 3
"""A technique removed candidates, or a cell with a single candidate waits to be fixed."""


class SearchSettings(NamedTuple):
    """How a search goes about it.

    ``techniques`` is a sum of the constants above, 0 for none. ``strategy`` chooses the cell to
    guess: FIRST in reading order, or one with the fewest candidates (MIN).
    """

    techniques: int = NAKED_SINGLE | HIDDEN_SINGLE
    strategy: int = MIN
