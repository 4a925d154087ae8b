"""Bytes that are united by vector instructions: compiled and plain functions agree."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from gpusudoku.kernels.contraction.nine.strips import WIDE, unite, unite_three

STARTS = st.integers(0, 3)
BYTES = st.integers(0, 255)
ROWS = st.lists(BYTES, min_size=WIDE + 3, max_size=WIDE + 3)


def unite_rows(a, a_start, b, b_start, byte, out):  # type: ignore[no-untyped-def]
    """Write a row with ``unite`` and one with ``unite_three``, each from index 3 on."""
    unite(a, a_start, b, b_start, out[0], 3)
    unite_three(a, a_start, byte, out[1], 3)


jitted_unite_rows = njit(unite_rows)


@given(ROWS, ROWS, STARTS, STARTS, BYTES)
def test_bytes_that_are_united(
    a_bytes: list[int], b_bytes: list[int], a_start: int, b_start: int, byte: int
) -> None:
    a = np.array(a_bytes, np.uint8)
    b = np.array(b_bytes, np.uint8)
    plain_rows, jitted_rows = np.full((2, 2, 48), 7, np.uint8)  # 7: bytes that nobody writes
    unite_rows(a, a_start, b, b_start, np.uint8(byte), plain_rows)
    jitted_unite_rows(a, a_start, b, b_start, np.uint8(byte), jitted_rows)
    assert (plain_rows == jitted_rows).all()

    segment = a[a_start : a_start + WIDE]
    united = segment | b[b_start : b_start + WIDE]
    united_three = segment[:3] | np.uint8(byte)
    for row, expected in zip(plain_rows, [united, united_three], strict=True):
        assert row.tolist() == [7] * 3 + expected.tolist() + [7] * (45 - len(expected))
