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
from math import prod
from operator import index
from typing import Any, Self, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

HEAD = 3
"""Words of a block before those of the arguments."""
LINE = 64
"""Arrays begin at multiples of so many bytes from the first: lines of a cache."""


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


D = TypeVar("D", bound=np.generic)


@dataclass(frozen=True)
class Field:
    """An array of a ``Group``."""

    dtype: Any
    """Its dtype, or a name for it that a group gets when it is made."""
    shape: tuple[int, ...] = ()
    words_of: str = ""
    """The name of another array, of which it is the memory, seen as integers of 64 bits."""


@overload
def array_of(dtype: type[D], *shape: int) -> NDArray[D]: ...
@overload
def array_of(dtype: str, *shape: int) -> NDArray[Any]: ...
def array_of(dtype: Any, *shape: int) -> Any:
    """Declare an array of a ``Group``."""
    return Field(dtype, shape)


def words_of(name: str) -> NDArray[np.int64]:
    """Declare the memory of an array before it, seen as integers of 64 bits."""
    words: Any = Field(np.int64, words_of=name)
    return words  # type: ignore[no-any-return]


class Group:
    """Arrays in one piece of memory, which are its attributes; a subclass declares them.

        class Lists(Group):
            keys = array_of(np.int32, 6, MAX_ENTRIES)
            size = array_of(np.int64, 6)

    They are not initialised, and take no memory where nobody writes. Declare short arrays first:
    systems give out memory for long ones in large pieces.

    Parameters
    ----------
    dtypes
        The dtypes that are declared by name.
    """

    def __init__(self, **dtypes: Any) -> None:
        declarations: Any = type(self)
        self.layout = _layout(declarations, tuple(dtypes.items()))
        self.memory = np.empty(self.layout.dtype.itemsize, np.uint8)
        self.address: int = self.memory.__array_interface__["data"][0]
        for name, (entry, shape, offset) in self.layout.arrays.items():
            setattr(self, name, np.ndarray(shape, entry, self.memory, offset))

    def __reduce__(self) -> Any:
        raise TypeError("a group is not copied: its address is that of its memory")

    @classmethod
    def holding(cls, **values: NDArray[Any]) -> Self:
        """Return a group with values for its arrays."""
        group = cls()
        for name, value in values.items():
            getattr(group, name)[...] = value
        return group


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
def _layout(group: type[Group], dtypes: tuple[tuple[str, Any], ...]) -> Layout:
    arrays: dict[str, tuple[np.dtype[Any], tuple[int, ...], int]] = {}
    end = 0
    for name, declared in vars(group).items():
        if not isinstance(declared, Field):
            continue
        if declared.words_of:
            entry, (*rows, row), offset = arrays[declared.words_of]
            arrays[name] = np.dtype(np.int64), (*rows, row * entry.itemsize // 8), offset
        else:
            dtype = np.dtype(dict(dtypes).get(declared.dtype, declared.dtype))
            arrays[name] = dtype, declared.shape, end
            end += -(-dtype.itemsize * prod(declared.shape) // LINE) * LINE
    fields = {
        "names": list(arrays),
        "formats": [(entry, shape) for entry, shape, _ in arrays.values()],
        "offsets": [offset for _, _, offset in arrays.values()],
        "itemsize": end,
    }
    return Layout(np.dtype(fields, align=True), arrays)  # type: ignore[call-overload]
