"""One step of simplifying boards, without a branch: every lane takes the same path.

A step looks at all cells and all units once. It strikes what the last step found (the other
candidates of the cells where a digit was placed), counts the candidates of every cell, and then
goes digit by digit: locked candidates, hidden singles, and out of every unit that has its digit
all other places. What one digit places is gone for the digits after it in the same step.

On a 9x9 board that is about a thousand instructions. A search that follows only what changed takes
fewer, but mispredicts several branches; and these serve all lanes at once. ``shape`` draws the
words, ``units`` counts in rows, columns and boxes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from gpusudoku.kernels.search.choose import lasting, narrow
from gpusudoku.kernels.search.machine import Machine, traced
from gpusudoku.kernels.search.shape import (
    HIDDEN_SINGLE,
    LOCKED_CANDIDATES,
    PLACES,
    UNROLLED_WORDS,
    Shape,
)
from gpusudoku.kernels.search.techniques import conflicts, keep_locked, pairs
from gpusudoku.kernels.search.units import Units, total


class Steps(NamedTuple):
    """What is done to all lanes of a memory: functions of it, which kernels call."""

    advance: Callable[..., Any]
    """``step``"""
    find_pairs: Callable[..., Any]
    """``techniques.pairs``"""
    find_conflicts: Callable[..., Any]
    """``techniques.conflicts``"""
    keep_best: Callable[..., Any]
    """``choose.narrow``"""


def build_steps(shape: Shape, techniques: int, lanes: int, with_lasting: bool = False) -> Steps:
    """Make them for so many lanes; see ``traced`` and ``step``."""
    return Steps(
        traced(step, 4 if with_lasting else 3, shape, lanes, techniques, with_lasting),
        traced(pairs, 1, shape, lanes, techniques),
        traced(conflicts, 1, shape, lanes),
        traced(narrow, 1, shape, lanes),
    )


def overlooks(techniques: int) -> bool:
    """Tell whether steps go on with boards that have conflicts, which nothing else would end.

    They do where they do not see units without a place for a digit. Without techniques, guesses
    strike their digits themselves.
    """
    return techniques != 0 and techniques & PLACES == 0


def step(
    shape: Shape, machine: Machine, techniques: int, with_lasting: bool = False
) -> tuple[Any, ...]:
    """Advance every lane; return (dead, unsolved, changed), as bits of the lanes.

    dead      set: the board has no solution
    unsolved  clear: every cell has its digit, and if it is not dead the board is solved
    changed   clear: nothing was found, there is nothing left but to guess (if not dead or solved)

    With ``with_lasting``, which needs techniques, the fourth result is that of ``lasting``.
    """
    if not techniques:
        return _look(shape, machine)
    units = Units(shape, machine)
    n = shape.n
    K = shape.plane_words
    G = shape.groups
    hidden = techniques & HIDDEN_SINGLE
    locked = techniques & LOCKED_CANDIDATES
    missing, several = _count_candidates(units)
    # Units that have a place for every digit, then those in which every digit stands.
    rows = machine.words(1, -1)
    columns = machine.words(1, -1)
    boxes = machine.words(G, -1)
    all_rows = machine.words(1, -1)
    all_columns = machine.words(1, -1)
    all_boxes = machine.words(G, -1)
    placed, x, p = (units.words() for _ in range(3))
    before = units.words() if locked else x
    changed = machine.words(K if with_lasting else 1)
    for number in machine.digits(n):
        # Downwards: a placed digit is the lowest that its cell has left, which CLEAR relies on.
        d = number * -1 + (n - 1)
        # x: the places that the digit still has.
        for j, _ in units.plane():
            before[j] = x[j] = machine.load(d * K + j) & ~placed[j]
        if locked:
            keep_locked(units, x)
        if hidden or locked:
            in_boxes, in_columns = units.levels(x, 2 if hidden else 1)
            columns[0] = columns[0] & in_columns[0]
            for j, _ in units.plane():
                rows[0] = units.without_empty_row(rows[0], x[j])
            for g in units.groups():
                boxes[g] = boxes[g] & in_boxes[0][g]
        # p: the cells where it is placed, naked or hidden singles.
        if hidden:
            two_in_column = units.in_all_fields(in_columns[1])
        for g in units.groups():
            if hidden:
                two = units.of_box(in_boxes[1][g]) & two_in_column
            for j in units.words_of(g):
                elsewhere = several[j]
                if hidden:
                    two_in_row = units.rows_with(units.without_lowest(x[j]))
                    elsewhere = elsewhere & two & two_in_row
                p[j] = x[j] & ~elsewhere
                placed[j] = machine.union(placed[j], p[j])
        # It leaves all other places of the units where it stands.
        in_boxes, in_columns = units.levels(p, 1)
        columns_taken = units.in_all_fields(in_columns[0])
        all_columns[0] = all_columns[0] & columns_taken
        for g in units.groups():
            all_boxes[g] = all_boxes[g] & in_boxes[0][g]
            taken = units.of_box(in_boxes[0][g]) | columns_taken
            for j in units.words_of(g):
                row = units.rows_with(p[j])
                all_rows[0] = all_rows[0] & row
                new = machine.union(x[j] & ~taken & ~row, p[j])
                k = j if with_lasting else 0
                changed[k] = changed[k] | (new ^ before[j])
                machine.store(d * K + j, new)
    any_changed = machine.words(1)
    for j, _ in units.plane():
        machine.store(shape.CLEAR + j, placed[j])
        # Hidden singles whose cells had more candidates: those are struck in the next step.
        here = placed[j] & several[j]
        if with_lasting:
            here = here | changed[j]
            changed[j] = here
        any_changed[0] = any_changed[0] | here
    if not with_lasting:
        any_changed[0] = any_changed[0] | changed[0]
    dead = missing
    if hidden or locked:
        dead = dead | (~columns[0] & shape.row) | units.empty_rows(rows[0])
        for g in units.groups():
            dead = dead | (~boxes[g] & shape.box_firsts)
    unsolved = (~all_columns[0] & shape.cells) | (~all_rows[0] & shape.cells)
    for g in units.groups():
        unsolved = unsolved | (~all_boxes[g] & shape.box_firsts)
    results = tuple(map(machine.nonzero, (dead, unsolved, any_changed[0])))
    return (*results, lasting(units, changed)) if with_lasting else results


def _count_candidates(units: Units) -> tuple[Any, Any]:
    """Strike what the last step left to strike, and count the candidates of every cell.

    Stores the cells with two candidates, and with two or more. Returns a value that is not 0 where
    a cell has none, and the cells with two or more. It counts as a full adder does: a cell has
    ``odd``, 1 or 0, and two for each ``pair``.
    """
    shape = units.shape
    machine = units.machine
    K = units.shape.plane_words
    missing = machine.words(1)
    several = units.words()
    for j in machine.each(K, K <= UNROLLED_WORDS):
        clear = machine.load(shape.CLEAR + j)
        cleared = machine.value(0)
        odd = []
        pairs = []
        for d in range(shape.n):
            x = machine.load(d * K + j) & ~cleared
            cleared = cleared | (x & clear)
            machine.store(d * K + j, x)
            odd.append(x)
        while len(odd) > 1:
            three = odd[:3]
            odd = odd[3:]
            pairs.append(total([[x] for x in three], 2)[1])
            odd.append(three[0] ^ three[1] if len(three) == 2 else three[0] ^ three[1] ^ three[2])
        levels = total([[pair] for pair in pairs], 2) if pairs else [machine.value(0)]
        some = levels[0]
        machine.store(shape.PAIRS + j, some & ~odd[0] & ~units.two(levels))
        machine.store(shape.OPEN + j, some)
        missing[0] = missing[0] | ((odd[0] | some) ^ shape.cells)
        several[j] = some
    return missing[0], several


def _look(shape: Shape, machine: Machine) -> tuple[Any, Any, Any]:
    """Do the step of a search without techniques, where nothing is placed but by guesses.

    A cell with one candidate is open, too, until its digit has no other place in its units.
    """
    units = Units(shape, machine)
    missing, several = _count_candidates(units)
    singles = units.words()
    single = machine.words(1)
    unsolved = machine.words(1)
    for d in machine.each(shape.n):
        x = units.load(d)
        crowded = units.units_with(x, 2)
        for j, _ in units.plane():
            singles[j] = singles[j] | (x[j] & crowded[j] & ~several[j])
    for j, _ in units.plane():
        single[0] = single[0] | singles[j]
    some = machine.filled(single[0], 1)
    for j, _ in units.plane():
        pairs = machine.load(shape.PAIRS + j)
        machine.store(shape.PAIRS + j, singles[j] | (pairs & ~some))
        machine.store(shape.OPEN + j, several[j] | singles[j])
        unsolved[0] = unsolved[0] | several[j] | singles[j]
    never = machine.nonzero(machine.value(0))
    return machine.nonzero(missing), machine.nonzero(unsolved[0]), never
