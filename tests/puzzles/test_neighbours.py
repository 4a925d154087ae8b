"""Neighbours of a puzzle, compared to brute force: each once, in a fixed order."""

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


def puzzle(shape: str, extra: int, seed: int) -> Board:
    """Return a minimal puzzle with some more clues."""
    geometry = Geometry.parse(shape)
    grid = Board(full_grid(geometry, seed), geometry)
    cells = gpusudoku.minimise(grid, seed=seed).board.cells.copy()
    extra_cells = np.random.default_rng(seed).permutation(np.flatnonzero(cells == 0))[:extra]
    cells[extra_cells] = grid.cells[extra_cells]
    return Board(cells, geometry)


def all_changes(board: Board, remove: int, add: int) -> list[Board]:
    """Return all boards with ``remove`` clues fewer and ``add`` other ones, unique or not."""
    given_masks = board.given_candidates
    boards = []
    for removed in combinations(np.flatnonzero(board.cells).tolist(), remove):
        remaining = board.cells.copy()
        masks = None
        remaining[[*removed]] = 0
        if given_masks is not None:
            masks = np.where(board.cells > 0, board.geometry.all_digits, given_masks)
        places = [
            (cell, digit)
            for cell in np.flatnonzero(remaining == 0).tolist()
            for digit in range(1, board.n + 1)
            if board.cells[cell] != digit and (masks is None or int(masks[cell]) >> digit - 1 & 1)
        ]
        for placements in combinations(places, add):
            if len({cell for cell, _ in placements}) == add:
                cells = remaining.copy()
                for cell, digit in placements:
                    cells[cell] = digit
                boards.append(Board(cells, board.geometry, candidates=masks))
    return boards


def by_brute_force(board: Board, remove: int, add: int) -> list[Board]:
    boards = all_changes(board, remove, add)
    solution_counts = counts(boards) if boards else []
    return [
        candidate for candidate, number in zip(boards, solution_counts, strict=True) if number == 1
    ]


@pytest.mark.parametrize(("remove", "add"), WAYS)
@pytest.mark.parametrize(("shape", "extra"), [("2x2", 0), ("2x2", 3)])
def test_all_of_small_boards(shape: str, extra: int, remove: int, add: int) -> None:
    for seed in range(2):
        board = puzzle(shape, extra, seed)
        puzzles = [*neighbours(board, remove, add, jobs=1)]
        assert puzzles == by_brute_force(board, remove, add)
        assert len({*puzzles}) == len(puzzles)
        assert board not in puzzles


@pytest.mark.parametrize(("remove", "add"), [(0, 1), (0, 2), (1, 0), (1, 1), (2, 0), (2, 1)])
def test_all_of_a_larger_board(remove: int, add: int) -> None:
    board = puzzle("2x3", 2, 1)
    assert [*neighbours(board, remove, add)] == by_brute_force(board, remove, add)


@pytest.mark.parametrize(("remove", "add"), [(3, 1), (1, 3), (0, 3)])
def test_more_clues(remove: int, add: int) -> None:
    board = puzzle("2x2", 0, 3)
    assert [*neighbours(board, remove, add)] == by_brute_force(board, remove, add)


@pytest.mark.parametrize("text", [HARD, str(puzzle("3x3", 0, 1)), str(puzzle("3x3", 12, 2))])
def test_a_nine_by_nine_puzzle_that_exchanges_a_clue(text: str) -> None:
    """Boards without conflicts are counted."""
    board = gpusudoku.parse(text)
    puzzles = [*neighbours(text)]
    boards = [neighbour for neighbour in all_changes(board, 1, 1) if not neighbour.conflicts]
    numbers = counts(boards)
    assert puzzles == [
        neighbour for neighbour, number in zip(boards, numbers, strict=True) if number == 1
    ]
    for neighbour in puzzles[::40]:
        assert board in neighbours(neighbour)


@pytest.mark.parametrize(("remove", "add"), [(1, 2), (2, 1), (2, 0), (0, 2)])
def test_some_of_a_nine_by_nine_puzzle(remove: int, add: int) -> None:
    board = puzzle("3x3", 1, 5)
    rng = np.random.default_rng(1)
    puzzles = {*neighbours(board, remove, add)}
    sample = list(islice(puzzles, 300))
    assert {*counts(sample)} <= {1}
    clues = np.flatnonzero(board.cells)
    random_boards = []
    for _ in range(1500):
        cells = board.cells.copy()
        removed = rng.permutation(clues)[:remove]
        cells[removed] = 0
        new_cells = rng.permutation(np.flatnonzero(cells == 0))[:add]
        cells[new_cells] = rng.integers(1, 10, add)
        if (cells[removed] != board.cells[removed]).all():
            random_boards.append(Board(cells))
    for random_board, number in zip(random_boards, counts(random_boards), strict=True):
        assert (number == 1) == (random_board in puzzles)


def test_boards_of_more_digits() -> None:
    board = puzzle("3x4", 10, 1)
    puzzles = [*islice(neighbours(board), 400)]
    assert {*counts(puzzles)} == {1}
    assert len({*puzzles}) == 400
    assert all((neighbour.cells != board.cells).sum() <= 2 for neighbour in puzzles)


def test_transformed_puzzles_have_transformed_neighbours() -> None:
    rng = np.random.default_rng(2)
    for shape, remove, add in (("2x3", 1, 2), ("3x3", 1, 1), ("2x2", 2, 2)):
        board = puzzle(shape, 0, 4)
        digits = np.append(0, 1 + rng.permutation(board.n)).astype(np.uint8)

        def transform(original: Board, digits: NDArray[np.uint8] = digits) -> Board:
            return Board(digits[original.cells][::-1], original.geometry)

        transformed = {*map(transform, neighbours(board, remove, add))}
        assert transformed == {*neighbours(transform(board), remove, add)}


def test_minimal_ones_are_those_without_redundant_clues() -> None:
    for shape, extra, remove, add in (("2x2", 1, 1, 1), ("2x3", 0, 1, 1), ("3x3", 0, 1, 1)):
        board = puzzle(shape, extra, 6)
        expected = [
            neighbour for neighbour in neighbours(board, remove, add) if is_minimal([neighbour])
        ]
        assert [*neighbours(board, remove, add, minimal=True)] == expected
        assert expected


def test_given_candidates_stay() -> None:
    rng = np.random.default_rng(3)
    solution = full_grid(Geometry(2, 2), 3).ravel()
    board = puzzle("2x2", 2, 3)
    masks = rng.integers(0, 16, 16, np.uint64) | np.uint64(1) << (solution - 1).astype(np.uint64)
    board_with_candidates = Board(board.cells, candidates=masks)
    for remove, add in WAYS:
        puzzles = [*neighbours(board_with_candidates, remove, add)]
        assert puzzles == by_brute_force(board_with_candidates, remove, add)


def test_the_order_is_always_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not depend on threads, nor on the number of boards searched together."""
    board = puzzle("3x3", 2, 7)
    queries = [((1, 1), 10**6), ((2, 0), 10**6), ((0, 2), 10**6), ((1, 2), 3000)]
    expected = [
        [*islice(neighbours(board, *way, jobs=1), max_puzzles)] for way, max_puzzles in queries
    ]
    monkeypatch.setattr("gpusudoku.puzzles.neighbours.MAX_BOARDS", 90)
    monkeypatch.setattr("gpusudoku.puzzles.neighbours.MIN_BOARDS", 3)
    monkeypatch.setattr("gpusudoku.puzzles.neighbours.CALL_SECONDS", 0.0001)
    for jobs in (1, 3):
        actual = [
            [*islice(neighbours(board, *way, jobs=jobs), max_puzzles)]
            for way, max_puzzles in queries
        ]
        assert actual == expected


def test_compiled_and_plain_code_agree(monkeypatch: pytest.MonkeyPatch) -> None:
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
        (UNIQUE, (0, 0), "remove 0 and add 0: at least one of them must be above 0"),
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
    puzzles = neighbours(puzzle("3x3", 0, 0), 4, 6, cancel=token)
    next(puzzles)
    token.cancel()
    with pytest.raises(Cancelled):
        next(puzzles)
