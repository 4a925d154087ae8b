"""Whether CUDA can be used. The driver is asked first, because imports are slow."""

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
"""After compiling for CUDA with an older version, a process can no longer compile for the CPU."""
OLDEST_CAPABILITIES = {12: (5, 0), 13: (7, 5)}
"""The oldest compute capability for which NVIDIA's compiler works, by major version of CUDA."""
_CPU = "the devices cpu and auto count on all cores"
# The numbers of device attributes in the driver (``CUdevice_attribute``).
_MULTIPROCESSORS = 16
_KILOHERTZ = 13
_CAPABILITY_MAJOR = 75
_CAPABILITY_MINOR = 76


class Card(NamedTuple):
    """A GPU, as the driver describes it."""

    name: str
    multiprocessors: int
    hertz: float
    """The highest clock rate."""
    capability: tuple[int, int]
    """The compute capability."""
    memory: int = 0
    """Bytes of memory."""


class Driver(NamedTuple):
    """The GPUs of the driver, or the reason why there are none, and its newest version of CUDA."""

    cards: tuple[Card, ...]
    trouble: str | None
    version: tuple[int, int] = (0, 0)


def simulated() -> bool:
    """Return whether Numba's CUDA simulator replaces a GPU."""
    return os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")


def cards() -> tuple[Card, ...]:
    """Return the GPUs of the driver, in its order; empty without a driver."""
    return _driver().cards


def newest_cuda() -> str:
    """Return the newest version of CUDA that the driver supports."""
    return _dotted(_driver().version)


@cache
def _driver() -> Driver:
    """Return the GPUs and the version of the driver."""
    library = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        functions = ctypes.CDLL(library)
    except OSError:
        missing = "no NVIDIA driver found: install it if this machine has an NVIDIA GPU"
        return Driver((), f"{missing}; {_CPU}")
    device_count = ctypes.c_int()
    if code := functions.cuInit(0) or functions.cuDeviceGetCount(ctypes.byref(device_count)):
        text = ctypes.c_char_p()
        functions.cuGetErrorString(code, ctypes.byref(text))
        error = f"{(text.value or b'error').decode(errors='replace')} ({code})"
        return Driver((), f"the CUDA driver says {error}: see nvidia-smi; {_CPU}")
    cards = []
    for index in range(device_count.value):
        device = ctypes.c_int()
        name = ctypes.create_string_buffer(128)
        functions.cuDeviceGet(ctypes.byref(device), index)
        functions.cuDeviceGetName(name, len(name), device)
        values = {}
        for attribute in (_MULTIPROCESSORS, _KILOHERTZ, _CAPABILITY_MAJOR, _CAPABILITY_MINOR):
            value = ctypes.c_int()
            functions.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
            values[attribute] = value.value
        title = name.value.decode(errors="replace")
        capability = values[_CAPABILITY_MAJOR], values[_CAPABILITY_MINOR]
        memory = ctypes.c_size_t()
        functions.cuDeviceTotalMem_v2(ctypes.byref(memory), device)
        hertz = 1e3 * values[_KILOHERTZ]
        cards.append(Card(title, values[_MULTIPROCESSORS], hertz, capability, memory.value))
    trouble = f"the CUDA driver shows no GPU (CUDA_VISIBLE_DEVICES can hide it); {_CPU}"
    version = ctypes.c_int()
    functions.cuDriverGetVersion(ctypes.byref(version))  # 12080 means 12.8
    major, minor = divmod(version.value, 1000)
    return Driver(tuple(cards), None if cards else trouble, (major, minor // 10))


def unusable_because() -> str | None:
    """Return the reason why CUDA cannot be used, in a few words; None if it can."""
    if simulated():
        return None
    driver = _driver()
    if driver.trouble:
        return driver.trouble
    if driver.version[0] < min(OLDEST_CAPABILITIES):
        served = _dotted(driver.version)
        return f"the driver serves CUDA {served}, and 12 or newer is needed: update it"
    reasons = [unusable_card(card) for card in driver.cards]
    return _package_problem() or (reasons[0] if all(reasons) else None)


def unusable_card(card: Card) -> str | None:
    """Return the reason why one GPU cannot be used; None if it can."""
    cuda = _installed_cuda() or _suitable_cuda()
    oldest = OLDEST_CAPABILITIES[cuda]
    if card.capability >= oldest:
        return None
    capability = _dotted(card.capability)
    return f"compute capability {capability} is too old, CUDA {cuda} needs {_dotted(oldest)}"


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


def _suitable_cuda() -> int:
    """Return the newest major version of CUDA that the driver and one of the GPUs support."""
    newest = max(card.capability for card in cards())
    is_new = newest >= OLDEST_CAPABILITIES[13] and _driver().version[0] >= 13
    return 13 if is_new else 12


@cache
def _installed_cuda() -> int | None:
    """Return the major version of CUDA of the installed CuPy; None if it is unknown."""
    from importlib.metadata import PackageNotFoundError, version  # imported lazily: slow

    for cuda in OLDEST_CAPABILITIES:
        with suppress(PackageNotFoundError):
            version(f"cupy-cuda{cuda}x")
            return cuda
    return None


def installed_packages() -> list[str]:
    """Return the names and versions of the installed packages for CUDA."""
    from importlib.metadata import PackageNotFoundError, version  # imported lazily: slow

    packages = []
    for name in ("cupy-cuda12x", "cupy-cuda13x", "numba-cuda", "cuda-toolkit"):
        with suppress(PackageNotFoundError):
            packages.append(f"{name} {version(name)}")
    return packages


@cache
def _package_problem() -> str | None:
    """Return which packages are missing or unsuitable, in a few words; None if all suit."""
    cuda = _suitable_cuda()
    install = installing(f"cuda{cuda}")
    missing = [name for name in ("cupy", "numba_cuda") if find_spec(name) is None]
    if missing:
        return f"{' and '.join(missing)} not installed: {install}"
    from importlib.metadata import PackageNotFoundError, version  # imported lazily: slow

    if (_installed_cuda() or 0) > cuda:
        reason = f"cupy-cuda13x needs CUDA 13, and the driver and GPU serve CUDA {cuda}"
        return f"{reason}: pip uninstall cupy-cuda13x, then {install}"
    try:
        installed = version("numba-cuda")
        numbers = tuple(int(number) for number in installed.split(".")[:2])
    except (PackageNotFoundError, ValueError):
        return None  # installed in another way, so its version is unknown
    if numbers >= OLDEST_NUMBA_CUDA:
        return None
    oldest = _dotted(OLDEST_NUMBA_CUDA)
    return f"numba-cuda {installed} is too old, {oldest} or newer is needed: {install}"
