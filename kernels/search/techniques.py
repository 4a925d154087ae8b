"""Techniques that work on all lanes at once: locked candidates, pairs, and conflicts.

Like ``step`` they are plain Python on the values of a machine; see ``machine``. ``units`` explains
counts, and functions that take them.
"""

from __future__ import annotations

from typing import Any

from gpusudoku.kernels.search.machine import Machine
from gpusudoku.kernels.search.shape import HIDDEN_PAIR, NAKED_PAIR, Shape
from gpusudoku.kernels.search.units import (
    Counts,
    Units,
    add_counts,
    sum_counts,
    sum_windows,
    union_of,
)


def keep_locked(units: Units, places: Any) -> None:
    """Remove the places of a digit that locked candidates exclude.

    If all places of a digit in a box are in one line (a row or column), the digit is removed from
    the rest of the line: the box *points* to the line. If all its places in a line are in one box,
    it is removed from the rest of the box: the line *claims* the box. If two boxes point to one
    line, or two lines claim one box, the board has no solution, and all places there are removed.
    """
    _keep_locked_in_rows(units, places)
    _keep_locked_in_columns(units, places)


def _keep_locked_in_rows(units: Units, places: Any) -> None:
    """Apply locked candidates where rows meet boxes: in each band by itself.

    A row meets each box of its band in C cells. Here such a *meeting* is one bit, that of the first
    of these cells. So the word of a row has, for each of its bands, R bits: one for each box.
    """
    shape = units.shape
    for g in units.groups():
        words = units.words_of(g)
        # The meetings in which each row has places.
        meetings = [
            sum_windows([places[j]], shape.box_columns, 1, 1)[0] & shape.first_columns_of_boxes
            for j in words
        ]
        rows_of_boxes = sum_counts([[meeting] for meeting in meetings], 2)
        # Boxes with places in one row only.
        pointing = rows_of_boxes[0] & ~units.two(rows_of_boxes)
        # The meetings of rows with places in one box only.
        claims = [meeting & ~units.rows_with(units.without_lowest(meeting)) for meeting in meetings]
        claims_of_boxes = sum_counts([[claim] for claim in claims], 2)
        claimed = claims_of_boxes[0]
        claimed_twice = units.two(claims_of_boxes)
        for j, meeting, claim in zip(words, meetings, claims, strict=True):
            points = meeting & pointing
            # Keep a meeting unless another row claims the box, or another box points to the row.
            allowed = meeting & ~(claimed & ~claim) & (points | ~units.rows_with(points))
            pointed_twice = units.rows_with(units.without_lowest(points))
            allowed = allowed & ~(pointed_twice | claimed_twice)
            places[j] = places[j] & units.of_box(allowed)


def _keep_locked_in_columns(units: Units, places: Any) -> None:
    """Apply locked candidates where columns meet boxes: in each stack of boxes by itself.

    A column meets a box in the R words of the box's group, at one bit. So a meeting is this bit, in
    one word for each group.
    """
    shape = units.shape
    machine = units.machine
    meetings = machine.words(shape.groups)
    pointing = machine.words(shape.groups)
    # Counts of the columns: the boxes that have places there, and those of them that point.
    box_counts: list[Any] = [machine.words(1), machine.words(1)]
    pointing_counts: list[Any] = [machine.words(1), machine.words(1)]
    for g in units.groups():
        meetings[g] = union_of([places[j] for j in units.words_of(g)])
        columns_of_boxes = sum_windows([meetings[g]], shape.box_columns, 1, 2)
        pointing[g] = meetings[g] & ~units.of_box(
            units.two(columns_of_boxes) & shape.first_columns_of_boxes
        )
        for levels, value in (box_counts, meetings[g]), (pointing_counts, pointing[g]):
            previous: Counts = [level[0] for level in levels]
            sums = add_counts(previous, units.over_bands([value], 2), 2)
            for level, level_sum in zip(levels, sums, strict=True):
                level[0] = level_sum
    claiming_columns = units.in_all_fields(box_counts[0][0] & ~box_counts[1][0])
    pointed = units.in_all_fields(pointing_counts[0][0])
    pointed_twice = units.in_all_fields(pointing_counts[1][0])
    for g in units.groups():
        claims = meetings[g] & claiming_columns
        claims_of_boxes = sum_windows([claims], shape.box_columns, 1, 2)
        claimed = units.of_box(claims_of_boxes[0] & shape.first_columns_of_boxes)
        claimed_twice = units.of_box(units.two(claims_of_boxes) & shape.first_columns_of_boxes)
        # Remove where another box points to the column, or another column claims the box.
        removed = (pointed & ~pointing[g]) | pointed_twice | (claimed & ~claims) | claimed_twice
        for j in units.words_of(g):
            places[j] = places[j] & ~removed


def find_conflicts(shape: Shape, machine: Machine) -> Any:
    """Return the lanes where two cells of a unit have the same digit as their only candidate."""
    units = Units(shape, machine)
    conflicts = machine.words(1)
    for d in machine.each(shape.n):
        cells = units.load(d)
        for j, _ in units.plane():
            cells[j] = cells[j] & ~machine.load(shape.OPEN + j)
        crowded = units.units_with(cells, 2)
        for j, _ in units.plane():
            conflicts[0] = conflicts[0] | (cells[j] & crowded[j])
    return machine.nonzero(conflicts[0])


def apply_pairs(shape: Shape, machine: Machine, techniques: int) -> Any:
    """Remove the candidates that naked and hidden pairs exclude; return the lanes that changed.

    A naked pair is two cells of a unit with the same two candidates. These digits are removed from
    the other cells of all units that the two cells share. A hidden pair is two digits with the same
    two places in a unit. All other digits are removed from these cells, so they are a naked pair.

    Needs the cells with two candidates, PAIRS, as a step leaves them.
    """
    units = Units(shape, machine)
    changed = machine.words(1)
    # All pairs of digits, the lower one second.
    for d_before in machine.each(shape.n - 1) if shape.n > 1 else ():
        for e in machine.each(d_before + 1):
            if techniques & NAKED_PAIR:
                _apply_naked_pairs(units, d_before + 1, e, changed)
            if techniques & HIDDEN_PAIR:
                _apply_hidden_pairs(units, d_before + 1, e, changed)
    return machine.nonzero(changed[0])


def _remove(units: Units, d: Any, removed: Any, changed: Any) -> None:
    """Remove a digit from some cells; add the cells that had it to ``changed``."""
    for j, _ in units.plane():
        row = d * units.shape.plane_words + j
        places = units.machine.load(row)
        changed[0] = changed[0] | (places & removed[j])
        units.machine.store(row, places & ~removed[j])


def _apply_naked_pairs(units: Units, d: Any, e: Any, changed: Any) -> None:
    """Apply the naked pairs of two digits.

    If three cells of a unit have just these two candidates, the board has no solution, and the
    digits are removed from all of them.
    """
    shape = units.shape
    machine = units.machine
    pair_cells = units.words()
    any_pair = machine.words(1)
    d_places = units.load(d)
    e_places = units.load(e)
    for j, _ in units.plane():
        pair_cells[j] = d_places[j] & e_places[j] & machine.load(shape.PAIRS + j)
        any_pair[0] = any_pair[0] | pair_cells[j]
    for _ in machine.when(any_pair[0]):
        removed = units.units_with(pair_cells, 2)
        with_three = units.units_with(pair_cells, 3)
        for j, _ in units.plane():
            removed[j] = (removed[j] & ~pair_cells[j]) | with_three[j]
        _remove(units, d, removed, changed)
        _remove(units, e, removed, changed)


def _apply_hidden_pairs(units: Units, d: Any, e: Any, changed: Any) -> None:
    """Apply the hidden pairs of two digits."""
    shape = units.shape
    machine = units.machine
    K = units.shape.plane_words
    with_both = units.words()
    with_one = units.words()
    d_places = units.load(d)
    e_places = units.load(e)
    for j, _ in units.plane():
        with_both[j] = d_places[j] & e_places[j]
        with_one[j] = d_places[j] ^ e_places[j]

    # A unit has a hidden pair if exactly two of its cells have both digits, and no cell has just
    # one of them. Pairs are kept by the kind of this unit: row, column, box.
    two_both = units.by_kind(with_both, 2)
    three_both = units.by_kind(with_both, 3)
    any_one = units.by_kind(with_one, 1)
    pairs_by_kind = [units.words() for _ in two_both]
    any_pair = machine.words(1)
    for kind, pair_cells in enumerate(pairs_by_kind):
        for j, _ in units.plane():
            excluded = three_both[kind][j] | any_one[kind][j]
            pair_cells[j] = with_both[j] & two_both[kind][j] & ~excluded
            any_pair[0] = any_pair[0] | pair_cells[j]

    for _ in machine.when(any_pair[0]):
        shared_units = _units_of_pairs(units, *pairs_by_kind)
        pair_cells = units.words()
        for j, _ in units.plane():
            pair_cells[j] = union_of([cells[j] for cells in pairs_by_kind])
            # Remove the two digits, too, so that the loop over all digits need not spare them.
            # They are put back below.
            machine.store(d * K + j, d_places[j] & ~pair_cells[j])
            machine.store(e * K + j, e_places[j] & ~pair_cells[j])
        for f in machine.each(shape.n):
            _remove(units, f, pair_cells, changed)
        for j, _ in units.plane():
            peers = shared_units[j] & ~pair_cells[j]
            changed[0] = changed[0] | ((d_places[j] | e_places[j]) & peers)
            machine.store(d * K + j, d_places[j] & ~peers)
            machine.store(e * K + j, e_places[j] & ~peers)


def _units_of_pairs(units: Units, in_rows: Any, in_columns: Any, in_boxes: Any) -> Any:
    """Return all cells of the units that both cells of a pair share.

    Pairs are given by the kind of the unit in which they were found. The two cells share a second
    unit if they are in the same row, or the same column, of one box.
    """
    shape = units.shape
    machine = units.machine
    shared = units.words()
    shared_columns = machine.words(1)
    for g in units.groups():
        words = units.words_of(g)
        # Where a row meets a box, in both cells of a pair.
        row_pairs = []
        for j in words:
            two_by_kind = []
            for cells in in_rows, in_boxes:
                in_row = sum_windows([cells[j]], shape.box_columns, 1, 2)
                two_by_kind.append(units.two(in_row) & shape.first_columns_of_boxes)
            row_pairs.append(union_of(two_by_kind))
        # Where a column meets a box, in both cells of a pair.
        two_by_kind = [
            units.two(sum_counts([[cells[j]] for j in words], 2))
            for cells in (in_columns, in_boxes)
        ]
        column_pairs = union_of(two_by_kind)
        shared_columns[0] = shared_columns[0] | units.over_bands([column_pairs], 1)[0]
        boxes = (
            sum_windows([column_pairs], shape.box_columns, 1, 1)[0] & shape.first_columns_of_boxes
        )
        box = units.of_box(union_of([boxes, *row_pairs]))
        for j, row_pair in zip(words, row_pairs, strict=True):
            shared[j] = box | units.rows_with(row_pair)
    column = units.in_all_fields(shared_columns[0])
    for j, _ in units.plane():
        shared[j] = shared[j] | column
    return shared
