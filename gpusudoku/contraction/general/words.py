"""The maps of a line one by one: *words*, which have the column of every digit by name.

An entry of a list stands for as many words as its multiplicity says, all with the same partitions.
Its words are numbered. Interchangeable columns make several words of one path of the ``Graph``;
they change fastest.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from math import factorial
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gpusudoku.contraction.general.graph import MAX_MAPS, Graph, paths_from
from gpusudoku.contraction.general.join import Join
from gpusudoku.contraction.general.maps import Bools, Ints, Maps, group_rows
from gpusudoku.jobs.cancel import check_cancelled

Named = NDArray[np.uint8]


class Kinds(NamedTuple):
    """The columns of one band in the words of entries; entries that agree are of one kind."""

    kind: Ints
    """int64 (entries): the kind of every entry."""
    shares: NDArray[Any]
    """int64 or object (kinds, n, columns): the words of an entry that have a digit in a column."""


class LineWords(Protocol):
    """The words of a line."""

    def names(self, entries: Ints, numbers: NDArray[Any]) -> Named:
        """Write the words of entries with some numbers: uint8 (k, bands, n), columns of digits."""

    def kinds(self, band: int) -> Kinds:
        """Find the kinds of all entries by the columns of a band."""


def line_words(join: Join) -> tuple[list[LineWords], list[LineWords]]:
    """Return the words of the summed lines of a join, as they are summed, and of the others."""
    way = join.orientation
    assert way is not None
    stacks, bands = join.allowed
    summed, crossing = (bands, stacks) if way.bands else (stacks, bands)
    graphs: dict[bytes, Graph] = {}

    def words_of(allowed: Bools, maps: Maps) -> LineWords:
        key = allowed.tobytes()
        if key not in graphs:
            graphs[key] = Graph(allowed, "a line", MAX_MAPS)
        return PathWords(graphs[key]) if graphs[key].rows == 1 else ListedWords(graphs[key], maps)

    first = [words_of(summed[line], maps) for line, maps in zip(way.order, way.summed, strict=True)]
    return first, [words_of(line, maps) for line, maps in zip(crossing, way.crossing, strict=True)]


class ListedWords:
    """The words of a line as a list; see ``LineWords``."""

    def __init__(self, graph: Graph, maps: Maps) -> None:
        self._graph = graph
        self._packed, ids = graph.words
        """uint64 (paths, bands, words): in the order of the graph."""
        entry_of = np.full(int(ids.max()) + 1, -1)
        entry_of[maps.origin] = np.arange(len(maps))
        entry = entry_of[ids]
        self._order = np.argsort(entry, kind="stable")[np.count_nonzero(entry < 0) :]
        """int64 (paths): those of all entries, one entry after the other."""
        self._paths = np.bincount(entry[self._order], minlength=len(maps))
        self._first = np.cumsum(self._paths) - self._paths

    def names(self, entries: Ints, numbers: NDArray[Any]) -> Named:
        symmetry = self._graph.symmetry
        path = self._first[entries] + (numbers // symmetry).astype(np.int64)
        packed = self._packed[self._order[path]].swapaxes(0, 1)
        columns = [self._graph.columns_of(words) for words in packed]
        return _renamed(np.stack(columns, axis=1), self._graph.alike, numbers % symmetry)

    def kinds(self, band: int) -> Kinds:
        graph = self._graph
        columns = graph.columns_of(self._packed[self._order, band])
        class_of = np.empty(graph.columns, np.int64)
        for number, members in enumerate(graph.alike):
            class_of[members] = number
        # The numbers of paths of an entry with each digit in each class but the last, in fields of
        # words; a field holds all paths of an entry.
        classes = len(graph.alike)
        bits = int(self._paths.max()).bit_length()
        fields = graph.n * (classes - 1)
        per_word = 64 // bits
        known = np.zeros((len(self._paths), 1 + -(-fields // per_word)), np.uint64)
        known[:, 0] = self._paths
        for word in range(1, known.shape[1]):
            check_cancelled()
            ones = np.zeros(len(columns), np.uint64)
            for place, field in enumerate(
                range((word - 1) * per_word, min(word * per_word, fields))
            ):
                digit, number = divmod(field, classes - 1)
                here = class_of[columns[:, digit]] == number
                ones |= here.astype(np.uint64) << np.uint64(place * bits)
            known[:, word] = np.add.reduceat(ones, self._first)
        kind, leaders = group_rows(known)
        counts = np.zeros((len(leaders), graph.n, classes), np.int64)
        for field in range(fields):
            word, place = divmod(field, per_word)
            digit, number = divmod(field, classes - 1)
            value = known[leaders, 1 + word] >> np.uint64(place * bits)
            counts[:, digit, number] = value & np.uint64((1 << bits) - 1)
        counts[:, :, -1] = known[leaders, 0].astype(np.int64)[:, None] - counts.sum(axis=2)
        # Each column of a class has a digit in as many of its renamings as any other.
        sizes = np.array([len(members) for members in graph.alike])
        return Kinds(kind, counts[:, :, class_of] * (graph.symmetry // sizes[class_of]))


class PathWords:
    """Words of a line with a single row in its boxes: the paths of the graph, of one entry."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._after = [np.ones(1, object)]
        """For every layer the paths from each of its nodes to the end."""
        for layer in reversed(range(graph.n)):
            node, _, target = graph.edges[layer]
            size = graph.sizes[layer]
            self._after.insert(0, paths_from(node, target, self._after[0], size))

    def names(self, entries: Ints, numbers: NDArray[Any]) -> Named:
        graph = self._graph
        symmetry = self._graph.symmetry
        columns = np.empty((len(numbers), graph.columns, graph.n), np.int64)
        first = [np.searchsorted(edges[0], np.arange(len(ways) + 1)).tolist()
                 for edges, ways in zip(graph.edges, self._after, strict=False)]  # fmt: skip
        ends: dict[tuple[int, int], list[int]] = {}
        for row, number in enumerate(numbers.tolist()):
            node = 0
            left = number // symmetry
            for layer, digit in enumerate(graph.order):
                begin, end = first[layer][node : node + 2]
                _, choice, target = graph.edges[layer]
                if (layer, node) not in ends:
                    ends[layer, node] = [*accumulate(self._after[layer + 1][target[begin:end]])]
                starts = ends[layer, node]
                taken = bisect_right(starts, left)
                left -= starts[taken - 1] if taken else 0
                columns[row, :, digit] = graph.ways[layer][choice[begin + taken]]
                node = int(target[begin + taken])
        return _renamed(columns, graph.alike, numbers % symmetry)

    def kinds(self, band: int) -> Kinds:
        graph = self._graph
        shares = np.zeros((1, graph.n, graph.columns), object)
        before = np.ones(1, object)
        for layer, digit in enumerate(graph.order):
            check_cancelled()
            node, choice, target = graph.edges[layer]
            paths = before[node] * self._after[layer + 1][target]
            np.add.at(shares[0, digit], graph.ways[layer][choice, band], paths)
            coming = np.zeros(graph.sizes[layer + 1], object)
            np.add.at(coming, target, before[node])
            before = coming
        for members in graph.alike:
            whole = shares[:, :, members].sum(axis=2, keepdims=True)
            shares[:, :, members] = whole * (graph.symmetry // len(members))
        return Kinds(np.zeros(1, np.int64), shares)


def _renamed(columns: Ints, alike: list[list[int]], numbers: NDArray[Any]) -> Named:
    """Rename interchangeable columns, int64 (k, bands, n), by the permutations with k numbers."""
    rows = np.arange(len(columns))
    names = np.tile(np.arange(sum(map(len, alike))), (len(columns), 1))
    for members in alike:
        here = (numbers % factorial(len(members))).astype(np.int64)
        numbers = numbers // factorial(len(members))
        free = np.tile(members, (len(columns), 1))
        for column in members:
            pick = here % free.shape[1]
            here = here // free.shape[1]
            names[:, column] = free[rows, pick]
            keep = np.ones(free.shape, bool)
            keep[rows, pick] = False
            free = free[keep].reshape(len(columns), -1)
    found: Named = names[rows[:, None, None], columns].astype(np.uint8)
    return found
