"""The names of the techniques, and their bits in the settings of a search.

The techniques themselves are in ``kernels/search``.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from gpusudoku.errors import InputError, described, shown
from gpusudoku.kernels.search.shape import (
    HIDDEN_PAIR,
    HIDDEN_SINGLE,
    LOCKED_CANDIDATES,
    NAKED_PAIR,
    NAKED_SINGLE,
)

TECHNIQUES = {
    "naked-single": NAKED_SINGLE,
    "hidden-single": HIDDEN_SINGLE,
    "locked-candidates": LOCKED_CANDIDATES,
    "naked-pair": NAKED_PAIR,
    "hidden-pair": HIDDEN_PAIR,
}
"""The bit of every technique, in the order in which people try techniques."""

GROUPS = {
    "none": (),
    "singles": ("naked-single", "hidden-single"),
    "locked": ("naked-single", "hidden-single", "locked-candidates"),
    "pairs": ("naked-pair", "hidden-pair"),
    "all": tuple(TECHNIQUES),
}
"""Names for several techniques at once."""

DEFAULT = "singles"


def parse_techniques(names: str | Iterable[str]) -> int:
    """Return the bits of a comma-separated list (or an iterable) of techniques and groups.

    Any technique includes naked singles, because a step always fixes cells with one candidate.

    Raises
    ------
    InputError
        If a name is unknown, or ``none`` is combined with another name.
    """
    if not isinstance(names, Iterable):
        raise InputError(f"techniques {described(names)}: expected names, separated by commas")
    if isinstance(names, str):
        names = names.split(",")
    words = [str(name).strip() for name in names]
    if "none" in words and len(words) > 1:
        raise InputError("technique 'none' cannot be combined with others")
    bits = 0
    for word in words:
        for name in GROUPS.get(word, (word,)):
            if name not in TECHNIQUES:
                expected = ", ".join([*TECHNIQUES, *GROUPS])
                raise InputError(f"unknown technique {shown(name)}: expected {expected}")
            bits |= TECHNIQUES[name] | TECHNIQUES["naked-single"]
    return bits


@cache
def technique_names(bits: int) -> str:
    """Return the comma-separated names of the techniques of some bits, ``none`` for 0."""
    return ",".join(name for name, bit in TECHNIQUES.items() if bits & bit) or "none"
