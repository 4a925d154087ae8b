"""Arguments of kernels: their types, groups of arrays, and the call frame that passes them.

Compiled code takes the address of a *call frame*, an array of 64-bit words, whatever the function
takes. So neither Python nor other kernels need Numba's types to call it.

    word 0          the result
    words 1 and 2   used by compiled code: the addresses of its return value and of its error
    word 3 ...      the arguments in order, see HEAD_WORDS:
                    a number      its value
                    an array      its address and its shape
                    a Group       its address
                    a tuple       the words of its items

The arrays of a ``Group`` share one piece of memory. Numba takes a tuple of arrays apart: each array
becomes seven words or more, at every call of every function that takes the tuple, and passing them
on makes up most of the code to be compiled. For a group, compiled code gets one address; the
group's layout says where each array begins, and its shape.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from math import prod
from operator import index
from typing import Any, NamedTuple, Self, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

HEAD_WORDS = 3
"""Words of a call frame that precede those of the arguments."""
CACHE_LINE_BYTES = 64
"""The offset of each array of a group is a multiple of this."""


@dataclass(frozen=True)
class Number:
    """The kind of a number, such as ``int64``.

    ``int64[:, ::1]`` is the kind of two-dimensional arrays of ``int64``, as Numba writes it.
    """

    name: str
    """The name of the dtype."""

    def __getitem__(self, axes: slice | tuple[slice, ...]) -> Any:
        return Array(np.dtype(self.name), len(axes) if isinstance(axes, tuple) else 1)

    def append_words(self, value: Any, words: list[int]) -> None:
        """Append the word of a number.

        A number that 64 bits cannot hold raises an OverflowError when the call frame is made.
        """
        if self.name == "float64":
            words += struct.unpack("Q", struct.pack("d", value))
        else:
            number = index(value)
            # The frame is unsigned: a negative number is written as its two's complement.
            words.append(number + (1 << 64) if number < 0 else number)


@dataclass(frozen=True)
class Array:
    """The kind of C-contiguous arrays with a dtype and a number of dimensions."""

    dtype: np.dtype[Any]
    dimensions: int

    def append_words(self, value: Any, words: list[int]) -> None:
        """Append the words of an array: its address and its shape.

        Raises
        ------
        TypeError
            If the array is of another kind.
        """
        # Compiled code checks nothing: with another array it would access memory of other objects.
        if value.dtype != self.dtype or value.ndim != self.dimensions:
            raise TypeError(f"{value.dtype} of {value.ndim} dimensions, expected {self}")
        if not (value.flags.c_contiguous and value.flags.aligned):
            raise TypeError("an array that is not contiguous, or not aligned")
        words.append(value.__array_interface__["data"][0])
        words += value.shape


# Any: fields of NamedTuples that hold arrays and numbers have these kinds as values, too.
int32: Any = Number("int32")
int64: Any = Number("int64")
uint8: Any = Number("uint8")
uint64: Any = Number("uint64")
float64: Any = Number("float64")
boolean: Any = Number("bool")

Kind: TypeAlias = Any
"""A ``Number``, an ``Array``, a ``Layout``, or a tuple of kinds for a tuple."""

_RESULT_READERS: dict[Number | None, Callable[[int], Any]] = {
    None: lambda word: None,
    boolean: bool,
    int64: lambda word: word - (word >> 63 << 64),  # bit 63 is the sign
    float64: lambda word: struct.unpack("d", struct.pack("Q", word))[0],
}
"""Functions that make a result of the unsigned word in a call frame, by the kind of the result."""


def kind_of(value: Any) -> Kind:
    """Return the kind of an argument that is an array, a group or a tuple of these."""
    if isinstance(value, tuple):
        kinds = map(kind_of, value)
        is_named_tuple = hasattr(value, "_fields")
        return type(value)(*kinds) if is_named_tuple else tuple(kinds)
    if isinstance(value, np.ndarray):
        return Array(value.dtype, value.ndim)
    return value.layout


def _append_words(kind: Kind, value: Any, words: list[int]) -> None:
    """Append the words of an argument."""
    if isinstance(kind, tuple):
        for item_kind, item in zip(kind, value, strict=True):
            _append_words(item_kind, item, words)
    else:
        kind.append_words(value, words)


def make_frame(signature: tuple[Kind, ...], arguments: tuple[Any, ...]) -> array[int]:
    """Make the frame of a call. The arguments must outlive it, as it only has their addresses."""
    words = [0] * HEAD_WORDS
    _append_words(signature, arguments, words)
    return array("Q", words)


def read_result(frame: array[int], returns: Number | None) -> Any:
    """Return the result that a call has written to its frame."""
    return _RESULT_READERS[returns](frame[0])


D = TypeVar("D", bound=np.generic)


@dataclass(frozen=True)
class Field:
    """The declaration of an array of a ``Group``."""

    dtype: Any
    """The dtype, or a name for a dtype that each group gets when it is made."""
    shape: tuple[int, ...] = ()
    words_of: str = ""
    """The name of another array, whose memory this array shows as integers of 64 bits."""


@overload
def array_of(dtype: type[D], *shape: int) -> NDArray[D]: ...
@overload
def array_of(dtype: str, *shape: int) -> NDArray[Any]: ...
def array_of(dtype: Any, *shape: int) -> Any:
    """Declare an array of a ``Group``."""
    return Field(dtype, shape)


def words_of(name: str) -> NDArray[np.int64]:
    """Declare an array that shows the memory of an earlier one as integers of 64 bits."""
    words: Any = Field(np.int64, words_of=name)
    return words  # type: ignore[no-any-return]


class Group:
    """Arrays in one piece of memory. A subclass declares them, and they become its attributes.

        class Lists(Group):
            keys = array_of(np.int32, 6, MAX_ENTRIES)
            size = array_of(np.int64, 6)

    They are not initialised: pages of memory that nobody writes to take no memory. Declare short
    arrays first, because the operating system allocates the pages of long ones in large units.

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
        for name, place in self.layout.arrays.items():
            setattr(self, name, np.ndarray(place.shape, place.dtype, self.memory, place.offset))

    def __reduce__(self) -> Any:
        raise TypeError("a group cannot be copied: its address is that of its memory")

    @classmethod
    def with_values(cls, **values: NDArray[Any]) -> Self:
        """Return a group with values for its arrays."""
        group = cls()
        for name, value in values.items():
            getattr(group, name)[...] = value
        return group


class ArrayPlace(NamedTuple):
    """Where an array is in the memory of a group."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int
    """The index of its first byte."""


@dataclass(frozen=True)
class Layout:
    """The places of a group's arrays. It is the kind of all groups with the same places."""

    dtype: np.dtype[Any]
    """The dtype of one group as a structure, whose fields are the arrays."""
    arrays: dict[str, ArrayPlace] = field(compare=False)  # part of the dtype

    def append_words(self, value: Group, words: list[int]) -> None:
        """Append the word of a group: its address.

        Raises
        ------
        TypeError
            If the group has another layout.
        """
        if value.layout is not self and value.layout != self:
            raise TypeError(f"a {type(value).__name__} of another layout")
        words.append(value.address)


@cache
def _layout(group: type[Group], dtypes: tuple[tuple[str, Any], ...]) -> Layout:
    """Lay out the arrays that a class of groups declares, one after the other."""
    places: dict[str, ArrayPlace] = {}
    dtype_of_name = dict(dtypes)
    end = 0
    for name, declaration in vars(group).items():
        if not isinstance(declaration, Field):
            continue
        if declaration.words_of:
            original = places[declaration.words_of]
            *outer_shape, row_length = original.shape
            row_words = row_length * original.dtype.itemsize // 8
            shape = *outer_shape, row_words
            places[name] = ArrayPlace(np.dtype(np.int64), shape, original.offset)
        else:
            dtype = np.dtype(dtype_of_name.get(declaration.dtype, declaration.dtype))
            places[name] = ArrayPlace(dtype, declaration.shape, end)
            line_count = -(-dtype.itemsize * prod(declaration.shape) // CACHE_LINE_BYTES)
            end += line_count * CACHE_LINE_BYTES
    fields = {
        "names": list(places),
        "formats": [(place.dtype, place.shape) for place in places.values()],
        "offsets": [place.offset for place in places.values()],
        "itemsize": end,
    }
    return Layout(np.dtype(fields, align=True), places)  # type: ignore[call-overload]
