"""The arrays that the kernels of the general contraction read and work in.

A *line* is a stack or a band. The sum runs over the maps of the *summed* lines, which are the
stacks or the bands, whichever is cheaper. The others are the *crossing* lines: for each choice of
maps of the summed lines, the maps of every crossing line that fit are counted. The summed lines are
taken in a fixed order; a *level* is a position in this order. An *entry* is a distinct map of a
line: a tuple of partitions, one per line that it crosses, with a multiplicity. The entries of all
summed lines are numbered consecutively, level by level. ``docs/contraction.md`` (section 2) defines
maps, partitions and multiplicities.

The sizes of these arrays depend on the board, so they are NamedTuples, not groups. The default of
each field is its kind: ``Index()`` is the kind of an ``Index``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.arguments import int64, uint64


class Index(NamedTuple):
    """The lists of all lines, laid out for the sum.

    The entries of a level are in lexicographic order. So entries that share their first partitions
    are consecutive, and can be skipped together. An example with two crossing lines::

        entry   partitions   skip   first_difference
          0        0, 0      2, 1          0
          1        0, 1      2, 2          1
          2        1, 0      3, 3          0

    A *bit set* has one bit for each entry of a crossing line. Entry e is bit e % 64 of word
    e // 64::

        word 0:  bit 63 ... 1 0    entries 63 ... 1 0
        word 1:  bit 63 ... 1 0    entries 127 ... 65 64

    The multiplicities of a crossing line's entries are stored in binary, as bit sets called
    *planes*. Plane b has bit b of every multiplicity, so a weighted sum over a bit set takes one
    popcount per word and plane::

        entry           3  2  1  0
        multiplicity    1  2  3  1
        plane 0         1  0  1  1
        plane 1         0  1  1  0
    """

    # The bit sets of the summed lines' partitions.
    sets: NDArray[np.uint64] = uint64[::1]
    """All bit sets, one after the other. For a partition of a summed line and a crossing line, a
    bit set has the entries of the crossing line that fit."""
    set_words: NDArray[np.int64] = int64[::1]
    """(crossing lines): the number of words of a bit set over the entries of each line."""

    # The entries of the summed lines, numbered level by level.
    begin: NDArray[np.int64] = int64[::1]
    """(levels + 1): the entries of level l are begin[l] to begin[l + 1] - 1."""
    set_begin: NDArray[np.int64] = int64[:, ::1]
    """(entries, crossing lines): where in ``sets`` the bit set of an entry begins."""
    multiplicity: NDArray[np.uint64] = uint64[::1]
    """(entries): the multiplicity of each entry."""
    skip: NDArray[np.int64] = int64[:, ::1]
    """(entries, crossing lines): the next entry whose partition differs in this line or in an
    earlier one."""
    first_difference: NDArray[np.int64] = int64[::1]
    """(entries + 1): the first line in which an entry differs from the entry before it; 0 for the
    first entry of a level, and at the end."""

    # Totals depend on an entry's partition alone, so entries of the last level share them.
    memo_index: NDArray[np.int64] = int64[:, ::1]
    """(entries of the last level, crossing lines): the index in ``Walk.memo`` of the total for the
    entry's partition."""
    memo_sizes: NDArray[np.int64] = int64[::1]
    """(crossing lines): the number of totals of each line in ``Walk.memo``."""

    # The multiplicities of the crossing lines' entries.
    planes: NDArray[np.uint64] = uint64[::1]
    """The planes of all crossing lines, one after the other."""
    plane_begin: NDArray[np.int64] = int64[::1]
    """(crossing lines): where in ``planes`` the planes of each line begin."""
    plane_count: NDArray[np.int64] = int64[::1]
    """(crossing lines): the number of planes of each line."""


class Levels(NamedTuple):
    """The state of the crossing lines: per level, the entries that fit all choices above it.

    Bit sets are sparse: only words that are not 0 are stored, with their positions. Level 0 has all
    bits set, including those above the last entry.
    """

    words: NDArray[np.uint64] = uint64[:, :, ::1]
    """(levels, crossing lines, words): the words that are not 0."""
    positions: NDArray[np.int64] = int64[:, :, ::1]
    """(levels, crossing lines, words): the position of each of these words in its bit set."""
    counts: NDArray[np.int64] = int64[:, ::1]
    """(levels, crossing lines): the number of these words."""


class Walk(NamedTuple):
    """The state of the summed lines: the position of the depth-first walk at each level."""

    entry: NDArray[np.int64] = int64[::1]
    """(levels): the entry to try next. At a level above the current one, the chosen entry is the
    one before it."""
    end: NDArray[np.int64] = int64[::1]
    """(levels): the end of the entries to try."""
    first_stale: NDArray[np.int64] = int64[::1]
    """(levels): the first crossing line whose bit set must be computed again for the next entry. In
    all earlier lines, this entry has the same partitions as the entry tried last."""
    product: NDArray[np.uint64] = uint64[::1]
    """(levels): the product of the multiplicities chosen above the level."""
    memo: NDArray[np.int64] = int64[::1]
    """(totals of all crossing lines): at the last level, for each partition of the summed line, the
    total multiplicity of the crossing line's entries that fit, or UNKNOWN."""


class Branches(NamedTuple):
    """Branches of the sum: each has one entry of level 0 and a range of entries of level 1."""

    first_entry: NDArray[np.int64] = int64[::1]
    """(branches): the entry of level 0."""
    begin: NDArray[np.int64] = int64[::1]
    """(branches): the first entry of level 1. It has no meaning if there is only one level."""
    end: NDArray[np.int64] = int64[::1]
    """(branches): the end of the entries of level 1."""
    weight: NDArray[np.int64] = int64[::1]
    """(branches): the number of branches with the same sum that this one represents."""


class PathGraph(NamedTuple):
    """A layered graph without dead ends, whose paths from the root, node 0, are the maps of a line.

    The nodes of a layer are reached with the same number of placed digits.
    """

    first_edge: NDArray[np.int64] = int64[::1]
    """(nodes + 1): the edges of node v are first_edge[v] to first_edge[v + 1] - 1."""
    target: NDArray[np.int64] = int64[::1]
    """(edges): the node that an edge leads to."""
    choice: NDArray[np.int64] = int64[::1]
    """(edges): the choice of columns for a digit that an edge represents."""
    columns: NDArray[np.uint64] = uint64[:, ::1]
    """(choices, bands): the column of the digit in every band."""


class Packing(NamedTuple):
    """How the columns of all digits in a band are packed into words, the first digit lowest.

    With 4 bits and 16 digits in a word, for example::

        bit   63  60       7   4 3   0
              | d15 | ... |  d1 |  d0 |    word 0
              | d31 | ... | d17 | d16 |    word 1
    """

    bits: int = int64
    """Bits of a column number."""
    per_word: int = int64
    """Digits in a word."""
    words: int = int64
    """Words for all digits."""


class Descent(NamedTuple):
    """The state of a depth-first walk through a ``PathGraph``."""

    prefix: NDArray[np.uint64] = uint64[:, ::1]
    """(layers, bands * words): the packed columns up to each layer; row 0 is 0."""
    node: NDArray[np.int64] = int64[::1]
    """(layers): the node in each layer."""
    edge: NDArray[np.int64] = int64[::1]
    """(layers): the edge to follow next from this node."""
