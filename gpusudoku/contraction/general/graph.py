"""The maps of a stack as the paths of a layered graph, which tells their number quickly.

There is a level for every digit, a node for every way in which the digits so far can fill the
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

from gpusudoku.contraction.general.maps import Bools, Ints, Maps, Words, grouped, kernel
from gpusudoku.errors import TooExpensive

WORDS_PER_MAP = 8
"""For every map that may be listed, words of the states that one level may give rise to, before
those alike are one: a list that is too long is not looked for long."""
LEAST_WORDS = 1 << 19
MOST_WORDS = 1 << 25
MOST_EDGES = 1 << 22
"""Edges of a graph."""
BLOCK_WORDS = 1 << 18
"""Words that are made at a time."""
MOST_CELLS = 1 << 22
"""Boxes times columns times permutations of a digit."""
MOST_PERMUTATIONS = 1 << 17
"""Permutations of a digit."""


class Graph:
    """All maps of a stack, before they are listed.

    Parameters
    ----------
    allowed
        bool (n, bands, columns): where every digit may stand; as many columns as bands.
    name
        What the stack is called in messages.
    most
        Maps that may be listed.

    Raises
    ------
    TooExpensive
        If the graph would be too large.
    """

    def __init__(self, allowed: Bools, name: str, most: int) -> None:
        self._name = name
        self._most_words = min(MOST_WORDS, max(LEAST_WORDS, WORDS_PER_MAP * most))
        self.n, self.columns = allowed.shape[:2]
        self.rows = self.n // self.columns
        slices = [allowed[:, :, c].tobytes() for c in range(self.columns)]
        self._before = np.array(
            [
                max((b for b in range(c) if slices[b] == slices[c]), default=-1)
                for c in range(self.columns)
            ]
        )
        self.symmetry = prod(factorial(slices.count(s)) for s in set(slices))
        by_pattern = {a.tobytes(): a for a in allowed}
        permutations = {key: self._permutations(a) for key, a in by_pattern.items()}
        ways = [permutations[a.tobytes()] for a in allowed]
        self.order = sorted(range(self.n), key=lambda d: len(ways[d]))
        self._ways = [ways[d] for d in self.order]
        self._grow(allowed)
        self._count()

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
        """Make the levels: edges as (node, choice, next node), nodes numbered within a level."""
        side, rows = self.columns, self.rows
        # A field of a state counts the digits in a column of a band. It starts so that one digit
        # too many sets its top bit, the guard. Such a state is dropped: no field overflows.
        width = rows.bit_length() + 1
        per_word = 64 // width
        word, place = np.divmod(np.arange(side * side), per_word)
        shift = (place * width).astype(np.uint64)
        top, last = 1 << (width - 1), np.uint64((1 << width) - 1)
        none = top - 1 - rows

        def packed(fields: NDArray[Any]) -> Words:
            words = np.zeros((*fields.shape[:-1], word[-1] + 1), np.uint64)
            for field in range(side * side):
                words[..., word[field]] |= fields[..., field].astype(np.uint64) << shift[field]
            return words

        guard = packed(np.full(side * side, top))
        states = packed(np.full((1, side * side), none))
        self.edges: list[tuple[Ints, Ints, Ints]] = []
        self.sizes = [1]
        for level, ways in enumerate(self._ways):
            most_ways = MOST_CELLS // side**2
            if states.size * len(ways) > self._most_words or len(ways) > most_ways:
                raise self._too_expensive(
                    f"has {len(states):,} ways to fill its columns with {level} of {self.n} digits"
                )
            taken = np.zeros((len(ways), side * side), np.int64)
            taken[np.arange(len(ways))[:, None], np.arange(side) * side + ways] = 1
            steps, begins = packed(taken), self._before[ways[:, 0]]
            # Of the digits to come enough must be able to fill what is left of a column: with
            # what this adds a field that has its least number, or more, reaches the guard.
            to_come = allowed[self.order[level + 1 :]].sum(axis=0).ravel()
            enough = packed(top - none - np.maximum(0, rows - to_come))
            nodes, choices, reached = [], [], []
            block = 1 + BLOCK_WORDS // (1 + steps.size)
            for start in range(0, len(states), block):
                here = states[start : start + block]
                sums = here[:, None] + steps
                # Of columns alike the first one must be begun before the next one.
                begun = np.ones((len(here), side + 1), bool)
                begun[:, :side] = here[:, word[:side]] >> shift[:side] & last != none
                good = begun[:, begins] & ~(sums & guard).any(axis=2)
                good &= ((sums + enough & guard) == guard).all(axis=2)
                node, choice = np.nonzero(good)
                nodes.append(node + start)
                choices.append(choice)
                reached.append(sums[node, choice])
            target, leaders = grouped(np.concatenate(reached))
            self.edges.append((np.concatenate(nodes), np.concatenate(choices), target))
            states = np.concatenate(reached)[leaders]
            self.sizes.append(len(states))
            if len(states) == 0:
                break
            if sum(len(target) for _, _, target in self.edges) > MOST_EDGES:
                raise self._too_expensive(
                    f"has {len(states):,} ways to fill its columns with {level + 1} of"
                    f" {self.n} digits"
                )

    def _count(self) -> None:
        """Count the paths, and drop edges that lead nowhere."""
        # All columns are full at the end: the last level has one node, or there is none.
        ways = np.ones(self.sizes[-1], object)
        for level in reversed(range(len(self.edges))):
            node, choice, target = self.edges[level]
            alive = ways[target] != 0
            node, choice, target = node[alive], choice[alive], target[alive]
            self.edges[level] = node, choice, target
            before = np.zeros(self.sizes[level], object)
            np.add.at(before, node, ways[target])
            ways = before
        self.maps = int(ways[0])
        """How many maps there are, those that differ by a swap of columns alike counted once."""

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

    def check(self, most: int, memory: int) -> int:
        """The bytes of memory that the list of the maps will leave over.

        Raises
        ------
        TooExpensive
            If there are more than ``most`` maps or they take more memory.
        """
        if self.rows == 1:  # see ``listed``
            return memory
        if self.maps > most:
            raise self._too_expensive(f"has {self.maps:,} maps, more than {most:,}")
        left: int = memory - 8 * self.maps * self.columns * (2 * self._packing[2] + 6)
        if left < 0:
            raise self._too_expensive(f"has {self.maps:,} maps, and not the memory to list them")
        return left

    @property
    def _packing(self) -> tuple[int, int, int]:
        """How the columns of all digits are packed: bits, digits a word, words."""
        bits = (self.columns - 1).bit_length() or 1
        per_word = 64 // bits
        return bits, per_word, -(-self.n // per_word)

    def listed(self) -> Maps:
        """The maps, with their multiplicities."""
        side = self.columns
        if self.rows == 1:  # all columns are single digits: there is one partition
            singles = np.uint64(1) << np.arange(self.n, dtype=np.uint64)
            size = min(self.maps, 1)
            entries, many = np.zeros((size, side), np.int64), np.ones(size, np.int64)
            return Maps((singles[None],) * side, entries, many, self.maps * self.symmetry)
        words = self._paths().reshape(self.maps, side, -1)
        tables, numbers = [], np.empty((self.maps, side), np.uint64)
        for band in range(side):
            ids, leaders = grouped(words[:, band])
            sets = self._sets(words[leaders, band])
            which, firsts = grouped(sets)
            tables.append(sets[firsts])
            numbers[:, band] = which[ids]
        ids, leaders = grouped(numbers)
        entries = numbers[leaders].astype(np.int64)
        return Maps(tuple(tables), entries, np.bincount(ids), self.symmetry).reduced()

    def _paths(self) -> Words:
        """uint64 (maps, bands * words a band): the columns of the digits, in this graph's order."""
        n, side = self.n, self.columns
        bits, per_word, width = self._packing
        nodes = np.cumsum([0, *self.sizes])
        begins = np.cumsum([0, *(len(ways) for ways in self._ways)])
        source = np.concatenate([e[0] + nodes[level] for level, e in enumerate(self.edges)])
        choice = np.concatenate([e[1] + begins[level] for level, e in enumerate(self.edges)])
        target = np.concatenate([e[2] + nodes[level + 1] for level, e in enumerate(self.edges)])
        first = np.searchsorted(source, np.arange(nodes[-1] + 1))
        out = np.empty((self.maps, side * width), np.uint64)
        prefix = np.zeros((n + 1, side * width), np.uint64)
        node, edge = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
        columns = np.concatenate(self._ways).astype(np.uint64)
        kernel("list_paths")(
            first, target, choice, columns, bits, per_word, prefix, node, edge, out
        )
        return out

    def _sets(self, words: Words) -> Words:
        """uint64 (words, C): the sets of digits of the columns, ordered by their lowest digits."""
        bits, per_word, _ = self._packing
        sets = np.zeros((len(words), self.columns), np.uint64)
        rows = np.arange(len(words))
        for level, digit in enumerate(self.order):
            word, place = divmod(level, per_word)
            column = words[:, word] >> np.uint64(place * bits) & np.uint64((1 << bits) - 1)
            sets[rows, column.astype(np.int64)] |= np.uint64(1) << np.uint64(digit)
        lowest = sets & (~sets + np.uint64(1))
        return np.take_along_axis(sets, np.argsort(lowest, axis=1), axis=1)
