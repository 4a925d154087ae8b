"""What a GPU is asked for before a launch, and errors of it: on GPUs that are made up."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.cuda import availability
from gpusudoku.engines.cuda.device import (
    Gpu,
    Multiprocessor,
    OutOfMemoryError,
    Tuning,
    one_line_errors,
)
from gpusudoku.engines.make import make_engine
from gpusudoku.errors import DeviceError


class Kernel:
    """A compiled kernel that takes so many registers, and bytes of shared memory."""

    def __init__(self, registers: int, shared: int = 0) -> None:
        self._registers, self._shared = registers, shared

    def get_regs_per_thread(self) -> dict[str, int]:
        return {"signature": self._registers}

    def get_shared_mem_per_block(self) -> dict[str, int]:
        return {"signature": self._shared}


def made_up(tuning: Tuning | None = None, multiprocessors: int = 132, **has: int) -> Gpu:
    """A GPU as large as an H100, by default."""
    gpu = Gpu.__new__(Gpu)
    gpu.number, gpu.name, gpu.tuning = 2, "made up", tuning or Tuning()
    gpu.xp, gpu.warp = SimpleNamespace(), 32
    gpu.multiprocessors = multiprocessors
    gpu.multiprocessor = Multiprocessor(**({"threads": 2048, "blocks": 32} | has))
    return gpu


def test_blocks_can_be_launched() -> None:
    """As large as there are registers for, and whole warps."""
    for wanted, registers, threads, blocks in [(128, 114, 128, 4), (1024, 114, 512, 1),
                                               (100, 32, 128, 16)]:  # fmt: skip
        gpu = made_up(Tuning(threads_per_block=wanted))
        assert gpu.grid_of(Kernel(registers)) == (blocks * 132, threads)
    assert made_up(block_registers=1 << 15).block_of(Kernel(114), 1024) == 256


def test_blocks_that_run_at_once() -> None:
    """Registers or shared memory, whichever is short; and the size of blocks that suits both."""
    for registers, shared, room, blocks, fullest in [
        (32, 0, 0, 8, 64),
        (32, 44_032, 228 << 10, 5, 512),
        (64, 44_032, 164 << 10, 3, 512),
        (255, 44_032, 228 << 10, 1, 64),
    ]:
        has = {"shared": room, "reserved": 1 << 10} if room else {}
        gpu, kernel = made_up(multiprocessors=10, **has), Kernel(registers, shared)
        assert gpu.blocks_at_once(kernel, 256) == 10 * blocks
        assert gpu.fullest_block(kernel, 512) == fullest


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (RuntimeError("no\n  such\n\n thing"), DeviceError, "no such thing"),
        (MemoryError(), OutOfMemoryError, "MemoryError"),
        (RuntimeError("CUDA_ERROR_OUT_OF_MEMORY"), OutOfMemoryError, "CUDA_ERROR_OUT_OF_MEMORY"),
        (RuntimeError("word " * 100), DeviceError, "word " * 39 + "…"),
    ],
)
def test_errors_of_others_are_a_short_line(
    error: Exception, kind: type[DeviceError], said: str
) -> None:
    with pytest.raises(DeviceError) as caught, one_line_errors("GPU 3"):
        raise error
    assert type(caught.value) is kind
    assert str(caught.value) == f"GPU 3 cannot be used: {said}"


@pytest.mark.parametrize("broken", ["CuPy", "Numba"])
def test_a_gpu_that_cannot_be_had(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is known before anything is counted, so that ``auto`` can take the CPU."""

    def fails(who: str) -> None:
        if who == broken:
            raise RuntimeError("all devices\nare busy")

    @contextmanager
    def current(number: int) -> Iterator[None]:
        yield fails("Numba")

    cupy: Any = ModuleType("cupy")
    cupy.cuda = SimpleNamespace(Device=nullcontext, runtime=SimpleNamespace())
    cupy.zeros = lambda *_: fails("CuPy")
    gpus = type("Gpus", (), {"__getitem__": staticmethod(current)})()
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setattr("numba.cuda.gpus", gpus, raising=False)
    monkeypatch.setattr(availability, "simulated", lambda: False)
    monkeypatch.setattr(availability, "unusable_because", lambda: None)
    monkeypatch.setattr(availability, "gpu_names", lambda: ("broken",))
    with pytest.raises(DeviceError) as caught:
        make_engine(device="cuda")
    assert str(caught.value) == "GPU 0 cannot be used: all devices are busy"
    warnings: list[DeviceError] = []
    assert isinstance(make_engine(fallback=warnings.append), CpuEngine)
    assert [*map(str, warnings)] == [str(caught.value)]
