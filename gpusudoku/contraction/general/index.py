"""The lists of all lines, laid out for the kernels; and the memory that takes.

``kernels/contraction/general/arrays.py`` describes the arrays.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.contraction.general.boxes import Sides
from gpusudoku.contraction.general.maps import Ints, Words
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.kernels.contraction.general.arrays import Index, Levels, Walk
from gpusudoku.kernels.contraction.general.lists import scatter

CALL_BITS = 1 << 24
"""Bits that are set or left in one call, which nothing interrupts."""


def bytes_needed(sides: Sides) -> int:
    """Bytes that an index and one thread take, about."""
    words = [len(line) // 64 + 1 for line in sides.crossing]
    sets = sum(
        len(table) * size
        for line in sides.summed
        for table, size in zip(line.partitions, words, strict=True)
    )
    entries = 6 * sum(line.entries.size for line in [*sides.summed, *sides.crossing])
    return 8 * (2 * sets + entries) + scratch_bytes(sides)


def index_steps(sides: Sides) -> int:
    """The bits that ``make_index`` sets or leaves, one by one."""
    return sum(
        len(table) * len(line)
        for summed in sides.summed
        for table, line in zip(summed.partitions, sides.crossing, strict=True)
    )


def scratch_bytes(sides: Sides) -> int:
    """Bytes that each thread takes, about."""
    words = max(len(line) // 64 + 1 for line in sides.crossing)
    places = sum(len(table) for line in sides.summed for table in line.partitions)
    return 8 * (2 * len(sides.summed) * len(sides.crossing) * words + places)


class JoinScratch(NamedTuple):
    """What one thread sums in."""

    levels: Levels
    walk: Walk

    @classmethod
    def of(cls, index: Index) -> JoinScratch:
        """Make it; level 0 has all entries of the crossing lines."""
        levels, lines = len(index.begin) - 1, len(index.words)
        shape = levels, lines, int(index.words.max())
        state = Levels(
            words=np.empty(shape, np.uint64),
            positions=np.empty(shape, np.int64),
            counts=np.zeros((levels, lines), np.int64),
        )
        state.words[0] = ~np.uint64(0)
        state.positions[0] = np.arange(shape[2])
        state.counts[0] = index.words
        walk = Walk(
            entry=np.empty(levels, np.int64),
            end=np.empty(levels, np.int64),
            fresh=np.empty(levels, np.int64),
            product=np.empty(levels, np.uint64),
            memo=np.empty(int(index.places.sum()), np.int64),
        )
        return cls(state, walk)


def make_index(sides: Sides) -> Index:
    """Lay out the lists. Those of the summed lines are sorted, and a level each, in this order."""
    words = np.array([-(-len(line) // 64) for line in sides.crossing])
    sets, set_of, size = [], [], 0
    for level, line in enumerate(sides.summed):
        starts = []
        for boxes, other, width in zip(sides.pairs, sides.crossing, words, strict=True):
            rows = np.zeros((len(boxes[level]), width), np.uint64)
            partition_of = np.ascontiguousarray(other.entries[:, level])
            _scatter(np.ascontiguousarray(boxes[level]), partition_of, rows)
            sets.append(rows.ravel())
            starts.append(size)
            size += rows.size
        set_of.append(line.entries * words + starts)
    begin = np.cumsum([0, *(len(line) for line in sides.summed)])
    skips = [skips_of(line.entries) for line in sides.summed]
    last = sides.summed[-1]
    places = [len(table) for table in last.partitions]
    planes = [planes_of(line.multiplicity) for line in sides.crossing]
    return Index(
        sets=np.concatenate(sets),
        words=words,
        begin=begin,
        set_of=np.concatenate(set_of),
        multiplicity=np.concatenate([line.multiplicity for line in sides.summed]).astype(np.uint64),
        skip=np.concatenate([skip + b for (skip, _), b in zip(skips, begin[:-1], strict=True)]),
        differs=np.concatenate([*(differs for _, differs in skips), [0]]),
        place=last.entries + np.cumsum([0, *places[:-1]]),
        places=np.array(places),
        planes=np.concatenate([p.ravel() for p in planes]),
        plane_begin=np.cumsum([0, *(p.size for p in planes[:-1])]),
        plane_count=np.array([len(p) for p in planes]),
    )


def _scatter(pairs: NDArray[np.uint8], partition_of: Ints, rows: Words) -> None:
    """Write bit sets, uint64 (x, words), as the kernel does, some at a time."""
    size = max(1, CALL_BITS // (1 + len(partition_of)))
    for start in range(0, len(rows), size):
        check_cancelled()
        scatter(pairs[start : start + size], partition_of, rows[start : start + size])


def planes_of(multiplicity: Ints) -> Words:
    """uint64 (bits, words): bit k of the multiplicities of all entries, as bit sets."""
    size = -(-len(multiplicity) // 64) * 64
    bits = np.zeros((int(multiplicity.max()).bit_length(), size), np.uint8)
    for bit, row in enumerate(bits):
        check_cancelled()
        row[: len(multiplicity)] = multiplicity >> bit & 1
    return np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def skips_of(entries: Ints) -> tuple[Ints, Ints]:
    """``skip`` and ``differs`` of an ``Index`` for the sorted entries of one level.

    Parameters
    ----------
    entries
        int64 (entries, lines): the partitions of every entry, in lexicographic order.

    Returns
    -------
    int64 (entries, lines), numbers from 0 to the number of entries, and int64 (entries).
    """
    check_cancelled()
    size = len(entries)
    differ = np.logical_or.accumulate(entries[1:] != entries[:-1], axis=1)
    skip = np.full_like(entries, size)
    check_cancelled()
    skip[:-1] = np.where(differ, np.arange(1, size)[:, None], size)
    check_cancelled()
    skip = np.ascontiguousarray(np.minimum.accumulate(skip[::-1])[::-1])
    return skip, np.concatenate([[0], differ.argmax(axis=1)])
