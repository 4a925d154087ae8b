"""Counts of the compiled search: equal to the naive oracle's, published totals, wide boards."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.counting import count
from gpusudoku.engines import cpu as cpu_engine
from gpusudoku.engines.cpu import CpuEngine, SearchWorker
from gpusudoku.formats import parse
from gpusudoku.jobs.job import Job
from gpusudoku.kernels.lanes import LANES
from gpusudoku.kernels.search.arguments import NODES
from gpusudoku.kernels.search.branch import build_choose
from gpusudoku.kernels.search.settings import MIN, OPEN
from gpusudoku.kernels.search.singles import build_survey
from gpusudoku.options import Options
from gpusudoku.search.frontier import Frontier
from gpusudoku.simplifying import simplify
from tests import naive
from tests.boards import (
    CLUES,
    SHAPES,
    as_it_is,
    full_grid,
    layout_of,
    pattern,
    puzzle,
    run_uncompiled,
    searched,
    spoilt,
    unpacked,
)

OTHERS = [("min", "none"), ("min", "all"), ("first", "singles"), ("first", "none")]
"""Strategies and techniques, besides the default ones."""


def counted(board: Board, **options: Any) -> int:
    result = count(board, device="cpu", **{"jobs": 1, **options})
    assert result.exact == (options.get("limit") is None or result.count < options["limit"])
    return result.count


@pytest.mark.parametrize("shape", SHAPES)
def test_counts_equal_the_oracle(shape: str) -> None:
    for seed in range(6 if shape == "2x5" else 12):
        board = puzzle(shape, CLUES[shape], seed)
        assert counted(board) == naive.count(board), board


@pytest.mark.parametrize("shape", ["2x2", "2x3", "3x3"])
def test_counts_of_spoilt_boards_equal_the_oracle(shape: str) -> None:
    for seed in range(20):
        board = spoilt(puzzle(shape, CLUES[shape], seed), seed)
        assert counted(board) == naive.count(board), board


@pytest.mark.parametrize(("strategy", "propagate"), OTHERS)
@pytest.mark.parametrize("shape", ["2x2", "2x3"])
def test_strategies_and_techniques(
    shape: str, strategy: str, propagate: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shape == "2x2":  # compiled for one shape only
        run_uncompiled(monkeypatch)
    for seed in range(8):
        board = puzzle(shape, CLUES[shape], 100 + seed)
        expected = naive.count(board)
        assert counted(board, strategy=strategy, propagate=propagate) == expected, board


@pytest.mark.parametrize("shape", ["1x1", "2x1", "1x3", "2x2", "3x2", "3x3"])
@pytest.mark.parametrize("strategy", ["first", "min"])
@pytest.mark.parametrize(
    "propagate", ["none", "singles", "locked", "naked-pair", "hidden-pair", "all"]
)
def test_uncompiled(
    shape: str, strategy: str, propagate: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_uncompiled(monkeypatch)
    monkeypatch.setattr(cpu_engine, "WIDTH", 4)
    geometry = Geometry.parse(shape)
    clues = 44 if shape == "3x3" else geometry.cells // 3
    for seed in range(3):
        board = puzzle(geometry, clues, seed)
        assert counted(board, strategy=strategy, propagate=propagate) == naive.count(board)


@pytest.mark.parametrize(
    ("jobs", "cutoff", "limit"),
    list(product([1, 2, 3], [None, 1, 50, 1e30], [None, 1, 7, 10**30])),
)
def test_jobs_cutoffs_and_limits(jobs: int, cutoff: float | None, limit: int | None) -> None:
    for seed in range(4):
        board = puzzle("2x3", 8, seed)
        expected = naive.count(board)
        result = count(board, device="cpu", jobs=jobs, cutoff=cutoff, limit=limit)
        assert result.count == min(expected, limit or expected)
        assert result.exact == (limit is None or expected < limit)


@pytest.mark.parametrize(
    ("shape", "total"), [("1x1", 1), ("2x2", 288), ("1x4", 576), ("1x5", 161280)]
)
def test_published_totals(shape: str, total: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if shape == "1x1":  # compiled for nothing else
        run_uncompiled(monkeypatch)
    assert counted(Board.empty(Geometry.parse(shape))) == total


@pytest.mark.parametrize("shape", ["2x3", "3x2"])
def test_six_by_six(shape: str) -> None:
    assert counted(Board.empty(Geometry.parse(shape)), jobs=2) == 28200960


@pytest.mark.slow
def test_latin_squares_of_order_six() -> None:
    assert counted(Board.empty(Geometry(1, 6)), jobs=None) == 812851200


@pytest.mark.parametrize("propagate", ["none", "singles", "all"])
@pytest.mark.usefixtures("uncompiled")
def test_conflicting_clues_leave_nothing(propagate: str) -> None:
    for text in ["11..............", "1...1...........", "1....1.........."]:
        assert counted(parse(text), propagate=propagate) == 0


@pytest.mark.parametrize("shape", ["1x5", "2x2", "2x5", "3x3", "4x4"])
def test_full_boards(shape: str) -> None:
    grid = full_grid(Geometry.parse(shape), seed=1)
    board = Board(grid, Geometry.parse(shape))
    assert counted(board) == 1
    assert counted(spoilt(board, seed=2)) == 0


def test_several_boards_at_once_keep_their_counts() -> None:
    boards = [puzzle("2x3", clues, seed) for seed, clues in enumerate([8, 36, 12, 9, 20, 8])]
    boards[3] = spoilt(Board(full_grid(Geometry(2, 3), 3), Geometry(2, 3)), 3)
    for jobs in [1, 2]:
        counts = searched(boards, CpuEngine(jobs)).counts
        assert counts == [naive.count(board) for board in boards]
        assert counts[3] == 0


@pytest.mark.parametrize(("shape", "clues"), [("2x3", 8), ("3x3", 27)])
def test_a_worker_is_found_out_of_room_for_solutions(
    shape: str, clues: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has to come back to the search exactly where it stopped."""
    board = puzzle(shape, clues, 1)
    monkeypatch.setattr(cpu_engine, "ROOM_BYTES", 37 * board.geometry.cells)
    found: list[tuple[int, ...]] = []
    blocks = []

    def on_solutions(block: np.ndarray, roots: np.ndarray) -> None:
        blocks.append(len(block))
        found.extend(map(tuple, block.tolist()))
        assert roots.tolist() == [0] * len(block)

    counts = searched([board], CpuEngine(1), on_solutions=on_solutions).counts
    assert max(blocks) <= 37 < max(blocks) + LANES
    assert counts == [len(found)]
    assert sorted(found) == sorted(naive.solutions(board))


def test_easy_boards_do_not_make_a_worker_deaf(monkeypatch: pytest.MonkeyPatch) -> None:
    """However quickly the first tasks end, the search of a hard one is left every now and then.

    Else it could neither be stopped nor shared out.
    """
    seen = []
    report = SearchWorker._report

    def watched(self: SearchWorker, job: Job, weight: float) -> None:
        seen.append(int(self.stack.tally[NODES]))
        report(self, job, weight)

    monkeypatch.setattr(SearchWorker, "_report", watched)
    boards = [Board(full_grid(Geometry(2, 3), 1), Geometry(2, 3))] * 2000
    boards.append(Board.empty(Geometry(2, 3)))
    options = Options(cutoff=1e300)  # one frontier board for each
    counts, stats = searched(boards, CpuEngine(1), options)
    assert counts.tolist() == [1] * 2000 + [28200960]
    longest = int(np.diff(seen).max())
    assert longest < stats.nodes / 4, "one call did most of the search"


@pytest.mark.parametrize(("shape", "clues"), [("3x3", 27), ("4x4", 110), ("5x5", 330)])
def test_the_cell_to_guess(shape: str, clues: int) -> None:
    """The first with two candidates on small boards, the one with most such peers on large ones."""
    looked_at = 0
    for seed in range(30):
        board = simplify(puzzle(shape, clues, seed), "singles").board
        layout = layout_of(board.geometry)
        packed = Frontier.of([board]).boards[0]
        scratch = np.empty(layout.scratch_words, np.uint64)
        twos = [len(left) == 2 for left in unpacked(layout, packed)]
        if build_survey(layout, as_it_is)(packed, scratch) != OPEN or sum(twos) < 2:
            continue
        index = build_choose(layout, MIN, as_it_is)(packed, scratch, layout.nonpeers)
        cells = [cell for cell, two in enumerate(twos) if two]
        if shape != "3x3":
            peers = board.geometry.peers
            cells.sort(key=lambda cell: -sum(twos[peer] for peer in peers[cell].tolist()))
        assert index == layout.index_of[cells[0]]
        looked_at += 1
    assert looked_at > 3


class TestSixtyFourDigits:
    """Boards that use all bits of the masks, with counts known by construction."""

    geometry = Geometry(8, 8)

    def without(self, cells: list[tuple[int, int]]) -> Board:
        grid = pattern(self.geometry)
        for cell in cells:
            grid[cell] = 0
        return Board(grid, self.geometry)

    def swappable(self, row: int, column: int) -> list[tuple[int, int]]:
        """Four cells of the pattern with two digits, 32 apart, that may be swapped."""
        corners = [(row, column), (row + 4, column), (row, column + 32), (row + 4, column + 32)]
        a, b, c, d = (int(pattern(self.geometry)[corner]) for corner in corners)
        assert a == d != b == c
        return corners

    def test_full(self) -> None:
        assert counted(self.without([])) == 1

    def test_one_cell(self) -> None:
        assert counted(self.without([(63, 63)])) == 1

    def test_rectangles(self) -> None:
        # In rows 1 and 5 the highest digit, 64, is at columns 32 and 64.
        cells: list[tuple[int, int]] = []
        for k, column in enumerate([31, 0, 7, 12, 20], start=1):
            cells += self.swappable(0, column)
            board = self.without(cells)
            assert naive.count(board) == 2**k
            assert counted(board) == 2**k

    def test_many_rectangles(self) -> None:
        # Twelve in four bands, in rows that share no column.
        columns = {0: [31, 0, 8], 9: [1, 17, 30], 18: [5, 6], 59: [3, 9, 2, 28]}
        corners = [(row, column) for row, some in columns.items() for column in some]
        cells = [cell for corner in corners for cell in self.swappable(*corner)]
        board = self.without(cells)
        assert counted(board, jobs=2) == 2**12
        result = count(board, device="cpu", jobs=2, limit=1000)
        assert (result.count, result.exact) == (1000, False)

    @pytest.mark.parametrize("digits", [(64, 8), (1, 17), (64, 63)])
    def test_two_digits(self, digits: tuple[int, int]) -> None:
        grid = pattern(self.geometry)
        places = np.flatnonzero(np.isin(grid, digits))
        board = Board(np.where(np.isin(grid, digits), 0, grid), self.geometry)
        # Each connected part of the graph of cells that see each other can be filled in two ways.
        parts = {int(place): int(place) for place in places}

        def root(cell: int) -> int:
            while parts[cell] != cell:
                cell = parts[cell]
            return cell

        for place in parts:
            for peer in self.geometry.peers[place].tolist():
                if peer in parts:
                    parts[root(peer)] = root(place)
        components = len({root(place) for place in parts})
        assert counted(board) == 2**components

    def test_shuffled_with_a_digit_removed(self) -> None:
        grid = full_grid(self.geometry, seed=5)
        grid[grid == 64] = 0
        assert counted(Board(grid, self.geometry)) == 1

    def test_conflict(self) -> None:
        grid = pattern(self.geometry)
        grid[63, 63] = grid[63, 0]
        assert counted(Board(grid, self.geometry)) == 0
