"""The contraction of 9x9 boards against published totals and the search."""

from __future__ import annotations

import numpy as np
import pytest

from gpusudoku import collection
from gpusudoku.board.board import Board
from gpusudoku.contraction.nine.sum import Nine
from tests.boards import puzzle, spoilt
from tests.contraction.nine.counted import GRIDS, NINE, candidates_of, contracted, searched

LARGEST_PAIR = 97_034_115_530_096_640
"""Solutions of the empty board with a given pair of partitions, at most: below 2^57."""


class TestTotals:
    def test_empty_board(self) -> None:
        assert contracted(Board.empty(NINE)) == GRIDS

    @pytest.mark.parametrize(
        ("name", "total"), [("top-band-cyclic", 7802998272), ("top-band-twisted", 7347449088)]
    )
    def test_top_bands(self, name: str, total: int) -> None:
        board = collection.load(name)
        assert contracted(board) == contracted(board.transposed()) == total

    @pytest.mark.parametrize("series", ["1", "2"])
    def test_boards_of_the_main_document(self, series: str) -> None:
        for letter in "abcdef":
            entry = collection.entry(series + letter)
            assert contracted(collection.load(entry.name)) == entry.count

    def test_no_pair_has_more_solutions_than_64_bits_hold(self) -> None:
        """What the argument for exactness in ``dot`` rests on."""
        nine = Nine(candidates_of(Board.empty(NINE)))
        nine.prepare(2)
        scratch, flag = nine.scratch(), np.zeros(1, np.int64)
        pairs = [nine.sum(range(i, i + 1), scratch, flag)[0] for i in range(nine.pairs)]
        sizes = nine.workspace.orbits.pairs[: nine.pairs, 2].tolist()
        assert len(pairs) == 5
        assert sum(sizes) == 280**2
        assert sum(pairs) * nine.factor == GRIDS
        sums = [pair // size * nine.factor for pair, size in zip(pairs, sizes, strict=True)]
        assert max(sums) == LARGEST_PAIR < 1 << 57


class TestAgainstSearch:
    @pytest.mark.parametrize("clues", range(20, 31))
    def test_random_boards(self, clues: int) -> None:
        board = puzzle(NINE, clues, clues)
        assert contracted(board) == searched(board) > 0

    @pytest.mark.slow
    @pytest.mark.parametrize("clues", [18, 19])
    def test_random_boards_with_many_solutions(self, clues: int) -> None:
        boards = (puzzle(NINE, clues, seed) for seed in range(100))
        totals = [(board, contracted(board)) for board in boards]
        few = [(board, total) for board, total in totals if total < 20_000_000][:2]
        assert few
        for board, total in few:
            assert searched(board) == total

    @pytest.mark.parametrize("clues", [32, 40, 55, 70, 80, 81])
    def test_crowded_boards(self, clues: int) -> None:
        for seed in range(5):
            board = puzzle(NINE, clues, seed)
            assert contracted(board) == searched(board) > 0

    def test_contradictions(self) -> None:
        nothing = 0
        for seed in range(40):
            board = spoilt(puzzle(NINE, 24 + seed % 20, seed), seed)
            total = searched(board)
            assert contracted(board) == total
            nothing += total == 0 and not board.conflicts
        assert nothing > 5

    def test_parts_add_up(self) -> None:
        """From 12 clues on: what no search can visit, one more clue at a time."""
        for clues in (12, 14, 16):
            board = puzzle(NINE, clues, clues)
            cell = int(np.flatnonzero(board.cells == 0)[7])
            parts = []
            for digit in range(1, 10):
                cells = board.cells.copy()
                cells[cell] = digit
                parts.append(contracted(Board(cells)))
            assert sum(parts) == contracted(board) > 10**8


class TestEquivalentBoards:
    @pytest.mark.parametrize("seed", range(6))
    def test_same_count(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        board = puzzle(NINE, 13 + seed, seed)
        total = contracted(board)
        assert contracted(board.transposed()) == total
        assert contracted(board.relabelled(1 + rng.permutation(9))) == total
        grid = board.grid.reshape(3, 3, 9)
        assert contracted(Board(grid[rng.permutation(3)])) == total
        assert contracted(Board(grid[:, rng.permutation(3)])) == total
        stacks = board.grid.reshape(9, 3, 3)
        assert contracted(Board(stacks[:, rng.permutation(3)])) == total
