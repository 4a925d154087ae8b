"""Groups of arrays in one piece of memory.

Numba takes a tuple of arrays apart: every array becomes seven words or more, at every call of every
function that the tuple is given to, and much of what there is to compile is handing these on. Of a
group compiled code gets one address; its type says where each array begins, and its shape.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple, Self

import numba
import numpy as np
from numpy.typing import NDArray

LINE = 64
"""Arrays begin at multiples of so many bytes from the first: lines of a cache."""

Array = tuple[Any, tuple[int, ...]] | str
"""The dtype and the shape of an array; or the name of an array before it, of which it is the
memory, seen as integers of 64 bits."""


class Group:
    """Arrays with names, which are its attributes; a subclass says what they hold.

    They hold anything at first, and take no memory where nobody writes.

    Parameters
    ----------
    arrays
        What each name stands for.
    """

    def __init__(self, **arrays: Array) -> None:
        layout = _layout(tuple(arrays.items()))
        memory = np.empty(layout.bytes, np.uint8)
        # By these names Numba asks for the type of an object, and for its bytes.
        self._numba_type_, self.data = layout.type, memory.data
        for name, (entry, shape, offset) in layout.arrays.items():
            setattr(self, name, np.ndarray(shape, entry, memory, offset))

    @classmethod
    def holding(cls, **arrays: NDArray[Any]) -> Self:
        """A group of copies of arrays."""
        made = cls(**{name: (array.dtype, array.shape) for name, array in arrays.items()})
        for name, array in arrays.items():
            getattr(made, name)[...] = array
        return made


class _Layout(NamedTuple):
    """Where the arrays of a group are."""

    arrays: dict[str, tuple[np.dtype[Any], tuple[int, ...], int]]
    """The dtype, the shape and the first byte of each."""
    bytes: int
    """What all take."""
    type: Any
    """Numba's type of the group."""


@cache
def _layout(arrays: tuple[tuple[str, Array], ...]) -> _Layout:
    placed: dict[str, tuple[np.dtype[Any], tuple[int, ...], int]] = {}
    end = 0
    for name, one in arrays:
        if isinstance(one, str):
            entry, (*rows, row), offset = placed[one]
            placed[name] = np.dtype(np.int64), (*rows, row * entry.itemsize // 8), offset
        else:
            placed[name] = np.dtype(one[0]), one[1], end
            end += -(-np.dtype(one).itemsize // LINE) * LINE
    fields = {
        "names": list(placed),
        "formats": [(entry, shape) for entry, shape, _ in placed.values()],
        "offsets": [offset for _, _, offset in placed.values()],
        "itemsize": end,
    }
    dtype = np.dtype(fields, align=True)  # type: ignore[call-overload]
    return _Layout(placed, end, numba.from_dtype(dtype))
