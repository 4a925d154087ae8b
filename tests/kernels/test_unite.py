"""Bytes united at once: what is compiled means what the plain functions say."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from gpusudoku.kernels.contraction.nine.strips import WIDE, unite, unite_three

PLACES = st.integers(0, 3)
BYTES = st.integers(0, 255)
MANY = st.lists(BYTES, min_size=WIDE + 3, max_size=WIDE + 3)


def at_once(data, place, others, other, byte, out):  # type: ignore[no-untyped-def]
    """Unite in both ways."""
    unite(data, place, others, other, out[0], 3)
    unite_three(data, place, byte, out[1], 3)


compiled_at_once = njit(at_once)


@given(MANY, MANY, PLACES, PLACES, BYTES)
def test_bytes_that_are_united(
    symbols: list[int], more: list[int], place: int, other: int, byte: int
) -> None:
    data = np.array(symbols, np.uint8)
    others = np.array(more, np.uint8)
    plain, compiled = np.full((2, 2, 48), 7, np.uint8)
    given = data, place, others, other, np.uint8(byte)
    at_once(*given, plain)
    compiled_at_once(*given, compiled)
    assert (plain == compiled).all()
    some = data[place : place + WIDE]
    meant = [some | others[other : other + WIDE], some[:3] | np.uint8(byte)]
    for row, written in zip(plain, meant, strict=True):
        assert row.tolist() == [7] * 3 + written.tolist() + [7] * (45 - len(written))
