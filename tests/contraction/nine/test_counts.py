"""The contraction of 9x9 boards against published totals, the search, and itself."""

from __future__ import annotations

import numpy as np
import pytest

from gpusudoku import collection
from gpusudoku.board.board import Board
from gpusudoku.contraction.nine.batch import contract_cheap
from gpusudoku.contraction.nine.sum import Nine
from gpusudoku.counting import count, count_many
from gpusudoku.engines.cpu import CpuEngine
from tests.boards import puzzle, spoilt
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
"""Solutions of the empty board with a given pair of partitions, at most: below 2^57."""


@pytest.mark.parametrize(
    ("name", "total"), [("top-band-cyclic", 7802998272), ("top-band-twisted", 7347449088)]
)
def test_top_bands(name: str, total: int) -> None:
    board = collection.load(name)
    assert contracted(board) == contracted(board.transposed()) == total


@pytest.mark.parametrize("name", [series + letter for series in "12" for letter in "abcdef"])
def test_boards_of_the_main_document(name: str) -> None:
    assert contracted(collection.load(name)) == collection.entry(name).count


def test_no_pair_of_the_empty_board_has_more_solutions_than_64_bits_hold() -> None:
    """What the argument for exactness rests on."""
    nine = Nine(candidates_of(board_of(0)))
    nine.prepare(2)
    scratch = nine.scratch()
    flag = np.zeros(1, np.int64)
    pairs = [nine.sum(range(i, i + 1), scratch, flag)[0] for i in range(nine.pairs)]
    sizes = nine.workspace.orbits.pairs[: nine.pairs, 2].tolist()
    assert len(pairs) == 5
    assert sum(sizes) == 280**2
    assert sum(pairs) * nine.factor == GRIDS
    sums = [pair // size * nine.factor for pair, size in zip(pairs, sizes, strict=True)]
    assert max(sums) == LARGEST_PAIR < 1 << 57


@pytest.mark.parametrize("clues", [20, 22, 25, 28, 32, 40, 55, 70, 80, 81])
def test_random_boards(clues: int) -> None:
    for seed in range(1 if clues < 30 else 3):
        board = puzzle(NINE, clues, clues + seed)
        assert contracted(board) == searched(board) > 0


def test_contradictions() -> None:
    nothing = 0
    for seed in range(40):
        board = spoilt(puzzle(NINE, 24 + seed % 20, seed), seed)
        total = searched(board)
        assert contracted(board) == total
        nothing += total == 0 and not board.conflicts
    assert nothing > 5


@pytest.mark.parametrize(
    "clues", [1, 12, 16, *(pytest.param(clues, marks=pytest.mark.slow) for clues in (5, 8))]
)
def test_parts_add_up(clues: int) -> None:
    """With few clues, which no search can visit: one more clue at a time."""
    board = puzzle(NINE, clues, clues)
    cell = int(np.flatnonzero(board.cells == 0)[7])
    parts = []
    for digit in range(1, 10):
        cells = board.cells.copy()
        cells[cell] = digit
        parts.append(contracted(Board(cells)))
    assert sum(parts) == contracted(board) > 10**8


@pytest.mark.parametrize("clues", [14, 18])
def test_equivalent_boards(clues: int) -> None:
    rng = np.random.default_rng(clues)
    board = puzzle(NINE, clues, clues - 14)
    bands = board.grid.reshape(3, 3, 9)
    stacks = board.grid.reshape(9, 3, 3)
    total = contracted(board)
    for other in (
        board.transposed(),
        board.relabelled(1 + rng.permutation(9)),
        Board(bands[rng.permutation(3)]),
        Board(bands[:, rng.permutation(3)]),
        Board(stacks[:, rng.permutation(3)]),
    ):
        assert contracted(other) == total


@pytest.mark.parametrize("clues", [0, 2, 12, 17, 25])
def test_all_pairs_or_one_of_every_orbit_wide_or_narrow(clues: int) -> None:
    board = board_of(clues)
    assert contracted(board, wide=True) == contracted(board)
    if clues > 2:
        assert contracted(board, symmetric=False) == contracted(board)


def test_a_board_whose_products_pass_16_bits_is_summed_wide() -> None:
    candidates = candidates_of(puzzle(NINE, 14, 1))
    counts = []
    for times in (1, 200):
        nine = multiplied(Nine(candidates), times)
        counts.append(summed(nine, CpuEngine(2))[0])
        assert nine.wide == (times > 1)
    assert counts[1] == 200**2 * counts[0] > 0


def test_threads_do_not_matter_and_a_flag_stops() -> None:
    board = puzzle(NINE, 12, 3)
    counts = {count(board, method="contraction", device="cpu", jobs=j).count for j in (1, 2, 5)}
    assert len(counts) == 1


def test_cheap_and_expensive_boards_of_a_batch() -> None:
    boards = [puzzle(NINE, clues, clues) for clues in (24, 9, 30, 22, 81, 26)]
    boards.append(spoilt(boards[-1], 3))
    expected = [contracted(board) for board in boards]
    counts, left = contract_cheap(boards, 2, 1 << 30)
    assert left == [1]
    assert [counts[i] for i in range(7) if i != 1] == [expected[0], *expected[2:]]
    results = count_many(boards, method="contraction", device="cpu")
    assert [result.count for result in results] == expected


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("clues", [0, 7, 16, 24])
def test_what_a_few_boards_take_as_plain_python_comes_out_as_compiled(clues: int) -> None:
    from gpusudoku.contraction.nine.sum import stages, tables
    from gpusudoku.kernels.contraction.nine.arrays import make_workspace

    candidates = candidates_of(board_of(clues))
    found = []
    for plain in True, False:
        work = make_workspace()
        call = stages()
        allow = call.allow_permutations
        choose = call.choose_roles
        (allow.python if plain else allow)(candidates, tables(), work.lists)
        assert call.survey(tables(), work.scratch, work.lists, work.numbering)
        price = (choose.python if plain else choose)(work.lists, work.numbering, work.roles)
        roles = work.roles
        arrays = work.lists.masks, roles.summed, roles.crossing, roles.shape, roles.tensor
        found.append([float(price), *(array.tolist() for array in arrays)])
    assert found[0] == found[1]
