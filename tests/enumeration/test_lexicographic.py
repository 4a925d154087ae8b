"""The ascending order: it counts no more than it needs, and refuses work that takes too long."""

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
from tests.enumeration.short import naive_solutions, short_blocks, short_lists, solution_set_of

BOARD = puzzle("2x3", 9, 0)

pytestmark = pytest.mark.usefixtures("uncompiled")


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    short_lists(monkeypatch)
    short_blocks(monkeypatch)


def listed_solutions(solution_set: SolutionSet) -> list[list[int]]:
    return np.concatenate(list(solution_set.ascending_list.rows(0))).tolist()


def test_iterating_needs_no_count() -> None:
    orders = solution_set_of(BOARD)
    assert listed_solutions(orders) == naive_solutions(BOARD).tolist()
    assert not orders.is_counted


def test_an_interrupted_query_can_be_repeated() -> None:
    orders = solution_set_of(BOARD)
    count = len(naive_solutions(BOARD))
    assert orders.count == count
    token = CancelToken()
    token.cancel()
    with pytest.raises(Interrupted), token:
        orders.ascending.at(np.arange(3))
    assert (orders.ascending.at(np.arange(count)) == naive_solutions(BOARD)).all()


@pytest.mark.parametrize("whole", [0, 73])
def test_a_count_that_cannot_be_divided_is_an_error(whole: int) -> None:
    """A 4x4 board with one clue has 72 solutions."""
    board = Board([1, *[0] * 15])
    digit_counts = counts_of_digits(board, 10, [1, 2, 3, 4], Options(), CpuEngine(1), 60, whole)
    with pytest.raises(MismatchError, match="cannot be divided among 3 interchangeable digits"):
        list(digit_counts)


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
        listed_solutions(solution_set_of(BOARD))


@pytest.mark.parametrize(("max_boards", "max_solutions"), [(1, 1000), (7, 1), (1, 1)])
def test_boards_that_take_too_long_together_are_searched_one_by_one(
    max_boards: int, max_solutions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find_sorted(
        batch: Batch, options: Any, engine: Any, solution_count: int, seconds: float
    ) -> Any:
        if len(batch) > max_boards or solution_count > max_solutions:
            given_up.append(len(batch))
            raise Cancelled("cancelled", 0)
        return in_memory.find_sorted(batch, options, engine, solution_count, seconds)

    given_up: list[int] = []
    monkeypatch.setattr("gpusudoku.enumeration.lexicographic.find_sorted", find_sorted)
    assert listed_solutions(solution_set_of(BOARD)) == naive_solutions(BOARD).tolist()
    assert given_up


def test_boards_are_sorted_beyond_two_byte_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    number = (1 << 16) + 2
    boards = Batch.of([BOARD]).select(np.zeros(number, np.int64))
    rows = naive_solutions(BOARD)[:3]
    roots = np.array([number - 1, 0, 5])
    search_result = rows[[2, 0, 1]], roots, None
    monkeypatch.setattr(in_memory, "find_solutions", lambda *_, **__: search_result)
    search_result, counts = in_memory.find_sorted(boards, Options(), CpuEngine(1), 9)
    assert (search_result == rows).all()
    assert np.flatnonzero(counts).tolist() == [0, 5, number - 1]


def test_a_search_for_few_solutions_may_give_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The order is the same before and after a count."""
    monkeypatch.undo()  # few solutions are as many as usual
    monkeypatch.setattr("gpusudoku.enumeration.solution_set.SEARCH_SECONDS", 1e-9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gpusudoku.enumeration.solution_set.SEARCHED_FIRST", 1 << 12)
        orders = solution_set_of(BOARD)
        assert listed_solutions(orders) == naive_solutions(BOARD).tolist()
        assert not orders.is_counted
        assert orders.count == len(naive_solutions(BOARD))
        assert listed_solutions(orders) == naive_solutions(BOARD).tolist()
        assert (next(orders.contraction_order.rows(0)) == naive_solutions(BOARD)).all()


@pytest.mark.parametrize(
    ("board", "is_solvable"), [(BOARD, True), (Board([1, 1, *[0] * 14]), False)]
)
def test_solvability_is_known_without_a_count(board: Board, is_solvable: bool) -> None:
    orders = solution_set_of(board)
    assert orders.any is is_solvable
    assert orders.is_counted is not is_solvable
    assert (orders.count > 0) is is_solvable
    assert orders.any is is_solvable
