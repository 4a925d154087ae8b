"""Solutions listed: all of them, each once, and no thread left behind by whoever stops early."""

from __future__ import annotations

import gc
import threading
import time
from contextlib import closing
from itertools import islice
from typing import Any

import numpy as np
import pytest

from gpusudoku import streaming
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.engines import cpu as cpu_engine
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.errors import InputError
from gpusudoku.options import Options
from gpusudoku.results import SearchStats
from gpusudoku.streaming import Stream
from tests import naive
from tests.boards import CLUES, full_grid, puzzle, spoilt, streamed

BOARD = puzzle("2x3", 8, 6)
SOLUTIONS = list(naive.solutions(BOARD))
FULL = Board(full_grid(Geometry(2, 3), 1), Geometry(2, 3))


def listed(board: Board, **options: Any) -> list[tuple[int, ...]]:
    return streamed(board, device="cpu", **options)


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("shape", ["2x2", "1x5", "2x3", "3x2", "3x3", "4x4"])
def test_every_solution_once(shape: str, jobs: int) -> None:
    for seed in range(5):
        board = puzzle(shape, CLUES[shape], seed)
        assert sorted(listed(board, jobs=jobs)) == list(naive.solutions(board))


@pytest.mark.parametrize("propagate", ["none", "all"])
def test_techniques_lose_none(propagate: str) -> None:
    assert sorted(listed(BOARD, jobs=1, propagate=propagate)) == SOLUTIONS


def test_sixty_four_digits() -> None:
    grid = full_grid(Geometry(8, 8), 3)
    board = Board(np.where(grid >= 63, 0, grid), Geometry(8, 8))
    assert board.empty_cells == 128
    found = set(listed(board, jobs=2, limit=64))
    assert tuple(grid.ravel().tolist()) in found
    for cells in found:
        assert not Board(cells, Geometry(8, 8)).conflicts


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("limit", [1, 2, 50, len(SOLUTIONS), len(SOLUTIONS) + 1])
def test_limits(limit: int, jobs: int) -> None:
    found = listed(BOARD, jobs=jobs, limit=limit)
    assert len(found) == len(set(found)) == min(limit, len(SOLUTIONS))
    assert set(found) <= set(SOLUTIONS)


def test_nothing_to_list() -> None:
    assert listed(spoilt(FULL, 1), jobs=2) == []
    assert listed(FULL, jobs=2) == [tuple(FULL.cells.tolist())]


def test_one_thread_lists_in_a_fixed_order() -> None:
    assert listed(BOARD, jobs=1) == listed(BOARD, jobs=1)


@pytest.mark.parametrize("jobs", [1, 2])
def test_many_blocks(jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than may wait for the reader at once."""
    monkeypatch.setattr(cpu_engine, "ROOM_BYTES", 5 * 36)
    with closing(Stream(BOARD, Options(device="cpu", jobs=jobs))) as stream:
        blocks = list(stream)
    assert {block.dtype for block in blocks} == {np.dtype(np.uint8)}
    assert max(block.shape for block in blocks) == (5, 36)
    assert len(blocks) > 4 * streaming.WAITING_BLOCKS
    assert sorted(tuple(row) for block in blocks for row in block.tolist()) == SOLUTIONS


def test_statistics_are_there_at_the_end() -> None:
    with closing(Stream(BOARD, Options(device="cpu", jobs=1))) as stream:
        for _ in stream:
            pass
    assert isinstance(stream.stats, SearchStats)
    assert stream.stats.boards_explored >= len(SOLUTIONS)
    assert stream.stats.nodes >= stream.stats.boards_explored


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("taken", [0, 1, 10])
def test_closing_early_stops_the_workers(taken: int, jobs: int) -> None:
    before = set(threading.enumerate())
    found = Stream(Board.empty(Geometry(3, 3)), Options(device="cpu", jobs=jobs))
    assert len(list(islice(found, taken))) == taken
    assert set(threading.enumerate()) - before
    found.close()
    assert set(threading.enumerate()) <= before


def test_a_stream_closed_at_once() -> None:
    before = set(threading.enumerate())
    Stream(Board.empty(Geometry(3, 3)), Options(device="cpu", jobs=2)).close()
    assert set(threading.enumerate()) <= before


def test_what_it_is_shown_as() -> None:
    with closing(Stream(BOARD, Options(device="cpu", jobs=1))) as stream:
        assert repr(stream) == "<Stream of the solutions of a 6x6 board with 8 clues>"


def test_a_limit_ends_the_threads() -> None:
    before = set(threading.enumerate())
    assert len(listed(Board.empty(Geometry(3, 3)), jobs=2, limit=500)) == 500
    assert set(threading.enumerate()) <= before


def test_an_ended_stream_stays_ended() -> None:
    stream = Stream(FULL, Options(device="cpu", jobs=1))
    assert len(list(stream)) == 1
    assert list(stream) == []
    stream.close()
    assert list(stream) == []


def test_a_closed_stream_gives_no_more() -> None:
    stream = Stream(Board.empty(Geometry(3, 3)), Options(device="cpu", jobs=1))
    assert len(next(stream))
    stream.close()
    for _ in range(2 * streaming.WAITING_BLOCKS):
        next(stream, None)
    with pytest.raises(StopIteration):
        next(stream)


def test_an_error_of_the_search_reaches_the_reader() -> None:
    class Broken(CpuEngine):
        def prepare(self, *_: object) -> None:
            raise MemoryError("no room")

    before = set(threading.enumerate())
    with pytest.raises(MemoryError, match="no room"):
        list(Stream(BOARD, engine=Broken(jobs=1)))
    assert set(threading.enumerate()) <= before


def test_wrong_options() -> None:
    with pytest.raises(InputError):
        Stream(BOARD, Options(device="cpu", limit=0))
    with pytest.raises(InputError):
        Stream(BOARD, Options(device="gpu"))


def test_closing_in_another_thread_ends_the_reader() -> None:
    stream = Stream(Board.empty(Geometry(3, 3)), Options(device="cpu", jobs=1))
    reader = threading.Thread(target=lambda: list(stream), daemon=True)
    reader.start()
    stream.close()
    reader.join(200)
    assert not reader.is_alive()


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("how", ["loop", "name", "circle", "unread"])
def test_a_stream_that_is_dropped_leaves_no_thread(jobs: int, how: str) -> None:
    before = set(threading.enumerate())
    board, options = Board.empty(Geometry(3, 3)), Options(device="cpu", jobs=jobs)
    if how == "loop":
        for _ in Stream(board, options):
            break
    else:
        stream = Stream(board, options)
        if how != "unread":
            next(stream)
        if how == "circle":
            stream.itself = stream  # type: ignore[attr-defined]
        del stream
        gc.collect()
    deadline = time.monotonic() + 300
    while not set(threading.enumerate()) <= before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert set(threading.enumerate()) <= before
