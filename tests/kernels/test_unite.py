"""Bytes united at once: the compiled functions mean what the plain functions say."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from gpusudoku.kernels.contraction.nine.unite import WIDE, unite, unite_three
from gpusudoku.kernels.kernel import register_all

register_all()

STARTS = st.integers(0, 3)
BYTES = st.integers(0, 255)
BYTE_LISTS = st.lists(BYTES, min_size=WIDE + 3, max_size=WIDE + 3)
TARGET_START = 3
TARGET_SIZE = 48
UNTOUCHED = 7
"""What is in a target before bytes are written to it."""


def unite_both_ways(bytes_1, start_1, bytes_2, start_2, byte, targets):  # type: ignore[no-untyped-def]
    """Write targets[0] by ``unite`` and targets[1] by ``unite_three``."""
    unite(bytes_1, start_1, bytes_2, start_2, targets[0], TARGET_START)
    unite_three(bytes_1, start_1, byte, targets[1], TARGET_START)


compiled_unite_both_ways = njit(unite_both_ways)


@given(BYTE_LISTS, BYTE_LISTS, STARTS, STARTS, BYTES)
def test_compiled_functions_unite_the_same_bytes(
    list_1: list[int], list_2: list[int], start_1: int, start_2: int, byte: int
) -> None:
    bytes_1 = np.array(list_1, np.uint8)
    bytes_2 = np.array(list_2, np.uint8)
    plain = np.full((2, TARGET_SIZE), UNTOUCHED, np.uint8)
    compiled = plain.copy()
    unite_both_ways(bytes_1, start_1, bytes_2, start_2, np.uint8(byte), plain)
    compiled_unite_both_ways(bytes_1, start_1, bytes_2, start_2, np.uint8(byte), compiled)
    assert (plain == compiled).all()

    window_1 = bytes_1[start_1 : start_1 + WIDE]
    window_2 = bytes_2[start_2 : start_2 + WIDE]
    expected = [window_1 | window_2, window_1[:3] | np.uint8(byte)]
    for target, written_bytes in zip(plain, expected, strict=True):
        end = TARGET_START + len(written_bytes)
        assert target[TARGET_START:end].tolist() == written_bytes.tolist()
        assert (target[:TARGET_START] == UNTOUCHED).all()
        assert (target[end:] == UNTOUCHED).all()
