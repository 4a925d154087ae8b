"""Minimal puzzles: one solution, every clue necessary, the same for a seed everywhere."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import gpusudoku
from gpusudoku import (
    Board,
    Cancelled,
    CancelToken,
    Geometry,
    InputError,
    Interrupted,
    minimise,
    minimize,
)
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.orders.sampling import Uniform
from tests import naive
from tests.boards import full_grid
from tests.test_cancelling import Countdown, moments

NINE = "154239867296178345783564291935647128618925734472381956867493512549712683321856479"


def full(shape: str, seed: int) -> Board:
    geometry = Geometry.parse(shape)
    return Board(full_grid(geometry, seed), geometry)


def without(board: Board, *some: int) -> Board:
    """The board without the clues of some cells."""
    cells = board.cells.copy()
    cells[list(some)] = 0
    return Board(cells, board.geometry)


def minimised_slowly(board: Board, seed: int) -> list[int]:
    """The cells whose clues are removed, by the oracle."""
    clues = np.flatnonzero(board.cells).tolist()
    blocks = Uniform(seed, len(clues)).distinct(len(clues))
    removed: list[int] = []
    for cell in [clues[i] for block in blocks for i in block.tolist()]:
        if naive.count(without(board, *removed, cell), limit=2) == 1:
            removed.append(cell)
    return removed


def test_it_has_two_spellings() -> None:
    assert minimize is minimise


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("shape", ["1x1", "2x2", "1x4", "4x1", "2x3"])
def test_clues_are_tried_one_by_one_in_the_order_of_the_seed(shape: str) -> None:
    for seed in range(2):
        board = full(shape, seed)
        result = minimise(board, seed=seed, engine=CpuEngine(1))
        assert list(result.removed) == minimised_slowly(board, seed)
        assert result.board == without(board, *result.removed)
        assert (result.puzzle, result.seed) == (board, seed)
        # None is left that could go, and none is missing.
        assert naive.count(result.board) == 1
        for cell in np.flatnonzero(result.board.cells).tolist():
            assert naive.count(without(result.board, cell), limit=2) == 2
        again = minimise(result.board, seed=seed + 1, engine=CpuEngine(1))
        assert (again.board, again.removed) == (result.board, ())


@pytest.mark.parametrize("shape", ["3x3", "4x4"])
def test_every_clue_of_a_larger_puzzle_is_necessary(shape: str) -> None:
    board = full(shape, 1)
    result = minimise(board, seed=3)
    left = np.flatnonzero(result.board.cells).tolist()
    assert sorted([*left, *result.removed]) == [*range(board.geometry.cells)]
    assert result.board == without(board, *result.removed)
    lacking = [without(result.board, cell) for cell in left]
    counts = gpusudoku.count_many([result.board, *lacking], limit=2, device="cpu").numbers()
    assert counts.tolist() == [1] + [2] * len(left)


def test_a_seed_gives_the_same_puzzle_on_any_machine_and_engine() -> None:
    known = ".5.2.......6...3..7835...9..35........89..7.....3..9.6....9...2....126.3..18....."
    for threads in (1, 3):
        assert str(minimise(NINE, seed=7, engine=CpuEngine(threads)).board) == known
    results = [minimise(NINE, seed=8), minimise(NINE), minimise(NINE)]
    assert len({known, *(str(result.board) for result in results)}) == 4
    assert minimise(NINE, seed=results[1].seed) == results[1]  # a new seed is told
    assert str(minimise(NINE, seed=(1 << 128) - 1).board) != known


@pytest.mark.usefixtures("uncompiled")
def test_given_candidates_stay() -> None:
    """But for a cell whose clue is removed, which may have any digit then."""
    masks = np.full(16, 15, np.uint64)
    masks[[3, 12]] = 0b1000, 0b1000
    cells = [1, 2, 3, 0, 3, 4, 1, 2, 2, 1, 4, 3, 0, 3, 2, 1]
    result = minimise(Board(cells, candidates=masks), seed=0, engine=CpuEngine(1))
    given = result.board.given_candidates
    assert given is not None
    assert given[[3, 12]].tolist() == [8, 8]
    assert all(given[cell] == 15 for cell in result.removed)
    assert gpusudoku.count(result.board, engine=CpuEngine(1)) == 1
    assert naive.count(without(result.board), limit=2) == 2  # they are needed


@pytest.mark.usefixtures("uncompiled")
def test_errors() -> None:
    given: Any
    for given, seed, message in (
        ("." * 16, 0, "the board has several solutions, expected exactly one"),
        ("12..3..4........", 0, "the board has no solution"),
        ("1234341221434312", 0, "the board has no solution"),
        ([1, 2], 0, "2 cells do not make a square board"),
        ("1234341221434321", 1 << 128, "seed "),
        ("1234341221434321", "7", "seed '7': expected an integer"),
    ):
        with pytest.raises(InputError) as caught:
            minimise(given, seed=seed, engine=CpuEngine(1))
        assert str(caught.value).startswith(message)
        assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("uncompiled")
def test_a_token_stops_it_at_any_moment() -> None:
    board, engine, cancelled = full("2x2", 0), CpuEngine(3), 0
    expected = minimise(board, seed=1, engine=engine)
    for token in moments():
        try:
            assert minimise(board, seed=1, engine=engine, cancel=token) == expected
        except Cancelled:
            cancelled += 1
    assert cancelled > 5
    with pytest.raises(Cancelled), Countdown(9):
        minimise(board, engine=engine)


@pytest.mark.usefixtures("uncompiled")
def test_a_token_stops_it_where_it_would_take_for_ever() -> None:
    token, reports = CancelToken(), list[int]()

    def progress(tried: int, clues: int) -> None:
        assert clues == 625
        reports.append(tried)
        if tried == 12:
            token.cancel()

    with pytest.raises(Cancelled):
        minimise(full("5x5", 0), seed=0, engine=CpuEngine(1), progress=progress, cancel=token)
    assert reports == [*range(1, 13)]


@pytest.mark.usefixtures("uncompiled")
def test_an_interrupt_is_told() -> None:
    def interrupt(*_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(Interrupted, match=r"^interrupted$") as caught:
        minimise(full("2x2", 0), engine=CpuEngine(1), progress=interrupt)
    assert not isinstance(caught.value, Cancelled)


@pytest.mark.usefixtures("uncompiled")
def test_it_is_shown() -> None:
    board = full("2x2", 0)
    result = minimise(board, seed=1 << 100, engine=CpuEngine(1))
    left = result.board.clues
    words = f"{left} of 16 clues left, with seed {1 << 100}"
    assert repr(result) == f"<Minimised: {words}>"
    assert f"<div>{words}</div>" in result._repr_html_()
    assert result.as_dict() == {
        "puzzle": str(board),
        "board": str(result.board),
        "box": "2x2",
        "clues": left,
        "removed": list(result.removed),
        "seed": str(1 << 100),
    }
    assert json.loads(json.dumps(result.as_dict())) == result.as_dict()
