"""Arguments of a launch, as numba-cuda flattens them into the parameters of a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.ptx.function import offsets
from tests.ptx.model import Variable


@dataclass(frozen=True)
class Pointer:
    """An array of which a kernel gets nothing but the address, as C would have it."""

    array: NDArray[Any]


@dataclass(frozen=True)
class Region:
    """Memory of the host that a kernel may touch."""

    start: int
    size: int
    name: str


def flattened(value: Any, name: str) -> tuple[list[int], list[Region]]:
    """The numbers that stand for an argument, and the memory that it brings.

    An array is meminfo, parent, items, bytes of an item, data, shape and strides; a tuple is its
    elements, one after the other.
    """
    if isinstance(value, Pointer):
        numbers, regions = flattened(value.array, name)
        return numbers[4:5], regions
    if isinstance(value, np.ndarray):
        low, high = np.lib.array_utils.byte_bounds(value)
        start = value.__array_interface__["data"][0]
        numbers = [0, 0, value.size, value.itemsize, start, *value.shape, *value.strides]
        return numbers, [Region(low, high - low, name)] if value.size else []
    if isinstance(value, tuple):
        names = getattr(value, "_fields", range(len(value)))
        parts = [flattened(one, f"{name}.{part}") for one, part in zip(value, names, strict=True)]
        return (
            [number for numbers, _ in parts for number in numbers],
            [region for _, regions in parts for region in regions],
        )
    if isinstance(value, bool | int | np.integer | np.bool_):
        return [int(value)], []
    raise TypeError(f"{name}: a kernel cannot be given a {type(value).__name__}")


def marshalled(
    parameters: Sequence[Variable], arguments: Sequence[Any]
) -> tuple[bytes, list[Region]]:
    """The memory of a kernel's parameters, and what its arguments bring."""
    numbers, regions = flattened(tuple(arguments), "arguments")
    if len(numbers) != len(parameters):
        raise TypeError(f"arguments are {len(numbers)} words, the kernel takes {len(parameters)}")
    memory = bytearray()
    for number, (variable, offset) in zip(numbers, offsets(list(parameters)), strict=True):
        bits = variable.type.bits
        if variable.size != variable.type.bytes or not -(2 ** (bits - 1)) <= number < 2**bits:
            raise TypeError(f"{number} does not fit {variable.name}")
        memory += bytes(offset - len(memory))
        memory += (number % 2**bits).to_bytes(variable.size, "little")
    return bytes(memory), regions
