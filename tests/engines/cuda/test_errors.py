"""What goes wrong on a GPU ends in one line, and in threads that end: on GPUs that are made up."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpusudoku.board.geometry import Geometry
from gpusudoku.counting import count
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.cuda import availability, device
from gpusudoku.engines.cuda.device import Gpu
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.engines.cuda.launch import Launch
from gpusudoku.engines.make import make_engine
from gpusudoku.errors import DeviceError
from gpusudoku.jobs.job import Job
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.search.frontier import Frontier
from tests import naive
from tests.boards import puzzle
from tests.engines.cuda.simulator import MANY, ON_SIMULATOR

pytestmark = ON_SIMULATOR


class Broken:
    """A GPU that is there, but of which CuPy, or Numba, says that it cannot be had."""

    def __init__(self, cupys: str = "", numbas: str = "") -> None:
        self._cupys, self._numbas = cupys, numbas

    def insert(self, patch: pytest.MonkeyPatch) -> None:
        cupy: Any = ModuleType("cupy")
        cupy.cuda = SimpleNamespace(Device=self._device, runtime=SimpleNamespace())
        cupy.zeros = self._zeros
        patch.setitem(sys.modules, "cupy", cupy)
        patch.setattr("numba.cuda.gpus", self, raising=False)
        patch.setattr(availability, "simulated", lambda: False)
        patch.setattr(availability, "unusable_because", lambda: None)
        patch.setattr(availability, "gpu_names", lambda: ("broken",))

    @contextmanager
    def _device(self, number: int) -> Iterator[None]:
        yield

    def _zeros(self, *_: object) -> None:
        if self._cupys:
            raise RuntimeError(self._cupys)

    @contextmanager
    def __getitem__(self, number: int) -> Iterator[None]:
        if self._numbas:
            raise RuntimeError(self._numbas)
        yield


TOO_OLD = (
    "cudaErrorInsufficientDriver: CUDA driver version is insufficient for CUDA runtime version"
)
BROKEN = {
    TOO_OLD: Broken(cupys=TOO_OLD),
    "Out of memory": Broken(cupys="Out of memory allocating\n 512 bytes"),
    "devices are busy": Broken(cupys="cudaErrorDevicesUnavailable: all\ndevices are busy"),
    "compute capability (6, 1)": Broken(numbas="GPU compute capability (6, 1) is not supported"),
}


@pytest.mark.parametrize("reason", list(BROKEN))
def test_a_gpu_that_cannot_be_had(reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is known before anything is counted, so that ``auto`` can take the CPU."""
    BROKEN[reason].insert(monkeypatch)
    with pytest.raises(DeviceError) as caught:
        make_engine(device="cuda")
    assert str(caught.value).startswith("GPU 0 cannot be used: ")
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
    told: list[DeviceError] = []
    assert isinstance(make_engine(fallback=told.append), CpuEngine)
    assert reason in str(told[0])


ASYNCHRONOUS = [
    "[CUresult.CUDA_ERROR_ILLEGAL_ADDRESS] an illegal memory access was encountered",
    "[CUresult.CUDA_ERROR_LAUNCH_TIMEOUT] the launch timed out and was terminated",
    "cudaErrorECCUncorrectable:\n  uncorrectable ECC error encountered",
]


@pytest.mark.parametrize("said", ASYNCHRONOUS)
@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_kernel_that_fails(number: int, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver tells of it when it is waited for, in whichever launch.

    In the first, before anything is counted, the GPU cannot be used; later, it was lost.
    """
    waits = []

    def finish(self: Gpu) -> None:
        waits.append(self)
        if len(waits) >= number:
            raise RuntimeError(said)

    monkeypatch.setattr(Gpu, "finish", finish)
    monkeypatch.setattr("gpusudoku.engines.cuda.worker.FIRST_BUDGET", 1)
    before, why = threading.active_count(), f"GPU 0 cannot be used: {' '.join(said.split())}"
    told: list[DeviceError] = []
    engine = CudaEngine(on_loss=told.append)
    if number == 1:
        with pytest.raises(DeviceError) as caught:
            count(MANY, engine=engine, method="search", cutoff=1e30)
        assert str(caught.value) == why
        assert not told
    else:
        found = count(MANY, engine=engine, method="search", cutoff=1e30)
        assert found.count == naive.count(MANY)
        assert [*map(str, told)] == [f"{why}; the CPU goes on"]
    assert len(waits) == number
    assert threading.active_count() <= before


@pytest.mark.parametrize("broken", [0, 1])
def test_one_of_two_gpus_fails(broken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one does its part, too."""
    told: list[DeviceError] = []
    engine, failed = CudaEngine(on_loss=told.append), threading.Event()
    engine.gpus = [Gpu(0), Gpu(1)]
    engine.prepare(Frontier.of([MANY]), SearchSettings())
    again = Launch.again

    def launched(self: Launch) -> None:
        if self.gpu.number == broken:
            failed.set()
            raise RuntimeError("the GPU has fallen off the bus")
        assert failed.wait(200)  # or this one might be done before the other begins
        again(self)

    monkeypatch.setattr(Launch, "again", launched)
    assert count(MANY, engine=engine, method="search").count == naive.count(MANY)
    [note] = told
    assert str(note).endswith(f"has fallen off the bus; GPU {1 - broken} goes on")
    assert [gpu.number for gpu in engine.gpus] == [1 - broken]


class Memory:
    """NumPy, as a GPU's memory of so many bytes."""

    def __init__(self, size: int) -> None:
        self.size, self.used = size, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def _brought(self, array: Any) -> Any:
        self.used += array.nbytes
        if self.used > self.size:
            raise MemoryError(f"Out of memory allocating {array.nbytes:,} bytes")
        return array

    def get_default_memory_pool(self) -> Any:
        return SimpleNamespace(free_all_blocks=lambda: None)

    def asarray(self, *arguments: Any) -> Any:
        return self._brought(np.array(*arguments))

    def empty(self, *arguments: Any) -> Any:
        return self._brought(np.empty(*arguments))

    def zeros(self, *arguments: Any) -> Any:
        return self._brought(np.zeros(*arguments))

    def full(self, *arguments: Any) -> Any:
        return self._brought(np.full(*arguments))


def inserted(memory: Memory, patch: pytest.MonkeyPatch) -> Gpu:
    gpu = Gpu(0)
    gpu.xp = memory
    patch.setattr(Gpu, "free_bytes", lambda self: memory.size - memory.used)
    patch.setattr(Gpu, "_registers", lambda self, kernel: 0)
    patch.setattr(Gpu, "for_kernel", lambda self, array: array)
    return gpu


@pytest.mark.parametrize("share", [0.1, 0.6, 0.9])
def test_stacks_share_what_boards_leave(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    boards = [puzzle("2x3", 20, seed) for seed in range(50)]
    frontier = Frontier.of(boards)
    size = frontier.boards.nbytes + frontier.roots.nbytes
    memory = Memory(int(size / share) + (1 << 12))
    Launch(inserted(memory, monkeypatch), frontier, SearchSettings(), Job(len(boards)), 5)
    assert size < memory.used <= memory.size


def test_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = CudaEngine()
    engine.gpus = [inserted(Memory(1 << 10), monkeypatch)]
    with pytest.raises(
        DeviceError, match=r"^GPU 0 cannot be used: Out of memory allocating .* bytes$"
    ):
        count(puzzle(Geometry(2, 3), 9, 1), engine=engine, method="search")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (RuntimeError(), "RuntimeError"),
        (RuntimeError("one\n\n two"), "one two"),
        (RuntimeError("word " * 1000), " …"),
    ],
)
def test_errors_are_short_and_say_something(error: Exception, text: str) -> None:
    with pytest.raises(DeviceError) as caught, device.one_line_errors():
        raise error
    assert str(caught.value).endswith(text)
    assert len(str(caught.value)) < device.MOST_TOLD + 30
