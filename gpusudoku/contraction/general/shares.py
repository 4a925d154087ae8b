"""Shares by the join: for every cell and digit the number of solutions that have it there.

A *naming* is a partition of a box with a kind of words. ``kernels/contraction/general/shares.py``
finds the environments of the pairs of namings in every box: the solutions with each pair of their
words. The words have digits, columns and rows.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.contraction.general.boxes import JoinScratch
from gpusudoku.contraction.general.join import MEMORY, Join, Orientation, combine, primes_above
from gpusudoku.contraction.general.maps import Ints, Words, group_rows
from gpusudoku.contraction.general.order import CALLS_PER_THREAD, PIECE_STEPS
from gpusudoku.contraction.general.symmetries import average_shares, symmetry_of
from gpusudoku.contraction.general.words import Kinds, line_words
from gpusudoku.errors import TooExpensive
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.jobs.job import pieces, spread
from gpusudoku.kernels.compile_many import ready
from gpusudoku.kernels.contraction.general.arrays import Branches
from gpusudoku.kernels.contraction.general.shares import Backward, Namings, sweep

SLICE_BYTES = 1 << 24
"""Bytes for pairs of a box that are worked on at a time: an interrupt waits for them."""
WORD_BYTES = 32
"""Bytes of a word of a bit set, with its rank, until all boxes have theirs."""
WORD = 1 << 64
"""The modulus of machine words."""


class Box(NamedTuple):
    """The box of a summed line and a crossing line."""

    summed: NDArray[Any]
    """(namings, n, columns): the words of an entry that have a digit in a column."""
    crossing: NDArray[Any]
    """The same of the crossing line."""
    bits: Words
    """uint64 (namings of the summed line, words): those of the crossing line that fit, as bits."""


def join_shares(join: Join, count: int, threads: int = 1) -> NDArray[Any]:
    """Count the solutions with each digit in each cell: Python's integers, object (cells, n).

    ``count`` is the number of solutions. TooExpensive is raised if so many namings meet in the
    boxes that it would take more than ``MEMORY``.
    """
    ready([sweep])
    geometry = join.geometry
    if join.orientation is None:
        return np.zeros((geometry.cells, geometry.n), object)
    namings, boxes, left = _namings(join)
    threads = min(threads, join.most_threads(left), _most_threads(join.orientation, namings, left))
    moduli = [WORD, *(primes_above(count // WORD).tolist() if count >= WORD else [])]
    found = [_modulo(join, modulus, namings, boxes, threads) for modulus in moduli]
    shares = np.empty(geometry.cells * geometry.n, object)
    shares[:] = [combine([*map(int, each)], moduli) for each in zip(*found, strict=True)]
    swaps = join.orientation.swaps
    symmetries = [symmetry_of(swap, join.allowed, geometry) for swap in swaps]
    return average_shares(shares.reshape(geometry.cells, geometry.n), symmetries)


def _namings(join: Join) -> tuple[Namings, list[list[Box]], int]:
    """Return the kernel's input; the boxes of every crossing line; and the memory that is left."""
    way = join.orientation
    assert way is not None
    summed, crossing = line_words(join)
    levels = range(len(way.summed))
    lines = range(len(way.crossing))
    numbers: dict[tuple[int, int], tuple[Ints, Ints]] = {}
    boxes: list[list[Box]] = [[] for _ in lines]
    sizes = np.empty((len(lines), len(levels), 2), np.int64)
    left = MEMORY - SLICE_BYTES
    for line, level in product(lines, levels):
        ours, our_shares, first = _named(
            way.summed[level].entries[:, line], summed[level].kinds(line)
        )
        other_kinds = crossing[line].kinds(way.order[level])
        theirs, their_shares, second = _named(way.crossing[line].entries[:, level], other_kinds)
        sizes[line, level] = len(first), -(-len(second) // 64)
        kept = WORD_BYTES * int(sizes[line, level].prod()) + 8 * (ours.size + theirs.size)
        left -= kept + 2 * (our_shares.nbytes + their_shares.nbytes)
        if left < len(first) * len(second):  # bytes, one for each pair, while they are packed
            raise too_many()
        bits = _packed(way.pairs[line][level], first, second)
        numbers[line, level] = ours, theirs
        boxes[line].append(Box(our_shares, their_shares, bits))
    flat = np.concatenate([box.bits.ravel() for row in boxes for box in row])
    ends = np.cumsum(np.bitwise_count(flat), dtype=np.int64)
    begin = np.cumsum([0, *sizes.prod(axis=2).ravel()[:-1]])
    return (
        Namings(
            summed=_table([[numbers[line, level][0] for line in lines] for level in levels]),
            crossing=_table([[numbers[line, level][1] for level in levels] for line in lines]),
            first=np.cumsum([0, *map(len, way.crossing)]),
            multiplicity=np.concatenate([maps.multiplicity for maps in way.crossing]),
            places=np.array([len(row[-1].summed) for row in boxes]),
            bits=flat,
            rank=ends - np.bitwise_count(flat),
            begin=begin.reshape(sizes.shape[:2]),
            width=np.ascontiguousarray(sizes[:, :, 1]),
        ),
        boxes,
        left,
    )


def too_many() -> TooExpensive:
    """Make the error of a board that has no shares by its join."""
    return TooExpensive("too expensive: too many ways to name columns and rows in the boxes")


def _most_threads(way: Orientation, namings: Namings, memory: int) -> int:
    """Return the number of threads that fit into some bytes, or raise TooExpensive."""
    environments = 8 * int(np.bitwise_count(namings.bits).sum())
    entries = 8 * len(way.summed) * int(namings.first[-1])
    threads = (memory - environments) // (environments + entries + way.scratch_bytes)
    if threads < 1:
        raise too_many()
    return threads


def _named(partitions: Ints, kinds: Kinds) -> tuple[Ints, NDArray[Any], Ints]:
    """Number the namings of entries; return the shares and the partition of every naming, too."""
    rows = np.column_stack([partitions, kinds.kind]).astype(np.uint64)
    ids, leaders = group_rows(rows)
    return ids, kinds.shares[kinds.kind[leaders]], partitions[leaders]


def _packed(fits: NDArray[np.uint8], first: Ints, second: Ints) -> Words:
    """Pack rows and columns of a matrix: column k is bit k % 64 of word k // 64."""
    octets = np.zeros((len(first), -(-len(second) // 64) * 8), np.uint8)
    size = max(1, SLICE_BYTES // (1 + len(second)))
    for start in range(0, len(first), size):
        check_cancelled()
        some = fits[np.ix_(first[start : start + size], second)]
        packed = np.packbits(some, axis=1, bitorder="little")
        octets[start : start + size, : packed.shape[1]] = packed
    return octets.view("<u8").astype(np.uint64, copy=False)


def _table(columns: list[list[Ints]]) -> Ints:
    """Put tables of some columns one below the other."""
    return np.ascontiguousarray(np.concatenate([np.column_stack(each) for each in columns]))


def _modulo(
    join: Join, modulus: int, namings: Namings, boxes: list[list[Box]], threads: int
) -> Words:
    """Sum the shares of leaders of orbits, times the orbits' sizes: uint64 (cells * n)."""
    way = join.orientation
    geometry = join.geometry
    assert way is not None
    environments = _environments(way, modulus % WORD, namings, threads)
    height = geometry.box_rows
    width = geometry.box_columns
    n = geometry.n
    shares = np.zeros((width, height, height, width, n), np.uint64)  # band, row, stack, column
    factors = [maps.factor for maps in way.summed], [maps.factor for maps in way.crossing]
    start = 0
    for line, row in enumerate(boxes):
        for level, box in enumerate(row):
            end = start + int(np.bitwise_count(box.bits).sum())
            others = prod(factors[0][:level] + factors[0][level + 1 :])
            others *= prod(factors[1][:line] + factors[1][line + 1 :])
            found = _box_shares(box, environments[start:end], modulus)
            found = _reduced(found * np.uint64(others % modulus), modulus)
            if way.bands:
                shares[way.order[level], :, line] = found
            else:
                shares[line, :, way.order[level]] = found.swapaxes(0, 1)
            start = end
    return shares.ravel()


def _environments(way: Orientation, modulus: int, namings: Namings, threads: int) -> Words:
    """Find the environments of all boxes, one after the other."""
    whole, _ = way.cut(PIECE_STEPS)
    parts = pieces(range(len(whole.first)), CALLS_PER_THREAD * threads)
    used = [(way.scratch(), _backward(way, namings)) for _ in range(threads)]

    def run(part: range, mine: tuple[JoinScratch, Backward], stop: Ints) -> None:
        branches = Branches(*(field[part.start : part.stop] for field in whole))
        scratch, state = mine
        sweep(way.index, *scratch, branches, namings, state, np.uint64(modulus), stop)

    spread(run, parts, used)
    total = used[0][1].environments
    for _, state in used[1:]:
        total += state.environments
    return total if modulus == 0 else total % np.uint64(modulus)


def _backward(way: Orientation, namings: Namings) -> Backward:
    """Make the memory in which a thread works."""
    lines = len(way.crossing)
    ours = int(namings.places.max())
    theirs = 64 * int(namings.width[:, -1].max())
    return Backward(
        environments=np.zeros(int(np.bitwise_count(namings.bits).sum()), np.uint64),
        above=np.zeros((len(way.summed), int(namings.first[-1])), np.uint64),
        totals=np.zeros((lines, ours), np.int64),
        alone=np.zeros((lines, ours), np.uint64),
        weighted=np.zeros((lines, ours), np.uint64),
        present=np.zeros((lines, theirs // 64), np.uint64),
        held=np.zeros((lines, theirs), np.int64),
        number=np.zeros((lines, theirs), np.uint64),
        back=np.zeros((lines, theirs), np.uint64),
    )


def _box_shares(box: Box, environments: Words, modulus: int) -> Words:
    """Sum the shares of a box: uint64 (columns of the summed line, of the crossing line, n)."""
    ours = _words(box.summed, modulus)
    theirs = _words(box.crossing, modulus)
    shares = np.zeros((ours.shape[2], theirs.shape[2], ours.shape[1]), np.uint64)
    # All pairs of a row are looked at together; each word of its bits stands for 64 at most.
    row_bytes = 64 * box.bits.shape[1] * 32 * shares.shape[0] * shares.shape[1]
    size = max(1, SLICE_BYTES // row_bytes)
    end = 0
    for first in range(0, len(ours), size):
        bits = box.bits[first : first + size].astype("<u8", copy=False).view(np.uint8)
        row, other = np.nonzero(np.unpackbits(bits, axis=1, bitorder="little"))
        starts = np.searchsorted(row, np.arange(len(bits)))
        start = end
        end = end + len(row)
        for digit in range(ours.shape[1]):
            check_cancelled()
            each = _reduced(environments[start:end, None] * theirs[other, digit], modulus)
            whole = _reduced(np.add.reduceat(each, starts), modulus)
            pairs = ours[first : first + size, digit, :, None] * whole[:, None]
            shares[:, :, digit] += _reduced(pairs, modulus).sum(axis=0)
            shares[:, :, digit] = _reduced(shares[:, :, digit], modulus)
    return shares


def _words(numbers: NDArray[Any], modulus: int) -> Words:
    """Take integers modulo a number, as machine words."""
    if numbers.dtype == object:
        return (numbers % modulus).astype(np.uint64)
    return _reduced(numbers.astype(np.uint64), modulus)


def _reduced(words: Words, modulus: int) -> Words:
    """Take words modulo a prime, or leave them modulo 2^64."""
    return words if modulus == WORD else words % np.uint64(modulus)
