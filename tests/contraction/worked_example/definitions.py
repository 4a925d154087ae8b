"""The definitions of docs/contraction.md, section 2, as simple Python.

Only ``Board`` comes from the package. Codes are tuples, and partitions are sets of sets.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, permutations, product
from math import prod
from typing import NamedTuple

from gpusudoku import Board

Partition = frozenset[frozenset[int]]
Map = tuple[tuple[int, ...], ...]
"""The codes of a map, one for each box of its line."""


class Clue(NamedTuple):
    digit: int
    row: int
    column: int


def partitions(digits: Sequence[int], size: int) -> Iterator[Partition]:
    """Yield every split of the digits into sets of a size."""
    if not digits:
        yield frozenset()
        return
    lowest, *higher = digits
    for companions in combinations(higher, size - 1):
        lowest_set = frozenset({lowest, *companions})
        remaining_digits = [digit for digit in higher if digit not in lowest_set]
        for remaining_sets in partitions(remaining_digits, size):
            yield remaining_sets | {lowest_set}


def orthogonal(columns: Partition, rows: Partition) -> bool:
    return all(len(column & row) == 1 for column in columns for row in rows)


def line_maps(digits: int, boxes: int, clues: Iterable[tuple[int, int, int]] = ()) -> Iterator[Map]:
    """Yield every map of a stack (or band) with a number of boxes.

    Each digit takes a permutation of the columns, such that no column of a box has too many digits.
    A clue is a digit, the box of the stack that it is in, and its column there.
    """
    clue_columns = list(clues)
    column_size = digits // boxes
    counts = [[0] * boxes for _ in range(boxes)]  # by box and column
    columns_of_digits: list[tuple[int, ...]] = []

    def extend(digit: int) -> Iterator[Map]:
        if digit > digits:
            yield tuple(zip(*columns_of_digits, strict=True))
            return
        for columns in permutations(range(boxes)):
            if any(d == digit and columns[box] != column for d, box, column in clue_columns):
                continue
            if any(counts[box][column] == column_size for box, column in enumerate(columns)):
                continue
            for box, column in enumerate(columns):
                counts[box][column] += 1
            columns_of_digits.append(columns)
            yield from extend(digit + 1)
            columns_of_digits.pop()
            for box, column in enumerate(columns):
                counts[box][column] -= 1

    return extend(1)


def split(code: Sequence[int]) -> Partition:
    """Return the partition of a code: the sets of digits that share a column."""
    sets = defaultdict(set)
    for digit, column in enumerate(code, start=1):
        sets[column].add(digit)
    return frozenset(map(frozenset, sets.values()))


def clues_of(board: Board) -> list[Clue]:
    n = board.n
    return [Clue(d, i // n, i % n) for i, d in enumerate(board.cells.tolist()) if d]


def stacks_of(clues: Sequence[Clue]) -> list[list[Map]]:
    """List the maps of both stacks of a 4x4 board."""
    return [
        list(line_maps(4, 2, [(d, r // 2, c % 2) for d, r, c in clues if c // 2 == stack]))
        for stack in range(2)
    ]


def bands_of(clues: Sequence[Clue]) -> list[list[Map]]:
    """List the maps of both bands, which are the stacks of the transposed board."""
    return stacks_of([Clue(d, c, r) for d, r, c in clues])


def entries_of(maps: Iterable[Map]) -> Counter[tuple[Partition, ...]]:
    """Make the list of a line: tuples of partitions with their multiplicities."""
    return Counter(tuple(map(split, codes)) for codes in maps)


def tensor(band: Counter[tuple[Partition, ...]], columns: Sequence[Partition]) -> int:
    """Compute the element of W for the column partitions of a band's boxes."""
    return sum(
        multiplicity for rows, multiplicity in band.items() if all(map(orthogonal, columns, rows))
    )


def count_by_codes(clues: Sequence[Clue]) -> int:
    """Count the solutions of a 4x4 board as in step 3: the sum over codes."""

    def is_bijection(rows: Sequence[int], columns: Sequence[int]) -> bool:
        return len(set(zip(rows, columns, strict=True))) == 4

    total = 0
    for stack_maps in product(*stacks_of(clues)):
        term = 1
        for band, band_maps in enumerate(bands_of(clues)):
            columns = [stack_map[band] for stack_map in stack_maps]
            term *= sum(all(map(is_bijection, rows, columns)) for rows in band_maps)
        total += term
    return total


def count_by_partitions(clues: Sequence[Clue]) -> int:
    """Count the solutions of a 4x4 board as in step 4: the sum over entries."""
    bands = [entries_of(maps) for maps in bands_of(clues)]
    stacks = [entries_of(maps) for maps in stacks_of(clues)]
    total = 0
    for entries in product(*stacks):
        term = prod(stack[entry] for stack, entry in zip(stacks, entries, strict=True))
        for number, band in enumerate(bands):
            term *= tensor(band, [entry[number] for entry in entries])
        total += term
    return total
