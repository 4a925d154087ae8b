"""Loops of the contraction over lists: equal rows, paths of a graph, orthogonal partitions."""

from __future__ import annotations

import numpy as np

from gpusudoku.kernels.bits import popcount
from gpusudoku.kernels.search.layout import ONE, ZERO

GROUP = "int64(uint64[:,::1], int64[::1], int64[::1], int64[::1])"
LIST_PATHS = (
    "void(int64[::1], int64[::1], int64[::1], uint64[:,::1], int64, int64, uint64[:,::1],"
    " int64[::1], int64[::1], uint64[:,::1])"
)
ORTHOGONAL = "void(uint64[:,::1], uint64[:,::1], uint8[:,::1])"
SCATTER = "void(uint8[:,::1], int64[::1], uint64[:,::1])"

MIXER = np.uint64(0x9E3779B97F4A7C15)
HALF = np.uint64(32)


def group(rows, table, ids, leaders):
    """Number equal rows alike, in the order in which they first occur.

    rows     uint64 (rows, words)
    table    int64 (a power of two above the rows)   all -1: an open hash table of group numbers
    ids      int64 (rows)                            out: the group of every row
    leaders  int64 (rows)                            out: the first row of every group

    Returns the number of groups.
    """
    groups = 0
    last = np.uint64(table.shape[0] - 1)
    for r in range(rows.shape[0]):
        mixed = ZERO
        for w in range(rows.shape[1]):
            mixed = (mixed ^ rows[r, w]) * MIXER
            mixed ^= mixed >> HALF
        while True:
            slot = np.int64(mixed & last)
            known = table[slot]
            if known < 0:
                table[slot] = groups
                leaders[groups] = r
                ids[r] = groups
                groups += 1
                break
            leader = leaders[known]
            equal = True
            for w in range(rows.shape[1]):
                equal &= rows[leader, w] == rows[r, w]
            if equal:
                ids[r] = known
                break
            mixed += ONE
    return groups


def list_paths(first, target, choice, words, bits, per_word, prefix, node, edge, out):
    """Write what is chosen along every path of a layered graph without dead ends.

    first    int64 (nodes + 1)         the edges of node v are first[v] .. first[v + 1] - 1
    target   int64 (edges)             where an edge leads; node 0 is the root
    choice   int64 (edges)             what it chooses
    words    uint64 (choices, bands)   a choice as one small number a band
    bits     int                       bits of such a number
    per_word int                       numbers that a word takes
    prefix   uint64 (depth + 1, bands * words a band)   scratch, its first row 0
    node, edge   int64 (depth + 1)     scratch
    out      uint64 (paths, bands * words a band)       out: band by band the numbers of a path
    """
    depth, found, deepest = 0, 0, prefix.shape[0] - 1
    bands = words.shape[1]
    width = prefix.shape[1] // bands
    node[0], edge[0] = 0, first[0]
    while depth >= 0:
        if depth == deepest:
            for k in range(prefix.shape[1]):
                out[found, k] = prefix[depth, k]
            found += 1
            depth -= 1
            continue
        e = edge[depth]
        if e == first[node[depth] + 1]:
            depth -= 1
            continue
        edge[depth] = e + 1
        for k in range(prefix.shape[1]):
            prefix[depth + 1, k] = prefix[depth, k]
        shift = np.uint64(bits * (depth % per_word))
        for i in range(bands):
            prefix[depth + 1, i * width + depth // per_word] |= words[choice[e], i] << shift
        depth += 1
        node[depth] = target[e]
        edge[depth] = first[target[e]]


def orthogonal(columns, rows, out):
    """Mark the pairs of partitions in which every set of one meets every set of the other once.

    columns  uint64 (x, C)   sets of R digits each
    rows     uint64 (y, R)   sets of C digits each
    out      uint8 (x, y)    out: 0 or 1
    """
    for x in range(columns.shape[0]):
        for y in range(rows.shape[0]):
            good = True
            for c in range(columns.shape[1]):
                for r in range(rows.shape[1]):
                    good &= popcount(columns[x, c] & rows[y, r]) == 1
                if not good:
                    break
            out[x, y] = good


def scatter(pairs, which, out):
    """Make bit sets over a list from a table over the partitions that occur in it.

    pairs    uint8 (x, y)         0 or 1
    which    int64 (entries)      the partition y of every entry of the list
    out      uint64 (x, words)    out, all 0: bit e % 64 of word e // 64 is pairs[x, which[e]]
    """
    for x in range(pairs.shape[0]):
        for e in range(which.shape[0]):
            out[x, e // 64] |= np.uint64(pairs[x, which[e]]) << np.uint64(e % 64)
