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
    CHANGED,
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
    keep_locked, (all_of_box, rows_with) = build_keep_locked(jit), build_units(jit)

    @jit
    def at_least_two(x, y, z):
        return (x & y) | (z & (x | y))

    @jit
    def struck(memory, d, k):
        """Word k of a digit, once what is to be cleared is struck."""
        x = load(memory, 3 * d + k) & (load(memory, PLACED + 3 * d + k) | ~load(memory, CLEAR + k))
        store(memory, 3 * d + k, x)
        return x

    @jit
    def summed(memory, d, k):
        """Of three digits, whether an odd number, and whether several, are candidates of a cell."""
        x, y, z = struck(memory, d, k), struck(memory, d + 1, k), struck(memory, d + 2, k)
        return x ^ y ^ z, at_least_two(x, y, z)

    @jit
    def survey(memory, k):
        """Strike what is to be cleared; cells with at least one candidate and at most one.

        Counts them as a full adder does: a cell has ``odd``, 1 or 0, and two for each ``pair``.
        """
        odd0, pair0 = summed(memory, 0, k)
        odd1, pair1 = summed(memory, 3, k)
        odd2, pair2 = summed(memory, 6, k)
        odd, pair = odd0 ^ odd1 ^ odd2, at_least_two(odd0, odd1, odd2)
        pairs = pair0 | pair1 | pair2
        several_pairs = at_least_two(pair0, pair1, pair2) | (pair & pairs)
        pairs = pairs | pair
        store(memory, BIVALUE + k, pairs & ~odd & ~several_pairs)
        store(memory, OPEN + k, pairs)
        return odd | pairs, ~pairs

    @jit
    def several_in_row(x):
        """The rows that are not empty without the lowest place in each."""
        return rows_with(x & (x - FIRSTS))

    @jit
    def step(memory):
        some0, naked0 = survey(memory, 0)
        some1, naked1 = survey(memory, 1)
        some2, naked2 = survey(memory, 2)
        zero = some0 & 0
        # The first columns of boxes, columns and guards of rows that have a place for every digit.
        boxes, columns, rows = ~zero, ~zero, ~zero
        # Sums of the units where each digit stands, the highest possible ones only if all digits
        # stand everywhere. That of full rows overflows, but each that lacks takes away 511 or that
        # many thousands or millions (of 1024), together never a multiple of 2^32.
        sum_boxes, sum_columns, sum_rows = zero, zero, zero
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
            row0, row1, row2 = rows_with(p0), rows_with(p1), rows_with(p2)
            sum_boxes, sum_columns = sum_boxes + box, sum_columns + column
            sum_rows = sum_rows + row0 + row1 + row2
            taken = all_of_box(box) | thrice(column, 10)
            x0 = (x0 & ~taken & ~row0) + p0
            x1 = (x1 & ~taken & ~row1) + p1
            x2 = (x2 & ~taken & ~row2) + p2
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
        store(memory, CHANGED, changed0)
        store(memory, CHANGED + 1, changed1)
        store(memory, CHANGED + 2, changed2)
        dead = ((some0 & some1 & some2) ^ ROWS) | (~boxes & BOX_FIRSTS)
        dead = dead | (~columns & ROW) | (~rows & GUARDS)
        unsolved = (sum_boxes ^ 9 * BOX_FIRSTS) | (sum_columns ^ 9 * ROW)
        unsolved = unsolved | (sum_rows ^ (27 * ROWS & 0xFFFFFFFF))
        return dead, unsolved, changed0 | changed1 | changed2

    return step


def build_units(jit: Jit) -> tuple[Callable[..., Any], ...]:
    """Make ``all_of_box(firsts)`` and ``rows_with(x)``."""

    @jit
    def all_of_box(firsts):
        """All columns of the boxes whose first ones are set, in every row."""
        return (firsts << 3) - firsts

    @jit
    def rows_with(x):
        """All cells of the rows that have any of x."""
        return less_shifted((x + ROWS) & GUARDS, 9)

    return all_of_box, rows_with


def build_lasting(jit: Jit) -> Callable[..., Any]:
    """Make ``lasting(memory)``: whether a board that still changes may be split already.

    A cell with two candidates that did not change, and sees no cell that did, most likely keeps
    both. It may as well be split at once as when nothing changes any more, and steps are saved.
    Only such cells count as cells with two candidates from then on; not 0 if there are any.
    """
    all_of_box, rows_with = build_units(jit)

    @jit
    def lasting(memory):
        x0, x1, x2 = load(memory, CHANGED), load(memory, CHANGED + 1), load(memory, CHANGED + 2)
        bands = x0 | x1 | x2
        boxes = all_of_box((bands | (bands >> 1) | (bands >> 2)) & BOX_FIRSTS)
        seen = boxes | thrice((bands | (bands >> 10) | (bands >> 20)) & ROW, 10)
        bivalue0 = load(memory, BIVALUE) & ~(seen | rows_with(x0))
        bivalue1 = load(memory, BIVALUE + 1) & ~(seen | rows_with(x1))
        bivalue2 = load(memory, BIVALUE + 2) & ~(seen | rows_with(x2))
        store(memory, BIVALUE, bivalue0)
        store(memory, BIVALUE + 1, bivalue1)
        store(memory, BIVALUE + 2, bivalue2)
        return bivalue0 | bivalue1 | bivalue2

    return lasting


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
