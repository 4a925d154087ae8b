"""The join's order has every solution once: small boards of many shapes, whole and in pieces."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general import order as general_order
from gpusudoku.contraction.general.join import Join
from gpusudoku.contraction.general.order import LOW, JoinOrder
from gpusudoku.errors import TooExpensive
from gpusudoku.kernels.contraction.general.arrays import Branches
from gpusudoku.kernels.contraction.general.numbers import (
    MISSED,
    STOPPED,
    Found,
    find_terms,
    times,
)
from tests import naive
from tests.boards import puzzle
from tests.contraction.general.boards import clues_only, empty, join_of

BOARDS = [("2x2", 0, 0), ("2x2", 1, 3), ("1x4", 2, 1), ("4x1", 3, 2), ("1x5", 7, 0), ("1x6", 16, 2),
          ("2x3", 8, 1), ("3x2", 9, 3), ("2x4", 24, 1), ("4x2", 26, 2), ("3x3", 28, 3),
          ("2x5", 50, 1), ("3x4", 75, 1)]  # fmt: skip
"""Shape, clues and seed of boards that the oracle lists."""
SIX = puzzle("2x3", 8, 1)


def order_of(board: Any, threads: int = 2, **options: Any) -> JoinOrder:
    return JoinOrder(join_of(board, **options), threads)


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
    mixed = np.random.default_rng(1).integers(0, order.count, 200)
    assert (order.at(mixed) == rows[mixed]).all()
    assert order.at(mixed[:0]).shape == (0, board.geometry.cells)
    assert (order.at(np.array([order.count - 1], object)) == rows[-1:]).all()
    monkeypatch.setattr(general_order, "CALL_NUMBERS", 3)
    for steps in 1, 50:
        monkeypatch.setattr(general_order, "PIECE_STEPS", steps)
        assert (order_of(board, 3).at(mixed) == rows[mixed]).all()


def test_the_empty_board_of_6x6() -> None:
    """Every grid of it comes once: each member of an orbit, with its own solutions."""
    order = order_of(empty("2x3"))
    assert order.count == 28_200_960
    numbers = np.random.default_rng(2).choice(order.count, 20_000, replace=False)
    rows = order.at(numbers)
    assert len(set(keys(rows))) == len(rows)
    assert (np.sort(rows[:, Geometry(2, 3).units], axis=2) == np.arange(1, 7)).all()
    first = np.bincount(rows[:, 0], minlength=7)[1:]
    assert abs(first - len(rows) / 6).max() < 300


def test_a_board_without_solutions_has_no_numbers() -> None:
    candidates = clues_only(empty("2x2")).copy()
    candidates[-1] = 0
    assert JoinOrder(Join(candidates, Geometry(2, 2))).count == 0


def test_numbers_beyond_a_word() -> None:
    """Python's integers, which are used where counts pass 2^63, lead to the same solutions."""
    order = order_of(SIX)
    rows = order.at(np.arange(order.count))
    order._dtype = np.dtype(object)
    order._starts, order._ends = order._starts.astype(object), order._ends.astype(object)
    order._solutions = order._solutions.astype(object)
    assert (order.at(np.arange(order.count)) == rows).all()


def test_a_sum_beyond_a_word() -> None:
    """One branch, whose multiplicities are multiplied so that its sum passes two words."""
    way = join_of(puzzle("2x4", 20, 1), symmetric=False).orientation
    assert way is not None
    stop = np.zeros(1, np.int64)
    sums, _ = way.sum(way.branches, np.zeros(0, np.uint64), way.scratch(), stop)
    branch = int(sums[:, 0].argmax())
    whole = int(sums[branch, 0])

    def found(numbers: list[int], shift: int = 0, stop: int = 0) -> tuple[int, Found]:
        multiplicity = way.index.multiplicity.copy()
        multiplicity[way.index.begin[-2] :] <<= np.uint64(shift)
        found = Found(
            entries=np.zeros((len(numbers), len(way.summed)), np.int64),
            totals=np.zeros((len(numbers), len(way.crossing)), np.int64),
            rest=np.zeros(len(numbers), np.uint64),
        )
        status = find_terms(
            way.index._replace(multiplicity=multiplicity), *way.scratch(),
            Branches(*(field[branch : branch + 1] for field in way.branches)),
            np.array([0, len(numbers)]),
            np.array([[each & LOW, each >> 64] for each in numbers], np.uint64),
            found, np.array([stop]),
        )  # fmt: skip
        return status, found

    status, few = found([*range(whole)])
    assert status == 0
    assert len(set(map(bytes, few.entries))) > 2
    shift = 66 - whole.bit_length()
    over = [7919 * k % (1 << shift) for k in range(whole)]
    numbers = [(k << shift) + rest for k, rest in enumerate(over)]
    assert numbers[-1] >> 64
    status, many = found(numbers, shift)
    assert status == 0
    assert (many.entries == few.entries).all()
    assert (many.totals == few.totals).all()
    rests = zip(few.rest.tolist(), over, strict=True)
    assert many.rest.tolist() == [(rest << shift) + k for rest, k in rests]
    assert [found(numbers)[0] for numbers in ([0, whole - 1], [0, whole], [1 << 64])] == [
        0, MISSED, MISSED
    ]  # fmt: skip
    assert found([0], stop=1)[0] == STOPPED


def test_products_beyond_a_word_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    one = np.uint64(1)
    most = np.uint64((1 << 63) - 1)
    assert times(one, most) == most
    assert times(np.uint64(1 << 32), np.uint64(1 << 31)) == 0
    assert times(np.uint64(0), np.uint64(7)) == 0
    message = "the products of this board's sum pass 64 bits"
    join = join_of(SIX)
    way = join.orientation
    assert way is not None
    way.summed = [replace(line, multiplicity=line.multiplicity << 31) for line in way.summed]
    with pytest.raises(TooExpensive, match=message):
        JoinOrder(join)
