"""The shares of 9x9 boards: against listings, single counts, and themselves."""

from __future__ import annotations

import weakref
from collections import deque
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import gpusudoku
from gpusudoku.board.board import Board
from gpusudoku.contraction.nine import share_batch, sweeper
from gpusudoku.contraction.nine.share_batch import many_nine_shares
from gpusudoku.contraction.nine.shares import NineShares, nine_shares
from tests.boards import puzzle
from tests.contraction.nine.counted import GRIDS, NINE, candidates_of

Shares = NDArray[np.object_]


def shares_of(board: Board, threads: int = 1, **how: Any) -> Shares:
    return NineShares(candidates_of(board), **how).run(threads)


def listed(board: Board) -> Shares:
    """The shares by visiting every solution."""
    shares = np.zeros((81, 9), object)
    for solution in gpusudoku.solutions(board, device="cpu"):
        shares[np.arange(81), solution.cells.astype(int) - 1] += 1
    return shares


def counted(board: Board, cells: range) -> Shares:
    """The shares of some cells by single counts: one for every digit."""
    boards = []
    for cell in cells:
        for digit in range(1, 10):
            trial = board.cells.copy()
            trial[cell] = digit
            boards.append(Board(trial))
    counts = gpusudoku.count_many(boards, device="cpu", method="contraction")
    return np.array([each.count for each in counts], object).reshape(len(cells), 9)


def assert_same(one: Shares, other: Shares) -> None:
    assert (one == other).all()


class TestAgainstListings:
    @pytest.mark.parametrize("clues", [22, 24, 26, 30, 40, 60, 80, 81])
    def test_every_share(self, clues: int) -> None:
        board = puzzle(NINE, clues, clues)
        found = listed(board)
        for symmetric in True, False:
            assert_same(shares_of(board, symmetric=symmetric), found)

    def test_candidates_that_are_taken_away_by_logic(self) -> None:
        board = puzzle(NINE, 26, 3)
        found = listed(board)
        simplified = gpusudoku.simplify(board)
        assert_same(shares_of(simplified.board), found)


class TestAgainstSingleCounts:
    @pytest.mark.parametrize(("clues", "first"), [(14, 30), (17, 0), (19, 45)])
    def test_some_cells(self, clues: int, first: int) -> None:
        board = puzzle(NINE, clues, clues)
        empty = [i for i in range(first, 81) if board.cells[i] == 0][:2]
        shares = shares_of(board)
        for cell in empty:
            assert_same(shares[cell : cell + 1], counted(board, range(cell, cell + 1)))

    @pytest.mark.slow
    @pytest.mark.parametrize("clues", [2, 4, 10, 12])
    def test_boards_of_few_clues(self, clues: int) -> None:
        board = puzzle(NINE, clues, clues)
        cell = int(np.flatnonzero(board.cells == 0)[clues])
        assert_same(shares_of(board, 2)[cell : cell + 1], counted(board, range(cell, cell + 1)))

    @pytest.mark.slow
    @pytest.mark.parametrize("clues", [18, 22])
    def test_all_cells(self, clues: int) -> None:
        board = puzzle(NINE, clues, clues)
        shares = shares_of(board, 2)
        for cell in np.flatnonzero(board.cells == 0).tolist():
            assert_same(shares[cell : cell + 1], counted(board, range(cell, cell + 1)))


class TestExtremes:
    def test_the_empty_board(self) -> None:
        assert_same(shares_of(Board.empty(NINE), 2), np.full((81, 9), GRIDS // 9, object))

    def test_one_clue(self) -> None:
        """A digit is as likely in any cell where it may be, by symmetry of two kinds."""
        cells = np.zeros(81, np.uint8)
        cells[40] = 5
        total = GRIDS // 9
        shares = shares_of(Board(cells), 2).reshape(9, 9, 9)
        assert shares[4, 4].tolist() == [0] * 4 + [total] + [0] * 4
        assert set(shares[0, :3, 4]) == set(shares[8, 6:, 4]) == {total // 9}
        assert set(shares[4, :3, 4]) == {0}
        assert set(shares[4, :3, 0]) == {total // 8}

    def test_a_contradiction(self) -> None:
        """Singles do not see it, the lists do: four digits for three rows."""
        candidates = candidates_of(puzzle(NINE, 30, 1))
        empty = np.flatnonzero(np.bitwise_count(candidates) > 1)
        candidates[empty] = 1  # digit 1 in every empty cell
        assert_same(nine_shares(candidates, 1), np.zeros((81, 9), object))


class TestTwins:
    @pytest.mark.parametrize("clues", [15, 18, 23])
    def test_shares_go_with_the_board(self, clues: int) -> None:
        rng = np.random.default_rng(clues)
        board = puzzle(NINE, clues, clues)
        shares = shares_of(board).reshape(9, 9, 9)
        transposed = shares_of(board.transposed()).reshape(9, 9, 9)
        assert_same(transposed, shares.swapaxes(0, 1))
        digits = 1 + rng.permutation(9)
        relabelled = shares_of(board.relabelled(digits)).reshape(9, 9, 9)
        assert_same(relabelled[:, :, digits - 1], shares)
        rows = np.concatenate([3 * band + rng.permutation(3) for band in rng.permutation(3)])
        assert_same(shares_of(Board(board.grid[rows])).reshape(9, 9, 9), shares[rows])


class TestWays:
    """However it is worked out, the result is the same."""

    @pytest.mark.parametrize("clues", [16, 21])
    def test_orbits_width_threads_and_room(self, clues: int) -> None:
        board = puzzle(NINE, clues, clues)
        shares = shares_of(board)
        total = shares[0].sum()
        assert total == gpusudoku.count(board, device="cpu", method="contraction").count
        assert_same(shares_of(board, 3), shares)
        assert_same(shares_of(board, symmetric=False), shares)
        assert_same(shares_of(board, wide=True), shares)
        full = int(total) // NineShares(candidates_of(board)).nine.factor // 4
        assert_same(shares_of(board, most_pending=full), shares)

    def test_an_orbit_is_added_in_parts_where_it_is_too_much_at_once(self) -> None:
        grids, most = np.full((81, 9), GRIDS // 9, object), 1 << 55
        assert most < GRIDS // 6**6 // 3  # four times for every turn
        assert_same(shares_of(Board.empty(NINE), most_pending=most), grids)


class TestRooms:
    @pytest.fixture(autouse=True)
    def none_kept(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sweeper, "_kept", deque[sweeper.Room](maxlen=2))

    def test_cheap_boards_take_the_same_one(self) -> None:
        first, second = (candidates_of(puzzle(NINE, clues, clues)) for clues in (23, 30))
        expected = [NineShares(each).run(1) for each in (first, second, first)]
        rooms = []
        for candidates, shares in zip((first, second, first), expected, strict=True):
            assert_same(nine_shares(candidates, 2), shares)
            rooms += sweeper._kept
        assert len(rooms) == 3
        assert rooms[0] is rooms[1] is rooms[2]
        assert_same(many_nine_shares(np.array([second]), 1)[0], expected[1])
        assert [*sweeper._kept] == rooms[:1]

    def test_a_batch_takes_no_more_than_it_needs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        taken: list[sweeper.Room] = []

        def take() -> sweeper.Room:
            taken.append(sweeper.take_room())
            return taken[-1]

        monkeypatch.setattr(share_batch, "take_room", take)
        candidates = candidates_of(puzzle(NINE, 30, 30))
        for number in (0, 1, 2):
            taken.clear()
            many_nine_shares(np.array([candidates] * number).reshape(number, 81), 3)
            assert len(taken) == number

    def test_one_where_a_board_was_only_estimated_is_kept(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A board that costs too much for one thread is worked out in another room."""
        room = sweeper.Room()
        board = NineShares(candidates_of(puzzle(NINE, 19, 19)), room=room)
        monkeypatch.setattr(sweeper, "CHEAP_SECONDS", board.seconds / 2)
        sweeper.keep_room(room)
        assert [*sweeper._kept] == [room]
        board.run(1)
        sweeper._kept.clear()
        sweeper.keep_room(room)
        assert not sweeper._kept

    def test_one_that_has_become_large_is_given_up(self) -> None:
        room = sweeper.Room()
        room.seconds = 2 * sweeper.CHEAP_SECONDS
        NineShares(candidates_of(puzzle(NINE, 30, 30)), room=room)
        sweeper.keep_room(room)
        assert not sweeper._kept

    def test_its_memory_is_free_at_once(self) -> None:
        room = sweeper.Room()
        NineShares(candidates_of(puzzle(NINE, 30, 30)), room=room).run(2)
        there = weakref.ref(room)
        del room
        assert there() is None  # it is in no circle, for which the collector would be awaited

    def test_one_where_something_went_wrong_is_given_up(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def wrong(*_: Any) -> None:
            raise ArithmeticError("wrong")

        monkeypatch.setattr(sweeper, "exact", wrong)
        candidates = candidates_of(puzzle(NINE, 30, 30))
        with pytest.raises(ArithmeticError, match="wrong"):
            nine_shares(candidates, 1)
        with pytest.raises(ArithmeticError, match="wrong"):
            many_nine_shares(np.array([candidates]), 1)
        assert not sweeper._kept


class TestBatches:
    def test_boards_one_after_the_other(self) -> None:
        """Of all kinds: what one board leaves in memory must not show in the next."""
        boards = [puzzle(NINE, clues, clues) for clues in (81, 20, 30, 24, 21, 60, 26)]
        candidates = np.array([candidates_of(board) for board in boards])
        shares = many_nine_shares(candidates, 2)
        for board, found in zip(boards, shares, strict=True):
            assert_same(found, shares_of(board))

    def test_what_costs_too_much_for_one_thread(self, monkeypatch: pytest.MonkeyPatch) -> None:
        boards = [puzzle(NINE, clues, clues) for clues in (19, 25)]
        candidates = np.array([candidates_of(board) for board in boards])
        alone = np.array([shares_of(board) for board in boards])
        monkeypatch.setattr(share_batch, "EXPENSIVE_SECONDS", 0.0)
        assert_same(many_nine_shares(candidates, 2), alone)

    def test_no_boards(self) -> None:
        assert many_nine_shares(np.zeros((0, 81), np.uint64), 2).shape == (0, 81, 9)
