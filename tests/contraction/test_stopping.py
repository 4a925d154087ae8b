"""Contractions check a stop flag or a cancel token between chunks of their work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gpusudoku import Board, Cancelled, CancelToken, Geometry
from gpusudoku.contraction.general import boxes, entry_lists, graph
from gpusudoku.contraction.general import order as general_order
from gpusudoku.contraction.general.order import JoinOrder
from gpusudoku.contraction.general.shares import count_join_shares
from gpusudoku.contraction.general.symmetries import average_over_orbits
from gpusudoku.contraction.nine import order as nine_order
from gpusudoku.contraction.nine.order import NineOrder
from gpusudoku.contraction.nine.shares import NineShares
from gpusudoku.contraction.nine.sum import NineContraction
from gpusudoku.enumeration import sampling
from gpusudoku.enumeration.sampling import Uniform
from gpusudoku.errors import MismatchError
from gpusudoku.jobs import job
from tests.boards import puzzle
from tests.contraction.general.boards import RUNNING, join_of
from tests.contraction.nine.counted import candidates_of

STOPPED = np.ones(1, np.int64)
NINE = candidates_of(puzzle("3x3", 18, 1))
EMPTY = candidates_of(Board.empty(Geometry(3, 3)))


class CountingToken(CancelToken):
    """Counts how often it is checked, and is cancelled after a number of checks."""

    def __init__(self, max_checks: int = 1 << 60) -> None:
        super().__init__()
        self.checks = 0
        self._max_checks = max_checks

    @property
    def cancelled(self) -> bool:
        """Count this check; true if it was one too many."""
        self.checks += 1
        return self.checks > self._max_checks


def assert_cancellable(work: Callable[[], Any]) -> int:
    """Fail unless work stops at cancelled checks; return how often it checks the token."""
    with CountingToken() as token:
        work()
    for max_checks in (0, token.checks // 2):
        with pytest.raises(Cancelled), CountingToken(max_checks):
            work()
    return token.checks


def test_a_join_in_smaller_chunks_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def results() -> tuple[Any, ...]:
        join = join_of(puzzle("2x3", 6, 0))
        total = join.sum(range(join.tasks), join.scratch(), RUNNING)
        order = JoinOrder(join)
        grids = order.at(np.array(range(0, order.count, 1 + order.count // 50), object))
        return total, order.count, grids.tolist()

    monkeypatch.setattr(job, "POLL_SECONDS", 100)  # else a waiting thread checks the token
    expected = results()
    checks = assert_cancellable(results)
    for module, name, size in (
        (entry_lists, "CALL_ROWS", 5), (graph, "CALL_PATHS", 3), (graph, "BLOCK_SETS", 3),
        (graph, "CALL_EDGES", 2), (boxes, "CALL_BITS", 1), (general_order, "LOCATED_RANKS", 4),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, size)
        with CountingToken() as token:
            assert results() == expected, name
        assert token.checks > checks, name
        checks = token.checks


def test_sums_and_ranks_check_their_flag() -> None:
    contraction = NineContraction(NINE)
    contraction.prepare(1)
    tasks = range(contraction.tasks)
    assert contraction.sum(tasks, contraction.scratch(), STOPPED) == (0, 0)
    assert contraction.sum(tasks, contraction.scratch(), RUNNING)[0] > 0
    order = NineOrder(NINE)
    locations = order.locate([*range(order.count // 2, order.count // 2 + 9)])
    assert order.triples(locations.orbit, locations.rank, RUNNING).any()
    assert not order.triples(locations.orbit, locations.rank, STOPPED).any()


def test_stopped_environments_continue_where_they_stopped() -> None:
    shares = NineShares(NINE)
    pairs = next(shares.pivot_sums(1))
    adder = shares.memory.adder(0, shares.wide)
    adder.begin(shares.memory, shares.max_pending)
    with pytest.raises(Cancelled), CountingToken(5):
        list(adder.add(range(pairs), STOPPED))
    assert list(adder.add(range(pairs), RUNNING)) == []
    with pytest.raises(Cancelled), CountingToken(5):
        NineShares(NINE).run(1)
    join = join_of(puzzle("2x3", 3, 4))
    for threads in (1, 2):
        with pytest.raises(Cancelled), CountingToken(0):
            count_join_shares(join, 1000, threads)


def test_ranks_are_located_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    order = NineOrder(EMPTY)
    ranks = [int(n) << 50 for n in np.random.default_rng(1).integers(0, 1 << 20, 100)]
    expected = order.at(ranks)
    monkeypatch.setattr(nine_order, "LOCATED_RANKS", 9)
    assert (order.at(ranks) == expected).all()
    assert assert_cancellable(lambda: order.locate(ranks)) >= 100 // 9


@pytest.mark.parametrize("count", [10**3, 10**25])
def test_ranks_are_drawn_in_chunks(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    uniform = Uniform(7, count)
    expected = uniform.numbers(3, 200)
    distinct = np.concatenate([*uniform.distinct(500)])
    monkeypatch.setattr(sampling, "CHUNK", 11)
    assert (uniform.numbers(3, 200) == expected).all()
    assert (np.concatenate([*uniform.distinct(500)]) == distinct).all()
    assert assert_cancellable(lambda: uniform.numbers(3, 200)) > 197 // 11


def test_means_over_orbits_are_exact_or_an_error() -> None:
    shares = np.array([3, 0, 6, 7, 1 << 70], object)
    cycle = np.array([1, 2, 0, 3, 4])
    swap = np.array([0, 1, 2, 4, 3])
    assert average_over_orbits(shares, []) is shares
    assert average_over_orbits(shares, [cycle]).tolist() == [3, 3, 3, 7, 1 << 70]
    with pytest.raises(MismatchError, match="no whole numbers"):
        average_over_orbits(shares, [cycle, swap])
