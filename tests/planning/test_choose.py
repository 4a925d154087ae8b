"""The choice between search and contraction: the quicker method; both agree."""

from __future__ import annotations

from typing import Any

import pytest

from gpusudoku.board.board import Board
from gpusudoku.contraction import protocol
from gpusudoku.counting import count, count_many
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.jobs.watch import Watch, watching
from gpusudoku.options import Options
from gpusudoku.planning.choose import choose
from tests import naive
from tests.boards import CLUES, puzzle, with_wrong_clue
from tests.planning.plans import GENERAL

BOARD = puzzle("3x3", 21, 1)


def test_what_takes_less() -> None:
    short = count(puzzle("3x3", 40, 1), device="cpu")
    assert short.method == "search"
    assert short.estimates is not None
    assert short.estimates.search_seconds is not None
    assert short.estimates.contraction_seconds is None
    long = count(BOARD, device="cpu")
    assert long.method == "contraction"
    assert long.estimates is not None
    assert long.estimates.contraction_seconds < long.estimates.search_seconds
    assert long.stats.products > 0
    assert long.count == count(BOARD, device="cpu", method="search").count


def test_few_clues_on_a_large_board_are_for_the_search() -> None:
    result = count(puzzle("4x4", 20, 1), device="cpu", limit=1000)
    assert (str(result), result.method) == ("1000+", "search")


@pytest.mark.parametrize("method", ["search", "contraction"])
def test_limits_mean_the_same(method: str) -> None:
    options: dict[str, Any] = {"device": "cpu", "method": method}
    for board in (GENERAL, puzzle("3x3", 24, 1)):
        total = count(board, **options).count
        for limit in (1, total - 1, total, total + 1):
            result = count(board, limit=limit, **options)
            assert (result.count, result.exact) == (min(total, limit), total < limit)
            assert str(next(iter(count_many([board], limit=limit, **options)))) == str(result)


@pytest.mark.parametrize("method", ["search", "contraction", "auto"])
def test_boards_of_all_shapes_alone_and_together(method: str) -> None:
    """They have few solutions or none."""
    boards = [puzzle(shape, clues, 1) for shape, clues in CLUES.items()]
    boards += [with_wrong_clue(puzzle(shape, clues, 3), 4) for shape, clues in CLUES.items()]
    boards += [with_wrong_clue(puzzle("3x3", 60, 5), 1), Board([1, 1] + [0] * 14)]
    expected = [naive.count(board) for board in boards]
    assert 0 in expected
    assert [count(board, device="cpu", method=method).count for board in boards] == expected
    results = count_many(boards, device="cpu", method=method)
    assert [result.count for result in results] == expected


def test_estimating_a_contraction_is_deterministic(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted work limits it, not time; a long estimate is announced."""
    monkeypatch.setattr(protocol, "LONG_SECONDS", 0.0)
    board = puzzle("4x4", 102, 1)
    looks = list[float]()

    class Looks(Watch):
        def estimating(self, seconds: float) -> None:
            looks.append(seconds)

    with watching(Looks()):
        plan, second_plan = (choose(board, Options()) for _ in range(2))
    search = plan.estimates.search_seconds
    assert looks == [search, search]
    assert plan.estimates == second_plan.estimates


@pytest.mark.parametrize("threads", [1, 16])
def test_the_choice_does_not_depend_on_the_machine(threads: int) -> None:
    for board in (BOARD, puzzle("3x3", 30, 2), GENERAL):
        plan_for_engine = choose(board, Options(), engine=CpuEngine(threads))
        plan = choose(board, Options())
        assert (plan_for_engine.method, plan_for_engine.estimates) == (plan.method, plan.estimates)
        assert plan_for_engine.tasks() == plan.tasks()
