"""The arrays that the contraction of a 9x9 board works in. Special to 3x3 boxes.

A *line* is a stack (lines 0 to 2, left to right) or a band (lines 3 to 5, top to bottom). A map of
a line is three partitions of the nine digits into three sets of three: of a stack, its column
partition in every band; of a band, its row partition in every stack. There are 280 partitions.
Every line has a list of its distinct maps, each packed into one integer (a *key*: three fields of
9 bits, the first coordinate highest), with multiplicities.

The sum runs over the maps of three *summed* lines, the stacks or the bands, whichever is cheaper;
the *crossing* lines give one tensor each. By roles: the maps of the *outer* lines A and B are
paired, those of C are run through; of the crossing lines, P is the pivot, Q and R are the others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

PARTITIONS = 280
ORTHOGONAL = 36
"""Partitions orthogonal to any one."""
MOST_WORDS = 94_080
"""Maps of a line without clues."""
MOST_MAPS = 15_400
"""Distinct ones, partitions taken for words."""
MOST_PER_PARTITION = 55
"""Distinct maps of a line that have a given partition at a given place, at most."""
STRIDE = 56
"""Entries kept apart for the maps of one partition: MOST_PER_PARTITION, filled up."""
TILE = 840
"""Longest dot product: two slabs of 280 rows of it are about what a second-level cache holds, and
rows do not start at multiples of a page's size, which would have them contend for its ways."""

MOST_GENERATORS = 64

# Fields of Space.plan
A, B, C, P, Q, R, GENERATORS, PAIRS = range(8)

# Fields of Space.sums
LOW, HIGH, DOTTED = range(3)


class Tables(NamedTuple):
    """What holds for every board; see ``gpusudoku.contraction.nine_tables``."""

    partition_of: NDArray[np.int16]
    """int16 (3^9): the partition of a word that gives digit d set number word // 3^d % 3; or -1."""
    orthogonal: NDArray[np.int16]
    """int16 (280, 36): the partitions orthogonal to each, ascending."""
    orthogonal_bits: NDArray[np.uint64]
    """uint64 (280, 5): the same as bit sets."""
    count_steps: NDArray[np.int64]
    """int64 (6): what each permutation adds to nine counters of three bits."""
    word_steps: NDArray[np.int64]
    """int64 (9, 6): what each digit's permutation adds to three words of 16 bits."""
    permutations: NDArray[np.int64]
    """int64 (6, 3): the permutations of 0, 1, 2."""
    swaps: NDArray[np.int16]
    """int16 (9, 9, 280): where the exchange of two digits takes every partition."""


class Space(NamedTuple):
    """Everything about one board, from its lists to its orbits."""

    masks: NDArray[np.uint8]
    """uint8 (6, 9): the permutations that every digit may take in every line, as bits."""
    raw: NDArray[np.int32]
    """int32 (2, MOST_WORDS): keys while a list is made."""
    ladder: NDArray[np.int64]
    """int64 (4, 9): scratch of listing."""
    counters: NDArray[np.int64]
    """int64 (513): scratch of sorting."""
    keys: NDArray[np.int32]
    """int32 (6, MOST_MAPS): distinct maps of every line."""
    multiplicity: NDArray[np.int32]
    """int32 (6, MOST_MAPS)."""
    size: NDArray[np.int64]
    """int64 (6): their number."""
    divisor: NDArray[np.int64]
    """int64 (6): what the multiplicities of a line were divided by."""
    marks: NDArray[np.uint64]
    """uint64 (2, 5): bit sets of partitions."""
    number: NDArray[np.int16]
    """int16 (6, 3, 280): number of a partition among those of a coordinate of a line, or -1."""
    partition: NDArray[np.int16]
    """int16 (6, 3, 280): and back."""
    occurring: NDArray[np.int64]
    """int64 (6, 3): how many there are."""
    plan: NDArray[np.int64]
    """int64 (8): the lines in the roles A to R, then numbers of GENERATORS and of PAIRS."""
    maps: NDArray[np.int16]
    """int16 (3, MOST_MAPS, 4): of the lines in roles A, B, C: numbers at P, Q, R, and
    multiplicity; A and B sorted by P, C by Q."""
    start: NDArray[np.int64]
    """int64 (3, 281): where each number of the sorting coordinate starts in ``maps``."""
    near: NDArray[np.int16]
    """int16 (3, 280, 36): orthogonal numbers, between a crossing line's and a summed line's."""
    nears: NDArray[np.int64]
    """int64 (3, 280): how many."""
    indicator: NDArray[np.int16]
    """int16 (280 * 280): 1 where two numbers are orthogonal."""
    half: NDArray[np.int16]
    """int16 (280^3): a tensor on the way."""
    tensors: NDArray[np.int16]
    """int16 (3, 280^3): the tensors of the crossing lines, indexed [c][a][b]."""
    largest: NDArray[np.int64]
    """int64 (3): their maxima."""
    slot: NDArray[np.int64]
    """int64 (3): which of them is P's, Q's and R's; equal ones are made once."""
    generators: NDArray[np.int16]
    """int16 (MOST_GENERATORS, 280): relabellings that leave all lists as they are."""
    parent: NDArray[np.int32]
    """int32 (280 * 280): the orbits of pairs (b, a), a tree each."""
    orbit: NDArray[np.int32]
    """int32 (280 * 280): sizes of the orbits, 0 for pairs that are not the least of theirs."""
    pairs: NDArray[np.int32]
    """int32 (280 * 280, 3): least pairs as (b, a, size of the orbit), sorted."""


class Slabs(NamedTuple):
    """What a thread sums in. The integers are wide enough for the products at hand."""

    rows_q: NDArray[np.int16] | NDArray[np.int32]
    """(280, 280, STRIDE): Q's tensor at [a][c], over the maps of one b."""
    rows_r: NDArray[np.int16] | NDArray[np.int32]
    """(280, 280, STRIDE): R's, times the multiplicities of those maps."""
    left: NDArray[np.int16] | NDArray[np.int32]
    """(280, TILE): over pairs of maps of a and b."""
    right: NDArray[np.int16] | NDArray[np.int32]
    """(280, TILE)."""
    words_q: NDArray[np.int64]
    """The same memory as ``rows_q`` in words of 64 bits, several entries each; and so on."""
    words_r: NDArray[np.int64]
    words_left: NDArray[np.int64]
    words_right: NDArray[np.int64]
    source: NDArray[np.int64]
    """int64 (TILE): where the runs of a slab come from."""
    place: NDArray[np.int64]
    """int64 (2, 280): where an a has its rows."""
    column: NDArray[np.int16]
    """int16 (280): P's tensor at one (a, b)."""
    terms: NDArray[np.int16]
    """int16 (MOST_MAPS, 2): maps of C that count for the pair: numbers at Q and R."""
    factors: NDArray[np.int64]
    """int64 (MOST_MAPS): P's tensor times multiplicity, for each."""
    sums: NDArray[np.int64]
    """int64 (3): LOW, HIGH, DOTTED."""


def make_space() -> Space:
    """Room for any board, 177 MB of it; what a board does not touch takes no memory."""
    n = PARTITIONS
    return Space(
        masks=np.empty((6, 9), np.uint8),
        raw=np.empty((2, MOST_WORDS), np.int32),
        ladder=np.empty((4, 9), np.int64),
        counters=np.empty(513, np.int64),
        keys=np.empty((6, MOST_MAPS), np.int32),
        multiplicity=np.empty((6, MOST_MAPS), np.int32),
        size=np.zeros(6, np.int64),
        divisor=np.ones(6, np.int64),
        marks=np.empty((2, 5), np.uint64),
        number=np.empty((6, 3, n), np.int16),
        partition=np.empty((6, 3, n), np.int16),
        occurring=np.empty((6, 3), np.int64),
        plan=np.zeros(8, np.int64),
        maps=np.empty((3, MOST_MAPS, 4), np.int16),
        start=np.empty((3, n + 1), np.int64),
        near=np.empty((3, n, ORTHOGONAL), np.int16),
        nears=np.empty((3, n), np.int64),
        indicator=np.empty(n * n, np.int16),
        half=np.empty(n * n * n, np.int16),
        tensors=np.empty((3, n * n * n), np.int16),
        largest=np.empty(3, np.int64),
        slot=np.empty(3, np.int64),
        generators=np.empty((MOST_GENERATORS, n), np.int16),
        parent=np.empty(n * n, np.int32),
        orbit=np.empty(n * n, np.int32),
        pairs=np.empty((n * n, 3), np.int32),
    )


def make_slabs(wide: bool) -> Slabs:
    """Room for one thread's sums: 22 MB, twice as much if wide."""
    n, entry = PARTITIONS, np.int32 if wide else np.int16
    shapes = (n, n, STRIDE), (n, n, STRIDE), (n, TILE), (n, TILE)
    rows_q, rows_r, left, right = (np.empty(shape, entry) for shape in shapes)
    return Slabs(
        rows_q=rows_q,
        rows_r=rows_r,
        left=left,
        right=right,
        words_q=rows_q.view(np.int64),
        words_r=rows_r.view(np.int64),
        words_left=left.view(np.int64),
        words_right=right.view(np.int64),
        source=np.empty(TILE, np.int64),
        place=np.empty((2, n), np.int64),
        column=np.empty(n, np.int16),
        terms=np.empty((MOST_MAPS, 2), np.int16),
        factors=np.empty(MOST_MAPS, np.int64),
        sums=np.zeros(3, np.int64),
    )
