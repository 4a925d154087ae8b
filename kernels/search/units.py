"""Counting in units: the rows, columns and boxes in which a set of cells has at least one, two, ...

Everything here is plain Python on the values of a machine; see ``machine``. A set of cells is a
list of the K words of a plane, which ``shape`` draws.

Numbers of cells are *counts*: lists of values, one for each level. A bit of ``counts[0]`` is set
where there is at least one cell, a bit of ``counts[1]`` where there are at least two, and so on:

    cells at a place    0   1   2   3   4
    counts[0]           .   1   1   1   1
    counts[1]           .   .   1   1   1
    counts[2]           .   .   .   1   1

So a level is one value with an answer for all places of a word. Nothing here needs more than three
levels, because techniques ask for no, one, two or more cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gpusudoku.kernels.search.machine import Machine
from gpusudoku.kernels.search.shape import Shape

Counts = list[Any]
"""Counts at all places, see above. Levels that are missing at the end are 0 everywhere."""


def add_counts(x: Counts, y: Counts, max_level: int) -> Counts:
    """Return the sums of two counts, up to a level."""
    sums: Counts = []
    for level in range(1, max_level + 1):
        # At least 3, for example, are 3 of x, 3 of y, 1 of x and 2 of y, or 2 of x and 1 of y.
        terms = [counts[level - 1] for counts in (x, y) if level <= len(counts)]
        for i in range(1, level):
            if i <= len(x) and level - i <= len(y):
                terms.append(x[i - 1] & y[level - i - 1])
        if not terms:
            break
        sums.append(union_of(terms))
    return sums


def sum_counts(addends: Sequence[Counts], max_level: int) -> Counts:
    """Return the sums of several counts, up to a level."""
    if len(addends) == 1:
        return addends[0][:max_level]
    if len(addends) == 3 and max_level <= 2:
        # The frequent case, in fewer operations than two additions.
        x, y, z = (counts[0] for counts in addends)
        two_of_one = [counts[1] for counts in addends if len(counts) > 1]
        one = x | y | z
        two = union_of([(x & y) | (z & (x | y)), *two_of_one])
        return [one, two][:max_level]
    half = len(addends) // 2
    return add_counts(
        sum_counts(addends[:half], max_level), sum_counts(addends[half:], max_level), max_level
    )


def union_of(values: Sequence[Any]) -> Any:
    """Return the union of one value or more."""
    union = values[0]
    for value in values[1:]:
        union = union | value
    return union


def sum_windows(counts: Counts, size: int, distance: int, max_level: int) -> Counts:
    """Return the sums of ``size`` places: each place and those above it at multiples of a distance.

    With size C and distance 1, the sum at the first column of a box is that of a row in this box.
    """
    if size == 1:
        return counts[:max_level]
    if size == 3:
        # In fewer operations than by halves.
        next_places = [level >> distance for level in counts]
        places_after = [level >> 2 * distance for level in counts]
        return sum_counts([counts, next_places, places_after], max_level)
    # Twice the half, and the last place of an odd number.
    half_size = size // 2
    half = sum_windows(counts, half_size, distance, max_level)
    sums = add_counts(half, [level >> half_size * distance for level in half], max_level)
    if size % 2:
        sums = add_counts(sums, [level >> (size - 1) * distance for level in counts], max_level)
    return sums


class Units:
    """The rows, columns and boxes of a shape, for a machine."""

    def __init__(self, shape: Shape, machine: Machine) -> None:
        self.shape = shape
        self.machine = machine

    def groups(self) -> Iterator[Any]:
        """Iterate over the groups of bands."""
        return self.machine.each(self.shape.groups, self.shape.unrolled)

    def words_of(self, g: Any) -> list[Any]:
        """Return the numbers of a group's words, one for each row of a band."""
        return [k * self.shape.groups + g for k in range(self.shape.box_rows)]

    def plane(self) -> Iterator[tuple[Any, Any]]:
        """Iterate over the words of a plane: the number of the word, and that of its group."""
        for g in self.groups():
            for j in self.words_of(g):
                yield j, g

    def load(self, d: Any) -> Any:
        """Load the places of a digit."""
        cells = self.words()
        for j, _ in self.plane():
            cells[j] = self.machine.load(d * self.shape.plane_words + j)
        return cells

    def words(self) -> Any:
        """Make an empty set of cells, which can be changed."""
        return self.machine.words(self.shape.plane_words)

    def two(self, counts: Counts) -> Any:
        """Return where there are at least two."""
        return counts[1] if len(counts) > 1 else self.machine.value(0)

    # Rows. A word holds several, in its fields. Adding ``cells``, which are all ones in every
    # field, carries into the guard bit of a field unless the field is 0.

    def rows_with(self, x: Any) -> Any:
        """Return all cells of the rows that have any of a word."""
        if self.shape.has_guards:
            return self.machine.below((x + self.shape.cells) & self.shape.guards, self.shape.n)
        return self.machine.filled(x, self.shape.bands)

    def without_lowest(self, x: Any) -> Any:
        """Remove the lowest cell of every row from a word."""
        if self.shape.has_guards:
            # Adding all cells of a row sets its guard bit and subtracts 1, unless the row is empty.
            return x & (x + self.shape.cells)
        return self.machine.without_lowest(x, self.shape.bands)

    def without_empty_row(self, nonempty_rows: Any, x: Any) -> Any:
        """Remove the rows of a word that are empty from the rows that were not empty so far.

        ``nonempty_rows`` has all bits set at first. ``empty_rows`` interprets the result.
        """
        if self.shape.has_guards:
            return nonempty_rows & (x + self.shape.cells)  # guards of rows that are not empty
        return self.machine.keep_zeros(nonempty_rows, x, self.shape.bands)

    def empty_rows(self, nonempty_rows: Any) -> Any:
        """Return a value that is not 0 if any row was empty."""
        if self.shape.has_guards:
            return ~nonempty_rows & self.shape.guards
        return ~self.machine.filled(nonempty_rows, self.shape.bands)

    # Boxes and columns.

    def of_box(self, first_columns_of_boxes: Any) -> Any:
        """Return all columns of the boxes whose first ones are set, in every row."""
        return self.machine.spread(first_columns_of_boxes, self.shape.box_columns)

    def over_bands(self, counts: Counts, max_level: int) -> Counts:
        """Add up the counts of all fields of a word: those of whole columns, in the lowest field.

        With guard bits, the other fields are meaningless: mask them, or call ``in_all_fields``.
        """
        shape = self.shape
        if shape.has_guards:
            return sum_windows(counts, shape.bands, shape.field, max_level)
        # Rotated by half of the word, then by a quarter, ..., so that all fields get the sum. The
        # number of fields is a power of two.
        sums = counts[:max_level]
        distance = shape.bits // 2
        while distance >= shape.field:
            rotated = [(level << distance) | (level >> shape.bits - distance) for level in sums]
            sums = add_counts(sums, rotated, max_level)
            distance = distance // 2
        return sums

    def in_all_fields(self, columns: Any) -> Any:
        """Copy columns, which ``over_bands`` and ``levels`` find in the lowest field, to all."""
        if self.shape.has_guards:
            bands = self.shape.bands
            field = self.shape.field
            return self.machine.repeated(columns & self.shape.row, bands, field)
        return columns  # ``over_bands`` rotated the words, so all fields have them

    def levels(self, cells: Any, max_level: int) -> tuple[list[Any], Counts]:
        """Count cells in boxes and columns.

        Returns boxes[level - 1][g], the first columns of the boxes of group g that have at least
        ``level`` cells, and the counts of the columns, in the lowest field as ``over_bands`` does.
        """
        shape = self.shape
        machine = self.machine
        boxes = [machine.words(shape.groups) for _ in range(max_level)]
        columns = [machine.words(1) for _ in range(max_level)]
        for g in self.groups():
            # The words of a group have the rows of a band at the same bits. So this counts in the
            # columns of each box.
            in_bands = sum_counts([[cells[j]] for j in self.words_of(g)], max_level)
            in_boxes = sum_windows(in_bands, shape.box_columns, 1, max_level)
            for box_level, boxes_of_group in zip(boxes, in_boxes, strict=False):
                box_level[g] = boxes_of_group & shape.first_columns_of_boxes
            in_columns = self.over_bands(in_bands, max_level)
            if shape.groups > 1:
                in_columns = add_counts([column[0] for column in columns], in_columns, max_level)
            for column, level in zip(columns, in_columns, strict=False):
                column[0] = level
        return boxes, [column[0] for column in columns]

    def by_kind(self, cells: Any, min_cells: int) -> tuple[Any, Any, Any]:
        """Return all cells of the rows, of the columns and of the boxes with enough of some cells.

        ``min_cells`` is the least number of these cells in such a unit.
        """
        in_rows = self.words()
        in_columns = self.words()
        in_boxes = self.words()
        boxes, columns = self.levels(cells, min_cells)
        column = self.in_all_fields(columns[min_cells - 1])
        for g in self.groups():
            box = self.of_box(boxes[min_cells - 1][g])
            for j in self.words_of(g):
                row = cells[j]
                for _ in range(min_cells - 1):
                    row = self.without_lowest(row)
                in_rows[j] = self.rows_with(row)
                in_boxes[j] = box
                in_columns[j] = column
        return in_rows, in_columns, in_boxes

    def units_with(self, cells: Any, min_cells: int) -> Any:
        """Return all cells of the units that have at least ``min_cells`` of some cells."""
        in_units = self.words()
        kinds = self.by_kind(cells, min_cells)
        for j, _ in self.plane():
            in_units[j] = union_of([kind[j] for kind in kinds])
        return in_units
