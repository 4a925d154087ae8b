"""Reasons why CUDA cannot be used, with simulated drivers, GPUs and packages."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError
from typing import Any

import pytest

from gpusudoku.engines.cuda import availability
from gpusudoku.engines.cuda.availability import Card

INSTALL = "pip install '.[cuda13]' in a checkout of gpusudoku"
INSTALL_12 = INSTALL.replace("13", "12")
WORDS = {100: b"no CUDA-capable device is detected", 803: b"system has unsupported driver"}


class Driver:
    """A simulated driver that reports some GPUs, or an error."""

    def __init__(
        self,
        *gpus: str,
        error: int = 0,
        version: int = 13000,
        capabilities: Sequence[tuple[int, int]] = ((9, 0), (9, 0)),
    ) -> None:
        def set_to(value: Any) -> Any:
            return lambda pointer, *_: setattr(getattr(pointer, "_obj", pointer), "value", value)

        self.cuInit = lambda flags: error
        self.cuDeviceGetCount = set_to(len(gpus))
        self.cuDeviceGet = lambda device, index: set_to(7 + index)(device)
        self.cuDeviceGetName = lambda name, size, device: set_to(gpus[device.value - 7].encode())(
            name
        )
        self.cuDriverGetVersion = set_to(version)
        self.cuDeviceTotalMem_v2 = set_to(80 << 30)

        def attribute(value: Any, code: int, device: Any) -> None:
            major, minor = capabilities[device.value - 7]
            set_to({75: major, 76: minor}.get(code, 10 * code))(value)

        self.cuDeviceGetAttribute = attribute
        self.cuGetErrorString = lambda code, text: set_to(WORDS.get(code))(text)


def install(monkeypatch: pytest.MonkeyPatch, versions: dict[str, str]) -> None:
    """Simulate installed packages, by their names in the package index."""

    def version(name: str) -> str:
        if name not in versions:
            raise PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr("importlib.metadata.version", version)
    _forget()


def _forget() -> None:
    """Clear the caches, so that the driver and the packages are examined again."""
    for function in (
        availability._driver,
        availability._package_problem,
        availability._installed_cuda,
    ):
        function.cache_clear()


@pytest.fixture
def insert(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a function that inserts a driver; None removes it."""
    monkeypatch.setattr(availability, "simulated", lambda: False)
    monkeypatch.setattr(availability, "find_spec", lambda name: name)
    install(monkeypatch, {"numba-cuda": "0.30.4"})

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
        (None, "no NVIDIA driver found: install it if this machine has an NVIDIA GPU"),
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


def test_gpus_keep_the_order_of_the_driver(insert: Any) -> None:
    """A slice of a GPU (MIG) counts as a GPU."""
    insert(Driver("H100 MIG 1g.10gb", "Another"))
    names = ("H100 MIG 1g.10gb", "Another")
    cards = [Card(name, 160, 130_000.0, (9, 0), 80 << 30) for name in names]
    assert availability.cards() == tuple(cards)
    assert availability.unusable_because() is None


def test_the_oldest_numba_cuda(insert: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    insert(Driver("GPU"))
    install(monkeypatch, {"numba-cuda": "0.20.1"})
    too_old = f"numba-cuda 0.20.1 is too old, 0.21 or newer is needed: {INSTALL}"
    assert availability.unusable_because() == too_old
    for version in ("0.21.1", "0.100.0", "1.0rc1", "unknown"):
        install(monkeypatch, {"numba-cuda": version})
        assert availability.unusable_because() is None, version
    install(monkeypatch, {"numba-cuda": "0.4"})
    assert str(availability.unusable_because()).startswith("numba-cuda 0.4 is too old")


def test_packages_that_are_missing(insert: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    insert(Driver("GPU"))
    monkeypatch.setattr(availability, "find_spec", lambda name: None)
    assert availability.unusable_because() == f"cupy and numba_cuda not installed: {INSTALL}"


@pytest.mark.parametrize(
    ("driver", "install"),
    [
        (Driver("GPU"), INSTALL),
        (Driver("GPU", version=14000), INSTALL),
        (Driver("GPU", version=12080), INSTALL_12),
        (Driver("V100", capabilities=[(7, 0)]), INSTALL_12),
        (Driver("A", "B", capabilities=[(9, 0), (6, 1)]), INSTALL),
    ],
)
def test_missing_packages_come_with_the_command_that_installs_them(
    driver: Driver, install: str, insert: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They suit the driver and the newest GPU."""
    insert(driver)
    monkeypatch.setattr(availability, "find_spec", lambda name: None)
    assert availability.unusable_because() == f"cupy and numba_cuda not installed: {install}"


@pytest.mark.parametrize(
    ("driver", "cuda", "reason"),
    [
        (Driver("GPU", version=11040), 12, "the driver serves CUDA 11.4, and 12 or newer is"),
        (Driver("GPU", version=12080), 12, None),
        (Driver("GPU", version=13000), 12, None),
        (Driver("GPU", version=13000), 13, None),
        (
            Driver("GPU", version=12080),
            13,
            "cupy-cuda13x needs CUDA 13, and the driver and GPU serve CUDA 12:"
            f" pip uninstall cupy-cuda13x, then {INSTALL_12}",
        ),
        (
            Driver("V100", capabilities=[(7, 0)]),
            13,
            "cupy-cuda13x needs CUDA 13, and the driver and GPU serve CUDA 12:"
            f" pip uninstall cupy-cuda13x, then {INSTALL_12}",
        ),
        (Driver("V100", capabilities=[(7, 0)]), 12, None),
        (
            Driver("K80", capabilities=[(3, 7)]),
            12,
            "compute capability 3.7 is too old, CUDA 12 needs 5.0",
        ),
    ],
)
def test_drivers_and_gpus_that_are_too_old(
    driver: Driver, cuda: int, reason: str | None, insert: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert(driver)
    install(monkeypatch, {"numba-cuda": "0.30.4", f"cupy-cuda{cuda}x": "13.6.0"})
    actual = availability.unusable_because()
    assert actual == reason or (reason and str(actual).startswith(reason))


def test_one_gpu_of_two_that_is_too_old(insert: Any) -> None:
    insert(Driver("A", "B", capabilities=[(9, 0), (6, 1)]))
    assert availability.unusable_because() is None
    new, old = availability.cards()
    assert availability.unusable_card(new) is None
    reason = "compute capability 6.1 is too old, CUDA 13 needs 7.5"
    assert availability.unusable_card(old) == reason


PACKAGES = {"numba-cuda": "0.30.4", "cuda-toolkit": "13.0.2"}
SHOWN = "numba-cuda 0.30.4, cuda-toolkit 13.0.2"


@pytest.mark.parametrize(
    ("driver", "cupy", "expected"),
    [
        (
            Driver("H100", "V100", capabilities=[(9, 0), (7, 0)]),
            {"cupy-cuda13x": "14.2.0"},
            "cuda  0: H100\n"
            "      compute capability 9.0, 80 GiB of memory, driver for CUDA up to 13.0\n"
            f"      packages: cupy-cuda13x 14.2.0, {SHOWN}; they suit driver and GPU\n"
            "cuda  1: V100 (not usable: compute capability 7.0 is too old, CUDA 13 needs 7.5)\n"
            "      compute capability 7.0, 80 GiB of memory, driver for CUDA up to 13.0\n"
            f"      packages: cupy-cuda13x 14.2.0, {SHOWN}\n",
        ),
        (
            Driver("V100", version=12080, capabilities=[(7, 0)]),
            {"cupy-cuda13x": "14.2.0"},
            "cuda  0: V100 (not usable: cupy-cuda13x needs CUDA 13, and the driver and GPU serve"
            f" CUDA 12: pip uninstall cupy-cuda13x, then {INSTALL_12})\n"
            "      compute capability 7.0, 80 GiB of memory, driver for CUDA up to 12.8\n"
            f"      packages: cupy-cuda13x 14.2.0, {SHOWN}\n",
        ),
    ],
)
def test_the_command_devices(
    driver: Driver,
    cupy: dict[str, str],
    expected: str,
    insert: Any,
    monkeypatch: pytest.MonkeyPatch,
    run: Any,
) -> None:
    """Each GPU has a line for scripts, details below it, and the command that fixes a problem."""
    insert(driver)
    install(monkeypatch, {**PACKAGES, **cupy})
    monkeypatch.setattr("gpusudoku.cli.info.import_packages", lambda: None)
    status, out, err = run("devices")
    assert (status, err) == (0, "")
    assert out.split("\n", 1)[1] == expected
