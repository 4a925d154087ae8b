"""Batches of 9x9 boards by contraction."""

from __future__ import annotations

from typing import Any

import pytest

from gpusudoku.board.batch import Batch
from gpusudoku.contraction.nine import batch
from gpusudoku.contraction.nine.batch import contract_cheap
from gpusudoku.counting import count_many
from gpusudoku.jobs.job import Task
from tests.boards import puzzle, spoilt
from tests.contraction.nine.counted import NINE, contracted


class TestBatches:
    def test_cheap_and_expensive_boards(self) -> None:
        boards = [puzzle(NINE, clues, clues) for clues in (24, 9, 30, 22, 81, 26)]
        boards.append(spoilt(boards[-1], 3))
        counts, left = contract_cheap(boards, 2, 1 << 30)
        assert left == [1]
        assert [counts[i] for i in range(7) if i != 1] == [
            contracted(board) for i, board in enumerate(boards) if i != 1
        ]
        results = list(count_many(boards, method="contraction", device="cpu"))
        assert [result.count for result in results] == [contracted(board) for board in boards]

    @pytest.mark.parametrize(("boards", "tasks"), [(1, 1), (3, 3), (9, 5), (70, 9)])
    def test_all_threads_get_some_of_a_small_batch(
        self, boards: int, tasks: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sizes: list[int] = []

        class Watched(Task):
            def __init__(self, payload: Any, weight: float) -> None:
                sizes.append(len(payload[0]))
                super().__init__(payload, weight)

        monkeypatch.setattr(batch, "Task", Watched)
        puzzles = [puzzle(NINE, 30, seed % 3) for seed in range(boards)]
        counts, left = contract_cheap(Batch.of(puzzles), 2, 1 << 30)
        known = [contracted(board) for board in puzzles[:3]]
        assert counts == [known[i % 3] for i in range(boards)]
        assert left == []
        assert sum(sizes) == boards
        assert len(sizes) == tasks

    def test_auto_agrees_with_both_methods(self) -> None:
        boards = [puzzle(NINE, 20 + seed % 12, seed) for seed in range(40)]
        auto = list(count_many(boards, device="cpu"))
        assert {result.method for result in auto} == {"search", "contraction"}
        found = [result.count for result in auto]
        for method in ("search", "contraction"):
            other = count_many(boards, device="cpu", method=method)
            assert [result.count for result in other] == found
