"""The arrays that one thread sums in. Special to 3x3 boxes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.arguments import Group
from gpusudoku.kernels.contraction.nine.arrays import MOST_ENTRIES, PARTITIONS

PER_PARTITION = 55
"""Entries of a line that have a given partition at a given place, at most."""
STRIDE = 56
"""Room for the entries of one partition: PER_PARTITION, filled up to a multiple of PACK."""
PACK = 4
"""Runs are filled up with zeros to a multiple of this number: they are copied in words of 64 bits,
of which the narrowest have four entries."""
TILE = 840
"""Longest dot product: two slabs of 280 rows of it are about what a second-level cache holds, and
rows do not start at multiples of a page's size, which would have them contend for its ways."""

LOW, HIGH, DOTTED = range(3)
"""Fields of ``Slabs.sums``."""
LEFT, RIGHT = range(2)
"""The sides of the dot products."""
LENGTH, TERMS = range(2)
"""Fields of ``Slabs.held``."""


class Slabs(Group):
    """What a thread sums in. Entries of slabs have 16 bits or, where these are too few, 32.

    Arrays that are there twice begin with an axis of the *sides*: LEFT has the tensor of Q, RIGHT
    that of R, times the multiplicities of the entries of A and B.
    """

    sums: NDArray[np.int64]
    """int64 (3): the sum is HIGH * 2^32 + LOW; DOTTED products were added up."""
    results: NDArray[np.int64]
    """int64 (280 * 280): the sum of every pair of ``Orbits.pairs`` that was summed."""
    row: NDArray[np.int64]
    """int64 (2, 280): the row of ``gathered`` that belongs to each number of A; -1 if none does."""
    column: NDArray[np.int16]
    """int16 (STRIDE): where the entries of a b are in a row of the tensor."""
    times: NDArray[np.int64]
    """int64 (STRIDE): what the tensor is multiplied by at the entries of a b."""
    pivots: NDArray[np.int16]
    """int16 (280): the tensor of P at one (a, b)."""
    terms: NDArray[np.int16]
    """int16 (MOST_ENTRIES, 2): the numbers at Q and R of the entries of C that count for a pair."""
    factors: NDArray[np.int64]
    """int64 (MOST_ENTRIES): for each of them, the tensor of P times the multiplicity."""
    chosen: NDArray[np.int16]
    """int16 (MOST_ENTRIES): which entry of C each of them is, where solutions are looked for."""
    totals: NDArray[np.int64]
    """int64 (MOST_ENTRIES): for each of them, the dot product, where that is to be kept."""
    held: NDArray[np.int64]
    """int64 (2): the length of the runs that are gathered, and the number of terms of a pair, where
    solutions are looked for."""
    slab: NDArray[np.int16] | NDArray[np.int32]
    """(2, 280, TILE): a row for every number of C, over pairs of entries of A and B."""
    slab_words: NDArray[np.int64]
    """int64: the memory of ``slab``, seen as words of 64 bits, several entries each."""
    gathered: NDArray[np.int16] | NDArray[np.int32]
    """(2, 280, 280, STRIDE): the runs that slabs are copied from, for one b: at [row][c], the
    tensor over the entries of b."""
    gathered_words: NDArray[np.int64]
    """int64: the memory of ``gathered``, seen as words of 64 bits."""


def make_slabs(wide: bool) -> Slabs:
    """Room for one thread's sums: 23 MB, twice as much if wide."""
    n, entry = PARTITIONS, np.int32 if wide else np.int16
    return Slabs(
        sums=(np.int64, (3,)),
        results=(np.int64, (n * n,)),
        row=(np.int64, (2, n)),
        column=(np.int16, (STRIDE,)),
        times=(np.int64, (STRIDE,)),
        pivots=(np.int16, (n,)),
        terms=(np.int16, (MOST_ENTRIES, 2)),
        factors=(np.int64, (MOST_ENTRIES,)),
        chosen=(np.int16, (MOST_ENTRIES,)),
        totals=(np.int64, (MOST_ENTRIES,)),
        held=(np.int64, (2,)),
        slab=(entry, (2, n, TILE)),
        slab_words="slab",
        gathered=(entry, (2, n, n, STRIDE)),
        gathered_words="gathered",
    )
