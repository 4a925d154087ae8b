"""The order of a join has every solution once: small boards of many shapes."""

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
from gpusudoku.kernels.contraction.general.ranks import (
    MISSED,
    STOPPED,
    RankTerms,
    bounded_product,
    find_terms,
)
from tests import naive
from tests.boards import puzzle
from tests.contraction.general.boards import RUNNING, clues_only, empty, join_of

BOARDS = [("2x2", 0, 0), ("2x2", 1, 3), ("1x4", 2, 1), ("4x1", 3, 2), ("1x5", 7, 0), ("1x6", 16, 2),
          ("2x3", 8, 1), ("3x2", 9, 3), ("2x4", 24, 1), ("4x2", 26, 2), ("3x3", 28, 3),
          ("2x5", 50, 1), ("3x4", 75, 1)]  # fmt: skip
"""Shape, clues and seed of boards that the reference implementation lists."""
SIX = puzzle("2x3", 8, 1)


def order_of(board: Any, threads: int = 2, **options: Any) -> JoinOrder:
    return JoinOrder(join_of(board, **options), threads)


def as_bytes(grids: NDArray[np.uint8]) -> list[bytes]:
    return [grid.tobytes() for grid in grids]


@pytest.mark.parametrize(("shape", "clues", "seed"), BOARDS)
def test_every_solution_once(shape: str, clues: int, seed: int) -> None:
    board = puzzle(shape, clues, seed)
    expected = sorted(bytes(cells) for cells in naive.solutions(board))
    for options in {}, {"symmetric": False}, {"wide": True}:
        order = order_of(board, **options)
        assert order.count == len(expected)
        assert sorted(as_bytes(order.at(np.arange(order.count)))) == expected


@pytest.mark.parametrize(("shape", "clues", "seed"), [("2x3", 8, 1), ("2x4", 24, 1), ("1x5", 7, 0)])
def test_neither_order_nor_pieces_change_solutions(
    monkeypatch: pytest.MonkeyPatch, shape: str, clues: int, seed: int
) -> None:
    board = puzzle(shape, clues, seed)
    order = order_of(board, 1)
    grids = order.at(np.arange(order.count))
    ranks = np.random.default_rng(1).integers(0, order.count, 200)
    assert (order.at(ranks) == grids[ranks]).all()
    assert order.at(ranks[:0]).shape == (0, board.geometry.cells)
    assert (order.at(np.array([order.count - 1], object)) == grids[-1:]).all()
    monkeypatch.setattr(general_order, "CALL_RANKS", 3)
    for steps in 1, 50:
        monkeypatch.setattr(general_order, "PIECE_STEPS", steps)
        assert (order_of(board, 3).at(ranks) == grids[ranks]).all()


def test_the_empty_board_of_6x6() -> None:
    """Each member of an orbit has its own solutions."""
    order = order_of(empty("2x3"))
    assert order.count == 28_200_960
    ranks = np.random.default_rng(2).choice(order.count, 20_000, replace=False)
    grids = order.at(ranks)
    assert len(set(as_bytes(grids))) == len(grids)
    assert (np.sort(grids[:, Geometry(2, 3).units], axis=2) == np.arange(1, 7)).all()
    digit_counts = np.bincount(grids[:, 0], minlength=7)[1:]
    assert abs(digit_counts - len(grids) / 6).max() < 300


def test_a_board_without_solutions() -> None:
    candidates = clues_only(empty("2x2")).copy()
    candidates[-1] = 0
    assert JoinOrder(Join(candidates, Geometry(2, 2))).count == 0


def test_ranks_over_64_bits() -> None:
    """Python's integers, which serve for counts from 2^63 on, lead to the same solutions."""
    order = order_of(SIX)
    grids = order.at(np.arange(order.count))
    order._dtype = np.dtype(object)
    order._first_ranks = order._first_ranks.astype(object)
    order._sums_before = order._sums_before.astype(object)
    order._branch_solutions = order._branch_solutions.astype(object)
    assert (order.at(np.arange(order.count)) == grids).all()


def test_sums_over_64_bits() -> None:
    """The multiplicities of one branch are multiplied, so that its sum takes two words."""
    orientation = join_of(puzzle("2x4", 20, 1), symmetric=False).orientation
    assert orientation is not None
    index = orientation.index
    no_primes = np.zeros(0, np.uint64)
    sums, _ = orientation.sum(orientation.branches, no_primes, orientation.scratch(), RUNNING)
    number = int(sums[:, 0].argmax())
    branch = Branches(*(field[number : number + 1] for field in orientation.branches))
    branch_sum = int(sums[number, 0])

    def find(ranks: list[int], shift: int = 0, stop: int = 0) -> tuple[int, RankTerms]:
        """Find the terms of ranks where multiplicities of the last level are shifted."""
        multiplicity = index.multiplicity.copy()
        multiplicity[index.begin[-2] :] <<= np.uint64(shift)
        terms = RankTerms(
            entries=np.zeros((len(ranks), len(orientation.summed)), np.int64),
            totals=np.zeros((len(ranks), len(orientation.crossing)), np.int64),
            remainder=np.zeros(len(ranks), np.uint64),
        )
        status = find_terms(
            index._replace(multiplicity=multiplicity), *orientation.scratch(), branch,
            np.array([0, len(ranks)]),
            np.array([[rank & LOW, rank >> 64] for rank in ranks], np.uint64),
            terms, np.array([stop]),
        )  # fmt: skip
        return status, terms

    status, terms = find([*range(branch_sum)])
    assert status == 0
    assert len(set(map(bytes, terms.entries))) > 2
    shift = 66 - branch_sum.bit_length()
    low_bits = [7919 * rank % (1 << shift) for rank in range(branch_sum)]
    ranks = [(rank << shift) + low for rank, low in enumerate(low_bits)]
    assert ranks[-1] >> 64
    status, shifted_terms = find(ranks, shift)
    assert status == 0
    assert (shifted_terms.entries == terms.entries).all()
    assert (shifted_terms.totals == terms.totals).all()
    remainders = zip(terms.remainder.tolist(), low_bits, strict=True)
    assert shifted_terms.remainder.tolist() == [(rank << shift) + low for rank, low in remainders]
    assert find([0, branch_sum - 1])[0] == 0
    assert find([0, branch_sum])[0] == MISSED
    assert find([1 << 64])[0] == MISSED
    assert find([0], stop=1)[0] == STOPPED


def test_products_over_64_bits_raise() -> None:
    max_factor = np.uint64((1 << 63) - 1)
    assert bounded_product(np.uint64(1), max_factor) == max_factor
    assert bounded_product(np.uint64(1 << 32), np.uint64(1 << 31)) == 0
    assert bounded_product(np.uint64(0), np.uint64(7)) == 0
    message = "the products of this board's sum pass 64 bits"
    join = join_of(SIX)
    orientation = join.orientation
    assert orientation is not None
    orientation.summed = [
        replace(line, multiplicity=line.multiplicity << 31) for line in orientation.summed
    ]
    with pytest.raises(TooExpensive, match=message):
        JoinOrder(join)
