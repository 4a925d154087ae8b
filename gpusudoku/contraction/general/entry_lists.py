"""The lists of lines: maps as partitions, with multiplicities.

A *line* is a stack or a band. A *stack map* has, for every digit and every band, the column of the
stack in which the digit is; a *band map* is the same with rows for columns. Section 2 of
``docs/contraction.md`` defines both. Whether a box can be filled depends only on which digits share
a column there. So a stack map is stored as one *column partition* per band: the sets of digits of
the columns, in any order of the columns. The distinct tuples of partitions are the *entries* of the
stack's list.

Everything here is written for a stack. A band is the stack of the transposed board.
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
from gpusudoku.kernels.contraction.general.lists import number_equal_rows

Words = NDArray[np.uint64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Number = TypeVar("Number", bound=np.number)

CALL_ROWS = 1 << 17
"""The number of rows that one call numbers: nothing interrupts it."""


def number_rows(rows: Words) -> tuple[Ints, Ints]:
    """Number distinct rows, uint64 (rows, words), in the order of their first occurrence.

    Returns the number of every row, int64 (rows), and the first row with each number.
    """
    ids = np.empty(len(rows), np.int64)
    first_rows = np.empty(len(rows), np.int64)
    # A hash table at most half full. Its untouched pages take no memory, and no time to clear.
    table = np.zeros(2 << len(rows).bit_length(), np.int64)
    rows = np.ascontiguousarray(rows)
    count = 0
    for start in range(0, len(rows), CALL_ROWS):
        check_cancelled()
        end = min(start + CALL_ROWS, len(rows))
        count = number_equal_rows(rows, start, end, count, table, ids, first_rows)
    return ids, first_rows[:count].copy()


def concatenate(arrays: Sequence[NDArray[Number]]) -> NDArray[Number]:
    """Join arrays along their first axis; an interrupt waits for one of them."""
    lengths = [len(array) for array in arrays]
    concatenated = np.empty((sum(lengths), *arrays[0].shape[1:]), arrays[0].dtype)
    for array, end in zip(arrays, accumulate(lengths), strict=True):
        check_cancelled()
        concatenated[end - len(array) : end] = array
    return concatenated


def sort_sets(sets: Words) -> Words:
    """Sort the sets of digits of each row by their lowest digits."""
    lowest_bits = sets & (~sets + np.uint64(1))
    return np.take_along_axis(sets, np.argsort(lowest_bits, axis=1), axis=1)


def lexicographic_order(rows: Ints) -> Ints:
    """Return the stable lexicographic order of rows of integers from 0 on."""
    order = np.arange(len(rows))
    for column in reversed(range(rows.shape[1])):
        values = rows[:, column]
        max_value = int(values.max(initial=0))
        for shift in range(0, max_value.bit_length(), 16):
            check_cancelled()
            # NumPy sorts integers of two bytes by a radix sort, if the sort is to be stable.
            digits = (values[order] >> shift).astype(np.uint16)
            order = order[np.argsort(digits, kind="stable")]
    return order


def allowed_columns(candidates: Words, geometry: Geometry) -> Bools:
    """Tell which columns of a box a digit may take: bool (stacks, n, bands, columns).

    ``candidates`` is uint64 (n * n), bit d - 1 for digit d.
    """
    height = geometry.box_rows
    width = geometry.box_columns
    n = geometry.n
    boxes = candidates.reshape(width, height, height, width)  # band, row, stack, column
    column_masks = np.bitwise_or.reduce(boxes, axis=1)
    digits = np.arange(n, dtype=np.uint64)[:, None, None, None]
    allowed: Bools = (column_masks >> digits & np.uint64(1)).astype(bool)
    return np.ascontiguousarray(allowed.transpose(2, 0, 1, 3))  # from digit, band, stack, column


@dataclass(frozen=True)
class EntryList:
    """The list of a stack: its entries, with multiplicities.

    For example, a stack of a 4x4 board may have two maps with the partition 13|24 in both bands,
    and two with 12|34 in both::

        partitions     ((13|24, 12|34), (13|24, 12|34))
        entries        (0, 0), (1, 1)
        multiplicity        1,      1
        factor         2
    """

    partitions: tuple[Words, ...]
    """For each band uint64 (partitions, C): the partitions that occur there. Each consists of C
    sets of digits as bit masks, sorted by their lowest digits."""
    entries: Ints
    """int64 (entries, bands): the index of the entry's partition in every band."""
    multiplicity: Ints
    """int64 (entries): the number of stack maps with these partitions, divided by ``factor``."""
    factor: int
    """A common divisor of the numbers of stack maps of all entries."""
    origin: Ints
    """int64 (entries): the index of every entry in the list as it was made, before any entry was
    dropped or moved."""

    def __len__(self) -> int:
        return len(self.multiplicity)

    @property
    def total(self) -> int:
        """The sum of all multiplicities, without the factor."""
        return int(self.multiplicity.sum())

    def occurring_partitions(self, band: int, is_selected: Bools) -> Bools:
        """Tell which partitions of a band the selected entries have: bool (partitions)."""
        selected = self.entries[is_selected, band]
        is_occurring: Bools = np.bincount(selected, minlength=len(self.partitions[band])) > 0
        return is_occurring

    def restrict(self, is_selected: Bools) -> EntryList:
        """Return the list of the selected entries, with partitions renumbered."""
        multiplicity = self.multiplicity[is_selected]
        entries = np.empty((len(multiplicity), len(self.partitions)), np.int64)
        partitions = []
        for band, band_partitions in enumerate(self.partitions):
            check_cancelled()
            is_occurring = self.occurring_partitions(band, is_selected)
            partitions.append(band_partitions[is_occurring])
            # Partitions that occur keep their order, and close the gaps.
            new_index = np.cumsum(is_occurring) - 1
            entries[:, band] = new_index[self.entries[is_selected, band]]
        origin = self.origin[is_selected]
        return EntryList(tuple(partitions), entries, multiplicity, self.factor, origin).reduce()

    def reduce(self) -> EntryList:
        """Move the greatest common divisor of the multiplicities into the factor."""
        divisor = int(np.gcd.reduce(self.multiplicity)) or 1
        return replace(
            self, multiplicity=self.multiplicity // divisor, factor=self.factor * divisor
        )

    def arrange(self, bands: Sequence[int]) -> EntryList:
        """Put the bands into another order, and sort the entries by them."""
        check_cancelled()
        entries = self.entries[:, bands]
        partitions = tuple(self.partitions[band] for band in bands)
        sizes = [len(band_partitions) for band_partitions in partitions]
        if prod(sizes) < 1 << 63:  # entries fit into single integers, which are faster to sort
            place_values = [prod(sizes[band + 1 :]) for band in range(len(sizes))]
            order = np.argsort(entries @ np.array(place_values, np.int64))
        else:
            order = lexicographic_order(entries)
        check_cancelled()
        return replace(
            self,
            partitions=partitions,
            entries=entries[order],
            multiplicity=self.multiplicity[order],
            origin=self.origin[order],
        )
