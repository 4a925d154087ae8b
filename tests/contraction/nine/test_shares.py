"""The shares of 9x9 boards: against listings, single counts, and other options."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import gpusudoku
from gpusudoku.board.board import Board
from gpusudoku.contraction.nine import shares as module
from gpusudoku.contraction.nine.shares import NineShares, count_many_nine_shares, count_nine_shares
from tests.boards import puzzle
from tests.contraction.nine.counted import GRIDS, NINE, board_of, candidates_of

Shares = NDArray[np.object_]


def shares_of(board: Board, threads: int = 1, **options: Any) -> Shares:
    return NineShares(candidates_of(board), **options).run(threads)


def shares_by_listing(board: Board) -> Shares:
    """Count the shares by visiting every solution."""
    shares = np.zeros((81, 9), object)
    for solution in gpusudoku.solutions(board, device="cpu"):
        shares[np.arange(81), solution.cells.astype(int) - 1] += 1
    return shares


def shares_by_counts(board: Board, cell: int) -> list[int]:
    """Count the shares of a cell by one count for each digit."""
    boards = []
    for digit in range(1, 10):
        cells = board.cells.copy()
        cells[cell] = digit
        boards.append(Board(cells))
    counts = gpusudoku.count_many(boards, device="cpu", method="contraction")
    return [count.count for count in counts]


@pytest.mark.parametrize("clues", [24, 26, 30, 40, 81])
def test_shares_equal_those_of_a_listing(clues: int) -> None:
    """Also if logic has removed candidates."""
    board = puzzle(NINE, clues, clues)
    expected = shares_by_listing(board)
    for symmetric in True, False:
        assert (shares_of(board, symmetric=symmetric) == expected).all()
    assert (shares_of(gpusudoku.simplify(board).board) == expected).all()


@pytest.mark.parametrize(
    ("clues", "empty"),
    [(14, 25), (17, 0), (19, 30)] + [pytest.param(n, n, marks=pytest.mark.slow) for n in (2, 10)],
)
def test_shares_equal_single_counts(clues: int, empty: int) -> None:
    board = puzzle(NINE, clues, clues)
    cell = int(np.flatnonzero(board.cells == 0)[empty])
    assert shares_of(board, 2)[cell].tolist() == shares_by_counts(board, cell)


def test_the_empty_board() -> None:
    """An orbit with too many solutions for an environment is added in several steps."""
    expected = np.full((81, 9), GRIDS // 9, object)
    max_pending = 1 << 55
    assert (shares_of(board_of(0), 2) == expected).all()
    assert max_pending < GRIDS // 6**6 // 3  # four steps for every pivot sum
    assert (shares_of(board_of(0), max_pending=max_pending) == expected).all()


def test_one_clue() -> None:
    """Cells that symmetries take to each other have the same shares."""
    cells = np.zeros(81, np.uint8)
    cells[40] = 5
    total = GRIDS // 9
    shares = shares_of(Board(cells), 2).reshape(9, 9, 9)
    assert shares[4, 4].tolist() == [0] * 4 + [total] + [0] * 4
    assert set(shares[0, :3, 4]) == set(shares[8, 6:, 4]) == {total // 9}
    assert set(shares[4, :3, 4]) == {0}
    assert set(shares[4, :3, 0]) == {total // 8}


def test_a_contradiction_that_only_the_lists_show() -> None:
    candidates = candidates_of(puzzle(NINE, 30, 1))
    candidates[np.bitwise_count(candidates) > 1] = 1  # digit 1 in every empty cell
    assert (count_nine_shares(candidates, 1) == 0).all()


@pytest.mark.parametrize("clues", [18, 23])
def test_equivalent_boards_have_equivalent_shares(clues: int) -> None:
    rng = np.random.default_rng(clues)
    board = puzzle(NINE, clues, clues)
    shares = shares_of(board).reshape(9, 9, 9)
    transposed = shares_of(board.transposed()).reshape(9, 9, 9)
    assert (transposed == shares.swapaxes(0, 1)).all()
    digits = 1 + rng.permutation(9)
    relabelled = shares_of(board.relabelled(digits)).reshape(9, 9, 9)
    assert (relabelled[:, :, digits - 1] == shares).all()
    rows = np.concatenate([3 * band + rng.permutation(3) for band in rng.permutation(3)])
    assert (shares_of(Board(board.grid[rows])).reshape(9, 9, 9) == shares[rows]).all()


@pytest.mark.parametrize("clues", [16, 21])
def test_options_do_not_change_shares(clues: int) -> None:
    board = puzzle(NINE, clues, clues)
    shares = shares_of(board)
    total = int(shares[0].sum())
    assert total == gpusudoku.count(board, device="cpu", method="contraction").count
    max_pending = total // NineShares(candidates_of(board)).contraction.factor // 4
    option_sets: list[dict[str, Any]] = [
        {"threads": 3},
        {"symmetric": False},
        {"wide": True},
        {"max_pending": max_pending},
    ]
    for options in option_sets:
        assert (shares_of(board, **options) == shares).all()


@pytest.mark.parametrize("cheap", [True, False])
def test_boards_one_after_the_other(cheap: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The contents of memory after one board must not change the shares of the next."""
    if not cheap:  # every board is too expensive for one thread
        monkeypatch.setattr(module, "EXPENSIVE_SECONDS", 0.0)
    boards = [puzzle(NINE, clues, clues) for clues in ((81, 20, 30, 24, 60) if cheap else (19, 25))]
    candidates = np.array([candidates_of(board) for board in boards])
    expected = np.array([shares_of(board) for board in boards])
    for _ in "new memory", "kept memory":
        assert (count_many_nine_shares(candidates, 2) == expected).all()
        for board_candidates, shares in zip(candidates, expected, strict=True):
            assert (count_nine_shares(board_candidates, 2) == shares).all()
    assert count_many_nine_shares(candidates[:0], 2).shape == (0, 81, 9)


def test_memory_is_not_kept_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise ArithmeticError("wrong")

    candidates = candidates_of(puzzle(NINE, 30, 30))
    expected = count_nine_shares(candidates, 1)
    with monkeypatch.context() as patch:
        patch.setattr(module, "exact_shares", fail)
        with pytest.raises(ArithmeticError, match="wrong"):
            count_nine_shares(candidates, 1)
        with pytest.raises(ArithmeticError, match="wrong"):
            count_many_nine_shares(candidates[None], 1)
    assert (count_nine_shares(candidates, 1) == expected).all()
