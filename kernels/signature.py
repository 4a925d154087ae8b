"""The types of a kernel's arguments, and the arguments as words of 64 bits.

Compiled code is called with the address of a *block* of words, whatever its function takes: so
nobody needs to know Numba's types to call it, neither Python nor another kernel. The first words
are HEAD: the result, and two that compiled code uses. The words of all arguments follow: of a
number its value, of an array its address and its shape, of a ``Group`` its address, and of a tuple
those of all its items.

The type of a tuple is a tuple of types, and that of a NamedTuple a NamedTuple of types.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from operator import index
from typing import Any, TypeAlias

import numpy as np

HEAD = 3
"""Words of a block before those of the arguments."""


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
    """C-contiguous arrays of a dtype, of so many dimensions."""

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
"""A ``Number``, an ``Array``, a ``groups.Layout``, or a tuple of kinds."""

_RESULTS: dict[Number | None, Callable[[int], Any]] = {
    None: lambda word: None,
    boolean: bool,
    int64: lambda word: word - (word >> 63 << 64),
    float64: lambda word: struct.unpack("d", struct.pack("Q", word))[0],
}


def kind_of(value: Any) -> Kind:
    """Return the type of an argument that is an array, a group or a tuple of these."""
    if isinstance(value, tuple):
        kinds = map(kind_of, value)
        return type(value)(*kinds) if hasattr(value, "_fields") else tuple(kinds)
    return Array(value.dtype, value.ndim) if isinstance(value, np.ndarray) else value.layout


def put(kind: Kind, value: Any, words: list[int]) -> None:
    """Append the words of an argument."""
    if isinstance(kind, tuple):
        for each, item in zip(kind, value, strict=True):
            put(each, item, words)
    else:
        kind.put(value, words)


def block_of(signature: tuple[Kind, ...], arguments: tuple[Any, ...]) -> array[int]:
    """Make the block of a call. The arguments must outlive it."""
    words = [0] * HEAD
    put(signature, arguments, words)
    return array("Q", words)


def result_of(block: array[int], returns: Number | None) -> Any:
    """Return the result that a call has left in its block."""
    return _RESULTS[returns](block[0])
