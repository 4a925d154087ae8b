"""Tools for kernels: bit operations, calls of other kernels, groups of arrays."""

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
def test_bits_are_counted_and_located(value: int) -> None:
    """Plain and compiled code agree. Results are signed: Numba makes floats of mixed sums."""
    number = np.uint64(value)
    expected = (value.bit_count(), f"{value:064b}"[::-1].index("1"))
    bits = compiled_bits(number)
    assert bits == (popcount(number), lowest_index(number)) == expected
    assert -bits[1] <= 0


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
    caller(callee.python, callee.signature, callee.returns, index)
    for index, callee in enumerate((_scaled, _clear))
)


@kernel(int64[::1], int64[::1], returns=float64)
def _scale_and_clear(addresses, numbers):
    total = call_scaled(addresses, numbers, 2)  # the integer becomes the float that is expected
    call_clear(addresses, numbers)
    return total


def test_a_kernel_is_called_at_its_address() -> None:
    """Plain Python ignores the addresses."""
    compiled_call = _scale_and_clear, [_scaled.address, _clear.address]
    plain_call = _scale_and_clear.python, [0, 0]
    for function, addresses in compiled_call, plain_call:
        numbers = np.array([1, 2, 3])
        assert function(np.array(addresses), numbers) == 12.0
        assert numbers.tolist() == [0, 0, 0]


class Numbers(Group):
    """Two arrays, one of which can be read in two ways."""

    row = array_of(np.uint8, 3)
    table = array_of("table", 2, 8)
    table_words = words_of("table")


def make_numbers(table: type = np.int16) -> Numbers:
    return Numbers(table=table)


@kernel(make_numbers().layout, returns=int64)
def _write(group):
    for i in range(3):
        group.row[i] = i + 1
    for i in range(2):
        for j in range(8):
            group.table[i, j] = 10 * i + j
    return group.table_words.shape[1]


def test_compiled_code_and_python_write_the_same_memory_of_a_group() -> None:
    by_kernel = make_numbers()
    by_python = make_numbers()
    assert _write(by_kernel) == _write.python(by_python) == 2
    for group in by_kernel, by_python:
        assert group.row.tolist() == [1, 2, 3]
        assert group.table.tolist() == [[*range(8)], [*range(10, 18)]]
        assert np.array_equal(group.table_words.view(np.int16), group.table)
    assert bytes(by_kernel.memory)[:3] == bytes([1, 2, 3])


def test_arrays_of_other_types_are_refused() -> None:
    """Compiled code would read or write memory outside of the array."""
    numbers = np.zeros(3, np.int64)
    other_dtype = numbers.astype(np.int32)
    other_dimensions = numbers[None]
    not_contiguous = np.zeros(6, np.int64)[::2]
    not_aligned = np.frombuffer(bytearray(25), np.int64, 3, 1)
    for array in other_dtype, other_dimensions, not_contiguous, not_aligned:
        with pytest.raises(TypeError):
            _clear(array)
    with pytest.raises(TypeError, match="another layout"):
        _write(make_numbers(np.int32))
