"""Tells whether CUDA can be used, cheaply: it asks the driver first, before any slow import."""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from typing import NamedTuple

from gpusudoku.errors import installing

OLDEST_NUMBA_CUDA = (0, 21)
"""A process that has compiled for CUDA with an older one can no longer compile for the CPU."""
OLDEST_CAPABILITIES = {12: (5, 0), 13: (7, 5)}
"""The oldest compute capability that NVIDIA's compiler serves, by the major version of CUDA."""
_CPU = "the devices cpu and auto count on all cores"
_MULTIPROCESSORS, _KILOHERTZ, _CAPABILITY_MAJOR, _CAPABILITY_MINOR = 16, 13, 75, 76
"""Attributes of a device, by the numbers that the driver gives them."""


class Card(NamedTuple):
    """A GPU, as the driver shows it."""

    name: str
    multiprocessors: int
    hertz: float
    """The highest clock rate."""
    capability: tuple[int, int]
    """The compute capability."""
    memory: int = 0
    """Bytes of memory."""


class Driver(NamedTuple):
    """The GPUs that the driver shows or why it shows none, and the newest CUDA that it serves."""

    cards: tuple[Card, ...]
    trouble: str | None
    version: tuple[int, int] = (0, 0)


def simulated() -> bool:
    """Tell whether Numba's CUDA simulator stands in for a GPU."""
    return os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")


def cards() -> tuple[Card, ...]:
    """Return the GPUs that the driver shows, in its order; none without a driver."""
    return _asked().cards


def newest_cuda() -> str:
    """Return the newest version of CUDA that the driver serves."""
    return _dotted(_asked().version)


@cache
def _asked() -> Driver:
    """Ask the driver for the GPUs and its version."""
    library = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        driver = ctypes.CDLL(library)
    except OSError:
        missing = "no driver of an NVIDIA GPU found: install one if there is such a GPU"
        return Driver((), f"{missing}; {_CPU}")
    number = ctypes.c_int()
    if code := driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(number)):
        text = ctypes.c_char_p()
        driver.cuGetErrorString(code, ctypes.byref(text))
        said = f"{(text.value or b'error').decode(errors='replace')} ({code})"
        return Driver((), f"the CUDA driver says {said}: see nvidia-smi; {_CPU}")
    found = []
    for index in range(number.value):
        device = ctypes.c_int()
        name = ctypes.create_string_buffer(128)
        driver.cuDeviceGet(ctypes.byref(device), index)
        driver.cuDeviceGetName(name, len(name), device)
        values = {}
        for attribute in (_MULTIPROCESSORS, _KILOHERTZ, _CAPABILITY_MAJOR, _CAPABILITY_MINOR):
            value = ctypes.c_int()
            driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
            values[attribute] = value.value
        title = name.value.decode(errors="replace")
        capability = values[_CAPABILITY_MAJOR], values[_CAPABILITY_MINOR]
        memory = ctypes.c_size_t()
        driver.cuDeviceTotalMem_v2(ctypes.byref(memory), device)
        hertz = 1e3 * values[_KILOHERTZ]
        found.append(Card(title, values[_MULTIPROCESSORS], hertz, capability, memory.value))
    hidden = f"the CUDA driver shows no GPU (CUDA_VISIBLE_DEVICES can hide it); {_CPU}"
    version = ctypes.c_int()
    driver.cuDriverGetVersion(ctypes.byref(version))  # 12080 is 12.8
    major, minor = divmod(version.value, 1000)
    return Driver(tuple(found), None if found else hidden, (major, minor // 10))


def unusable_because() -> str | None:
    """Return the reason why CUDA cannot be used here, in a few words; None if it can."""
    if simulated():
        return None
    driver = _asked()
    if driver.trouble:
        return driver.trouble
    if driver.version[0] < min(OLDEST_CAPABILITIES):
        served = _dotted(driver.version)
        return f"the driver serves CUDA {served}, and 12 or newer is needed: update it"
    reasons = [unusable_card(card) for card in driver.cards]
    return _lacking() or (reasons[0] if all(reasons) else None)


def unusable_card(card: Card) -> str | None:
    """Return the reason why a GPU cannot be used though others may be; None if it can."""
    cuda = _installed_cuda() or _suitable_cuda()
    oldest = OLDEST_CAPABILITIES[cuda]
    if card.capability >= oldest:
        return None
    capability = _dotted(card.capability)
    return f"compute capability {capability} is too old, CUDA {cuda} needs {_dotted(oldest)}"


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


def _suitable_cuda() -> int:
    """Return the newest CUDA that the driver and a GPU are made for, by its major version."""
    newest = max(card.capability for card in cards())
    is_new = newest >= OLDEST_CAPABILITIES[13] and _asked().version[0] >= 13
    return 13 if is_new else 12


@cache
def _installed_cuda() -> int | None:
    """Return the CUDA that the installed CuPy is made for; None if that is unknown."""
    from importlib.metadata import PackageNotFoundError, version  # imported lazily: it is slow

    for cuda in OLDEST_CAPABILITIES:
        with suppress(PackageNotFoundError):
            version(f"cupy-cuda{cuda}x")
            return cuda
    return None


def installed_packages() -> list[str]:
    """Return the names and versions of the installed packages for CUDA."""
    from importlib.metadata import PackageNotFoundError, version  # imported lazily: it is slow

    packages = []
    for name in ("cupy-cuda12x", "cupy-cuda13x", "numba-cuda", "cuda-toolkit"):
        with suppress(PackageNotFoundError):
            packages.append(f"{name} {version(name)}")
    return packages


@cache
def _lacking() -> str | None:
    """Return which packages are missing or unsuitable, in a few words; None if all are right."""
    cuda = _suitable_cuda()
    install = installing(f"cuda{cuda}")
    missing = [name for name in ("cupy", "numba_cuda") if find_spec(name) is None]
    if missing:
        return f"{' and '.join(missing)} not installed: {install}"
    from importlib.metadata import PackageNotFoundError, version  # imported lazily: it is slow

    if (_installed_cuda() or 0) > cuda:
        reason = f"cupy-cuda13x needs CUDA 13, and the driver and GPU serve CUDA {cuda}"
        return f"{reason}: pip uninstall cupy-cuda13x, then {install}"
    try:
        found = version("numba-cuda")
        numbers = tuple(int(number) for number in found.split(".")[:2])
    except (PackageNotFoundError, ValueError):  # it was installed in another way, and may do
        return None
    if numbers >= OLDEST_NUMBA_CUDA:
        return None
    oldest = _dotted(OLDEST_NUMBA_CUDA)
    return f"numba-cuda {found} is too old, {oldest} or newer is needed: {install}"
