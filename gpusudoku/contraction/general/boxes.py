"""Boxes, where stacks and bands cross: the maps that fit there, laid out for the kernels.

A box can be filled exactly if its column partition (from a map of its stack) and its row partition
(from a map of its band) are *orthogonal*: each set of one shares exactly one digit with each set of
the other.

``kernels/contraction/general/arrays.py`` describes the layout.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general.entry_lists import Bools, EntryList, Ints, Words, allowed_columns
from gpusudoku.contraction.general.graph import MapGraph
from gpusudoku.contraction.protocol import Effort
from gpusudoku.errors import TooExpensive
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.kernels.contraction.general.arrays import Index, Levels, Walk
from gpusudoku.kernels.contraction.general.lists import make_bit_sets, mark_orthogonal

Flags = NDArray[np.uint8]
"""0 or 1."""

PAIR_SECONDS = 2e-9
"""The time to compare one set of one of two partitions, to see whether these are orthogonal."""
CALL_SETS = 1 << 22
"""The number of sets that one call compares: nothing interrupts it."""
PRUNE_SECONDS = 2e-9
"""The time of a pair of partitions, or of a partition of an entry, in one round of pruning."""
CALL_BITS = 1 << 24
"""The number of bits that one call sets or leaves: nothing interrupts it."""


class CrossingLists(NamedTuple):
    """The lists of all lines: of the summed lines, and of the lines that cross them."""

    summed: list[EntryList]
    """The lists of the stacks, or of the bands."""
    crossing: list[EntryList]
    """The lists of the bands, or of the stacks."""
    orthogonal: list[list[Flags]]
    """orthogonal[k][j] is 1 where a partition of summed line j and one of crossing line k are
    orthogonal: uint8 (partitions of the summed line, partitions of the crossing line)."""
    bands_are_summed: bool = False

    @property
    def exchanged(self) -> CrossingLists:
        """The same lists with the crossing lines as summed lines."""
        orthogonal = [[box.T for box in boxes] for boxes in zip(*self.orthogonal, strict=True)]
        return CrossingLists(self.crossing, self.summed, orthogonal, not self.bands_are_summed)


def remove_seen_candidates(candidates: Words, geometry: Geometry) -> Words | None:
    """Remove every fixed digit from the peers of its cell; None if that shows a contradiction."""
    units = geometry.units
    fixed = np.where(np.bitwise_count(candidates) == 1, candidates, np.uint64(0))
    fixed_in_unit = np.bitwise_or.reduce(fixed[units], axis=1)
    fixed_cells = np.count_nonzero(fixed[units], axis=1)
    has_duplicate = np.bitwise_count(fixed_in_unit) != fixed_cells
    # A cell sees the fixed digits of its row, its column and its box.
    seen_digits = np.bitwise_or.reduce(fixed_in_unit[geometry.unit_of], axis=1)
    remaining: Words = np.where(fixed != 0, fixed, candidates & ~seen_digits)
    if has_duplicate.any() or not remaining.all():
        return None
    return remaining


def allowed_in_lines(candidates: Words, geometry: Geometry) -> tuple[Bools, Bools]:
    """Find ``allowed_columns`` of stacks, and of bands as stacks of the transposed board."""
    transposed = np.ascontiguousarray(candidates.reshape(geometry.n, geometry.n).T).ravel()
    stacks = allowed_columns(candidates, geometry)
    bands = allowed_columns(transposed, geometry.transposed)
    return stacks, bands


def make_lists(
    stacks: Bools, bands: Bools, max_maps: int, memory: int, effort: Effort
) -> CrossingLists | None:
    """List the maps of all lines, and drop those that fit no map of a line that they cross.

    The arguments are from ``allowed_in_lines``. Returns the lists with the stacks summed; None if
    one is empty, so that there is no solution. TooExpensive is raised if a line has more than
    ``max_maps`` maps, or if the lists would exceed ``memory`` bytes or the effort.
    """
    # All maps are counted, which is quick, before any are listed. Equal lines share a graph.
    graphs: dict[bytes, MapGraph] = {}
    for kind, lines in ("stack", stacks), ("band", bands):
        for number, allowed in enumerate(lines, start=1):
            key = allowed.tobytes()
            if key not in graphs:
                graph = MapGraph(allowed, f"{kind} {number}", max_maps, effort)
                if graph.maps == 0:
                    return None
                memory = graph.charge_graph(memory)
                graphs[key] = graph
    for graph in graphs.values():
        memory = graph.charge_list(max_maps, memory)
    entry_lists = {key: graph.list_entries() for key, graph in graphs.items()}
    stack_lists = [entry_lists[allowed.tobytes()] for allowed in stacks]
    band_lists = [entry_lists[allowed.tobytes()] for allowed in bands]
    lists = _prune(stack_lists, band_lists, memory, effort)
    if any(len(line) == 0 for line in [*lists.summed, *lists.crossing]):
        return None
    return lists


def _prune(
    stacks: list[EntryList], bands: list[EntryList], memory: int, effort: Effort
) -> CrossingLists:
    """Drop entries that fit no entry of a line that they cross, until all entries fit some."""
    pair_count = sum(
        len(stack.partitions[i]) * len(band.partitions[j])
        for i, band in enumerate(bands)
        for j, stack in enumerate(stacks)
    )
    if pair_count > memory // 4:
        raise TooExpensive(
            f"too expensive to contract: {pair_count:,} pairs of partitions meet in the boxes"
        )
    sets_per_partition = stacks[0].partitions[0].shape[1]
    effort.spend(pair_count * (sets_per_partition + 2), PAIR_SECONDS)
    orthogonal = [
        [
            _mark_orthogonal(stack.partitions[i], band.partitions[j])
            for j, stack in enumerate(stacks)
        ]
        for i, band in enumerate(bands)
    ]
    lists = CrossingLists(list(stacks), list(bands), orthogonal)
    # A dropped entry may have been the only one that fits some entry of another line.
    changed = True
    while changed:
        entry_fields = sum(line.entries.size for line in [*lists.summed, *lists.crossing])
        remaining_pairs = sum(box.size for boxes in lists.orthogonal for box in boxes)
        effort.spend(2 * remaining_pairs + entry_fields, PRUNE_SECONDS)
        changed = _prune_summed(lists)
        lists = lists.exchanged
        changed |= _prune_summed(lists)
        lists = lists.exchanged
    return lists


def _mark_orthogonal(columns: Words, rows: Words) -> Flags:
    """Compare column and row partitions: uint8 (columns, rows), 1 if they are orthogonal."""
    flags = np.empty((len(columns), len(rows)), np.uint8)
    chunk_size = max(1, CALL_SETS // (1 + rows.size))
    for start in range(0, len(columns), chunk_size):
        check_cancelled()
        chunk = slice(start, start + chunk_size)
        mark_orthogonal(columns[chunk], rows, flags[chunk])
    return flags


def _prune_summed(lists: CrossingLists) -> bool:
    """Drop entries of summed lines that fit no crossing line, in place. Return whether any was."""
    changed = False
    for j, line in enumerate(lists.summed):
        check_cancelled()
        # An entry fits a line if the line has a partition that is orthogonal to its own.
        fits_crossing_line: list[Bools] = [
            np.any(tables[j], axis=1)[partition]
            for tables, partition in zip(lists.orthogonal, line.entries.T, strict=True)
        ]
        fits: Bools = np.all(fits_crossing_line, axis=0)
        if not fits.all():
            lists.summed[j] = line.restrict(fits)
            changed = True
            # ``restrict`` has also dropped partitions that no longer occur. Drop their rows of the
            # tables, too.
            for k, tables in enumerate(lists.orthogonal):
                check_cancelled()
                tables[j] = tables[j][line.occurring_partitions(k, fits)]
    return changed


def estimate_bytes(lists: CrossingLists) -> int:
    """Estimate the bytes of an index and of one thread."""
    set_words = [len(line) // 64 + 1 for line in lists.crossing]
    bit_sets = sum(
        len(partitions) * words
        for line in lists.summed
        for partitions, words in zip(line.partitions, set_words, strict=True)
    )
    entries = 6 * sum(line.entries.size for line in [*lists.summed, *lists.crossing])
    return 8 * (2 * bit_sets + entries) + estimate_scratch_bytes(lists)


def count_index_steps(lists: CrossingLists) -> int:
    """Count the bits that ``make_index`` sets or leaves, one by one."""
    return sum(
        len(partitions) * len(crossing_line)
        for summed_line in lists.summed
        for partitions, crossing_line in zip(summed_line.partitions, lists.crossing, strict=True)
    )


def estimate_scratch_bytes(lists: CrossingLists) -> int:
    """Estimate the bytes of each thread."""
    words = max(len(line) // 64 + 1 for line in lists.crossing)
    memo = sum(len(partitions) for line in lists.summed for partitions in line.partitions)
    return 8 * (2 * len(lists.summed) * len(lists.crossing) * words + memo)


class JoinScratch(NamedTuple):
    """The memory in which one thread sums."""

    levels: Levels
    walk: Walk

    @classmethod
    def of(cls, index: Index) -> JoinScratch:
        """Make the memory; level 0 has all entries of the crossing lines."""
        level_count = len(index.begin) - 1
        line_count = len(index.set_words)
        max_words = int(index.set_words.max())
        shape = level_count, line_count, max_words
        levels = Levels(
            words=np.empty(shape, np.uint64),
            positions=np.empty(shape, np.int64),
            counts=np.zeros((level_count, line_count), np.int64),
        )
        # Bits above the last entry of a line may stay set: they are 0 in every set of the index.
        levels.words[0] = ~np.uint64(0)
        levels.positions[0] = np.arange(max_words)
        levels.counts[0] = index.set_words
        walk = Walk(
            entry=np.empty(level_count, np.int64),
            end=np.empty(level_count, np.int64),
            first_stale=np.empty(level_count, np.int64),
            product=np.empty(level_count, np.uint64),
            memo=np.empty(int(index.memo_sizes.sum()), np.int64),
        )
        return cls(levels, walk)


def make_index(lists: CrossingLists) -> Index:
    """Lay out the lists for the kernels.

    The lists of the summed lines must be sorted. Each of these lines becomes a level, in order. The
    bit sets, over the entries of the crossing lines, are laid out in this order::

        level 0, line 0              level 0, line 1           ..  level 1, line 0       ..
        | partition 0 | 1 | 2 | .. | partition 0 | 1 | 2 | ..  ..  | partition 0 | 1 | ..
    """
    set_words = np.array([-(-len(line) // 64) for line in lists.crossing])
    bit_sets = []
    set_begins = []
    size = 0
    for level, summed_line in enumerate(lists.summed):
        starts = []
        for boxes, crossing_line, words in zip(
            lists.orthogonal, lists.crossing, set_words, strict=True
        ):
            partition_of = np.ascontiguousarray(crossing_line.entries[:, level])
            sets = _spread_over_entries(boxes[level], partition_of, words)
            bit_sets.append(sets.ravel())
            starts.append(size)
            size += sets.size
        # The bit set of partition p begins p * set_words after that of partition 0.
        set_begins.append(summed_line.entries * set_words + starts)
    begin = np.cumsum([0, *(len(line) for line in lists.summed)])
    skips = []
    first_differences = []
    for summed_line, first_entry in zip(lists.summed, begin[:-1], strict=True):
        skip, first_difference = find_skips(summed_line.entries)
        # The entries of all levels are numbered consecutively.
        skips.append(skip + first_entry)
        first_differences.append(first_difference)
    last_line = lists.summed[-1]
    memo_sizes = [len(partitions) for partitions in last_line.partitions]
    planes = [multiplicity_planes(line.multiplicity) for line in lists.crossing]
    multiplicity = np.concatenate([line.multiplicity for line in lists.summed])
    return Index(
        sets=np.concatenate(bit_sets),
        set_words=set_words,
        begin=begin,
        set_begin=np.concatenate(set_begins),
        multiplicity=multiplicity.astype(np.uint64),
        skip=np.concatenate(skips),
        first_difference=np.concatenate([*first_differences, [0]]),
        memo_index=last_line.entries + np.cumsum([0, *memo_sizes[:-1]]),
        memo_sizes=np.array(memo_sizes),
        planes=np.concatenate([plane.ravel() for plane in planes]),
        plane_begin=np.cumsum([0, *(plane.size for plane in planes[:-1])]),
        plane_count=np.array([len(plane) for plane in planes]),
    )


def _spread_over_entries(flags: Flags, partition_of: Ints, words: int) -> Words:
    """Make bit sets over the entries of a crossing line: uint64 (summed partitions, words).

    A bit is set if the entry's partition is orthogonal to the partition of the summed line.
    """
    sets = np.zeros((len(flags), words), np.uint64)
    flags = np.ascontiguousarray(flags)
    chunk_size = max(1, CALL_BITS // (1 + len(partition_of)))
    for start in range(0, len(sets), chunk_size):
        check_cancelled()
        chunk = slice(start, start + chunk_size)
        make_bit_sets(flags[chunk], partition_of, sets[chunk])
    return sets


def multiplicity_planes(multiplicity: Ints) -> Words:
    """Write bit k of the multiplicities of all entries as a bit set: uint64 (bits, words).

    With multiplicities 1, 2, 3, 1 of entries 0 to 3::

        plane 0 (bit 0)   1101      lowest bit, of entry 0, on the right
        plane 1 (bit 1)   0110
    """
    size = -(-len(multiplicity) // 64) * 64
    planes = np.zeros((int(multiplicity.max()).bit_length(), size), np.uint8)
    for bit, plane in enumerate(planes):
        check_cancelled()
        plane[: len(multiplicity)] = multiplicity >> bit & 1
    # "<u8": the first byte is the lowest one on any machine.
    return np.packbits(planes, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def find_skips(entries: Ints) -> tuple[Ints, Ints]:
    """Find ``skip`` and ``first_difference`` of an ``Index`` for the sorted entries of a level."""
    check_cancelled()
    size = len(entries)
    # differ[e, k]: entries e and e + 1 differ in crossing line k or in one before it.
    differ = np.logical_or.accumulate(entries[1:] != entries[:-1], axis=1)
    skip = np.full_like(entries, size)
    check_cancelled()
    skip[:-1] = np.where(differ, np.arange(1, size)[:, None], size)
    check_cancelled()
    # For each entry, the least of the entries that differ, now or later in the list.
    skip = np.ascontiguousarray(np.minimum.accumulate(skip[::-1])[::-1])
    first_differing_line = differ.argmax(axis=1)
    return skip, np.concatenate([[0], first_differing_line])
