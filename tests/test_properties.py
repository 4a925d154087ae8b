"""Properties of all boards: counts, lists, shares, samples and puzzles agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpusudoku
from gpusudoku import Board, Geometry
from tests import naive
from tests.boards import CLUES, full_grid, run_uncompiled, with_wrong_clue

ENGINE = gpusudoku.make_engine(device="cpu", jobs=1)
SMALL = ["2x2", "1x4", "2x3", "3x2"]


@st.composite
def boards(draw: st.DrawFn, shapes: list[str] = [*SMALL, "3x3"]) -> Board:  # noqa: B006
    """Draw boards with solutions, and some without."""
    shape = draw(st.sampled_from(shapes))
    geometry = Geometry.parse(shape)
    seed = draw(st.integers(0, 10**6))
    grid = full_grid(geometry, seed).ravel()
    clues = draw(st.integers(max(1, CLUES[shape] - 2), CLUES[shape] + 8))
    clue_cells = draw(st.permutations(range(geometry.cells)))[:clues]
    cells = np.zeros(geometry.cells, np.int64)
    cells[clue_cells] = grid[clue_cells]
    board = Board(cells, geometry)
    return with_wrong_clue(board, seed) if draw(st.integers(0, 4)) == 0 else board


@st.composite
def boards_with_candidates(draw: st.DrawFn) -> Board:
    """Draw boards with given candidates."""
    board = draw(boards(SMALL))
    full = (1 << board.n) - 1
    masks = []
    for cell in board.cells.tolist():
        mask = full & ~(1 << draw(st.integers(0, 3 * board.n)))
        masks.append(1 << cell - 1 if cell else mask)
    return Board(board.cells, board.geometry, candidates=masks)


def counted(board: Board, **options: Any) -> int:
    return gpusudoku.count(board, engine=ENGINE, **options).count


def rows(boards: Any) -> list[tuple[int, ...]]:
    return [tuple(board.cells.tolist()) for board in boards]


@pytest.fixture(scope="class")
def uncompiled_here() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        run_uncompiled(patch)
        yield


class TestCounts:
    """Counts, by compiled kernels."""

    @given(boards())
    def test_equal_naive_counts_by_either_method(self, board: Board) -> None:
        expected = naive.count(board)
        assert counted(board, method="search") == expected
        assert counted(board, method="contraction") == expected
        [first_count, second_count] = gpusudoku.count_many([board, board], engine=ENGINE)
        assert first_count == second_count == expected

    @given(boards(), st.sampled_from(["min", "first"]), st.integers(1, 300), st.integers(1, 3))
    def test_do_not_depend_on_how_a_search_goes(
        self, board: Board, strategy: str, cutoff: int, jobs: int
    ) -> None:
        options = {"device": "cpu", "method": "search", "strategy": strategy, "jobs": jobs}
        result = gpusudoku.count(board, cutoff=cutoff, **options)
        assert result.count == counted(board)

    @given(boards(["2x2", "2x3", "3x2", "3x3"]), st.data())
    def test_stay_under_every_symmetry(self, board: Board, data: st.DataObject) -> None:
        """Symmetries rename digits, and reorder bands, stacks, and rows and columns within them."""
        expected = counted(board)
        geometry = board.geometry
        changed = board.relabelled(data.draw(st.permutations(range(1, board.n + 1))))

        def shuffled(groups: int, size: int) -> list[int]:
            order = data.draw(st.permutations(range(groups)))
            return [
                group * size + line
                for group in order
                for line in data.draw(st.permutations(range(size)))
            ]

        lines = shuffled(geometry.box_columns, geometry.box_rows)
        columns = shuffled(geometry.box_rows, geometry.box_columns)
        changed = Board(changed.grid[lines][:, columns], geometry)
        assert counted(changed) == expected
        assert counted(changed.transposed()) == expected
        assert changed.transposed().geometry == geometry.transposed


@pytest.mark.usefixtures("uncompiled_here")
class TestOthers:
    """Other properties, by uncompiled kernels: too many would have to be compiled."""

    @given(boards(SMALL), st.booleans())
    @settings(max_examples=15)
    def test_techniques_change_no_count(self, board: Board, everything: bool) -> None:
        propagate = "all" if everything else "none"
        assert counted(board, method="search", propagate=propagate) == naive.count(board)

    @given(boards_with_candidates())
    def test_candidates_leave_the_solutions_that_they_allow(self, board: Board) -> None:
        expected = [*naive.solutions(board)]
        assert counted(board) == len(expected)
        assert rows(gpusudoku.solutions(board, engine=ENGINE)) == expected
        assert (gpusudoku.solve(board, engine=ENGINE).board is None) == (not expected)

    @given(boards(SMALL))
    def test_solutions_are_a_list_in_ascending_order(self, board: Board) -> None:
        expected = [*naive.solutions(board)]
        all_solutions = gpusudoku.solutions(board, engine=ENGINE)
        assert rows(all_solutions) == expected
        assert (all_solutions.count, bool(all_solutions)) == (len(expected), bool(expected))

    @given(boards(SMALL))
    def test_shares_are_how_many_solutions_have_a_digit_in_a_cell(self, board: Board) -> None:
        all_solutions = gpusudoku.solutions(board, engine=ENGINE)
        shares = all_solutions.shares()
        assert (shares.sum(axis=1) == all_solutions.count).all()
        expected = np.array([*naive.solutions(board)]).reshape(-1, board.geometry.cells)
        for digit in range(1, board.n + 1):
            assert shares[:, digit - 1].tolist() == (expected == digit).sum(axis=0).tolist()
        bits = np.uint64(1) << np.arange(board.n, dtype=np.uint64)
        assert (all_solutions.true_candidates() == (shares > 0) @ bits).all()

    @given(boards(SMALL))
    def test_a_solved_board_is_one_of_the_solutions(self, board: Board) -> None:
        expected = [*naive.solutions(board)]
        solution = gpusudoku.solve(board, engine=ENGINE)
        assert solution.unique is (len(expected) == 1)
        assert solution.solvable == bool(expected)
        quick = gpusudoku.solve(board, check_unique=False, engine=ENGINE)
        for grid in (solution.board, quick.board):
            assert {*rows([] if grid is None else [grid])} <= {*expected}
            assert (grid is None) == (not expected)

    @given(boards(SMALL))
    def test_what_is_made_easier_keeps_its_solutions(self, board: Board) -> None:
        """``simplify`` and ``explain`` reach the same end with the same techniques."""
        expected = [*naive.solutions(board)]
        simple = gpusudoku.simplify(board)
        explained = gpusudoku.explain(board)
        assert simple.contradictory == explained.contradictory
        if simple.contradictory:
            assert expected == []
            return
        assert simple.board == explained.board
        assert simple.candidates.tolist() == explained.candidates.tolist()
        assert [*naive.solutions(simple.board)] == expected
        for cells in expected:
            masks = zip(simple.candidates.tolist(), cells, strict=True)
            assert all(mask >> digit - 1 & 1 for mask, digit in masks)
