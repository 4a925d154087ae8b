"""Contractions work in pieces and look at a flag or a token on their way: stopped, or the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gpusudoku import Board, Cancelled, CancelToken, Geometry
from gpusudoku.contraction.general import boxes, graph, maps
from gpusudoku.contraction.general import order as general_order
from gpusudoku.contraction.general.order import JoinOrder
from gpusudoku.contraction.general.shares import join_shares
from gpusudoku.contraction.general.symmetries import average
from gpusudoku.contraction.nine import order as nine_order
from gpusudoku.contraction.nine.order import NineOrder
from gpusudoku.contraction.nine.shares import NineShares
from gpusudoku.contraction.nine.sum import Nine
from gpusudoku.enumeration import sampling
from gpusudoku.enumeration.sampling import Uniform
from gpusudoku.errors import MismatchError
from gpusudoku.jobs import job
from tests.boards import puzzle
from tests.contraction.general.boards import GOES_ON, join_of
from tests.contraction.nine.counted import candidates_of

STOPPED = np.ones(1, np.int64)
NINE = candidates_of(puzzle("3x3", 18, 1))
EMPTY = candidates_of(Board.empty(Geometry(3, 3)))


class Looks(CancelToken):
    """Counts how often it is looked at, and is cancelled after so many times."""

    def __init__(self, most: int = 1 << 60) -> None:
        super().__init__()
        self.number = 0
        self._most = most

    @property
    def cancelled(self) -> bool:
        """Tell whether that was too often."""
        self.number += 1
        return self.number > self._most


def stops_anywhere(work: Callable[[], Any]) -> int:
    """See that work stops wherever it looks at the token; returns how often it does."""
    with Looks() as token:
        work()
    for most in (0, token.number // 2):
        with pytest.raises(Cancelled), Looks(most):
            work()
    return token.number


def test_a_join_in_pieces_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def made() -> tuple[Any, ...]:
        join = join_of(puzzle("2x3", 6, 0))
        total = join.sum(range(join.tasks), join.scratch(), GOES_ON)
        order = JoinOrder(join)
        grids = order.at(np.array(range(0, order.count, 1 + order.count // 50), object))
        return total, order.count, grids.tolist()

    monkeypatch.setattr(job, "POLL_SECONDS", 100)  # else it looks while it waits
    whole = made()
    looks = stops_anywhere(made)
    for module, name, size in (
        (maps, "CALL_ROWS", 5), (graph, "CALL_PATHS", 3), (graph, "BLOCK_SETS", 3),
        (graph, "CALL_EDGES", 2), (boxes, "CALL_BITS", 1), (general_order, "PLACES", 4),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, size)
        with Looks() as token:
            assert made() == whole, name
        assert token.number > looks, name
        looks = token.number


def test_sums_and_numbers_look_at_their_flag() -> None:
    nine = Nine(NINE)
    nine.prepare(1)
    tasks = range(nine.tasks)
    assert nine.sum(tasks, nine.scratch(), STOPPED) == (0, 0)
    assert nine.sum(tasks, nine.scratch(), GOES_ON)[0] > 0
    order = NineOrder(NINE)
    place = order.locate([*range(order.count // 2, order.count // 2 + 9)])
    assert order.cells(place.orbit, place.number, GOES_ON).any()
    assert not order.cells(place.orbit, place.number, STOPPED).any()


def test_a_stopped_sweep_goes_on_where_it_was() -> None:
    shares = NineShares(NINE)
    pairs = next(shares.turns(1))
    sweeper = shares.memory.sweeper(0, shares.wide)
    sweeper.begin(shares.memory, shares.most_pending)
    with pytest.raises(Cancelled), Looks(5):
        list(sweeper.sweep(range(pairs), STOPPED))
    assert list(sweeper.sweep(range(pairs), GOES_ON)) == []
    with pytest.raises(Cancelled), Looks(5):
        NineShares(NINE).run(1)
    join = join_of(puzzle("2x3", 3, 4))
    for threads in (1, 2):
        with pytest.raises(Cancelled), Looks(0):
            join_shares(join, 1000, threads)


def test_numbers_are_located_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    order = NineOrder(EMPTY)
    numbers = [int(n) << 50 for n in np.random.default_rng(1).integers(0, 1 << 20, 100)]
    whole = order.at(numbers)
    monkeypatch.setattr(nine_order, "PLACES", 9)
    assert (order.at(numbers) == whole).all()
    assert stops_anywhere(lambda: order.locate(numbers)) >= 100 // 9


@pytest.mark.parametrize("count", [10**3, 10**25])
def test_numbers_are_drawn_in_pieces(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    uniform = Uniform(7, count)
    whole = uniform.numbers(3, 200)
    distinct = np.concatenate([*uniform.distinct(500)])
    monkeypatch.setattr(sampling, "CHUNK", 11)
    assert (uniform.numbers(3, 200) == whole).all()
    assert (np.concatenate([*uniform.distinct(500)]) == distinct).all()
    assert stops_anywhere(lambda: uniform.numbers(3, 200)) > 197 // 11


def test_means_over_orbits_are_exact_or_an_error() -> None:
    shares = np.array([3, 0, 6, 7, 1 << 70], object)
    cycle = np.array([1, 2, 0, 3, 4])
    swap = np.array([0, 1, 2, 4, 3])
    assert average(shares, []) is shares
    assert average(shares, [cycle]).tolist() == [3, 3, 3, 7, 1 << 70]
    with pytest.raises(MismatchError, match="no whole numbers"):
        average(shares, [cycle, swap])
