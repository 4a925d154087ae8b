"""Locked candidates, pairs, and contradictions that singles leave: in all lanes at once.

They are plain Python on the values of a machine, as ``step`` is.
"""

from __future__ import annotations

from typing import Any

from gpusudoku.kernels.search.machine import Machine
from gpusudoku.kernels.search.shape import HIDDEN_PAIR, NAKED_PAIR, Shape
from gpusudoku.kernels.search.units import Levels, Units, added, any_of, folded, total


def keep_locked(units: Units, x: Any) -> None:
    """Strike the places of a digit that locked candidates exclude.

    If the places of a digit in a box all lie in one line, the digit leaves the rest of the line:
    the box *points*. If its places in a line all lie in one box, it leaves the rest of the box: the
    line *claims* it. Two boxes that point to one line, and two lines that claim one box, lose all.
    """
    _keep_rows(units, x)
    _keep_columns(units, x)


def _keep_rows(units: Units, x: Any) -> None:
    """Look at where the rows of each band meet its boxes."""
    shape = units.shape
    for g in units.groups():
        words = units.words_of(g)
        # The boxes in which each row has places, as their first columns.
        meets = [folded([x[j]], shape.box_columns, 1, 1)[0] & shape.box_firsts for j in words]
        rows = total([[meet] for meet in meets], 2)
        pointing = rows[0] & ~units.two(rows)
        claimed = [meet & ~units.rows_with(units.without_lowest(meet)) for meet in meets]
        claims_of_box = total([[boxes] for boxes in claimed], 2)
        one = claims_of_box[0]
        twice = units.two(claims_of_box)
        for j, meet, claims in zip(words, meets, claimed, strict=True):
            points = meet & pointing
            kept = meet & ~(one & ~claims) & (points | ~units.rows_with(points))
            kept = kept & ~(units.rows_with(units.without_lowest(points)) | twice)
            x[j] = x[j] & units.of_box(kept)


def _keep_columns(units: Units, x: Any) -> None:
    """Look at where the columns of each stack meet its boxes."""
    shape = units.shape
    machine = units.machine
    meets = machine.words(shape.groups)
    pointing = machine.words(shape.groups)
    in_column: list[Any] = [machine.words(1), machine.words(1)]
    pointed: list[Any] = [machine.words(1), machine.words(1)]
    for g in units.groups():
        # The columns in which each box has places.
        meets[g] = any_of([x[j] for j in units.words_of(g)])
        columns = folded([meets[g]], shape.box_columns, 1, 2)
        pointing[g] = meets[g] & ~units.of_box(units.two(columns) & shape.box_firsts)
        for levels, value in (in_column, meets[g]), (pointed, pointing[g]):
            before: Levels = [level[0] for level in levels]
            found = added(before, units.over_bands([value], 2), 2)
            for level, count in zip(levels, found, strict=True):
                level[0] = count
    claimed = units.in_all_fields(in_column[0][0] & ~in_column[1][0])
    one, two = (units.in_all_fields(level[0]) for level in pointed)
    for g in units.groups():
        claims = meets[g] & claimed
        in_box = folded([claims], shape.box_columns, 1, 2)
        claimed_box, twice = (
            units.of_box(found & shape.box_firsts) for found in (in_box[0], units.two(in_box))
        )
        struck = (one & ~pointing[g]) | two | (claimed_box & ~claims) | twice
        for j in units.words_of(g):
            x[j] = x[j] & ~struck


def conflicts(shape: Shape, machine: Machine) -> Any:
    """Return the lanes where two cells of a unit have the same digit as their only candidate."""
    units = Units(shape, machine)
    found = machine.words(1)
    for d in machine.each(shape.n):
        x = units.load(d)
        for j, _ in units.plane():
            x[j] = x[j] & ~machine.load(shape.OPEN + j)
        crowded = units.units_with(x, 2)
        for j, _ in units.plane():
            found[0] = found[0] | (x[j] & crowded[j])
    return machine.nonzero(found[0])


def pairs(shape: Shape, machine: Machine, techniques: int) -> Any:
    """Strike what naked and hidden pairs exclude; return the lanes that changed.

    A naked pair is two cells of a unit with the same two candidates: these digits leave the other
    cells of all units that the two cells share. A hidden pair is two digits with the same two
    places in a unit, from which all other digits go, too. Needs the cells with two candidates, as a
    step leaves them.
    """
    units = Units(shape, machine)
    changed = machine.words(1)
    for before in machine.each(shape.n - 1) if shape.n > 1 else ():
        for e in machine.each(before + 1):
            if techniques & NAKED_PAIR:
                _naked_pair(units, before + 1, e, changed)
            if techniques & HIDDEN_PAIR:
                _hidden_pair(units, before + 1, e, changed)
    return machine.nonzero(changed[0])


def _strike(units: Units, d: Any, struck: Any, changed: Any) -> None:
    """Strike a digit in some cells."""
    for j, _ in units.plane():
        row = d * units.shape.plane_words + j
        x = units.machine.load(row)
        changed[0] = changed[0] | (x & struck[j])
        units.machine.store(row, x & ~struck[j])


def _naked_pair(units: Units, d: Any, e: Any, changed: Any) -> None:
    """Look for pairs of cells with two digits; a third such cell loses both."""
    shape = units.shape
    machine = units.machine
    both = units.words()
    some = machine.words(1)
    x = units.load(d)
    y = units.load(e)
    for j, _ in units.plane():
        both[j] = x[j] & y[j] & machine.load(shape.PAIRS + j)
        some[0] = some[0] | both[j]
    for _ in machine.when(some[0]):
        struck = units.units_with(both, 2)
        three = units.units_with(both, 3)
        for j, _ in units.plane():
            struck[j] = (struck[j] & ~both[j]) | three[j]
        _strike(units, d, struck, changed)
        _strike(units, e, struck, changed)


def _hidden_pair(units: Units, d: Any, e: Any, changed: Any) -> None:
    """Look for units where two digits have the same two places."""
    shape = units.shape
    machine = units.machine
    K = units.shape.plane_words
    both = units.words()
    one = units.words()
    x = units.load(d)
    y = units.load(e)
    for j, _ in units.plane():
        both[j] = x[j] & y[j]
        one[j] = x[j] ^ y[j]
    with_two, with_three, with_one = (
        units.by_kind(cells, number) for cells, number in ((both, 2), (both, 3), (one, 1))
    )
    found = [units.words() for _ in with_two]
    some = machine.words(1)
    for kind, pair in enumerate(found):
        for j, _ in units.plane():
            outside = with_three[kind][j] | with_one[kind][j]
            pair[j] = both[j] & with_two[kind][j] & ~outside
            some[0] = some[0] | pair[j]
    for _ in machine.when(some[0]):
        struck = _beside_pairs(units, *found)
        pair = units.words()
        for j, _ in units.plane():
            pair[j] = any_of([cells[j] for cells in found])
            # First as if the two digits went, too.
            machine.store(d * K + j, x[j] & ~pair[j])
            machine.store(e * K + j, y[j] & ~pair[j])
        for f in machine.each(shape.n):
            _strike(units, f, pair, changed)
        for j, _ in units.plane():
            beside = struck[j] & ~pair[j]
            changed[0] = changed[0] | ((x[j] | y[j]) & beside)
            machine.store(d * K + j, x[j] & ~beside)
            machine.store(e * K + j, y[j] & ~beside)


def _beside_pairs(units: Units, in_rows: Any, in_columns: Any, in_boxes: Any) -> Any:
    """Return the units that both cells of a pair share; pairs are given by the units they are in.

    Two cells share a second unit where they lie in the same row, or column, of a box.
    """
    shape = units.shape
    machine = units.machine
    struck = units.words()
    columns = machine.words(1)
    for g in units.groups():
        words = units.words_of(g)
        row_pairs = [
            any_of([units.two(folded([cells[j]], shape.box_columns, 1, 2)) & shape.box_firsts
                    for cells in (in_rows, in_boxes)])
            for j in words
        ]  # fmt: skip
        column_pairs = any_of([units.two(total([[cells[j]] for j in words], 2))
                               for cells in (in_columns, in_boxes)])  # fmt: skip
        columns[0] = columns[0] | units.over_bands([column_pairs], 1)[0]
        boxes = folded([column_pairs], shape.box_columns, 1, 1)[0] & shape.box_firsts
        box = units.of_box(any_of([boxes, *row_pairs]))
        for j, pair in zip(words, row_pairs, strict=True):
            struck[j] = box | units.rows_with(pair)
    column = units.in_all_fields(columns[0])
    for j, _ in units.plane():
        struck[j] = struck[j] | column
    return struck
