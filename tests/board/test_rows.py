"""Rows of text, put together by what is compiled and by Python: the same, and what is meant."""

from __future__ import annotations

from itertools import product
from math import isqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusudoku import Board
from gpusudoku.board import rows
from gpusudoku.board.fields import Fields
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.rows import Rows, distinct_numbers, odd_rows, write_lines
from gpusudoku.kernels.text import write

SHAPES = ["2x2", "2x3", "3x3", "2x5", "4x4", "5x7", "6x6"]


@pytest.fixture(params=["Python", "compiled", "uncompiled"])
def way(request, monkeypatch):
    """Put rows together in each way there is."""
    monkeypatch.setattr(rows, "FEW", 1 << 30 if request.param == "Python" else 0)
    if request.param == "uncompiled":
        monkeypatch.setattr(write, "join", write.join.python)
        monkeypatch.setattr(write, "find_odd", write.find_odd.python)


def some_cells(shape: str, boards: int) -> np.ndarray:
    """Make boards of all digits, the empty board first; they cannot be changed."""
    geometry = Geometry.parse(shape)
    generator = np.random.default_rng(geometry.n)
    cells = generator.integers(0, geometry.n + 1, (boards, geometry.cells)).astype(np.uint8)
    cells[:1] = 0
    cells.setflags(write=False)
    return cells


def line_of(cells: np.ndarray) -> str:
    """Write the canonical line, by its definition."""
    if isqrt(len(cells)) > 35:
        return ",".join(map(str, cells))
    return "".join(".123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[digit] for digit in cells)


def test_lines(way):
    for shape, boards in product(SHAPES, (0, 1, 5)):
        cells = some_cells(shape, boards)
        lines = [line_of(row) for row in cells]
        assert write_lines(cells) == "".join(f"{line}\n" for line in lines).encode()
        assert write_lines(cells, [b":7"]) == "".join(f"{line}:7\n" for line in lines).encode()
        tails = [b":0", b"", b":12345678901234567890123+", ":ä".encode()]
        which = np.arange(boards) % 4
        assert write_lines(cells, tails, which) == b"".join(
            line.encode() + tails[index] + b"\n" for line, index in zip(lines, which, strict=True)
        )


def test_as_many_lines_as_do_not_fit_in_one_go():
    cells = some_cells("3x3", 5000)
    assert write_lines(cells).decode().splitlines() == [str(Board(row)) for row in cells]


def test_pieces_of_all_kinds(way):
    cells = some_cells("2x2", 4)
    fields = Fields.of([("a", "ä"), ("", "x"), ("bb", ""), ("c", "y")])
    for array in (fields.data, fields.starts, fields.ends):
        array.setflags(write=False)
    for part, first in ((fields, 0), (fields.only(slice(1, 4)), 1)):
        some = Rows(len(part))
        some.texts([b"> "])
        some.boards(cells[first:], np.array([True, False, True, False])[first:])
        some.texts([b" one ", b" two "], np.array([0, 1, 1, 0])[first:])
        some.numbers(np.array([0, 7, 10, 2**63 - 1])[first:])
        which = np.array([0, 0, 1, 0])[first:]
        some.fields(part, [[b"|", b"/"], [b";", b""]], which)
        some.texts([b"\n"])
        some.replace(np.array([False, False, False, True])[first:], [b"another\n"])
        expected = [
            f"> {line_of(cells[0])} one |a;ä\n", ">  two 7|;x\n",
            f"> {line_of(cells[2])} two 10/bb\n", "another\n",
        ]  # fmt: skip
        assert bytes(some.joined()).decode() == "".join(expected[first:])


def test_odd_rows(way):
    """Every byte, at both ends of a text of some length and alone, in any of two columns."""
    others = [chr(code) for code in range(128)] + ["ä", "\ud800"]
    long = "x" * 40
    texts = [text for other in others for text in (other, f"{other}{long}", f"{long}{other}")]
    texts += ["", long]
    for sign, place in product([",", "\t", "\\"], [0, 1]):
        fields = Fields.of([("y", text) if place else (text, "y") for text in texts])
        odd = [
            any(not " " <= character <= "~" or character in ('"', sign) for character in text)
            for text in texts
        ]
        assert odd_rows(fields, 2, sign).tolist() == odd
        some = np.arange(len(texts)) % 2 == 0
        assert odd_rows(fields.only(some), 2, sign).tolist() == odd[::2]
        assert odd_rows(fields, 1, sign).any() == (not place)
        assert not odd_rows(fields, 0, sign).any()
    between = Fields(np.frombuffer(b'"ab",', np.uint8), np.array([[1]]), np.array([[3]]))
    assert not odd_rows(between, 1, ",").any()


@given(st.lists(st.one_of(st.integers(0, 5), st.integers(0, 10**30)), max_size=20))
def test_distinct_numbers(numbers):
    fits = max(numbers, default=0) < 1 << 63
    found, which = distinct_numbers(np.array(numbers, np.int64 if fits else object))
    assert found == sorted(set(numbers))
    assert [found[index] for index in which] == numbers
