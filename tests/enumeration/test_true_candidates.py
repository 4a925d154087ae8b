"""True candidates, compared to the digits in a naive list of all solutions."""

from __future__ import annotations

import numpy as np
import pytest

from gpusudoku import Board, Cancelled, CancelToken, Geometry, Options, solutions
from gpusudoku.board.batch import Batch
from gpusudoku.board.board import digit_masks
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.enumeration import true_candidates
from gpusudoku.enumeration.share_queries import share_block
from gpusudoku.enumeration.true_candidates import find_true_candidates
from gpusudoku.jobs.watch import Progress
from tests.boards import PUZZLE, full_grid, puzzle, with_wrong_clue
from tests.enumeration.short import naive_solutions, shares_of

CLUES = {"2x2": (0, 2, 4, 16), "1x4": (0, 3), "2x3": (9, 14), "3x2": (10,), "3x3": (28, 32, 81)}
"""Numbers of clues with none to many solutions, of which a naive list can still be made."""


def with_candidates(board: Board, seed: int) -> Board:
    """Return the board with given candidates, which exclude a digit of some cells."""
    rng = np.random.default_rng(seed)
    excluded = np.uint64(1) << rng.integers(0, 4 * board.n, board.cells.size, dtype=np.uint64)
    masks = np.where(board.cells > 0, digit_masks(board.cells), board.geometry.all_digits)
    return Board(board.cells, board.geometry, candidates=masks & ~(excluded & board.candidates))


def boards_of(shape: str) -> list[Board]:
    """Return boards with many, few and no solutions, with and without given candidates."""
    boards = [puzzle(shape, clues, clues) for clues in CLUES[shape]]
    boards += [with_candidates(board, 1) for board in boards]
    boards.append(with_wrong_clue(puzzle(shape, max(CLUES[shape]), 3), 2))
    boards.append(Board([1, 1, *[0] * (boards[0].cells.size - 2)], boards[0].geometry))
    no_digit = np.where(boards[0].cells > 0, digit_masks(boards[0].cells), boards[0].candidates)
    no_digit[np.argmin(boards[0].cells)] = 0
    boards.append(Board(boards[0].cells, boards[0].geometry, candidates=no_digit))
    return boards


def assert_true_candidates(boards: list[Board], engine: CpuEngine) -> None:
    actual = find_true_candidates(Batch.of(boards), Options(), engine)
    expected = [shares_of(naive_solutions(board), board.n) > 0 for board in boards]
    assert (actual == expected).all()


@pytest.mark.parametrize("shape", CLUES)
@pytest.mark.parametrize("jobs", [1, 2])
def test_boards_of_all_shapes(shape: str, jobs: int) -> None:
    """A batch has boards with and without solutions and candidates."""
    assert_true_candidates(boards_of(shape), CpuEngine(jobs))


@pytest.mark.parametrize("shape", ["2x2", "3x3"])
@pytest.mark.parametrize("seconds", [1e-6, 0.1])
def test_small_blocks_and_short_searches(
    shape: str, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Searches that do not end in time are repeated until they do."""
    for name, value in {"LISTED": 2, "MIN_SEARCHES": 3, "MAX_PLACEMENTS": 1}.items():
        monkeypatch.setattr(true_candidates, name, value)
    monkeypatch.setattr(true_candidates, "SEARCH_SECONDS", seconds)
    for board in boards_of(shape):
        assert_true_candidates([board], CpuEngine(1))


@pytest.mark.usefixtures("uncompiled")
def test_large_boards_have_other_techniques(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(true_candidates, "MAX_PLAIN_DIGITS", 3)
    assert_true_candidates(boards_of("2x2"), CpuEngine(1))


def test_a_board_of_one_cell() -> None:
    assert solutions("1").true_candidates().tolist() == [1]
    assert solutions([[0]]).true_candidates().tolist() == [1]


def test_every_digit_of_an_empty_board_with_too_many_solutions() -> None:
    empty = solutions(Board.empty(Geometry(4, 4)))
    assert (empty.true_candidates() == (1 << 16) - 1).all()


@pytest.mark.slow
def test_every_digit_of_boards_that_a_search_in_order_hardly_solves() -> None:
    """One row is known, so that exactly its digits are excluded in the rest of its boxes."""
    geometry = Geometry(5, 5)
    cells = np.zeros(geometry.cells, np.int64)
    cells[:25] = full_grid(geometry, 1)[0]
    board = Board(cells, geometry)
    expected = np.where(board.cells > 0, digit_masks(board.cells), board.candidates)
    assert (solutions(board).true_candidates() == expected).all()


def test_masks_are_those_of_the_shares_and_are_kept() -> None:
    for board in (puzzle("3x3", 26, 0), puzzle("2x3", 5, 0)):
        found = solutions(board)
        masks = found.true_candidates()
        bits = np.uint64(1) << np.arange(board.n, dtype=np.uint64)
        assert (masks == (found.shares() > 0) @ bits).all()
        assert masks is found.true_candidates()
        assert not masks.flags.writeable
        # The true candidates of a board with them as its candidates are the same.
        again = Board(board.cells, board.geometry, candidates=masks)
        assert (solutions(again).true_candidates() == masks).all()


def test_one_solution_is_its_digits_alone() -> None:
    [solution] = solutions(PUZZLE)
    assert (solutions(PUZZLE).true_candidates() == digit_masks(solution.cells)).all()


def test_shares_with_a_limit_of_one_tell_which_boards_have_solutions() -> None:
    boards = boards_of("2x2")
    block = share_block(Batch.of(boards), Options(limit=1, device="cpu"), CpuEngine(1))
    assert block.numbers.tolist() == [min(1, len(naive_solutions(board))) for board in boards]


def test_progress_and_a_token_that_stops_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(true_candidates, "MIN_SEARCHES", 1)
    token = CancelToken()
    reports: list[Progress] = []

    def report(progress: Progress) -> None:
        reports.append(progress)
        if len(reports) == 3:
            token.cancel()

    board = Board.empty(Geometry(4, 4))
    found = solutions(board, progress=report, cancel=token)
    with pytest.raises(Cancelled):
        found.true_candidates()
    assert len(reports) == 3
    assert all(0 <= progress.done < 1 and progress.count > 64 for progress in reports)
    found.cancel = None
    assert (found.true_candidates() == (1 << 16) - 1).all()
