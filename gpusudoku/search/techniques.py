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
"""The bit of every technique, in the order in which people try them."""

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

    Any technique brings naked singles with it: a cell left with one candidate is fixed at once.
    InputError is raised if a name is unknown, or ``none`` is not alone.
    """
    if not isinstance(names, Iterable):
        raise InputError(f"techniques {described(names)}: expected names, separated by commas")
    listed = names.split(",") if isinstance(names, str) else names
    words = [str(word).strip() for word in listed]
    if "none" in words and len(words) > 1:
        raise InputError("technique 'none' goes with no other")
    bits = 0
    for word in words:
        for name in GROUPS.get(word, (word,)):
            if name not in TECHNIQUES:
                known = ", ".join([*TECHNIQUES, *GROUPS])
                raise InputError(f"unknown technique {shown(name)}: expected {known}")
            bits |= TECHNIQUES[name] | TECHNIQUES["naked-single"]
    return bits


@cache
def technique_names(bits: int) -> str:
    """Return the comma-separated list for some bits, ``none`` for 0."""
    return ",".join(name for name, bit in TECHNIQUES.items() if bits & bit) or "none"
