"""All minimal puzzles within a puzzle, compared to brute force: each once, in a fixed order."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import gpusudoku
from gpusudoku import Board, Cancelled, CancelToken, Geometry, InputError, minimal_puzzles
from gpusudoku.engines.cpu import CpuEngine
from tests import naive
from tests.boards import LINE_4X4, UNIQUE, full_grid
from tests.test_cancelling import moments

ONE = CpuEngine(1)


def full(shape: str, seed: int) -> Board:
    geometry = Geometry.parse(shape)
    return Board(full_grid(geometry, seed), geometry)


def puzzle(shape: str, extra: int, seed: int) -> Board:
    """Return a minimal puzzle with some more clues."""
    grid = full(shape, seed)
    cells = gpusudoku.minimise(grid, seed=seed).board.cells.copy()
    more_cells = np.random.default_rng(seed).permutation(np.flatnonzero(cells == 0))[:extra]
    cells[more_cells] = grid.cells[more_cells]
    return Board(cells, grid.geometry)


def clues_of(board: Board) -> list[int]:
    cells: list[int] = np.flatnonzero(board.cells).tolist()
    return cells


def without(board: Board, cell: int) -> Board:
    cells = board.cells.copy()
    cells[cell] = 0
    return Board(cells, board.geometry)


def completions(board: Board) -> NDArray[np.uint8]:
    """Return all grids that agree with the given candidates of empty cells; clues are ignored."""
    masks = board.given_candidates
    if masks is not None:
        masks = np.where(board.cells > 0, board.geometry.all_digits, masks)
    empty_board = Board(np.zeros(board.geometry.cells, np.uint8), board.geometry, candidates=masks)
    return np.array([*naive.solutions(empty_board)], np.uint8)


def by_brute_force(board: Board, keep: list[int], grids: NDArray[np.uint8]) -> set[tuple[int, ...]]:
    """Return the minimal puzzles among all subsets of the clues; ``grids`` are all completions."""
    clues = [cell for cell in clues_of(board) if cell not in keep]
    solution = next(g for g in grids if (g == board.cells)[board.cells > 0].all())
    grids = grids[(grids == solution)[:, keep].all(axis=1) & (grids != solution).any(axis=1)]
    differing = (grids != solution)[:, clues] @ (1 << np.arange(len(clues)))
    subsets = np.arange(1 << len(clues))
    valid = np.ones(len(subsets), bool)
    for difference in np.unique(differing).tolist():
        valid &= subsets & difference != 0
    minimal = valid.copy()
    for bit in range(len(clues)):
        minimal &= (subsets >> bit & 1 == 0) | ~valid[subsets & ~(1 << bit)]
    puzzles = set()
    for subset in subsets[minimal].tolist():
        removed_cells = [cell for bit, cell in enumerate(clues) if not subset >> bit & 1]
        cells = board.cells.copy()
        cells[removed_cells] = 0
        puzzles.add(tuple(cells.tolist()))
    return puzzles


def list_puzzles(board: Board, **options: Any) -> list[tuple[int, ...]]:
    return [tuple(puzzle.cells.tolist()) for puzzle in minimal_puzzles(board, **options)]


@pytest.mark.parametrize(("shape", "seed"), [("2x2", 0), ("2x2", 1), ("2x2", 2), ("1x4", 0)])
def test_a_full_grid_against_all_subsets_of_its_clues(shape: str, seed: int) -> None:
    board = full(shape, seed)
    grids = completions(board)
    for keep in ([], [3], [0, 5, 10], [1, 2, 4, 7, 11], [*range(16)]):
        puzzles = list_puzzles(board, keep=keep, jobs=1)
        assert len(puzzles) == len({*puzzles})
        assert {*puzzles} == by_brute_force(board, keep, grids)


@pytest.mark.parametrize("small_limits", [False, True])
def test_a_larger_puzzle_against_all_subsets_of_its_clues(
    small_limits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small limits lead to few nodes at a time, and few known edges."""
    if small_limits:
        monkeypatch.setattr("gpusudoku.puzzles.all_minimal.MAX_NODES_TOGETHER", 3)
        monkeypatch.setattr("gpusudoku.puzzles.all_minimal.MAX_EDGES", 4)
        monkeypatch.setattr("gpusudoku.puzzles.all_minimal.SEARCH_BOARDS", 5)
    for seed, keep in enumerate(([], [0, 1, 2, 3], [])):
        board = puzzle("2x3", 5, seed)
        keep = [cell for cell in keep if board.cells[cell]]
        puzzles = list_puzzles(board, keep=keep, jobs=1)
        assert len(puzzles) == len({*puzzles})
        assert {*puzzles} == by_removing(board, keep)


def by_removing(board: Board, keep: list[int]) -> set[tuple[int, ...]]:
    """Return the minimal puzzles of a board: remove clues in all ways that leave one solution."""
    pending = [board]
    visited = {board}
    puzzles = set()
    while pending:
        board_with_clues = pending.pop()
        smaller_boards = [
            without(board_with_clues, cell)
            for cell in clues_of(board_with_clues)
            if cell not in keep
        ]
        numbers = (
            gpusudoku.count_many(smaller_boards, limit=2, engine=ONE).numbers()
            if smaller_boards
            else []
        )
        unique = [
            smaller_board
            for smaller_board, number in zip(smaller_boards, numbers, strict=True)
            if number == 1
        ]
        if not unique:
            puzzles.add(tuple(board_with_clues.cells.tolist()))
        new = [smaller_board for smaller_board in unique if smaller_board not in visited]
        visited.update(new)
        pending += new
    return puzzles


def test_those_of_a_nine_by_nine_puzzle_are_unique_and_minimal() -> None:
    board = puzzle("3x3", 6, 4)
    puzzles = [*minimal_puzzles(board)]
    assert len({*puzzles}) == len(puzzles) > 20
    assert all(
        ((minimal_puzzle.cells == 0) | (minimal_puzzle.cells == board.cells)).all()
        for minimal_puzzle in puzzles
    )
    boards_without_a_clue = [
        without(minimal_puzzle, cell)
        for minimal_puzzle in puzzles
        for cell in clues_of(minimal_puzzle)
    ]
    assert (gpusudoku.count_many(puzzles, limit=2, device="cpu").numbers() == 1).all()
    assert (gpusudoku.count_many(boards_without_a_clue, limit=2, device="cpu").numbers() == 2).all()
    # A walk that removes clues at random ends at one of them.
    for seed in range(5):
        assert gpusudoku.minimise(board, seed=seed).board in puzzles


def test_the_order_is_always_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not depend on threads, nor on shared searches."""
    board = puzzle("3x3", 7, 2)
    expected = list_puzzles(board, jobs=1)
    assert len(expected) > 30
    monkeypatch.setattr("gpusudoku.puzzles.all_minimal.SHARED_SECONDS", 0.0)
    for jobs in (1, 3, 3):
        assert list_puzzles(board, jobs=jobs) == expected


def test_a_full_grid_gives_the_first_ones_soon() -> None:
    grid = full("3x3", 5)
    puzzles = [*islice(minimal_puzzles(grid, keep=[0, 40, 80], jobs=1), 20)]
    assert len({*puzzles}) == 20
    for minimal_puzzle in puzzles:
        assert minimal_puzzle.cells[[0, 40, 80]].all()
        boards_without_a_clue = [
            without(minimal_puzzle, cell)
            for cell in clues_of(minimal_puzzle)
            if cell not in (0, 40, 80)
        ]
        assert (
            gpusudoku.count_many(boards_without_a_clue, limit=2, engine=ONE).numbers() == 2
        ).all()


def test_given_candidates_stay() -> None:
    """But a cell whose clue is removed may have any digit."""
    masks = np.full(16, 15, np.uint64)
    masks[[3, 12, 14]] = 0b1000, 0b1100, 0b0111
    cells = full("2x2", 3).cells.copy()
    masks[[3, 12, 14]] |= np.uint64(1) << (cells[[3, 12, 14]].astype(np.uint64) - np.uint64(1))
    cells[[3, 12, 14]] = 0
    board = Board(cells, candidates=masks)
    grids = completions(board)
    for keep in ([], [0, 6]):
        puzzles = [*minimal_puzzles(board, keep=keep, jobs=1)]
        expected = by_brute_force(board, keep, grids)
        assert {tuple(minimal_puzzle.cells.tolist()) for minimal_puzzle in puzzles} == expected
        for minimal_puzzle in puzzles:
            given_masks = minimal_puzzle.given_candidates
            assert given_masks is not None
            assert given_masks[[3, 12, 14]].tolist() == masks[[3, 12, 14]].tolist()
            assert gpusudoku.count(minimal_puzzle, engine=ONE) == 1
            assert all(
                given_masks[cell] == 15
                for cell in np.flatnonzero(cells)
                if not minimal_puzzle.cells[cell]
            )


@pytest.mark.usefixtures("uncompiled")
def test_small_and_minimal_boards() -> None:
    assert [str(minimal_puzzle) for minimal_puzzle in minimal_puzzles("1", jobs=1)] == ["."]
    assert [str(minimal_puzzle) for minimal_puzzle in minimal_puzzles("1", keep=[0], jobs=1)] == [
        "1"
    ]
    minimal = gpusudoku.minimise(full("2x2", 0), seed=0).board
    assert [*minimal_puzzles(minimal, jobs=1)] == [minimal]


@pytest.mark.usefixtures("uncompiled")
def test_errors() -> None:
    """They are raised at once, not when the first puzzle is asked for."""
    board: Any
    for board, keep, message in (
        (LINE_4X4, [], "the board has several solutions, expected exactly one"),
        ("11" + "." * 14, [], "the board has no solution, expected exactly one"),
        (UNIQUE, [16], "keep 16: expected cells from 0 to 15"),
        (UNIQUE, [-1], "keep -1: expected cells from 0 to 15"),
        (UNIQUE, ["3"], "keep '3': expected cells from 0 to 15"),
        (UNIQUE, "r1c1 r4c5", "keep 'r4c5': expected cells from r1c1 to r4c4"),
        (UNIQUE, "x..", "keep 'x..': expected cells such as r1c1,r5c5, or a pattern of 16 cells"),
    ):
        with pytest.raises(InputError) as caught:
            minimal_puzzles(board, keep=keep, jobs=1)
        assert str(caught.value) == message


@pytest.mark.usefixtures("uncompiled")
def test_a_token_stops_it_at_any_moment() -> None:
    board = puzzle("2x2", 4, 0)
    cancelled = 0
    expected = list_puzzles(board, jobs=1)
    for token in moments():
        try:
            assert list_puzzles(board, jobs=1, cancel=token) == expected
        except Cancelled:
            cancelled += 1
    assert cancelled > 3


def test_a_token_stops_it_where_it_would_take_for_ever() -> None:
    token = CancelToken()
    puzzles = minimal_puzzles(full("3x3", 0), cancel=token)
    next(puzzles)
    token.cancel()
    with pytest.raises(Cancelled):
        next(puzzles)
