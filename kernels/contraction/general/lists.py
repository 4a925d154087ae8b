"""The loops that make the lists: equal rows, the paths of a graph, orthogonal partitions."""

from __future__ import annotations

import numpy as np

from gpusudoku.kernels.arguments import int64, uint8, uint64
from gpusudoku.kernels.bits import ONE, ZERO, popcount
from gpusudoku.kernels.contraction.general.arrays import Descent, Packing, PathGraph
from gpusudoku.kernels.kernel import kernel

MIXER = np.uint64(0x9E3779B97F4A7C15)
"""2^64 divided by the golden ratio, an odd number whose multiples are well spread."""
HALF = np.uint64(32)


@kernel(uint64[:, ::1], int64, int64, int64, int64[::1], int64[::1], int64[::1], returns=int64)
def group(rows, first, end, groups, table, ids, leaders):
    """Number rows so that equal rows get the same number, in the order of their first occurrence.

    rows     uint64 (rows, words)
    first    int                                          which rows are numbered: those before
    end      int                                          have been, the groups of which are known
    groups   int                                          how many these are
    table    int64 (a power of two, more than the rows)   an open hash table of groups, each as its
                                                          number and 1; 0 where there is none
    ids      int64 (rows)                                 out: the group of every row
    leaders  int64 (rows)                                 out: the first row of every group

    Returns the number of groups.
    """
    last = np.uint64(table.shape[0] - 1)
    for r in range(first, end):
        mixed = ZERO
        for w in range(rows.shape[1]):
            mixed = (mixed ^ rows[r, w]) * MIXER
            mixed ^= mixed >> HALF
        while True:
            slot = np.int64(mixed & last)
            known = table[slot] - 1
            if known < 0:
                leaders[groups] = r
                ids[r] = groups
                groups += 1
                table[slot] = groups
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


@kernel(PathGraph(), Packing(), int64, Descent(), uint64[:, ::1], returns=int64)
def list_paths(graph, packing, depth, descent, out):
    """Write down the next paths of a graph: the columns of all digits, band by band.

    graph    PathGraph
    packing  Packing
    depth    int                               0, or what the call before returned
    descent  Descent                           scratch, 0 at first
    out      uint64 (paths, bands * words)     out: the packed columns of as many paths

    Returns where to go on; there must be as many paths left as are asked for.
    """
    found = 0
    deepest = descent.prefix.shape[0] - 1
    while found < out.shape[0]:
        if depth == deepest:
            for k in range(out.shape[1]):
                out[found, k] = descent.prefix[depth, k]
            found += 1
            depth -= 1
            continue
        edge = descent.edge[depth]
        if edge == graph.first[descent.node[depth] + 1]:
            depth -= 1
            continue
        descent.edge[depth] = edge + 1
        for k in range(out.shape[1]):
            descent.prefix[depth + 1, k] = descent.prefix[depth, k]
        word = depth // packing.per_word
        shift = packing.bits * (depth % packing.per_word)
        for band in range(graph.columns.shape[1]):
            column = graph.columns[graph.choice[edge], band] << np.uint64(shift)
            descent.prefix[depth + 1, band * packing.words + word] |= column
        depth += 1
        descent.node[depth] = graph.target[edge]
        descent.edge[depth] = graph.first[graph.target[edge]]
    return depth


@kernel(uint64[:, ::1], uint64[:, ::1], uint8[:, ::1])
def orthogonal(columns, rows, out):
    """Mark the orthogonal pairs: each set of one partition meets each of the other in one digit.

    columns  uint64 (x, C)   partitions into sets of R digits
    rows     uint64 (y, R)   partitions into sets of C digits
    out      uint8 (x, y)    out: 1 if orthogonal, else 0
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


@kernel(uint8[:, ::1], int64[::1], uint64[:, ::1])
def scatter(pairs, partition_of, out):
    """Make bit sets over the entries of a list from marks on the partitions that occur in it.

    pairs         uint8 (x, y)         0 or 1
    partition_of  int64 (entries)      the partition, a y, of every entry
    out           uint64 (x, words)    out, all 0: bit e % 64 of word e // 64 is 1 if
                                       pairs[x, partition_of[e]] is
    """
    for x in range(pairs.shape[0]):
        for e in range(partition_of.shape[0]):
            out[x, e // 64] |= np.uint64(pairs[x, partition_of[e]]) << np.uint64(e % 64)
