"""Tells whether CUDA can be used, cheaply: it asks the driver first, before any slow import."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from importlib.util import find_spec
from typing import NamedTuple

from gpusudoku.errors import installing

OLDEST_NUMBA_CUDA = (0, 21)
"""A process that has compiled for CUDA with an older one can no longer compile for the CPU."""
_INSTALL = installing("cuda13")
_CPU = "the devices cpu and auto count on all cores"
_CLOCK_RATE, _MULTIPROCESSORS = 13, 16
"""Attributes of a device, by the numbers that the driver gives them; the rate is in kilohertz."""


class Card(NamedTuple):
    """A GPU, as the driver shows it."""

    name: str
    multiprocessors: int
    hertz: float
    """The highest clock rate."""


def simulated() -> bool:
    """Tell whether Numba's CUDA simulator stands in for a GPU."""
    return os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")


def cards() -> tuple[Card, ...]:
    """Return the GPUs that the driver shows, in its order; none without a driver."""
    return _asked()[0]


@cache
def _asked() -> tuple[tuple[Card, ...], str | None]:
    """Ask the driver for the GPUs, and if there are none, for the reason."""
    library = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        driver = ctypes.CDLL(library)
    except OSError:
        return (), f"no driver of an NVIDIA GPU found: install one if there is such a GPU; {_CPU}"
    number = ctypes.c_int()
    if code := driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(number)):
        text = ctypes.c_char_p()
        driver.cuGetErrorString(code, ctypes.byref(text))
        said = f"{(text.value or b'error').decode(errors='replace')} ({code})"
        return (), f"the CUDA driver says {said}: see nvidia-smi; {_CPU}"
    found = []
    for index in range(number.value):
        device, name = ctypes.c_int(), ctypes.create_string_buffer(128)
        driver.cuDeviceGet(ctypes.byref(device), index)
        driver.cuDeviceGetName(name, len(name), device)
        values = []
        for attribute in (_MULTIPROCESSORS, _CLOCK_RATE):
            value = ctypes.c_int()
            driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
            values.append(value.value)
        found.append(Card(name.value.decode(errors="replace"), values[0], 1e3 * values[1]))
    hidden = f"the CUDA driver shows no GPU (CUDA_VISIBLE_DEVICES can hide it); {_CPU}"
    return tuple(found), None if found else hidden


def unusable_because() -> str | None:
    """Return the reason why CUDA cannot be used here, in a few words; None if it can."""
    if simulated():
        return None
    return _asked()[1] or _lacking()


@cache
def _lacking() -> str | None:
    """Return which packages are missing or too old, in a few words; None if all are there."""
    missing = [name for name in ("cupy", "numba_cuda") if find_spec(name) is None]
    if missing:
        return f"{' and '.join(missing)} not installed: {_INSTALL}"
    from importlib.metadata import PackageNotFoundError, version  # imported lazily: it is slow

    try:
        found = version("numba-cuda")
        numbers = tuple(int(number) for number in found.split(".")[:2])
    except (PackageNotFoundError, ValueError):  # it was installed in another way, and may do
        return None
    if numbers >= OLDEST_NUMBA_CUDA:
        return None
    oldest = ".".join(map(str, OLDEST_NUMBA_CUDA))
    return f"numba-cuda {found} is too old, {oldest} or newer is needed: {_INSTALL}"
