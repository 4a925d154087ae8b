"""Solutions in memory."""

from __future__ import annotations

import numpy as np
import pytest

from gpusudoku.board.batch import Batch
from gpusudoku.board.geometry import Geometry
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.options import Options
from gpusudoku.orders import few
from gpusudoku.orders.few import Few, find, in_order, most_solutions
from tests import naive
from tests.boards import full_grid, puzzle

BOARD = puzzle("2x3", 8, 6)
SOLUTIONS = np.array(list(naive.solutions(BOARD)), np.uint8)


def made() -> Few:
    return Few(SOLUTIONS, BOARD.n)


def test_there_are_enough_to_try() -> None:
    assert 50 < len(SOLUTIONS) < 5000


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("jobs", [1, 2])
def test_finding(jobs: int) -> None:
    batch, engine, count = Batch.of([BOARD]), CpuEngine(jobs), len(SOLUTIONS)
    for most in (count, count + 1, 10 * count):
        found = find(batch, Options(), engine, most)
        assert found is not None
        assert (found == SOLUTIONS).all()
    for most in (0, 1, count - 1):
        assert find(batch, Options(), engine, most) is None


def test_more_boards_than_two_bytes_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    number = (1 << 16) + 2
    boards = Batch.of([BOARD]).chosen(np.zeros(number, np.int64))
    rows, roots = SOLUTIONS[:3][[2, 0, 1]], np.array([number - 1, 0, 5])
    monkeypatch.setattr(few, "CUT", 1)
    monkeypatch.setattr(few, "find_solutions", lambda *_, **__: (rows, roots, None))
    found, counts = few.find_each(boards, Options(), CpuEngine(1), 9)
    assert (found == SOLUTIONS[:3]).all()
    assert np.flatnonzero(counts).tolist() == [0, 5, number - 1]


@pytest.mark.parametrize("small", [0, 1 << 20])
@pytest.mark.parametrize("shape", ["1x1", "2x2", "3x3", "4x4", "8x8"])
def test_ascending_order(shape: str, small: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of grids, and of rows that differ in one cell, at any place."""
    monkeypatch.setattr(few, "SMALL", small)
    geometry = Geometry.parse(shape)
    rng = np.random.default_rng(0)
    rows = np.array([full_grid(geometry, seed).ravel() for seed in range(40)], np.uint8)
    rows = np.unique(rows, axis=0)
    assert (in_order(rng.permutation(rows)) == rows).all()
    near = np.tile(rows[0], (geometry.cells, 1))
    np.fill_diagonal(near, geometry.n + 1)
    near = np.array(sorted(near.tolist()), np.uint8)
    assert (in_order(rng.permutation(near)) == near).all()
    assert len(in_order(rows[:0])) == 0


def test_by_number_and_back() -> None:
    numbers = np.random.default_rng(1).integers(0, len(SOLUTIONS), 300)
    assert (made().at(numbers) == SOLUTIONS[numbers]).all()
    assert (made().at(numbers.astype(object)) == SOLUTIONS[numbers]).all()
    assert [made().rank(row) for row in SOLUTIONS] == list(range(made().count))


def test_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(few, "BLOCK", 7)
    for first, last in [(0, None), (0, 7), (3, 40), (5, 5), (len(SOLUTIONS), None), (0, 10**9)]:
        blocks = list(made().rows(first, last))
        assert all(0 < len(block) <= 7 for block in blocks)
        found = np.concatenate([SOLUTIONS[:0], *blocks])
        assert (found == SOLUTIONS[first:last]).all()
        lines = b"".join(made().texts(first, last)).decode().split("\n")[:-1]
        assert lines == ["".join(map(str, row)) for row in found.tolist()]


def test_what_is_given_can_be_changed() -> None:
    order = made()
    next(order.rows(0))[:] = 0
    order.at(np.arange(3))[:] = 0
    assert (next(order.rows(0))[0] == SOLUTIONS[0]).all()


def test_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(few, "BLOCK", 7)
    shares = made().shares()
    assert shares.shape == (36, 6)
    assert {*map(type, shares.flat)} == {int}
    for digit in range(1, 7):
        assert shares[:, digit - 1].tolist() == (digit == SOLUTIONS).sum(axis=0).tolist()


def test_large_boards_are_kept_in_bounds() -> None:
    assert most_solutions(Geometry(3, 3)) == most_solutions(Geometry(4, 4)) == 1 << 20
    assert most_solutions(Geometry(8, 8)) == 1 << 16
