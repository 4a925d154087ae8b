"""Whatever fails on a GPU, at whatever call: what is counted and listed is the same."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing

import numpy as np
import pytest

from gpusudoku.board.board import Board
from gpusudoku.checking import Checker
from gpusudoku.counting import count, count_many
from gpusudoku.engines.cuda import launch
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.errors import Cancelled, DeviceError
from gpusudoku.jobs.cancel import CancelToken, cancelling
from gpusudoku.jobs.job import Job
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.options import Options
from gpusudoku.search.frontier import Frontier
from gpusudoku.streaming import Stream
from tests import naive
from tests.boards import puzzle, searched, spoilt
from tests.engines.cuda.faulty import LOST, SHORT, Faulty
from tests.engines.cuda.simulator import MANY, ON_SIMULATOR, limit_budgets

pytestmark = ON_SIMULATOR

BOARD = puzzle("2x3", 12, 6)
COUNT = naive.count(BOARD)
SMALL = puzzle("2x2", 3, 0)
ALONE = 1e30
"""A cutoff that leaves the whole board to one thread, at first."""


@pytest.fixture(
    params=[0.0, 1e9], ids=["hauls are rare", "a haul after every launch"], autouse=True
)
def hauls(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """How often the host gets what is left while the GPU has enough to do; in short launches."""
    monkeypatch.setattr(launch, "HAUL_SHARE", request.param)
    limit_budgets(3, monkeypatch)


class Gpus(CudaEngine):
    """Simulated GPUs that are ready to search, of which any may fail; what it tells is kept."""

    def __init__(self, *gpus: Faulty, board: Board = BOARD) -> None:
        self.told: list[str] = []
        super().__init__(on_loss=lambda error: self.told.append(str(error)))
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


def test_memory_runs_out_at_any_moment() -> None:
    """There is less of everything then, and all goes on where it was."""
    for call in calls_of(counted):
        engine = Gpus(Faulty(0, call, SHORT, lasts=False))
        assert counted(engine) == COUNT, call
        assert engine.told == []


def test_a_gpu_is_lost_at_any_moment() -> None:
    """The CPU goes on, and so it does with the next board."""
    calls, failed = calls_of(counted), 0
    for call in calls:
        engine = Gpus(gpu := Faulty(0, call))
        assert counted(engine) == COUNT, call
        if gpu.calls < call:  # its threads share boards as they come, and it had done before
            continue
        assert engine.told == [f"GPU 0 cannot be used: {LOST}; the CPU goes on"]
        assert counted(engine) == COUNT
        assert len(engine.told) == 1
        assert engine.gpus == []
        failed += 1
    assert failed > len(calls) / 2


@pytest.mark.parametrize("lost", [0, 1])
def test_one_of_two_is_lost_at_any_moment(lost: int) -> None:
    for call in calls_of(counted, 2):
        gpus = Faulty(0), Faulty(1)
        gpus[lost].at = call
        engine = Gpus(*gpus)
        assert counted(engine) == COUNT, call
        if gpus[lost].calls >= call:  # each call that fails is told of
            assert engine.told == [f"GPU {lost} cannot be used: {LOST}; GPU {1 - lost} goes on"]
            assert engine.gpus == [gpus[1 - lost]]


def test_both_are_lost() -> None:
    for call in calls_of(counted, 2)[::3]:
        for later in (0, 5):
            engine = Gpus(Faulty(0, call), Faulty(1, call + later))
            assert counted(engine) == COUNT, call


def test_nobody_is_left_waiting() -> None:
    before = threading.active_count()
    counted(Gpus(Faulty(0, 7), Faulty(1, 12)))
    assert threading.active_count() <= before


@pytest.mark.parametrize(("error", "lasts"), [(SHORT, False), (LOST, True)], ids=["memory", "lost"])
def test_a_listing_goes_on(error: Exception, lasts: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every solution once: none is given away before the host has what is left."""
    monkeypatch.setattr(launch, "ROOM_BYTES", 2 * 16)
    wanted = sorted(naive.solutions(SMALL))
    for call in calls_of(listed):
        engine = Gpus(Faulty(0, call, error, lasts), board=SMALL)
        assert listed(engine) == wanted, call


def test_a_long_listing_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left comes to the host several times before it is dealt anew."""
    monkeypatch.setattr(launch, "ROOM_BYTES", 2 * 36)
    wanted = sorted(naive.solutions(MANY))
    assert listed(Gpus(Faulty(), board=MANY), MANY) == wanted
    for call in range(20, 200, 30):
        engine = Gpus(Faulty(0, call), board=MANY)
        assert listed(engine, MANY) == wanted, call
        assert engine.told == [f"GPU 0 cannot be used: {LOST}; the CPU goes on"]


def test_a_batch_goes_on() -> None:
    boards = [spoilt(BOARD, 1), BOARD, puzzle("2x3", 13, 1), puzzle("2x3", 12, 3)]
    wanted = [naive.count(board) for board in boards]
    for call in calls_of(lambda engine: searched(boards, engine)):
        engine = Gpus(Faulty(0, call))
        assert searched(boards, engine).counts == wanted, call
    engine = Gpus(Faulty(0, 8))
    assert [found.count for found in count_many(boards, engine=engine, method="search")] == wanted
    assert len(engine.told) == 1


@pytest.mark.parametrize("limit", [1, 5, COUNT - 1, COUNT, COUNT + 1])
def test_a_limit_is_kept(limit: int) -> None:
    for call in calls_of(counted)[::4]:
        engine = Gpus(Faulty(0, call))
        found = count(BOARD, engine=engine, method="search", cutoff=ALONE, limit=limit)
        assert (found.count, found.exact) == (min(limit, COUNT), limit > COUNT), call


def test_it_fails_from_the_start() -> None:
    """Nothing was counted yet: what asked for CUDA should know."""
    frontier, settings = Frontier.of([BOARD]), SearchSettings()
    healthy = CudaEngine()
    healthy.gpus = [gpu := Faulty()]
    healthy.prepare(frontier, settings)
    for call in range(1, gpu.calls + 1):
        engine = CudaEngine()
        engine.gpus = [Faulty(0, call)]
        with pytest.raises(DeviceError, match=r"^GPU 0 cannot be used: .* off the bus$"):
            engine.prepare(frontier, settings)


def test_it_fails_before_another_kind_of_search() -> None:
    """It worked before: the others go on."""
    engine = Gpus(Faulty(0))
    engine.faulty[0].at = 1
    assert count(MANY, engine=engine, method="search", strategy="first").count == naive.count(MANY)
    assert engine.told == [f"GPU 0 cannot be used: {LOST}; the CPU goes on"]


@pytest.mark.parametrize("share", [0.5, 0.2, 0.05])
def test_memory_stays_short(share: float) -> None:
    """From some call on nothing large can be allocated: with less of everything, all goes on."""
    sizes: list[int] = []
    engine = Gpus(Faulty())
    engine.faulty[0].allocated = sizes.append
    assert counted(engine) == COUNT
    for call in calls_of(counted)[::6]:
        engine = Gpus(Faulty())
        [gpu] = engine.faulty

        def allocated(size: int, gpu: Faulty = gpu, call: int = call) -> None:
            if gpu.calls >= call and size > share * max(sizes):
                raise SHORT

        gpu.allocated = allocated
        assert counted(engine) == COUNT, call
        assert engine.told == []


def test_there_is_no_memory_at_all() -> None:
    """The least does not fit: the CPU goes on, and says why."""
    engine = Gpus(Faulty(0, 25, SHORT))
    assert counted(engine) == COUNT
    assert engine.told == [f"GPU 0 cannot be used: {SHORT}; the CPU goes on"]


def test_what_failed_is_freed() -> None:
    """Before less is tried: an error that is being handled keeps what had been allocated."""
    for call in calls_of(counted)[3::5]:
        engine = Gpus(Faulty(0, call, SHORT, lasts=False))
        [gpu] = engine.faulty
        held: list[int] = []
        gpu.free_unused = lambda gpu=gpu, held=held: held.append(gpu.held)  # type: ignore
        assert counted(engine) == COUNT
        assert held == [0]


def test_solutions_that_wait_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many bytes of them do not wait for what is left, however rarely that comes."""
    monkeypatch.setattr(launch, "ROOM_BYTES", 2 * 16)
    monkeypatch.setattr(launch, "HELD_BYTES", 2 * 16)
    engine, waiting = Gpus(board=SMALL), []
    look = launch.Launch.look

    def watched(self: launch.Launch) -> None:
        look(self)
        waiting.append(sum(len(rows) for rows, _ in self._solutions))

    monkeypatch.setattr(launch.Launch, "look", watched)
    engine.gpus = [Faulty()]
    assert listed(engine) == sorted(naive.solutions(SMALL))
    assert 0 < max(waiting) <= 3


def test_a_cross_check_tells_of_a_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[DeviceError] = []
    checker = Checker(Options(), told.append)
    found = count(BOARD, device="cpu", method="search", jobs=1)
    again, launches = launch.Launch.again, []

    def launched(self: launch.Launch) -> None:
        launches.append(self)
        if len(launches) > 1:
            raise LOST
        again(self)

    monkeypatch.setattr(launch.Launch, "again", launched)
    way = checker.check(found)
    assert way is not None
    assert "cuda" in way
    assert [*map(str, told)] == [f"GPU 0 cannot be used: {LOST}; the CPU goes on"]


def test_a_task_is_not_forgotten_if_nobody_can_be_enlisted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A cancellation while the CPU gets ready: what was left is left."""
    engine, token = Gpus(Faulty(0, 30)), CancelToken()
    frontier, settings = Frontier.of([BOARD]), SearchSettings()
    with cancelling(token):
        job = Job(1, None, None, np.uint64)

    def prepare(*_: object) -> int:
        token.cancel()
        raise Cancelled("cancelled")

    monkeypatch.setattr(engine._cpu, "prepare", prepare)
    with pytest.raises(Cancelled):
        engine.explore(frontier, settings, job)
    [task] = job.left
    rest = Job(1, None, None, np.uint64)
    Gpus(Faulty()).explore(task.payload, settings, rest)
    assert job.total + rest.total == COUNT
