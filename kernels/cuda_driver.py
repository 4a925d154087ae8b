"""Kernels for CUDA, loaded and launched through NVIDIA's driver: all that running them takes.

Numba takes longer to import than all else that a process does before its first launch, and its
launches convert all their arguments again. So it is only needed to compile, in ``compile_cuda``.

A kernel that is kept depends on the GPU's compute capability and on the version of Numba's part for
CUDA, besides what the store depends on anyway.
"""

from __future__ import annotations

import hashlib
import pickle
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import numpy as np
from cuda.bindings import driver

from gpusudoku.kernels import kernel_store


class Code(NamedTuple):
    """A compiled kernel."""

    entry: str
    """Its name in the machine code."""
    binary: bytes
    """The machine code for a compute capability."""
    ptx: str
    """What it was made from."""


class Kernel:
    """A kernel that is loaded, for all GPUs of one compute capability.

    Every method is about the current GPU.
    """

    def __init__(self, code: Code) -> None:
        self.code = code
        library = _checked(driver.cuLibraryLoadData(code.binary, [], [], 0, [], [], 0))
        self._kernel = _checked(driver.cuLibraryGetKernel(library, code.entry.encode()))
        self._function = driver.CUfunction(int(self._kernel))  # as it may be cast for launches

    def attribute(self, name: str) -> int:
        """Return an attribute, by the last part of its name in the driver's header."""
        attribute = getattr(driver.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
        answer = driver.cuKernelGetAttribute(attribute, self._kernel, current_device())
        return int(_checked(answer))

    def blocks_at_once(self, threads: int) -> int:
        """Return how many blocks of so many threads run at once."""
        blocks = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(self._function, threads, 0)
        return int(_checked(blocks)) * device_attribute("MULTIPROCESSOR_COUNT")

    def configured(self, blocks: int, threads: int, *arrays: Any) -> Callable[..., None]:
        """Return a function that launches the kernel, given the arguments after the first ones.

        The first ones, ``arrays``, are converted once; the caller has to keep them.
        """
        first_words = _words(arrays)

        def launch(*arguments: Any) -> None:
            words = np.array(first_words + _words(arguments), np.uint64)
            places = words.ctypes.data + np.arange(len(words), dtype=np.uint64) * words.itemsize
            shared_bytes = stream = extra = 0
            parameters = places.ctypes.data, extra
            grid = blocks, 1, 1, threads, 1, 1, shared_bytes, stream
            _checked(driver.cuLaunchKernel(self._function, *grid, *parameters))

        return launch


@contextmanager
def current(number: int) -> Iterator[None]:
    """Make a GPU the current one of the calling thread for a while.

    CuPy only notes which device is to be the current one, until it needs its context itself.
    """
    _checked(driver.cuCtxPushCurrent(_context(number)))
    try:
        yield
    finally:
        _checked(driver.cuCtxPopCurrent())


@cache
def _context(number: int) -> Any:
    """Return the context of a GPU that CuPy uses, too; it lasts as long as the process."""
    _checked(driver.cuInit(0))
    return _checked(driver.cuDevicePrimaryCtxRetain(_checked(driver.cuDeviceGet(number))))


def current_device() -> int:
    """Return the number of the current GPU."""
    return int(_checked(driver.cuCtxGetDevice()))


def device_attribute(name: str) -> int:
    """Return an attribute of the current GPU, by the last part of its name."""
    attribute = getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
    return int(_checked(driver.cuDeviceGetAttribute(attribute, current_device())))


_loaded: dict[str, Kernel] = {}
_LOADING = threading.Lock()
"""Held while a kernel is loaded, and maybe compiled: Numba finds the GPUs in one thread only. It
guards ``_loaded``, too."""


def load(module: str, function: str, *key: Any) -> Kernel:
    """Return a kernel for the current GPU: that of ``function(*key)``, which a module has.

    The module, which imports Numba, is only needed for a kernel that is not in the store.
    """
    made_of = _compiler_version(), function, key
    digest = hashlib.sha256(repr(made_of).encode()).hexdigest()[:16]
    major, minor = (device_attribute(f"COMPUTE_CAPABILITY_{part}") for part in ("MAJOR", "MINOR"))
    name = f"{module.removeprefix('gpusudoku.kernels.')}-sm{major}{minor}-{digest}"
    with _LOADING:
        if name not in _loaded:
            store = kernel_store.user_store()
            content = None if store is None else store.read(name)
            if content is not None:
                # A driver refuses what was compiled for a newer one: then it is compiled again.
                with suppress(Exception):
                    _loaded[name] = Kernel(Code(*pickle.loads(content)))
        if name not in _loaded:
            import_module("gpusudoku.kernels.compile_cuda")  # which must be the first to ask Numba
            code = getattr(import_module(module), function)(*key)()
            _loaded[name] = Kernel(code)
            if store is not None:
                with suppress(OSError):
                    store.write(name, pickle.dumps(tuple(code)))
        return _loaded[name]


def _compiler_version() -> str:
    """Return the version of numba-cuda; empty if it was installed without one."""
    with suppress(PackageNotFoundError):
        return version("numba-cuda")
    return ""


def _checked(answer: tuple[Any, ...]) -> Any:
    """Return the result of a function of the driver, or raise its error."""
    error, *results = answer
    if error:
        raise RuntimeError(f"[{int(error)}] {error.name}")
    return results[0] if results else None


def _words(argument: Any) -> list[int]:
    """Return the words of 64 bits that Numba's kernels take for an argument.

    An array is two words for Python's memory management, its size, the bytes of an item, its
    address, its shape and its strides. A tuple is its elements, one after the other.
    """
    if isinstance(argument, tuple):
        return [word for element in argument for word in _words(element)]
    if not hasattr(argument, "__cuda_array_interface__"):
        return [int(argument)]
    array = argument.__cuda_array_interface__
    assert array["strides"] is None, "an array in C's order without gaps"
    item_bytes = np.dtype(array["typestr"]).itemsize
    size = 1
    strides = list[int]()
    for length in reversed(array["shape"]):
        strides.insert(0, size * item_bytes)
        size *= length
    return [0, 0, size, item_bytes, array["data"][0], *array["shape"], *strides]
