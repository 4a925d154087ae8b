"""How full the columns of a stack are, as counters packed into words.

----
The paths of a layered graph, written down as packed columns.

----
The maps of a stack as the paths of a layered graph, which tells their number quickly.

There is a layer for every digit, a node for every way in which the digits so far can fill the
columns, and an edge for each permutation of the columns that the next digit may take. The graph
is small where the paths are many.

Columns of the stack with the same candidates are interchangeable, and swapping them changes no
partition: only maps that fill such columns of the first band in order are paths.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import factorial, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.contraction.general.maps import Bools, Ints, Maps, Words, concatenated, grouped
from gpusudoku.contraction.protocol import UNBOUNDED, Effort
from gpusudoku.errors import TooExpensive
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.kernels.contraction.general.arrays import Descent, Packing, PathGraph
from gpusudoku.kernels.contraction.general.lists import list_paths


class ColumnCounters:
    """The states of a ``Graph``: the digits in every column of every band, counted in fields.

    A field starts so that one digit too many sets its top bit, the guard. Such a state is dropped,
    so no field overflows into the next. With two rows a field has three bits, of which the first
    is the guard: 001 is an empty column, 010 has one digit, 011 is full, and 100 has too many.
    """

    def __init__(self, columns: int, rows: int) -> None:
        self.fields = columns * columns
        self._columns, self._rows = columns, rows
        width = rows.bit_length() + 1
        per_word = 64 // width
        self._word, place = np.divmod(np.arange(self.fields), per_word)
        self._shift = (place * width).astype(np.uint64)
        self._top, self._mask = 1 << (width - 1), np.uint64((1 << width) - 1)
        self._start = self._top - 1 - rows
        self.guard = self.packed(np.full(self.fields, self._top))
        """uint64 (words): the top bits of all fields."""
        self.empty = self.packed(np.full((1, self.fields), self._start))
        """uint64 (1, words): the state without any digit."""

    def packed(self, fields: NDArray[Any]) -> Words:
        """uint64 (..., words): the values of all fields, given as (..., fields)."""
        words = np.zeros((*fields.shape[:-1], self._word[-1] + 1), np.uint64)
        for field in range(self.fields):
            value = fields[..., field].astype(np.uint64)
            words[..., self._word[field]] |= value << self._shift[field]
        return words

    def enough(self, to_come: Ints) -> Words:
        """uint64 (words): added to a state, it sets the guard where enough digits can still come.

        A field needs a least value, so that the digits to come can fill what is left of its column.
        With what this adds, that value reaches the guard.
        """
        return self.packed(self._top - self._start - np.maximum(0, self._rows - to_come))

    def begun(self, states: Words) -> Bools:
        """Whether a column of the first band has a digit: bool (states, columns)."""
        word, shift = self._word[: self._columns], self._shift[: self._columns]
        fields: Words = states[:, word] >> shift & self._mask
        begun: Bools = fields != self._start
        return begun


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


MOST_MAPS = 1 << 22
"""Maps of a stack or band that are listed, at most, unless another number is told."""
WORDS_PER_MAP = 8
"""Words of states that a layer may give rise to for every map that may be listed, before equal
states are merged. A list that is too long is not worth a long search."""
LEAST_WORDS = 1 << 19
"""Words of states that a layer may always give rise to."""
MOST_WORDS = 1 << 25
"""Words of states that a layer may give rise to at most."""
MOST_EDGES = 1 << 22
"""Edges of a graph, at most."""
BLOCK_WORDS = 1 << 18
"""Words of states that are made at a time."""
BLOCK_SETS = 1 << 14
"""Words of a band whose sets of digits are made at a time."""
MOST_CELLS = 1 << 22
"""Boxes times columns times permutations of a digit, at most."""
MOST_PERMUTATIONS = 1 << 17
"""Permutations of a digit, at most."""
LAYER_SECONDS = 3e-4
"""What a layer takes, however small."""
WORD_SECONDS = 5e-8
"""What a word of states takes that a layer gives rise to."""
EDGE_SECONDS = 1.5e-7
"""What an edge takes, until its paths are counted."""
MAP_SECONDS = 1e-7
"""What a column of a map takes while maps are listed."""


class Graph:
    """All maps of a stack, before they are listed.

    Parameters
    ----------
    allowed
        bool (n, bands, columns): where every digit may stand; as many columns as bands.
    name
        What the stack is called in messages.
    most_maps
        Maps that may be listed.
    effort
        What may be spent on the graph and the list.

    Raises
    ------
    TooExpensive
        If the graph would be too large, or too much work.

    Attributes
    ----------
    maps
        The number of paths: maps, where those that differ by a swap of interchangeable columns
        count once.
    symmetry
        The number of ways to permute interchangeable columns.
    alike
        The columns, those together that are interchangeable.
    order
        The digit of every layer.
    ways
        For every layer the permutations its digit may take: int64 (ways, bands), their columns.
    edges
        For every layer its edges: the nodes they leave, the ways they take, the nodes they reach;
        nodes are numbered within a layer.
    sizes
        The nodes of every layer, and of the end.
    """

    def __init__(
        self, allowed: Bools, name: str, most_maps: int, effort: Effort = UNBOUNDED
    ) -> None:
        self._name, self._effort = name, effort
        self.n, self.columns = allowed.shape[:2]
        self.rows = self.n // self.columns
        # With one row in a box nothing is listed, however many maps there are; see ``listed``.
        most_words = MOST_WORDS if self.rows == 1 else WORDS_PER_MAP * most_maps
        self._most_words = min(MOST_WORDS, max(LEAST_WORDS, most_words))
        columns = [allowed[:, :, c].tobytes() for c in range(self.columns)]
        self.alike = [
            [c for c in range(self.columns) if columns[c] == one] for one in dict.fromkeys(columns)
        ]
        # The last of the columns before that is interchangeable with this one, or -1.
        self._before = np.array(
            [
                max((b for b in range(c) if columns[b] == columns[c]), default=-1)
                for c in range(self.columns)
            ]
        )
        self.symmetry = prod(factorial(columns.count(one)) for one in set(columns))
        by_pattern = {a.tobytes(): a for a in allowed}
        permutations = {key: self._permutations(a) for key, a in by_pattern.items()}
        ways = [permutations[a.tobytes()] for a in allowed]
        self.order = sorted(range(self.n), key=lambda d: len(ways[d]))
        self.ways = [ways[d] for d in self.order]
        self.edges: list[tuple[Ints, Ints, Ints]] = []
        self.sizes = [1]
        self._grow(allowed)
        self.maps = self._count()

    def _too_expensive(self, what: str) -> TooExpensive:
        return TooExpensive(f"too expensive to contract: {self._name} {what}")

    def _permutations(self, allowed: Bools) -> Ints:
        """int64 (permutations, bands): the columns a digit may take, each once."""
        found = np.zeros((1, 0), np.int64)
        for band in range(self.columns):
            if len(found) > MOST_PERMUTATIONS // (self.columns - band):
                raise self._too_expensive(
                    f"has {len(found):,} ways to place a digit in {band} of {self.columns} boxes"
                )
            free = np.broadcast_to(allowed[band], (len(found), self.columns)).copy()
            free[np.arange(len(found))[:, None], found] = False
            which, column = np.nonzero(free)
            found = np.column_stack([found[which], column])
        if len(found) > MOST_PERMUTATIONS:
            raise self._too_expensive(f"has {len(found):,} ways to place a digit")
        return found

    def _grow(self, allowed: Bools) -> None:
        """Make the layers: edges as (node, choice, next node), nodes numbered within a layer."""
        counters = ColumnCounters(self.columns, self.rows)
        states = counters.empty
        for layer, ways in enumerate(self.ways):
            most_ways = MOST_CELLS // self.columns**2
            if states.size * len(ways) > self._most_words or len(ways) > most_ways:
                raise self._too_many(len(states), layer)
            self._effort.spend(1, LAYER_SECONDS)
            self._effort.spend(states.size * len(ways), WORD_SECONDS)
            to_come = allowed[self.order[layer + 1 :]].sum(axis=0).ravel()
            node, choice, reached = self._steps(counters, states, ways, to_come)
            self._effort.spend(len(node), EDGE_SECONDS)
            target, leaders = grouped(reached)
            self.edges.append((node, choice, target))
            states = reached[leaders]
            self.sizes.append(len(states))
            if len(states) == 0:
                break
            if sum(len(target) for _, _, target in self.edges) > MOST_EDGES:
                raise self._too_many(len(states), layer + 1)

    def _too_many(self, states: int, digits: int) -> TooExpensive:
        return self._too_expensive(
            f"has {states:,} ways to fill its columns with {digits} of {self.n} digits"
        )

    def _steps(
        self, counters: ColumnCounters, states: Words, ways: Ints, to_come: Ints
    ) -> tuple[Ints, Ints, Words]:
        """All edges out of a layer: the nodes they leave, the ways they take, the states reached.

        ``to_come`` is int64 (columns of all bands): the later digits that may stand in each.
        """
        taken = np.zeros((len(ways), counters.fields), np.int64)
        taken[np.arange(len(ways))[:, None], np.arange(self.columns) * self.columns + ways] = 1
        steps, begins = counters.packed(taken), self._before[ways[:, 0]]
        enough = counters.enough(to_come)
        nodes, choices, reached = [], [], []
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
        return concatenated(nodes), concatenated(choices), concatenated(reached)

    def _count(self) -> int:
        """Count the paths, and drop edges that lead nowhere."""
        # All columns are full at the end: the last layer has one node, or there is none.
        ways = np.ones(self.sizes[-1], object)
        for layer in reversed(range(len(self.edges))):
            check_cancelled()
            node, choice, target = self.edges[layer]
            alive = ways[target] != 0
            node, choice, target = node[alive], choice[alive], target[alive]
            self.edges[layer] = node, choice, target
            ways = paths_from(node, target, ways, self.sizes[layer])
        return int(ways[0])

    def within(self, memory: int) -> int:
        """The bytes of memory that the graph leaves over.

        Raises
        ------
        TooExpensive
            If it takes more.
        """
        left = memory - sum(int(array.nbytes) for edges in self.edges for array in edges)
        if left < 0:
            raise self._too_expensive(
                f"needs a graph of more than {memory:,} bytes to count its maps"
            )
        return left

    def check(self, most_maps: int, memory: int) -> int:
        """The bytes of memory that the list of the maps will leave over.

        Raises
        ------
        TooExpensive
            If there are more than ``most_maps`` maps or they take more memory.
        """
        if self.rows == 1:  # see ``listed``
            return memory
        if self.maps > most_maps:
            raise self._too_expensive(f"has {self.maps:,} maps, more than {most_maps:,}")
        left: int = memory - 8 * self.maps * self.columns * (
            2 * packing_of(self.n, self.columns).words + 6
        )
        if left < 0:
            raise self._too_expensive(f"has {self.maps:,} maps, and not the memory to list them")
        return left

    def listed(self) -> Maps:
        """The maps as entries, with their multiplicities."""
        side = self.columns
        if self.rows == 1:  # all columns are single digits: there is one partition
            singles = np.uint64(1) << np.arange(self.n, dtype=np.uint64)
            size = min(self.maps, 1)
            entries, multiplicity = np.zeros((size, side), np.int64), np.ones(size, np.int64)
            whole = self.maps * self.symmetry
            return Maps((singles[None],) * side, entries, multiplicity, whole, np.arange(size))
        self._effort.spend(self.maps * side, MAP_SECONDS)
        words = all_paths(self.edges, self.sizes, self.ways, self.maps)
        tables, entries, ids = self._grouped(words)
        numbers = np.arange(len(entries))
        return Maps(tables, entries, np.bincount(ids), self.symmetry, numbers).reduced()

    @cached_property
    def words(self) -> tuple[Words, Ints]:
        """All maps one by one, for ``columns_of``: uint64 (maps, bands, words).

        And the number of the entry that each of them belongs to, int64 (maps).
        """
        words = all_paths(self.edges, self.sizes, self.ways, self.maps)
        return words, self._grouped(words)[2]

    def _grouped(self, words: Words) -> tuple[tuple[Words, ...], Ints, Ints]:
        """The partitions and the entries of ``Maps``, and the entry of every map."""
        tables, numbers = [], np.empty(words.shape[:2], np.uint64)
        for band in range(self.columns):
            ids, leaders = grouped(words[:, band])
            sets = self._sets(words[leaders, band])
            which, firsts = grouped(sets)
            tables.append(sets[firsts])
            numbers[:, band] = which[ids]
        ids, leaders = grouped(numbers)
        return tuple(tables), numbers[leaders].astype(np.int64), ids

    def columns_of(self, words: Words) -> Ints:
        """int64 (maps, n): the column of every digit in a band, of packed words of that band."""
        packing = packing_of(self.n, self.columns)
        columns = np.empty((len(words), self.n), np.int64)
        for layer, digit in enumerate(self.order):
            check_cancelled()
            word, place = divmod(layer, packing.per_word)
            shift, mask = np.uint64(place * packing.bits), np.uint64((1 << packing.bits) - 1)
            columns[:, digit] = words[:, word] >> shift & mask
        return columns

    def _sets(self, words: Words) -> Words:
        """uint64 (words, C): the sets of digits of the columns, ordered by their lowest digits."""
        sets = np.zeros((len(words), self.columns), np.uint64)
        for start in range(0, len(words), BLOCK_SETS):
            some = slice(start, start + BLOCK_SETS)
            sets[some] = sets_of(self.columns_of(words[some]), self.columns)
        return sets
