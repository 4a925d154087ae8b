"""The paths of a layered graph, written down as packed columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpusudoku.contraction.general.maps import Ints, Words
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.kernels.contraction.general.arrays import Descent, Packing, PathGraph
from gpusudoku.kernels.contraction.general.lists import list_paths

CALL_PATHS = 1 << 16
"""Paths that are written down in one call, which nothing interrupts."""
CALL_EDGES = 1 << 16
"""Edges whose paths are counted at a time."""


def packing_of(digits: int, columns: int) -> Packing:
    """How the columns of so many digits are packed."""
    bits = (columns - 1).bit_length() or 1
    per_word = 64 // bits
    return Packing(bits, per_word, -(-digits // per_word))


def all_paths(
    edges: Sequence[tuple[Ints, Ints, Ints]], sizes: Sequence[int], ways: Sequence[Ints], paths: int
) -> Words:
    """uint64 (paths, bands, words): the packed columns of the digits, in the order of the layers.

    What describes the graph is as in ``Graph``.
    """
    columns = ways[0].shape[1]
    packing = packing_of(len(ways), columns)
    nodes = np.cumsum([0, *sizes])
    begins = np.cumsum([0, *map(len, ways)])
    source, choice, target = (
        np.concatenate([layer[k] + starts[place] for place, layer in enumerate(edges)])
        for k, starts in enumerate([nodes, begins, nodes[1:]])
    )
    graph = PathGraph(
        first=np.searchsorted(source, np.arange(nodes[-1] + 1)),
        target=target,
        choice=choice,
        columns=np.concatenate(ways).astype(np.uint64),
    )
    descent = Descent(
        prefix=np.zeros((len(ways) + 1, columns * packing.words), np.uint64),
        node=np.zeros(len(ways) + 1, np.int64),
        edge=np.zeros(len(ways) + 1, np.int64),
    )
    out, depth = np.empty((paths, columns * packing.words), np.uint64), 0
    for start in range(0, paths, CALL_PATHS):
        check_cancelled()
        depth = list_paths(graph, packing, depth, descent, out[start : start + CALL_PATHS])
    return out.reshape(paths, columns, packing.words)


def paths_from(
    node: Ints, target: Ints, after: NDArray[np.object_], nodes: int
) -> NDArray[np.object_]:
    """How many paths lead from each of so many nodes to the end: object, Python's integers.

    ``node`` and ``target`` are the ends of all edges, and ``after`` has the paths from the targets.
    """
    paths = np.zeros(nodes, object)
    for start in range(0, len(node), CALL_EDGES):
        check_cancelled()
        some = slice(start, start + CALL_EDGES)
        np.add.at(paths, node[some], after[target[some]])
    return paths


def sets_of(columns: Ints, number: int) -> Words:
    """uint64 (maps, number): the sets of digits of the columns, ordered by their lowest digits.

    ``columns`` is int64 (maps, n), the column of every digit.
    """
    sets, rows = np.zeros((len(columns), number), np.uint64), np.arange(len(columns))
    for digit, column in enumerate(columns.T):
        sets[rows, column] |= np.uint64(1) << np.uint64(digit)
    lowest = sets & (~sets + np.uint64(1))
    return np.take_along_axis(sets, np.argsort(lowest, axis=1), axis=1)
