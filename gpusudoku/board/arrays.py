"""Arrays of other libraries, such as PyTorch, JAX and CuPy, from and to NumPy arrays.

Arrays of any library with DLPack or the CUDA array interface can be read. The only library that is
imported is CuPy, for an array in GPU memory that cannot copy itself.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gpusudoku.errors import InputError, described

HOST = (1, 3)
"""The device types of main memory in DLPack: ordinary and pinned."""
CUDA = (2, 13)
"""The device types of GPU memory in DLPack: ordinary and managed."""
MAX_BYTES = 1 << 40
"""The size of the largest array. Larger ones are refused before anything is computed."""


def host_array(value: Any) -> Any:
    """Return an array of another library as a NumPy array; return other values unchanged.

    An array in GPU memory is copied.

    Raises
    ------
    InputError
        If the array cannot be read: because of its type, its device or a gradient, for example.
        Masked arrays are refused, because NumPy would read masked cells, too.
    """
    # numpy.ma is slow to import. If it is not imported yet, no masked array exists.
    masked_type = getattr(sys.modules.get("numpy.ma"), "MaskedArray", None)
    if masked_type is not None and isinstance(value, masked_type):
        raise InputError("a masked array, expected a plain one: fill it, with 0 for empty cells")
    try:
        device = _device_of(value)
        return value if device is None else _to_numpy(value, device)
    except (InputError, MemoryError):
        raise
    except Exception as error:  # each library has its own types of errors
        reason = str(error).partition("\n")[0]
        kind = f"{type(value).__name__}, {getattr(value, 'dtype', 'of unknown type')}"
        raise InputError(f"cannot read the array ({kind}): {reason}") from None


def _device_of(value: Any) -> int | None:
    """Return the device type of another library's array in DLPack, or None for other values.

    Data frames and their columns are other values: NumPy converts them itself, with their missing
    values.
    """
    if isinstance(value, np.ndarray):
        return None
    is_column = hasattr(value, "__array__") and not hasattr(value, "shape")  # or Solutions
    if hasattr(value, "__dlpack__") and not is_column and not hasattr(value, "to_numpy"):
        return int(value.__dlpack_device__()[0])
    return CUDA[0] if hasattr(value, "__cuda_array_interface__") else None


def _to_numpy(array: Any, device: int) -> NDArray[Any]:
    """Return a NumPy array: a view of an array in main memory, a copy of one on a GPU."""
    if device in HOST:
        return np.from_dlpack(array)
    if device not in CUDA:
        raise InputError(
            f"an array on a device of kind {device} in DLPack, which is neither main memory nor"
            " CUDA: copy it to main memory first"
        )
    if hasattr(array, "cpu"):  # PyTorch
        return np.from_dlpack(array.cpu())
    if hasattr(array, "__array__"):
        with suppress(TypeError):  # CuPy raises it; arrays of JAX and Numba copy themselves
            return np.asarray(array)
    try:
        import cupy
    except ImportError:
        raise InputError(
            "an array in GPU memory: copy it to main memory first, or install CuPy, which does it"
        ) from None
    if hasattr(array, "__cuda_array_interface__"):
        on_gpu = cupy.asarray(array)
    else:
        on_gpu = cupy.from_dlpack(array)
    copy: NDArray[Any] = cupy.asnumpy(on_gpu)
    return copy


class Destination(NamedTuple):
    """The library and the device of the arrays of results; NumPy by default."""

    library: str = "numpy"
    device: Any = None

    @classmethod
    def of(cls, value: object) -> Destination:
        """Return the destination like an array of PyTorch, JAX or CuPy; NumPy for other values."""
        for library, name in (("torch", "Tensor"), ("jax", "Array"), ("cupy", "ndarray")):
            if isinstance(value, getattr(sys.modules.get(library), name, ())):
                array: Any = value
                # An array of JAX may be on several devices.
                device = next(iter(array.devices())) if library == "jax" else array.device
                return cls(library, device)
        return cls()

    def array(self, values: NDArray[Any]) -> Any:
        """Return an array of the library; the NumPy array itself if the library cannot hold it.

        No library holds Python integers, and JAX truncates 64 bits to 32 unless set otherwise.
        """
        if self.library == "numpy" or values.dtype == object:
            return values
        library: Any = sys.modules[self.library]
        if self.library == "torch":  # the tensor shares the memory if possible
            return library.from_numpy(np.require(values, requirements=["C", "W"])).to(self.device)
        if self.library == "cupy":
            with self._current():
                return library.asarray(values)
        array = library.device_put(values, self.device)
        is_exact = array.dtype == values.dtype or (np.asarray(array) == values).all()
        return array if is_exact else values

    def put(self, target: Any, start: int, rows: NDArray[Any]) -> None:
        """Copy rows to an array of this library, beginning at its row ``start``."""
        with self._current():
            target[start : start + len(rows)] = self.array(rows)

    def give(self, values: NDArray[Any], out: Any) -> Any:
        """Return ``values`` as an array of the library; or write them to ``out`` and return that.

        ``writable`` says what ``out`` may be.
        """
        if out is None:
            return self.array(values)
        target = writable(out, values.shape, values.dtype)
        Destination.of(target).put(target, 0, values)
        return out

    def _current(self) -> AbstractContextManager[Any]:
        """Make the device current, if the library is CuPy."""
        if self.library != "cupy":
            return nullcontext()
        device: AbstractContextManager[Any] = sys.modules["cupy"].cuda.Device(self.device.id)
        return device


NUMPY = Destination()


def writable(out: Any, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
    """Return the array ``out`` of a caller: of PyTorch or CuPy, or a NumPy view of it.

    Raises
    ------
    InputError
        If it is not such an array, has another shape or type, or cannot be written.
    """
    target = out
    expected_type = np.dtype(dtype).name
    if Destination.of(out).library not in ("torch", "cupy"):
        target = host_array(out)
        if not isinstance(target, np.ndarray) or _device_of(out) in CUDA:
            expected = "expected an array of NumPy, PyTorch or CuPy"
            raise InputError(f"out is {described(out)}: {expected}")
        if not target.flags.writeable:
            raise InputError("out is an array that cannot be written")
    elif str(target.device) == "meta":
        raise InputError("out is on the device meta, which has no memory")
    target_shape = tuple(target.shape)
    target_type = str(target.dtype).rpartition(".")[2]  # "torch.int64" is int64
    if (target_shape, target_type) != (shape, expected_type):
        raise InputError(
            f"out has the shape {target_shape} and the type {target_type}: expected {shape} and"
            f" {expected_type}"
        )
    return target


def join_rows(
    blocks: Iterable[NDArray[np.uint8]], number: int, cells: int, out: Any = None
) -> NDArray[np.uint8]:
    """Join blocks of rows into one array, uint8 (number, cells), or into ``out``.

    Raises
    ------
    MemoryError
        If the array would be too large, before a block is read.
    """
    shape = int(number), cells
    # Linux promises more memory than there is: np.empty would succeed, and filling it fail.
    if shape[0] * cells > MAX_BYTES:
        raise MemoryError(f"{number} solutions do not fit in memory: take them in blocks")
    array: NDArray[np.uint8] = np.empty(shape, np.uint8) if out is None else out
    target = writable(array, shape, np.uint8)
    destination = Destination.of(target)
    start = 0
    for block in blocks:
        destination.put(target, start, block)
        start += len(block)
    return array
