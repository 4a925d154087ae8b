"""The maps of a stack as the paths of a layered graph, by which they are quickly counted.

There is a layer for every digit, a node for every way in which the digits so far can fill the
columns, and an edge for each permutation of the columns that the next digit may take. The graph
is small where the paths are many.

Columns of the stack with the same candidates are interchangeable, and swapping them changes no
partition: only maps that fill such columns of the first band in order are paths.
"""

from __future__ import annotations

from math import factorial, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.contraction.general.maps import (
    Bools,
    Ints,
    Maps,
    Words,
    by_lowest,
    concatenate,
    group_rows,
)
from gpusudoku.contraction.protocol import UNBOUNDED, Effort
from gpusudoku.errors import TooExpensive
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.jobs.forks import cached_property
from gpusudoku.kernels.contraction.general.arrays import Descent, Packing, PathGraph
from gpusudoku.kernels.contraction.general.lists import list_paths

MAX_MAPS = 1 << 22
"""Maps of a stack or band that are listed, at most, by default."""
WORDS_PER_MAP = 8
"""Words of states that a layer may give rise to for every map that may be listed, before equal
states are merged. A list that is too long is not worth a long search."""
MIN_WORDS = 1 << 19
"""Words of states that a layer may always give rise to."""
MAX_WORDS = 1 << 25
"""Words of states that a layer may give rise to at most."""
MAX_EDGES = 1 << 22
"""Edges of a graph, at most."""
BLOCK_WORDS = 1 << 18
"""Words of states that are made at a time."""
BLOCK_SETS = 1 << 14
"""Words of a band whose sets of digits are made at a time."""
MAX_CELLS = 1 << 22
"""Boxes times columns times permutations of a digit, at most."""
MAX_PERMUTATIONS = 1 << 17
"""Permutations of a digit, at most."""
LAYER_SECONDS = 3e-4
"""The time of a layer, however small."""
WORD_SECONDS = 5e-8
"""The time of a word of states that a layer gives rise to."""
EDGE_SECONDS = 1.5e-7
"""The time of an edge, until its paths are counted."""
MAP_SECONDS = 1e-7
"""The time of a column of a map while maps are listed."""
CALL_PATHS = 1 << 16
"""Paths that are written down in one call, which nothing interrupts."""
CALL_EDGES = 1 << 16
"""Edges whose paths are counted at a time."""


class ColumnCounters:
    """The states of a ``Graph``: the digits in every column of every band, counted in fields.

    A field starts so that one digit too many sets its top bit, the guard. Such a state is dropped,
    so no field overflows into the next. With two rows a field has three bits, of which the first
    is the guard: 001 is an empty column, 010 has one digit, 011 is full, and 100 has too many.
    """

    def __init__(self, columns: int, rows: int) -> None:
        self.fields = columns * columns
        self._columns = columns
        self._rows = rows
        width = rows.bit_length() + 1
        per_word = 64 // width
        self._word, place = np.divmod(np.arange(self.fields), per_word)
        self._shift = (place * width).astype(np.uint64)
        self._top, self._mask = 1 << (width - 1), np.uint64((1 << width) - 1)
        self._start = self._top - 1 - rows
        self.guard = self.pack(np.full(self.fields, self._top))
        """uint64 (words): the top bits of all fields."""
        self.empty = self.pack(np.full((1, self.fields), self._start))
        """uint64 (1, words): the state without any digit."""

    def pack(self, fields: NDArray[Any]) -> Words:
        """Pack the values of all fields, (..., fields): uint64 (..., words)."""
        words = np.zeros((*fields.shape[:-1], self._word[-1] + 1), np.uint64)
        for field in range(self.fields):
            value = fields[..., field].astype(np.uint64)
            words[..., self._word[field]] |= value << self._shift[field]
        return words

    def enough(self, to_come: Ints) -> Words:
        """Return words that, added to a state, set the guard where enough digits can still come.

        A field needs a least value, so that the digits to come can fill the rest of its column.
        With the number that this adds, that value reaches the guard.
        """
        return self.pack(self._top - self._start - np.maximum(0, self._rows - to_come))

    def begun(self, states: Words) -> Bools:
        """Tell which columns of the first band have a digit: bool (states, columns)."""
        word = self._word[: self._columns]
        shift = self._shift[: self._columns]
        fields: Words = states[:, word] >> shift & self._mask
        begun: Bools = fields != self._start
        return begun


def paths_from(
    node: Ints, target: Ints, after: NDArray[np.object_], nodes: int
) -> NDArray[np.object_]:
    """Count the paths from each node of a layer, given the edges and the paths from targets."""
    paths = np.zeros(nodes, object)
    for start in range(0, len(node), CALL_EDGES):
        check_cancelled()
        some = slice(start, start + CALL_EDGES)
        np.add.at(paths, node[some], after[target[some]])
    return paths


class Graph:
    """All maps of a stack, before they are listed.

    ``allowed`` is bool (n, bands, columns), where every digit may stand, with as many columns as
    bands; ``name`` stands for the stack in messages. TooExpensive is raised if the graph would be
    too large to list ``most_maps`` maps, or take more than the effort.
    """

    def __init__(
        self, allowed: Bools, name: str, most_maps: int, effort: Effort = UNBOUNDED
    ) -> None:
        self._name = name
        self._effort = effort
        self.n, self.columns = allowed.shape[:2]
        self.rows = self.n // self.columns
        bits = (self.columns - 1).bit_length() or 1
        self._packing = Packing(bits, 64 // bits, -(-self.n // (64 // bits)))
        # With one row in a box nothing is listed, however many maps there are; see ``list_maps``.
        most_words = MAX_WORDS if self.rows == 1 else WORDS_PER_MAP * most_maps
        self._most_words = min(MAX_WORDS, max(MIN_WORDS, most_words))
        columns = [allowed[:, :, c].tobytes() for c in range(self.columns)]
        self.alike = [
            [c for c in range(self.columns) if columns[c] == one] for one in dict.fromkeys(columns)
        ]
        """The columns, those together that are interchangeable."""
        # The last of the columns before that is interchangeable with this one, or -1.
        self._before = np.full(self.columns, -1)
        for members in self.alike:
            self._before[members[1:]] = members[:-1]
        self.symmetry = prod(factorial(len(members)) for members in self.alike)
        """The number of ways to permute interchangeable columns."""
        by_pattern = {a.tobytes(): a for a in allowed}
        permutations = {key: self._permutations(a) for key, a in by_pattern.items()}
        ways = [permutations[a.tobytes()] for a in allowed]
        self.order = sorted(range(self.n), key=lambda d: len(ways[d]))
        """The digit of every layer."""
        self.ways = [ways[d] for d in self.order]
        """For every layer the columns of its digit's permutations: int64 (ways, bands)."""
        self.edges: list[tuple[Ints, Ints, Ints]] = []
        """For every layer the nodes that edges leave, the ways they take, the nodes they reach."""
        self.sizes = [1]
        """The nodes of every layer, and of the end."""
        self._grow(allowed)
        self.maps = self._count()
        """The number of paths: maps, but for swaps of interchangeable columns."""

    def _too_expensive(self, what: str) -> TooExpensive:
        return TooExpensive(f"too expensive to contract: {self._name} {what}")

    def _permutations(self, allowed: Bools) -> Ints:
        """Find all ways to place a digit, in each band another column: int64 (ways, bands)."""
        found = np.zeros((1, 0), np.int64)
        for band in range(self.columns):
            if len(found) > MAX_PERMUTATIONS // (self.columns - band):
                raise self._too_expensive(
                    f"has {len(found):,} ways to place a digit in {band} of {self.columns} boxes"
                )
            free = np.broadcast_to(allowed[band], (len(found), self.columns)).copy()
            free[np.arange(len(found))[:, None], found] = False
            which, column = np.nonzero(free)
            found = np.column_stack([found[which], column])
        if len(found) > MAX_PERMUTATIONS:
            raise self._too_expensive(f"has {len(found):,} ways to place a digit")
        return found

    def _grow(self, allowed: Bools) -> None:
        """Make the layers."""
        counters = ColumnCounters(self.columns, self.rows)
        states = counters.empty
        for layer, ways in enumerate(self.ways):
            most_ways = MAX_CELLS // self.columns**2
            if states.size * len(ways) > self._most_words or len(ways) > most_ways:
                raise self._too_many(len(states), layer)
            self._effort.spend(1, LAYER_SECONDS)
            self._effort.spend(states.size * len(ways), WORD_SECONDS)
            to_come = allowed[self.order[layer + 1 :]].sum(axis=0).ravel()
            node, choice, reached = self._steps(counters, states, ways, to_come)
            self._effort.spend(len(node), EDGE_SECONDS)
            target, leaders = group_rows(reached)
            self.edges.append((node, choice, target))
            states = reached[leaders]
            self.sizes.append(len(states))
            if len(states) == 0:
                break
            if sum(len(target) for _, _, target in self.edges) > MAX_EDGES:
                raise self._too_many(len(states), layer + 1)

    def _too_many(self, states: int, digits: int) -> TooExpensive:
        return self._too_expensive(
            f"has {states:,} ways to fill its columns with {digits} of {self.n} digits"
        )

    def _steps(
        self, counters: ColumnCounters, states: Words, ways: Ints, to_come: Ints
    ) -> tuple[Ints, Ints, Words]:
        """Find all edges out of a layer: nodes they leave, ways they take, states they reach."""
        taken = np.zeros((len(ways), counters.fields), np.int64)
        taken[np.arange(len(ways))[:, None], np.arange(self.columns) * self.columns + ways] = 1
        steps = counters.pack(taken)
        begins = self._before[ways[:, 0]]
        enough = counters.enough(to_come)
        nodes = []
        choices = []
        reached = []
        block = 1 + BLOCK_WORDS // (1 + steps.size)
        for start in range(0, len(states), block):
            check_cancelled()
            here = states[start : start + block]
            sums = here[:, None] + steps
            # Of interchangeable columns each has to be begun before the next one.
            begun = np.ones((len(here), self.columns + 1), bool)
            begun[:, : self.columns] = counters.begun(here)
            good = begun[:, begins] & ~(sums & counters.guard).any(axis=2)
            good &= ((sums + enough & counters.guard) == counters.guard).all(axis=2)
            node, choice = np.nonzero(good)
            nodes.append(node + start)
            choices.append(choice)
            reached.append(sums[node, choice])
        return concatenate(nodes), concatenate(choices), concatenate(reached)

    def _count(self) -> int:
        """Count the paths, and drop edges that lead nowhere."""
        # All columns are full at the end: the last layer has one node, or there is none.
        ways = np.ones(self.sizes[-1], object)
        for layer in reversed(range(len(self.edges))):
            check_cancelled()
            node, choice, target = self.edges[layer]
            alive = ways[target] != 0
            node = node[alive]
            choice = choice[alive]
            target = target[alive]
            self.edges[layer] = node, choice, target
            ways = paths_from(node, target, ways, self.sizes[layer])
        return int(ways[0])

    def within(self, memory: int) -> int:
        """Return the bytes of memory that the graph leaves over, or raise TooExpensive."""
        left = memory - sum(int(array.nbytes) for edges in self.edges for array in edges)
        if left < 0:
            raise self._too_expensive(
                f"needs a graph of more than {memory:,} bytes to count its maps"
            )
        return left

    def check(self, most_maps: int, memory: int) -> int:
        """Return the bytes of memory that the list leaves over, or raise TooExpensive."""
        if self.rows == 1:  # see ``list_maps``
            return memory
        if self.maps > most_maps:
            raise self._too_expensive(f"has {self.maps:,} maps, more than {most_maps:,}")
        left: int = memory - 8 * self.maps * self.columns * (2 * self._packing.words + 6)
        if left < 0:
            raise self._too_expensive(f"has {self.maps:,} maps, and not the memory to list them")
        return left

    def list_maps(self) -> Maps:
        """List the maps as entries, with their multiplicities."""
        side = self.columns
        if self.rows == 1:  # all columns are single digits: there is one partition
            singles = np.uint64(1) << np.arange(self.n, dtype=np.uint64)
            size = min(self.maps, 1)
            entries = np.zeros((size, side), np.int64)
            multiplicity = np.ones(size, np.int64)
            whole = self.maps * self.symmetry
            return Maps((singles[None],) * side, entries, multiplicity, whole, np.arange(size))
        self._effort.spend(self.maps * side, MAP_SECONDS)
        tables, entries, ids = self._grouped(self._paths())
        numbers = np.arange(len(entries))
        return Maps(tables, entries, np.bincount(ids), self.symmetry, numbers).reduce()

    @cached_property
    def words(self) -> tuple[Words, Ints]:
        """All maps one by one, for ``columns_of``, and the entry of each, int64 (maps)."""
        words = self._paths()
        return words, self._grouped(words)[2]

    def _paths(self) -> Words:
        """List all paths as packed columns, layer by layer: uint64 (maps, bands, words)."""
        layers = range(self.n)
        packing = self._packing
        width = self.columns * packing.words
        nodes = np.cumsum([0, *self.sizes])
        begins = np.cumsum([0, *map(len, self.ways)])
        source, choice, target = (
            np.concatenate([self.edges[layer][k] + starts[layer] for layer in layers])
            for k, starts in enumerate([nodes, begins, nodes[1:]])
        )
        graph = PathGraph(
            first=np.searchsorted(source, np.arange(nodes[-1] + 1)),
            target=target,
            choice=choice,
            columns=np.concatenate(self.ways).astype(np.uint64),
        )
        descent = Descent(
            prefix=np.zeros((self.n + 1, width), np.uint64),
            node=np.zeros(self.n + 1, np.int64),
            edge=np.zeros(self.n + 1, np.int64),
        )
        out = np.empty((self.maps, width), np.uint64)
        depth = 0
        for start in range(0, self.maps, CALL_PATHS):
            check_cancelled()
            depth = list_paths(graph, packing, depth, descent, out[start : start + CALL_PATHS])
        return out.reshape(self.maps, self.columns, packing.words)

    def _grouped(self, words: Words) -> tuple[tuple[Words, ...], Ints, Ints]:
        """Find the partitions and the entries of ``Maps``, and the entry of every map."""
        tables = []
        numbers = np.empty(words.shape[:2], np.uint64)
        for band in range(self.columns):
            ids, leaders = group_rows(words[:, band])
            sets = self._sets(words[leaders, band])
            which, firsts = group_rows(sets)
            tables.append(sets[firsts])
            numbers[:, band] = which[ids]
        ids, leaders = group_rows(numbers)
        return tuple(tables), numbers[leaders].astype(np.int64), ids

    def columns_of(self, words: Words) -> Ints:
        """Unpack words of a band: int64 (maps, n), the column of every digit."""
        packing = self._packing
        columns = np.empty((len(words), self.n), np.int64)
        for layer, digit in enumerate(self.order):
            check_cancelled()
            word, place = divmod(layer, packing.per_word)
            shift = np.uint64(place * packing.bits)
            mask = np.uint64((1 << packing.bits) - 1)
            columns[:, digit] = words[:, word] >> shift & mask
        return columns

    def _sets(self, words: Words) -> Words:
        """Find the sets of digits of the columns, by their lowest digits: uint64 (words, C)."""
        sets = np.zeros((len(words), self.columns), np.uint64)
        for start in range(0, len(words), BLOCK_SETS):
            some = sets[start : start + BLOCK_SETS]
            rows = np.arange(len(some))
            for digit, column in enumerate(self.columns_of(words[start : start + BLOCK_SETS]).T):
                some[rows, column] |= np.uint64(1) << np.uint64(digit)
            some[:] = by_lowest(some)
        return sets
