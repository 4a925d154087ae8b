"""Make the lists: number equal rows, list the paths of a graph, find orthogonal partitions."""

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
def number_equal_rows(rows, start, end, count, table, ids, leaders):
    """Number rows so that equal rows get the same number, in the order of their first occurrence.

    rows     uint64 (rows, words)
    start    int                                          the rows to number: all rows before
    end      int                                          ``start`` have been numbered
    count    int                                          the number of distinct rows among these
    table    int64 (a power of two, more than the rows)   a hash table with open addressing: the
                                                          number of a distinct row, plus 1; 0 if
                                                          empty
    ids      int64 (rows)                                 out: the number of every row
    leaders  int64 (rows)                                 out: the first row with every number

    Returns the number of distinct rows.
    """
    slot_mask = np.uint64(table.shape[0] - 1)
    for row in range(start, end):
        hashed = ZERO
        for word in range(rows.shape[1]):
            hashed = (hashed ^ rows[row, word]) * MIXER
            # A product mixes upwards only: bring its high half down to the slot's bits.
            hashed ^= hashed >> HALF
        # Linear probing. The table is never full, so the search ends at an empty slot or the row.
        while True:
            slot = np.int64(hashed & slot_mask)
            number = table[slot] - 1
            if number < 0:
                leaders[count] = row
                ids[row] = count
                count += 1
                table[slot] = count
                break
            leader = leaders[number]
            is_equal = True
            for word in range(rows.shape[1]):
                is_equal &= rows[leader, word] == rows[row, word]
            if is_equal:
                ids[row] = number
                break
            hashed += ONE
    return count


@kernel(PathGraph(), Packing(), int64, Descent(), uint64[:, ::1], returns=int64)
def list_paths(graph, packing, depth, descent, out):
    """Write the next paths of a graph, each as the columns of all digits, band by band.

    graph    PathGraph                         at least as many paths as ``out`` has must remain
    packing  Packing
    depth    int                               the layer: 0, or the result of the previous call
    descent  Descent                           scratch, 0 at first
    out      uint64 (paths, bands * words)     out: the packed columns of each path

    Returns the layer where the next call continues.
    """
    path_count = 0
    last_layer = descent.prefix.shape[0] - 1
    while path_count < out.shape[0]:
        # The path is complete: write it, and go back.
        if depth == last_layer:
            for k in range(out.shape[1]):
                out[path_count, k] = descent.prefix[depth, k]
            path_count += 1
            depth -= 1
            continue

        edge = descent.edge[depth]
        if edge == graph.first_edge[descent.node[depth] + 1]:  # all edges have been followed
            depth -= 1
            continue

        # Follow the edge: place the digit ``depth`` in every band.
        # A prefix is complete by itself, so going back undoes nothing.
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
        descent.edge[depth] = graph.first_edge[graph.target[edge]]
    return depth


@kernel(uint64[:, ::1], uint64[:, ::1], uint8[:, ::1])
def mark_orthogonal(columns, rows, out):
    """Mark the pairs of orthogonal partitions.

    Each set of one partition must share exactly one digit with each set of the other.

    columns  uint64 (x, C)   partitions into C sets of R digits, as bit masks of digits
    rows     uint64 (y, R)   partitions into R sets of C digits
    out      uint8 (x, y)    out: 1 if orthogonal, else 0
    """
    for x in range(columns.shape[0]):
        for y in range(rows.shape[0]):
            is_orthogonal = True
            for column in range(columns.shape[1]):
                for row in range(rows.shape[1]):
                    shared_digits = columns[x, column] & rows[y, row]
                    is_orthogonal &= popcount(shared_digits) == 1
                # One test per set is cheaper than a branch for every pair of sets.
                if not is_orthogonal:
                    break
            out[x, y] = is_orthogonal


@kernel(uint8[:, ::1], int64[::1], uint64[:, ::1])
def make_bit_sets(pairs, partition_of, out):
    """Make bit sets over the entries of a list from marks on the partitions that occur in it.

    pairs         uint8 (x, y)         0 or 1: a mark for each partition y
    partition_of  int64 (entries)      the partition y of every entry
    out           uint64 (x, words)    out, all 0: bit e % 64 of word e // 64 is the mark
                                       pairs[x, partition_of[e]]
    """
    for x in range(pairs.shape[0]):
        for entry in range(partition_of.shape[0]):
            mark = np.uint64(pairs[x, partition_of[entry]])
            out[x, entry // 64] |= mark << np.uint64(entry % 64)
