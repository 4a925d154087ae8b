"""A stand-in for CuPy: as much of it as the engine uses, over the stand-in for the driver.

Its memory is that of the driver, and what it does with arrays NumPy does in place. As with CuPy, an
array never becomes one of NumPy's by itself, nor does one of NumPy's index or meet it; and whatever
touches an array tells of a kernel that went wrong before.
"""

from __future__ import annotations

import ctypes
import operator
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
from cuda.bindings import driver

NAMES = {
    2: "cudaErrorMemoryAllocation: out of memory",
    46: "cudaErrorDevicesUnavailable: CUDA-capable device(s) is/are busy or unavailable",
    700: "cudaErrorIllegalAddress: an illegal memory access was encountered",
    719: "cudaErrorLaunchFailure: unspecified launch failure",
}


class OutOfMemoryError(MemoryError):
    """What CuPy's allocator raises."""


def called(answer: tuple[Any, ...]) -> Any:
    """What a function of the driver returns, or CuPy's error."""
    if code := int(answer[0]):
        raise RuntimeError(NAMES.get(code, f"cudaErrorUnknown: error {code}"))
    return answer[1] if len(answer) == 2 else answer[1:]


def allocated(size: int) -> Any:
    """So many bytes of the current device, as an array of NumPy."""
    if not size:
        return np.empty(0, np.uint8)
    try:
        pointer = int(called(driver.cuMemAlloc(size)))
    except RuntimeError as error:
        if "out of memory" not in str(error):
            raise
        raise OutOfMemoryError(
            f"Out of memory allocating {size:,} bytes (allocated so far: 0 bytes)."
        ) from None
    memory = (ctypes.c_uint8 * size).from_address(pointer)
    weakref.finalize(memory, driver.cuMemFree, pointer).atexit = False
    return np.frombuffer(memory, np.uint8)


class ndarray:  # noqa: N801
    """An array of a device; ``held`` is NumPy's view of its memory."""

    def __init__(self, held: Any) -> None:
        self.held = held
        self.shape = held.shape
        self.dtype = held.dtype
        self.device = SimpleNamespace(id=current.number)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        held = self.held
        return {
            "shape": held.shape,
            "typestr": held.dtype.str,
            "data": (held.ctypes.data if held.size else 0, False),
            "strides": None if held.flags.c_contiguous else held.strides,
            "version": 3,
            "stream": 1,
        }

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def __array_ufunc__(self, *_: Any, **__: Any) -> Any:
        return NotImplemented

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        own = globals().get(function.__name__)
        return NotImplemented if own is None else own(*args, **options)

    def __len__(self) -> int:
        return len(self.held)

    def __int__(self) -> int:
        return int(asnumpy(self))

    def __getitem__(self, key: Any) -> ndarray:
        return result(self.held[index(key)], self.held)

    def __setitem__(self, key: Any, value: Any) -> None:
        ready()
        self.held[index(key)] = on_device(value)

    def set(self, values: Any) -> None:
        held = self.held
        assert (values.shape, values.dtype) == (held.shape, held.dtype), "an array of its kind"
        assert held.flags.c_contiguous, "in one piece"
        assert values.flags.c_contiguous, "in one piece"
        if values.size:
            called(driver.cuMemcpyHtoD(held.ctypes.data, values.ctypes.data, values.nbytes))

    @property
    def nbytes(self) -> int:
        return int(self.held.nbytes)

    @property
    def data(self) -> Any:
        return SimpleNamespace(memset=self._memset)

    def _memset(self, value: int, size: int) -> None:
        ready()
        self.held.view(np.uint8).reshape(-1)[:size] = value

    def reshape(self, *shape: int) -> ndarray:
        return result(self.held.reshape(shape), self.held)

    def transpose(self, *axes: int) -> ndarray:
        return result(self.held.transpose(axes), self.held)

    def ravel(self) -> ndarray:
        return result(self.held.ravel(), self.held)

    def view(self, dtype: Any) -> ndarray:
        return result(self.held.view(dtype), self.held)

    def sum(self) -> ndarray:
        return result(self.held.sum())

    def max(self) -> ndarray:
        return result(self.held.max())


def operation(name: str) -> Any:
    function = getattr(operator, name)

    def applied(self: ndarray, other: Any) -> ndarray:
        return result(function(self.held, on_device(other)))

    return applied


for name in ("eq", "ge", "and_", "or_", "lshift", "rshift"):
    setattr(ndarray, f"__{name.rstrip('_')}__", operation(name))


def ready() -> None:
    """Wait for the device; raises what went wrong on it."""
    called(driver.cuCtxSynchronize())


def on_device(value: Any) -> Any:
    """An operand: a number, or an array of a device."""
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {type(value)}")
    return value.held if isinstance(value, ndarray) else value


def index(key: Any) -> Any:
    return tuple(map(on_device, key)) if isinstance(key, tuple) else on_device(key)


def result(value: Any, source: Any = None) -> ndarray:
    """What an operation gives: a view of its source, or a new array of the device."""
    ready()
    if isinstance(value, np.ndarray) and source is not None and np.may_share_memory(value, source):
        return ndarray(value)
    return asarray(np.asarray(value))


def empty(shape: Any, dtype: Any = float) -> ndarray:
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return ndarray(allocated(size).view(dtype).reshape(shape))


def empty_like(array: Any, dtype: Any, shape: Any) -> ndarray:
    return empty(shape, dtype)


def full(shape: Any, value: Any, dtype: Any = None) -> ndarray:
    made = empty(shape, dtype)
    made[...] = value
    return made


def zeros(shape: Any, dtype: Any = float) -> ndarray:
    return full(shape, 0, dtype)


def asarray(array: Any) -> ndarray:
    if isinstance(array, ndarray):
        return array
    array = np.asarray(array, order="C")
    made = empty(array.shape, array.dtype)
    if array.size:
        called(driver.cuMemcpyHtoD(made.held.ctypes.data, array.ctypes.data, array.nbytes))
    return made


def asnumpy(array: ndarray) -> Any:
    ready()
    return np.array(array.held)


class Current(threading.local):
    number = 0


current = Current()


def use(number: int) -> None:
    context = called(driver.cuDevicePrimaryCtxRetain(number))
    called(driver.cuCtxSetCurrent(context))
    current.number = number


@contextmanager
def device(number: int) -> Iterator[None]:
    before = current.number
    use(number)
    try:
        yield
    finally:
        use(before)


def get_default_memory_pool() -> Any:
    """A pool that keeps nothing: what nobody uses any more goes back to the driver."""
    return SimpleNamespace(free_bytes=lambda: 0, free_all_blocks=lambda: None)


runtime = SimpleNamespace(memGetInfo=lambda: called(driver.cuMemGetInfo()))
cuda = SimpleNamespace(Device=device, runtime=runtime)
