"""Bytes that are looked at together: what is compiled means what the plain functions say."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from gpusudoku.board.text import write_cells as line_of
from gpusudoku.kernels.text import wide
from gpusudoku.kernels.text.values import QUOTE, WIDE


@njit
def compiled_stops(data, place, stop, last):  # type: ignore[no-untyped-def]
    return wide.stops(data, place, np.uint8(stop)), wide.stops(data, place, np.uint8(stop), last)


@njit
def compiled_differences(data, place, others, other):  # type: ignore[no-untyped-def]
    return wide.differences(data, place, others, other)


@njit
def compiled_copy(data, place, others, other):  # type: ignore[no-untyped-def]
    wide.copy(data, place, others, other)


@njit
def compiled_write_cells(data, place, others, other):  # type: ignore[no-untyped-def]
    wide.write_cells(data, place, others, other)


@njit
def compiled_unite(data, place, others, other, out, at):  # type: ignore[no-untyped-def]
    wide.unite(data, place, others, other, out, at)


@njit
def compiled_unite_three(data, place, byte, out, at):  # type: ignore[no-untyped-def]
    wide.unite_three(data, place, byte, out, at)


ALL = np.arange(256 + WIDE).astype(np.uint8)
"""Every byte, and some behind them."""


@pytest.mark.parametrize("place", [0, 1, 31, 33, 100, 255])
@pytest.mark.parametrize("stop", [ord(","), ord("\\"), 200])
def test_stops(place: int, stop: int) -> None:
    whole, printable = compiled_stops(ALL, place, stop, np.uint8(126))
    assert whole == wide.stops(ALL, place, stop)
    assert printable == wide.stops(ALL, place, stop, 126)
    meant = [symbol in (stop, QUOTE) or symbol < 32 for symbol in ALL[place : place + WIDE]]
    assert f"{int(whole):0{WIDE}b}"[::-1] == "".join(str(int(each)) for each in meant)


@pytest.mark.parametrize("place", range(WIDE + 2))
def test_differences(place: int) -> None:
    others = ALL.copy()
    others[place] += 1
    for start in (0, 1):
        found = compiled_differences(ALL, start, others, start)
        assert found == wide.differences(ALL, start, others, start)
        assert found == (1 << (place - start) if 0 <= place - start < WIDE else 0)


def test_copies() -> None:
    plain, compiled = np.zeros((2, 80), np.uint8)
    wide.copy(ALL, 50, plain, 3)
    compiled_copy(ALL, 50, compiled, 3)
    assert (plain == compiled).all()
    assert compiled.nonzero()[0].tolist() == [*range(3, 3 + WIDE)]


def test_unions() -> None:
    plain, compiled = np.zeros((2, 80), np.uint8)
    wide.unite(ALL, 50, ALL, 7, plain, 3)
    compiled_unite(ALL, 50, ALL, 7, compiled, 3)
    assert (plain == compiled).all()
    assert compiled.tolist() == [0] * 3 + [(50 + k) | (7 + k) for k in range(WIDE)] + [0] * 45


@pytest.mark.parametrize("byte", [0, ord("0"), 129])
def test_three_bytes(byte: int) -> None:
    plain, compiled = np.full((2, 9), 200, np.uint8)
    wide.unite_three(ALL, 5, np.uint8(byte), plain, 3)
    compiled_unite_three(ALL, 5, np.uint8(byte), compiled, 3)
    assert (plain == compiled).all()
    assert compiled.tolist() == [200] * 3 + [5 | byte, 6 | byte, 7 | byte] + [200] * 3


def test_cells() -> None:
    cells = ALL[:36]
    line = line_of(cells[:35]) + "Z"
    for place in (0, 4):
        plain, compiled = np.zeros((2, 80), np.uint8)
        wide.write_cells(cells, place, plain, 3)
        compiled_write_cells(cells, place, compiled, 3)
        assert (plain == compiled).all()
        assert compiled.tobytes().strip(b"\0").decode() == line[place : place + WIDE]
