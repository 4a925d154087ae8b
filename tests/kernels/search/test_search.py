"""Counts of the search: equal to naive counts and published totals, also of wide boards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.counting import count
from gpusudoku.engines import cpu as cpu_engine
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.formats import parse
from gpusudoku.kernels.search.shape import Shape
from tests import naive
from tests.boards import (
    CLUES,
    full_grid,
    pattern,
    puzzle,
    run_uncompiled,
    search_boards,
    with_wrong_clue,
)


def counted(board: Board, **options: Any) -> int:
    result = count(board, device="cpu", method="search", **{"jobs": 1, **options})
    assert result.exact == (options.get("limit") is None or result.count < options["limit"])
    return result.count


@pytest.mark.parametrize(
    ("shape", "nodes"), [("2x2", 238), ("2x3", 2052), ("3x3", 190), ("2x5", 24), ("4x4", 12)]
)
def test_counts_equal_naive_counts(shape: str, nodes: int) -> None:
    """Boards with solutions, boards with a wrong clue, most of which have none, and full ones.

    The number of nodes tells whether cells are chosen, and techniques applied, as before.
    """
    visited_nodes = 0
    for seed in range(4 if shape in ("2x5", "4x4") else 12):
        board = puzzle(shape, CLUES[shape], seed)
        for tried_board in board, with_wrong_clue(board, seed):
            result = count(tried_board, device="cpu", method="search", jobs=1)
            assert result.count == naive.count(tried_board), tried_board
            visited_nodes += result.stats.nodes
    assert visited_nodes == nodes
    full = puzzle(shape, board.geometry.cells, 1)
    assert (counted(full), counted(with_wrong_clue(full, 2))) == (1, 0)


@pytest.mark.parametrize(("shape", "clues", "nodes"), [("2x5", 40, 330), ("4x4", 120, 22641)])
def test_larger_trees_equal_the_contraction(shape: str, clues: int, nodes: int) -> None:
    board = puzzle(shape, clues, 7)
    number = count(board, device="cpu", method="search", jobs=1).count
    assert number == count(board, device="cpu", method="contraction").count > 10
    # Without the quick search, whose lanes leave boards behind: how many depends on the processor.
    outcome = search_boards([board], CpuEngine(1))
    assert (outcome.counts, outcome.stats.nodes) == ([number], nodes)


SMALL = {"1x1": 0, "2x1": 1, "1x3": 3, "1x4": 3, "2x2": 5, "3x2": 12, "3x3": 44}


@pytest.mark.parametrize(
    "propagate",
    ["none", "naked-single", "singles", "locked", "naked-pair", "hidden-pair", "all"],
)
@pytest.mark.parametrize("strategy", ["first", "min"])
def test_strategies_and_techniques(
    strategy: str, propagate: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On boards of all shapes, uncompiled; what is widened first matters for none."""
    run_uncompiled(monkeypatch)
    how: dict[str, Any] = {"strategy": strategy, "propagate": propagate}
    for shape, clues in SMALL.items():
        for seed in range(2):
            monkeypatch.setattr(cpu_engine, "WIDTH", 1 + 4 * seed)
            board = puzzle(shape, clues, seed)
            assert counted(board, **how) == naive.count(board)
            wrong = with_wrong_clue(puzzle(shape, clues + 4, seed), seed) if clues else board
            assert counted(wrong, **how) == naive.count(wrong)
    for text in ["11..............", "1...1...........", "1....1.........."]:
        assert counted(parse(text), **how) == 0


@pytest.mark.parametrize(
    ("jobs", "cutoff", "limit"),
    [(1, None, None), (1, 50, 1), (1, 1e30, 7), (2, 1, None), (2, None, 7), (2, 1e30, 10**30),
     (3, 1, 1), (3, 1e30, None)],
)  # fmt: skip
def test_jobs_cutoffs_and_limits(jobs: int, cutoff: float | None, limit: int | None) -> None:
    for seed in range(4):
        board = puzzle("2x3", 8, seed)
        expected = naive.count(board)
        solution_count = counted(board, jobs=jobs, cutoff=cutoff, limit=limit)
        assert solution_count == min(expected, limit or expected)


@pytest.mark.parametrize(
    ("shape", "total"),
    [("2x2", 288), pytest.param("2x3", 28200960, marks=pytest.mark.slow)],
)
def test_published_totals(shape: str, total: int) -> None:
    assert counted(Board.empty(Geometry.parse(shape)), jobs=2) == total


def test_several_boards_at_once_keep_their_counts() -> None:
    boards = [puzzle("2x3", clues, seed) for seed, clues in enumerate([8, 36, 12, 9, 20, 8])]
    boards[3] = with_wrong_clue(puzzle("2x3", 36, 3), 3)
    for jobs in [1, 2]:
        counts = search_boards(boards, CpuEngine(jobs)).counts
        assert counts == [naive.count(board) for board in boards]
        assert counts[3] == 0


@pytest.mark.parametrize(("shape", "clues"), [("2x3", 8), ("3x3", 27)])
def test_a_search_out_of_room_for_solutions_goes_on_where_it_stopped(
    shape: str, clues: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = puzzle(shape, clues, 1)
    monkeypatch.setattr(cpu_engine, "ROOM_BYTES", 37 * board.geometry.cells)
    written_solutions: list[tuple[int, ...]] = []
    blocks = []

    def on_solutions(block: np.ndarray, roots: np.ndarray) -> None:
        blocks.append(len(block))
        written_solutions.extend(map(tuple, block.tolist()))
        assert roots.tolist() == [0] * len(block)

    counts = search_boards([board], CpuEngine(1), on_solutions=on_solutions).counts
    assert max(blocks) <= 37 < max(blocks) + Shape(3, 3).lanes
    assert counts == [len(written_solutions)]
    assert sorted(written_solutions) == list(naive.solutions(board))


def swappable(row: int, column: int) -> list[tuple[int, int]]:
    """Find four cells of the 64-digit pattern with two digits, 32 apart, that may be swapped."""
    corners = [(row, column), (row + 4, column), (row, column + 32), (row + 4, column + 32)]
    a, b, c, d = (int(pattern(Geometry(8, 8))[corner]) for corner in corners)
    assert a == d != b == c
    return corners


@pytest.mark.parametrize(
    "columns",
    [
        {}, {0: [31]}, {0: [31, 0, 7]},  # in rows 1 and 5 the digit 64 is at columns 32 and 64
        {0: [31, 0, 8], 9: [1, 17, 30], 18: [5, 6], 59: [3, 9, 2, 28]},  # share no column
    ],
    ids=len,
)  # fmt: skip
def test_rectangles_of_sixty_four_digits(columns: dict[int, list[int]]) -> None:
    """Boards that use all bits of the masks, with counts known by construction."""
    grid = pattern(Geometry(8, 8))
    corners = [(row, column) for row, row_columns in columns.items() for column in row_columns]
    for cell in [cell for corner in corners for cell in swappable(*corner)] or [(63, 63)]:
        grid[cell] = 0
    board = Board(grid, Geometry(8, 8))
    assert counted(board, jobs=2) == 2 ** len(corners)
    if len(corners) > 10:
        result = count(board, device="cpu", jobs=2, limit=1000)
        assert (result.count, result.exact) == (1000, False)
    else:
        assert naive.count(board) == 2 ** len(corners)


def test_shuffled_boards_of_more_than_thirty_two_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A digit that is left out, the highest, has one place in every unit."""
    run_uncompiled(monkeypatch)
    for geometry in Geometry(6, 6), Geometry(3, 11), Geometry(11, 3), Geometry(8, 8):
        grid = full_grid(geometry, seed=5)
        grid[grid == geometry.n] = 0
        assert counted(Board(grid, geometry)) == 1
        grid[0, 0] = grid[0, 0] % geometry.n + 1  # another digit of its row
        assert counted(Board(grid, geometry)) == 0
