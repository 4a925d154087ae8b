"""Time limits: the result of an ended count is right, and other boards are not affected."""

from __future__ import annotations

import pytest

from gpusudoku import (
    Board,
    Geometry,
    collection,
    count,
    count_many,
    cross_check,
    solve,
    solve_many,
)
from gpusudoku.options import METHODS
from tests.boards import puzzle

MOMENT = 1e-6
"""A time limit that has passed before any work that it can end."""
ENDLESS = Board.empty(Geometry(4, 4))
UNSOLVED = Board.empty(Geometry(5, 5))
"""A board of which the first moment of a search finds no solution."""
QUICK = [puzzle("4x4", 200, seed) for seed in range(20)]
MANY = collection.load("2f")
TOTAL = 48_794_239
"""A board, and the number of its solutions."""


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_endless_count_ends(method: str, jobs: int) -> None:
    for seconds in (MOMENT, 0.05):
        result = count(ENDLESS, device="cpu", jobs=jobs, method=method, seconds=seconds)
        assert (result.exact, result.ended_after) == (False, seconds)
        assert str(result) == f"{result.count}+"
        assert result.unique is (None if result.count < 2 else False)


@pytest.mark.parametrize("method", METHODS)
def test_a_count_is_exact_or_a_lower_bound(method: str) -> None:
    for seconds in (MOMENT, 0.01, 0.1, 1000.0 if method != "search" else 0.2):
        result = count(MANY, device="cpu", method=method, seconds=seconds)
        assert result.count == TOTAL if result.exact else result.count <= TOTAL
        assert result.exact is (result.ended_after is None)
    assert count(QUICK[0], device="cpu", method=method, seconds=1000).exact


def test_a_contraction_that_is_ended_has_a_lower_bound() -> None:
    """The board has more solutions than a search can visit."""
    for seconds in (0.05, 0.2, 0.5):
        result = count("." * 81, device="cpu", method="contraction", seconds=seconds)
        total = 6_670_903_752_021_072_936_960
        assert result.count == total if result.exact else result.count <= total


def test_a_frontier_is_ended() -> None:
    """It would grow until memory is exhausted."""
    result = count(ENDLESS, device="cpu", cutoff=1, seconds=0.05)
    assert not result.exact


@pytest.mark.parametrize("together_seconds", [MOMENT, 1.0])
def test_other_boards_of_a_batch_are_exact(
    together_seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit may end a block, or a board with more solutions than a block counts."""
    monkeypatch.setattr("gpusudoku.planning.count.TOGETHER_SECONDS", together_seconds)
    boards = [*QUICK, ENDLESS, *QUICK, ENDLESS]
    exact = [result.count for result in count_many(QUICK, device="cpu")]
    for limit in (None, 20_000, 3):
        results = list(count_many(boards, device="cpu", jobs=2, seconds=0.05, limit=limit))
        numbers = [number if limit is None else min(number, limit) for number in exact]
        assert [result.count for result in results[:20] + results[21:41]] == numbers * 2
        assert not results[20].exact
        assert not results[41].exact
        assert [result.board for result in results] == boards


def test_other_boards_of_a_batch_are_solved() -> None:
    quick = [puzzle("5x5", 560, seed) for seed in range(3)]
    boards = [UNSOLVED, *quick, UNSOLVED, UNSOLVED, quick[0]]
    results = list(solve_many(boards, device="cpu", jobs=2, seconds=MOMENT))
    assert [bool(result) for result in results] == [False, True, True, True, False, False, True]
    assert [result.unique for result in results if not result] == [None] * 3
    unlimited = solve_many(quick, device="cpu")
    assert [result.unique for result in unlimited] == [result.unique for result in results[1:4]]


def test_no_solution_is_reported_only_for_boards_without_one() -> None:
    wrong = Board([1, 1] + [0] * 254, Geometry(4, 4))
    contradictory, undecided = (solve(board, seconds=MOMENT) for board in (wrong, UNSOLVED))
    assert (contradictory.solvable, contradictory.unique, str(contradictory)) == (
        False,
        False,
        "no solution",
    )
    assert (undecided.solvable, undecided.unique, bool(undecided)) == (None, None, False)
    assert "no solution" not in str(undecided)


def test_a_cross_check_counts_up_to_a_lower_bound() -> None:
    result = count(ENDLESS, device="cpu", method="search", seconds=MOMENT)
    assert result.count > 0
    assert result.method == "search"
    assert cross_check(result, device="cpu", seconds=MOMENT, limit=10**9) is not None
    assert cross_check(count(UNSOLVED, seconds=MOMENT), device="cpu") is None


def test_boards_of_a_batch_are_searched_as_single_ones_are() -> None:
    """This happens if a contraction does not end in time."""
    boards = ["1" + "." * 80, "." * 80 + "9"]
    for result in count_many(boards, device="cpu", seconds=0.5):
        assert result.exact or result.count > 1000
