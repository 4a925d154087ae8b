"""A GPU may fail at any call: another GPU continues, or an error reports it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from gpusudoku.board import blocks
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.nine.sum import NineContraction
from gpusudoku.counting import count, count_many
from gpusudoku.engines.cuda import search
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.enumeration.stream import Stream
from gpusudoku.errors import Cancelled, DeviceError
from gpusudoku.jobs.cancel import CancelToken
from gpusudoku.options import Options
from gpusudoku.runs.counting import resume
from tests import naive
from tests.boards import puzzle, search_boards, with_wrong_clue
from tests.contraction.nine.counted import candidates_of, summed
from tests.engines.cuda.faulty import LOST, Faulty
from tests.engines.cuda.simulator import MANY, ON_SIMULATOR, short_launches
from tests.waiting import until

pytestmark = ON_SIMULATOR

BOARD = puzzle("2x3", 12, 6)
COUNT = naive.count(BOARD)
SMALL = puzzle("2x2", 3, 0)
TOLD = f"GPU 0 cannot be used: {LOST}"
ALONE = 1e30
"""A cutoff that leaves the whole board to one GPU, at first."""
TRANSFERS = pytest.mark.parametrize(
    "share", [0.0, 1e9], ids=["rare transfers", "transfers all the time"]
)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep launches short, and transfer boards to the host only when a GPU becomes idle."""
    short_launches(monkeypatch)
    monkeypatch.setattr(search, "TRANSFER_SHARE", 0.0)


class Gpus(CudaEngine):
    """Simulated GPUs, any of which may fail; the engine's warnings are recorded."""

    def __init__(self, *gpus: Faulty) -> None:
        self.warnings: list[str] = []
        super().__init__(on_loss=lambda error: self.warnings.append(str(error)))
        self.gpus = [*gpus]
        self.faulty = gpus


def calls_of(run: Callable[[Gpus], object], gpus: int = 1) -> range:
    """Return the numbers of all calls of a GPU in a run without failures."""
    engine = Gpus(*map(Faulty, range(gpus)))
    run(engine)
    call_count = max(gpu.calls for gpu in engine.faulty)
    assert call_count > 20
    return range(1, call_count + 1)


def count_solutions(engine: CudaEngine) -> int:
    return count(BOARD, engine=engine, method="search", cutoff=ALONE).count


def list_solutions(engine: CudaEngine, board: Board = SMALL) -> list[tuple[int, ...]]:
    with closing(Stream(board, Options(cutoff=ALONE), engine=engine)) as stream:
        return sorted(tuple(row) for block in stream for row in block.tolist())


def test_the_only_gpu_is_lost_at_any_moment() -> None:
    """The count is right or there is an error; the next count tries the GPU again."""
    messages = list[str]()
    threads_before = threading.active_count()
    for call in calls_of(count_solutions)[::7]:
        engine = Gpus(gpu := Faulty(0, call))
        try:
            assert count_solutions(engine) == COUNT, call
        except DeviceError as error:
            messages.append(str(error))
        assert engine.warnings == []
        gpu.failing_call = None
        assert count_solutions(engine) == COUNT
    assert len(messages) > 5
    assert {*messages} == {TOLD}
    assert threading.active_count() <= threads_before


@TRANSFERS
@pytest.mark.parametrize("lost_gpu", [0, 1])
def test_one_of_two_is_lost_at_any_moment(
    lost_gpu: int, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "TRANSFER_SHARE", share)
    threads_before = threading.active_count()
    for call in calls_of(count_solutions, 2)[::11]:
        gpus = Faulty(0), Faulty(1)
        engine = Gpus(*gpus)
        assert count_solutions(engine) == COUNT  # both are ready now
        gpus[lost_gpu].failing_call = gpus[lost_gpu].calls + call
        try:
            assert count_solutions(engine) == COUNT, call
        except DeviceError:  # before anything began
            assert call < 5
            continue
        if engine.warnings:
            assert engine.warnings == [
                f"GPU {lost_gpu} cannot be used: {LOST}; GPU {1 - lost_gpu} continues"
            ]
            assert engine.gpus == [gpus[1 - lost_gpu]]
    assert threading.active_count() <= threads_before, "nobody is left waiting"


@TRANSFERS
def test_a_listing_continues_on_the_other_gpu(
    share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each solution is listed once: a GPU reports none before its boards are on the host."""
    monkeypatch.setattr(search, "TRANSFER_SHARE", share)
    monkeypatch.setattr(search, "ROOM_BYTES", 2 * 16)
    expected = sorted(naive.solutions(SMALL))
    loss_count = 0
    for call in calls_of(list_solutions, 2)[5::9]:
        engine = Gpus(Faulty(0, call), Faulty(1))
        assert list_solutions(engine) == expected, call
        loss_count += len(engine.warnings)
    assert loss_count > 0


def test_a_batch_continues_on_the_other_gpu() -> None:
    boards = [with_wrong_clue(BOARD, 1), BOARD, puzzle("2x3", 13, 1), puzzle("2x3", 12, 3)]
    expected = [naive.count(board) for board in boards]
    for call in calls_of(lambda engine: search_boards(boards, engine), 2)[5::13]:
        assert search_boards(boards, Gpus(Faulty(0, call), Faulty(1))).counts == expected, call


@pytest.fixture
def beside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let blocks of a list have two boards, and be counted concurrently."""
    monkeypatch.setattr(CudaEngine, "max_boards", 2)
    monkeypatch.setattr(blocks, "QUICK_BLOCK_SECONDS", 1000.0)
    monkeypatch.setattr(blocks, "SMALL_SECONDS", 0.0)


@pytest.mark.usefixtures("beside")
def test_blocks_computed_concurrently_continue_on_the_other_gpu() -> None:
    """Concurrent blocks report a lost GPU once, and keep their order."""
    boards = [puzzle("2x2", 3 + seed % 5, seed) for seed in range(24)]
    expected = [naive.count(board) for board in boards]

    def counted_together(engine: CudaEngine) -> list[int]:
        numbers: list[int] = count_many(boards, engine=engine, method="search").numbers().tolist()
        return numbers

    loss_count = 0
    for call in calls_of(counted_together, 2)[5::61]:
        engine = Gpus(Faulty(0, call), Faulty(1))
        assert counted_together(engine) == expected, call
        assert engine.warnings in ([], [f"{TOLD}; GPU 1 continues"])
        loss_count += len(engine.warnings)
    assert loss_count > 0
    messages = []
    for call in calls_of(counted_together)[40::200]:
        with pytest.raises(DeviceError) as caught:
            counted_together(Gpus(Faulty(0, call)))
        messages.append(str(caught.value))
    assert {*messages} == {TOLD}


@pytest.mark.usefixtures("beside")
def test_cancelling_ends_all_concurrent_blocks() -> None:
    """All concurrent blocks end."""
    boards = [SMALL] * 4 + [Board.empty(Geometry(2, 3))] * 12
    threads_before = threading.active_count()
    cancel = CancelToken()
    results = count_many(boards, device="cuda", method="search", cancel=cancel)
    assert [next(results) for _ in range(4)] == [naive.count(SMALL)] * 4
    threading.Timer(0.3, cancel.cancel).start()
    with pytest.raises(Cancelled):
        next(results)
    until(lambda: threading.active_count() <= threads_before)


def test_a_checkpoint_survives_the_loss_of_the_gpu(tmp_path: Path) -> None:
    """The error says how to resume, and nothing is lost or counted twice."""
    error_count = 0
    for call in (20, 40):
        run = tmp_path / f"{call}.sqlite"
        engine = Gpus(gpu := Faulty(0, call))
        with pytest.raises(DeviceError, match="resume") as caught:
            count(MANY, engine=engine, method="search", checkpoint=run)
        error_count += str(caught.value).startswith(TOLD)
        gpu.failing_call = None
        assert resume(run, engine=engine).count == naive.count(MANY)
    assert error_count == 2


def test_a_gpu_that_fails_at_the_first_call() -> None:
    engine = Gpus(Faulty(0, 1))
    with pytest.raises(DeviceError) as caught:
        count_solutions(engine)
    assert str(caught.value) == TOLD


def test_a_sum_continues_on_the_other_gpu() -> None:
    """A contraction whose GPU is lost is summed by the other one."""
    board = puzzle("3x3", 26, 3)
    total = 2683
    nine = NineContraction(candidates_of(board))
    nine.prepare(1)
    for call in range(2, 30, 7):
        engine = Gpus(Faulty(0, call), Faulty(1))
        assert summed(nine, engine)[0] == total, call
        assert engine.warnings in ([], [f"{TOLD}; GPU 1 continues"])
        with pytest.raises(DeviceError):
            summed(nine, Gpus(Faulty(0, 2)))
    assert np.all(nine.pairs > 0)
