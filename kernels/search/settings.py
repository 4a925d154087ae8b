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

PAIRS, PLACES = NAKED_PAIR | HIDDEN_PAIR, HIDDEN_SINGLE | LOCKED_CANDIDATES
"""The techniques of pairs, and those that see where a digit has no place in a unit."""


class SearchSettings(NamedTuple):
    """How a search goes about it.

    ``techniques`` is a sum of the constants above, 0 for none. ``strategy`` chooses the cell to
    guess: FIRST in reading order, or one with the fewest candidates (MIN).
    """

    techniques: int = NAKED_SINGLE | HIDDEN_SINGLE
    strategy: int = MIN
