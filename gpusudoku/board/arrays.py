"""Arrays of other libraries, such as PyTorch, JAX and CuPy: read as NumPy's, and made of NumPy's.

They are read by the protocols DLPack and CUDA array interface, whatever library they are of. No
library is imported but CuPy, and that only for an array in GPU memory that does not copy itself.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gpusudoku.errors import InputError, described

HOST, CUDA = (1, 3), (2, 13)
"""Devices as DLPack numbers them: main memory, also if pinned; GPU memory, also if managed."""


def host_array(given: Any) -> Any:
    """Return another library's array as one of NumPy's, copied if on a GPU; all else as it is.

    Raises
    ------
    InputError
        If it cannot be read: because of its type, its device or a gradient, for example. Masked
        arrays are refused, as NumPy would show masked cells.
    """
    # numpy.ma is slow to import. If it is not there, or another thread is just importing it, nobody
    # has a masked array yet.
    masked_type = getattr(sys.modules.get("numpy.ma"), "MaskedArray", None)
    if masked_type is not None and isinstance(given, masked_type):
        raise InputError("a masked array, expected a plain one: fill it, with 0 for empty cells")
    try:
        device = _device_of(given)
        return given if device is None else _copied(given, device)
    except (InputError, MemoryError):
        raise
    except Exception as error:  # each library has its own
        reason = str(error).partition("\n")[0]
        kind = f"{type(given).__name__}, {getattr(given, 'dtype', 'of unknown type')}"
        raise InputError(f"cannot read the array ({kind}): {reason}") from None


def _device_of(given: Any) -> int | None:
    """Return the kind of device of another library's array, as DLPack numbers it; else None.

    Columns and tables of data are none: NumPy makes arrays of them, with their missing values.
    """
    if isinstance(given, np.ndarray):
        return None
    is_column = hasattr(given, "__array__") and not hasattr(given, "shape")  # or solutions
    if hasattr(given, "__dlpack__") and not is_column and not hasattr(given, "to_numpy"):
        return int(given.__dlpack_device__()[0])
    return CUDA[0] if hasattr(given, "__cuda_array_interface__") else None


def _copied(given: Any, device: int) -> NDArray[Any]:
    """Return an array of NumPy's: a view of what is in main memory, a copy of what is on a GPU."""
    if device in HOST:
        return np.from_dlpack(given)
    if device not in CUDA:
        raise InputError(
            f"an array on a device of kind {device} in DLPack, which is neither main memory nor"
            " CUDA: copy it to main memory first"
        )
    if hasattr(given, "cpu"):  # PyTorch's
        return np.from_dlpack(given.cpu())
    if hasattr(given, "__array__"):
        with suppress(TypeError):  # of CuPy's; JAX's and Numba's copy themselves
            return np.asarray(given)
    try:
        import cupy
    except ImportError:
        raise InputError(
            "an array in GPU memory: copy it to main memory first, or install CuPy, which does it"
        ) from None
    has_interface = hasattr(given, "__cuda_array_interface__")
    array = cupy.asarray(given) if has_interface else cupy.from_dlpack(given)
    copied: NDArray[Any] = cupy.asnumpy(array)
    return copied


class Destination(NamedTuple):
    """The library and the device of the arrays that results are given in; by default NumPy's."""

    library: str = "numpy"
    device: Any = None

    @classmethod
    def of(cls, given: object) -> Destination:
        """Return those of an array of PyTorch, JAX or CuPy; NumPy for everything else."""
        for library, name in (("torch", "Tensor"), ("jax", "Array"), ("cupy", "ndarray")):
            if isinstance(given, getattr(sys.modules.get(library), name, ())):
                array: Any = given  # one of JAX's may be on several devices
                device = next(iter(array.devices())) if library == "jax" else array.device
                return cls(library, device)
        return cls()

    def array(self, found: NDArray[Any]) -> Any:
        """Return an array of the library; Python's integers, and what it cannot hold, in NumPy's.

        JAX makes 32 bits of 64, unless it is set to keep them.
        """
        if self.library == "numpy" or found.dtype == object:
            return found
        library: Any = sys.modules[self.library]
        if self.library == "torch":  # the tensor shares the memory, if it can
            return library.from_numpy(np.require(found, requirements=["C", "W"])).to(self.device)
        if self.library == "cupy":
            with self._current():
                return library.asarray(found)
        made = library.device_put(found, self.device)
        return made if made.dtype == found.dtype or (np.asarray(made) == found).all() else found

    def put(self, target: Any, start: int, rows: NDArray[Any]) -> None:
        """Copy rows to an array of this library, from a row on."""
        with self._current():
            target[start : start + len(rows)] = self.array(rows)

    def give(self, found: NDArray[Any], out: Any) -> Any:
        """Return the array of the library, or ``out``, filled; see ``writable``."""
        if out is None:
            return self.array(found)
        target = writable(out, found.shape, found.dtype)
        Destination.of(target).put(target, 0, found)
        return out

    def _current(self) -> AbstractContextManager[Any]:
        """Make the device of an array of CuPy's the current one."""
        if self.library != "cupy":
            return nullcontext()
        device: AbstractContextManager[Any] = sys.modules["cupy"].cuda.Device(self.device.id)
        return device


NUMPY = Destination()


def writable(out: Any, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
    """Return the array that a caller gave for results: PyTorch's or CuPy's, or a view of NumPy's.

    Raises
    ------
    InputError
        If it is no such array, is of another shape or type, or cannot be written.
    """
    target, expected = out, np.dtype(dtype).name
    if Destination.of(out).library not in ("torch", "cupy"):
        target = host_array(out)
        if not isinstance(target, np.ndarray) or _device_of(out) in CUDA:
            found = described(out)
            raise InputError(f"out is {found}: expected an array of NumPy, PyTorch or CuPy")
        if not target.flags.writeable:
            raise InputError("out is an array that cannot be written")
    elif str(target.device) == "meta":
        raise InputError("out is on the device meta, which keeps nothing")
    size, kind = tuple(target.shape), str(target.dtype).rpartition(".")[2]
    if (size, kind) != (shape, expected):
        raise InputError(
            f"out has the shape {size} and the type {kind}: expected {shape} and {expected}"
        )
    return target
