"""The plain and the compiled meaning of the bit operations agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numba import njit

from gpusudoku.kernels.bits import lowest_index, popcount

ALL = 2**64 - 1


@njit
def compiled_popcount(x):  # type: ignore[no-untyped-def]
    return popcount(x)


@njit
def compiled_lowest_index(x):  # type: ignore[no-untyped-def]
    return lowest_index(x)


@given(st.integers(0, ALL))
@example(0)
@example(ALL)
@example(1 << 63)
@example(ALL - 1)
def test_popcount(value: int) -> None:
    assert popcount(np.uint64(value)) == f"{value:b}".count("1")
    assert compiled_popcount(np.uint64(value)) == f"{value:b}".count("1")


@given(st.integers(1, ALL))
@example(ALL)
@example(1 << 63)
@example(3 << 62)
def test_lowest_index(value: int) -> None:
    index = f"{value:064b}"[::-1].index("1")
    assert lowest_index(np.uint64(value)) == index
    assert compiled_lowest_index(np.uint64(value)) == index


@pytest.mark.parametrize("bit", range(64))
def test_every_single_bit(bit: int) -> None:
    x = np.uint64(1 << bit)
    assert popcount(x) == compiled_popcount(x) == 1
    assert lowest_index(x) == compiled_lowest_index(x) == bit


def test_compiled_results_are_signed() -> None:
    """They are shifted by and subtracted from: unsigned ones would turn sums into floats."""
    assert isinstance(compiled_popcount(np.uint64(ALL)), int)
    assert -compiled_lowest_index(np.uint64(1 << 63)) == -63
