"""Why CUDA cannot be used, in one line: drivers, GPUs and packages that are made up."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import pytest

from gpusudoku.engines.cuda import availability
from gpusudoku.engines.cuda.availability import Card

INSTALL = "pip install '.[cuda13]' in a checkout of gpusudoku"
WORDS = {100: b"no CUDA-capable device is detected", 803: b"system has unsupported driver"}


class Driver:
    """A driver that shows some GPUs, or none because of an error."""

    def __init__(self, *gpus: str, error: int = 0) -> None:
        def set_to(value: Any) -> Any:
            return lambda pointer, *_: setattr(getattr(pointer, "_obj", pointer), "value", value)

        self.cuInit = lambda flags: error
        self.cuDeviceGetCount = set_to(len(gpus))
        self.cuDeviceGet = lambda device, index: set_to(7 + index)(device)
        self.cuDeviceGetName = lambda name, size, device: set_to(gpus[device.value - 7].encode())(
            name
        )
        self.cuDeviceGetAttribute = lambda value, code, device: set_to(10 * code)(value)
        self.cuGetErrorString = lambda code, text: set_to(WORDS.get(code))(text)


def _forget() -> None:
    """Let the driver be asked, and packages be looked for, once more."""
    availability._asked.cache_clear()
    availability._lacking.cache_clear()


@pytest.fixture
def insert(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Let a driver be there; None: no driver."""
    monkeypatch.setattr(availability, "simulated", lambda: False)
    monkeypatch.setattr(availability, "find_spec", lambda name: name)
    monkeypatch.setattr("importlib.metadata.version", lambda name: "0.30.4")

    def inserted(driver: Driver | None) -> None:
        def load(name: str) -> Driver:
            if driver is None:
                raise OSError(name)
            return driver

        monkeypatch.setattr(ctypes, "CDLL", load)
        _forget()

    yield inserted
    _forget()


@pytest.mark.parametrize(
    ("driver", "reason"),
    [
        (None, "no driver of an NVIDIA GPU found: install one if there is such a GPU"),
        (Driver(), "the CUDA driver shows no GPU (CUDA_VISIBLE_DEVICES can hide it)"),
        (
            Driver("hidden", error=803),
            "the CUDA driver says system has unsupported driver (803): see nvidia-smi",
        ),
        (Driver(error=12345), "the CUDA driver says error (12345): see nvidia-smi"),
    ],
)
def test_no_gpu(driver: Driver | None, reason: str, insert: Any) -> None:
    insert(driver)
    what_to_do = "the devices cpu and auto count on all cores"
    assert availability.unusable_because() == f"{reason}; {what_to_do}"
    assert availability.cards() == ()


def test_gpus_in_the_order_of_the_driver(insert: Any) -> None:
    """A slice of a GPU is one of its own."""
    insert(Driver("H100 MIG 1g.10gb", "Another"))
    names = ("H100 MIG 1g.10gb", "Another")
    assert availability.cards() == tuple(Card(name, 160, 130_000.0) for name in names)
    assert availability.unusable_because() is None


def test_the_oldest_numba_cuda(insert: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    insert(Driver("GPU"))
    found = "0.20.1"
    monkeypatch.setattr("importlib.metadata.version", lambda name: found)
    too_old = f"numba-cuda 0.20.1 is too old, 0.21 or newer is needed: {INSTALL}"
    assert availability.unusable_because() == too_old
    for found in ("0.21.1", "0.100.0", "1.0rc1", "unknown"):
        _forget()
        assert availability.unusable_because() is None, found
    found = "0.4"
    _forget()
    assert str(availability.unusable_because()).startswith("numba-cuda 0.4 is too old")


def test_packages_that_are_missing(insert: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    insert(Driver("GPU"))
    monkeypatch.setattr(availability, "find_spec", lambda name: None)
    assert availability.unusable_because() == f"cupy and numba_cuda not installed: {INSTALL}"
