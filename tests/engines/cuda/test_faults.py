"""Whatever fails on a GPU, at whatever call: another one goes on, or an error tells."""

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
from gpusudoku.contraction.nine.sum import Nine
from gpusudoku.counting import count, count_many
from gpusudoku.engines.cuda import search
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.enumeration.stream import Stream
from gpusudoku.errors import Cancelled, DeviceError
from gpusudoku.jobs.cancel import CancelToken
from gpusudoku.options import Options
from gpusudoku.runs.counting import resume
from tests import naive
from tests.boards import puzzle, search_boards, spoilt
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
    """Launches are short; the host gets what is left only when the GPU has run dry."""
    short_launches(monkeypatch)
    monkeypatch.setattr(search, "TRANSFER_SHARE", 0.0)


class Gpus(CudaEngine):
    """Simulated GPUs, of which any may fail; what the engine tells is kept."""

    def __init__(self, *gpus: Faulty) -> None:
        self.warnings: list[str] = []
        super().__init__(on_loss=lambda error: self.warnings.append(str(error)))
        self.gpus = [*gpus]
        self.faulty = gpus


def calls_of(run: Callable[[Gpus], object], gpus: int = 1) -> range:
    """The numbers of all calls of a GPU while nothing fails."""
    engine = Gpus(*map(Faulty, range(gpus)))
    run(engine)
    most = max(gpu.calls for gpu in engine.faulty)
    assert most > 20
    return range(1, most + 1)


def count_solutions(engine: CudaEngine) -> int:
    return count(BOARD, engine=engine, method="search", cutoff=ALONE).count


def listed(engine: CudaEngine, board: Board = SMALL) -> list[tuple[int, ...]]:
    with closing(Stream(board, Options(cutoff=ALONE), engine=engine)) as stream:
        return sorted(tuple(row) for block in stream for row in block.tolist())


def test_the_only_gpu_is_lost_at_any_moment() -> None:
    """The count is right or there is an error; the next count tries the GPU again."""
    told = list[str]()
    before = threading.active_count()
    for call in calls_of(count_solutions)[::7]:
        engine = Gpus(gpu := Faulty(0, call))
        try:
            assert count_solutions(engine) == COUNT, call
        except DeviceError as error:
            told.append(str(error))
        assert engine.warnings == []
        gpu.failing_call = None
        assert count_solutions(engine) == COUNT
    assert len(told) > 5
    assert {*told} == {TOLD}
    assert threading.active_count() <= before


@TRANSFERS
@pytest.mark.parametrize("lost", [0, 1])
def test_one_of_two_is_lost_at_any_moment(
    lost: int, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "TRANSFER_SHARE", share)
    before = threading.active_count()
    for call in calls_of(count_solutions, 2)[::11]:
        gpus = Faulty(0), Faulty(1)
        engine = Gpus(*gpus)
        assert count_solutions(engine) == COUNT  # both are ready now
        gpus[lost].failing_call = gpus[lost].calls + call
        try:
            assert count_solutions(engine) == COUNT, call
        except DeviceError:  # before anything began
            assert call < 5
            continue
        if engine.warnings:
            assert engine.warnings == [
                f"GPU {lost} cannot be used: {LOST}; GPU {1 - lost} continues"
            ]
            assert engine.gpus == [gpus[1 - lost]]
    assert threading.active_count() <= before, "nobody is left waiting"


@TRANSFERS
def test_a_listing_goes_on(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every solution once: none is given away before the host has what is left."""
    monkeypatch.setattr(search, "TRANSFER_SHARE", share)
    monkeypatch.setattr(search, "ROOM_BYTES", 2 * 16)
    wanted = sorted(naive.solutions(SMALL))
    lost = 0
    for call in calls_of(listed, 2)[5::9]:
        engine = Gpus(Faulty(0, call), Faulty(1))
        assert listed(engine) == wanted, call
        lost += len(engine.warnings)
    assert lost > 0


def test_a_batch_goes_on() -> None:
    boards = [spoilt(BOARD, 1), BOARD, puzzle("2x3", 13, 1), puzzle("2x3", 12, 3)]
    wanted = [naive.count(board) for board in boards]
    for call in calls_of(lambda engine: search_boards(boards, engine), 2)[5::13]:
        assert search_boards(boards, Gpus(Faulty(0, call), Faulty(1))).counts == wanted, call


@pytest.fixture
def beside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a list have two boards, and are counted side by side."""
    monkeypatch.setattr(CudaEngine, "max_boards", 2)
    monkeypatch.setattr(blocks, "QUICK_BLOCK_SECONDS", 1000.0)
    monkeypatch.setattr(blocks, "SMALL_SECONDS", 0.0)


@pytest.mark.usefixtures("beside")
def test_lists_go_on() -> None:
    """Blocks that are side by side tell once that a GPU is lost, and keep their order."""
    boards = [puzzle("2x2", 3 + seed % 5, seed) for seed in range(24)]
    wanted = [naive.count(board) for board in boards]

    def counted_together(engine: CudaEngine) -> list[int]:
        found: list[int] = count_many(boards, engine=engine, method="search").numbers().tolist()
        return found

    lost = 0
    for call in calls_of(counted_together, 2)[5::61]:
        engine = Gpus(Faulty(0, call), Faulty(1))
        assert counted_together(engine) == wanted, call
        assert engine.warnings in ([], [f"{TOLD}; GPU 1 continues"])
        lost += len(engine.warnings)
    assert lost > 0
    told = []
    for call in calls_of(counted_together)[40::200]:
        with pytest.raises(DeviceError) as caught:
            counted_together(Gpus(Faulty(0, call)))
        told.append(str(caught.value))
    assert {*told} == {TOLD}


@pytest.mark.usefixtures("beside")
def test_a_list_is_cancelled() -> None:
    """All of the blocks that are side by side end."""
    boards = [SMALL] * 4 + [Board.empty(Geometry(2, 3))] * 12
    before = threading.active_count()
    cancel = CancelToken()
    results = count_many(boards, device="cuda", method="search", cancel=cancel)
    assert [next(results) for _ in range(4)] == [naive.count(SMALL)] * 4
    threading.Timer(0.3, cancel.cancel).start()
    with pytest.raises(Cancelled):
        next(results)
    until(lambda: threading.active_count() <= before)


def test_a_checkpoint_outlives_the_gpu(tmp_path: Path) -> None:
    """The error says how to go on, and nothing is lost or counted twice."""
    told = 0
    for call in (20, 40):
        run = tmp_path / f"{call}.sqlite"
        engine = Gpus(gpu := Faulty(0, call))
        with pytest.raises(DeviceError, match="resume") as caught:
            count(MANY, engine=engine, method="search", checkpoint=run)
        told += str(caught.value).startswith(TOLD)
        gpu.failing_call = None
        assert resume(run, engine=engine).count == naive.count(MANY)
    assert told == 2


def test_it_fails_from_the_start() -> None:
    engine = Gpus(Faulty(0, 1))
    with pytest.raises(DeviceError) as caught:
        count_solutions(engine)
    assert str(caught.value) == TOLD


def test_a_sum_goes_on() -> None:
    """A contraction whose GPU is lost is summed by the other one."""
    board = puzzle("3x3", 26, 3)
    total = 2683
    nine = Nine(candidates_of(board))
    nine.prepare(1)
    for call in range(2, 30, 7):
        engine = Gpus(Faulty(0, call), Faulty(1))
        assert summed(nine, engine)[0] == total, call
        assert engine.warnings in ([], [f"{TOLD}; GPU 1 continues"])
        with pytest.raises(DeviceError):
            summed(nine, Gpus(Faulty(0, 2)))
    assert np.all(nine.pairs > 0)
