"""The search on tiny boards in Numba's simulator, with many launches, on one or two GPUs."""

from __future__ import annotations

import threading

import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.counting import count
from gpusudoku.engines.cuda import search
from gpusudoku.engines.cuda.device import SIMULATED_BLOCKS, SIMULATED_THREADS
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.errors import Interrupted
from gpusudoku.jobs.job import Job, Task
from gpusudoku.jobs.watch import Progress, reporting
from gpusudoku.kernels.search import thread
from gpusudoku.options import Options
from gpusudoku.search import frontier
from gpusudoku.solving import solve
from tests import naive
from tests.boards import full_grid, puzzle, search_boards, stream_solutions, with_wrong_clue
from tests.engines.cuda.faulty import Faulty
from tests.engines.cuda.simulator import (
    CLUES,
    MANY,
    ON_SIMULATOR,
    Launch,
    count_simulated,
    limit_memory,
    short_launches,
)

pytestmark = ON_SIMULATOR

SMALL = puzzle("2x2", 2, 0)
HARD = puzzle("2x3", 8, 6)
"""One that takes hundreds of nodes."""


@pytest.mark.parametrize("shape", list(CLUES))
def test_counts_equal_naive_counts(shape: str) -> None:
    board = puzzle(shape, CLUES[shape], 1)
    assert count_simulated(board) == naive.count(board)


@pytest.mark.parametrize(
    ("propagate", "strategy"),
    [("none", "min"), ("singles", "first"), ("locked", "min"), ("all", "first")],
)
def test_strategies_and_techniques(propagate: str, strategy: str) -> None:
    board = puzzle("2x3", CLUES["2x3"], 5)
    assert count_simulated(board, strategy=strategy, propagate=propagate) == naive.count(board)


def test_boards_that_are_empty_or_full() -> None:
    assert count_simulated(Board.empty(Geometry(1, 1))) == 1
    assert count_simulated(Board.empty(Geometry(2, 2))) == 288
    full = Board(full_grid(Geometry(2, 3), 0), Geometry(2, 3))
    assert count_simulated(full) == 1
    assert count_simulated(with_wrong_clue(full, 0)) == 0


@pytest.mark.parametrize("limit", [1, 35, 36, 37, 2**64])
def test_limits(limit: int) -> None:
    result = count(SMALL, device="cuda", method="search", limit=limit)
    assert naive.count(SMALL) == 36
    assert (result.count, result.exact) == (min(limit, 36), limit > 36)


def test_statistics() -> None:
    stats = count(MANY, device="cuda", method="search", cutoff=1000).stats
    total = naive.count(MANY)
    # A board with two solutions is not split any more if few cells are left.
    assert total / 2 <= stats.boards_explored <= stats.nodes <= 50 * total
    plain = count(MANY, device="cpu", method="search", jobs=1, cutoff=1000).stats
    assert stats.boards_explored == plain.boards_explored
    assert 0 < stats.deepest <= 36
    assert (stats.gpu, stats.gpu_threads) == ("simulator", SIMULATED_BLOCKS * SIMULATED_THREADS)
    assert stats.launches > 1
    assert 0 < stats.gpu_busy <= 1
    assert (plain.gpu, plain.launches, plain.gpu_busy) == ("", 0, 0)
    [share] = stats.utilisation
    assert 0 <= share <= 1.05


def test_statistics_of_a_contraction() -> None:
    board = puzzle("3x3", 40, 0)
    on_gpu = count(board, device="cuda", method="contraction").stats
    on_cpu = count(board, device="cpu", method="contraction").stats
    assert (on_gpu.on_gpu, on_gpu.gpu) == (True, "simulator")
    assert (on_cpu.on_gpu, on_cpu.gpu) == (False, "")


def test_several_roots() -> None:
    boards = [puzzle("2x3", clues, seed) for seed, clues in enumerate([11, 36, 12, 14])]
    boards[1] = with_wrong_clue(boards[1], 0)
    totals = [naive.count(board) for board in boards]
    for cutoff in (None, 1e30):
        assert search_boards(boards, CudaEngine(), Options(cutoff=cutoff)).counts == totals
    limited = search_boards(boards, CudaEngine(), Options(limit=5)).counts
    for limited_count, total in zip(limited, totals, strict=True):
        assert min(total, 5) <= limited_count <= total


def test_every_solution_is_listed_once() -> None:
    board = puzzle("3x3", 40, 0)
    assert sorted(stream_solutions(board, device="cuda")) == list(naive.solutions(board))


def test_a_listing_up_to_a_limit() -> None:
    assert len(stream_solutions(MANY, device="cuda", limit=3)) == 3
    assert solve(MANY, device="cuda").unique is False


def test_an_interrupt(launches: list[Launch]) -> None:
    """An endless search is interrupted as soon as it has found solutions."""

    def progress(state: Progress) -> None:
        if state.count:
            raise KeyboardInterrupt

    threads_before = threading.active_count()
    with pytest.raises(Interrupted) as caught, reporting(progress):
        count_simulated(Board.empty(Geometry(2, 3)))
    assert caught.value.count > 0
    assert launches
    assert threading.active_count() <= threads_before


def test_one_board_keeps_all_threads_busy(
    monkeypatch: pytest.MonkeyPatch, launches: list[Launch]
) -> None:
    """At first each launch multiplies the boards; later, idle threads are refilled."""
    short_launches(monkeypatch)
    monkeypatch.setattr(thread, "MAX_UNREPORTED", 2)
    gpu = count(HARD, device="cuda", method="search", cutoff=1e30)
    assert gpu.count == naive.count(HARD)
    assert {launched.rounds for launched in launches} == {1}
    boards_before = [launched.boards_before for launched in launches]
    threads = launches[0].threads
    assert boards_before[0] == 1
    assert sum(number >= threads for number in boards_before) > len(boards_before) * 3 / 4
    cpu = count(HARD, device="cpu", method="search", jobs=1, cutoff=1e30)
    assert gpu.stats.boards_explored == cpu.stats.boards_explored
    assert gpu.stats.launches == len(launches)


def test_launches_get_longer(monkeypatch: pytest.MonkeyPatch, launches: list[Launch]) -> None:
    """A thread continues in the next launch where it stopped."""
    assert count_simulated(MANY, cutoff=1e30, strategy="first") == naive.count(MANY)
    lengths = [launched.rounds for launched in launches]
    assert lengths[0] == search.FIRST_ROUNDS
    assert max(lengths) > lengths[0]


def test_quick_launches_do_not_get_longer_without_end(
    monkeypatch: pytest.MonkeyPatch, launches: list[Launch]
) -> None:
    """A launch that ends early is no measure of the length of the next one."""
    monkeypatch.setattr(search, "ROOM_BYTES", 16)  # room for one solution
    monkeypatch.setattr(search, "LAUNCH_SECONDS", 1e9)
    found_solutions = stream_solutions(Board.empty(Geometry(2, 2)), device="cuda", limit=70)
    assert len(found_solutions) == 70
    assert len(launches) >= 64
    assert max(launched.rounds for launched in launches) <= search.MAX_ROUNDS


def test_launches_that_full_stacks_end_do_not_get_longer(
    monkeypatch: pytest.MonkeyPatch, launches: list[Launch]
) -> None:
    limit_memory(0, HARD.geometry, monkeypatch)
    monkeypatch.setattr(search, "LAUNCH_SECONDS", 1e9)
    assert count_simulated(HARD, cutoff=1e30) == naive.count(HARD)
    assert max(launched.rounds for launched in launches) <= search.MAX_ROUNDS


@pytest.mark.parametrize(("levels", "threads", "depth"), [(0, 2, 2), (9, 4, 2), (250, 8, 31)])
def test_whole_warps(
    levels: int,
    threads: int,
    depth: int,
    monkeypatch: pytest.MonkeyPatch,
    launches: list[Launch],
) -> None:
    """All threads of a warp (two here) exist and have stacks, as they wait for each other."""
    limit_memory(levels, MANY.geometry, monkeypatch)
    engine = CudaEngine()
    engine.gpus[0].warp = 2
    assert count_simulated(puzzle("2x3", 12, 6), cutoff=1e30, engine=engine) > 0
    assert {(launched.threads, launched.depth) for launched in launches} == {(threads, depth)}


def two_gpus() -> CudaEngine:
    engine = CudaEngine()
    engine.gpus = [Faulty(0), Faulty(1)]
    return engine


def test_two_gpus_share_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """All work starts on one GPU; the other one takes a part of it."""
    short_launches(monkeypatch)
    result = count(HARD, engine=two_gpus(), method="search", cutoff=1e30)
    assert result.count == naive.count(HARD)
    assert len(result.stats.utilisation) == 2
    assert min(result.stats.utilisation) > 0
    full = Board(full_grid(Geometry(2, 3), 0), Geometry(2, 3))
    assert count(full, engine=two_gpus(), method="search").count == 1
    boards = [with_wrong_clue(full, 0), *(puzzle("2x3", clues, clues) for clues in (11, 36, 12))]
    assert search_boards(boards, two_gpus()).counts == [naive.count(board) for board in boards]


def test_the_forecast_learns_while_a_gpu_searches(
    monkeypatch: pytest.MonkeyPatch, launches: list[Launch]
) -> None:
    """The forecast of the number of nodes is right within a factor of two."""
    short_launches(monkeypatch)
    monkeypatch.setattr(frontier, "FIRST_SAMPLE_SECONDS", 0.0)
    monkeypatch.setattr(frontier, "SAMPLING_SHARE", 1.0)
    monkeypatch.setattr(search, "TRANSFER_SHARE", 1e9)
    forecasts: list[float] = []
    expect = Job.expect

    def noted(job: Job, task: Task, weight: float, uncertainty: float) -> None:
        expect(job, task, weight, uncertainty)
        forecasts.append(job.expected_work)

    monkeypatch.setattr(Job, "expect", noted)
    result = count(SMALL, device="cuda", method="search", progress=lambda _: None)
    assert result.count == naive.count(SMALL)
    assert launches
    assert len(forecasts) > 2
    total = forecasts[-1]  # nothing remains, so these are the nodes of the GPU
    for nodes in forecasts:
        assert total / 2 < nodes < total * 2
