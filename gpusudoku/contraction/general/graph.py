"""The maps of a stack as the paths of a layered graph, by which they are quickly counted.

There is a layer for every digit. A node of the layer is a state: the number of the digits so far
in each column of each band. An edge is a permutation of the columns that the layer's digit may
take. The graph is small even where the paths are many::

    layer 0               layer 1                   layer n - 1              end
    no digit  --edges-->  states with   ..  ..  ..  states with   --edges--> all columns
                          one digit                 n - 1 digits             are full

Columns of the stack with the same candidates are *interchangeable*: swapping them changes no
partition. Only those maps are paths that start such columns of the first band in order.
"""

from __future__ import annotations

from math import factorial, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.contraction.general.entry_lists import (
    Bools,
    EntryList,
    Ints,
    Words,
    concatenate,
    number_rows,
    sort_sets,
)
from gpusudoku.contraction.protocol import UNBOUNDED, Effort
from gpusudoku.errors import TooExpensive
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.jobs.forks import cached_property
from gpusudoku.kernels.contraction.general.arrays import Descent, Packing, PathGraph
from gpusudoku.kernels.contraction.general.lists import list_paths

MAX_MAPS = 1 << 22
"""By default, the largest number of maps of a stack or band that are listed."""
WORDS_PER_MAP = 8
"""A layer may lead to this many words of states for every map that may be listed, before equal
states are merged. A list that is too long does not justify a long search."""
MIN_WORDS = 1 << 19
"""The number of words of states that a layer may always lead to."""
MAX_WORDS = 1 << 25
"""The largest number of words of states that a layer may lead to."""
MAX_EDGES = 1 << 22
"""The largest number of edges of a graph."""
BLOCK_WORDS = 1 << 18
"""The number of words of states that are made at a time."""
BLOCK_SETS = 1 << 14
"""The number of maps in a band whose sets of digits are made at a time."""
MAX_CELLS = 1 << 22
"""The largest product of boxes, columns and permutations of a digit."""
MAX_PERMUTATIONS = 1 << 17
"""The largest number of permutations of a digit."""
LAYER_SECONDS = 3e-4
"""The time of a layer, however small."""
WORD_SECONDS = 5e-8
"""The time of a word of states that a layer leads to."""
EDGE_SECONDS = 1.5e-7
"""The time of an edge, until its paths are counted."""
MAP_SECONDS = 1e-7
"""The time of a column of a map while maps are listed."""
CALL_PATHS = 1 << 16
"""The number of paths that one call lists: nothing interrupts it."""
CALL_EDGES = 1 << 16
"""The number of edges whose paths are counted at a time."""


class ColumnCounters:
    """The states of a ``MapGraph``: counters of the digits in every column of every band.

    The counter of column c of band b is field b * columns + c. As many fields as fit are packed
    into each word, the first one lowest. A field starts at such a value that one digit too many
    sets its highest bit, the *guard*. A state with a guard bit set is dropped, so no field
    overflows into the next. With two rows in a box, a word has 21 fields of three bits::

        bits  62-60    ..    5-3   2-0       001  an empty column
             | f=20 | .... | f=1 | f=0 |     010  one digit
                                             011  a full column
                                             100  too many digits: the guard is set
    """

    def __init__(self, columns: int, rows: int) -> None:
        self.fields = columns * columns
        self._columns = columns
        self._rows = rows
        # Enough bits for the counts 0 to ``rows``, and the guard above them.
        bits = rows.bit_length() + 1
        self._word, place = np.divmod(np.arange(self.fields), 64 // bits)
        self._shift = (place * bits).astype(np.uint64)
        self._guard_bit = 1 << (bits - 1)
        self._mask = np.uint64((1 << bits) - 1)
        # A full column has all bits below the guard set.
        self._start = self._guard_bit - 1 - rows
        self.guard = self.pack(np.full(self.fields, self._guard_bit))
        """uint64 (words): the guard bits of all fields."""
        self.empty = self.pack(np.full((1, self.fields), self._start))
        """uint64 (1, words): the state without any digit."""

    def pack(self, values: NDArray[Any]) -> Words:
        """Pack the values of all fields, (..., fields): uint64 (..., words)."""
        words = np.zeros((*values.shape[:-1], self._word[-1] + 1), np.uint64)
        for field in range(self.fields):
            value = values[..., field].astype(np.uint64)
            words[..., self._word[field]] |= value << self._shift[field]
        return words

    def completions(self, remaining_digits: Ints) -> Words:
        """Return words whose sum with a state has all guards set if the state can be completed.

        ``remaining_digits`` is int64 (fields): how many of the digits to come may take each column.
        A field needs a minimal value, so that these digits can fill its column. The word adds what
        raises this value to the guard.
        """
        min_counts = np.maximum(0, self._rows - remaining_digits)
        return self.pack(self._guard_bit - self._start - min_counts)

    def started_columns(self, states: Words) -> Bools:
        """Tell which columns of the first band have a digit: bool (states, columns)."""
        word = self._word[: self._columns]
        shift = self._shift[: self._columns]
        fields: Words = states[:, word] >> shift & self._mask
        has_digit: Bools = fields != self._start
        return has_digit


class Edges(NamedTuple):
    """The edges that leave the nodes of a layer, sorted by these nodes."""

    source: Ints
    """int64 (edges): the node that every edge leaves, by its index in the layer."""
    choice: Ints
    """int64 (edges): the permutation that the digit takes, an index in ``MapGraph.permutations``.
    """
    target: Ints
    """int64 (edges): the node that every edge reaches, by its index in the next layer."""


def count_paths(edges: Edges, target_paths: NDArray[np.object_], nodes: int) -> NDArray[np.object_]:
    """Count the paths from each node of a layer to the end, given those from the next layer."""
    paths = np.zeros(nodes, object)
    for start in range(0, len(edges.source), CALL_EDGES):
        check_cancelled()
        chunk = slice(start, start + CALL_EDGES)
        np.add.at(paths, edges.source[chunk], target_paths[edges.target[chunk]])
    return paths


class MapGraph:
    """All maps of a stack, before they are listed.

    ``allowed`` is bool (n, bands, columns), as in ``allowed_columns``, with as many columns as
    bands; ``name`` is the name of the stack in messages. TooExpensive is raised if the graph would
    be too large for a list of ``max_maps`` maps, or exceed the effort.
    """

    def __init__(
        self, allowed: Bools, name: str, max_maps: int, effort: Effort = UNBOUNDED
    ) -> None:
        self._name = name
        self._effort = effort
        self.n, self.columns = allowed.shape[:2]
        self.rows = self.n // self.columns
        column_bits = (self.columns - 1).bit_length() or 1
        digits_per_word = 64 // column_bits
        self._packing = Packing(column_bits, digits_per_word, -(-self.n // digits_per_word))
        # With one row in a box no map is listed, however many there are: see ``list_entries``.
        max_words = MAX_WORDS if self.rows == 1 else WORDS_PER_MAP * max_maps
        self._max_words = min(MAX_WORDS, max(MIN_WORDS, max_words))

        self.interchangeable = _interchangeable_columns(allowed)
        """All columns, in lists of interchangeable ones."""
        self._preceding = np.full(self.columns, -1)
        """The interchangeable column before each column, or -1."""
        for columns in self.interchangeable:
            self._preceding[columns[1:]] = columns[:-1]
        self.symmetry = prod(factorial(len(columns)) for columns in self.interchangeable)
        """The number of ways to permute interchangeable columns."""

        # Digits with the same allowed columns have the same permutations, which are made once.
        patterns = {digit_allowed.tobytes(): digit_allowed for digit_allowed in allowed}
        pattern_permutations = {key: self._permutations(a) for key, a in patterns.items()}
        permutations = [pattern_permutations[digit_allowed.tobytes()] for digit_allowed in allowed]
        # Digits with few permutations come first, which keeps the first layers small.
        self.order = sorted(range(self.n), key=lambda digit: len(permutations[digit]))
        """The digit of every layer."""
        self.permutations = [permutations[digit] for digit in self.order]
        """For every layer the permutations of its digit as columns: int64 (permutations, bands)."""

        self.edges: list[Edges] = []
        """The edges of every layer."""
        self.sizes = [1]
        """The number of nodes of every layer, and of the end."""
        self._add_layers(allowed)
        self.maps = self._count_and_prune()
        """The number of paths: of maps, up to permutations of interchangeable columns."""

    def _too_expensive(self, reason: str) -> TooExpensive:
        return TooExpensive(f"too expensive to contract: {self._name} {reason}")

    def _permutations(self, allowed: Bools) -> Ints:
        """List all ways to place a digit, in each band another column: int64 (ways, bands)."""
        permutations = np.zeros((1, 0), np.int64)
        for band in range(self.columns):
            # Each of them is continued in at most ``columns - band`` ways.
            if len(permutations) > MAX_PERMUTATIONS // (self.columns - band):
                raise self._too_expensive(
                    f"has {len(permutations):,} ways to place a digit in {band} of"
                    f" {self.columns} boxes"
                )
            is_free = np.broadcast_to(allowed[band], (len(permutations), self.columns)).copy()
            is_free[np.arange(len(permutations))[:, None], permutations] = False
            row, column = np.nonzero(is_free)
            permutations = np.column_stack([permutations[row], column])
        if len(permutations) > MAX_PERMUTATIONS:
            raise self._too_expensive(f"has {len(permutations):,} ways to place a digit")
        return permutations

    def _add_layers(self, allowed: Bools) -> None:
        """Make the edges and the nodes of all layers."""
        counters = ColumnCounters(self.columns, self.rows)
        states = counters.empty
        max_permutations = MAX_CELLS // self.columns**2
        edge_count = 0
        for layer, permutations in enumerate(self.permutations):
            new_words = states.size * len(permutations)
            if new_words > self._max_words or len(permutations) > max_permutations:
                raise self._too_many_states(len(states), layer)
            self._effort.spend(1, LAYER_SECONDS)
            self._effort.spend(new_words, WORD_SECONDS)
            remaining_digits = allowed[self.order[layer + 1 :]].sum(axis=0).ravel()
            source, choice, reached = self._make_edges(
                counters, states, permutations, remaining_digits
            )
            self._effort.spend(len(source), EDGE_SECONDS)
            # Equal states become one node of the next layer.
            target, first_rows = number_rows(reached)
            self.edges.append(Edges(source, choice, target))
            states = reached[first_rows]
            self.sizes.append(len(states))
            if len(states) == 0:
                break
            edge_count += len(target)
            if edge_count > MAX_EDGES:
                raise self._too_many_states(len(states), layer + 1)

    def _too_many_states(self, states: int, digits: int) -> TooExpensive:
        return self._too_expensive(
            f"has {states:,} ways to fill its columns with {digits} of {self.n} digits"
        )

    def _make_edges(
        self, counters: ColumnCounters, states: Words, permutations: Ints, remaining_digits: Ints
    ) -> tuple[Ints, Ints, Words]:
        """Make the edges out of a layer: their nodes, permutations, and the states they reach."""
        # A permutation adds a digit to one column of each band.
        field_steps = np.zeros((len(permutations), counters.fields), np.int64)
        fields = np.arange(self.columns) * self.columns + permutations
        field_steps[np.arange(len(permutations))[:, None], fields] = 1
        steps = counters.pack(field_steps)
        preceding = self._preceding[permutations[:, 0]]
        completions = counters.completions(remaining_digits)
        sources = []
        choices = []
        reached = []
        block_size = 1 + BLOCK_WORDS // (1 + steps.size)
        for start in range(0, len(states), block_size):
            check_cancelled()
            block = states[start : start + block_size]
            sums = block[:, None] + steps
            # A column must not start before the interchangeable one that precedes it. The last
            # element, at index -1, is for columns that none precedes.
            may_follow = np.ones((len(block), self.columns + 1), bool)
            may_follow[:, : self.columns] = counters.started_columns(block)
            is_valid = may_follow[:, preceding] & ~(sums & counters.guard).any(axis=2)
            # The digits to come must be able to fill all columns.
            is_valid &= ((sums + completions & counters.guard) == counters.guard).all(axis=2)
            source, choice = np.nonzero(is_valid)
            sources.append(source + start)
            choices.append(choice)
            reached.append(sums[source, choice])
        return concatenate(sources), concatenate(choices), concatenate(reached)

    def _count_and_prune(self) -> int:
        """Count the paths, and drop edges that do not lead to the end."""
        # All columns are full at the end: the last layer has at most one node.
        paths = np.ones(self.sizes[-1], object)
        for layer in reversed(range(len(self.edges))):
            check_cancelled()
            edges = self.edges[layer]
            is_alive = paths[edges.target] != 0
            edges = Edges(*(field[is_alive] for field in edges))
            self.edges[layer] = edges
            paths = count_paths(edges, paths, self.sizes[layer])
        return int(paths[0])

    def charge_graph(self, memory: int) -> int:
        """Return the bytes of memory that the graph leaves, or raise TooExpensive."""
        remaining = memory - sum(int(array.nbytes) for edges in self.edges for array in edges)
        if remaining < 0:
            raise self._too_expensive(
                f"needs a graph of more than {memory:,} bytes to count its maps"
            )
        return remaining

    def charge_list(self, max_maps: int, memory: int) -> int:
        """Return the bytes of memory that the list leaves, or raise TooExpensive."""
        if self.rows == 1:  # the list is tiny: see ``list_entries``
            return memory
        if self.maps > max_maps:
            raise self._too_expensive(f"has {self.maps:,} maps, more than {max_maps:,}")
        map_bytes = 8 * self.columns * (2 * self._packing.words + 6)
        remaining: int = memory - self.maps * map_bytes
        if remaining < 0:
            raise self._too_expensive(f"has {self.maps:,} maps, and not the memory to list them")
        return remaining

    def list_entries(self) -> EntryList:
        """List the maps as entries with multiplicities."""
        if self.rows == 1:
            return self._single_entry()
        self._effort.spend(self.maps * self.columns, MAP_SECONDS)
        partitions, entries, entry_of_map = self._entries_of(self._list_paths())
        origin = np.arange(len(entries))
        multiplicity = np.bincount(entry_of_map)
        return EntryList(partitions, entries, multiplicity, self.symmetry, origin).reduce()

    def _single_entry(self) -> EntryList:
        """Make the list of a stack with one row in its boxes.

        All columns of a box have one digit, so there is one partition, and one entry for all maps.
        """
        singles = np.uint64(1) << np.arange(self.n, dtype=np.uint64)
        size = min(self.maps, 1)
        return EntryList(
            partitions=(singles[None],) * self.columns,
            entries=np.zeros((size, self.columns), np.int64),
            multiplicity=np.ones(size, np.int64),
            factor=self.maps * self.symmetry,
            origin=np.arange(size),
        )

    @cached_property
    def packed_maps(self) -> tuple[Words, Ints]:
        """All maps up to symmetry, to be read by ``unpack``, and the entry of each, int64 (maps).

        The maps are packed columns: uint64 (maps, bands, words). The columns of all digits in a
        band, in the order of the layers, are packed into words, the first one lowest. With four
        columns, 32 digits are in each word::

            bits   63-62       ..   3-2        1-0
                 | layer 31  | .. | layer 1  | layer 0  |
        """
        maps = self._list_paths()
        return maps, self._entries_of(maps)[2]

    def _list_paths(self) -> Words:
        """List all paths as packed columns: see ``packed_maps``."""
        packing = self._packing
        width = self.columns * packing.words
        # The kernel numbers the nodes and the permutations of all layers in a row.
        first_node = np.cumsum([0, *self.sizes])
        first_choice = np.cumsum([0, *map(len, self.permutations)])
        sources = []
        choices = []
        targets = []
        for layer, edges in enumerate(self.edges):
            sources.append(edges.source + first_node[layer])
            choices.append(edges.choice + first_choice[layer])
            targets.append(edges.target + first_node[layer + 1])
        graph = PathGraph(
            first_edge=np.searchsorted(np.concatenate(sources), np.arange(first_node[-1] + 1)),
            target=np.concatenate(targets),
            choice=np.concatenate(choices),
            columns=np.concatenate(self.permutations).astype(np.uint64),
        )
        descent = Descent(
            prefix=np.zeros((self.n + 1, width), np.uint64),
            node=np.zeros(self.n + 1, np.int64),
            edge=np.zeros(self.n + 1, np.int64),
        )
        maps = np.empty((self.maps, width), np.uint64)
        # The walk continues in each call where it stopped in the call before.
        depth = 0
        for start in range(0, self.maps, CALL_PATHS):
            check_cancelled()
            depth = list_paths(graph, packing, depth, descent, maps[start : start + CALL_PATHS])
        return maps.reshape(self.maps, self.columns, packing.words)

    def _entries_of(self, maps: Words) -> tuple[tuple[Words, ...], Ints, Ints]:
        """Find the partitions and the entries of an ``EntryList``, and the entry of every map."""
        partitions = []
        partition_of = np.empty(maps.shape[:2], np.uint64)
        for band in range(self.columns):
            # Equal columns of all digits give equal partitions, so each is unpacked once.
            code_ids, first_maps = number_rows(maps[:, band])
            sets = self._sets_of(maps[first_maps, band])
            partition_ids, first_codes = number_rows(sets)
            partitions.append(sets[first_codes])
            partition_of[:, band] = partition_ids[code_ids]
        # Maps with the same partitions in all bands are one entry.
        entry_of_map, first_maps = number_rows(partition_of)
        entries = partition_of[first_maps].astype(np.int64)
        return tuple(partitions), entries, entry_of_map

    def unpack(self, words: Words) -> Ints:
        """Unpack the words of maps in one band: int64 (maps, n), the column of every digit."""
        packing = self._packing
        columns = np.empty((len(words), self.n), np.int64)
        mask = np.uint64((1 << packing.bits) - 1)
        for layer, digit in enumerate(self.order):
            check_cancelled()
            word, place = divmod(layer, packing.per_word)
            shift = np.uint64(place * packing.bits)
            columns[:, digit] = words[:, word] >> shift & mask
        return columns

    def _sets_of(self, words: Words) -> Words:
        """Find the sets of digits of maps in one band, sorted: uint64 (maps, columns)."""
        sets = np.zeros((len(words), self.columns), np.uint64)
        for start in range(0, len(words), BLOCK_SETS):
            block = sets[start : start + BLOCK_SETS]
            rows = np.arange(len(block))
            for digit, column in enumerate(self.unpack(words[start : start + BLOCK_SETS]).T):
                block[rows, column] |= np.uint64(1) << np.uint64(digit)
            block[:] = sort_sets(block)
        return sets


def _interchangeable_columns(allowed: Bools) -> list[list[int]]:
    """Split the columns of a stack into lists of columns with the same candidates."""
    columns_by_candidates: dict[bytes, list[int]] = {}
    for column in range(allowed.shape[2]):
        key = allowed[:, :, column].tobytes()
        columns_by_candidates.setdefault(key, []).append(column)
    return [*columns_by_candidates.values()]
