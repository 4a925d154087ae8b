"""The maps of a stack, as partitions with multiplicities.

A stack map says for every digit and band in which column of the stack the digit stands. Whether
a box can be completed depends only on which digits share a column there, so a map is kept as one
*column partition* per band: the sets of digits of the columns, whichever column is which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.geometry import Geometry
from gpusudoku.kernels.contraction.general import lists as loops
from gpusudoku.kernels.jit import compiled

Words = NDArray[np.uint64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@cache
def kernel(name: str) -> Any:
    """A compiled function of ``kernels/maps.py``."""
    return compiled(getattr(loops, name), getattr(loops, name.upper()))


def grouped(rows: Words) -> tuple[Ints, Ints]:
    """Number equal rows alike: int64 (rows) the group of each, int64 (groups) its first row."""
    ids, leaders = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    table = np.full(2 << len(rows).bit_length(), -1, np.int64)
    groups = kernel("group")(np.ascontiguousarray(rows), table, ids, leaders)
    return ids, leaders[:groups].copy()


def allowed(candidates: Words, geometry: Geometry) -> Bools:
    """Which digit can stand in which columns of a box.

    Parameters
    ----------
    candidates
        uint64 (n * n), bit d - 1 for digit d.

    Returns
    -------
    bool (stacks, n, bands, columns of a box). That of the rows is ``allowed`` of the mirrored
    board.
    """
    height, width, n = geometry.box_rows, geometry.box_columns, geometry.n
    boxes = candidates.reshape(width, height, height, width)  # band, row, stack, column
    columns = np.bitwise_or.reduce(boxes, axis=1)
    digits = np.arange(n, dtype=np.uint64)[:, None, None, None]
    bits: Bools = (columns >> digits & np.uint64(1)).astype(bool)  # digit, band, stack, column
    return np.ascontiguousarray(bits.transpose(2, 0, 1, 3))


@dataclass(frozen=True)
class Maps:
    """The maps of a stack. Equal ones are one entry."""

    partitions: tuple[Words, ...]
    """Per band uint64 (partitions, C): sets of digits, ordered by their lowest digits."""
    entries: Ints
    """int64 (entries, bands): numbers of partitions."""
    many: Ints
    """int64 (entries): multiplicities, without a common divisor."""
    factor: int
    """What all multiplicities are to be multiplied with."""

    @property
    def total(self) -> int:
        """The sum of all multiplicities, without the factor."""
        return int(self.many.sum())

    def used(self, band: int, keep: Bools) -> Bools:
        """Those partitions of a band, bool (partitions), that occur in some of the entries."""
        which = self.entries[keep, band]
        used: Bools = np.bincount(which, minlength=len(self.partitions[band])) > 0
        return used

    def kept(self, keep: Bools) -> Maps:
        """Some of the entries, the partitions that are left numbered anew."""
        used = [self.used(band, keep) for band in range(len(self.partitions))]
        numbers = [np.cumsum(u) - 1 for u in used]
        columns = [new[old] for new, old in zip(numbers, self.entries[keep].T, strict=True)]
        tables = tuple(table[u] for table, u in zip(self.partitions, used, strict=True))
        return Maps(tables, np.column_stack(columns), self.many[keep], self.factor).reduced()

    def reduced(self) -> Maps:
        """The same with the common divisor of the multiplicities moved to the factor."""
        common = int(np.gcd.reduce(self.many)) or 1
        return replace(self, many=self.many // common, factor=self.factor * common)

    def arranged(self, bands: Sequence[int]) -> Maps:
        """The same with the bands in another order, and the entries sorted by them."""
        entries = self.entries[:, bands]
        order = np.lexsort(entries.T[::-1])
        tables = tuple(self.partitions[band] for band in bands)
        return replace(self, partitions=tables, entries=entries[order], many=self.many[order])
