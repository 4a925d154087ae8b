"""What kernels are written with: bit operations, calls of other kernels, groups of arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numba import njit

from gpusudoku.kernels.arguments import Group, array_of, float64, int64, words_of
from gpusudoku.kernels.bits import lowest_index, ones, popcount
from gpusudoku.kernels.compile_cpu import caller
from gpusudoku.kernels.kernel import kernel, register_all

ALL = 2**64 - 1

register_all()


@njit
def compiled_bits(x):  # type: ignore[no-untyped-def]
    return popcount(x), lowest_index(x)


@given(st.integers(1, ALL))
@example(ALL)
@example(3 << 62)
def test_bits_are_counted_and_found(value: int) -> None:
    """By plain and by compiled code; signed, as unsigned ones would turn sums into floats."""
    number = np.uint64(value)
    expected = (value.bit_count(), f"{value:064b}"[::-1].index("1"))
    found = compiled_bits(number)
    assert found == (popcount(number), lowest_index(number)) == expected
    assert -found[1] <= 0


def test_every_single_bit() -> None:
    for bit in range(64):
        number = np.uint64(1 << bit)
        assert compiled_bits(number) == (popcount(number), lowest_index(number)) == (1, bit)
        assert ones(bit) == 2**bit - 1
    assert popcount(np.uint64(0)) == 0
    assert ones(64) == ALL
    assert ones(64).dtype == np.uint64


@kernel(int64[::1], float64, returns=float64)
def _scaled(numbers, factor):
    total = 0.0
    for number in numbers:
        total += number * factor
    return total


@kernel(int64[::1])
def _clear(numbers):
    numbers[:] = 0


call_scaled, call_clear = (
    caller(one.python, one.signature, one.returns, place)
    for place, one in enumerate((_scaled, _clear))
)


@kernel(int64[::1], int64[::1], returns=float64)
def _both(addresses, numbers):
    result = call_scaled(addresses, numbers, 2)  # the integer becomes what the kernel takes
    call_clear(addresses, numbers)
    return result


def test_a_kernel_is_called_at_its_address() -> None:
    """Plain Python needs none."""
    for function, addresses in (_both, [_scaled.address, _clear.address]), (_both.python, [0, 0]):
        numbers = np.array([1, 2, 3])
        assert function(np.array(addresses), numbers) == 12.0
        assert numbers.tolist() == [0, 0, 0]


class Numbers(Group):
    """Two arrays, one of which can be read in two ways."""

    few = array_of(np.uint8, 3)
    many = array_of("many", 2, 8)
    words = words_of("many")


def numbers(many: type = np.int16) -> Numbers:
    return Numbers(many=many)


@kernel(numbers().layout, returns=int64)
def _write(group):
    for i in range(3):
        group.few[i] = i + 1
    for i in range(2):
        for j in range(8):
            group.many[i, j] = 10 * i + j
    return group.words.shape[1]


def test_compiled_code_and_python_write_the_same_memory_of_a_group() -> None:
    compiled = numbers()
    plain = numbers()
    assert _write(compiled) == _write.python(plain) == 2
    for group in compiled, plain:
        assert group.few.tolist() == [1, 2, 3]
        assert group.many.tolist() == [[*range(8)], [*range(10, 18)]]
        assert np.array_equal(group.words.view(np.int16), group.many)
    assert bytes(compiled.memory)[:3] == bytes([1, 2, 3])


def test_arrays_of_other_types_are_refused() -> None:
    """Compiled code would read, or write, memory that is not theirs."""
    three = np.zeros(3, np.int64)
    wrong = [three.astype(np.int32), three[None], np.zeros(6, np.int64)[::2]]
    wrong.append(np.frombuffer(bytearray(25), np.int64, 3, 1))
    for array in wrong:
        with pytest.raises(TypeError):
            _clear(array)
    with pytest.raises(TypeError, match="another layout"):
        _write(numbers(np.int32))
