"""Which way is taken to solutions and shares, and how long it is looked for few of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpusudoku import Board, slicing
from gpusudoku.errors import MismatchError, TooExpensive
from gpusudoku.jobs.cancel import Patience
from gpusudoku.listing import solutions
from gpusudoku.orders import choose, few, general
from gpusudoku.orders.few import Few
from tests import naive
from tests.boards import puzzle
from tests.orders.short import short_lists

BOARD = puzzle("2x3", 8, 0)
SOLUTIONS = list(naive.solutions(BOARD))
NINE = puzzle("3x3", 28, 1)


def refuse(*_: Any) -> Any:
    raise TooExpensive("too expensive")


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("way", ["contraction", "visit", "refused", "counts"])
def test_the_shares_of_other_shapes_come_in_the_cheapest_way(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And in another if that is refused."""
    short_lists(monkeypatch)
    taken: list[str] = []
    for name in ("general_shares", "visited_shares", "counted_shares"):
        function = getattr(choose, name)
        monkeypatch.setattr(
            choose, name, lambda *given, f=function, n=name: taken.append(n) or f(*given)
        )
    if way != "visit":
        monkeypatch.setattr(choose, "VISITED_PER_SECOND", 1e-9)
    if way in ("refused", "counts"):
        monkeypatch.setattr(general, "join_shares", refuse)
    if way == "counts":
        monkeypatch.setattr(choose, "MOST_VISITED", 5)
    found = solutions(BOARD, device="cpu", jobs=1)
    if way == "visit":
        assert found._orders._general is not None
        found._orders._general.seconds = 1.0
    assert (found.shares() == Few(np.array(SOLUTIONS, np.uint8), 6).shares()).all()
    assert (
        taken
        == {
            "contraction": ["general_shares"],
            "visit": ["visited_shares"],
            "refused": ["general_shares", "visited_shares"],
            "counts": ["general_shares", "counted_shares"],
        }[way]
    )


def test_a_wrong_sum_is_not_kept_as_the_count(monkeypatch: pytest.MonkeyPatch) -> None:
    short_lists(monkeypatch)
    monkeypatch.setattr(choose, "nine_shares", lambda *_: np.arange(729).reshape(81, 9))
    found = solutions(NINE, device="cpu")
    with pytest.raises(MismatchError, match="do not add up"):
        found.shares()
    assert found.count == len([*naive.solutions(NINE)])


@pytest.mark.usefixtures("uncompiled")
class TestLooks:
    """Whether there are few solutions: a look at other boards is given up."""

    @pytest.fixture
    def looks(self, monkeypatch: pytest.MonkeyPatch) -> list[float]:
        """For how long it was looked; all of it is in vain."""
        looks: list[float] = []

        class NoPatience(Patience):
            def __init__(self, seconds: float) -> None:
                is_look = seconds in (choose.LOOK_SECONDS, slicing.LENGTH_SECONDS)
                looks.extend([seconds] * is_look)
                super().__init__(-1.0 if is_look else seconds)

        monkeypatch.setattr(few, "Patience", NoPatience)
        return looks

    def test_the_orders_are_the_same(self, looks: list[float]) -> None:
        found = solutions(BOARD, device="cpu", jobs=1)
        assert [*map(tuple, np.asarray(found).tolist())] == SOLUTIONS
        assert isinstance(found._orders.quick, Few)
        assert isinstance(found._orders.ascending, Few)
        assert looks == [choose.LOOK_SECONDS]

    def test_before_anything_is_counted(self, looks: list[float]) -> None:
        found = solutions(BOARD, device="cpu", jobs=1)
        assert [tuple(each.cells.tolist()) for each in found] == SOLUTIONS
        assert not found._orders.is_counted
        assert looks == [choose.LOOK_SECONDS]

    def test_once_they_are_counted_none_is_needed(self, looks: list[float]) -> None:
        found = solutions(BOARD, device="cpu", jobs=1)
        found._orders._count = len(SOLUTIONS)
        assert isinstance(found._orders.ascending, Few)
        assert isinstance(found._orders.quick, Few)
        assert not looks

    def test_a_length_is_not_waited_for(
        self, looks: list[float], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(choose, "count_one", refuse)
        monkeypatch.setattr(choose, "contracted", lambda _: None)
        found = solutions(BOARD, device="cpu", jobs=1)[:]
        for _ in range(2):
            with pytest.raises(TypeError, match=r"use \.count$"):
                len(found)
        assert looks == [slicing.LENGTH_SECONDS]
        with pytest.raises(TooExpensive):
            found._orders.shares.sum()
        assert looks == [slicing.LENGTH_SECONDS, choose.LOOK_SECONDS]

    def test_nine_by_nine_is_looked_at_to_the_end(self, looks: list[float]) -> None:
        assert isinstance(solutions(puzzle("3x3", 60, 1), device="cpu")._orders.ascending, Few)
        assert not looks

    def test_whether_there_is_any_is_found_out_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        searched: list[int] = []
        original = choose.find
        monkeypatch.setattr(
            choose, "find", lambda *given: searched.append(given[3]) or original(*given)
        )
        found = solutions(BOARD, device="cpu", jobs=1)
        assert (bool(found), bool(found)) == (True, True)
        assert searched == [0]
        none = solutions(Board([1, 1, *[0] * 14]), device="cpu", jobs=1)
        assert (bool(none), none.count, list(none)) == (False, 0, [])
        assert searched == [0, 0]
