"""The join's order has every solution once: small boards of many shapes, whole and in pieces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general import quick
from gpusudoku.contraction.general.join import Join
from gpusudoku.contraction.general.quick import JoinOrder
from gpusudoku.errors import TooExpensive
from gpusudoku.kernels.contraction.general.numbers import times
from tests import naive
from tests.boards import puzzle
from tests.contraction.general.boards import after_singles, clues_only

BOARDS = [
    ("2x2", 0, 0), ("2x2", 1, 3), ("1x4", 2, 1), ("4x1", 3, 2), ("1x5", 7, 0), ("5x1", 8, 1),
    ("1x6", 16, 2), ("2x3", 8, 1), ("2x3", 9, 2), ("3x2", 9, 3), ("2x4", 24, 1), ("4x2", 26, 2),
    ("3x3", 28, 3), ("2x5", 50, 1), ("3x4", 75, 1),
]  # fmt: skip
"""Shape, clues and seed of boards that the oracle lists."""


def order_of(board: Board, threads: int = 2, **options: Any) -> JoinOrder:
    candidates = after_singles(board) if board.clues else clues_only(board)
    return JoinOrder(Join(candidates, board.geometry, **options), threads)


def keys(rows: NDArray[np.uint8]) -> list[bytes]:
    return [row.tobytes() for row in rows]


@pytest.mark.parametrize(("shape", "clues", "seed"), BOARDS)
def test_every_solution_once(shape: str, clues: int, seed: int) -> None:
    board = puzzle(shape, clues, seed)
    wanted = sorted(bytes(row) for row in naive.solutions(board))
    for options in {}, {"symmetric": False}, {"wide": True}:
        order = order_of(board, **options)
        assert order.count == len(wanted)
        assert sorted(keys(order.at(np.arange(order.count)))) == wanted


@pytest.mark.parametrize(("shape", "clues", "seed"), [("2x3", 8, 1), ("2x4", 24, 1), ("1x5", 7, 0)])
def test_numbers_in_any_order_and_however_the_sum_is_cut(
    monkeypatch: pytest.MonkeyPatch, shape: str, clues: int, seed: int
) -> None:
    board = puzzle(shape, clues, seed)
    order = order_of(board, 1)
    rows = order.at(np.arange(order.count))
    mixed = np.random.default_rng(1).integers(0, order.count, 500)
    assert (order.at(mixed) == rows[mixed]).all()
    assert order.at(mixed[:0]).shape == (0, board.geometry.cells)
    assert (order.at(np.array([order.count - 1], object)) == rows[-1:]).all()
    monkeypatch.setattr(quick, "CALL_NUMBERS", 3)
    for steps in 1, 50:
        monkeypatch.setattr(quick, "PIECE_STEPS", steps)
        cut = order_of(board, 3)
        assert len(cut._pieces.first) > 1 or shape == "1x5"
        assert (cut.at(mixed) == rows[mixed]).all()


def test_the_empty_board_of_6x6() -> None:
    """Every grid of it comes once: each member of an orbit, with its own solutions."""
    order = order_of(Board.empty(Geometry(2, 3)))
    assert order.count == 28_200_960
    numbers = np.random.default_rng(2).choice(order.count, 20_000, replace=False)
    rows = order.at(numbers)
    assert len(set(keys(rows))) == len(rows)
    assert (np.sort(rows[:, Geometry(2, 3).units], axis=2) == np.arange(1, 7)).all()
    first = np.bincount(rows[:, 0], minlength=7)[1:]
    assert abs(first - len(rows) / 6).max() < 300


def test_numbers_beyond_a_word() -> None:
    """Python's integers, which are used where counts pass 2^63, lead to the same solutions."""
    order = order_of(puzzle("1x5", 7, 0))
    rows = order.at(np.arange(order.count))
    order._dtype = np.dtype(object)
    order._starts, order._ends = order._starts.astype(object), order._ends.astype(object)
    order._solutions = order._solutions.astype(object)
    assert (order.at(np.arange(order.count)) == rows).all()


def test_a_product_beyond_a_word_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    one, most = np.uint64(1), np.uint64((1 << 63) - 1)
    assert times(one, most) == most
    assert times(np.uint64(1 << 32), np.uint64(1 << 31)) == 0
    assert times(np.uint64(0), np.uint64(7)) == 0
    board = puzzle("2x3", 8, 1)
    order = order_of(board)
    monkeypatch.setattr(quick, "find_terms", lambda *_: -2)
    with pytest.raises(TooExpensive, match="the products of this board's sum pass 64 bits"):
        order.at(np.arange(3))


def test_no_solution() -> None:
    geometry = Geometry(2, 2)
    candidates = clues_only(Board.empty(geometry)).copy()
    candidates[-1] = 0
    assert JoinOrder(Join(candidates, geometry)).count == 0
