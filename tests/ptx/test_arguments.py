"""Arguments of a launch, against what numba-cuda makes of them."""

from __future__ import annotations

from inspect import signature
from typing import NamedTuple

import numpy as np
import pytest

from gpusudoku.kernels.contraction.nine import cuda as nine
from tests.ptx import compiled
from tests.ptx.arguments import flattened, marshalled
from tests.ptx.model import TYPES, Variable
from tests.ptx.parse import parse

pytestmark = compiled.WAITING


class Group(NamedTuple):
    one: np.ndarray
    number: int


def test_arguments_are_flattened_as_numba_does() -> None:
    array = np.zeros((3, 4), np.int16)
    start = array.ctypes.data
    numbers, [region] = flattened((Group(array, -1), np.uint64(2**64 - 1)), "arguments")
    assert numbers == [0, 0, 12, 2, start, 3, 4, 8, 2, -1, 2**64 - 1]
    assert (region.start, region.size, region.name) == (start, 24, "arguments.0.one")
    assert flattened(np.zeros((0, 4)), "empty")[1] == []
    with pytest.raises(TypeError, match=r"arguments\.0: a kernel cannot be given a float"):
        flattened((1.5,), "arguments")


def test_numba_flattens_them_like_this() -> None:
    """The number of words is that of the parameters which the compiler made."""
    [function] = parse(compiled.texts()[0, 9, 0]).functions.values()
    words = [1, 1, 9, 9, 11 + 7 + 9, 3 * 7, 7]
    assert len(words) == len(signature(nine.build_kernel()).parameters)
    assert len(function.parameters) == sum(words)


def test_parameters_are_packed() -> None:
    kinds = [TYPES[name] for name in ("u8", "u64", "u32", "u64")]
    variables = [
        Variable(f"p{i}", "param", kind, kind.bytes, kind.bytes) for i, kind in enumerate(kinds)
    ]
    packed, _ = marshalled(variables, [-1, 2, 3, 4])
    assert packed == bytes([255, *[0] * 7, 2, *[0] * 7, 3, *[0] * 7, 4, *[0] * 7])
    with pytest.raises(TypeError, match="3 words, the kernel takes 4"):
        marshalled(variables, [1, 2, 3])
    with pytest.raises(TypeError, match="256 does not fit p0"):
        marshalled(variables, [256, 2, 3, 4])
