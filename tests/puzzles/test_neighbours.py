"""Neighbours of a puzzle: those of brute force, each once, in one order."""

from __future__ import annotations

from itertools import combinations, islice

import numpy as np
import pytest
from numpy.typing import NDArray

import gpusudoku
from gpusudoku import Board, Cancelled, CancelToken, Geometry, InputError, neighbours
from tests.boards import LINE_4X4, NONE, UNIQUE, full_grid, run_uncompiled
from tests.puzzles.reference import counts, is_minimal
from tests.test_cancelling import moments

WAYS = [(n, m) for n in range(3) for m in range(3) if n + m]
"""Clues that go, and clues that come."""
HARD = "4.....8.5.3..........7......2.....6.....8.4......1.......6.3.7.5..2.....1.4......"
"""A puzzle of 17 clues."""


def puzzle(shape: str, more: int, seed: int) -> Board:
    """A minimal puzzle and some more clues."""
    geometry = Geometry.parse(shape)
    grid = Board(full_grid(geometry, seed), geometry)
    cells = gpusudoku.minimise(grid, seed=seed).board.cells.copy()
    others = np.random.default_rng(seed).permutation(np.flatnonzero(cells == 0))[:more]
    cells[others] = grid.cells[others]
    return Board(cells, geometry)


def changed(board: Board, remove: int, add: int) -> list[Board]:
    """All boards that lack some clues and have some others, with one solution or not."""
    given = board.given_candidates
    found = []
    for gone in combinations(np.flatnonzero(board.cells).tolist(), remove):
        left = board.cells.copy()
        masks = None
        left[[*gone]] = 0
        if given is not None:
            masks = np.where(board.cells > 0, board.geometry.all_digits, given)
        places = [
            (cell, digit)
            for cell in np.flatnonzero(left == 0).tolist()
            for digit in range(1, board.n + 1)
            if board.cells[cell] != digit and (masks is None or int(masks[cell]) >> digit - 1 & 1)
        ]
        for come in combinations(places, add):
            if len({cell for cell, _ in come}) == add:
                cells = left.copy()
                for cell, digit in come:
                    cells[cell] = digit
                found.append(Board(cells, board.geometry, candidates=masks))
    return found


def by_brute_force(board: Board, remove: int, add: int) -> list[Board]:
    boards = changed(board, remove, add)
    found = counts(boards) if boards else []
    return [each for each, number in zip(boards, found, strict=True) if number == 1]


@pytest.mark.parametrize(("remove", "add"), WAYS)
@pytest.mark.parametrize(("shape", "more"), [("2x2", 0), ("2x2", 3)])
def test_all_of_small_boards(shape: str, more: int, remove: int, add: int) -> None:
    for seed in range(2):
        board = puzzle(shape, more, seed)
        found = [*neighbours(board, remove, add, jobs=1)]
        assert found == by_brute_force(board, remove, add)
        assert len({*found}) == len(found)
        assert board not in found


@pytest.mark.parametrize(("remove", "add"), [(0, 1), (0, 2), (1, 0), (1, 1), (2, 0), (2, 1)])
def test_all_of_a_larger_board(remove: int, add: int) -> None:
    board = puzzle("2x3", 2, 1)
    assert [*neighbours(board, remove, add)] == by_brute_force(board, remove, add)


@pytest.mark.parametrize(("remove", "add"), [(3, 1), (1, 3), (0, 3)])
def test_more_clues(remove: int, add: int) -> None:
    board = puzzle("2x2", 0, 3)
    assert [*neighbours(board, remove, add)] == by_brute_force(board, remove, add)


@pytest.mark.parametrize("board", [HARD, str(puzzle("3x3", 0, 1)), str(puzzle("3x3", 12, 2))])
def test_a_nine_by_nine_puzzle_that_exchanges_a_clue(board: str) -> None:
    """Of the boards that are none, those that have a solution at all are counted."""
    given = gpusudoku.parse(board)
    found = [*neighbours(board)]
    boards = [each for each in changed(given, 1, 1) if not each.conflicts]
    numbers = counts(boards)
    assert found == [each for each, number in zip(boards, numbers, strict=True) if number == 1]
    for each in found[::40]:
        assert given in neighbours(each)


@pytest.mark.parametrize(("remove", "add"), [(1, 2), (2, 1), (2, 0), (0, 2)])
def test_some_of_a_nine_by_nine_puzzle(remove: int, add: int) -> None:
    board = puzzle("3x3", 1, 5)
    rng = np.random.default_rng(1)
    found = {*neighbours(board, remove, add)}
    some = list(islice(found, 300))
    assert {*counts(some)} <= {1}
    clues = np.flatnonzero(board.cells)
    others = []
    for _ in range(1500):
        cells = board.cells.copy()
        gone = rng.permutation(clues)[:remove]
        cells[gone] = 0
        come = rng.permutation(np.flatnonzero(cells == 0))[:add]
        cells[come] = rng.integers(1, 10, add)
        if (cells[gone] != board.cells[gone]).all():
            others.append(Board(cells))
    for each, number in zip(others, counts(others), strict=True):
        assert (number == 1) == (each in found)


def test_boards_of_more_digits() -> None:
    board = puzzle("3x4", 10, 1)
    found = [*islice(neighbours(board), 400)]
    assert {*counts(found)} == {1}
    assert len({*found}) == 400
    assert all((each.cells != board.cells).sum() <= 2 for each in found)


def test_turned_puzzles_with_other_digits_have_such_neighbours() -> None:
    rng = np.random.default_rng(2)
    for shape, remove, add in (("2x3", 1, 2), ("3x3", 1, 1), ("2x2", 2, 2)):
        board = puzzle(shape, 0, 4)
        digits = np.append(0, 1 + rng.permutation(board.n)).astype(np.uint8)

        def other(one: Board, digits: NDArray[np.uint8] = digits) -> Board:
            return Board(digits[one.cells][::-1], one.geometry)

        found = {*map(other, neighbours(board, remove, add))}
        assert found == {*neighbours(other(board), remove, add)}


def test_minimal_ones_are_those_without_redundant_clues() -> None:
    for shape, more, remove, add in (("2x2", 1, 1, 1), ("2x3", 0, 1, 1), ("3x3", 0, 1, 1)):
        board = puzzle(shape, more, 6)
        expected = [each for each in neighbours(board, remove, add) if is_minimal([each])]
        assert [*neighbours(board, remove, add, minimal=True)] == expected
        assert expected


def test_given_candidates_stay() -> None:
    rng = np.random.default_rng(3)
    solution = full_grid(Geometry(2, 2), 3).ravel()
    board = puzzle("2x2", 2, 3)
    masks = rng.integers(0, 16, 16, np.uint64) | np.uint64(1) << (solution - 1).astype(np.uint64)
    given = Board(board.cells, candidates=masks)
    for remove, add in WAYS:
        found = [*neighbours(given, remove, add)]
        assert found == by_brute_force(given, remove, add)


def test_the_order_is_always_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the threads, and the boards that are searched together."""
    board = puzzle("3x3", 2, 7)
    asked = [((1, 1), 10**6), ((2, 0), 10**6), ((0, 2), 10**6), ((1, 2), 3000)]
    expected = [[*islice(neighbours(board, *way, jobs=1), most)] for way, most in asked]
    monkeypatch.setattr("gpusudoku.puzzles.neighbours.MAX_BOARDS", 90)
    monkeypatch.setattr("gpusudoku.puzzles.neighbours.MIN_BOARDS", 3)
    monkeypatch.setattr("gpusudoku.puzzles.neighbours.CALL_SECONDS", 0.0001)
    for jobs in (1, 3):
        found = [[*islice(neighbours(board, *way, jobs=jobs), most)] for way, most in asked]
        assert found == expected


def test_it_is_what_python_makes_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    boards = [puzzle("2x2", 1, 8), puzzle("2x3", 3, 8)]
    expected = [[*neighbours(board, jobs=1)] for board in boards]
    run_uncompiled(monkeypatch)
    assert [[*neighbours(board, jobs=1)] for board in boards] == expected
    board = puzzle("1x4", 1, 0)
    for way in WAYS:
        assert [*neighbours(board, *way, jobs=1)] == by_brute_force(board, *way)


@pytest.mark.usefixtures("uncompiled")
def test_small_boards() -> None:
    assert [*neighbours("1")] == []
    assert [*map(str, neighbours("1", 1, 0))] == ["."]
    assert [*map(str, neighbours(".", 0, 1))] == ["1"]
    assert [*neighbours(".", 1, 1)] == []
    assert [*neighbours("1", 0, 1)] == []


@pytest.mark.usefixtures("uncompiled")
def test_errors() -> None:
    """They are raised at once, not when the first puzzle is asked for."""
    for board, change, message in (
        (LINE_4X4, (1, 1), "the board has several solutions, expected exactly one"),
        (NONE, (1, 1), "the board has no solution, expected exactly one"),
        (UNIQUE, (-1, 1), "remove -1: expected an integer from 0 to 4096"),
        (UNIQUE, (1 << 63, 1), f"remove {1 << 63}: expected an integer from 0 to 4096"),
        (UNIQUE, (1, "2"), "add '2': expected an integer from 0 to 4096"),
        (UNIQUE, (True, 1), "remove True: expected an integer from 0 to 4096"),
        (UNIQUE, (0, 0), "remove 0 and add 0: expected some clues to go or to come"),
    ):
        with pytest.raises(InputError) as caught:
            neighbours(board, *change, jobs=1)  # type: ignore[arg-type]
        assert str(caught.value) == message


@pytest.mark.usefixtures("uncompiled")
def test_a_token_stops_it_at_any_moment() -> None:
    board = puzzle("2x2", 0, 0)
    cancelled = 0
    expected = [*neighbours(board, jobs=1)]
    for token in moments():
        try:
            assert [*neighbours(board, jobs=1, cancel=token)] == expected
        except Cancelled:
            cancelled += 1
    assert cancelled > 3


def test_a_token_stops_it_where_it_would_take_for_ever() -> None:
    token = CancelToken()
    found = neighbours(puzzle("3x3", 0, 0), 4, 6, cancel=token)
    next(found)
    token.cancel()
    with pytest.raises(Cancelled):
        next(found)
