"""Placements, and pairs of them, that leave exactly one solution, compared to full lists."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import gpusudoku
from gpusudoku import Board
from gpusudoku.board.board import digit_masks
from gpusudoku.enumeration import share_queries
from gpusudoku.errors import TooExpensive
from tests.boards import LINE_4X4, PUZZLE, puzzle
from tests.enumeration.short import naive_solutions

SMALL = [LINE_4X4, "12..34......2...", "1....2" + "." * 10, "." * 16, "11" + "." * 14]
NINE = puzzle("3x3", 29, 3)


def by_hand(board: Board) -> tuple[list[list[int]], list[list[int]]]:
    """Find the placements and the pairs naively, by the solutions that have them."""
    having: dict[tuple[int, int], set[int]] = {}
    for number, row in enumerate(naive_solutions(board).tolist()):
        for cell in np.flatnonzero(board.cells == 0).tolist():
            having.setdefault((cell, row[cell]), set()).add(number)
    single = sorted(list(placement) for placement, numbers in having.items() if len(numbers) == 1)
    frequent = sorted(placement for placement, numbers in having.items() if len(numbers) > 1)
    pairs = [
        [*placement_a, *placement_b]
        for placement_a, placement_b in combinations(frequent, 2)
        if placement_a[0] < placement_b[0] and len(having[placement_a] & having[placement_b]) == 1
    ]
    return single, pairs


def assert_unique(board: Board, **options: str) -> None:
    all_solutions = gpusudoku.solutions(board, device="cpu", **options)
    singles = all_solutions.unique_placements()
    pairs = all_solutions.unique_pairs()
    assert (singles.dtype, pairs.dtype) == (np.int64, np.int64)
    assert (singles.shape[1], pairs.shape[1]) == (2, 4)
    assert (singles.tolist(), pairs.tolist()) == by_hand(board)


@pytest.fixture(params=["from the list", "from the shares of boards"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param != "from the list":
        monkeypatch.setattr(share_queries, "LISTED", -1)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("text", SMALL)
def test_small_boards(text: str) -> None:
    assert_unique(gpusudoku.parse(text))


@pytest.mark.usefixtures("way")
def test_boards_of_nine_digits() -> None:
    assert 50 < len(naive_solutions(NINE)) < 5000
    assert_unique(NINE)
    assert_unique(gpusudoku.parse(PUZZLE))  # with one solution: every digit of it is one


@pytest.mark.usefixtures("way")
def test_given_candidates() -> None:
    rows = naive_solutions(NINE)
    cell = int(np.flatnonzero((rows[0] != rows).any(axis=0))[0])
    candidates = np.where(NINE.cells > 0, digit_masks(NINE.cells), NINE.candidates)
    candidates[cell] &= ~digit_masks(rows[0])[cell]
    board = Board(NINE.cells, candidates=candidates)
    assert 1 < len(naive_solutions(board)) < len(rows)
    assert_unique(board)


def with_placements(board: Board, placements: list[int]) -> Board:
    cells = board.cells.copy()
    cells[placements[::2]] = placements[1::2]
    return Board(cells, board.geometry)


@pytest.mark.usefixtures("way")
def test_thousands_of_solutions() -> None:
    """Each listed placement turns a puzzle that lacks clues into a puzzle again."""
    board = puzzle("3x3", 25, 2)
    all_solutions = gpusudoku.solutions(board, device="cpu")
    assert all_solutions.count > 1000
    singles = all_solutions.unique_placements().tolist()
    pairs = all_solutions.unique_pairs().tolist()
    assert singles
    assert pairs
    for placements in [*singles, *pairs]:
        assert gpusudoku.count(with_placements(board, placements)).count == 1
    for cell, digit, other_cell, other_digit in pairs:
        assert [cell, digit] not in singles
        assert [other_cell, other_digit] not in singles
        assert cell < other_cell


def test_too_many_to_list() -> None:
    board = puzzle("3x3", 22, 66)
    all_solutions = gpusudoku.solutions(board, device="cpu")
    assert all_solutions.count > share_queries.LISTED
    assert all_solutions.unique_placements().shape == (0, 2)
    [pair] = all_solutions.unique_pairs().tolist()
    assert gpusudoku.count(with_placements(board, pair)).count == 1


def test_two_clues_are_too_few_for_a_nearly_empty_board() -> None:
    assert gpusudoku.solutions(puzzle("3x3", 14, 0), device="cpu").unique_pairs().shape == (0, 4)


def test_another_shape_may_be_too_expensive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(share_queries, "LISTED", 0)
    board = puzzle("2x3", 9, 0)
    assert_unique(board)
    monkeypatch.setattr(share_queries, "COUNTED_SECONDS", 0)
    all_solutions = gpusudoku.solutions(board, device="cpu")
    with pytest.raises(TooExpensive, match=r"this needs the shares of \d+ boards"):
        all_solutions.unique_pairs()
