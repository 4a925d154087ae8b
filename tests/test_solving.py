"""A solution of a board, and whether it is the only one."""

from __future__ import annotations

import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.solving import solve
from tests import naive
from tests.boards import full_grid, puzzle, spoilt

BOARD = puzzle("2x3", 8, 6)
SOLUTIONS = list(naive.solutions(BOARD))
FULL = Board(full_grid(Geometry(2, 3), 1), Geometry(2, 3))


def test_the_only_solution() -> None:
    board = next(
        board
        for board in (puzzle("3x3", 40, seed) for seed in range(99))
        if naive.count(board) == 1
    )
    solution = solve(board, device="cpu", jobs=2)
    assert solution.unique is True
    assert solution.board is not None
    assert [tuple(solution.board.cells.tolist())] == list(naive.solutions(board))
    assert solution.stats.boards_explored >= 1
    assert board.empty_cells == 41


@pytest.mark.parametrize("jobs", [1, 2])
def test_one_of_several(jobs: int) -> None:
    solution = solve(BOARD, device="cpu", jobs=jobs)
    assert solution.unique is False
    assert solution.board is not None
    assert tuple(solution.board.cells.tolist()) in SOLUTIONS


def test_uniqueness_not_asked() -> None:
    solution = solve(BOARD, check_unique=False, device="cpu", jobs=1)
    assert solution.unique is None
    assert solution.board is not None
    assert tuple(solution.board.cells.tolist()) in SOLUTIONS


@pytest.mark.parametrize("check_unique", [True, False])
def test_none(check_unique: bool) -> None:
    solution = solve(spoilt(FULL, 1), check_unique=check_unique, device="cpu", jobs=1)
    assert (solution.board, solution.unique) == (None, None)


def test_a_huge_board() -> None:
    solution = solve(Board.empty(Geometry(4, 4)), device="cpu", jobs=2)
    assert solution.unique is False
    assert solution.board is not None
    assert solution.board.is_full
    assert not solution.board.conflicts
