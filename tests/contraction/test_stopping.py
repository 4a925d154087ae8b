"""What looks at a flag or a token on its way stops there, and else gives what it always gave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gpusudoku import Board, Cancelled, CancelToken, Geometry
from gpusudoku.contraction.general import graph, index, maps, paths, quick
from gpusudoku.contraction.general.join import Join
from gpusudoku.contraction.general.maps import concatenated, grouped, sorted_by
from gpusudoku.contraction.general.quick import JoinOrder
from gpusudoku.contraction.nine import quick as nine_quick
from gpusudoku.contraction.nine.batch import CHEAP_SECONDS, BatchWorker
from gpusudoku.contraction.nine.quick import QuickOrder
from gpusudoku.contraction.nine.shares import NineShares
from gpusudoku.contraction.nine.sum import Nine
from gpusudoku.kernels.contraction.nine.ledger import FIRST
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.orders import sampling
from gpusudoku.orders.sampling import Uniform
from gpusudoku.search.frontier import Frontier
from tests.boards import puzzle

STOPPED, GOES_ON = np.ones(1, np.int64), np.zeros(1, np.int64)
SHAPE = Geometry(2, 3)
RNG = np.random.default_rng(1)


def candidates(board: Board) -> NDArray[np.uint64]:
    """What a contraction begins with."""
    found: NDArray[np.uint64] = Frontier.of([board]).simplified(SearchSettings()).candidates[0]
    return found


BOARD = candidates(puzzle("2x3", 6, 0))
NINE = candidates(puzzle("3x3", 18, 1))
EMPTY = candidates(Board.empty(Geometry(3, 3)))


class Looks(CancelToken):
    """Counts how often somebody looks at it, and is cancelled after so many times."""

    def __init__(self, most: int = 1 << 60) -> None:
        super().__init__()
        self.number, self._most = 0, most

    @property
    def cancelled(self) -> bool:
        """Whether that was too often."""
        self.number += 1
        return self.number > self._most


def looks_at_pieces(work: Callable[[], Any], pieces: int) -> None:
    """See that work looks at the token as often as it has pieces, and stops at any of them."""
    token = Looks()
    with token:
        work()
    assert token.number >= pieces
    for most in (0, pieces // 2, pieces - 1):
        with pytest.raises(Cancelled), Looks(most):
            work()


def test_equal_rows_are_found_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = RNG.integers(0, 5, (1000, 2)).astype(np.uint64)
    whole, known = grouped(rows), dict[tuple[int, ...], int]()
    assert whole[0].tolist() == [known.setdefault(tuple(row), len(known)) for row in rows.tolist()]
    assert rows[whole[1]].tolist() == [list(row) for row in known]
    monkeypatch.setattr(maps, "CALL_ROWS", 7)
    for one, other in zip(grouped(rows), whole, strict=True):
        assert np.array_equal(one, other)
    looks_at_pieces(lambda: grouped(rows), 1000 // 7)


def test_rows_are_sorted_in_pieces() -> None:
    entries = RNG.integers(0, 1 << 20, (3000, 3)) // np.array([1 << 18, 1, 1 << 12])
    assert np.array_equal(sorted_by(entries), np.lexsort(entries.T[::-1]))
    assert sorted_by(entries[:0]).tolist() == []
    looks_at_pieces(lambda: sorted_by(entries), 4)


def test_arrays_are_joined_one_by_one() -> None:
    parts = [RNG.integers(0, 9, (size, 2)) for size in (3, 0, 5)]
    assert np.array_equal(concatenated(parts), np.concatenate(parts))
    looks_at_pieces(lambda: concatenated(parts), 3)


def test_a_join_in_pieces_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its lists, its sum, and its solutions by number."""

    def made() -> tuple[Any, ...]:
        join = Join(BOARD, SHAPE)
        assert join.orientation is not None
        total = join.sum(range(join.tasks), join.scratch(), GOES_ON)
        order = JoinOrder(join)
        grids = order.at(np.array(range(0, order.count, 1 + order.count // 50), object))
        return (*join.orientation.index, total, order.count, grids)

    whole, token = made(), Looks()
    with token:
        made()
    for module, name, size in (
        *((maps, "CALL_ROWS", 5), (paths, "CALL_PATHS", 3), (graph, "BLOCK_SETS", 3)),
        *((paths, "CALL_EDGES", 2), (index, "CALL_BITS", 1), (quick, "PLACES", 4)),
    ):
        monkeypatch.setattr(module, name, size)
        more = Looks()
        with more:
            for one, other in zip(made(), whole, strict=True):
                assert np.array_equal(one, other), name
        assert more.number > token.number, name
        token = more


def test_loops_over_pairs_look_at_their_flag() -> None:
    nine = Nine(NINE)
    nine.prepare(1)
    tasks = range(nine.tasks)
    assert nine.sum(tasks, nine.scratch(), STOPPED) == (0, 0)
    assert nine.sum(tasks, nine.scratch(), GOES_ON)[0] > 0
    order = QuickOrder(NINE)
    place = order.locate([*range(order.count // 2, order.count // 2 + 9)])
    assert order.cells(place.orbit, place.number, GOES_ON).any()
    assert not order.cells(place.orbit, place.number, STOPPED).any()
    worker = BatchWorker()
    assert worker._counted(NINE[None], CHEAP_SECONDS, GOES_ON).any()
    assert not worker._counted(NINE[None], CHEAP_SECONDS, STOPPED).any()


def test_a_sweep_looks_at_its_flag() -> None:
    shares = NineShares(NINE)
    pairs = next(shares.turns(1))
    sweeper = shares.room.sweeper(0, shares.wide)
    sweeper.begin(shares.room, shares.most_pending)
    with pytest.raises(Cancelled), Looks(5):
        list(sweeper.sweep(range(pairs), STOPPED))
    assert sweeper.ledger.state[FIRST] == 0
    assert list(sweeper.sweep(range(pairs), GOES_ON)) == []
    assert sweeper.ledger.state[FIRST] == pairs


def test_numbers_are_located_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    order = QuickOrder(EMPTY)
    numbers = [int(number) << 50 for number in RNG.integers(0, 1 << 20, 100)]
    whole, grids = order.locate(numbers), order.at(numbers)
    monkeypatch.setattr(nine_quick, "PLACES", 9)
    for one, other in zip(order.locate(numbers), whole, strict=True):
        assert np.array_equal(one, other)
    assert np.array_equal(order.at(numbers), grids)
    looks_at_pieces(lambda: order.locate(numbers), 100 // 9)


@pytest.mark.parametrize("count", [10**3, 10**25])
def test_numbers_are_drawn_in_pieces(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    uniform = Uniform(7, count)
    whole, distinct = uniform.numbers(3, 200), np.concatenate([*uniform.distinct(500)])
    monkeypatch.setattr(sampling, "PIECE", 11)
    assert np.array_equal(uniform.numbers(3, 200), whole)
    assert np.array_equal(np.concatenate([*uniform.distinct(500)]), distinct)
    looks_at_pieces(lambda: uniform.numbers(3, 200), 197 // 11)
