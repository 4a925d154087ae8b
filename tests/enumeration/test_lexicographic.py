"""The ascending order counts no more than it needs, refuses what takes too long, begins anew."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.enumeration import in_memory
from gpusudoku.enumeration.lexicographic import LexicographicIndex, counts_of_digits
from gpusudoku.enumeration.solution_set import SolutionSet
from gpusudoku.errors import Cancelled, Interrupted, MismatchError, TooExpensive
from gpusudoku.jobs.cancel import CancelToken
from gpusudoku.options import Options
from tests.boards import puzzle
from tests.enumeration.short import listed, short_blocks, short_lists, solution_set_of

BOARD = puzzle("2x3", 9, 0)

pytestmark = pytest.mark.usefixtures("uncompiled")


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    short_lists(monkeypatch)
    short_blocks(monkeypatch)


def all_of(solution_set: SolutionSet) -> list[list[int]]:
    return np.concatenate(list(solution_set.ascending_list.rows(0))).tolist()


def test_no_count_is_needed_to_go_through() -> None:
    orders = solution_set_of(BOARD)
    assert all_of(orders) == listed(BOARD).tolist()
    assert not orders.is_counted


def test_what_was_interrupted_is_done_again() -> None:
    orders = solution_set_of(BOARD)
    count = len(listed(BOARD))
    assert orders.count == count
    token = CancelToken()
    token.cancel()
    with pytest.raises(Interrupted), token:
        orders.ascending.at(np.arange(3))
    assert (orders.ascending.at(np.arange(count)) == listed(BOARD)).all()


@pytest.mark.parametrize("whole", [0, 73])
def test_a_count_that_does_not_add_up(whole: int) -> None:
    """A 4x4 board with one clue has 72 solutions."""
    board = Board([1, *[0] * 15])
    known = counts_of_digits(board, 10, [1, 2, 3, 4], Options(), CpuEngine(1), 60, whole)
    with pytest.raises(MismatchError, match="cannot be divided among 3 interchangeable digits"):
        list(known)


def test_a_count_that_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpusudoku.enumeration.lexicographic.PREFIX_COUNT_SECONDS", 1e-9)
    board = Board.empty(Geometry(2, 3))
    engine = CpuEngine(1)
    order = LexicographicIndex(board, Options(), engine, engine, lambda: 28_200_960)
    with pytest.raises(TooExpensive, match=r"one of these should take about .* s$") as error:
        order.at(np.arange(3))
    assert error.value.seconds is not None
    assert f" {error.value.seconds:.1e} s" in str(error.value)


def test_a_list_that_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "gpusudoku.enumeration.lexicographic.LIST_SECONDS", -3.0
    )  # it is over already
    with pytest.raises(TooExpensive, match=r"and finding them takes more than -3 s$"):
        all_of(solution_set_of(BOARD))


@pytest.mark.parametrize(("boards", "most"), [(1, 1000), (7, 1), (1, 1)])
def test_what_takes_too_long_together_is_found_one_by_one(
    boards: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find_sorted(some: Batch, options: Any, engine: Any, wanted: int, seconds: float) -> Any:
        if len(some) > boards or wanted > most:
            given_up.append(len(some))
            raise Cancelled("cancelled", 0)
        return in_memory.find_sorted(some, options, engine, wanted, seconds)

    given_up: list[int] = []
    monkeypatch.setattr("gpusudoku.enumeration.lexicographic.find_sorted", find_sorted)
    assert all_of(solution_set_of(BOARD)) == listed(BOARD).tolist()
    assert given_up


def test_more_boards_than_two_bytes_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    number = (1 << 16) + 2
    boards = Batch.of([BOARD]).select(np.zeros(number, np.int64))
    rows = listed(BOARD)[:3]
    roots = np.array([number - 1, 0, 5])
    found = rows[[2, 0, 1]], roots, None
    monkeypatch.setattr(in_memory, "find_solutions", lambda *_, **__: found)
    found, counts = in_memory.find_sorted(boards, Options(), CpuEngine(1), 9)
    assert (found == rows).all()
    assert np.flatnonzero(counts).tolist() == [0, 5, number - 1]


def test_a_look_for_few_solutions_may_be_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    """The orders are the same, before anything is counted and after that."""
    monkeypatch.undo()  # few solutions are as many as usual
    monkeypatch.setattr("gpusudoku.enumeration.solution_set.SEARCH_SECONDS", 1e-9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gpusudoku.enumeration.solution_set.SEARCHED_FIRST", 1 << 12)
        orders = solution_set_of(BOARD)
        assert all_of(orders) == listed(BOARD).tolist()
        assert not orders.is_counted
        assert orders.count == len(listed(BOARD))
        assert all_of(orders) == listed(BOARD).tolist()
        assert (next(orders.contraction_order.rows(0)) == listed(BOARD)).all()


@pytest.mark.parametrize(("board", "found"), [(BOARD, True), (Board([1, 1, *[0] * 14]), False)])
def test_whether_there_is_any_is_not_counted(board: Board, found: bool) -> None:
    orders = solution_set_of(board)
    assert orders.any is found
    assert orders.is_counted is not found
    assert (orders.count > 0) is found
    assert orders.any is found
