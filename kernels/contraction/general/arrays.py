"""The arrays that the kernels of the general contraction read and work in.

A *line* is a stack or a band. The sum runs over the maps of the *summed* lines, which are the
stacks or the bands, whichever is cheaper. The others are the *crossing* lines: for each choice of
maps of the summed lines, their maps are counted. The summed lines are taken in a fixed order; a
*level* is a place in it. An *entry* is a distinct map of a line: a tuple of partitions, one per
line that it crosses, with a multiplicity. The entries of all summed lines are numbered in a row,
level by level. ``docs/contraction.md`` (section 2) defines maps, partitions and multiplicities.

Sizes of these arrays depend on the board, so they are NamedTuples, not groups. The default of each
field is its kind: ``Index()`` is the kind of an ``Index``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.arguments import int64, uint64


class Index(NamedTuple):
    """What the sum reads: the lists of all lines, prepared for quick look-ups.

    The entries of a level are in lexicographic order. So those that share their first partitions
    follow one another and can be skipped together. An example with two crossing lines:

        entry   partitions   skip   differs
          0        0, 0      2, 1      0
          1        0, 1      2, 2      1
          2        1, 0      3, 3      0
    """

    sets: NDArray[np.uint64] = uint64[::1]
    """All bit sets, one after the other. A bit set is over the entries of a crossing line, and
    tells which of them fit a partition of a summed line. Entry e is bit e % 64 of its word e //
    64."""
    words: NDArray[np.int64] = int64[::1]
    """(crossing lines): words of a bit set over the entries of each line."""
    begin: NDArray[np.int64] = int64[::1]
    """(levels + 1): the entries of level l are begin[l] to begin[l + 1] - 1."""
    set_of: NDArray[np.int64] = int64[:, ::1]
    """(entries, crossing lines): where in ``sets`` the bit set of an entry begins."""
    multiplicity: NDArray[np.uint64] = uint64[::1]
    """(entries): the multiplicity of each entry."""
    skip: NDArray[np.int64] = int64[:, ::1]
    """(entries, crossing lines): the next entry whose partition differs in this line or in one
    before it."""
    differs: NDArray[np.int64] = int64[::1]
    """(entries + 1): the first line in which an entry differs from the one before it; 0 for the
    first entry of a level, and at the end."""
    place: NDArray[np.int64] = int64[:, ::1]
    """(entries of the last level, crossing lines): the place in ``Walk.memo`` of the entry's
    partition."""
    places: NDArray[np.int64] = int64[::1]
    """(crossing lines): the number of places of each line."""
    planes: NDArray[np.uint64] = uint64[::1]
    """The multiplicities of the crossing lines' entries in binary, as bit sets: one for bit 0 of
    all multiplicities of a line, one for bit 1, and so on."""
    plane_begin: NDArray[np.int64] = int64[::1]
    """(crossing lines): where in ``planes`` those of each line begin."""
    plane_count: NDArray[np.int64] = int64[::1]
    """(crossing lines): how many planes each line has."""


class Levels(NamedTuple):
    """The state of the crossing lines: per level, the entries that fit all choices above it.

    Each bit set is stored as its words that are not 0. Level 0 has all entries.
    """

    words: NDArray[np.uint64] = uint64[:, :, ::1]
    """(levels, crossing lines, words): the words that are not 0."""
    positions: NDArray[np.int64] = int64[:, :, ::1]
    """(levels, crossing lines, words): the place of each of them in its bit set."""
    counts: NDArray[np.int64] = int64[:, ::1]
    """(levels, crossing lines): how many there are."""


class Walk(NamedTuple):
    """The state of the summed lines: how far the depth-first walk is at each level."""

    entry: NDArray[np.int64] = int64[::1]
    """(levels): the entry to try next. At a level above the current one, the entry before it is the
    one chosen."""
    end: NDArray[np.int64] = int64[::1]
    """(levels): the end of the entries to try."""
    fresh: NDArray[np.int64] = int64[::1]
    """(levels): the first crossing line whose bit set has to be made again for the next entry. The
    entry shares the partitions before with the entry that was tried last."""
    product: NDArray[np.uint64] = uint64[::1]
    """(levels): the product of the multiplicities chosen above the level."""
    memo: NDArray[np.int64] = int64[::1]
    """(places): at the last level, the total multiplicity of the crossing line's entries that fit,
    for every partition looked at so far; -1 for the others."""


class Branches(NamedTuple):
    """Parts of the sum. A branch has one entry of level 0 and a range of entries of level 1."""

    first: NDArray[np.int64] = int64[::1]
    """(branches): the entry of level 0."""
    begin: NDArray[np.int64] = int64[::1]
    """(branches): the first entry of level 1. It means nothing if there is one level only."""
    end: NDArray[np.int64] = int64[::1]
    """(branches): the end of the entries of level 1."""
    weight: NDArray[np.int64] = int64[::1]
    """(branches): the number of branches with the same sum that this one stands for."""


class PathGraph(NamedTuple):
    """A layered graph without dead ends. Its paths from the root, node 0, are the maps of a line.

    A layer has the nodes that are reached with the same number of digits placed.
    """

    first: NDArray[np.int64] = int64[::1]
    """(nodes + 1): the edges of node v are first[v] to first[v + 1] - 1."""
    target: NDArray[np.int64] = int64[::1]
    """(edges): the node that an edge leads to."""
    choice: NDArray[np.int64] = int64[::1]
    """(edges): the way of placing a digit that an edge stands for."""
    columns: NDArray[np.uint64] = uint64[:, ::1]
    """(choices, bands): the column of the digit in every band."""


class Packing(NamedTuple):
    """How the columns of all digits in a band are packed into words."""

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
    """(layers): the edge to follow next from it."""
