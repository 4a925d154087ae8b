"""The shares of 9x9 boards: against listings, single counts, and themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import gpusudoku
from gpusudoku.board.board import Board
from gpusudoku.contraction.nine import shares as module
from gpusudoku.contraction.nine.shares import NineShares, many_nine_shares, nine_shares
from tests.boards import puzzle
from tests.contraction.nine.counted import GRIDS, NINE, board_of, candidates_of

Shares = NDArray[np.object_]


def shares_of(board: Board, threads: int = 1, **how: Any) -> Shares:
    return NineShares(candidates_of(board), **how).run(threads)


def listed(board: Board) -> Shares:
    """Count the shares by visiting every solution."""
    shares = np.zeros((81, 9), object)
    for solution in gpusudoku.solutions(board, device="cpu"):
        shares[np.arange(81), solution.cells.astype(int) - 1] += 1
    return shares


def counted(board: Board, cell: int) -> list[int]:
    """Count the shares of a cell by single counts: one for every digit."""
    boards = []
    for digit in range(1, 10):
        trial = board.cells.copy()
        trial[cell] = digit
        boards.append(Board(trial))
    counts = gpusudoku.count_many(boards, device="cpu", method="contraction")
    return [each.count for each in counts]


@pytest.mark.parametrize("clues", [24, 26, 30, 40, 81])
def test_shares_equal_those_of_a_listing(clues: int) -> None:
    """Also where logic has taken candidates away before."""
    board = puzzle(NINE, clues, clues)
    found = listed(board)
    for symmetric in True, False:
        assert (shares_of(board, symmetric=symmetric) == found).all()
    assert (shares_of(gpusudoku.simplify(board).board) == found).all()


@pytest.mark.parametrize(
    ("clues", "empty"),
    [(14, 25), (17, 0), (19, 30)] + [pytest.param(n, n, marks=pytest.mark.slow) for n in (2, 10)],
)
def test_shares_equal_single_counts(clues: int, empty: int) -> None:
    board = puzzle(NINE, clues, clues)
    cell = int(np.flatnonzero(board.cells == 0)[empty])
    assert shares_of(board, 2)[cell].tolist() == counted(board, cell)


def test_the_empty_board() -> None:
    """An orbit that is too much at once is added in parts."""
    grids = np.full((81, 9), GRIDS // 9, object)
    most = 1 << 55
    assert (shares_of(board_of(0), 2) == grids).all()
    assert most < GRIDS // 6**6 // 3  # four times for every turn
    assert (shares_of(board_of(0), most_pending=most) == grids).all()


def test_one_clue() -> None:
    """A digit is as likely in any cell where it may be, by symmetry of two kinds."""
    cells = np.zeros(81, np.uint8)
    cells[40] = 5
    total = GRIDS // 9
    shares = shares_of(Board(cells), 2).reshape(9, 9, 9)
    assert shares[4, 4].tolist() == [0] * 4 + [total] + [0] * 4
    assert set(shares[0, :3, 4]) == set(shares[8, 6:, 4]) == {total // 9}
    assert set(shares[4, :3, 4]) == {0}
    assert set(shares[4, :3, 0]) == {total // 8}


def test_a_contradiction_that_only_the_lists_see() -> None:
    candidates = candidates_of(puzzle(NINE, 30, 1))
    candidates[np.bitwise_count(candidates) > 1] = 1  # digit 1 in every empty cell
    assert (nine_shares(candidates, 1) == 0).all()


@pytest.mark.parametrize("clues", [18, 23])
def test_shares_go_with_the_board(clues: int) -> None:
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
def test_orbits_width_threads_and_room_do_not_matter(clues: int) -> None:
    board = puzzle(NINE, clues, clues)
    shares = shares_of(board)
    total = int(shares[0].sum())
    assert total == gpusudoku.count(board, device="cpu", method="contraction").count
    part = total // NineShares(candidates_of(board)).nine.factor // 4
    ways: list[dict[str, Any]] = [{"threads": 3}, {"symmetric": False}, {"wide": True}]
    for how in *ways, {"most_pending": part}:
        assert (shares_of(board, **how) == shares).all()


@pytest.mark.parametrize("cheap", [True, False])
def test_boards_one_after_the_other(cheap: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all kinds: what one board leaves in memory must not show in the next."""
    if not cheap:  # each too much for one thread
        monkeypatch.setattr(module, "EXPENSIVE_SECONDS", 0.0)
    boards = [puzzle(NINE, clues, clues) for clues in ((81, 20, 30, 24, 60) if cheap else (19, 25))]
    candidates = np.array([candidates_of(board) for board in boards])
    alone = [shares_of(board) for board in boards]
    for _ in "new memory", "known memory":
        for found in many_nine_shares(candidates, 2), [nine_shares(c, 2) for c in candidates]:
            assert (np.array(found) == np.array(alone)).all()
    assert many_nine_shares(candidates[:0], 2).shape == (0, 81, 9)


def test_memory_where_something_went_wrong_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*_: Any) -> None:
        raise ArithmeticError("wrong")

    candidates = candidates_of(puzzle(NINE, 30, 30))
    expected = nine_shares(candidates, 1)
    with monkeypatch.context() as patch:
        patch.setattr(module, "exact", wrong)
        with pytest.raises(ArithmeticError, match="wrong"):
            nine_shares(candidates, 1)
        with pytest.raises(ArithmeticError, match="wrong"):
            many_nine_shares(candidates[None], 1)
    assert (nine_shares(candidates, 1) == expected).all()
