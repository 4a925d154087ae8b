"""CUDA kernels, loaded and launched through NVIDIA's driver.

Running a kernel does not need Numba, only compiling it does, in ``compile_cuda``. Importing Numba
takes longer than everything else that a process does before its first launch. And each launch with
Numba converts all arguments again.

A cached kernel depends on the GPU's compute capability and on the version of numba-cuda, in
addition to the state of the store.
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
from gpusudoku.kernels.kernel_store import Store


class Code(NamedTuple):
    """A compiled kernel."""

    entry: str
    """The name of the kernel in the machine code."""
    binary: bytes
    """The machine code for a compute capability."""
    ptx: str
    """The assembly code that it was made from."""


class Kernel:
    """A loaded kernel, for all GPUs of one compute capability.

    All methods use the current GPU.
    """

    def __init__(self, code: Code) -> None:
        self.code = code
        # A library, unlike a module, is not bound to one GPU: the driver loads it where needed.
        library = _check(driver.cuLibraryLoadData(code.binary, [], [], 0, [], [], 0))
        self._kernel = _check(driver.cuLibraryGetKernel(library, code.entry.encode()))
        # CUDA allows this cast for launches, which take functions.
        self._function = driver.CUfunction(int(self._kernel))

    def attribute(self, name: str) -> int:
        """Return an attribute, by the last part of its name in the driver's header."""
        attribute = getattr(driver.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
        value = _check(driver.cuKernelGetAttribute(attribute, self._kernel, current_device()))
        return int(value)

    def blocks_at_once(self, threads: int) -> int:
        """Return how many blocks of ``threads`` threads run at the same time."""
        shared_bytes = 0  # no dynamic shared memory
        blocks_per_multiprocessor = _check(
            driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                self._function, threads, shared_bytes
            )
        )
        return int(blocks_per_multiprocessor) * device_attribute("MULTIPROCESSOR_COUNT")

    def prepare_launch(self, blocks: int, threads: int, *arrays: Any) -> Callable[..., None]:
        """Return a function that launches the kernel with ``blocks`` blocks of ``threads`` threads.

        ``arrays`` are the first arguments of all launches. They are converted once, and only their
        addresses are stored, so the caller must keep them. The function takes the other arguments.
        """
        first_words = _words_of(arrays)

        def launch(*arguments: Any) -> None:
            words = np.array(first_words + _words_of(arguments), np.uint64)
            # The driver takes an array with the address of each word. It copies the words before
            # the call returns, so they need not be kept for the launch itself.
            offsets = np.arange(len(words), dtype=np.uint64) * words.itemsize
            addresses = words.ctypes.data + offsets
            shared_bytes = stream = extra = 0
            grid = blocks, 1, 1, threads, 1, 1, shared_bytes, stream
            parameters = addresses.ctypes.data, extra
            _check(driver.cuLaunchKernel(self._function, *grid, *parameters))

        return launch


@contextmanager
def current(number: int) -> Iterator[None]:
    """Make a GPU the current one of the calling thread in the block.

    CuPy's ``Device`` does not do that: it sets the driver's context only when it needs it itself.
    """
    _check(driver.cuCtxPushCurrent(_context(number)))
    try:
        yield
    finally:
        _check(driver.cuCtxPopCurrent())


@cache
def _context(number: int) -> Any:
    """Return the primary context of a GPU, which CuPy uses, too. It is never released."""
    _check(driver.cuInit(0))
    device = _check(driver.cuDeviceGet(number))
    return _check(driver.cuDevicePrimaryCtxRetain(device))


def current_device() -> int:
    """Return the number of the current GPU."""
    return int(_check(driver.cuCtxGetDevice()))


def device_attribute(name: str) -> int:
    """Return an attribute of the current GPU, by the last part of its name."""
    attribute = getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
    return int(_check(driver.cuDeviceGetAttribute(attribute, current_device())))


_loaded_kernels: dict[str, Kernel] = {}
"""Loaded kernels by their names, which include the compute capability."""
_LOADING = threading.Lock()
"""Held while a kernel is loaded or compiled. It guards ``_loaded_kernels``. It is also needed
because Numba must not look for the GPUs in several threads at the same time."""


def load(module: str, function: str, *key: Any) -> Kernel:
    """Return the kernel that ``function(*key)`` of a module builds, for the current GPU.

    The module imports Numba, so it is imported only if the kernel is not cached.
    """
    identity = _compiler_version(), function, key
    digest = hashlib.sha256(repr(identity).encode()).hexdigest()[:16]
    major = device_attribute("COMPUTE_CAPABILITY_MAJOR")
    minor = device_attribute("COMPUTE_CAPABILITY_MINOR")
    name = f"{module.removeprefix('gpusudoku.kernels.')}-sm{major}{minor}-{digest}"
    with _LOADING:
        if name not in _loaded_kernels:
            store = kernel_store.user_store()
            kernel = _load_cached(store, name)
            if kernel is None:
                kernel = _compile(store, name, module, function, key)
            _loaded_kernels[name] = kernel
        return _loaded_kernels[name]


def _load_cached(store: Store | None, name: str) -> Kernel | None:
    """Load a kernel from the cache; None if it does not contain a usable one."""
    content = None if store is None else store.read(name)
    if content is not None:
        # A driver rejects machine code that a newer compiler made. Then it is compiled again.
        with suppress(Exception):
            return Kernel(Code(*pickle.loads(content)))
    return None


def _compile(
    store: Store | None, name: str, module: str, function: str, key: tuple[Any, ...]
) -> Kernel:
    """Compile a kernel for the current GPU, load it, and write it to the cache if possible."""
    # It corrects Numba for newer versions of NumPy, so it must be the first to import Numba's part
    # for CUDA.
    import_module("gpusudoku.kernels.compile_cuda")
    build = getattr(import_module(module), function)
    compile_code = build(*key)
    code = compile_code()
    kernel = Kernel(code)
    if store is not None:
        with suppress(OSError):
            store.write(name, pickle.dumps(tuple(code)))
    return kernel


def _compiler_version() -> str:
    """Return the version of numba-cuda; empty if it was installed without metadata."""
    with suppress(PackageNotFoundError):
        return version("numba-cuda")
    return ""


def _check(returned: tuple[Any, ...]) -> Any:
    """Return the result of a driver function, or raise its error.

    A driver function returns a tuple of a status and its results, of which there is at most one
    here.
    """
    status, *results = returned
    if status:
        raise RuntimeError(f"[{int(status)}] {status.name}")
    return results[0] if results else None


def _words_of(argument: Any) -> list[int]:
    """Return the 64-bit words that Numba's kernels take for an argument.

    ======  =========================================================================
    number  its value
    array   0, 0 (for reference counts, unused), size, bytes of an item, address,
            length of each axis, stride of each axis in bytes
    tuple   the words of its items
    ======  =========================================================================
    """
    if isinstance(argument, tuple):
        return [word for item in argument for word in _words_of(item)]
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
