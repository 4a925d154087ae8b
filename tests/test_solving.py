"""A solution of a board, and whether it is the only one."""

from __future__ import annotations

import pytest

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError
from gpusudoku.options import Options
from gpusudoku.solving import Solved, solve, solve_batches, solve_many
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
    assert (solution.board, solution.unique) == (None, False)


def test_a_huge_board() -> None:
    solution = solve(Board.empty(Geometry(4, 4)), device="cpu", jobs=2)
    assert solution.unique is False
    assert solution.board is not None
    assert solution.board.is_full
    assert not solution.board.conflicts


class TestManyBoards:
    BOARDS = (BOARD, FULL, spoilt(FULL, 1), puzzle("2x2", 5, 1), BOARD)

    @pytest.mark.parametrize("check_unique", [True, False])
    def test_as_if_each_was_solved_alone(self, check_unique: bool) -> None:
        found = list(solve_many(iter(self.BOARDS), check_unique=check_unique, device="cpu"))
        assert [solution.puzzle for solution in found] == list(self.BOARDS)
        for solution in found:
            alone = solve(solution.puzzle, check_unique=check_unique, device="cpu")
            assert alone.puzzle is solution.puzzle or alone.puzzle == solution.puzzle
            assert solution.unique is alone.unique
            assert (solution.board is None) == (alone.board is None)
            if solution.board is not None:
                cells = tuple(solution.board.cells.tolist())
                assert cells in naive.solutions(solution.puzzle)
                assert solution.board.geometry == solution.puzzle.geometry

    def test_text_and_boxes(self) -> None:
        found = list(solve_many([str(BOARD), BOARD.grid], box="2x3", device="cpu"))
        assert [solution.puzzle for solution in found] == [BOARD, BOARD]

    def test_an_error_comes_last(self) -> None:
        found = solve_many([*[FULL] * 20, "12"], device="cpu")
        assert all(next(found).unique for _ in range(20))
        with pytest.raises(InputError, match=r"^board 20: 2 cells make no board"):
            next(found)

    def test_wrong_options_are_seen_at_once(self) -> None:
        with pytest.raises(InputError, match=r"^jobs 0: "):
            solve_many([BOARD], jobs=0)
        with pytest.raises(
            TypeError, match=r"^solve_many\(\) .* 'check_uniqe'; did you mean 'check_u"
        ):
            solve_many([BOARD], check_uniqe=False)  # type: ignore[call-arg]

    @pytest.mark.parametrize("board", BOARDS)
    def test_one_board_and_a_block_say_the_same(self, board: Board) -> None:
        [block] = solve_batches([Batch.of([board])], Options(device="cpu"))
        [one] = Solved.of(Batch.of([board]), solve(board, device="cpu"))
        [other] = block
        assert (one.puzzle, one.unique) == (other.puzzle, other.unique)
        assert (one.board is None) == (other.board is None)
