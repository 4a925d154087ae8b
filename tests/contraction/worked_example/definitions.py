"""The definitions of docs/contraction.md, section 2, written as plainly as possible.

Only ``Board`` is imported from the package. Codes are tuples, partitions are sets of sets.
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
    least_digit, *larger_digits = digits
    for companions in combinations(larger_digits, size - 1):
        least_set = frozenset({least_digit, *companions})
        remaining_digits = [digit for digit in larger_digits if digit not in least_set]
        for remaining_sets in partitions(remaining_digits, size):
            yield remaining_sets | {least_set}


def orthogonal(x: Partition, y: Partition) -> bool:
    return all(len(x_set & y_set) == 1 for x_set in x for y_set in y)


def line_maps(
    digits: int, crossing: int, clues: Iterable[tuple[int, int, int]] = ()
) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield every map of a stack (or band) as the codes of its boxes.

    Each digit takes a permutation, in all ways in which no column of a box has too many digits.
    ``crossing`` is the number of bands that the stack crosses. A clue is a digit, the number of the
    band, and the column of the digit in the box.
    """
    clue_list = list(clues)
    size = digits // crossing
    counts = [[0] * crossing for _ in range(crossing)]
    """The digits so far in each box and column."""
    columns_by_digit: list[tuple[int, ...]] = []

    def extend(digit: int) -> Iterator[tuple[tuple[int, ...], ...]]:
        if digit > digits:
            yield tuple(zip(*columns_by_digit, strict=True))
            return
        for columns in permutations(range(crossing)):
            if any(d == digit and columns[box] != column for d, box, column in clue_list):
                continue
            if any(counts[box][column] == size for box, column in enumerate(columns)):
                continue
            for box, column in enumerate(columns):
                counts[box][column] += 1
            columns_by_digit.append(columns)
            yield from extend(digit + 1)
            columns_by_digit.pop()
            for box, column in enumerate(columns):
                counts[box][column] -= 1

    return extend(1)


def split(code: Sequence[int]) -> Partition:
    """Make the partition of a code: the sets of digits that share a column."""
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


def list_entries(maps: Iterable[tuple[tuple[int, ...], ...]]) -> Counter[tuple[Partition, ...]]:
    """List the entries of a line: tuples of partitions with their multiplicities."""
    return Counter(tuple(map(split, codes)) for codes in maps)


def tensor(band: Counter[tuple[Partition, ...]], columns: Sequence[Partition]) -> int:
    """Compute W at some column partitions."""
    return sum(
        multiplicity for rows, multiplicity in band.items() if all(map(orthogonal, rows, columns))
    )


def by_codes(clues: Sequence[Clue]) -> int:
    """Count the solutions of a 4x4 board by step 3: test every box bijection."""
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
    """Count the solutions of a 4x4 board by step 4."""
    bands = [list_entries(maps) for maps in bands_of(clues)]
    lists = [list_entries(maps).items() for maps in stacks_of(clues)]
    total = 0
    for (x, x_multiplicity), (y, y_multiplicity) in product(*lists):
        band_counts = [tensor(bands[i], [x[i], y[i]]) for i in range(2)]
        total += x_multiplicity * y_multiplicity * prod(band_counts)
    return total
