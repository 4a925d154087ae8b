"""One step of simplifying boards. It has no branches: all lanes execute the same instructions.

A step looks once at all cells and all units. It first removes the candidates that the last step
marked: those of cells in which a digit was placed. It counts the candidates of every cell. Then it
goes through the digits: it applies locked candidates, places the digit at naked and hidden singles,
and removes it from the other cells of their units. A digit that is processed later in the same step
no longer has places in the cells that were filled before.

On a 9x9 board a step takes about a thousand instructions. A search that updates only what changed
takes fewer, but mispredicts several branches; and a step serves all lanes at once. ``shape`` draws
the words, ``units`` counts in rows, columns and boxes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from gpusudoku.kernels.search.choose import lasting, narrow
from gpusudoku.kernels.search.machine import Machine
from gpusudoku.kernels.search.shape import (
    HIDDEN_SINGLE,
    LOCKED_CANDIDATES,
    PLACES,
    UNROLLED_WORDS,
    Shape,
)
from gpusudoku.kernels.search.techniques import apply_pairs, find_conflicts, keep_locked
from gpusudoku.kernels.search.tracing import traced
from gpusudoku.kernels.search.units import Units, sum_counts


class Steps(NamedTuple):
    """Functions of a memory that work on all its lanes, for kernels to call."""

    advance: Callable[..., Any]
    """``step``"""
    apply_pairs: Callable[..., Any]
    """``techniques.apply_pairs``"""
    find_conflicts: Callable[..., Any]
    """``techniques.find_conflicts``"""
    keep_best: Callable[..., Any]
    """``choose.narrow``"""


def build_steps(shape: Shape, techniques: int, lanes: int, with_lasting: bool = False) -> Steps:
    """Make the functions that a kernel calls for a memory of this many lanes.

    The numbers say how many values each returns, see ``traced``. For ``with_lasting`` see ``step``.
    """
    return Steps(
        traced(step, 4 if with_lasting else 3, shape, lanes, techniques, with_lasting),
        traced(apply_pairs, 1, shape, lanes, techniques),
        traced(find_conflicts, 1, shape, lanes),
        traced(narrow, 1, shape, lanes),
    )


def overlooks_conflicts(techniques: int) -> bool:
    """Return whether steps may never find out that a board with conflicts is dead.

    They may, if they do not look for units without a place for a digit. Without any techniques they
    are not needed for that: each guess removes its digit from the peers by itself.
    """
    return techniques != 0 and techniques & PLACES == 0


def step(
    shape: Shape, machine: Machine, techniques: int, with_lasting: bool = False
) -> tuple[Any, ...]:
    """Advance every lane; return (dead, unsolved, changed), as bits of the lanes.

    dead      set: the board has no solution
    unsolved  clear: every cell has its digit; the board is solved if it is not dead
    changed   clear: the techniques find nothing more; the board must be split if it is not dead or
              solved

    With ``with_lasting``, which needs techniques, the fourth result is that of ``lasting``.
    """
    if not techniques:
        return _step_without_techniques(shape, machine)
    units = Units(shape, machine)
    n = shape.n
    K = shape.plane_words
    finds_hidden = techniques & HIDDEN_SINGLE != 0
    finds_locked = techniques & LOCKED_CANDIDATES != 0
    cell_is_empty, open_cells = _count_candidates(units)
    checked = _CheckedUnits(units)
    filled = units.words()  # the cells in which this step has placed a digit
    places = units.words()
    singles = units.words()
    # Only locked candidates change ``places``. Without them both names are the same list.
    places_before = units.words() if finds_locked else places
    # The cells where something changed, or, if nobody needs to know them, their union in one word.
    changed = machine.words(K if with_lasting else 1)
    for number in machine.digits(n):
        # Downwards: the candidates that a filled cell keeps are then those of higher digits. So
        # the placed digit is the lowest, and the next step can remove all others.
        d = number * -1 + (n - 1)  # n - 1 - number: loop indices can only be multiplied and added
        for j, _ in units.plane():
            places_before[j] = places[j] = machine.load(d * K + j) & ~filled[j]
        if finds_locked:
            keep_locked(units, places)
        levels = None
        if finds_hidden or finds_locked:
            levels = units.levels(places, 2 if finds_hidden else 1)
            checked.check_places(places, levels)

        _find_singles(units, places, open_cells, levels if finds_hidden else None, singles, filled)

        # Remove the digit from all other cells of the units in which it is placed.
        boxes, columns = units.levels(singles, 1)
        in_columns = units.in_all_fields(columns[0])
        checked.finish_columns(in_columns)
        for g in units.groups():
            checked.finish_boxes(g, boxes[0])
            removed = units.of_box(boxes[0][g]) | in_columns
            for j in units.words_of(g):
                in_row = units.rows_with(singles[j])
                checked.finish_rows(in_row)
                new_places = machine.union(places[j] & ~removed & ~in_row, singles[j])
                k = j if with_lasting else 0
                changed[k] = changed[k] | (new_places ^ places_before[j])
                machine.store(d * K + j, new_places)

    any_changed = _mark_filled_cells(units, filled, open_cells, changed, with_lasting)
    dead = cell_is_empty
    if finds_hidden or finds_locked:
        dead = checked.add_units_without_place(dead)
    unsolved = checked.unfinished_units()
    results = tuple(map(machine.nonzero, (dead, unsolved, any_changed)))
    return (*results, lasting(units, changed)) if with_lasting else results


def _mark_filled_cells(
    units: Units, filled: Any, open_cells: Any, changed: Any, with_lasting: bool
) -> Any:
    """Mark the filled cells for the next step; return a value that is not 0 if anything changed.

    With ``with_lasting``, ``changed`` becomes the set of all cells that changed.
    """
    machine = units.machine
    any_changed = machine.words(1)
    for j, _ in units.plane():
        machine.store(units.shape.CLEAR + j, filled[j])
        # Hidden singles in cells with several candidates: the next step will remove these.
        changed_cells = filled[j] & open_cells[j]
        if with_lasting:
            changed_cells = changed_cells | changed[j]
            changed[j] = changed_cells
        any_changed[0] = any_changed[0] | changed_cells
    if not with_lasting:
        any_changed[0] = any_changed[0] | changed[0]
    return any_changed[0]


class _CheckedUnits:
    """Sets of units that pass a test for every digit of a step.

    Each set begins with all units. Each digit removes the units that do not pass. The bits of a set
    are all cells of a row, a column in the lowest field, and the first columns of a box in every
    row. A set of rows has one word, in which a field stands for all rows that have this field in
    some word: one of them that does not pass clears the field.
    """

    def __init__(self, units: Units) -> None:
        self._units = units
        machine = units.machine
        groups = units.shape.groups
        # Units that have a place for every digit so far. If one is missing, the board is dead.
        self._rows = machine.words(1, -1)
        self._columns = machine.words(1, -1)
        self._boxes = machine.words(groups, -1)
        # Units in which every digit so far is placed. If none is missing, the board is solved.
        self._finished_rows = machine.words(1, -1)
        self._finished_columns = machine.words(1, -1)
        self._finished_boxes = machine.words(groups, -1)

    def check_places(self, places: Any, levels: Any) -> None:
        """Keep the units in which a digit has places."""
        units = self._units
        boxes, columns = levels
        self._columns[0] = self._columns[0] & columns[0]
        for j, _ in units.plane():
            self._rows[0] = units.without_empty_row(self._rows[0], places[j])
        for g in units.groups():
            self._boxes[g] = self._boxes[g] & boxes[0][g]

    def finish_columns(self, in_columns: Any) -> None:
        """Keep the columns in which a digit is placed."""
        self._finished_columns[0] = self._finished_columns[0] & in_columns

    def finish_boxes(self, g: Any, first_columns_of_boxes: Any) -> None:
        """Keep the boxes of a group in which a digit is placed."""
        self._finished_boxes[g] = self._finished_boxes[g] & first_columns_of_boxes[g]

    def finish_rows(self, in_rows: Any) -> None:
        """Keep the rows of a word in which a digit is placed."""
        self._finished_rows[0] = self._finished_rows[0] & in_rows

    def add_units_without_place(self, dead: Any) -> Any:
        """Return a value that is not 0 if ``dead`` is not, or a unit has no place for a digit."""
        units = self._units
        shape = units.shape
        dead = dead | (~self._columns[0] & shape.row) | units.empty_rows(self._rows[0])
        for g in units.groups():
            dead = dead | (~self._boxes[g] & shape.first_columns_of_boxes)
        return dead

    def unfinished_units(self) -> Any:
        """Return a value that is not 0 if a unit lacks a digit."""
        shape = self._units.shape
        unfinished_columns = ~self._finished_columns[0] & shape.cells
        unfinished = unfinished_columns | (~self._finished_rows[0] & shape.cells)
        for g in self._units.groups():
            unfinished = unfinished | (~self._finished_boxes[g] & shape.first_columns_of_boxes)
        return unfinished


def _find_singles(
    units: Units, places: Any, open_cells: Any, levels: Any, singles: Any, filled: Any
) -> None:
    """Set ``singles`` to the cells in which a digit is placed, and add them to ``filled``.

    They are naked singles, cells with no other candidate. With ``levels``, the counts of the places
    in boxes and columns, they are also hidden singles, the only places in a unit.
    """
    machine = units.machine
    if levels is not None:
        boxes, columns = levels
        two_in_column = units.in_all_fields(columns[1])
    for g in units.groups():
        if levels is not None:
            two_in_both = units.of_box(boxes[1][g]) & two_in_column
        for j in units.words_of(g):
            not_single = open_cells[j]
            if levels is not None:
                two_in_row = units.rows_with(units.without_lowest(places[j]))
                not_single = not_single & two_in_both & two_in_row
            singles[j] = places[j] & ~not_single
            filled[j] = machine.union(filled[j], singles[j])


def _count_candidates(units: Units) -> tuple[Any, Any]:
    """Remove the candidates that the last step marked, and count those of every cell.

    It stores the cells with two candidates and those with two or more, in PAIRS and OPEN. It
    returns a value that is not 0 where a cell has no candidate, and the cells with two or more.

    It counts as adders of hardware do, on one word of all planes: three words of weight 1 become
    one of weight 1 and one of weight 2. In the end a cell has one or no candidate in ``weight_1``
    and two for each of its bits in ``weight_2``.
    """
    shape = units.shape
    machine = units.machine
    K = units.shape.plane_words
    cell_is_empty = machine.words(1)
    open_cells = units.words()
    for j in machine.each(K, K <= UNROLLED_WORDS):
        marked = machine.load(shape.CLEAR + j)
        cleared = machine.value(0)
        weight_1 = []
        weight_2 = []
        for d in range(shape.n):
            # The lowest candidate of a marked cell clears the higher ones.
            candidates = machine.load(d * K + j) & ~cleared
            cleared = cleared | (candidates & marked)
            machine.store(d * K + j, candidates)
            weight_1.append(candidates)
        while len(weight_1) > 1:
            addends = weight_1[:3]
            weight_1 = weight_1[3:]
            weight_2.append(sum_counts([[addend] for addend in addends], 2)[1])
            parity = addends[0] ^ addends[1]
            if len(addends) == 3:
                parity = parity ^ addends[2]
            weight_1.append(parity)
        one_left = weight_1[0]
        levels = sum_counts([[pair] for pair in weight_2], 2) if weight_2 else [machine.value(0)]
        two_or_more = levels[0]
        machine.store(shape.PAIRS + j, two_or_more & ~one_left & ~units.two(levels))
        machine.store(shape.OPEN + j, two_or_more)
        cell_is_empty[0] = cell_is_empty[0] | ((one_left | two_or_more) ^ shape.cells)
        open_cells[j] = two_or_more
    return cell_is_empty[0], open_cells


def _step_without_techniques(shape: Shape, machine: Machine) -> tuple[Any, Any, Any]:
    """Do the step of a search without techniques, in which only guesses place digits.

    A cell with one candidate counts as open, too, until its digit has no other place in its units:
    guessing it removes these places. Such cells are guessed first, so they replace the cells with
    two candidates.
    """
    units = Units(shape, machine)
    cell_is_empty, open_cells = _count_candidates(units)
    singles = units.words()
    any_single = machine.words(1)
    unsolved = machine.words(1)
    for d in machine.each(shape.n):
        places = units.load(d)
        crowded = units.units_with(places, 2)
        for j, _ in units.plane():
            singles[j] = singles[j] | (places[j] & crowded[j] & ~open_cells[j])
    for j, _ in units.plane():
        any_single[0] = any_single[0] | singles[j]
    lanes_with_single = machine.filled(any_single[0], 1)
    for j, _ in units.plane():
        pairs = machine.load(shape.PAIRS + j)
        machine.store(shape.PAIRS + j, singles[j] | (pairs & ~lanes_with_single))
        machine.store(shape.OPEN + j, open_cells[j] | singles[j])
        unsolved[0] = unsolved[0] | open_cells[j] | singles[j]
    never_changed = machine.nonzero(machine.value(0))
    return machine.nonzero(cell_is_empty), machine.nonzero(unsolved[0]), never_changed
