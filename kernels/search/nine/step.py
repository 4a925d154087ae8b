"""One step of simplifying 9x9 boards, without a branch: every lane takes the same path. 9x9 only.

A step looks at all cells and all units once. It strikes what the last step found (the other digits
of the cells where one was placed), finds naked singles over the nine planes, and then goes digit by
digit: locked candidates, hidden singles, and out of every unit that has its digit all other places.
What one digit places is gone for the digits after it in the same step.

A step is about a thousand branch-free instructions. A search that follows only what changed takes
fewer, but mispredicts several branches; and these instructions serve all lanes at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpusudoku.kernels.jit import Jit
from gpusudoku.kernels.lanes import less_shifted, load, store, thrice
from gpusudoku.kernels.search.nine.planes import (
    BIVALUE,
    BOX_FIRSTS,
    CLEAR,
    FIRSTS,
    GUARDS,
    OPEN,
    PLACED,
    ROW,
    ROWS,
)
from gpusudoku.kernels.search.settings import HIDDEN_SINGLE, LOCKED_CANDIDATES

LASTS = BOX_FIRSTS << 2
"""The last column of every box in every row."""
LEFT_BOX, RIGHT_BOX = FIRSTS, FIRSTS << 6
"""Of the first columns of boxes, those of the boxes on the left and on the right."""


def build_step(techniques: int, jit: Jit) -> Callable[..., tuple[Any, Any, Any]]:
    """Make ``step(memory)``: advance every lane; returns (dead, unsolved, changed), a word a lane.

    dead      not 0: the board has no solution
    unsolved  0: every cell has its digit, and if it is not dead the board is solved
    changed   0: nothing was found, there is nothing left but to guess (if not dead or solved)

    ``memory`` is uint32 (MEMORY_ROWS, lanes), as ``planes`` divides it. Of the techniques those of
    singles and locked candidates count; naked singles are always looked for.
    """
    hidden, locked = techniques & HIDDEN_SINGLE, techniques & LOCKED_CANDIDATES
    keep_locked = build_keep_locked(jit)

    @jit
    def survey(memory, k):
        """Strike what is to be cleared; cells with at least one and two candidates in words k."""
        clear = load(memory, CLEAR + k)
        one = clear & 0
        two, three = one, one
        for d in range(9):
            x = load(memory, 3 * d + k) & (load(memory, PLACED + 3 * d + k) | ~clear)
            store(memory, 3 * d + k, x)
            three = three | (two & x)
            two = two | (one & x)
            one = one | x
        store(memory, BIVALUE + k, two & ~three)
        store(memory, OPEN + k, two)
        return one, ~two

    @jit
    def at_least_two(x, y, z):
        return (x & y) | (z & (x | y))

    @jit
    def several_in_row(x):
        """The rows that are not empty without the lowest place in each."""
        rest = x & (x - FIRSTS)
        return less_shifted((rest + ROWS) & GUARDS, 9)

    @jit
    def all_of_box(firsts):
        """All columns of the boxes whose first ones are set, in every row."""
        return (firsts << 3) - firsts

    @jit
    def step(memory):
        some0, naked0 = survey(memory, 0)
        some1, naked1 = survey(memory, 1)
        some2, naked2 = survey(memory, 2)
        zero = some0 & 0
        # The first column of every box, the columns, and the guards of all rows, of which the bits
        # stay that are set for all digits: those that have a place there, and that stand there.
        boxes, columns, rows = ~zero, ~zero, ~zero
        full_boxes, full_columns, full_guards = ~zero, ~zero, ~zero
        placed0, placed1, placed2 = zero, zero, zero
        changed0, changed1, changed2 = zero, zero, zero
        for d in range(9):
            old0, old1, old2 = load(memory, 3 * d), load(memory, 3 * d + 1), load(memory, 3 * d + 2)
            x0, x1, x2 = old0 & ~placed0, old1 & ~placed1, old2 & ~placed2
            if locked:
                x0, x1, x2 = keep_locked(x0, x1, x2)
            bands = x0 | x1 | x2  # the columns of every band
            left, right = bands >> 1, bands >> 2
            upper, lower = bands >> 10, bands >> 20
            boxes = boxes & (bands | left | right)
            columns = columns & (bands | upper | lower)
            rows = rows & (x0 + ROWS) & (x1 + ROWS) & (x2 + ROWS)
            if hidden:
                twice = at_least_two(x0, x1, x2)
                box = at_least_two(bands, left, right) | twice | (twice >> 1) | (twice >> 2)
                column = at_least_two(bands, upper, lower) | twice | (twice >> 10) | (twice >> 20)
                several = all_of_box(box & BOX_FIRSTS) & thrice(column & ROW, 10)
                p0 = x0 & (naked0 | ~(several & several_in_row(x0)))
                p1 = x1 & (naked1 | ~(several & several_in_row(x1)))
                p2 = x2 & (naked2 | ~(several & several_in_row(x2)))
            else:
                p0, p1, p2 = x0 & naked0, x1 & naked1, x2 & naked2
            # Sums of what has no bit in common: as good as |, and on GPUs other units add.
            placed0, placed1, placed2 = placed0 + p0, placed1 + p1, placed2 + p2
            store(memory, PLACED + 3 * d, p0)
            store(memory, PLACED + 3 * d + 1, p1)
            store(memory, PLACED + 3 * d + 2, p2)
            # The digit leaves all other places of the boxes, columns and rows where it stands.
            bands = p0 | p1 | p2
            box = (bands | (bands >> 1) | (bands >> 2)) & BOX_FIRSTS
            column = (bands | (bands >> 10) | (bands >> 20)) & ROW
            row0, row1, row2 = (p0 + ROWS) & GUARDS, (p1 + ROWS) & GUARDS, (p2 + ROWS) & GUARDS
            full_boxes, full_columns = full_boxes & box, full_columns & column
            full_guards = full_guards & row0 & row1 & row2
            taken = all_of_box(box) | thrice(column, 10)
            x0 = (x0 & ~taken & ~less_shifted(row0, 9)) + p0
            x1 = (x1 & ~taken & ~less_shifted(row1, 9)) + p1
            x2 = (x2 & ~taken & ~less_shifted(row2, 9)) + p2
            changed0 = changed0 | (x0 ^ old0)
            changed1 = changed1 | (x1 ^ old1)
            changed2 = changed2 | (x2 ^ old2)
            store(memory, 3 * d, x0)
            store(memory, 3 * d + 1, x1)
            store(memory, 3 * d + 2, x2)
        store(memory, CLEAR, placed0)
        store(memory, CLEAR + 1, placed1)
        store(memory, CLEAR + 2, placed2)
        # Hidden singles whose cells had more candidates: those are struck in the next step.
        changed0 = changed0 | (placed0 & ~naked0)
        changed1 = changed1 | (placed1 & ~naked1)
        changed2 = changed2 | (placed2 & ~naked2)
        dead = ((some0 & some1 & some2) ^ ROWS) | (~boxes & BOX_FIRSTS)
        dead = dead | (~columns & ROW) | (~rows & GUARDS)
        unsolved = (full_boxes ^ BOX_FIRSTS) | (full_columns ^ ROW) | (full_guards ^ GUARDS)
        return dead, unsolved, changed0 | changed1 | changed2

    return step


def build_keep_locked(jit: Jit) -> Callable[..., tuple[int, int, int]]:
    """Make ``keep_locked(x0, x1, x2)``: the places of a digit that locked candidates leave.

    In a band the digit takes three rows and three boxes, each once: of the nine meetings of a row
    and a box only those can be right that two others, of the other rows and boxes, go with. That
    is pointing and claiming at once. Likewise for the meetings of columns and bands in a stack.
    """

    @jit
    def next_box(x):
        return ((x >> 3) & (BOX_FIRSTS ^ RIGHT_BOX)) | ((x << 6) & RIGHT_BOX)

    @jit
    def last_box(x):
        return ((x << 3) & (BOX_FIRSTS ^ LEFT_BOX)) | ((x >> 6) & LEFT_BOX)

    @jit
    def next_column(x):
        return ((x >> 1) & (ROWS ^ LASTS)) | ((x << 2) & LASTS)

    @jit
    def last_column(x):
        return ((x << 1) & (ROWS ^ BOX_FIRSTS)) | ((x >> 2) & BOX_FIRSTS)

    @jit
    def meetings(x):
        return (x | (x >> 1) | (x >> 2)) & BOX_FIRSTS

    @jit
    def keep_locked(x0, x1, x2):
        m0, m1, m2 = meetings(x0), meetings(x1), meetings(x2)
        n0, n1, n2 = next_box(m0), next_box(m1), next_box(m2)
        l0, l1, l2 = last_box(m0), last_box(m1), last_box(m2)
        m0 = m0 & ((n1 & l2) | (l1 & n2))
        m1 = m1 & ((n2 & l0) | (l2 & n0))
        m2 = m2 & ((n0 & l1) | (l0 & n1))
        columns = x0 | x1 | x2
        below = (columns >> 10) | ((columns << 20) & (ROW << 20))
        above = (columns >> 20) | ((columns << 10) & (ROWS - ROW))
        fits = (next_column(below) & last_column(above)) | (last_column(below) & next_column(above))
        return (
            x0 & fits & ((m0 << 3) - m0),
            x1 & fits & ((m1 << 3) - m1),
            x2 & fits & ((m2 << 3) - m2),
        )

    return keep_locked
