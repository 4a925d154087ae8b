"""Going through the solutions with some prefixes: against full lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.errors import Cancelled, TooExpensive
from gpusudoku.options import Options
from gpusudoku.orders import few, prefixes
from gpusudoku.orders.prefixes import Prefixes, Through
from tests import naive
from tests.boards import puzzle, spoilt

BOARDS = {
    "the empty 2x2": Board.empty(Geometry(2, 2)),
    "2x3": puzzle("2x3", 8, 0),
    "3x2": puzzle("3x2", 10, 0),
    "one solution": puzzle("2x2", 12, 0),
    "no solution": spoilt(puzzle("2x2", 9, 1), 2),
    "full": puzzle("2x2", 16, 0),
}


def through(board: Board, jobs: int = 1, large: set[bytes] | None = None) -> Through:
    known = set[bytes]() if large is None else large
    return Through(Prefixes(board), Options(), CpuEngine(jobs), known)


def all_of(one: Through, start: Sequence[bytes] = (b"",)) -> list[tuple[int, ...]]:
    return [tuple(row) for block in one.rows(start) for row in block.tolist()]


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("together", [1, 2, 7])
@pytest.mark.parametrize(("first", "last"), [(1, 1), (1, 40), (5, 20), (1000, 1000)])
@pytest.mark.parametrize("name", BOARDS)
def test_all_in_order(
    name: str, first: int, last: int, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However few are found at once, and however few are sorted together."""
    monkeypatch.setattr(prefixes, "FIRST_MOST", first)
    monkeypatch.setattr(prefixes, "LAST_MOST", last)
    monkeypatch.setattr(prefixes, "TOGETHER", together)
    monkeypatch.setattr(few, "CUT", last // 2)
    assert all_of(through(BOARDS[name])) == list(naive.solutions(BOARDS[name]))


@pytest.mark.parametrize("jobs", [1, 2])
def test_nine_by_nine(jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefixes, "FIRST_MOST", 1 << 4)
    monkeypatch.setattr(few, "CUT", 1 << 5)
    board = puzzle("3x3", 25, 1)
    expected = list(naive.solutions(board))
    assert len(expected) > 1000
    assert all_of(through(board, jobs)) == expected


@pytest.mark.usefixtures("uncompiled")
def test_some_prefixes() -> None:
    """Those that are given, the last first."""
    board = BOARDS["2x3"]
    known = Prefixes(board)
    start = known.longer(b"")
    assert len(start) > 1
    cell = int(known.cells[0])
    wanted = {prefix[0] for prefix in start[:-1]}
    expected = [cells for cells in naive.solutions(board) if cells[cell] in wanted]
    assert all_of(through(board), start[:-1]) == expected


@pytest.mark.usefixtures("uncompiled")
def test_what_is_large_is_searched_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefixes, "FIRST_MOST", 2)
    searched: list[int] = []

    def find_each(boards: Batch, *others: Any) -> Any:
        searched.append(len(boards))
        return original(boards, *others)

    original = prefixes.find_each
    monkeypatch.setattr(prefixes, "find_each", find_each)
    large = set[bytes]()
    first = next(through(BOARDS["2x3"], large=large).rows([b""]))
    assert large
    before = len(searched)
    assert (next(through(BOARDS["2x3"], large=large).rows([b""])) == first).all()
    assert len(searched) - before < before


@pytest.mark.usefixtures("uncompiled")
def test_longer_prefixes_are_in_order_and_cover_all() -> None:
    board = BOARDS["3x2"]
    known = Prefixes(board)
    found = [board.cells[known.cells[:0]].tobytes()]
    for _ in range(3):
        found = [longer for prefix in found for longer in reversed(known.longer(prefix))]
    assert found == sorted(found)
    solutions = np.array(list(naive.solutions(board)), np.uint8)
    assert {bytes(row[known.cells[:3]]) for row in solutions} <= set(found)


class Slow:
    """Takes the place of ``find_each``: searches of more than some are given up."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, boards: int, most: int) -> None:
        self.boards, self.most, self.asked = boards, most, list[tuple[int, int]]()
        self.original = prefixes.find_each
        monkeypatch.setattr(prefixes, "find_each", self)

    def __call__(self, boards: Batch, options: Any, engine: Any, most: int, seconds: float) -> Any:
        self.asked.append((len(boards), most))
        if len(boards) > self.boards or most > self.most:
            raise Cancelled("cancelled", 0)
        return self.original(boards, options, engine, most, seconds)


@pytest.mark.usefixtures("uncompiled")
class TestPatience:
    def test_what_takes_too_long_together_is_found_one_by_one(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        board = BOARDS["2x3"]
        for boards, most in [(1, 1000), (7, 1), (1, 1)]:
            slow = Slow(monkeypatch, boards, most)
            assert all_of(through(board)) == list(naive.solutions(board))
            assert any(asked[0] > boards or asked[1] > most for asked in slow.asked)
            monkeypatch.setattr(prefixes, "find_each", slow.original)

    def test_one_alone_that_takes_too_long_is_refused(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        slow = Slow(monkeypatch, 0, 0)
        with pytest.raises(TooExpensive):
            all_of(through(BOARDS["2x3"]))
        assert slow.asked == [(1, prefixes.FIRST_MOST), (1, 1)]

    def test_the_refusal_names_the_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(prefixes, "LIST_SECONDS", -3.0)  # it is over already
        with pytest.raises(TooExpensive, match=r"and to find them takes more than -3 s$"):
            all_of(through(BOARDS["2x3"]))

    def test_slow_searches_do_not_grow(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(prefixes, "FIRST_MOST", 4)
        monkeypatch.setattr(prefixes, "QUICK", 0.0)
        slow = Slow(monkeypatch, 99, 9999)
        assert all_of(through(BOARDS["2x3"])) == list(naive.solutions(BOARDS["2x3"]))
        assert {*slow.asked} == {(1, 4)}
