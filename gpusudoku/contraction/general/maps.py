"""The lists of the maps of a line, as partitions with multiplicities.

A *line* is a stack or a band. A *stack map* tells for every digit and every band in which column of
the stack the digit stands; a *band map* is the same with rows for columns (``docs/contraction.md``,
section 2, defines both). Whether a box can be filled depends only on which digits share a column
there, so a stack map is kept as one *column partition* per band: the sets of digits of the columns,
whichever column is which. Distinct tuples of partitions are the *entries* of the stack's list.

Everything here is written for a stack. A band is the stack of the mirrored board.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.geometry import Geometry
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.kernels.contraction.general.lists import group

Words = NDArray[np.uint64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def grouped(rows: Words) -> tuple[Ints, Ints]:
    """Number rows so that equal rows get the same number, in the order of their first occurrence.

    Parameters
    ----------
    rows
        uint64 (rows, words).

    Returns
    -------
    int64 (rows), the number of every row, and int64 (groups), the first row of every number.
    """
    check_cancelled()
    ids, leaders = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    table = np.full(2 << len(rows).bit_length(), -1, np.int64)
    check_cancelled()  # either takes long where there are many
    groups = group(np.ascontiguousarray(rows), table, ids, leaders)
    return ids, leaders[:groups].copy()


def allowed_columns(candidates: Words, geometry: Geometry) -> Bools:
    """For every stack, digit and band the columns of the box in which the digit can stand.

    Parameters
    ----------
    candidates
        uint64 (n * n), bit d - 1 for digit d.

    Returns
    -------
    bool (stacks, n, bands, columns of a box).
    """
    height, width, n = geometry.box_rows, geometry.box_columns, geometry.n
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
        """Whether the chosen entries have each partition of a band: bool (partitions)."""
        which = self.entries[chosen, band]
        found: Bools = np.bincount(which, minlength=len(self.partitions[band])) > 0
        return found

    def restricted(self, chosen: Bools) -> Maps:
        """The list of the chosen entries alone, with the partitions that are left renumbered."""
        check_cancelled()
        kept = [self.occurring(band, chosen) for band in range(len(self.partitions))]
        numbers = [np.cumsum(keep) - 1 for keep in kept]
        columns = [new[old] for new, old in zip(numbers, self.entries[chosen].T, strict=True)]
        tables = tuple(table[keep] for table, keep in zip(self.partitions, kept, strict=True))
        multiplicity, origin = self.multiplicity[chosen], self.origin[chosen]
        return Maps(tables, np.column_stack(columns), multiplicity, self.factor, origin).reduced()

    def reduced(self) -> Maps:
        """The same list with the greatest common divisor of the multiplicities in the factor."""
        common = int(np.gcd.reduce(self.multiplicity)) or 1
        return replace(self, multiplicity=self.multiplicity // common, factor=self.factor * common)

    def arranged(self, bands: Sequence[int]) -> Maps:
        """The same list with the bands in another order, and the entries sorted by them."""
        check_cancelled()
        entries = self.entries[:, bands]
        tables = tuple(self.partitions[band] for band in bands)
        sizes = [*map(len, tables)]
        if prod(sizes) < 1 << 63:  # one number for each is sooner sorted, and none overflows
            worth = [prod(sizes[place + 1 :]) for place in range(len(sizes))]
            order = np.argsort(entries @ np.array(worth, np.int64))
        else:
            order = np.lexsort(entries.T[::-1])
        check_cancelled()
        return replace(
            self,
            partitions=tables,
            entries=entries[order],
            multiplicity=self.multiplicity[order],
            origin=self.origin[order],
        )
