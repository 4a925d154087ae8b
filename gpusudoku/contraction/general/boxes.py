"""Where bands and stacks meet: which partitions go together, and what that rules out.

A box can be filled just if its column partition (from a map of its stack) and its row partition
(from a map of its band) are *orthogonal*: every set of one meets every set of the other in one
digit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general.graph import Graph
from gpusudoku.contraction.general.maps import Bools, Maps, Words, allowed, kernel
from gpusudoku.errors import TooExpensive

Pairs = NDArray[np.uint8]


def fixed(candidates: Words, geometry: Geometry) -> Words | None:
    """The candidates with every fixed digit gone from the other cells that see it.

    Returns None if there is no solution: a cell has no candidate, or a unit one digit twice.
    """
    units = geometry.units
    single = np.where(np.bitwise_count(candidates) == 1, candidates, np.uint64(0))
    in_unit = np.bitwise_or.reduce(single[units], axis=1)
    twice = np.bitwise_count(in_unit) != np.count_nonzero(single[units], axis=1)
    seen = np.bitwise_or.reduce(in_unit[geometry.unit_of], axis=1)
    left: Words = np.where(single != 0, single, candidates & ~seen)
    return None if twice.any() or not left.all() else left


def both_allowed(candidates: Words, geometry: Geometry) -> tuple[Bools, Bools]:
    """``allowed`` of the board and of the mirrored board: of the stacks and of the bands."""
    mirrored = np.ascontiguousarray(candidates.reshape(geometry.n, geometry.n).T).ravel()
    return allowed(candidates, geometry), allowed(mirrored, geometry.transposed)


def all_maps(
    stacks: Bools, bands: Bools, most: int, memory: int
) -> tuple[list[Maps], list[Maps]] | None:
    """The maps of every stack and of every band; None if there are none of one.

    Raises
    ------
    TooExpensive
        If there are more than ``most`` of one, or listing them would take too much memory.
    """
    # All are counted before the first is listed, which is quick. Those alike are made once.
    graphs: dict[bytes, Graph] = {}
    for name, side in ("stack", stacks), ("band", bands):
        for k, one in enumerate(side):
            key = one.tobytes()
            if key not in graphs:
                graph = graphs[key] = Graph(one, f"{name} {k + 1}", most)
                if graph.maps == 0:
                    return None
                memory = graph.within(memory)
    for graph in graphs.values():
        memory = graph.check(most, memory)
    maps = {key: graph.listed() for key, graph in graphs.items()}
    return [maps[one.tobytes()] for one in stacks], [maps[one.tobytes()] for one in bands]


def _orthogonal(columns: Words, rows: Words) -> Pairs:
    """uint8 (column partitions, row partitions): whether they go together."""
    out = np.empty((len(columns), len(rows)), np.uint8)
    kernel("orthogonal")(columns, rows, out)
    return out


def met(
    stacks: list[Maps], bands: list[Maps], memory: int
) -> tuple[list[Maps], list[Maps], list[list[Pairs]]]:
    """Drop maps that go with none of another stack's or band's, until there is none such.

    Returns
    -------
    The stacks' maps, the bands' maps and, for band i and stack j, in [i][j] which of their
    partitions in the box go together, uint8 (the stack's, the band's).

    Raises
    ------
    TooExpensive
        If there are more pairs of partitions than bytes of memory.
    """
    size = sum(
        len(stack.partitions[i]) * len(band.partitions[j])
        for i, band in enumerate(bands)
        for j, stack in enumerate(stacks)
    )
    if size > memory // 4:
        raise TooExpensive(
            f"too expensive to contract: {size:,} pairs of partitions meet in the boxes"
        )
    stacks, bands = list(stacks), list(bands)
    pairs = [
        [_orthogonal(stack.partitions[i], band.partitions[j]) for j, stack in enumerate(stacks)]
        for i, band in enumerate(bands)
    ]
    changed = True
    while changed:
        changed = False
        for j, stack in enumerate(stacks):
            good = [np.logical_or.reduce(pairs[i][j], axis=1) for i in range(len(bands))]
            fits = [good[i][stack.entries[:, i]] for i in range(len(bands))]
            keep: Bools = np.logical_and.reduce(fits)
            if not keep.all():
                stacks[j], changed = stack.kept(keep), True
                for i in range(len(bands)):
                    pairs[i][j] = pairs[i][j][stack.used(i, keep)]
        for i, band in enumerate(bands):
            good = [np.logical_or.reduce(pairs[i][j], axis=0) for j in range(len(stacks))]
            fits = [good[j][band.entries[:, j]] for j in range(len(stacks))]
            keep = np.logical_and.reduce(fits)
            if not keep.all():
                bands[i], changed = band.kept(keep), True
                for j in range(len(stacks)):
                    pairs[i][j] = pairs[i][j][:, band.used(j, keep)]
    return stacks, bands, pairs
