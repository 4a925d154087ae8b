"""The lists of the maps of a line, as partitions with multiplicities.

A *line* is a stack or a band. A *stack map* has for every digit and every band the column of the
stack in which the digit stands; a *band map* is the same with rows for columns
(``docs/contraction.md``, section 2, defines both). Whether a box can be filled depends only on
which digits share a column there, so a stack map is kept as one *column partition* per band: the
sets of digits of the columns, in any order of the columns. Distinct tuples of partitions are the
*entries* of the stack's list.

Everything here is written for a stack. A band is the stack of the mirrored board.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import prod
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.geometry import Geometry
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.kernels.contraction.general.lists import group

Words = NDArray[np.uint64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Number = TypeVar("Number", bound=np.number)

CALL_ROWS = 1 << 17
"""Rows that are numbered in one call, which nothing interrupts."""


def group_rows(rows: Words) -> tuple[Ints, Ints]:
    """Number rows, uint64 (rows, words), equal ones alike, in the order in which they come up.

    Returns the number of every row, int64 (rows), and its first row, int64 (groups).
    """
    ids = np.empty(len(rows), np.int64)
    leaders = np.empty(len(rows), np.int64)
    # Where no row falls it takes no memory, nor the time to clear that.
    table = np.zeros(2 << len(rows).bit_length(), np.int64)
    rows = np.ascontiguousarray(rows)
    groups = 0
    for start in range(0, len(rows), CALL_ROWS):
        check_cancelled()
        end = min(start + CALL_ROWS, len(rows))
        groups = group(rows, start, end, groups, table, ids, leaders)
    return ids, leaders[:groups].copy()


def concatenate(parts: Sequence[NDArray[Number]]) -> NDArray[Number]:
    """Join arrays along their first axis; an interrupt waits for one of them."""
    lengths = [len(part) for part in parts]
    whole = np.empty((sum(lengths), *parts[0].shape[1:]), parts[0].dtype)
    for part, end in zip(parts, accumulate(lengths), strict=True):
        check_cancelled()
        whole[end - len(part) : end] = part
    return whole


def by_lowest(sets: Words) -> Words:
    """Order the sets of digits of each row by their lowest digits."""
    lowest = sets & (~sets + np.uint64(1))
    return np.take_along_axis(sets, np.argsort(lowest, axis=1), axis=1)


def lexicographic_order(entries: Ints) -> Ints:
    """Return the lexicographic order of rows, int64 (rows, columns) from 0 on; it is stable."""
    order = np.arange(len(entries))
    for column in reversed(range(entries.shape[1])):
        digits = entries[:, column]
        most = int(entries[:, column].max(initial=0))
        for shift in range(0, most.bit_length(), 16):
            check_cancelled()
            # Of two bytes it is a radix sort.
            order = order[np.argsort((digits[order] >> shift).astype(np.uint16), kind="stable")]
    return order


def allowed_columns(candidates: Words, geometry: Geometry) -> Bools:
    """Find the columns of a box where a digit can stand: bool (stacks, n, bands, columns).

    ``candidates`` is uint64 (n * n), bit d - 1 for digit d.
    """
    height = geometry.box_rows
    width = geometry.box_columns
    n = geometry.n
    boxes = candidates.reshape(width, height, height, width)  # band, row, stack, column
    columns = np.bitwise_or.reduce(boxes, axis=1)
    digits = np.arange(n, dtype=np.uint64)[:, None, None, None]
    bits: Bools = (columns >> digits & np.uint64(1)).astype(bool)  # digit, band, stack, column
    return np.ascontiguousarray(bits.transpose(2, 0, 1, 3))


@dataclass(frozen=True)
class Maps:
    """The list of a stack: its distinct maps, which are the entries, with multiplicities."""

    partitions: tuple[Words, ...]
    """Per band uint64 (partitions, C): the partitions that occur there. Each is C sets of digits,
    ordered by their lowest digits."""
    entries: Ints
    """int64 (entries, bands): the numbers of the partitions of every entry."""
    multiplicity: Ints
    """int64 (entries): the stack maps that have these partitions, divided by ``factor``."""
    factor: int
    """A common divisor of the numbers of stack maps of all entries."""
    origin: Ints
    """int64 (entries): the number of every entry when the list was made, before any was dropped."""

    def __len__(self) -> int:
        return len(self.multiplicity)

    @property
    def total(self) -> int:
        """The sum of all multiplicities, without the factor."""
        return int(self.multiplicity.sum())

    def occurring(self, band: int, chosen: Bools) -> Bools:
        """Tell which partitions of a band the chosen entries have: bool (partitions)."""
        which = self.entries[chosen, band]
        found: Bools = np.bincount(which, minlength=len(self.partitions[band])) > 0
        return found

    def restrict(self, chosen: Bools) -> Maps:
        """Return the list of the chosen entries alone, its partitions renumbered."""
        multiplicity = self.multiplicity[chosen]
        origin = self.origin[chosen]
        entries = np.empty((len(multiplicity), len(self.partitions)), np.int64)
        tables = []
        for band, table in enumerate(self.partitions):
            check_cancelled()
            keep = self.occurring(band, chosen)
            tables.append(table[keep])
            entries[:, band] = (np.cumsum(keep) - 1)[self.entries[chosen, band]]
        return Maps(tuple(tables), entries, multiplicity, self.factor, origin).reduce()

    def reduce(self) -> Maps:
        """Move the greatest common divisor of the multiplicities into the factor."""
        common = int(np.gcd.reduce(self.multiplicity)) or 1
        return replace(self, multiplicity=self.multiplicity // common, factor=self.factor * common)

    def arrange(self, bands: Sequence[int]) -> Maps:
        """Put the bands into another order, and sort the entries by them."""
        check_cancelled()
        entries = self.entries[:, bands]
        tables = tuple(self.partitions[band] for band in bands)
        sizes = [*map(len, tables)]
        if prod(sizes) < 1 << 63:  # one number for each is sooner sorted, and none overflows
            worth = [prod(sizes[place + 1 :]) for place in range(len(sizes))]
            order = np.argsort(entries @ np.array(worth, np.int64))
        else:
            order = lexicographic_order(entries)
        check_cancelled()
        return replace(
            self,
            partitions=tables,
            entries=entries[order],
            multiplicity=self.multiplicity[order],
            origin=self.origin[order],
        )
