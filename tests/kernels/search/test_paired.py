"""Boards with at most seven open cells, of two candidates each, which are not searched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, product

from gpusudoku.kernels.search.paired import MAX_OPEN_CELLS

SIDE = MAX_OPEN_CELLS // 2
"""Each row and column with open cells has two or more of them, so there are at most so many."""
PARTITIONS = [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 1, 2)]
"""Which of three rows are in the same band, or which columns in the same stack. Boxes of one row
or of one column are among them."""


def arrangements(cells: int) -> Iterator[list[list[int]]]:
    """Give the units of so many open cells in all ways: each has two of them or more, or none."""
    for places in combinations(product(range(SIDE), repeat=2), cells):
        for band_of, stack_of in product(PARTITIONS, repeat=2):
            units: dict[object, list[int]] = {}
            for cell, (row, column) in enumerate(places):
                for unit in (("r", row), ("c", column), (band_of[row], stack_of[column])):
                    units.setdefault(unit, []).append(cell)
            if min(map(len, units.values())) >= 2:
                yield [*units.values()]


def is_paired(units: list[list[int]], pairs: tuple[tuple[int, int], ...]) -> bool:
    """Whether each digit has two places or none in every unit."""
    return all(
        set(Counter(digit for cell in unit for digit in pairs[cell]).values()) == {2}
        for unit in units
    )


def solutions(units: list[list[int]], pairs: tuple[tuple[int, int], ...]) -> int:
    """Try everything."""
    return sum(
        all(len({digits[cell] for cell in unit}) == len(unit) for unit in units)
        for digits in product(*pairs)
    )


def test_there_are_two_solutions() -> None:
    """All boards of the kind, but for the names of digits."""
    found: Counter[int] = Counter()
    for cells in range(1, MAX_OPEN_CELLS + 1):
        # There are 2 * cells candidates, and a digit has four or more, two in each of two rows.
        possible = [*combinations(range(max(2, cells // 2)), 2)]
        for units in arrangements(cells):
            for others in product(possible, repeat=cells - 1):
                pairs = possible[0], *others
                if is_paired(units, pairs):
                    assert solutions(units, pairs) == 2
                    found[cells] += 1
    assert found == {4: 108, 6: 90, 7: 144}
