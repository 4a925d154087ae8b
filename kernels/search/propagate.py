"""The techniques applied to one board until none of them finds anything."""

from __future__ import annotations

from collections.abc import Callable

from gpusudoku.kernels.bits import ZERO
from gpusudoku.kernels.jit import Jit
from gpusudoku.kernels.search.layout import Layout
from gpusudoku.kernels.search.locked import build_locked_candidates
from gpusudoku.kernels.search.pairs import build_hidden_pairs, build_naked_pairs
from gpusudoku.kernels.search.settings import (
    CHANGED,
    HIDDEN_PAIR,
    HIDDEN_SINGLE,
    LOCKED_CANDIDATES,
    NAKED_PAIR,
    OPEN,
)
from gpusudoku.kernels.search.singles import build_fix_singles, build_hidden_singles, build_survey


def build_propagate(layout: Layout, techniques: int, jit: Jit) -> Callable[..., int]:
    """Make ``propagate(s, scratch, nonpeers)``: returns DEAD, SOLVED, or OPEN.

    Whatever the techniques, a cell left with one candidate is fixed at once and a cell left with
    none is DEAD. With techniques 0 the board is only surveyed and may come back CHANGED: cells with
    one candidate are then left to the guessing. The cheapest technique that finds something goes
    first. scratch holds the last survey, which is still true of the board.
    """
    pending = layout.pending
    survey = build_survey(layout, jit)
    fix_singles = build_fix_singles(layout, jit)
    hidden_singles = build_hidden_singles(layout, jit)
    locked_candidates = build_locked_candidates(layout, jit)
    naked_pairs = build_naked_pairs(layout, jit)
    hidden_pairs = build_hidden_pairs(layout, jit)

    @jit
    def propagate(s, scratch, nonpeers):
        unlocked = ZERO  # digits whose plane changed since locked candidates were looked for
        while True:
            status = survey(s, scratch)
            if techniques == 0:
                return status
            if status == CHANGED:
                fix_singles(s, scratch, nonpeers)
                continue
            unlocked |= s[pending]
            if status == OPEN and techniques & HIDDEN_SINGLE:
                status = hidden_singles(s, scratch)
            if status == OPEN and techniques & LOCKED_CANDIDATES:
                status = locked_candidates(s, scratch, unlocked)
                unlocked = ZERO
            if status == OPEN and techniques & NAKED_PAIR:
                status = naked_pairs(s, scratch, nonpeers)
            if status == OPEN and techniques & HIDDEN_PAIR:
                status = hidden_pairs(s, scratch, nonpeers)
            if status != CHANGED:
                return status

    return propagate
