"""Batches of boards: their counts are those of single boards."""

from __future__ import annotations

from typing import Any

import pytest

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.counting import count, count_many
from gpusudoku.engines.make import engine_for
from gpusudoku.options import Options
from gpusudoku.planning.count import count_batches
from tests import naive
from tests.boards import CLUES, puzzle, with_wrong_clue


@pytest.mark.parametrize(("limit", "jobs"), [(None, 1), (None, 2), (1, 2), (7, 1)])
def test_a_batch_has_the_counts_of_single_boards(limit: int | None, jobs: int) -> None:
    boards = [puzzle("2x3", 9 + seed % 20, seed) for seed in range(15)]
    boards += [with_wrong_clue(board, 5) for board in boards[:10]]
    boards[7:7] = [puzzle("3x3", CLUES["3x3"], seed) for seed in range(15)]
    options = {"device": "cpu", "jobs": jobs, "limit": limit}
    single_results = [count(board, **options) for board in boards]
    results = list(count_many(boards, **options))
    assert [result.board for result in results] == boards
    assert [(r.count, r.exact) for r in results] == [(r.count, r.exact) for r in single_results]
    by_geometry = [Batch.of(boards[:7]), Batch.of(boards[7:22]), Batch.of(boards[22:])]
    chosen_options = Options(**options)
    counts = list(count_batches(by_geometry, chosen_options, engine_for(chosen_options)))
    assert [number for block in counts for number in block.numbers.tolist()] == [
        r.count for r in single_results
    ]
    assert all(type(number) is int for block in counts for number in block.numbers.tolist())
    assert sum(map(len, counts)) == len(boards)


@pytest.mark.parametrize("method", ["auto", "contraction"])
def test_boards_with_few_and_many_solutions_alternate(method: str) -> None:
    board_with_few = puzzle("3x3", 33, 1)
    board_with_many = puzzle("3x3", 26, 3)
    counts = [naive.count(board_with_few), count(board_with_many, device="cpu").count]
    assert counts[0] < 64 <= counts[1]
    boards = [
        board_with_few,
        board_with_many,
        board_with_many,
        board_with_few,
        board_with_few,
        board_with_few,
        board_with_many,
    ]
    boards.append(Board.empty(Geometry(3, 3)))
    results = list(count_many(boards, device="cpu", method=method))
    assert results[-1].count == 6670903752021072936960
    assert [result.count for result in results[:-1]] == [
        counts[board is board_with_many] for board in boards[:-1]
    ]
    assert [result.board for result in results] == boards


@pytest.mark.parametrize("options", [{"method": "search", "limit": 20_000}, {"limit": 20}])
def test_a_limited_count_estimates_no_search(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("a search is estimated")

    monkeypatch.setattr("gpusudoku.planning.search.estimate_search", fail)
    board = Board.empty(Geometry(2, 3))
    assert count(board, device="cpu", jobs=1, **options).count == options["limit"]
