"""The definitions of docs/contraction.md, section 2, as plain as they can be.

Nothing here comes from the package but ``Board``: codes are tuples, partitions are sets of sets.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, permutations, product
from math import prod
from typing import NamedTuple

from gpusudoku import Board

Partition = frozenset[frozenset[int]]


class Clue(NamedTuple):
    digit: int
    row: int
    column: int


def partitions(digits: Sequence[int], size: int) -> Iterator[Partition]:
    """Yield every split of the digits into sets of a size."""
    if not digits:
        yield frozenset()
        return
    first, *others = digits
    for rest in combinations(others, size - 1):
        block = frozenset({first, *rest})
        for more in partitions([d for d in others if d not in block], size):
            yield more | {block}


def orthogonal(one: Partition, other: Partition) -> bool:
    return all(len(a & b) == 1 for a in one for b in other)


def line_maps(
    digits: int, crossing: int, clues: Iterable[tuple[int, int, int]] = ()
) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield every map of a stack (or band): for what it crosses, the codes of the boxes.

    Digits take a permutation each, in all ways that leave no column with too many digits. A clue is
    a digit, what it crosses, and the column that it has there.
    """
    wanted = list(clues)
    size = digits // crossing
    counts = [[0] * crossing for _ in range(crossing)]
    chosen: list[tuple[int, ...]] = []

    def extend(digit: int) -> Iterator[tuple[tuple[int, ...], ...]]:
        if digit > digits:
            yield tuple(zip(*chosen, strict=True))
            return
        for way in permutations(range(crossing)):
            if any(d == digit and way[i] != column for d, i, column in wanted):
                continue
            if any(counts[i][column] == size for i, column in enumerate(way)):
                continue
            for i, column in enumerate(way):
                counts[i][column] += 1
            chosen.append(way)
            yield from extend(digit + 1)
            chosen.pop()
            for i, column in enumerate(way):
                counts[i][column] -= 1

    return extend(1)


def split(code: Sequence[int]) -> Partition:
    """Make the partition of a code: which digits share a column."""
    sets = defaultdict(set)
    for digit, column in enumerate(code, start=1):
        sets[column].add(digit)
    return frozenset(map(frozenset, sets.values()))


def clues_of(board: Board) -> list[Clue]:
    n = board.n
    return [Clue(d, i // n, i % n) for i, d in enumerate(board.cells.tolist()) if d]


def stacks_of(clues: Sequence[Clue]) -> list[list[tuple[tuple[int, ...], ...]]]:
    """List the maps of both stacks of a 4x4 board."""
    return [
        list(line_maps(4, 2, [(d, r // 2, c % 2) for d, r, c in clues if c // 2 == stack]))
        for stack in range(2)
    ]


def bands_of(clues: Sequence[Clue]) -> list[list[tuple[tuple[int, ...], ...]]]:
    return stacks_of([Clue(d, c, r) for d, r, c in clues])


def listed(maps: Iterable[tuple[tuple[int, ...], ...]]) -> Counter[tuple[Partition, ...]]:
    """Make a list: tuples of partitions with their multiplicities."""
    return Counter(tuple(map(split, codes)) for codes in maps)


def tensor(band: Counter[tuple[Partition, ...]], columns: Sequence[Partition]) -> int:
    """Work out W at the given column partitions."""
    return sum(
        multiplicity for rows, multiplicity in band.items() if all(map(orthogonal, rows, columns))
    )


def by_codes(clues: Sequence[Clue]) -> int:
    """Take step 3 for a 4x4 board: the sum over codes, every box bijection tried."""
    bands = bands_of(clues)

    def bijective(rows: Sequence[int], columns: Sequence[int]) -> bool:
        return len(set(zip(rows, columns, strict=True))) == 4

    return sum(
        prod(
            sum(all(bijective(rows[j], stacks[j][i]) for j in range(2)) for rows in bands[i])
            for i in range(2)
        )
        for stacks in product(*stacks_of(clues))
    )


def by_partitions(clues: Sequence[Clue]) -> int:
    """Take step 4 for a 4x4 board."""
    bands = list(map(listed, bands_of(clues)))
    return sum(
        prod(multiplicities)
        * prod(tensor(bands[i], [columns[i] for columns in stacks]) for i in range(2))
        for entries in product(*(listed(maps).items() for maps in stacks_of(clues)))
        for stacks, multiplicities in [tuple(zip(*entries, strict=True))]
    )
