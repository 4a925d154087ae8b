"""Groups of arrays in one piece of memory.

Numba takes a tuple of arrays apart: every array becomes seven words or more, at every call of every
function that the tuple is given to, and much of what there is to compile is handing these on. Of a
group compiled code gets one address; its layout says where each array begins, and its shape.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any, Self

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
        self.layout = _layout(tuple(arrays.items()))
        self.memory = np.empty(self.layout.dtype.itemsize, np.uint8)
        self.address: int = self.memory.__array_interface__["data"][0]
        for name, (entry, shape, offset) in self.layout.arrays.items():
            setattr(self, name, np.ndarray(shape, entry, self.memory, offset))

    def __reduce__(self) -> Any:
        raise TypeError("a group is not copied: its address is that of its memory")

    @classmethod
    def holding(cls, **arrays: NDArray[Any]) -> Self:
        """A group of copies of arrays."""
        made = cls(**{name: (array.dtype, array.shape) for name, array in arrays.items()})
        for name, array in arrays.items():
            getattr(made, name)[...] = array
        return made


@dataclass(frozen=True)
class Layout:
    """Where the arrays of a group are: the type of groups that have the same."""

    dtype: np.dtype[Any]
    arrays: dict[str, tuple[np.dtype[Any], tuple[int, ...], int]] = field(compare=False)
    """The dtype, the shape and the first byte of each."""

    def put(self, value: Group, words: list[int]) -> None:
        """Append the word of a group; a TypeError if it has another layout."""
        if value.layout is not self and value.layout != self:
            raise TypeError(f"a {type(value).__name__} of another layout")
        words.append(value.address)


@cache
def _layout(arrays: tuple[tuple[str, Array], ...]) -> Layout:
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
    return Layout(np.dtype(fields, align=True), placed)  # type: ignore[call-overload]
