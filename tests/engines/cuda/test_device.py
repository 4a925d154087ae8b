"""Errors of simulated GPUs, and how ``auto`` handles them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from gpusudoku.board.geometry import NINE
from gpusudoku.engines.cuda import availability
from gpusudoku.engines.cuda.availability import Card
from gpusudoku.engines.cuda.device import one_line_errors
from gpusudoku.engines.make import AutoEngine, make_engine
from gpusudoku.errors import DeviceError


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (RuntimeError("no\n  such\n\n thing"), "no such thing"),
        (MemoryError(), "MemoryError"),
        (RuntimeError("word " * 100), "word " * 39 + "…"),
    ],
)
def test_errors_of_libraries_become_one_short_line(error: Exception, message: str) -> None:
    with pytest.raises(DeviceError) as caught, one_line_errors("GPU 3"):
        raise error
    assert str(caught.value) == f"GPU 3 cannot be used: {message}"


@pytest.mark.parametrize("broken", ["CuPy", "driver"])
def test_a_gpu_that_cannot_be_used_is_reported_before_counting(
    broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error is raised before counting begins, so that ``auto`` can use the CPU."""
    pytest.importorskip("cuda.bindings")

    def fails(part: str) -> None:
        if part == broken:
            raise RuntimeError("all devices\nare busy")

    @contextmanager
    def current(number: int) -> Iterator[None]:
        yield fails("driver")

    cupy: Any = ModuleType("cupy")
    cupy.cuda = SimpleNamespace(Device=nullcontext, runtime=SimpleNamespace())
    cupy.zeros = lambda *_: fails("CuPy")
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setattr("gpusudoku.kernels.cuda_driver.current", current)
    monkeypatch.setattr(availability, "simulated", lambda: False)
    monkeypatch.setattr(availability, "unusable_because", lambda: None)
    monkeypatch.setattr(availability, "cards", lambda: (Card("broken", 132, 1.98e9, (9, 0)),))
    with pytest.raises(DeviceError) as caught:
        make_engine(device="cuda")
    assert str(caught.value) == "GPU 0 cannot be used: all devices are busy"
    warnings: list[DeviceError] = []
    engine = make_engine(fallback=warnings.append)
    assert isinstance(engine, AutoEngine)
    for seconds, warning_count in (1e-3, 0), (1e6, 1), (1e6, 1):  # only long work is worth a GPU
        assert engine.best(SimpleNamespace(seconds=seconds, method="search"), NINE) is engine
        assert [*map(str, warnings)] == [str(caught.value)] * warning_count
