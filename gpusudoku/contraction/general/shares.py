"""Shares by the join: for every cell and digit the number of solutions with it there.

In a box, entries of a line with the same partition and the same slot counts form a *class*.
``kernels/contraction/general/shares.py`` computes an *environment* for each pair of a class of the
summed line and an orthogonal class of the crossing line: the number of solutions for each pair of
their maps. The slot counts of the two classes then distribute these solutions over the cells.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.contraction.general.boxes import Flags, JoinScratch
from gpusudoku.contraction.general.entry_lists import Ints, Words, number_rows
from gpusudoku.contraction.general.join import (
    MEMORY,
    Join,
    Orientation,
    combine_remainders,
    primes_above,
)
from gpusudoku.contraction.general.line_maps import EntryClasses, maps_of_lines
from gpusudoku.contraction.general.order import CALLS_PER_THREAD, PIECE_STEPS
from gpusudoku.contraction.general.symmetries import average_shares, symmetry_of
from gpusudoku.errors import TooExpensive
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.jobs.job import run_on_threads, split_range
from gpusudoku.kernels.compile_many import load_kernels
from gpusudoku.kernels.contraction.general.arrays import Branches
from gpusudoku.kernels.contraction.general.shares import BoxClasses, Derivatives, sum_environments

SLICE_BYTES = 1 << 24
"""The bytes of the pairs of a box that are processed at a time, as an interrupt waits for them."""
WORD_BYTES = 32
"""The bytes of a word of a bit set, with its rank, until the bit sets of all boxes are made."""
WORD = 1 << 64
"""The modulus of machine words."""


class Box(NamedTuple):
    """The box of a summed line and a crossing line."""

    summed: NDArray[Any]
    """(classes, n, slots): for every class of the summed line, the number of maps of an entry with
    each digit in each slot."""
    crossing: NDArray[Any]
    """(classes, n, slots): the same of the crossing line."""
    orthogonal: Words
    """uint64 (classes of the summed line, words): the orthogonal classes of the crossing line, as
    bit sets."""


class _LineClasses(NamedTuple):
    """The classes of the entries of one line in a box."""

    entry_class: Ints
    """int64 (entries): the class of every entry."""
    slot_counts: NDArray[Any]
    """(classes, n, slots): see ``EntryClasses``."""
    partition: Ints
    """int64 (classes): the partition of every class."""


def count_join_shares(join: Join, count: int, threads: int = 1) -> NDArray[Any]:
    """Count the solutions with each digit in each cell: Python's integers, object (cells, n).

    ``count`` is the number of solutions. TooExpensive is raised if so many classes meet in the
    boxes that they would take more than ``MEMORY``.
    """
    load_kernels([sum_environments])
    geometry = join.geometry
    orientation = join.orientation
    if orientation is None:
        return np.zeros((geometry.cells, geometry.n), object)
    classes, boxes, memory = _classify(join)
    threads = min(threads, join.max_threads(memory), _max_threads(orientation, classes, memory))
    # Shares are at most ``count``, so their remainders determine them.
    moduli = [WORD]
    if count >= WORD:
        moduli += primes_above(count // WORD).tolist()
    remainders = [_sum_modulo(join, modulus, classes, boxes, threads) for modulus in moduli]
    shares = np.empty(geometry.cells * geometry.n, object)
    for index, share_remainders in enumerate(zip(*remainders, strict=True)):
        shares[index] = combine_remainders([int(r) for r in share_remainders], moduli)
    symmetries = [symmetry_of(swap, join.allowed, geometry) for swap in orientation.swaps]
    return average_shares(shares.reshape(geometry.cells, geometry.n), symmetries)


def _classify(join: Join) -> tuple[BoxClasses, list[list[Box]], int]:
    """Classify all entries in all boxes.

    Returns the input of the kernel, the boxes of every crossing line, and the remaining memory.
    """
    orientation = join.orientation
    assert orientation is not None
    summed_maps, crossing_maps = maps_of_lines(join)
    levels = range(len(orientation.summed))
    lines = range(len(orientation.crossing))
    summed_classes: dict[tuple[int, int], Ints] = {}
    crossing_classes: dict[tuple[int, int], Ints] = {}
    boxes: list[list[Box]] = [[] for _ in lines]
    # The shape of the bit sets of every box: classes of the summed line, words.
    shapes = np.empty((len(lines), len(levels), 2), np.int64)
    memory = MEMORY - SLICE_BYTES
    for line, level in product(lines, levels):
        summed = _classes_in_box(
            orientation.summed[level].entries[:, line], summed_maps[level].classes(line)
        )
        crossing = _classes_in_box(
            orientation.crossing[line].entries[:, level],
            crossing_maps[line].classes(orientation.order[level]),
        )
        summed_classes[line, level] = summed.entry_class
        crossing_classes[line, level] = crossing.entry_class
        class_count = len(summed.partition)
        set_words = -(-len(crossing.partition) // 64)
        shapes[line, level] = class_count, set_words
        memory -= WORD_BYTES * class_count * set_words
        memory -= 8 * (summed.entry_class.size + crossing.entry_class.size)
        memory -= 2 * (summed.slot_counts.nbytes + crossing.slot_counts.nbytes)
        # One byte for each pair of classes while the bit sets are packed.
        if memory < class_count * len(crossing.partition):
            raise too_many_classes()
        bit_sets = _pack_bit_sets(
            orientation.orthogonal[line][level], summed.partition, crossing.partition
        )
        boxes[line].append(Box(summed.slot_counts, crossing.slot_counts, bit_sets))

    # The environments have an element for each bit, in the order of the bits.
    orthogonal_sets = np.concatenate([box.orthogonal.ravel() for row in boxes for box in row])
    pairs_in_word = np.bitwise_count(orthogonal_sets)
    sizes = shapes.prod(axis=2)
    set_begin = np.cumsum([0, *sizes.ravel()[:-1]])
    classes = BoxClasses(
        summed=_stack_columns(
            [[summed_classes[line, level] for line in lines] for level in levels]
        ),
        crossing=_stack_columns(
            [[crossing_classes[line, level] for level in levels] for line in lines]
        ),
        first_entry=np.cumsum([0, *map(len, orientation.crossing)]),
        multiplicity=np.concatenate([line.multiplicity for line in orientation.crossing]),
        summed_class_count=np.array([len(row[-1].summed) for row in boxes]),
        orthogonal_sets=orthogonal_sets,
        first_pair=np.cumsum(pairs_in_word, dtype=np.int64) - pairs_in_word,
        set_begin=set_begin.reshape(sizes.shape),
        set_words=np.ascontiguousarray(shapes[:, :, 1]),
    )
    return classes, boxes, memory


def too_many_classes() -> TooExpensive:
    """Make the error of a board with too many classes for shares by its join."""
    return TooExpensive("too expensive: too many classes of entries meet in the boxes")


def _max_threads(orientation: Orientation, classes: BoxClasses, memory: int) -> int:
    """Return the number of threads that fit into some bytes, or raise TooExpensive."""
    environments = 8 * int(np.bitwise_count(classes.orthogonal_sets).sum())
    crossing_entries = 8 * len(orientation.summed) * int(classes.first_entry[-1])
    # Each thread has its own environments, and they are added up in the end.
    thread_bytes = environments + crossing_entries + orientation.scratch_bytes
    threads = (memory - environments) // thread_bytes
    if threads < 1:
        raise too_many_classes()
    return threads


def _classes_in_box(partitions: Ints, classes: EntryClasses) -> _LineClasses:
    """Number the classes of entries in a box, from their partitions there and their slot counts."""
    rows = np.column_stack([partitions, classes.entry_class]).astype(np.uint64)
    entry_class, first_entries = number_rows(rows)
    slot_counts = classes.slot_counts[classes.entry_class[first_entries]]
    return _LineClasses(entry_class, slot_counts, partitions[first_entries])


def _pack_bit_sets(flags: Flags, rows: Ints, columns: Ints) -> Words:
    """Pack rows and columns of a matrix as bit sets: uint64 (rows, words).

    Column k becomes bit k % 64 of word k // 64.
    """
    octets = np.zeros((len(rows), -(-len(columns) // 64) * 8), np.uint8)
    chunk_size = max(1, SLICE_BYTES // (1 + len(columns)))
    for start in range(0, len(rows), chunk_size):
        check_cancelled()
        chunk = flags[np.ix_(rows[start : start + chunk_size], columns)]
        packed = np.packbits(chunk, axis=1, bitorder="little")
        octets[start : start + chunk_size, : packed.shape[1]] = packed
    # "<u8": the first byte is the lowest one on any machine.
    return octets.view("<u8").astype(np.uint64, copy=False)


def _stack_columns(tables: list[list[Ints]]) -> Ints:
    """Put tables, given as lists of columns, one below the other."""
    return np.ascontiguousarray(np.concatenate([np.column_stack(columns) for columns in tables]))


def _sum_modulo(
    join: Join, modulus: int, classes: BoxClasses, boxes: list[list[Box]], threads: int
) -> Words:
    """Sum the shares of representatives, times the sizes of their orbits: uint64 (cells * n)."""
    orientation = join.orientation
    assert orientation is not None
    environments = _sum_environments(orientation, modulus, classes, threads)
    geometry = join.geometry
    height = geometry.box_rows
    width = geometry.box_columns
    shares = np.zeros((width, height, height, width, geometry.n), np.uint64)
    """By band, row in the band, stack, column in the stack, and digit."""
    summed_factors = [line.factor for line in orientation.summed]
    crossing_factors = [line.factor for line in orientation.crossing]
    start = 0
    for line, row in enumerate(boxes):
        for level, box in enumerate(row):
            end = start + int(np.bitwise_count(box.orthogonal).sum())
            # Slot counts include the factors of these two lines, but not those of the others.
            other_factors = prod(summed_factors[:level] + summed_factors[level + 1 :])
            other_factors *= prod(crossing_factors[:line] + crossing_factors[line + 1 :])
            box_shares = _sum_box(box, environments[start:end], modulus)
            box_shares = _reduce(box_shares * np.uint64(other_factors % modulus), modulus)
            if orientation.bands_are_summed:
                shares[orientation.order[level], :, line] = box_shares
            else:
                shares[line, :, orientation.order[level]] = box_shares.swapaxes(0, 1)
            start = end
    return shares.ravel()


def _sum_environments(
    orientation: Orientation, modulus: int, classes: BoxClasses, threads: int
) -> Words:
    """Sum the environments of all boxes, one after the other."""
    branches, _ = orientation.cut(PIECE_STEPS)
    chunks = split_range(range(len(branches.first_entry)), CALLS_PER_THREAD * threads)
    scratch = [
        (orientation.scratch(), _make_derivatives(orientation, classes)) for _ in range(threads)
    ]
    kernel_modulus = np.uint64(modulus % WORD)  # 0 stands for 2^64

    def sum_chunk(chunk: range, memory: tuple[JoinScratch, Derivatives], stop: Ints) -> None:
        chunk_branches = Branches(*(field[chunk.start : chunk.stop] for field in branches))
        join_scratch, state = memory
        sum_environments(
            orientation.index, *join_scratch, chunk_branches, classes, state, kernel_modulus, stop
        )

    run_on_threads(sum_chunk, chunks, scratch)
    # Without primes the sum wraps around modulo 2^64. Otherwise it stays below 2^31 * threads.
    total = scratch[0][1].environments
    for _, state in scratch[1:]:
        total += state.environments
    return _reduce(total, modulus)


def _make_derivatives(orientation: Orientation, classes: BoxClasses) -> Derivatives:
    """Make the memory in which a thread works."""
    lines = len(orientation.crossing)
    max_summed_classes = int(classes.summed_class_count.max())
    max_words = int(classes.set_words[:, -1].max())
    max_crossing_classes = 64 * max_words
    return Derivatives(
        environments=np.zeros(int(np.bitwise_count(classes.orthogonal_sets).sum()), np.uint64),
        entry_derivative=np.zeros(
            (len(orientation.summed), int(classes.first_entry[-1])), np.uint64
        ),
        totals=np.zeros((lines, max_summed_classes), np.int64),
        unweighted_derivative=np.zeros((lines, max_summed_classes), np.uint64),
        total_derivative=np.zeros((lines, max_summed_classes), np.uint64),
        remaining_classes=np.zeros((lines, max_words), np.uint64),
        class_total=np.zeros((lines, max_crossing_classes), np.int64),
        entry_count=np.zeros((lines, max_crossing_classes), np.uint64),
        class_derivative=np.zeros((lines, max_crossing_classes), np.uint64),
    )


def _sum_box(box: Box, environments: Words, modulus: int) -> Words:
    """Sum the shares of a box: uint64 (slots of the summed line, of the crossing line, n).

    ``environments`` has an element for every pair of orthogonal classes, row by row::

        share = sum over pairs of  environment * slot count (summed) * slot count (crossing)
    """
    summed = _remainders(box.summed, modulus)
    crossing = _remainders(box.crossing, modulus)
    shares = np.zeros((summed.shape[2], crossing.shape[2], summed.shape[1]), np.uint64)
    # All pairs of a row are processed together: at most 64 for each word of its bit set.
    row_bytes = 64 * box.orthogonal.shape[1] * 32 * shares.shape[0] * shares.shape[1]
    chunk_rows = max(1, SLICE_BYTES // row_bytes)
    end = 0
    for first_row in range(0, len(summed), chunk_rows):
        rows = slice(first_row, first_row + chunk_rows)
        octets = box.orthogonal[rows].astype("<u8", copy=False).view(np.uint8)
        # The pairs of these rows, in the order of the environments.
        row, crossing_class = np.nonzero(np.unpackbits(octets, axis=1, bitorder="little"))
        row_starts = np.searchsorted(row, np.arange(len(octets)))
        start = end
        end = start + len(row)
        for digit in range(summed.shape[1]):
            check_cancelled()
            products = environments[start:end, None] * crossing[crossing_class, digit]
            # Over the crossing classes of each row first, then over the rows.
            row_sums = np.add.reduceat(_reduce(products, modulus), row_starts)
            row_sums = _reduce(row_sums, modulus)
            cell_sums = summed[rows, digit, :, None] * row_sums[:, None]
            shares[:, :, digit] += _reduce(cell_sums, modulus).sum(axis=0)
            shares[:, :, digit] = _reduce(shares[:, :, digit], modulus)
    return shares


def _remainders(numbers: NDArray[Any], modulus: int) -> Words:
    """Take integers modulo a number, as machine words."""
    if numbers.dtype == object:
        return (numbers % modulus).astype(np.uint64)
    return _reduce(numbers.astype(np.uint64), modulus)


def _reduce(words: Words, modulus: int) -> Words:
    """Take words modulo a prime; modulo 2^64 they are left as they are."""
    return words if modulus == WORD else words % np.uint64(modulus)
