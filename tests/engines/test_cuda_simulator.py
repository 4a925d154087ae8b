"""The CUDA kernels and the host code that drives them, on tiny boards in Numba's simulator."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.counting import Options, count, explore
from gpusudoku.engines.cuda import availability, device
from gpusudoku.engines.cuda import engine as cuda_engine
from gpusudoku.engines.cuda.device import SIMULATED
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.errors import Interrupted
from gpusudoku.jobs.job import Job, Progress
from gpusudoku.kernels.search import loop as search
from gpusudoku.kernels.search.select import search_for
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.listing import Listing, solutions, solve
from gpusudoku.search.frontier import Frontier
from tests import naive
from tests.boards import full_grid, layout_of, puzzle, run_uncompiled, spoilt

pytestmark = [
    pytest.mark.skipif(not availability.simulated(), reason="a GPU is there: see test_gpu.py"),
    pytest.mark.timeout(60),
]

CLUES = {"2x2": 4, "1x4": 4, "2x3": 14, "3x3": 40}
SMALL = puzzle("2x2", 2, 0)
MANY = puzzle("2x3", 9, 6)


@pytest.fixture(autouse=True)
def plain_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here needs a compiled frontier."""
    run_uncompiled(monkeypatch)


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every launch of a kernel, as (budget, threads, depth, nodes)."""
    made = []
    again = cuda_engine.Launch.again

    def watched(self: Any) -> None:
        before, budget = int(self.tallies[search.NODES].sum()), self.budget
        again(self)
        nodes = int(self.tallies[search.NODES].sum()) - before
        made.append((budget, self.threads, self.stacks.shape[0], nodes))

    monkeypatch.setattr(cuda_engine.Launch, "again", watched)
    return made


def tuned(**changes: Any) -> CudaEngine:
    return CudaEngine(tuning=replace(SIMULATED, **changes))


def counted(board: Board, **options: Any) -> int:
    result = count(board, device="cuda", **options)
    assert result.device == "cuda"
    return result.count


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


@pytest.mark.parametrize("shape", ["2x3", "3x3"])
def test_contiguous_stacks(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stacks that lie in memory the other way, gathered and dealt out again."""
    monkeypatch.setattr(cuda_engine.Driver, "launch", _with_budget_of(3))
    board = puzzle(shape, CLUES[shape] - 4, 6)
    engine = tuned(stacks="contiguous")
    assert counted(board, cutoff=1e300, engine=engine) == naive.count(board)


def test_published_totals() -> None:
    assert counted(Board.empty(Geometry(1, 1))) == 1
    assert counted(Board.empty(Geometry(2, 2))) == 288
    assert counted(Board.empty(Geometry(1, 3))) == 12


def test_no_solution_and_nothing_to_do() -> None:
    full = Board(full_grid(Geometry(2, 3), 0), Geometry(2, 3))
    assert counted(full) == 1
    assert counted(spoilt(full, 0)) == 0


def test_threads_without_a_frontier_board_do_no_harm() -> None:
    assert CudaEngine().gpus[0].threads_for(None) == 8
    assert counted(puzzle("2x2", 8, 1), cutoff=1e30) == naive.count(puzzle("2x2", 8, 1))


@pytest.mark.parametrize("limit", [1, 5, 24, 25, 2**64])
def test_limits(limit: int) -> None:
    total = naive.count(SMALL)
    result = count(SMALL, device="cuda", limit=limit)
    assert result.count == min(limit, total)
    assert result.exact == (total < limit)


def test_statistics() -> None:
    stats = count(MANY, device="cuda", cutoff=1000).stats
    total = naive.count(MANY)
    assert total <= stats.boards_explored <= stats.nodes <= 50 * total
    plain = count(MANY, device="cpu", jobs=1, cutoff=1000).stats
    assert stats.boards_explored == plain.boards_explored
    assert 0 <= stats.deepest <= 36
    assert stats.frontier_width == SIMULATED.boards_per_thread * 8
    assert len(stats.utilisation) == 1
    assert 0 <= stats.utilisation[0] <= 1.05


def test_several_roots() -> None:
    boards = [puzzle("2x3", clues, seed) for seed, clues in enumerate([11, 36, 12, 14])]
    boards[1] = spoilt(boards[1], 0)
    options = Options(device="cuda")
    counts, _ = explore(boards, CudaEngine(), options)
    assert counts == [naive.count(board) for board in boards]
    counts, _ = explore(boards, CudaEngine(), Options(device="cuda", cutoff=1e30))
    assert counts == [naive.count(board) for board in boards]


def test_several_owners_with_a_limit() -> None:
    boards = [puzzle("2x3", clues, seed) for seed, clues in enumerate([10, 36, 11])]
    totals = [naive.count(board) for board in boards]
    counts, _ = explore(boards, CudaEngine(), Options(device="cuda", limit=5))
    for found, total in zip(counts, totals, strict=True):
        assert min(total, 5) <= found <= total


class TestListing:
    def test_every_solution_once(self) -> None:
        for board in [SMALL, puzzle("2x3", 12, 0), puzzle("3x3", 40, 0)]:
            found = [tuple(each.cells.tolist()) for each in solutions(board, device="cuda")]
            assert sorted(found) == list(naive.solutions(board))

    def test_out_of_room(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Threads that find no room wait for the next launch, and lose nothing."""
        monkeypatch.setattr(cuda_engine, "ROOM_BYTES", 3 * 36)
        board = puzzle("2x3", 12, 0)
        blocks = list(Listing(board, device="cuda", cutoff=1e30))
        assert max(len(block) for block in blocks) == 3
        found = [tuple(row) for block in blocks for row in block.tolist()]
        assert sorted(found) == list(naive.solutions(board))

    def test_limit_and_solve(self) -> None:
        assert len(list(solutions(MANY, device="cuda", limit=3))) == 3
        assert solve(MANY, device="cuda").unique is False
        assert solve(puzzle("2x2", 8, 1), device="cuda").unique is True


class TestRelaunching:
    def test_budgets_that_run_out(self, monkeypatch: pytest.MonkeyPatch, launches: Any) -> None:
        """A thread goes on in the next launch where the last one left it."""
        engine = tuned(launch_seconds=1e-9)  # every launch is too long
        monkeypatch.setattr(cuda_engine.Driver, "launch", _with_budget_of(4))
        monkeypatch.setattr(search, "SLICE", 2)
        total = naive.count(MANY)
        assert counted(MANY, cutoff=1e30, strategy="first", engine=engine) == total
        assert {budget for budget, *_ in launches} == {0, 4, 2, 1}
        assert len(launches) > 10

    def test_the_next_budget_fits_the_time(
        self, monkeypatch: pytest.MonkeyPatch, launches: Any
    ) -> None:
        engine = tuned(launch_seconds=1e9)
        monkeypatch.setattr(cuda_engine.Driver, "launch", _with_budget_of(2))
        assert counted(MANY, cutoff=1e30, engine=engine) == naive.count(MANY)
        assert 4 in {budget for budget, *_ in launches}

    def test_what_is_left_is_widened_anew(
        self, monkeypatch: pytest.MonkeyPatch, launches: Any
    ) -> None:
        """One thread has all the work: it is gathered from its stack and dealt to all."""
        monkeypatch.setattr(cuda_engine.Driver, "launch", _with_budget_of(3))
        gathered = []
        expanded = Frontier.expanded

        def watched(self: Frontier, *arguments: Any, **options: Any) -> Frontier:
            gathered.append(len(self))
            return expanded(self, *arguments, **options)

        monkeypatch.setattr(Frontier, "expanded", watched)
        board = puzzle("2x3", 8, 6)
        result = count(board, device="cuda", cutoff=1e30)
        assert result.count == naive.count(board)
        assert len(gathered) > 1
        assert max(gathered[1:]) > 1, "boards came back from a stack"
        # The guesses of the widening in between are guesses, too.
        plain = count(board, device="cpu", jobs=1, cutoff=1e30)
        assert result.stats.boards_explored == plain.stats.boards_explored

    @pytest.mark.parametrize("levels", [0, 16, 24, 40])
    def test_short_stacks(
        self, levels: int, monkeypatch: pytest.MonkeyPatch, launches: Any
    ) -> None:
        """A card with hardly any memory: threads stop at a full stack, and all goes on."""
        monkeypatch.setattr(cuda_engine, "LEAST_DEPTH", 2)
        _with_memory_for(levels, MANY.geometry, monkeypatch)
        board = puzzle("2x3", 8, 6)
        # One that can be stopped: a search that gets nowhere would launch for ever.
        assert counted(board, cutoff=1e30, strategy="first") == naive.count(board)
        assert {depth for _, _, depth, _ in launches} == {max(2, levels // 8)}
        assert {threads for _, threads, _, _ in launches} == {8 if levels else 1}

    def test_short_stacks_with_a_wide_frontier(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(cuda_engine, "LEAST_DEPTH", 2)
        _with_memory_for(16, MANY.geometry, monkeypatch)
        board = puzzle("2x3", 8, 6)
        assert counted(board, strategy="first") == naive.count(board)

    @pytest.mark.parametrize(("levels", "stacks"), [(0, "interleaved"), (16, "contiguous")])
    def test_short_stacks_of_9x9_boards(
        self, levels: int, stacks: str, monkeypatch: pytest.MonkeyPatch, launches: Any
    ) -> None:
        """The search of 9x9 boards has the board at hand elsewhere, but stops at two rows, too."""
        monkeypatch.setattr(cuda_engine, "LEAST_DEPTH", 2)
        _with_memory_for(levels, Geometry(3, 3), monkeypatch)
        board = puzzle("3x3", 28, 7)
        engine = tuned(stacks=stacks)
        assert counted(board, cutoff=1e300, strategy="first", engine=engine) == naive.count(board)
        assert {depth for _, _, depth, _ in launches} == {max(2, levels // 8)}
        assert {threads for _, threads, _, _ in launches} == {8 if levels else 1}
        assert len(launches) > 3, "threads stopped, and boards were dealt out anew"

    def test_quick_launches_do_not_raise_budgets_without_end(
        self, monkeypatch: pytest.MonkeyPatch, launches: Any
    ) -> None:
        """A launch that ends early says nothing of how long the next may be.

        It would hold the card for hours, deaf to Ctrl-C, and one day the budget overflows.
        """
        monkeypatch.setattr(cuda_engine, "ROOM_BYTES", 16)  # room for one solution
        monkeypatch.setattr(device, "SIMULATED", replace(SIMULATED, launch_seconds=1e9))
        found = list(solutions(Board.empty(Geometry(2, 2)), device="cuda", limit=70))
        assert len(found) == 70
        assert len(launches) >= 64
        assert max(budget for budget, *_ in launches) < 2**40


def _with_memory_for(levels: int, geometry: Geometry, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let stacks have so many rows in all: boards, and whose they are."""
    search = search_for(layout_of(geometry), SearchSettings())
    row = search.words * np.dtype(search.word).itemsize + 8
    share = cuda_engine.MEMORY_SHARE
    monkeypatch.setattr(cuda_engine.Gpu, "free_bytes", lambda self: int(levels * row / share))


def _with_budget_of(nodes: int) -> Any:
    launch = cuda_engine.Driver.launch

    def launched(self: Any, task: Any, budget: int) -> Any:
        return launch(self, task, min(budget, nodes))

    return launched


class TestTwoCards:
    @pytest.fixture
    def engine(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[CudaEngine]:
        """Two simulated gpus. The simulator runs one kernel at a time."""
        turn = threading.Lock()
        again = cuda_engine.Launch.again

        def in_turn(self: Any) -> None:
            with turn:
                again(self)

        monkeypatch.setattr(cuda_engine.Launch, "again", in_turn)
        engine = CudaEngine()
        engine.gpus = [cuda_engine.Gpu(0), cuda_engine.Gpu(1)]
        engine.workers = 2
        return engine

    def test_each_gets_a_part(self, engine: CudaEngine) -> None:
        result = count(MANY, engine=engine)
        assert result.count == naive.count(MANY)
        assert len(result.stats.utilisation) == 2

    def test_work_is_shared(self, engine: CudaEngine, monkeypatch: pytest.MonkeyPatch) -> None:
        """All of it starts on one card; the other asks for some."""
        monkeypatch.setattr(cuda_engine.Driver, "launch", _with_budget_of(3))
        offered = []
        offer = Job.offer

        def watched(self: Job, tasks: Any) -> None:
            made = list(tasks)
            offered.extend(len(task.payload[0]) for task in made)
            offer(self, made)

        monkeypatch.setattr(Job, "offer", watched)
        board = puzzle("2x3", 8, 6)
        assert count(board, engine=engine, cutoff=1e30).count == naive.count(board)
        assert offered
        assert min(offered) >= 1

    def test_fewer_boards_than_cards(self, engine: CudaEngine) -> None:
        full = Board(full_grid(Geometry(2, 3), 0), Geometry(2, 3))
        assert count(full, engine=engine).count == 1
        assert count(spoilt(full, 0), engine=engine).count == 0

    def test_several_roots(self, engine: CudaEngine) -> None:
        boards = [puzzle("2x3", clues, seed) for seed, clues in enumerate([11, 36, 12])]
        counts, _ = explore(boards, engine, Options(device="cuda"))
        assert counts == [naive.count(board) for board in boards]


def test_an_interrupt() -> None:
    def progress(state: Progress) -> None:
        if state.count:
            raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(Interrupted) as caught:
        count(Board.empty(Geometry(2, 3)), device="cuda", progress=progress)
    assert caught.value.count > 0
    assert threading.active_count() == before
