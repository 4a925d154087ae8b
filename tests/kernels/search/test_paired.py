"""Boards with at most seven open cells of two candidates each, which need no search."""

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
from tests.boards import not_compiled, puzzle

SIDE = MAX_OPEN_CELLS // 2
"""The most rows, and the most columns, with open cells: each has two of these cells or more."""
PARTITIONS = [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 1, 2)]
"""The bands of three rows, or the stacks of three columns, in all ways. Boxes of one row or of one
column are among them."""


def arrangements(cells: int) -> Iterator[list[list[int]]]:
    """Yield the units of a number of open cells in all ways: each unit has two of them or more."""
    for places in combinations(product(range(SIDE), repeat=2), cells):
        for band_of, stack_of in product(PARTITIONS, repeat=2):
            units: dict[object, list[int]] = {}
            for cell, (row, column) in enumerate(places):
                for unit in (("r", row), ("c", column), (band_of[row], stack_of[column])):
                    units.setdefault(unit, []).append(cell)
            if min(map(len, units.values())) >= 2:
                yield [*units.values()]


def is_paired(units: list[list[int]], pairs: tuple[tuple[int, int], ...]) -> bool:
    """Return whether each digit has two places or none in every unit."""
    return all(
        set(Counter(digit for cell in unit for digit in pairs[cell]).values()) == {2}
        for unit in units
    )


def count_solutions(units: list[list[int]], pairs: tuple[tuple[int, int], ...]) -> int:
    """Count the solutions by trying all combinations of candidates."""
    return sum(
        all(len({digits[cell] for cell in unit}) == len(unit) for unit in units)
        for digits in product(*pairs)
    )


def test_there_are_two_solutions() -> None:
    """All boards of this kind have two solutions, up to the names of digits."""
    boards_by_cells: Counter[int] = Counter()
    for cells in range(1, MAX_OPEN_CELLS + 1):
        # There are 2 * cells candidates, and a digit has four or more, two in each of two rows.
        possible = [*combinations(range(max(2, cells // 2)), 2)]
        for units in arrangements(cells):
            for later_pairs in product(possible, repeat=cells - 1):
                pairs = possible[0], *later_pairs
                if is_paired(units, pairs):
                    assert count_solutions(units, pairs) == 2
                    boards_by_cells[cells] += 1
    assert boards_by_cells == {4: 108, 6: 90, 7: 144}


@pytest.mark.parametrize(
    ("shape", "clues"), [("2x2", 5), ("2x3", 12), ("1x4", 6), ("3x3", 32), ("2x4", 28)]
)
def test_paired_boards_are_detected(shape: str, clues: int) -> None:
    """Grids with some cells emptied, simplified until nothing changes."""
    boards = [puzzle(shape, clues, seed) for seed in range(100)]
    frontier = Frontier.of(boards).simplified(SearchSettings())
    packing = frontier.shape
    load = build_moves(packing, not_compiled).load
    has_two = build_paired(packing, not_compiled).has_two
    advance = build_steps(packing, SearchSettings().techniques, packing.lanes).advance
    memory = packing.memory(packing.lanes)
    lane = 1
    lane_bit = 1 << lane
    answers = []
    for row, candidates in enumerate(np.bitwise_count(frontier.candidates)):
        load(memory, lane, frontier.boards, row)
        _, unsolved, changed = advance(memory)
        assert changed & lane_bit == 0
        if unsolved & lane_bit:
            is_small = np.count_nonzero(candidates > 1) <= MAX_OPEN_CELLS
            answers.append(bool(has_two(memory, lane)))
            assert answers[-1] == (is_small and candidates.max() == 2)
            assert not answers[-1] or naive.count(boards[frontier.roots[row]]) == 2
    assert {*answers} == {False, True}
