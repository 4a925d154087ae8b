"""Groups of arrays: for Python attributes, for compiled code one address."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import typeof
from numpy.typing import NDArray

from gpusudoku.kernels.groups import LINE, Group
from gpusudoku.kernels.kernel import kernel


class Numbers(Group):
    """Two arrays, one of which can be read in two ways."""

    few: NDArray[np.uint8]
    many: NDArray[np.int16]
    words: NDArray[np.int64]


def numbers(many: int = 8) -> Numbers:
    return Numbers(few=(np.uint8, (3,)), many=(np.int16, (2, many)), words="many")


@kernel(typeof(numbers()))
def _write(group):
    for i in range(3):
        group.few[i] = i + 1
    for i in range(2):
        for j in range(8):
            group.many[i, j] = 10 * i + j
    return group.words.shape[1]


def test_compiled_code_and_python_write_the_same_memory() -> None:
    compiled, plain = numbers(), numbers()
    assert _write(compiled) == _write.python(plain) == 2
    for group in compiled, plain:
        assert group.few.tolist() == [1, 2, 3]
        assert group.many.tolist() == [[*range(8)], [*range(10, 18)]]
        assert np.array_equal(group.words.view(np.int16), group.many)
    assert bytes(compiled.data)[:3] == bytes([1, 2, 3])


def test_arrays_begin_at_lines() -> None:
    group = numbers()
    assert group.many.ctypes.data - group.few.ctypes.data == LINE
    assert len(group.data) == 2 * LINE


def test_the_type_depends_on_the_arrays_alone() -> None:
    assert typeof(numbers()) == typeof(numbers()) != typeof(numbers(many=12))


def test_a_group_holds_copies() -> None:
    array: NDArray[Any] = np.arange(4)
    group = Group.holding(array=array)
    array[:] = 0
    assert vars(group)["array"].tolist() == [0, 1, 2, 3]
