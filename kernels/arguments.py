"""Arguments of kernels: their types, groups of arrays, and the words with which a kernel is called.

Compiled code takes the address of a *block* of 64-bit words, whatever the function takes. So
neither Python nor other kernels need Numba's types to call it. The first words are HEAD: the
result, and two words that compiled code uses. The words of all arguments follow: the value of a
number; the address and the shape of an array; the address of a ``Group``; all items of a tuple.

The arrays of a ``Group`` are in one piece of memory. Numba takes a tuple of arrays apart: every
array becomes seven words or more, at every call of every function that the tuple is given to, and
most of the code to compile hands these on. For a group, compiled code gets one address; its layout
says where each array begins, and its shape.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from operator import index
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

HEAD = 3
"""Words of a block before those of the arguments."""
LINE = 64
"""Arrays begin at multiples of so many bytes from the first: lines of a cache."""

Description = tuple[Any, tuple[int, ...]] | str
"""The dtype and the shape of an array; or the name of an array before it, of which it is the
memory, seen as integers of 64 bits."""


@dataclass(frozen=True)
class Number:
    """A number, as ``int64``. ``int64[:, ::1]`` is the type of arrays of it, as Numba writes it."""

    name: str
    """The name of its dtype."""

    def __getitem__(self, axes: slice | tuple[slice, ...]) -> Any:
        return Array(np.dtype(self.name), len(axes) if isinstance(axes, tuple) else 1)

    def put(self, value: Any, words: list[int]) -> None:
        """Append the word of a number; an OverflowError follows if 64 bits are too few."""
        if self.name == "float64":
            words += struct.unpack("Q", struct.pack("d", value))
        else:
            number = index(value)
            words.append(number + (1 << 64) if number < 0 else number)


@dataclass(frozen=True)
class Array:
    """C-contiguous arrays with a dtype and a number of dimensions."""

    dtype: np.dtype[Any]
    dimensions: int

    def put(self, value: Any, words: list[int]) -> None:
        """Append the words of an array; a TypeError if it is of another type."""
        if value.dtype != self.dtype or value.ndim != self.dimensions:
            raise TypeError(f"{value.dtype} of {value.ndim} dimensions, expected {self}")
        if not (value.flags.c_contiguous and value.flags.aligned):
            raise TypeError("an array that is not contiguous, or not aligned")
        words.append(value.__array_interface__["data"][0])
        words += value.shape


# Any: they stand for arrays and numbers in the fields of NamedTuples, too.
int32: Any = Number("int32")
int64: Any = Number("int64")
uint8: Any = Number("uint8")
uint64: Any = Number("uint64")
float64: Any = Number("float64")
boolean: Any = Number("bool")

Kind: TypeAlias = Any
"""A ``Number``, an ``Array``, a ``Layout``, or a tuple of kinds for a tuple."""

_RESULTS: dict[Number | None, Callable[[int], Any]] = {
    None: lambda word: None,
    boolean: bool,
    int64: lambda word: word - (word >> 63 << 64),
    float64: lambda word: struct.unpack("d", struct.pack("Q", word))[0],
}


def kind_of(value: Any) -> Kind:
    """Return the kind of an argument that is an array, a group or a tuple of these."""
    if isinstance(value, tuple):
        kinds = map(kind_of, value)
        return type(value)(*kinds) if hasattr(value, "_fields") else tuple(kinds)
    return Array(value.dtype, value.ndim) if isinstance(value, np.ndarray) else value.layout


def _put(kind: Kind, value: Any, words: list[int]) -> None:
    """Append the words of an argument."""
    if isinstance(kind, tuple):
        for item_kind, item in zip(kind, value, strict=True):
            _put(item_kind, item, words)
    else:
        kind.put(value, words)


def block_of(signature: tuple[Kind, ...], arguments: tuple[Any, ...]) -> array[int]:
    """Make the block of a call. The arguments must outlive it."""
    words = [0] * HEAD
    _put(signature, arguments, words)
    return array("Q", words)


def result_of(block: array[int], returns: Number | None) -> Any:
    """Return the result that a call has left in its block."""
    return _RESULTS[returns](block[0])


class Group:
    """Arrays with names, which are its attributes; a subclass says what they hold.

    They hold anything at first, and take no memory where nobody writes.

    Parameters
    ----------
    arrays
        What each name stands for.
    """

    def __init__(self, **arrays: Description) -> None:
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
        for name, source in arrays.items():
            getattr(made, name)[...] = source
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
def _layout(arrays: tuple[tuple[str, Description], ...]) -> Layout:
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
