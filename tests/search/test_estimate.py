"""The estimate of a search: exact for small trees, close for large ones, deterministic."""

from __future__ import annotations

import numpy as np
import pytest

from gpusudoku import collection
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.counting import count
from gpusudoku.kernels.search.shape import SearchSettings
from gpusudoku.search.frontier import Frontier, SearchEstimate, estimate_search
from tests.boards import puzzle, with_wrong_clue


def estimated(board: Board) -> SearchEstimate:
    return estimate_search(Frontier.of([board]), SearchSettings())


@pytest.mark.parametrize("spoil", [False, True])
def test_small_trees_are_seen_whole(spoil: bool) -> None:
    for seed in range(3):
        board = puzzle("3x3", 30, seed)
        board = with_wrong_clue(board, seed) if spoil else board
        result = count(board, device="cpu", method="search")
        estimate = estimated(board)
        assert estimate.exact
        assert estimate.solutions == result.count
        assert estimate.nodes == result.stats.nodes


@pytest.mark.parametrize("name", ["1d", "1e", "2c", "2d", "2e"])
def test_large_trees_within_a_factor(name: str) -> None:
    estimate = estimated(collection.load(name))
    total = collection.entry(name).count
    assert not estimate.exact
    assert total / 4 < estimate.solutions < 4 * total
    assert estimate.nodes > estimate.solutions
    assert estimate == estimated(collection.load(name))
    assert 1e3 * estimate.seconds(1) < estimate.seconds() == estimate.seconds(10**12)


def test_without_bias() -> None:
    """Errors cancel in the average over different trees."""
    ratios = []
    for seed in range(30):
        board = puzzle("3x3", 21, seed)
        total = count(board, device="cpu", method="contraction").count
        ratios.append(estimated(board).solutions / total)
    assert 0.7 < np.mean(ratios) < 1.4


def test_small_trees_are_counted() -> None:
    dead = estimated(Board([1, 1] + [0] * 34, Geometry(2, 3)))
    assert (dead.nodes, dead.exact) == (1, True)
    mixed = estimated(with_wrong_clue(puzzle("2x3", 8, 2), 2))
    assert (mixed.exact, mixed.nodes, mixed.solutions) == (True, 225, 165)
    assert mixed.seconds() == pytest.approx(225 * dead.seconds())


def test_empty_boards_are_hopeless() -> None:
    estimate = estimated(Board.empty(Geometry(4, 4)))
    assert estimate.is_endless
    assert estimate.nodes > 1e17
    assert estimate.seconds() > 1e9
    assert not estimate.exact
