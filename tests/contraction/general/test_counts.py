"""The general contraction counts right, for boxes of any shape: against the oracle and the search.

The kernels are compiled once for all shapes.
"""

from math import factorial

import numpy as np
import pytest

import gpusudoku
from gpusudoku import collection
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from tests import naive
from tests.boards import full_grid, puzzle, spoilt
from tests.contraction.general.boards import after_singles, clues_only, count, first_row_given

CLUES = {
    "1x1": (0, 1),
    "1x2": (0, 3),
    "2x1": (0, 3),
    "1x3": (0, 6),
    "3x1": (0, 6),
    "1x4": (0, 9),
    "4x1": (0, 9),
    "1x5": (6, 20),
    "5x1": (6, 20),
    "1x6": (15, 30),
    "6x1": (15, 30),
    "1x7": (25, 40),
    "7x1": (25, 40),
    "2x2": (0, 12),
    "2x3": (9, 28),
    "3x2": (9, 28),
    "2x4": (30, 50),
    "4x2": (30, 50),
    "3x3": (36, 60),
    "1x8": (38, 55),
    "8x1": (38, 55),
    "1x9": (52, 70),
    "9x1": (52, 70),
}
"""Of every shape the fewest and the most clues of the boards that the oracle counts."""

TOTALS = {
    "1x1": 1,
    "1x2": 2,
    "3x1": 12,
    "1x4": 576,
    "4x1": 576,
    "5x1": 161280,
    "2x2": 288,
    "2x3": 28200960,
    "3x2": 28200960,
    "2x4": 29136487207403520,
    "4x2": 29136487207403520,
}
"""Solutions of the empty boards, as they are known."""


def searched(board):
    return gpusudoku.count(board, device="cpu", method="search", jobs=1).count


@pytest.mark.parametrize("shape", CLUES)
def test_oracle(shape):
    geometry = Geometry.parse(shape)
    low, high = CLUES[shape]
    for seed in range(8):
        board = puzzle(geometry, low + (high - low) * seed // 8, seed)
        if seed % 3 == 2 and board.clues:
            board = spoilt(board, seed)
        expected = naive.count(board)
        candidates = clues_only(board)
        assert count(candidates, geometry) == expected
        assert count(candidates, geometry, wide=True) == expected
        assert count(candidates, geometry, symmetric=False) == expected


@pytest.mark.parametrize("shape", TOTALS)
def test_empty_boards(shape):
    geometry = Geometry.parse(shape)
    candidates = clues_only(Board.empty(geometry))
    assert count(candidates, geometry) == TOTALS[shape]
    assert count(candidates, geometry, wide=True) == TOTALS[shape]


@pytest.mark.parametrize("shape", ["1x5", "2x3", "3x2"])
def test_empty_boards_without_symmetry(shape):
    geometry = Geometry.parse(shape)
    candidates = clues_only(Board.empty(geometry))
    assert count(candidates, geometry, symmetric=False) == count(candidates, geometry)


@pytest.mark.slow
def test_empty_board_of_8x8_without_symmetry():
    geometry = Geometry(4, 2)
    candidates = clues_only(Board.empty(geometry))
    assert count(candidates, geometry, symmetric=False) == TOTALS["4x2"]


@pytest.mark.parametrize("shape", ["1x6", "2x2", "3x3", "4x3", "4x4", "5x5", "8x8"])
def test_full_boards(shape):
    geometry = Geometry.parse(shape)
    board = Board(full_grid(geometry, 1), geometry)
    assert count(clues_only(board), geometry) == 1
    assert count(clues_only(spoilt(board, 2)), geometry) == 0


@pytest.mark.parametrize(
    ("shape", "clues"), [("2x5", 36), ("3x4", 52), ("2x6", 56), ("4x4", 115), ("5x5", 330)]
)
def test_search(shape, clues):
    """Larger boards, with up to a million solutions."""
    board = puzzle(shape, clues, 7)
    expected = searched(board)
    candidates = gpusudoku.simplify(board, "singles").candidates
    assert 1 < expected < 2_000_000
    for wide in False, True:
        assert count(candidates, board.geometry, wide=wide) == expected
    mirrored = board.transposed()
    assert count(after_singles(mirrored), mirrored.geometry) == expected


@pytest.mark.parametrize("techniques", ["none", "singles", "all"])
def test_techniques_do_not_matter(techniques):
    board = collection.load("1d")
    candidates = gpusudoku.simplify(board, techniques).candidates
    assert count(candidates, board.geometry) == collection.entry("1d").count


@pytest.mark.parametrize("name", ["1d", "1f", "2c", "2f", "decomposition-16x16"])
def test_collection(name):
    board = collection.load(name)
    assert count(after_singles(board), board.geometry) == collection.entry(name).count


@pytest.mark.parametrize(
    ("shape", "clues"), [("3x3", 23), ("2x4", 12), ("2x5", 30), ("4x3", 50), ("4x4", 112)]
)
def test_equivalent_boards(shape, clues):
    """Mirrored, relabelled, and with lines, bands and stacks exchanged."""
    board = puzzle(shape, clues, 3)
    geometry = board.geometry
    expected = count(after_singles(board), geometry)
    rng = np.random.default_rng(4)
    height, width, n = geometry.box_rows, geometry.box_columns, geometry.n
    bands = board.grid.reshape(width, height, n)[rng.permutation(width)]
    stacks = board.grid.reshape(n, height, width)[:, rng.permutation(height)]
    rows = board.grid.reshape(width, height, n)[:, rng.permutation(height)]
    boards = [
        board.transposed(),
        board.relabelled(1 + rng.permutation(n)),
        Board(bands, geometry),
        Board(stacks, geometry),
        Board(rows, geometry),
    ]
    for other in boards:
        assert count(after_singles(other), other.geometry) == expected


@pytest.mark.parametrize("shape", ["1x5", "2x3", "3x2", "2x4", "4x2"])
def test_first_row_given(shape):
    """Its digits can be swapped, columns with them: the total is divided by their orders."""
    board = first_row_given(shape)
    total = count(clues_only(Board.empty(board.geometry)), board.geometry)
    assert count(clues_only(board), board.geometry) * factorial(board.n) == total


def test_contradicting_clues():
    geometry = Geometry(2, 3)
    for pair in (0, 1), (0, 5), (0, 30), (0, 8):
        cells = np.zeros(36, np.uint8)
        cells[list(pair)] = 4
        candidates = np.where(cells > 0, np.uint64(8), np.uint64(63))
        assert count(candidates, geometry) == 0


def test_candidates_need_not_be_propagated():
    board = puzzle("2x3", 12, 5)
    raw = np.where(board.cells > 0, clues_only(board), np.uint64(63))
    assert count(raw, board.geometry) == naive.count(board)
