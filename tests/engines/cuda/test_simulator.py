"""The CUDA kernels and the engine that runs them, on tiny boards in Numba's simulator."""

from __future__ import annotations

import threading

import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.counting import count
from gpusudoku.engines.cuda import launch
from gpusudoku.engines.cuda.device import SIMULATED
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.errors import Interrupted
from gpusudoku.jobs.job import Progress
from gpusudoku.listing import solutions
from gpusudoku.options import Options
from gpusudoku.solving import solve
from gpusudoku.streaming import Stream
from tests import naive
from tests.boards import full_grid, puzzle, searched, spoilt, streamed
from tests.engines.cuda.simulator import CLUES, MANY, ON_SIMULATOR, Launched, counted
from tests.orders.short import short_lists

pytestmark = ON_SIMULATOR

SMALL = puzzle("2x2", 2, 0)


@pytest.mark.parametrize("shape", list(CLUES))
def test_counts_equal_the_oracle(shape: str) -> None:
    for seed in range(2):
        board = puzzle(shape, CLUES[shape], seed)
        assert counted(board) == naive.count(board)


@pytest.mark.parametrize("strategy", ["first", "min"])
@pytest.mark.parametrize("propagate", ["none", "singles", "locked", "all"])
@pytest.mark.parametrize("shape", ["2x2", "2x3"])
def test_strategies_and_techniques(shape: str, propagate: str, strategy: str) -> None:
    board = puzzle(shape, CLUES[shape], 5)
    assert counted(board, strategy=strategy, propagate=propagate) == naive.count(board)


def test_published_totals() -> None:
    assert counted(Board.empty(Geometry(1, 1))) == 1
    assert counted(Board.empty(Geometry(2, 2))) == 288
    assert counted(Board.empty(Geometry(1, 3))) == 12


def test_no_solution_and_nothing_to_do() -> None:
    full = Board(full_grid(Geometry(2, 3), 0), Geometry(2, 3))
    assert counted(full) == 1
    assert counted(spoilt(full, 0)) == 0


def test_threads_without_a_frontier_board_do_no_harm() -> None:
    assert CudaEngine().gpus[0].grid_of(None) == (2, 4)
    assert counted(puzzle("2x2", 8, 1), cutoff=1e30) == naive.count(puzzle("2x2", 8, 1))


@pytest.mark.parametrize("limit", [1, 5, 24, 25, 2**64])
def test_limits(limit: int) -> None:
    total = naive.count(SMALL)
    result = count(SMALL, device="cuda", method="search", limit=limit)
    assert result.count == min(limit, total)
    assert result.exact == (total < limit)


def test_statistics() -> None:
    stats = count(MANY, device="cuda", method="search", cutoff=1000).stats
    total = naive.count(MANY)
    assert total <= stats.boards_explored <= stats.nodes <= 50 * total
    plain = count(MANY, device="cpu", method="search", jobs=1, cutoff=1000).stats
    assert stats.boards_explored == plain.boards_explored
    assert 0 <= stats.deepest <= 36
    assert stats.frontier_width == SIMULATED.boards_per_thread * 8
    assert len(stats.utilisation) == 1
    assert 0 <= stats.utilisation[0] <= 1.05


def test_several_roots() -> None:
    boards = [puzzle("2x3", clues, seed) for seed, clues in enumerate([11, 36, 12, 14])]
    boards[1] = spoilt(boards[1], 0)
    for cutoff in (None, 1e30):
        counts = searched(boards, CudaEngine(), Options(cutoff=cutoff)).counts
        assert counts == [naive.count(board) for board in boards]


def test_several_roots_with_a_limit() -> None:
    boards = [puzzle("2x3", clues, seed) for seed, clues in enumerate([10, 36, 11])]
    totals = [naive.count(board) for board in boards]
    counts = searched(boards, CudaEngine(), Options(limit=5)).counts
    for found, total in zip(counts, totals, strict=True):
        assert min(total, 5) <= found <= total


class TestStreaming:
    def test_every_solution_once(self) -> None:
        for board in [SMALL, puzzle("2x3", 12, 0), puzzle("3x3", 40, 0)]:
            found = streamed(board, device="cuda")
            assert sorted(found) == list(naive.solutions(board))

    def test_out_of_room(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Threads that find no room wait for the next launch, and lose nothing."""
        monkeypatch.setattr(launch, "ROOM_BYTES", 3 * 36)
        board = puzzle("2x3", 12, 0)
        blocks = list(Stream(board, Options(device="cuda", cutoff=1e30)))
        assert max(len(block) for block in blocks) == 3
        found = [tuple(row) for block in blocks for row in block.tolist()]
        assert sorted(found) == list(naive.solutions(board))

    def test_the_device_does_not_matter(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Of solutions as one object, where they are listed, counted and drawn."""
        short_lists(monkeypatch)
        board = puzzle("2x2", 2, 0)
        on_gpu, on_cpu = (solutions(board, device=device, jobs=1) for device in ("cuda", "cpu"))
        assert list(on_gpu) == list(on_cpu)
        assert on_gpu[20] == on_cpu[20]
        assert (on_gpu.sample(9, seed=1) == on_cpu.sample(9, seed=1)).all()

    def test_limit_and_solve(self) -> None:
        assert len(streamed(MANY, device="cuda", limit=3)) == 3
        assert solve(MANY, device="cuda").unique is False
        assert solve(puzzle("2x2", 8, 1), device="cuda").unique is True


def test_an_interrupt(launches: list[Launched]) -> None:
    """A search that would go on for hours, interrupted once the first solutions are found."""

    def progress(state: Progress) -> None:
        if state.count:
            raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(Interrupted) as caught:
        counted(Board.empty(Geometry(2, 3)), progress=progress)
    assert caught.value.count > 0
    assert launches
    assert threading.active_count() <= before
