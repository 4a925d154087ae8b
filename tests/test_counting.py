"""Counting one board and many: limits, the order of batches, progress."""

from __future__ import annotations

import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.counting import count, count_many
from gpusudoku.errors import InputError
from gpusudoku.jobs import threads
from gpusudoku.jobs.job import Progress
from tests import naive
from tests.boards import CLUES, full_grid, puzzle, spoilt

BOARD = puzzle("2x3", 8, 1)
TOTAL = naive.count(BOARD)


class TestLimit:
    @pytest.mark.parametrize("strategy", ["first", "min"])
    @pytest.mark.parametrize("jobs", [1, 2])
    @pytest.mark.parametrize("limit", [1, 2, TOTAL - 1, TOTAL, TOTAL + 1, 2**64, 2**70])
    def test_limits(self, limit: int, jobs: int, strategy: str) -> None:
        result = count(BOARD, device="cpu", jobs=jobs, strategy=strategy, limit=limit)
        if limit > TOTAL:
            assert (result.count, result.exact, str(result)) == (TOTAL, True, f"{TOTAL}")
        else:
            assert (result.count, result.exact, str(result)) == (limit, False, f"{limit}+")

    def test_a_limit_ends_an_endless_search(self) -> None:
        result = count(Board.empty(Geometry(4, 4)), device="cpu", jobs=2, limit=1000)
        assert str(result) == "1000+"

    def test_in_a_batch_the_limit_is_each_boards(self) -> None:
        boards = [puzzle("2x3", 9, seed) for seed in range(30)]
        totals = [naive.count(board) for board in boards]
        results = list(count_many(boards, device="cpu", jobs=2, limit=10))
        assert [result.count for result in results] == [min(total, 10) for total in totals]
        assert [result.exact for result in results] == [total < 10 for total in totals]


class TestManyBoards:
    def test_order_and_counts(self) -> None:
        boards = [puzzle("2x3", 9 + seed % 20, seed) for seed in range(100)]
        results = list(count_many(iter(boards), device="cpu", jobs=2))
        assert [result.board for result in results] == boards
        for board, result in zip(boards, results, strict=True):
            assert result.count == naive.count(board)
            assert result.exact

    def test_mixed_geometries(self) -> None:
        shapes = ["2x2", "2x2", "2x3", "3x2", "2x3", "2x3", "2x2", "3x3", "1x4"]
        boards = [puzzle(shape, CLUES[shape], seed) for seed, shape in enumerate(shapes)]
        boards.insert(4, spoilt(Board(full_grid(Geometry(3, 2), 0), Geometry(3, 2)), 0))
        results = list(count_many(boards, device="cpu", jobs=1))
        assert [result.board for result in results] == boards
        assert [result.count for result in results] == [
            count(board, device="cpu", jobs=1).count for board in boards
        ]
        assert results[4].count == 0

    def test_no_boards(self) -> None:
        assert list(count_many([], device="cpu")) == []

    def test_boards_are_read_as_they_are_needed(self) -> None:
        """Whoever streams boards gets results long before the last one."""
        read = 0

        def stream():  # type: ignore[no-untyped-def]
            nonlocal read
            while True:
                read += 1
                yield BOARD

        results = count_many(stream(), device="cpu", jobs=1)
        assert [next(results).count for _ in range(40)] == [TOTAL] * 40
        assert read < 40000

    def test_wrong_options(self) -> None:
        with pytest.raises(InputError):
            list(count_many([BOARD], device="cpu", limit=0))


class TestProgress:
    def test_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(threads, "POLL_SECONDS", 0.01)  # however quick the machine
        told: list[Progress] = []
        board, options = Board.empty(Geometry(2, 3)), {"device": "cpu", "method": "search"}
        result = count(board, jobs=2, progress=told.append, **options)
        assert len(told) > 3
        assert [state.done for state in told] == sorted(state.done for state in told)
        assert [state.count for state in told] == sorted(state.count for state in told)
        assert all(0 <= state.done <= 1 for state in told)
        assert any(0 < state.done < 0.999 for state in told)
        assert told[-1].done == pytest.approx(1)
        assert told[-1].count == result.count == 28200960
