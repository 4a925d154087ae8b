"""The maps of a line one by one, with the slot of every digit.

A *slot* is a column (of a stack) or a row (of a band) within a box. An entry of a list stands for
as many maps as its multiplicity times the factor of the list, all with the same partitions. The
maps of an entry have *ranks*, from 0 on. Interchangeable columns make several maps of one path of
the ``MapGraph``; the permutation of these columns changes fastest::

    rank = (index of the path among those of the entry) * symmetry + (number of the permutation)
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from math import factorial
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gpusudoku.contraction.general.entry_lists import Bools, EntryList, Ints, Words, number_rows
from gpusudoku.contraction.general.graph import MAX_MAPS, MapGraph, count_paths
from gpusudoku.contraction.general.join import Join
from gpusudoku.jobs.cancel import check_cancelled

Slots = NDArray[np.uint8]


class EntryClasses(NamedTuple):
    """The classes of entries by their maps in one band.

    Entries are in the same class if equally many of their maps have each digit in each slot.
    """

    entry_class: Ints
    """int64 (entries): the class of every entry."""
    slot_counts: NDArray[Any]
    """int64 or object (classes, n, slots): the number of maps of an entry that have a digit in a
    slot."""


class LineMaps(Protocol):
    """The maps of a line."""

    def slots(self, entries: Ints, ranks: NDArray[Any]) -> Slots:
        """Return the maps of entries with some ranks: uint8 (k, bands, n), the slots of digits."""

    def classes(self, band: int) -> EntryClasses:
        """Find the classes of all entries in a band."""


def maps_of_lines(join: Join) -> tuple[list[LineMaps], list[LineMaps]]:
    """Return the maps of the summed lines of a join, and those of its crossing lines.

    Summed lines come in the order of the orientation. The board must have a solution.
    """
    orientation = join.orientation
    assert orientation is not None  # None means that the board has no solution
    stacks, bands = join.allowed
    if orientation.bands_are_summed:
        summed_allowed = bands
        crossing_allowed = stacks
    else:
        summed_allowed = stacks
        crossing_allowed = bands
    graphs: dict[bytes, MapGraph] = {}

    def maps_of(allowed: Bools, line: EntryList) -> LineMaps:
        key = allowed.tobytes()
        if key not in graphs:
            graphs[key] = MapGraph(allowed, "a line", MAX_MAPS)
        graph = graphs[key]
        # If a box has one row, a single entry has all maps, which are too many to be listed.
        return PathMaps(graph) if graph.rows == 1 else ListedMaps(graph, line)

    summed = [
        maps_of(summed_allowed[number], line)
        for number, line in zip(orientation.order, orientation.summed, strict=True)
    ]
    crossing = [
        maps_of(allowed, line)
        for allowed, line in zip(crossing_allowed, orientation.crossing, strict=True)
    ]
    return summed, crossing


class ListedMaps:
    """The maps of a line as a list; see ``LineMaps``."""

    def __init__(self, graph: MapGraph, line: EntryList) -> None:
        self._graph = graph
        self._packed, original_entry = graph.packed_maps
        """uint64 (paths, bands, words): the paths in the order of the graph."""
        new_entry = np.full(int(original_entry.max()) + 1, -1)  # -1: the entry was dropped
        new_entry[line.origin] = np.arange(len(line))
        entry = new_entry[original_entry]
        dropped_paths = np.count_nonzero(entry < 0)
        self._order = np.argsort(entry, kind="stable")[dropped_paths:]
        """int64 (paths): the paths, entry after entry."""
        self._path_counts = np.bincount(entry[self._order], minlength=len(line))
        self._first_path = np.cumsum(self._path_counts) - self._path_counts
        """int64 (entries): where the paths of every entry begin in ``_order``."""

    def slots(self, entries: Ints, ranks: NDArray[Any]) -> Slots:
        symmetry = self._graph.symmetry
        # Every path makes ``symmetry`` maps, by permutations of interchangeable columns.
        path = self._first_path[entries] + (ranks // symmetry).astype(np.int64)
        packed = self._packed[self._order[path]].swapaxes(0, 1)
        columns = [self._graph.unpack(words) for words in packed]
        return _permute(np.stack(columns, axis=1), self._graph.interchangeable, ranks % symmetry)

    def classes(self, band: int) -> EntryClasses:
        graph = self._graph
        columns = graph.unpack(self._packed[self._order, band])
        set_of_column = np.empty(graph.columns, np.int64)
        for number, interchangeable in enumerate(graph.interchangeable):
            set_of_column[interchangeable] = number
        packed = _pack_counts(columns, set_of_column, self._path_counts, self._first_path)
        entry_class, first_entries = number_rows(packed)
        counts = _unpack_counts(
            packed[first_entries], graph.n, len(graph.interchangeable), self._path_counts
        )
        # The permutations of a set of interchangeable columns distribute its digits evenly.
        sizes = np.array([len(interchangeable) for interchangeable in graph.interchangeable])
        maps_per_path = graph.symmetry // sizes[set_of_column]
        return EntryClasses(entry_class, counts[:, :, set_of_column] * maps_per_path)


def _pack_counts(columns: Ints, set_of_column: Ints, path_counts: Ints, first_path: Ints) -> Words:
    """Count, for every entry, the paths with each digit in each set of interchangeable columns.

    ``columns``, int64 (paths, n), has the column of every digit. Returns uint64 (entries, words).
    Word 0 has the number of paths of the entry. The other words have fields of as many bits as the
    largest number of paths, so that no field overflows. The last set of columns has no field: its
    count is what remains of the paths. With three sets, fields f are in this order::

        word 0          word 1
        | all paths |   | .. | f=3: digit 1, set 1 | f=2: digit 1, set 0 | f=1: digit 0, set 1 | f=0
    """
    n = columns.shape[1]
    counted_sets = int(set_of_column.max())
    fields = n * counted_sets
    bits, per_word = _field_layout(path_counts)
    packed = np.zeros((len(path_counts), 1 + -(-fields // per_word)), np.uint64)
    packed[:, 0] = path_counts
    for word in range(1, packed.shape[1]):
        check_cancelled()
        # One word of every path at a time, added up over the paths of each entry.
        path_fields = np.zeros(len(columns), np.uint64)  # 0 or 1 in each field
        first_field = (word - 1) * per_word
        for field in range(first_field, min(first_field + per_word, fields)):
            digit, column_set = divmod(field, counted_sets)
            is_in_set = set_of_column[columns[:, digit]] == column_set
            shift = np.uint64((field - first_field) * bits)
            path_fields |= is_in_set.astype(np.uint64) << shift
        packed[:, word] = np.add.reduceat(path_fields, first_path)
    return packed


def _unpack_counts(packed: Words, n: int, sets: int, path_counts: Ints) -> Ints:
    """Unpack rows of ``_pack_counts``: int64 (rows, n, sets); ``path_counts`` is as there."""
    bits, per_word = _field_layout(path_counts)
    mask = np.uint64((1 << bits) - 1)
    counts = np.zeros((len(packed), n, sets), np.int64)
    for field in range(n * (sets - 1)):
        word, place = divmod(field, per_word)
        digit, column_set = divmod(field, sets - 1)
        counts[:, digit, column_set] = packed[:, 1 + word] >> np.uint64(place * bits) & mask
    counts[:, :, -1] = packed[:, 0].astype(np.int64)[:, None] - counts.sum(axis=2)
    return counts


def _field_layout(path_counts: Ints) -> tuple[int, int]:
    """Return the bits of a field of ``_pack_counts``, and the number of fields in a word."""
    bits = int(path_counts.max()).bit_length()
    return bits, 64 // bits


class PathMaps:
    """The maps of a line with one row in its boxes: the paths of the graph, of a single entry."""

    def __init__(self, graph: MapGraph) -> None:
        self._graph = graph
        self._paths_to_end = [np.ones(1, object)]
        """For every layer, and the end, the number of paths from each of its nodes to the end."""
        for layer in reversed(range(graph.n)):
            paths = count_paths(graph.edges[layer], self._paths_to_end[0], graph.sizes[layer])
            self._paths_to_end.insert(0, paths)

    def slots(self, entries: Ints, ranks: NDArray[Any]) -> Slots:
        graph = self._graph
        columns = np.empty((len(ranks), graph.columns, graph.n), np.int64)
        first_edges = [
            np.searchsorted(edges.source, np.arange(size + 1)).tolist()
            for edges, size in zip(graph.edges, graph.sizes, strict=False)
        ]
        path_totals: dict[tuple[int, int], list[int]] = {}  # up to each edge of a node
        for row, rank in enumerate(ranks.tolist()):
            node = 0
            path_rank = rank // graph.symmetry
            for layer, digit in enumerate(graph.order):
                start, end = first_edges[layer][node : node + 2]
                edges = graph.edges[layer]
                if (layer, node) not in path_totals:
                    paths = self._paths_to_end[layer + 1][edges.target[start:end]]
                    path_totals[layer, node] = [*accumulate(paths)]
                # The edge whose paths contain the rank: the first one with a larger total.
                totals = path_totals[layer, node]
                number = bisect_right(totals, path_rank)  # of the edge among those of the node
                if number > 0:
                    path_rank -= totals[number - 1]
                edge = start + number
                columns[row, :, digit] = graph.permutations[layer][edges.choice[edge]]
                node = int(edges.target[edge])
        return _permute(columns, graph.interchangeable, ranks % graph.symmetry)

    def classes(self, band: int) -> EntryClasses:
        graph = self._graph
        slot_counts = np.zeros((1, graph.n, graph.columns), object)
        paths_from_start = np.ones(1, object)
        for layer, digit in enumerate(graph.order):
            check_cancelled()
            edges = graph.edges[layer]
            # The paths through an edge: those to its source, times those from its target.
            edge_paths = (
                paths_from_start[edges.source] * self._paths_to_end[layer + 1][edges.target]
            )
            columns = graph.permutations[layer][edges.choice, band]
            np.add.at(slot_counts[0, digit], columns, edge_paths)
            next_paths = np.zeros(graph.sizes[layer + 1], object)
            np.add.at(next_paths, edges.target, paths_from_start[edges.source])
            paths_from_start = next_paths
        # The permutations of a set of interchangeable columns distribute its digits evenly.
        for column_set in graph.interchangeable:
            set_counts = slot_counts[:, :, column_set].sum(axis=2, keepdims=True)
            slot_counts[:, :, column_set] = set_counts * (graph.symmetry // len(column_set))
        return EntryClasses(np.zeros(1, np.int64), slot_counts)


def _permute(columns: Ints, interchangeable: list[list[int]], numbers: NDArray[Any]) -> Slots:
    """Permute the slots ``columns``, int64 (k, bands, n): row i by the permutation ``numbers[i]``.

    Only columns of one set of ``interchangeable`` are exchanged. A number encodes one permutation
    of each set. Such a permutation is encoded as a choice for each column in turn: which of the
    images that are still free it gets.
    """
    rows = np.arange(len(columns))
    column_count = sum(map(len, interchangeable))
    images = np.tile(np.arange(column_count), (len(columns), 1))
    for column_set in interchangeable:
        set_numbers = (numbers % factorial(len(column_set))).astype(np.int64)
        numbers = numbers // factorial(len(column_set))
        free_images = np.tile(column_set, (len(columns), 1))
        for column in column_set:
            choice = set_numbers % free_images.shape[1]
            set_numbers = set_numbers // free_images.shape[1]
            images[:, column] = free_images[rows, choice]
            # The chosen image is no longer free for the next columns.
            is_free = np.ones(free_images.shape, bool)
            is_free[rows, choice] = False
            free_images = free_images[is_free].reshape(len(columns), -1)
    slots: Slots = images[rows[:, None, None], columns].astype(np.uint8)
    return slots
