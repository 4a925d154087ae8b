"""The shares of a join: those of lists of all solutions, and of single counts."""

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
from gpusudoku.contraction.general.shares import join_shares
from gpusudoku.errors import TooExpensive
from tests import naive
from tests.boards import puzzle
from tests.contraction.general.boards import clues_only, count, empty, join_of, summed
from tests.contraction.general.test_numbers import BOARDS

MIDDLE = puzzle("2x3", 3, 4)


def shares_of(board: Board, threads: int = 2, **options: Any) -> NDArray[Any]:
    join = join_of(board, **options)
    return join_shares(join, summed(join), threads)


def listed(board: Board) -> NDArray[np.int64]:
    """Count the shares in a list of all solutions."""
    rows = np.array(list(naive.solutions(board)))
    return np.stack([(rows == digit).sum(axis=0) for digit in range(1, board.n + 1)], axis=1)


@pytest.mark.parametrize(("shape", "clues", "seed"), BOARDS)
def test_shares_equal_those_of_a_full_list(shape: str, clues: int, seed: int) -> None:
    board = puzzle(shape, clues, seed)
    wanted = listed(board)
    assert (shares_of(board) == wanted).all()
    assert (shares_of(board, symmetric=False) == wanted).all()
    # What counts that pass a word need: modulo primes.
    assert (join_shares(join_of(board), 1 << 120) == wanted).all()


@pytest.mark.parametrize(("shape", "clues", "seed"), [("2x4", 9, 2), ("2x3", 3, 4)])
def test_shares_equal_single_counts(shape: str, clues: int, seed: int) -> None:
    board = puzzle(shape, clues, seed)
    shares = shares_of(board)
    whole = summed(join_of(board))
    assert (shares.sum(axis=1) == whole).all()
    assert (shares[board.geometry.units].sum(axis=1) == whole).all()
    cell = int(np.flatnonzero(board.cells == 0)[seed])
    for digit in range(1, board.n + 1):
        cells = board.cells.copy()
        cells[cell] = digit
        one = Board(cells, board.geometry)
        assert shares[cell, digit - 1] == (0 if one.conflicts else count(one))


@pytest.mark.parametrize("shape", ["2x3", pytest.param("2x4", marks=pytest.mark.slow)])
def test_every_digit_has_the_same_share_of_an_empty_board(shape: str) -> None:
    """And numbers of orbits are large."""
    board = empty(shape)
    assert (shares_of(board) * board.n == summed(join_of(board))).all()


def test_shares_go_with_the_board() -> None:
    board = puzzle("2x4", 14, 5)
    shares = shares_of(board)
    turned = shares_of(board.transposed())
    assert (turned.reshape(8, 8, 8).transpose(1, 0, 2).reshape(64, 8) == shares).all()
    digits = 1 + np.random.default_rng(1).permutation(8)
    assert (shares_of(board.relabelled(digits))[:, digits - 1] == shares).all()


def test_threads_and_pieces_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = shares_of(MIDDLE, 1)
    monkeypatch.setattr(module, "PIECE_STEPS", 50)
    assert (shares_of(MIDDLE, 3) == shares).all()
    six = puzzle("2x3", 8, 1)
    shares = shares_of(six, 1)
    monkeypatch.setattr(module, "SLICE_BYTES", 1)
    assert (shares_of(six, 3) == shares).all()


def test_memory_bounds_the_threads_and_then_the_board(monkeypatch: pytest.MonkeyPatch) -> None:
    join = join_of(MIDDLE)
    whole = summed(join)
    found = False
    shares = join_shares(join, whole, 2)
    memory = 1000.0
    monkeypatch.setattr(module, "MEMORY", module.SLICE_BYTES + int(memory))
    with pytest.raises(TooExpensive, match="too many ways to name columns and rows in the boxes"):
        join_shares(join, whole, 3)
    while not found:  # with hardly enough, one thread does it
        memory *= 1.1
        monkeypatch.setattr(module, "MEMORY", module.SLICE_BYTES + int(memory))
        with suppress(TooExpensive):
            found = bool((join_shares(join, whole, 3) == shares).all())
            assert found


def test_no_solution_has_no_shares() -> None:
    candidates = clues_only(empty("2x2")).copy()
    candidates[-1] = 0
    assert not join_shares(Join(candidates, Geometry(2, 2)), 0).any()
