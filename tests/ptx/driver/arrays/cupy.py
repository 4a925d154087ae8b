"""A stand-in for CuPy, with the functions that the engine uses, on the stand-in for the driver.

The driver owns the memory, which is host memory, so that NumPy can compute in place. As in CuPy,
arrays of a device are never converted to NumPy arrays implicitly, and operations cannot mix both.
Any access to an array reports the error of an earlier kernel.
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
    """The error of CuPy's allocator."""


def checked(answer: tuple[Any, ...]) -> Any:
    """Return the results of a function of the driver, or raise CuPy's error for its code."""
    code = int(answer[0])
    if code:
        raise RuntimeError(NAMES.get(code, f"cudaErrorUnknown: error {code}"))
    return answer[1] if len(answer) == 2 else answer[1:]


def allocate(size: int) -> Any:
    """Allocate ``size`` bytes of the current device; return them as a NumPy array."""
    if not size:
        return np.empty(0, np.uint8)
    try:
        pointer = int(checked(driver.cuMemAlloc(size)))
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
    """An array of a device; ``host_view`` is a NumPy array of its memory."""

    def __init__(self, host_view: Any) -> None:
        self.host_view = host_view
        self.shape = host_view.shape
        self.dtype = host_view.dtype
        self.device = SimpleNamespace(id=current.number)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        view = self.host_view
        return {
            "shape": view.shape,
            "typestr": view.dtype.str,
            "data": (view.ctypes.data if view.size else 0, False),
            "strides": None if view.flags.c_contiguous else view.strides,
            "version": 3,
            "stream": 1,
        }

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def __array_ufunc__(self, *_: Any, **__: Any) -> Any:
        return NotImplemented

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        replacement = globals().get(function.__name__)
        return NotImplemented if replacement is None else replacement(*args, **options)

    def __len__(self) -> int:
        return len(self.host_view)

    def __int__(self) -> int:
        return int(asnumpy(self))

    def __getitem__(self, key: Any) -> ndarray:
        return result(self.host_view[index(key)], self.host_view)

    def __setitem__(self, key: Any, value: Any) -> None:
        synchronize()
        self.host_view[index(key)] = device_operand(value)

    def set(self, values: Any) -> None:
        view = self.host_view
        assert (values.shape, values.dtype) == (view.shape, view.dtype)
        assert view.flags.c_contiguous
        assert values.flags.c_contiguous
        if values.size:
            checked(driver.cuMemcpyHtoD(view.ctypes.data, values.ctypes.data, values.nbytes))

    @property
    def nbytes(self) -> int:
        return int(self.host_view.nbytes)

    @property
    def data(self) -> Any:
        return SimpleNamespace(memset=self._memset)

    def _memset(self, value: int, size: int) -> None:
        synchronize()
        self.host_view.view(np.uint8).reshape(-1)[:size] = value

    def reshape(self, *shape: int) -> ndarray:
        return result(self.host_view.reshape(shape), self.host_view)

    def transpose(self, *axes: int) -> ndarray:
        return result(self.host_view.transpose(axes), self.host_view)

    def ravel(self) -> ndarray:
        return result(self.host_view.ravel(), self.host_view)

    def view(self, dtype: Any) -> ndarray:
        return result(self.host_view.view(dtype), self.host_view)

    def sum(self) -> ndarray:
        return result(self.host_view.sum())

    def max(self) -> ndarray:
        return result(self.host_view.max())


def operation(name: str) -> Any:
    """Return a method for an operator."""
    function = getattr(operator, name)

    def method(self: ndarray, operand: Any) -> ndarray:
        return result(function(self.host_view, device_operand(operand)))

    return method


for name in ("eq", "ge", "and_", "or_", "lshift", "rshift"):
    setattr(ndarray, f"__{name.rstrip('_')}__", operation(name))


def synchronize() -> None:
    """Wait for the device; raise the error of an earlier kernel."""
    checked(driver.cuCtxSynchronize())


def device_operand(value: Any) -> Any:
    """Return an operand, a number or an array of a device, as NumPy takes it."""
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {type(value)}")
    return value.host_view if isinstance(value, ndarray) else value


def index(key: Any) -> Any:
    """Return an index as NumPy takes it."""
    return tuple(map(device_operand, key)) if isinstance(key, tuple) else device_operand(key)


def result(value: Any, source: Any = None) -> ndarray:
    """Return the result of an operation: a view of its source, or a new array of the device."""
    synchronize()
    if isinstance(value, np.ndarray) and source is not None and np.may_share_memory(value, source):
        return ndarray(value)
    return asarray(np.asarray(value))


def empty(shape: Any, dtype: Any = float) -> ndarray:
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return ndarray(allocate(size).view(dtype).reshape(shape))


def empty_like(array: Any, dtype: Any, shape: Any) -> ndarray:
    return empty(shape, dtype)


def full(shape: Any, value: Any, dtype: Any = None) -> ndarray:
    array = empty(shape, dtype)
    array[...] = value
    return array


def zeros(shape: Any, dtype: Any = float) -> ndarray:
    return full(shape, 0, dtype)


def asarray(array: Any) -> ndarray:
    if isinstance(array, ndarray):
        return array
    host_array = np.asarray(array, order="C")
    device_array = empty(host_array.shape, host_array.dtype)
    if host_array.size:
        target = device_array.host_view.ctypes.data
        checked(driver.cuMemcpyHtoD(target, host_array.ctypes.data, host_array.nbytes))
    return device_array


def asnumpy(array: ndarray) -> Any:
    synchronize()
    return np.array(array.host_view)


class Current(threading.local):
    """The number of the current device of each thread."""

    number = 0


current = Current()


def set_device(number: int) -> None:
    context = checked(driver.cuDevicePrimaryCtxRetain(number))
    checked(driver.cuCtxSetCurrent(context))
    current.number = number


@contextmanager
def device(number: int) -> Iterator[None]:
    previous_number = current.number
    set_device(number)
    try:
        yield
    finally:
        set_device(previous_number)


def get_default_memory_pool() -> Any:
    """Return a pool that keeps nothing: unused memory returns to the driver at once."""
    return SimpleNamespace(free_bytes=lambda: 0, free_all_blocks=lambda: None)


runtime = SimpleNamespace(memGetInfo=lambda: checked(driver.cuMemGetInfo()))
cuda = SimpleNamespace(Device=device, runtime=runtime)
