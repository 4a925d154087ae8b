"""Asks whether CUDA can be used, cheaply: the driver first, before any slow import."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

OLDEST_NUMBA_CUDA = (0, 21)
"""A process that has compiled for CUDA with an older one can no longer compile for the CPU."""


def simulated() -> bool:
    """Whether Numba's CUDA simulator stands in for a GPU."""
    return os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")


def gpu_names() -> tuple[str, ...]:
    """The names of the GPUs that the driver shows, in its order; none without a driver."""
    return _driver_says()[0]


def unusable_because() -> str | None:
    """Why CUDA cannot be used here, in a few words; None if it can."""
    if simulated():
        return None
    names, reason = _driver_says()
    if not names:
        return reason
    missing = [name for name in ("cupy", "numba_cuda") if find_spec(name) is None]
    if missing:
        return f"{' and '.join(missing)} not installed (pip install 'gpusudoku[cuda13]')"
    return _too_old()


@cache
def _driver_says() -> tuple[tuple[str, ...], str]:
    """The names of the GPUs, and why there are none if there are none."""
    library = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        driver = ctypes.CDLL(library)
    except OSError:
        return (), "no CUDA driver found"
    count = ctypes.c_int()
    status = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    if status or not count.value:
        said = f"the CUDA driver says: {_in_words(driver, status)}" if status else "no GPU found"
        chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
        return (), said if chosen is None else f"{said} (CUDA_VISIBLE_DEVICES is {chosen!r})"
    names = []
    for index in range(count.value):
        device, name = ctypes.c_int(), ctypes.create_string_buffer(128)
        driver.cuDeviceGet(ctypes.byref(device), index)
        driver.cuDeviceGetName(name, len(name), device)
        names.append(name.value.decode(errors="replace"))
    return tuple(names), ""


def _in_words(driver: Any, status: int) -> str:
    """What the driver calls an error."""
    text = ctypes.c_char_p()
    if driver.cuGetErrorString(status, ctypes.byref(text)) or text.value is None:
        return f"error {status}"
    return text.value.decode(errors="replace")


def _too_old() -> str | None:
    """Which package is too old, if one is."""
    try:
        found = version("numba-cuda")
        numbers = tuple(int(number) for number in found.split(".")[:2])
    except (PackageNotFoundError, ValueError):  # it came in another way: that is for others to know
        return None
    if numbers >= OLDEST_NUMBA_CUDA:
        return None
    oldest = ".".join(map(str, OLDEST_NUMBA_CUDA))
    return f"numba-cuda {found} is too old, {oldest} or newer is needed"
