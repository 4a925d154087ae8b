"""Counting in units: in which rows, columns and boxes a set of cells has at least one, two, ...

Everything here is plain Python on the values of a machine; see ``machine``. A set of cells is a
list of the K words of a plane. ``shape`` has the drawing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gpusudoku.kernels.search.machine import Machine
from gpusudoku.kernels.search.shape import Shape

Levels = list[Any]
"""Where there is at least one, at least two, and so on; what is missing at the end is nowhere."""


def added(x: Levels, y: Levels, most: int) -> Levels:
    """Add up two counts, as far as ``most``."""
    found: Levels = []
    for level in range(1, most + 1):
        terms = [each[level - 1] for each in (x, y) if level <= len(each)]
        for i in range(1, level):
            if i <= len(x) and level - i <= len(y):
                terms.append(x[i - 1] & y[level - i - 1])
        if not terms:
            break
        found.append(any_of(terms))
    return found


def total(counts: Sequence[Levels], most: int) -> Levels:
    """Add up some counts, as far as ``most``."""
    if len(counts) == 1:
        return counts[0][:most]
    if len(counts) == 3 and most <= 2:
        x, y, z = (each[0] for each in counts)
        twos = [each[1] for each in counts if len(each) > 1]
        return [x | y | z, any_of([(x & y) | (z & (x | y)), *twos])][:most]
    half = len(counts) // 2
    return added(total(counts[:half], most), total(counts[half:], most), most)


def any_of(values: Sequence[Any]) -> Any:
    """Return the union of one value or more."""
    found, *others = values
    for other in others:
        found = found | other
    return found


def folded(counts: Levels, times: int, distance: int, most: int) -> Levels:
    """Add up, at every place, the counts there and at so many places further on, 1 included."""
    if times == 1:
        return counts[:most]
    if times == 3:
        shifted = ([level >> i * distance for level in counts] if i else counts for i in range(3))
        return total([*shifted], most)
    half = folded(counts, times // 2, distance, most)
    found = added(half, [level >> (times // 2) * distance for level in half], most)
    if times % 2:
        found = added(found, [level >> (times - 1) * distance for level in counts], most)
    return found


class Units:
    """The rows, columns and boxes of a shape, for a machine."""

    def __init__(self, shape: Shape, machine: Machine) -> None:
        self.shape = shape
        self.machine = machine

    def groups(self) -> Iterator[Any]:
        """Go through the groups of bands."""
        return self.machine.each(self.shape.groups, self.shape.unrolled)

    def words_of(self, g: Any) -> list[Any]:
        """Return the numbers of a group's words, one for each row of a band."""
        return [k * self.shape.groups + g for k in range(self.shape.box_rows)]

    def plane(self) -> Iterator[tuple[Any, Any]]:
        """Go through the words of a plane: their number, and that of their group."""
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
        """Make a set of cells, which may change; it is empty."""
        return self.machine.words(self.shape.plane_words)

    def two(self, levels: Levels) -> Any:
        """Return where there are at least two."""
        return levels[1] if len(levels) > 1 else self.machine.value(0)

    # Rows.

    def rows_with(self, x: Any) -> Any:
        """Return all cells of the rows that have any of a word."""
        if self.shape.has_guards:
            return self.machine.below((x + self.shape.cells) & self.shape.guards, self.shape.n)
        return self.machine.filled(x, self.shape.bands)

    def without_lowest(self, x: Any) -> Any:
        """Take the lowest cell out of every row."""
        if self.shape.has_guards:
            # Adding all cells of a row sets its guard bit and subtracts 1, unless the row is empty.
            return x & (x + self.shape.cells)
        return self.machine.without_lowest(x, self.shape.bands)

    def without_empty_row(self, known: Any, x: Any) -> Any:
        """Note which rows of a word are empty; ``empty_rows`` tells whether any was so far."""
        if self.shape.has_guards:
            return known & (x + self.shape.cells)  # the guards of rows that are not empty
        return self.machine.least(known, x, self.shape.bands)

    def empty_rows(self, known: Any) -> Any:
        """Return a value that is not 0 if any row was empty."""
        if self.shape.has_guards:
            return ~known & self.shape.guards
        return ~self.machine.filled(known, self.shape.bands)

    # Boxes and columns.

    def of_box(self, firsts: Any) -> Any:
        """Return all columns of the boxes whose first ones are set, in every row."""
        return self.machine.spread(firsts, self.shape.box_columns)

    def over_bands(self, counts: Levels, most: int) -> Levels:
        """Add up the counts of all fields, which makes a column's, in the lowest field.

        With guard bits, the other fields mean nothing: mask them, or call ``in_all_fields``.
        """
        shape = self.shape
        if shape.has_guards:
            return folded(counts, shape.bands, shape.field, most)
        found = counts[:most]
        n = shape.bits // 2
        while n >= shape.field:
            turned = [(level << n) | (level >> shape.bits - n) for level in found]
            found = added(found, turned, most)
            n = n // 2
        return found

    def in_all_fields(self, columns: Any) -> Any:
        """Copy the columns that ``over_bands`` and ``levels`` find in the lowest field to all."""
        if self.shape.has_guards:
            bands = self.shape.bands
            field = self.shape.field
            return self.machine.repeated(columns & self.shape.row, bands, field)
        return columns  # they were added by rotating the words, so all fields have them

    def levels(self, cells: Any, most: int) -> tuple[list[Any], Levels]:
        """Count cells in boxes and columns.

        Returns boxes[level - 1][g], the first columns of the boxes of group g that have so many
        cells or more, and columns[level - 1], the columns, in the lowest field as ``over_bands``.
        """
        shape = self.shape
        machine = self.machine
        boxes = [machine.words(shape.groups) for _ in range(most)]
        columns = [machine.words(1) for _ in range(most)]
        for g in self.groups():
            bands = total([[cells[j]] for j in self.words_of(g)], most)
            in_boxes = folded(bands, shape.box_columns, 1, most)
            for level, found in zip(boxes, in_boxes, strict=False):
                level[g] = found & shape.box_firsts
            found = self.over_bands(bands, most)
            if shape.groups > 1:
                found = added([column[0] for column in columns], found, most)
            for column, value in zip(columns, found, strict=False):
                column[0] = value
        return boxes, [column[0] for column in columns]

    def by_kind(self, cells: Any, number: int) -> tuple[Any, Any, Any]:
        """Return all cells of the rows, of the columns and of the boxes with so many cells."""
        in_rows, in_columns, in_boxes = (self.words() for _ in range(3))
        boxes, columns = self.levels(cells, number)
        column = self.in_all_fields(columns[number - 1])
        for g in self.groups():
            box = self.of_box(boxes[number - 1][g])
            for j in self.words_of(g):
                row = cells[j]
                for _ in range(number - 1):
                    row = self.without_lowest(row)
                in_rows[j] = self.rows_with(row)
                in_boxes[j] = box
                in_columns[j] = column
        return in_rows, in_columns, in_boxes

    def units_with(self, cells: Any, number: int) -> Any:
        """Return all cells of the units with so many cells."""
        found = self.words()
        kinds = self.by_kind(cells, number)
        for j, _ in self.plane():
            found[j] = any_of([kind[j] for kind in kinds])
        return found
