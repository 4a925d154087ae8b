"""Canonical lines of many boards are those of each board."""

from __future__ import annotations

from itertools import product
from math import isqrt

import numpy as np

from gpusudoku import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import write_lines

SHAPES = ["2x2", "2x3", "3x3", "2x5", "4x4", "5x7", "6x6"]


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


def test_lines() -> None:
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


def test_as_many_lines_as_do_not_fit_in_one_go() -> None:
    cells = some_cells("3x3", 5000)
    assert write_lines(cells).decode().splitlines() == [str(Board(row)) for row in cells]
