"""Boards by the thousand: counted together just as they would be one by one."""

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
from tests.boards import CLUES, puzzle, spoilt


@pytest.mark.parametrize(("limit", "jobs"), [(None, 1), (None, 2), (1, 2), (7, 1)])
def test_as_one_by_one(limit: int | None, jobs: int) -> None:
    boards = [puzzle("2x3", 9 + seed % 20, seed) for seed in range(15)]
    boards += [spoilt(board, 5) for board in boards[:10]]
    boards[7:7] = [puzzle("3x3", CLUES["3x3"], seed) for seed in range(15)]
    options = {"device": "cpu", "jobs": jobs, "limit": limit}
    alone = [count(board, **options) for board in boards]
    results = list(count_many(boards, **options))
    assert [result.board for result in results] == boards
    assert [(r.count, r.exact) for r in results] == [(r.count, r.exact) for r in alone]
    by_geometry = [Batch.of(boards[:7]), Batch.of(boards[7:22]), Batch.of(boards[22:])]
    chosen = Options(**options)
    counts = list(count_batches(by_geometry, chosen, engine_for(chosen)))
    assert [number for each in counts for number in each.numbers.tolist()] == [
        r.count for r in alone
    ]
    assert all(type(number) is int for each in counts for number in each.numbers.tolist())
    assert sum(map(len, counts)) == len(boards)


@pytest.mark.parametrize("method", ["auto", "contraction"])
def test_few_solutions_and_many_in_turn(method: str) -> None:
    few = puzzle("3x3", 33, 1)
    many = puzzle("3x3", 26, 3)
    counts = [naive.count(few), count(many, device="cpu").count]
    assert counts[0] < 64 <= counts[1]
    boards = [few, many, many, few, few, few, many]
    boards.append(Board.empty(Geometry(3, 3)))
    results = list(count_many(boards, device="cpu", method=method))
    assert results[-1].count == 6670903752021072936960
    assert [result.count for result in results[:-1]] == [counts[b is many] for b in boards[:-1]]
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
