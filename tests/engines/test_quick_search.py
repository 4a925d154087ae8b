"""The quick search: results do not depend on whether it runs, and on where it ends."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from gpusudoku import Board, collection, count, count_many, parse, solve
from gpusudoku.board.batch import Batch
from gpusudoku.engines import quick_search
from gpusudoku.kernels.search.shape import SearchSettings
from gpusudoku.search.frontier import Frontier
from tests import naive
from tests.boards import LINE_4X4, PUZZLE, puzzle, with_wrong_clue

SEARCH: dict[str, Any] = {"device": "cpu", "method": "search"}


def boards() -> list[Board]:
    """Return boards of several shapes, with one, many and no solutions."""
    puzzles = [puzzle(shape, clues, seed) for seed in range(3) for shape, clues in
            (("2x2", 3), ("2x3", 9), ("3x3", 30), ("2x5", 45), ("4x4", 150))]  # fmt: skip
    return [
        *puzzles,
        *(with_wrong_clue(board, 5) for board in puzzles),
        Board.empty(puzzles[0].geometry),
    ]


@pytest.mark.parametrize("nodes", [0, 1, 7, 60, 10**6])
def test_counts_do_not_depend_on_where_a_quick_search_ends(
    nodes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plan begins with the remaining boards: nothing is lost or counted twice."""
    expected = [naive.count(board) for board in boards()]
    monkeypatch.setattr(
        quick_search, "node_seconds", lambda shape: quick_search.QUICK_SECONDS / max(nodes, 0.1)
    )
    for board, number in zip(boards(), expected, strict=True):
        for options in ({}, {"strategy": "first", "propagate": "none"}, {"method": "auto"}):
            assert count(board, **{**SEARCH, "jobs": 1, **options}).count == number
        limited = count(board, **SEARCH, jobs=2, limit=3)
        assert (limited.count, limited.exact) == (min(number, 3), number < 3)
        solution = solve(board, device="cpu", jobs=2)
        assert (bool(solution), solution.unique) == (number > 0, number == 1)
        if solution.board is not None:
            clues = board.cells > 0
            assert solution.board.is_full
            assert not solution.board.conflicts
            assert np.array_equal(solution.board.cells[clues], board.cells[clues])


def test_statistics_are_those_of_one_worker() -> None:
    result = count(LINE_4X4, device="cpu", jobs=2)
    stats = result.stats
    assert (result.count, result.exact, result.jobs, result.method) == (6, True, 2, "search")
    assert (stats.frontier_boards, stats.boards_explored, stats.utilisation) == (1, 4, (1.0, 0.0))
    assert stats.nodes == 7
    assert stats.seconds > 0 == stats.expansion_seconds
    assert result.estimates is not None
    assert result.estimates.search_seconds == stats.nodes * quick_search.node_seconds(
        quick_search.shape_of(2, 2)
    )
    assert count(LINE_4X4, device="cpu", limit=9).estimates.search_seconds is None


def test_given_candidates_are_respected() -> None:
    board = Board([0] * 16, candidates=[1, *[15] * 15])
    assert count(board, device="cpu").count == 288 // 4
    assert solve(board, device="cpu").board.cells[0] == 1  # type: ignore[union-attr]


def test_most_boards_need_neither_a_job_nor_a_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """They need no thread and no estimate either."""
    count(PUZZLE, device="cpu")
    monkeypatch.setattr("gpusudoku.planning.count.choose_in_time", None)
    monkeypatch.setattr("gpusudoku.planning.count.SearchPlan", None)
    assert count(PUZZLE, device="cpu").unique
    assert count(parse(PUZZLE), device="cpu", limit=2).unique
    assert solve(PUZZLE, device="cpu").unique
    assert [result.count for result in count_many([PUZZLE], device="cpu")] == [1]


def test_each_thread_has_its_own_memory() -> None:
    names = ["a1", "1a", "1b", "box2x2-few", "16x16-unique"]
    boards_of_all = [collection.load(name) for name in names] * 20
    with ThreadPoolExecutor(8) as pool:
        counts = list(
            pool.map(lambda board: count(board, device="cpu", method="search").count, boards_of_all)
        )
    assert counts == [collection.entry(name).count for name in names] * 20


def test_estimates_are_of_the_whole_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """They do not depend on the progress of the quick search, nor on the machine."""
    board = collection.load("1c")
    begun = count(board, device="cpu").estimates
    monkeypatch.setattr("gpusudoku.planning.count.quick_search", lambda *_, **__: None)
    assert count(board, device="cpu").estimates == begun


def test_an_unfinished_quick_search_keeps_the_root_of_its_board(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The root is the packed board itself, because a plan estimates the whole search."""
    monkeypatch.setattr(quick_search, "node_seconds", lambda shape: quick_search.QUICK_SECONDS / 7)
    board_with_candidates = Board([0] * 16, candidates=[1, *[15] * 15])
    for board in [*boards(), board_with_candidates]:
        begun = quick_search.run_quick_search(Batch.of([board]), SearchSettings(), None)
        assert begun is not None
        if not begun.is_finished:
            assert np.array_equal(begun.roots.boards, Frontier.of([board]).boards)
            assert begun.remaining.nodes == begun.counters.nodes > 0
