"""Search or contraction, and that both count alike."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction import prepare
from gpusudoku.contraction.general import effort, parts
from gpusudoku.contraction.general.effort import Effort
from gpusudoku.contraction.general.parts import Parts
from gpusudoku.contraction.prepare import contraction_of
from gpusudoku.counting import count, count_many
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.errors import TooExpensive
from gpusudoku.options import Options
from gpusudoku.planning.choose import choose
from gpusudoku.planning.hybrid import HybridPlan
from gpusudoku.results import Estimates
from gpusudoku.search.frontier import Frontier
from tests import naive
from tests.boards import CLUES, puzzle, run_uncompiled, spoilt

BOARD = puzzle("2x3", 8, 1)


def test_what_takes_less() -> None:
    short = count(puzzle("3x3", 40, 1), device="cpu")
    assert short.method == "search"
    assert short.estimates is not None
    assert short.estimates.search_seconds is not None
    assert short.estimates.contraction_seconds is None
    long = count(puzzle("3x3", 20, 1), device="cpu")
    assert long.method == "contraction"
    assert long.estimates is not None
    assert long.estimates.contraction_seconds < long.estimates.search_seconds
    assert long.stats.products > 0
    assert long.count == count(long.board, device="cpu", method="search").count


def test_few_clues_on_a_large_board_are_for_the_search() -> None:
    result = count(puzzle("4x4", 20, 1), device="cpu", limit=1000)
    assert (str(result), result.method) == ("1000+", "search")


@pytest.mark.parametrize("shape", ["4x4", "5x5", "1x9"])
def test_too_expensive_in_one_line_with_figures(
    shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shape == "1x9":  # compiled for nothing else
        run_uncompiled(monkeypatch)
    with pytest.raises(TooExpensive, match=r"too expensive to contract.*\d") as caught:
        count(Board.empty(Geometry.parse(shape)), device="cpu", method="contraction")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("method", ["search", "contraction"])
def test_limits_mean_the_same(method: str) -> None:
    options: dict[str, Any] = {"device": "cpu", "method": method}
    for board in (BOARD, puzzle("3x3", 24, 1)):
        total = count(board, **options).count
        for limit in (1, total - 1, total, total + 1):
            result = count(board, limit=limit, **options)
            assert (result.count, result.exact) == (min(total, limit), total < limit)
            assert str(next(iter(count_many([board], limit=limit, **options)))) == str(result)


@pytest.mark.parametrize("method", ["search", "contraction", "auto"])
def test_boards_without_solutions(method: str) -> None:
    boards = [spoilt(puzzle(shape, CLUES[shape], 3), 4) for shape in CLUES]
    boards += [spoilt(puzzle("3x3", 60, 5), 1), Board([1, 1] + [0] * 14)]
    for board in boards:
        assert count(board, device="cpu", method=method).count == naive.count(board)


@pytest.mark.parametrize("method", ["search", "contraction", "auto"])
def test_batches_of_all_shapes(method: str) -> None:
    boards = [puzzle(shape, CLUES[shape], seed) for seed in (1, 2) for shape in CLUES]
    results = count_many(boards, device="cpu", method=method)
    assert [result.count for result in results] == [naive.count(board) for board in boards]


def test_parts() -> None:
    """A board whose lists are too long is taken apart by clues, and its parts contracted."""
    for shape, clues in (("4x4", 145), ("3x3", 26), ("2x3", 6)):
        board = puzzle(shape, clues, 2)
        parts = Parts(board, 1 << 28, TooExpensive("too expensive"))
        found = HybridPlan(parts, 1 << 30, Estimates()).run(CpuEngine(2)).counts
        assert found == [count(board, device="cpu", method="search").count]


@pytest.mark.usefixtures("uncompiled")
def test_skinny_boards_end_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the method, what could take for ever is not begun."""
    monkeypatch.setattr(parts, "WALKERS", 1)  # each of them would meet the same bounds
    for shape, clues in (("1x8", 12), ("1x32", 900), ("1x64", 3584), ("32x1", 900)):
        with suppress(TooExpensive):
            board = puzzle(shape, clues, 1)
            contraction = contraction_of(board, Frontier.of([board]), 1 << 28)
            assert contraction is None or contraction.seconds > 0


def test_no_more_work_than_a_share_of_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """The look is bounded by counted work, alike every time, and told where it is long."""
    made: list[Effort] = []

    class Watched(Effort):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            made.append(self)

    monkeypatch.setattr(prepare, "Effort", Watched)
    monkeypatch.setattr(effort, "LONG_SECONDS", 0.0)
    board = puzzle("4x4", 102, 1)
    plans, told = [], list[float]()
    for _ in range(2):
        plans.append(choose(board, Options(), looking=told.append))
    search = plans[0].estimates.search_seconds
    assert search is not None
    assert told == [search, search]
    assert made[0].spent == made[1].spent <= prepare.worth_looking(search)
    assert plans[0].estimates == plans[1].estimates
    with suppress(TooExpensive):
        choose(board, Options(method="contraction"), worth=0.05)
    assert made[2].spent <= 0.025
