"""The shares of a join: against lists of all solutions, and single counts."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general import shares as module
from gpusudoku.contraction.general.join import Join
from gpusudoku.contraction.general.shares import count_join_shares
from gpusudoku.errors import TooExpensive
from tests import naive
from tests.boards import puzzle
from tests.contraction.general.boards import clues_only, count, empty, join_of, summed
from tests.contraction.general.test_numbers import BOARDS

MIDDLE = puzzle("2x3", 3, 4)


def shares_of(board: Board, threads: int = 2, **options: Any) -> NDArray[Any]:
    join = join_of(board, **options)
    return count_join_shares(join, summed(join), threads)


def shares_by_listing(board: Board) -> NDArray[np.int64]:
    """Count the shares in a list of all solutions."""
    grids = np.array(list(naive.solutions(board)))
    return np.stack([(grids == digit).sum(axis=0) for digit in range(1, board.n + 1)], axis=1)


@pytest.mark.parametrize(("shape", "clues", "seed"), BOARDS)
def test_shares_equal_those_of_a_full_list(shape: str, clues: int, seed: int) -> None:
    board = puzzle(shape, clues, seed)
    expected = shares_by_listing(board)
    assert (shares_of(board) == expected).all()
    assert (shares_of(board, symmetric=False) == expected).all()
    # Modulo primes, as for counts over 64 bits.
    assert (count_join_shares(join_of(board), 1 << 120) == expected).all()


@pytest.mark.parametrize(("shape", "clues", "seed"), [("2x4", 9, 2), ("2x3", 3, 4)])
def test_shares_equal_single_counts(shape: str, clues: int, seed: int) -> None:
    board = puzzle(shape, clues, seed)
    shares = shares_of(board)
    total = summed(join_of(board))
    assert (shares.sum(axis=1) == total).all()
    assert (shares[board.geometry.units].sum(axis=1) == total).all()
    cell = int(np.flatnonzero(board.cells == 0)[seed])
    for digit in range(1, board.n + 1):
        cells = board.cells.copy()
        cells[cell] = digit
        with_digit = Board(cells, board.geometry)
        expected = 0 if with_digit.conflicts else count(with_digit)
        assert shares[cell, digit - 1] == expected


@pytest.mark.parametrize("shape", ["2x3", pytest.param("2x4", marks=pytest.mark.slow)])
def test_all_shares_of_an_empty_board_are_equal(shape: str) -> None:
    """Its orbits are large."""
    board = empty(shape)
    assert (shares_of(board) * board.n == summed(join_of(board))).all()


def test_equivalent_boards_have_equivalent_shares() -> None:
    board = puzzle("2x4", 14, 5)
    shares = shares_of(board)
    transposed = shares_of(board.transposed())
    assert (transposed.reshape(8, 8, 8).transpose(1, 0, 2).reshape(64, 8) == shares).all()
    digits = 1 + np.random.default_rng(1).permutation(8)
    assert (shares_of(board.relabelled(digits))[:, digits - 1] == shares).all()


def test_neither_threads_nor_chunks_change_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = shares_of(MIDDLE, 1)
    monkeypatch.setattr(module, "PIECE_STEPS", 50)
    assert (shares_of(MIDDLE, 3) == shares).all()
    board = puzzle("2x3", 8, 1)
    shares = shares_of(board, 1)
    monkeypatch.setattr(module, "SLICE_BYTES", 1)
    assert (shares_of(board, 3) == shares).all()


def test_little_memory_allows_fewer_threads_or_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    join = join_of(MIDDLE)
    total = summed(join)
    shares = count_join_shares(join, total, 2)
    memory = 1000.0
    monkeypatch.setattr(module, "MEMORY", module.SLICE_BYTES + int(memory))
    with pytest.raises(TooExpensive, match="too many classes of entries meet in the boxes"):
        count_join_shares(join, total, 3)
    result = None
    while result is None:  # until the memory suffices for one thread
        memory *= 1.1
        monkeypatch.setattr(module, "MEMORY", module.SLICE_BYTES + int(memory))
        with suppress(TooExpensive):
            result = count_join_shares(join, total, 3)
    assert (result == shares).all()


def test_no_solution_has_no_shares() -> None:
    candidates = clues_only(empty("2x2")).copy()
    candidates[-1] = 0
    assert not count_join_shares(Join(candidates, Geometry(2, 2)), 0).any()
