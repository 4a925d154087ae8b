"""What a GPU is asked for before a launch, on one that is made up: it has no driver."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import SimpleNamespace
from typing import Any

import pytest
from numba import config, cuda

from gpusudoku.board.geometry import Geometry
from gpusudoku.engines.cuda import availability, contraction
from gpusudoku.engines.cuda.device import SIMULATED, Gpu, one_line_errors
from gpusudoku.engines.cuda.occupancy import Multiprocessor
from gpusudoku.engines.cuda.tuning import Tuning
from gpusudoku.engines.cuda.worker import GpuWorker
from gpusudoku.errors import DeviceError
from gpusudoku.jobs.job import Job
from gpusudoku.kernels.search.settings import SearchSettings
from tests.boards import layout_of


class Current:
    """The current device of something that has one."""

    def __init__(self, number: int) -> None:
        self.number = number

    @contextmanager
    def device(self, number: int) -> Iterator[None]:
        before, self.number = self.number, number
        try:
            yield
        finally:
            self.number = before

    __getitem__ = Device = device


class Kernel:
    """A compiled kernel that takes so many registers, and bytes of shared memory."""

    def __init__(self, registers: int, shared: int = 0) -> None:
        self._registers, self._shared = registers, shared

    def get_regs_per_thread(self) -> dict[str, int]:
        return {"signature": self._registers}

    def get_shared_mem_per_block(self) -> dict[str, int]:
        return {"signature": self._shared}

    def __getitem__(self, launch: tuple[int, int]) -> tuple[tuple[int, int], int]:
        return launch, config.CUDA_LOW_OCCUPANCY_WARNINGS


def made_up(tuning: Tuning | None = None, multiprocessors: int = 132) -> Gpu:
    """A GPU as large as an H100, by default."""
    gpu = Gpu.__new__(Gpu)
    gpu.number, gpu.name, gpu.tuning = 2, "made up", tuning or Tuning()
    gpu.xp, gpu.warp = SimpleNamespace(), 32
    gpu.multiprocessors, gpu.multiprocessor = multiprocessors, Multiprocessor(2048, 32)
    return gpu


def test_the_current_device_is_current_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(availability, "simulated", lambda: False)
    gpu, cupys, numbas = made_up(), Current(0), Current(1)
    gpu.xp.cuda = cupys
    monkeypatch.setattr(cuda, "gpus", numbas, raising=False)
    with suppress(ZeroDivisionError), gpu.current():
        assert (cupys.number, numbas.number) == (2, 2)
        raise ZeroDivisionError
    assert (cupys.number, numbas.number) == (0, 1)


@pytest.mark.parametrize(
    ("wanted", "registers", "threads", "blocks"),
    [
        (128, 114, 128, 4),
        (1024, 114, 512, 1),  # as many as there are registers for
        (1024, 255, 256, 1),
        (512, 128, 512, 1),
        (100, 32, 128, 16),  # whole warps
        (1024, 32, 1024, 2),
    ],
)
def test_blocks_can_be_launched(wanted: int, registers: int, threads: int, blocks: int) -> None:
    gpu, kernel = made_up(Tuning(threads_per_block=wanted)), Kernel(registers)
    assert gpu.block_of(kernel, wanted) == threads
    assert gpu.grid_of(kernel) == (blocks * 132, threads)


def test_registers_are_asked_for_once() -> None:
    """Each time is a call of the driver."""
    asked = []

    class Asked(Kernel):
        def get_regs_per_thread(self) -> dict[str, int]:
            asked.append(self)
            return super().get_regs_per_thread()

    made_up().grid_of(Asked(114))
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("registers", "shared", "multiprocessor", "blocks", "fullest"),
    [
        (32, 0, Multiprocessor(2048, 32), 8, 64),
        (32, 44_032, Multiprocessor(2048, 32, shared=228 << 10, reserved=1 << 10), 5, 512),
        (64, 44_032, Multiprocessor(2048, 32, shared=228 << 10, reserved=1 << 10), 4, 256),
        (64, 44_032, Multiprocessor(2048, 32, shared=164 << 10, reserved=1 << 10), 3, 512),
        (255, 44_032, Multiprocessor(2048, 32, shared=228 << 10, reserved=1 << 10), 1, 64),
        (64, 44_032, Multiprocessor(1024, 16, shared=64 << 10), 1, 512),
    ],
)
def test_blocks_that_run_at_once(
    registers: int, shared: int, multiprocessor: Multiprocessor, blocks: int, fullest: int
) -> None:
    """Registers or shared memory, whichever is short; and the size of blocks that suits both."""
    gpu, kernel = made_up(multiprocessors=10), Kernel(registers, shared)
    gpu.multiprocessor = multiprocessor
    assert gpu.blocks_at_once(kernel, 256) == 10 * blocks
    assert gpu.fullest_block(kernel, 512) == fullest


def test_some_gpus_have_fewer_registers_for_a_block() -> None:
    gpu = made_up()
    gpu.multiprocessor = Multiprocessor(2048, 32, block_registers=1 << 15)
    assert gpu.block_of(Kernel(114), 1024) == 256


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (RuntimeError("no\n  memory"), "GPU 3 cannot be used: no memory"),
        (MemoryError(), "GPU 3 cannot be used: MemoryError"),
        (RuntimeError("word " * 100), "GPU 3 cannot be used: " + "word " * 39 + "…"),
    ],
)
def test_errors_of_others_are_a_short_line(error: Exception, said: str) -> None:
    with pytest.raises(DeviceError) as caught, one_line_errors("GPU 3"):
        raise error
    assert str(caught.value) == said


def test_numba_warns_others_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "CUDA_LOW_OCCUPANCY_WARNINGS", 1, raising=False)
    assert made_up().configured(Kernel(32), 3, 64) == ((3, 64), 0)
    assert config.CUDA_LOW_OCCUPANCY_WARNINGS == 1


@pytest.mark.parametrize(("box", "budget"), [((2, 2), 256), ((3, 3), 256), ((8, 8), 9)])
def test_the_first_launch_is_short(box: tuple[int, int], budget: int) -> None:
    """A node of 64x64 takes a thread of a GPU some milliseconds."""
    worker = GpuWorker(made_up(), layout_of(Geometry(*box)), SearchSettings(), Job(1))
    assert worker.first_budget == budget


def test_a_sum_is_cut_for_the_smallest_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    tuning = Tuning(sum_tasks_per_multiprocessor=10)
    gpus = [made_up(tuning, multiprocessors=30), made_up(tuning, multiprocessors=3)]
    summed: Any = SimpleNamespace(prepare=lambda workers: None, device_sum=None, factor=1)
    given = []

    class Watched(Job):
        def run(self, tasks: Any, *_: Any) -> None:
            given.extend(task.payload for task in tasks)

    monkeypatch.setattr(contraction, "GpuSumWorker", lambda *_: SimpleNamespace(products=0))
    contraction.contract_on_gpus(summed, [range(100)], gpus, Watched(1), [], 2, print)
    assert max(map(len, given)) <= 30
    assert sum(map(len, given)) == 100


def test_the_simulator_has_no_registers() -> None:
    if availability.simulated():
        assert Gpu(0, SIMULATED).block_of(None, 1024) == 1024
