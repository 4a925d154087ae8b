"""Whatever fails on a GPU, at whatever call: what is counted and listed is the same."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing

import pytest

from gpusudoku.board.board import Board
from gpusudoku.counting import count, count_many
from gpusudoku.engines.cuda import launch
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.errors import DeviceError
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.options import Options
from gpusudoku.planning.streaming import Stream
from gpusudoku.search.frontier import Frontier
from tests import naive
from tests.boards import puzzle, searched, spoilt
from tests.engines.cuda.faulty import LOST, SHORT, Faulty
from tests.engines.cuda.simulator import MANY, ON_SIMULATOR, limit_budgets

pytestmark = ON_SIMULATOR

BOARD = puzzle("2x3", 12, 6)
COUNT = naive.count(BOARD)
SMALL = puzzle("2x2", 3, 0)
TOLD = f"GPU 0 cannot be used: {LOST}; the CPU goes on"
ALONE = 1e30
"""A cutoff that leaves the whole board to one thread, at first."""
HAULS = pytest.mark.parametrize("share", [0.0, 1e9], ids=["rare hauls", "hauls all the time"])


@pytest.fixture(autouse=True)
def short_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Launches are short; the host gets what is left only when the GPU has run dry."""
    limit_budgets(3, monkeypatch)
    monkeypatch.setattr(launch, "HAUL_SHARE", 0.0)


class Gpus(CudaEngine):
    """Simulated GPUs that are ready to search, of which any may fail; what it tells is kept."""

    def __init__(self, *gpus: Faulty, board: Board = BOARD) -> None:
        self.warnings: list[str] = []
        super().__init__(on_loss=lambda error: self.warnings.append(str(error)))
        self.gpus = [*gpus]
        faults, self.faulty = [gpu.at for gpu in gpus], gpus
        for gpu in gpus:
            gpu.at = None
        self.prepare(Frontier.of([board]), SearchSettings())
        for gpu, at in zip(gpus, faults, strict=True):
            gpu.calls, gpu.at = 0, at


def calls_of(run: Callable[[Gpus], object], gpus: int = 1) -> range:
    """The numbers of all calls of a GPU while nothing fails."""
    engine = Gpus(*map(Faulty, range(gpus)))
    run(engine)
    most = max(gpu.calls for gpu in engine.faulty)
    assert most > 20
    return range(1, most + 1)


def counted(engine: CudaEngine) -> int:
    return count(BOARD, engine=engine, method="search", cutoff=ALONE).count


def listed(engine: CudaEngine, board: Board = SMALL) -> list[tuple[int, ...]]:
    with closing(Stream(board, Options(cutoff=ALONE), engine=engine)) as stream:
        return sorted(tuple(row) for block in stream for row in block.tolist())


@HAULS
def test_memory_runs_out_at_any_moment(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is less of everything then, and all goes on where it was."""
    monkeypatch.setattr(launch, "HAUL_SHARE", share)
    for call in calls_of(counted)[::2]:
        engine = Gpus(Faulty(0, call, SHORT, lasts=False))
        [gpu] = engine.faulty
        held: list[int] = []
        gpu.free_unused = lambda gpu=gpu, held=held: held.append(gpu.held)  # type: ignore
        assert counted(engine) == COUNT, call
        assert engine.warnings == []
        if gpu.calls >= call:
            assert held == [0], "what had been allocated is freed before less is tried"


@HAULS
def test_a_gpu_is_lost_at_any_moment(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPU goes on, and so it does with the next board."""
    monkeypatch.setattr(launch, "HAUL_SHARE", share)
    calls, failed = calls_of(counted)[::2], 0
    for call in calls:
        engine = Gpus(gpu := Faulty(0, call))
        assert counted(engine) == COUNT, call
        if gpu.calls < call:  # its threads share boards as they come, and it had done before
            continue
        assert counted(engine) == COUNT
        assert engine.warnings == [TOLD]
        assert engine.gpus == []
        failed += 1
    assert failed > len(calls) / 2


@pytest.mark.parametrize("lost", [0, 1])
def test_one_of_two_is_lost_at_any_moment_or_both_are(lost: int) -> None:
    before = threading.active_count()
    for call in calls_of(counted, 2)[::3]:
        gpus = Faulty(0), Faulty(1)
        gpus[lost].at = call
        engine = Gpus(*gpus)
        assert counted(engine) == COUNT, call
        if gpus[lost].calls >= call:  # each call that fails is told of
            assert engine.warnings == [f"GPU {lost} cannot be used: {LOST}; GPU {1 - lost} goes on"]
            assert engine.gpus == [gpus[1 - lost]]
        assert counted(Gpus(Faulty(0, call), Faulty(1, call + 5))) == COUNT, call
    assert threading.active_count() <= before, "nobody is left waiting"


@pytest.mark.parametrize(("error", "lasts"), [(SHORT, False), (LOST, True)], ids=["memory", "lost"])
@HAULS
def test_a_listing_goes_on(
    share: float, error: Exception, lasts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every solution once: none is given away before the host has what is left."""
    monkeypatch.setattr(launch, "HAUL_SHARE", share)
    monkeypatch.setattr(launch, "ROOM_BYTES", 2 * 16)
    wanted = sorted(naive.solutions(SMALL))
    for call in calls_of(listed)[::3]:
        engine = Gpus(Faulty(0, call, error, lasts), board=SMALL)
        assert listed(engine) == wanted, call


def test_a_batch_goes_on() -> None:
    boards = [spoilt(BOARD, 1), BOARD, puzzle("2x3", 13, 1), puzzle("2x3", 12, 3)]
    wanted = [naive.count(board) for board in boards]
    for call in calls_of(lambda engine: searched(boards, engine))[::4]:
        engine = Gpus(Faulty(0, call))
        assert searched(boards, engine).counts == wanted, call
    engine = Gpus(Faulty(0, 8))
    assert [found.count for found in count_many(boards, engine=engine, method="search")] == wanted
    assert len(engine.warnings) == 1


@pytest.mark.parametrize("limit", [1, COUNT - 1, COUNT, COUNT + 1])
def test_a_limit_is_kept(limit: int) -> None:
    for call in calls_of(counted)[::8]:
        engine = Gpus(Faulty(0, call))
        found = count(BOARD, engine=engine, method="search", cutoff=ALONE, limit=limit)
        assert (found.count, found.exact) == (min(limit, COUNT), limit > COUNT), call


@pytest.mark.parametrize("error", [LOST, SHORT], ids=["lost", "memory"])
def test_it_fails_from_the_start(error: Exception) -> None:
    """Nothing was counted yet: what asked for CUDA should know."""
    frontier, settings = Frontier.of([BOARD]), SearchSettings()
    healthy = CudaEngine()
    healthy.gpus = [gpu := Faulty(error=error)]
    healthy.prepare(frontier, settings)
    before = threading.active_count()
    for call in range(1, gpu.calls + 1):
        engine = CudaEngine()
        engine.gpus = [Faulty(0, call, error)]
        with pytest.raises(DeviceError) as caught:
            engine.prepare(frontier, settings)
        assert str(caught.value) == f"GPU 0 cannot be used: {error}"
    assert threading.active_count() <= before


def test_it_fails_before_another_kind_of_search() -> None:
    """It worked before: the others go on."""
    engine = Gpus(Faulty(0))
    engine.faulty[0].at = 1
    assert count(MANY, engine=engine, method="search", strategy="first").count == naive.count(MANY)
    assert engine.warnings == [TOLD]


def test_memory_stays_short() -> None:
    """From some call on nothing large can be allocated: with less of everything, all goes on."""
    sizes: list[int] = []
    engine = Gpus(Faulty())
    engine.faulty[0].allocated = sizes.append
    assert counted(engine) == COUNT
    for call in calls_of(counted)[::12]:
        engine = Gpus(Faulty())
        [gpu] = engine.faulty

        def allocated(size: int, gpu: Faulty = gpu, call: int = call) -> None:
            if gpu.calls >= call and size > max(sizes) // 20:
                raise SHORT

        gpu.allocated = allocated
        assert counted(engine) == COUNT, call
        assert engine.warnings == []


def test_there_is_no_memory_at_all() -> None:
    """The least does not fit: the CPU goes on, and says why."""
    engine = Gpus(Faulty(0, 25, SHORT))
    assert counted(engine) == COUNT
    assert engine.warnings == [f"GPU 0 cannot be used: {SHORT}; the CPU goes on"]
