"""The building blocks of kernels: bit operations, calls of other kernels, groups of arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numba import njit

from gpusudoku.kernels.arguments import Group, array_of, float64, int64, words_of
from gpusudoku.kernels.bits import lowest_index, ones, popcount
from gpusudoku.kernels.compile_cpu import make_caller
from gpusudoku.kernels.kernel import kernel, register_all

ALL_BITS = 2**64 - 1

register_all()


@njit
def compiled_bits(x):  # type: ignore[no-untyped-def]
    return popcount(x), lowest_index(x)


@given(st.integers(1, ALL_BITS))
@example(ALL_BITS)
@example(3 << 62)
def test_bit_operations(value: int) -> None:
    """Plain and compiled functions agree.

    Results are signed, because Numba turns sums of signed and unsigned integers into floats.
    """
    mask = np.uint64(value)
    expected = (value.bit_count(), f"{value:064b}"[::-1].index("1"))
    count, index = compiled_bits(mask)
    assert (count, index) == (popcount(mask), lowest_index(mask)) == expected
    assert -index <= 0


def test_every_single_bit() -> None:
    for bit in range(64):
        mask = np.uint64(1 << bit)
        assert compiled_bits(mask) == (popcount(mask), lowest_index(mask)) == (1, bit)
        assert ones(bit) == 2**bit - 1
    assert popcount(np.uint64(0)) == 0
    assert ones(64) == ALL_BITS
    assert ones(64).dtype == np.uint64


@kernel(int64[::1], float64, returns=float64)
def _sum_scaled(numbers, factor):
    total = 0.0
    for number in numbers:
        total += number * factor
    return total


@kernel(int64[::1])
def _clear(numbers):
    numbers[:] = 0


call_sum_scaled, call_clear = (
    make_caller(called.python, called.signature, called.returns, place)
    for place, called in enumerate((_sum_scaled, _clear))
)


@kernel(int64[::1], int64[::1], returns=float64)
def _sum_and_clear(addresses, numbers):
    total = call_sum_scaled(addresses, numbers, 2)  # the integer is converted to a float
    call_clear(addresses, numbers)
    return total


def test_a_kernel_is_called_at_its_address() -> None:
    """The plain Python function calls the others by name and ignores the addresses."""
    kernel_addresses = [_sum_scaled.address, _clear.address]
    for function, addresses in (
        (_sum_and_clear, kernel_addresses),
        (_sum_and_clear.python, [0, 0]),
    ):
        numbers = np.array([1, 2, 3])
        assert function(np.array(addresses), numbers) == 12.0
        assert numbers.tolist() == [0, 0, 0]


class Numbers(Group):
    """Two arrays, one of which can be read in two ways."""

    counts = array_of(np.uint8, 3)
    table = array_of("table", 2, 8)
    words = words_of("table")


def make_numbers(table_dtype: type = np.int16) -> Numbers:
    return Numbers(table=table_dtype)


@kernel(make_numbers().layout, returns=int64)
def _write(group):
    for i in range(3):
        group.counts[i] = i + 1
    for i in range(2):
        for j in range(8):
            group.table[i, j] = 10 * i + j
    return group.words.shape[1]


def test_compiled_code_and_python_write_the_same_memory_of_a_group() -> None:
    compiled_group = make_numbers()
    plain_group = make_numbers()
    assert _write(compiled_group) == _write.python(plain_group) == 2
    for group in compiled_group, plain_group:
        assert group.counts.tolist() == [1, 2, 3]
        assert group.table.tolist() == [[*range(8)], [*range(10, 18)]]
        assert np.array_equal(group.words.view(np.int16), group.table)
    assert bytes(compiled_group.memory)[:3] == bytes([1, 2, 3])


def test_arrays_of_other_types_are_refused() -> None:
    """Compiled code would access memory outside these arrays."""
    valid_array = np.zeros(3, np.int64)
    wrong_dtype = valid_array.astype(np.int32)
    wrong_dimensions = valid_array[None]
    not_contiguous = np.zeros(6, np.int64)[::2]
    not_aligned = np.frombuffer(bytearray(25), np.int64, 3, 1)
    for array in (wrong_dtype, wrong_dimensions, not_contiguous, not_aligned):
        with pytest.raises(TypeError):
            _clear(array)
    with pytest.raises(TypeError, match="another layout"):
        _write(make_numbers(np.int32))
