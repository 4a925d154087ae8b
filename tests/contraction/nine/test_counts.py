"""Counts of the 9x9 contraction: against published totals, the search, and other options."""

from __future__ import annotations

import numpy as np
import pytest

from gpusudoku import collection
from gpusudoku.board.board import Board
from gpusudoku.contraction.nine.batch import count_cheap_boards
from gpusudoku.contraction.nine.sum import NineContraction
from gpusudoku.counting import count, count_many
from gpusudoku.engines.cpu import CpuEngine
from tests.boards import puzzle, with_wrong_clue
from tests.contraction.nine.counted import (
    GRIDS,
    NINE,
    board_of,
    candidates_of,
    contracted,
    multiplied,
    searched,
    summed,
)

LARGEST_PAIR = 97_034_115_530_096_640
"""The largest number of solutions of the empty board with a given pair of partitions."""


@pytest.mark.parametrize(
    ("name", "total"), [("top-band-cyclic", 7802998272), ("top-band-twisted", 7347449088)]
)
def test_top_bands(name: str, total: int) -> None:
    board = collection.load(name)
    assert contracted(board) == contracted(board.transposed()) == total


@pytest.mark.parametrize("name", [series + letter for series in "12" for letter in "abcdef"])
def test_boards_of_the_collection(name: str) -> None:
    assert contracted(collection.load(name)) == collection.entry(name).count


def test_64_bits_hold_every_pair_of_the_empty_board() -> None:
    """The argument for exactness rests on this."""
    contraction = NineContraction(candidates_of(board_of(0)))
    contraction.prepare(2)
    scratch = contraction.scratch()
    stop = np.zeros(1, np.int64)
    orbit_sums = [
        contraction.sum(range(orbit, orbit + 1), scratch, stop)[0]
        for orbit in range(contraction.pairs)
    ]
    sizes = contraction.workspace.orbits.representatives[: contraction.pairs, 2].tolist()
    assert len(orbit_sums) == 5
    assert sum(sizes) == 280**2
    assert sum(orbit_sums) * contraction.factor == GRIDS
    pair_solutions = [
        orbit_sum // size * contraction.factor
        for orbit_sum, size in zip(orbit_sums, sizes, strict=True)
    ]
    assert max(pair_solutions) == LARGEST_PAIR < 1 << 57


@pytest.mark.parametrize("clues", [20, 22, 25, 28, 32, 40, 55, 70, 80, 81])
def test_random_boards(clues: int) -> None:
    for seed in range(1 if clues < 30 else 3):
        board = puzzle(NINE, clues, clues + seed)
        assert contracted(board) == searched(board) > 0


def test_contradictions() -> None:
    without_solution = 0
    for seed in range(40):
        board = with_wrong_clue(puzzle(NINE, 24 + seed % 20, seed), seed)
        total = searched(board)
        assert contracted(board) == total
        without_solution += total == 0 and not board.conflicts
    assert without_solution > 5  # where the contradiction is hidden


@pytest.mark.parametrize(
    "clues", [1, 12, 16, *(pytest.param(clues, marks=pytest.mark.slow) for clues in (5, 8))]
)
def test_parts_add_up(clues: int) -> None:
    """Boards with too few clues for a search: the counts with one more clue add up."""
    board = puzzle(NINE, clues, clues)
    cell = int(np.flatnonzero(board.cells == 0)[7])
    counts = []
    for digit in range(1, 10):
        cells = board.cells.copy()
        cells[cell] = digit
        counts.append(contracted(Board(cells)))
    assert sum(counts) == contracted(board) > 10**8


@pytest.mark.parametrize("clues", [14, 18])
def test_equivalent_boards(clues: int) -> None:
    rng = np.random.default_rng(clues)
    board = puzzle(NINE, clues, clues - 14)
    bands = board.grid.reshape(3, 3, 9)
    stacks = board.grid.reshape(9, 3, 3)
    total = contracted(board)
    for equivalent in (
        board.transposed(),
        board.relabelled(1 + rng.permutation(9)),
        Board(bands[rng.permutation(3)]),
        Board(bands[:, rng.permutation(3)]),
        Board(stacks[:, rng.permutation(3)]),
    ):
        assert contracted(equivalent) == total


@pytest.mark.parametrize("clues", [0, 2, 12, 17, 25])
def test_neither_width_nor_symmetries_change_counts(clues: int) -> None:
    board = board_of(clues)
    assert contracted(board, wide=True) == contracted(board)
    if clues > 2:
        assert contracted(board, symmetric=False) == contracted(board)


def test_a_board_with_products_over_16_bits_is_summed_wide() -> None:
    candidates = candidates_of(puzzle(NINE, 14, 1))
    counts = []
    for factor in (1, 200):
        contraction = multiplied(NineContraction(candidates), factor)
        counts.append(summed(contraction, CpuEngine(2))[0])
        assert contraction.wide == (factor > 1)
    assert counts[1] == 200**2 * counts[0] > 0


def test_threads_do_not_change_counts() -> None:
    board = puzzle(NINE, 12, 3)
    counts = {count(board, method="contraction", device="cpu", jobs=j).count for j in (1, 2, 5)}
    assert len(counts) == 1


def test_cheap_and_expensive_boards_of_a_batch() -> None:
    boards = [puzzle(NINE, clues, clues) for clues in (24, 9, 30, 22, 81, 26)]
    boards.append(with_wrong_clue(boards[-1], 3))
    expected = [contracted(board) for board in boards]
    counts, expensive = count_cheap_boards(boards, 2, 1 << 30)
    assert expensive == [1]
    assert [counts[i] for i in range(7) if i != 1] == [expected[0], *expected[2:]]
    results = count_many(boards, method="contraction", device="cpu")
    assert [result.count for result in results] == expected


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("clues", [0, 7, 16, 24])
def test_stages_as_plain_python_equal_compiled_ones(clues: int) -> None:
    from gpusudoku.contraction.nine.sum import stages, tables
    from gpusudoku.kernels.contraction.nine.arrays import make_workspace

    candidates = candidates_of(board_of(clues))
    allow = stages().allow_permutations
    choose = stages().choose_roles
    results = []
    for allow_permutations, choose_roles in (allow, choose), (allow.python, choose.python):
        work = make_workspace()
        roles = work.roles
        allow_permutations(candidates, tables(), work.lists)
        assert stages().make_lists(tables(), work.scratch, work.lists, work.indexing)
        nanoseconds = choose_roles(work.lists, work.indexing, roles)
        arrays = work.lists.masks, roles.summed, roles.crossing, roles.shape, roles.tensor
        results.append([float(nanoseconds), *(array.tolist() for array in arrays)])
    assert results[0] == results[1]
