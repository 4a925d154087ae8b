"""Asks whether CUDA can be used, cheaply: the driver first, before any slow import."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from importlib.util import find_spec


def simulated() -> bool:
    """Whether Numba's CUDA simulator stands in for a GPU."""
    return os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")


@cache
def gpu_names() -> tuple[str, ...]:
    """The names of the GPUs that the driver shows, in its order; none without a driver."""
    library = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        driver = ctypes.CDLL(library)
    except OSError:
        return ()
    count = ctypes.c_int()
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return ()
    names = []
    for index in range(count.value):
        device, name = ctypes.c_int(), ctypes.create_string_buffer(128)
        driver.cuDeviceGet(ctypes.byref(device), index)
        driver.cuDeviceGetName(name, len(name), device)
        names.append(name.value.decode(errors="replace"))
    return tuple(names)


def unusable_because() -> str | None:
    """Why CUDA cannot be used here, in a few words; None if it can."""
    if simulated():
        return None
    if not gpu_names():
        return "no CUDA driver or no NVIDIA GPU found"
    missing = [name for name in ("cupy", "numba_cuda") if find_spec(name) is None]
    if missing:
        return f"{' and '.join(missing)} not installed (pip install 'gpusudoku[cuda13]')"
    return None
