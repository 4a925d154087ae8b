"""Counts and lists on a real GPU, compared to the CPU and to known counts."""

from __future__ import annotations

import threading
from itertools import product
from typing import Any

import pytest

from gpusudoku import collection
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.counting import count, count_many
from gpusudoku.engines.cuda import availability
from gpusudoku.errors import Interrupted
from gpusudoku.jobs.watch import Progress, reporting
from gpusudoku.options import Options
from gpusudoku.results import Count
from gpusudoku.solving import solve
from tests import naive
from tests.boards import CLUES, full_grid, puzzle, search_boards, stream_solutions, with_wrong_clue

pytestmark = pytest.mark.gpu

FEW = collection.load("1c")
MANY = collection.load("2d")
OF_FEW = collection.entry("1c").count
OF_MANY = collection.entry("2d").count


def search(board: Board, **options: Any) -> Count:
    """Search a board on the GPU; the method "auto" would contract many of these boards."""
    options = {"device": "cuda"} | options
    result = count(board, method="search", **options)
    assert (result.device, result.method) == ("cuda", "search")
    return result


@pytest.fixture(scope="module")
def engine() -> Any:
    from gpusudoku.engines.cuda.engine import CudaEngine

    return CudaEngine()


def test_counts_equal_naive_counts(engine: Any) -> None:
    for shape, clues in CLUES.items():
        board = puzzle(shape, clues, 1)
        assert search(board, engine=engine).count == naive.count(board), shape


def test_strategies_and_techniques(engine: Any) -> None:
    board = puzzle("2x3", 8, 1)
    for propagate, strategy in product(("none", "singles", "locked", "all"), ("first", "min")):
        result = search(board, engine=engine, propagate=propagate, strategy=strategy)
        assert result.count == naive.count(board), (propagate, strategy)


def test_known_counts(engine: Any) -> None:
    for cutoff in (None, 1, 1e300):
        assert search(FEW, engine=engine, cutoff=cutoff).count == OF_FEW
    grid = full_grid(Geometry(8, 8), 3)
    grid[grid == 64] = 0
    assert search(Board(grid, Geometry(8, 8)), engine=engine).count == 1
    full = Board(full_grid(Geometry(3, 3), 0), Geometry(3, 3))
    assert search(with_wrong_clue(full, 0), engine=engine).count == 0


def test_many_boards(engine: Any) -> None:
    boards = [puzzle("3x3", 32, seed) for seed in range(200)]
    boards.append(with_wrong_clue(boards[0], 0))
    counts = [result.count for result in count_many(boards, engine=engine)]
    assert counts == [result.count for result in count_many(boards, device="cpu")]
    for cutoff in (None, 1e300):
        search_counts = search_boards([FEW, MANY], engine, Options(cutoff=cutoff)).counts
        assert search_counts == [OF_FEW, OF_MANY]


@pytest.mark.parametrize("room", [64 << 20, 81 * 300], ids=["room for all", "a hundred launches"])
def test_listing(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from gpusudoku.engines.cuda import search as search_module

    monkeypatch.setattr(search_module, "ROOM_BYTES", room)
    found_solutions = stream_solutions(FEW, device="cuda")
    assert sorted(found_solutions) == sorted(stream_solutions(FEW, device="cpu"))
    assert len(found_solutions) == OF_FEW
    assert solve(FEW, device="cuda").unique is False


def test_each_gpu_and_all() -> None:
    number = len(availability.cards())
    for gpu in range(number):
        result = search(MANY, gpus=(gpu,))
        assert (result.count, result.jobs) == (OF_MANY, 1)
    result = search(MANY)
    assert (result.count, result.jobs) == (OF_MANY, number)
    assert all(0 <= share <= 1.05 for share in result.stats.utilisation)


def test_an_interrupt(engine: Any) -> None:
    def progress(state: Progress) -> None:
        if state.count:
            raise KeyboardInterrupt

    threads_before = threading.active_count()
    with pytest.raises(Interrupted) as caught, reporting(progress):
        search(Board.empty(Geometry(3, 3)), engine=engine)
    assert caught.value.count > 0
    assert threading.active_count() <= threads_before


def test_contraction(engine: Any) -> None:
    """The CUDA kernel computes the sum of 9x9 boards; the CPU computes the tensors."""
    for name in ("empty", "top-band-cyclic", "2f"):
        result = count(collection.load(name), engine=engine, method="contraction")
        assert result.count == collection.entry(name).count
        assert (result.device, result.method) == ("cuda", "contraction")
    boards = [puzzle("3x3", clues, clues) for clues in (24, 3, 6, 10, 20, 30)]
    counts = [board.count for board in count_many(boards, engine=engine, method="contraction")]
    assert counts == [count(board, device="cpu", method="contraction").count for board in boards]
