"""Streams of the solutions of one or many boards: complete, without duplicates or left threads."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import closing
from itertools import chain, islice
from typing import Any

import numpy as np
import pytest

from gpusudoku.board.batch import Batch
from gpusudoku.board.blocks import FIRST_BOARDS
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.engines import cpu
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.make import engine_for
from gpusudoku.enumeration.stream import LISTED_TOGETHER, WAITING_BLOCKS, Stream, list_batches
from gpusudoku.options import Options
from gpusudoku.solving import solve_batches
from tests import naive
from tests.boards import CLUES, full_grid, puzzle, stream_solutions, with_wrong_clue
from tests.waiting import until

BOARD = puzzle("2x3", 8, 6)
SOLUTIONS = list(naive.solutions(BOARD))
FULL = Board(full_grid(Geometry(2, 3), 1), Geometry(2, 3))
EMPTY = Board.empty(Geometry(3, 3))


def listed(board: Board, **options: Any) -> list[tuple[int, ...]]:
    return stream_solutions(board, device="cpu", **options)


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    threads_before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) <= threads_before


class TestOneBoard:
    @pytest.mark.parametrize(("shape", "jobs"), [("2x2", 1), ("3x2", 2), ("3x3", 1), ("4x4", 2)])
    def test_every_solution_once(self, shape: str, jobs: int) -> None:
        for seed in range(3):
            board = puzzle(shape, CLUES[shape], seed)
            assert sorted(listed(board, jobs=jobs)) == list(naive.solutions(board))

    @pytest.mark.parametrize("limit", [1, 50, len(SOLUTIONS), len(SOLUTIONS) + 1])
    def test_limits(self, limit: int) -> None:
        for jobs in (1, 2):
            found_solutions = listed(BOARD, jobs=jobs, limit=limit)
            assert len(found_solutions) == len(set(found_solutions)) == min(limit, len(SOLUTIONS))
            assert set(found_solutions) <= set(SOLUTIONS)
        assert len(listed(EMPTY, jobs=2, limit=limit)) == limit  # that search has no end

    def test_boards_with_no_or_few_solutions(self) -> None:
        assert listed(with_wrong_clue(FULL, 1), jobs=2) == []
        assert listed(FULL, jobs=2) == [tuple(FULL.cells.tolist())]

    @pytest.mark.parametrize("jobs", [1, 2])
    def test_many_blocks(self, jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
        """The blocks are more than may wait for the reader."""
        monkeypatch.setattr(cpu, "ROOM_BYTES", 5 * 36)
        monkeypatch.setattr(cpu, "CALL_SECONDS", 0.0)
        with closing(Stream(BOARD, Options(device="cpu", jobs=jobs))) as stream:
            blocks = list(stream)
        assert {block.dtype for block in blocks} == {np.dtype(np.uint8)}
        assert {block.shape[1] for block in blocks} == {36}
        assert len(blocks) > 4 * WAITING_BLOCKS
        assert sorted(tuple(row) for block in blocks for row in block.tolist()) == SOLUTIONS

    @pytest.mark.parametrize("jobs", [1, 2])
    def test_closing_early_stops_the_workers(self, jobs: int) -> None:
        for solutions_taken in (0, 1, 10):
            stream = Stream(EMPTY, Options(device="cpu", jobs=jobs))
            assert len(list(islice(stream, solutions_taken))) == solutions_taken
            stream.close()
            assert len(list(stream)) <= 2 * WAITING_BLOCKS
            assert next(stream, None) is None
            stream.close()

    def test_an_error_of_the_search_reaches_the_reader(self) -> None:
        class Broken(CpuEngine):
            def prepare(self, *_: object) -> None:
                raise MemoryError("no room")

        with pytest.raises(MemoryError, match="no room"):
            list(Stream(BOARD, engine=Broken(jobs=1)))

    def test_closing_in_another_thread_ends_the_reader(self) -> None:
        stream = Stream(EMPTY, Options(device="cpu", jobs=1))
        reader = threading.Thread(target=lambda: list(stream), daemon=True)
        reader.start()
        stream.close()
        reader.join(200)
        assert not reader.is_alive()

    @pytest.mark.parametrize("how", ["loop", "name", "circle", "unread"])
    def test_a_dropped_stream_leaves_no_thread(self, how: str) -> None:
        threads_before = set(threading.enumerate())
        options = Options(device="cpu", jobs=2)
        if how == "loop":
            for _ in Stream(EMPTY, options):
                break
        else:
            stream = Stream(EMPTY, options)
            if how != "unread":
                next(stream)
            if how == "circle":
                stream.itself = stream  # type: ignore[attr-defined]
            del stream
            gc.collect()
        until(lambda: set(threading.enumerate()) <= threads_before)


class TestManyBoards:
    SOME = tuple(puzzle("2x3", 8 + seed % 12, seed) for seed in range(40))
    BOARDS = (*SOME[:20], FULL, with_wrong_clue(FULL, 1), *SOME[20:])
    LISTS = tuple(list(naive.solutions(board)) for board in BOARDS)

    @pytest.mark.parametrize(
        ("limit", "jobs"),
        [
            (None, 1),
            (1, 2),
            (LISTED_TOGETHER - 1, 2),
            (LISTED_TOGETHER, 1),
            (LISTED_TOGETHER + 1, 2),
        ],
    )
    def test_are_listed_board_by_board(self, limit: int | None, jobs: int) -> None:
        options = Options(device="cpu", limit=limit, jobs=jobs)
        with closing(
            list_batches([Batch.of(self.BOARDS)], options, engine_for(options))
        ) as results:
            blocks = list(results)
        assert [board for block in blocks for board in block.boards] == list(self.BOARDS)
        lists = dict(zip(self.BOARDS, self.LISTS, strict=True))
        boards_with_many = [
            board for block in blocks if block.solutions is None for board in block.boards
        ]
        assert (
            boards_with_many
            == [board for board in self.BOARDS if len(lists[board]) >= LISTED_TOGETHER]
            != []
        )
        for block in blocks:
            if block.solutions is not None:
                expected = chain.from_iterable(lists[board][:limit] for board in block.boards)
                block_solutions = map(tuple, np.concatenate(block.solutions).tolist())
                assert list(block_solutions) == list(expected)
        unsolvable = [board for board in self.BOARDS if not lists[board]]
        assert unsolvable
        assert [board for block in blocks for board in block.possibly_unsolvable] == unsolvable

    @pytest.mark.parametrize("work", [solve_batches, list_batches])
    def test_are_read_as_they_are_needed(self, work: Any) -> None:
        read_count = 0

        def endless() -> Iterator[Batch]:
            nonlocal read_count
            while True:
                read_count += 1
                yield Batch.of([FULL])

        with closing(work(endless(), Options(device="cpu"), CpuEngine())) as results:
            first_block = next(results)
            assert len(first_block.boards) == FIRST_BOARDS == read_count
