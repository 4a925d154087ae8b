"""Boxes, where stacks and bands cross: the maps that fit there, laid out for the kernels.

A box can be filled exactly if its column partition (from a map of its stack) and its row partition
(from a map of its band) are *orthogonal*: every set of one meets every set of the other in one
digit.

``kernels/contraction/general/arrays.py`` describes the layout.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general.graph import Graph
from gpusudoku.contraction.general.maps import Bools, Ints, Maps, Words, allowed_columns
from gpusudoku.contraction.protocol import Effort
from gpusudoku.errors import TooExpensive
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.kernels.contraction.general.arrays import Index, Levels, Walk
from gpusudoku.kernels.contraction.general.lists import orthogonal, scatter

Pairs = NDArray[np.uint8]

PAIR_SECONDS = 2e-9
"""The time of a set of a pair of partitions, to see whether they are orthogonal."""
CALL_SETS = 1 << 22
"""Sets of pairs of partitions that are compared in one call, which nothing interrupts."""
PRUNED_SECONDS = 2e-9
"""The time of a pair of partitions, or a partition of an entry, whenever lines are pruned."""
CALL_BITS = 1 << 24
"""Bits that are set or left in one call, which nothing interrupts."""


class Sides(NamedTuple):
    """The lists of all lines: those to sum over, and those that cross them."""

    summed: list[Maps]
    """The lists of the stacks, or of the bands."""
    crossing: list[Maps]
    """The lists of the others."""
    pairs: list[list[Pairs]]
    """pairs[k][j], for crossing line k and summed line j, is 1 where their partitions are
    orthogonal: uint8 (partitions of the summed line, partitions of the crossing line)."""
    bands: bool = False
    """True if the bands are summed."""

    @property
    def exchanged(self) -> Sides:
        """The same lists the other way round: the crossing lines are summed."""
        pairs = [[box.T for box in boxes] for boxes in zip(*self.pairs, strict=True)]
        return Sides(self.crossing, self.summed, pairs, not self.bands)


def without_seen(candidates: Words, geometry: Geometry) -> Words | None:
    """Take every fixed digit from the cells that see it; None if that shows a contradiction."""
    units = geometry.units
    single = np.where(np.bitwise_count(candidates) == 1, candidates, np.uint64(0))
    in_unit = np.bitwise_or.reduce(single[units], axis=1)
    twice = np.bitwise_count(in_unit) != np.count_nonzero(single[units], axis=1)
    seen = np.bitwise_or.reduce(in_unit[geometry.unit_of], axis=1)
    left: Words = np.where(single != 0, single, candidates & ~seen)
    return None if twice.any() or not left.all() else left


def allowed_lines(candidates: Words, geometry: Geometry) -> tuple[Bools, Bools]:
    """Find the ``allowed_columns`` of all stacks, and of all bands: those of the mirrored board."""
    mirrored = np.ascontiguousarray(candidates.reshape(geometry.n, geometry.n).T).ravel()
    return allowed_columns(candidates, geometry), allowed_columns(mirrored, geometry.transposed)


def list_sides(
    stacks: Bools, bands: Bools, most_maps: int, memory: int, effort: Effort
) -> Sides | None:
    """List the maps of all lines, and drop those that fit no map of a line that they cross.

    Returns the lists with the stacks summed; None if one is empty, so that there is no solution.
    TooExpensive is raised if a line has more than ``most_maps`` maps, or if it would take more
    than ``memory`` bytes or more than the effort.
    """
    # All are counted before the first is listed, which is quick. Equal lines are listed once.
    graphs: dict[bytes, Graph] = {}
    for name, side in ("stack", stacks), ("band", bands):
        for k, line in enumerate(side):
            key = line.tobytes()
            if key not in graphs:
                graph = graphs[key] = Graph(line, f"{name} {k + 1}", most_maps, effort)
                if graph.maps == 0:
                    return None
                memory = graph.within(memory)
    for graph in graphs.values():
        memory = graph.check(most_maps, memory)
    maps = {key: graph.list_maps() for key, graph in graphs.items()}
    first, second = ([maps[line.tobytes()] for line in side] for side in (stacks, bands))
    sides = _prune(first, second, memory, effort)
    return sides if all(len(line) for line in [*sides.summed, *sides.crossing]) else None


def _prune(stacks: list[Maps], bands: list[Maps], memory: int, effort: Effort) -> Sides:
    """Drop every map that fits no map of a line that it crosses, again until all do."""
    size = sum(
        len(stack.partitions[i]) * len(band.partitions[j])
        for i, band in enumerate(bands)
        for j, stack in enumerate(stacks)
    )
    if size > memory // 4:
        raise TooExpensive(
            f"too expensive to contract: {size:,} pairs of partitions meet in the boxes"
        )
    effort.spend(size * (stacks[0].partitions[0].shape[1] + 2), PAIR_SECONDS)
    pairs = [
        [_orthogonal(stack.partitions[i], band.partitions[j]) for j, stack in enumerate(stacks)]
        for i, band in enumerate(bands)
    ]
    sides = Sides(list(stacks), list(bands), pairs)
    changed = True
    while changed:
        entries = sum(line.entries.size for line in [*sides.summed, *sides.crossing])
        pairs_left = sum(box.size for boxes in sides.pairs for box in boxes)
        effort.spend(2 * pairs_left + entries, PRUNED_SECONDS)
        changed = _prune_summed(sides)
        sides = sides.exchanged
        changed |= _prune_summed(sides)
        sides = sides.exchanged
    return sides


def _orthogonal(columns: Words, rows: Words) -> Pairs:
    """Compare column and row partitions: uint8 (columns, rows), 1 if they are orthogonal."""
    out = np.empty((len(columns), len(rows)), np.uint8)
    size = max(1, CALL_SETS // (1 + rows.size))
    for start in range(0, len(columns), size):
        check_cancelled()
        orthogonal(columns[start : start + size], rows, out[start : start + size])
    return out


def _prune_summed(sides: Sides) -> bool:
    """Drop maps of the summed lines once, in place; tell if there were any."""
    changed = False
    for j, line in enumerate(sides.summed):
        check_cancelled()
        fits: list[Bools] = [
            np.any(boxes[j], axis=1)[partitions]
            for boxes, partitions in zip(sides.pairs, line.entries.T, strict=True)
        ]
        keep: Bools = np.all(fits, axis=0)
        if not keep.all():
            sides.summed[j] = line.restrict(keep)
            changed = True
            for k, boxes in enumerate(sides.pairs):
                check_cancelled()
                boxes[j] = boxes[j][line.occurring(k, keep)]
    return changed


def bytes_needed(sides: Sides) -> int:
    """Estimate the bytes that an index and one thread take."""
    words = [len(line) // 64 + 1 for line in sides.crossing]
    sets = sum(
        len(table) * size
        for line in sides.summed
        for table, size in zip(line.partitions, words, strict=True)
    )
    entries = 6 * sum(line.entries.size for line in [*sides.summed, *sides.crossing])
    return 8 * (2 * sets + entries) + scratch_bytes(sides)


def index_steps(sides: Sides) -> int:
    """Count the bits that ``make_index`` sets or leaves, one by one."""
    return sum(
        len(table) * len(line)
        for summed in sides.summed
        for table, line in zip(summed.partitions, sides.crossing, strict=True)
    )


def scratch_bytes(sides: Sides) -> int:
    """Estimate the bytes that each thread takes."""
    words = max(len(line) // 64 + 1 for line in sides.crossing)
    places = sum(len(table) for line in sides.summed for table in line.partitions)
    return 8 * (2 * len(sides.summed) * len(sides.crossing) * words + places)


class JoinScratch(NamedTuple):
    """The memory in which one thread sums."""

    levels: Levels
    walk: Walk

    @classmethod
    def of(cls, index: Index) -> JoinScratch:
        """Make it; level 0 has all entries of the crossing lines."""
        levels = len(index.begin) - 1
        lines = len(index.words)
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
    sets = []
    set_of = []
    size = 0
    for level, line in enumerate(sides.summed):
        starts = []
        for boxes, other, width in zip(sides.pairs, sides.crossing, words, strict=True):
            rows = np.zeros((len(boxes[level]), width), np.uint64)
            partition_of = np.ascontiguousarray(other.entries[:, level])
            pairs = np.ascontiguousarray(boxes[level])
            size_of_call = max(1, CALL_BITS // (1 + len(partition_of)))
            for start in range(0, len(rows), size_of_call):
                check_cancelled()
                some = slice(start, start + size_of_call)
                scatter(pairs[some], partition_of, rows[some])
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


def planes_of(multiplicity: Ints) -> Words:
    """Write bit k of the multiplicities of all entries as bit sets: uint64 (bits, words)."""
    size = -(-len(multiplicity) // 64) * 64
    bits = np.zeros((int(multiplicity.max()).bit_length(), size), np.uint8)
    for bit, row in enumerate(bits):
        check_cancelled()
        row[: len(multiplicity)] = multiplicity >> bit & 1
    return np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def skips_of(entries: Ints) -> tuple[Ints, Ints]:
    """Find ``skip`` and ``differs`` of an ``Index`` for the sorted entries of one level."""
    check_cancelled()
    size = len(entries)
    differ = np.logical_or.accumulate(entries[1:] != entries[:-1], axis=1)
    skip = np.full_like(entries, size)
    check_cancelled()
    skip[:-1] = np.where(differ, np.arange(1, size)[:, None], size)
    check_cancelled()
    skip = np.ascontiguousarray(np.minimum.accumulate(skip[::-1])[::-1])
    return skip, np.concatenate([[0], differ.argmax(axis=1)])
