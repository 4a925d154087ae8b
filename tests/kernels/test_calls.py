"""Kernels that call other kernels at their addresses."""

from __future__ import annotations

import numpy as np
import pytest
from numba import float64, int64, none

from gpusudoku.kernels.calls import Callee
from gpusudoku.kernels.kernel import kernel


@kernel(int64[::1], float64)
def _scaled(numbers, factor):
    total = 0.0
    for number in numbers:
        total += number * factor
    return total


@kernel(int64[::1])
def _clear(numbers):
    numbers[:] = 0


scaled, clear = Callee(_scaled, float64), Callee(_clear)
call_scaled, call_clear = scaled.caller(0), clear.caller(1)


@kernel(int64[::1], int64[::1])
def _both(addresses, numbers):
    result = call_scaled(addresses, numbers, 2)  # the integer becomes what the kernel takes
    call_clear(addresses, numbers)
    return result


def test_a_kernel_is_called_at_its_address() -> None:
    numbers = np.array([1, 2, 3])
    assert _both(np.array([scaled.address(), clear.address()]), numbers) == 12.0
    assert numbers.tolist() == [0, 0, 0]


def test_plain_python_needs_no_address() -> None:
    numbers = np.array([1, 2, 3])
    assert _both.python(np.array([0, 0]), numbers) == 12.0
    assert numbers.tolist() == [0, 0, 0]


@pytest.mark.parametrize("returns", [none, int64])
def test_nothing_is_called_that_returns_something_else(returns: object) -> None:
    with pytest.raises(AssertionError, match="is called as"):
        Callee(_scaled, returns).address()
