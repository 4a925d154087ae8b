"""Boards with at most seven open cells, of two candidates each, which are not searched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, product

import numpy as np
import pytest

from gpusudoku.kernels.search.moves import build_moves
from gpusudoku.kernels.search.paired import MAX_OPEN_CELLS, build_paired
from gpusudoku.kernels.search.shape import SearchSettings
from gpusudoku.kernels.search.step import build_steps
from gpusudoku.search.frontier import Frontier
from tests import naive
from tests.boards import as_it_is, puzzle

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


@pytest.mark.parametrize(
    ("shape", "clues"), [("2x2", 5), ("2x3", 12), ("1x4", 6), ("3x3", 32), ("2x4", 28)]
)
def test_boards_are_told_apart(shape: str, clues: int) -> None:
    """Grids with some cells emptied, simplified until nothing changes."""
    boards = [puzzle(shape, clues, seed) for seed in range(100)]
    frontier = Frontier.of(boards).simplified(SearchSettings())
    packing = frontier.shape
    load = build_moves(packing, as_it_is).load
    has_two = build_paired(packing, as_it_is).has_two
    advance = build_steps(packing, SearchSettings().techniques, packing.lanes).advance
    memory = packing.memory(packing.lanes)
    answers = []
    for row, candidates in enumerate(np.bitwise_count(frontier.candidates)):
        load(memory, 1, frontier.boards, row)
        _, unsolved, changed = advance(memory)
        assert changed & 2 == 0
        if unsolved & 2:
            is_small = np.count_nonzero(candidates > 1) <= MAX_OPEN_CELLS
            answers.append(bool(has_two(memory, 1)))
            assert answers[-1] == (is_small and candidates.max() == 2)
            assert not answers[-1] or naive.count(boards[frontier.roots[row]]) == 2
    assert {*answers} == {False, True}
