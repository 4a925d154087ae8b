"""The shares of a join: those of lists of all solutions, and of single counts."""

from __future__ import annotations

import _thread
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
from gpusudoku.errors import Interrupted, TooExpensive
from gpusudoku.jobs.spread import spread
from gpusudoku.kernels.contraction.general.shares import sweep
from tests import naive
from tests.boards import puzzle
from tests.contraction.general.boards import after_singles, clues_only, count
from tests.contraction.general.test_quick import BOARDS
from tests.jobs.test_job import wait_until


def shares_of(board: Board, threads: int = 2, **options: Any) -> NDArray[Any]:
    candidates = after_singles(board) if board.clues else clues_only(board)
    whole = count(candidates, board.geometry)
    return join_shares(Join(candidates, board.geometry, **options), whole, threads)


def listed(board: Board) -> NDArray[np.int64]:
    """The shares by a list of all solutions."""
    rows = np.array(list(naive.solutions(board)))
    return np.stack([(rows == digit).sum(axis=0) for digit in range(1, board.n + 1)], axis=1)


@pytest.mark.parametrize(("shape", "clues", "seed"), BOARDS)
def test_full_lists(shape: str, clues: int, seed: int) -> None:
    board = puzzle(shape, clues, seed)
    wanted = listed(board)
    for options in {}, {"symmetric": False}:
        assert (shares_of(board, **options) == wanted).all()


@pytest.mark.parametrize(("shape", "clues", "seed"), [("2x2", 0, 0), ("2x3", 8, 1), ("1x5", 7, 0)])
def test_modulo_primes(shape: str, clues: int, seed: int) -> None:
    """What counts that pass a word need."""
    board = puzzle(shape, clues, seed)
    candidates = after_singles(board) if clues else clues_only(board)
    found = join_shares(Join(candidates, board.geometry), 1 << 120)
    assert (found == listed(board)).all()


@pytest.mark.parametrize(("shape", "clues", "seed"), [("2x4", 4, 1), ("2x4", 9, 2), ("2x3", 3, 4)])
def test_single_counts(shape: str, clues: int, seed: int) -> None:
    board = puzzle(shape, clues, seed)
    shares = shares_of(board)
    whole = count(after_singles(board), board.geometry)
    assert whole > 1 << 20 or shape == "2x3"
    assert (shares.sum(axis=1) == whole).all()
    assert (shares[board.geometry.units].sum(axis=1) == whole).all()
    rng = np.random.default_rng(seed)
    for cell in rng.choice(np.flatnonzero(board.cells == 0), 2, replace=False).tolist():
        for digit in range(1, board.n + 1):
            cells = board.cells.copy()
            cells[cell] = digit
            one = Board(cells, board.geometry)
            expected = 0 if one.conflicts else count(clues_only(one), one.geometry)
            assert shares[cell, digit - 1] == expected


@pytest.mark.parametrize("shape", ["2x4", "1x6"])
def test_empty_boards(shape: str) -> None:
    """Every digit has the same share, and on this board numbers of orbits are large."""
    board = Board.empty(Geometry.parse(shape))
    whole = count(clues_only(board), board.geometry)
    assert (shares_of(board) * board.n == whole).all()


def test_twins() -> None:
    board = puzzle("2x4", 10, 5)
    shares, turned = shares_of(board), shares_of(board.transposed())
    assert (turned.reshape(8, 8, 8).transpose(1, 0, 2).reshape(64, 8) == shares).all()
    digits = 1 + np.random.default_rng(1).permutation(8)
    assert (shares_of(board.relabelled(digits))[:, digits - 1] == shares).all()


def test_threads_and_pieces_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    board = puzzle("2x3", 3, 4)
    shares = shares_of(board, 1)
    monkeypatch.setattr(module, "PIECE_STEPS", 50)
    assert (shares_of(board, 3) == shares).all()
    monkeypatch.setattr(module, "SLICE_BYTES", 1)
    assert (shares_of(board, 3) == shares).all()


def test_memory_bounds_the_threads_and_then_the_board(monkeypatch: pytest.MonkeyPatch) -> None:
    board, threads = puzzle("2x3", 3, 4), []
    shares = shares_of(board)

    def counted(work: Any, items: Any, scratch: list[Any]) -> list[Any]:
        threads.append(len(scratch))
        return spread(work, items, scratch)

    monkeypatch.setattr(module, "spread", counted)
    memory = 1000.0
    monkeypatch.setattr(module, "MEMORY", module.SLICE_BYTES + int(memory))
    with pytest.raises(TooExpensive, match="too many ways to name columns and rows in the boxes"):
        shares_of(board)
    while not threads:
        memory *= 1.1
        monkeypatch.setattr(module, "MEMORY", module.SLICE_BYTES + int(memory))
        with suppress(TooExpensive):
            assert (shares_of(board, 3) == shares).all()
    assert threads == [1]
    monkeypatch.setattr(module, "MEMORY", module.SLICE_BYTES + 4 * int(memory))
    assert (shares_of(board, 3) == shares).all()
    assert threads[1:] == [3]


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_stops_the_sweep(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    states = []

    def waiting(*given: Any) -> int:
        _thread.interrupt_main()
        wait_until(lambda: given[-1][0] != 0)
        states.append(sweep(*given))
        return -1

    monkeypatch.setattr(module, "sweep", waiting)
    monkeypatch.setattr(module, "ready", lambda kernels: None)
    board = puzzle("2x3", 3, 4)
    join = Join(after_singles(board), board.geometry)
    with pytest.raises(Interrupted):
        join_shares(join, 100, threads)
    wait_until(lambda: bool(states))
    assert set(states) == {-1}


def test_no_solution() -> None:
    geometry = Geometry(2, 2)
    candidates = clues_only(Board.empty(geometry)).copy()
    candidates[-1] = 0
    assert not join_shares(Join(candidates, geometry), 0).any()
