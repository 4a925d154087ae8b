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
from gpusudoku.kernels.lanes import load, store
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
    def full_rows(guards):
        """The cells of the rows whose guard bits are set."""
        return guards - (guards >> 9)

    @jit
    def single_in_row(x):
        """The rows, without the lowest place in each, that are empty then."""
        rest = x & (x - FIRSTS)
        return ~full_rows((rest + ROWS) & GUARDS)

    @jit
    def step(memory):
        some0, naked0 = survey(memory, 0)
        some1, naked1 = survey(memory, 1)
        some2, naked2 = survey(memory, 2)
        dead = (some0 & some1 & some2) ^ ROWS
        zero = dead & 0
        placed0, placed1, placed2 = zero, zero, zero
        unsolved, changed = zero, zero
        for d in range(9):
            old0, old1, old2 = load(memory, 3 * d), load(memory, 3 * d + 1), load(memory, 3 * d + 2)
            x0, x1, x2 = old0 & ~placed0, old1 & ~placed1, old2 & ~placed2
            if locked:
                x0, x1, x2 = keep_locked(x0, x1, x2)
            columns = x0 | x1 | x2  # of every band
            left, right = columns >> 1, columns >> 2
            upper, lower = columns >> 10, columns >> 20
            dead = dead | (((columns | left | right) & BOX_FIRSTS) ^ BOX_FIRSTS)
            dead = dead | (((columns | upper | lower) & ROW) ^ ROW)
            dead = dead | (((x0 + ROWS) & (x1 + ROWS) & (x2 + ROWS) & GUARDS) ^ GUARDS)
            if hidden:
                twice = at_least_two(x0, x1, x2)
                box = at_least_two(columns, left, right) | twice | (twice >> 1) | (twice >> 2)
                box = box & BOX_FIRSTS
                column = at_least_two(columns, upper, lower) | twice | (twice >> 10) | (twice >> 20)
                column = column & ROW
                column = column | (column << 10) | (column << 20)
                single = ~(((box << 3) - box) & column)
                p0 = x0 & (naked0 | single | single_in_row(x0))
                p1 = x1 & (naked1 | single | single_in_row(x1))
                p2 = x2 & (naked2 | single | single_in_row(x2))
            else:
                p0, p1, p2 = x0 & naked0, x1 & naked1, x2 & naked2
            placed0, placed1, placed2 = placed0 | p0, placed1 | p1, placed2 | p2
            store(memory, PLACED + 3 * d, p0)
            store(memory, PLACED + 3 * d + 1, p1)
            store(memory, PLACED + 3 * d + 2, p2)
            # The digit leaves all other places of the boxes, columns and rows where it stands.
            columns = p0 | p1 | p2
            box = (columns | (columns >> 1) | (columns >> 2)) & BOX_FIRSTS
            column = (columns | (columns >> 10) | (columns >> 20)) & ROW
            row0, row1, row2 = (p0 + ROWS) & GUARDS, (p1 + ROWS) & GUARDS, (p2 + ROWS) & GUARDS
            unsolved = unsolved | (column ^ ROW) | (box ^ BOX_FIRSTS)
            unsolved = unsolved | ((row0 & row1 & row2) ^ GUARDS)
            taken = ((box << 3) - box) | column | (column << 10) | (column << 20)
            x0 = (x0 & ~(taken | full_rows(row0))) | p0
            x1 = (x1 & ~(taken | full_rows(row1))) | p1
            x2 = (x2 & ~(taken | full_rows(row2))) | p2
            changed = changed | (x0 ^ old0) | (x1 ^ old1) | (x2 ^ old2)
            store(memory, 3 * d, x0)
            store(memory, 3 * d + 1, x1)
            store(memory, 3 * d + 2, x2)
        store(memory, CLEAR, placed0)
        store(memory, CLEAR + 1, placed1)
        store(memory, CLEAR + 2, placed2)
        # Hidden singles whose cells had more candidates: those are struck in the next step.
        changed = changed | (placed0 & ~naked0) | (placed1 & ~naked1) | (placed2 & ~naked2)
        return dead, unsolved, changed

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
