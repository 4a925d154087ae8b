"""The engine for each combination of options."""

from __future__ import annotations

import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.counting import count
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.cuda import availability
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.engines.make import make_engine
from gpusudoku.errors import DeviceError, InputError
from tests import naive
from tests.boards import puzzle

BOARD = puzzle("2x3", 8, 1)
TOTAL = naive.count(BOARD)


def test_the_device_asked_for() -> None:
    assert isinstance(make_engine(device="cpu"), CpuEngine)
    assert make_engine(device="cpu", jobs=3).workers == 3
    assert make_engine(device="cpu").workers >= 1
    with pytest.raises(TypeError, match=r"^make_engine\(\) .* 'job'; did you mean 'jobs'"):
        make_engine(job=3)  # type: ignore[call-arg]


def test_an_engine_of_another_device_is_refused() -> None:
    with pytest.raises(InputError, match=r"^an engine for cpu: pass device='cuda' to make_engine"):
        count(BOARD, engine=make_engine(device="cpu"), device="cuda")


@pytest.mark.usefixtures("without_cuda")
def test_without_cuda() -> None:
    assert isinstance(make_engine(), CpuEngine)
    with pytest.raises(DeviceError, match="CUDA cannot be used: there is none"):
        make_engine(device="cuda")
    with pytest.raises(DeviceError):
        count(BOARD, device="cuda")


@pytest.mark.skipif(not availability.simulated(), reason="knows how many GPUs the simulator has")
def test_gpus_by_number() -> None:
    assert isinstance(make_engine(), CpuEngine)  # auto leaves the simulator alone
    assert isinstance(make_engine(device="cuda"), CudaEngine)
    assert make_engine(gpus=(0, 0)).workers == 1
    with pytest.raises(InputError, match="no GPU 1: GPUs are numbered from 0 to 0"):
        make_engine(device="cuda", gpus=(0, 1))
    with pytest.raises(InputError, match=r"gpus \(-1,\)"):
        make_engine(device="cuda", gpus=(-1,))


def test_an_engine_serves_many_boards() -> None:
    engine = CpuEngine(jobs=2)
    assert count(BOARD, engine=engine).count == TOTAL
    result = count(Board.empty(Geometry(2, 2)), engine=engine)
    assert (result.count, result.jobs, result.device) == (288, 2, "cpu")
