"""Boards and texts that the tests of the formats share, and readers that show what came of them."""

from __future__ import annotations

import io

import numpy as np

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError
from gpusudoku.formats import Entry, read_stream

SHAPES = [(1, 1), (1, 2), (2, 2), (1, 5), (5, 1), (2, 3), (3, 2), (3, 3), (2, 5), (5, 2)]
SHAPES += [(4, 4), (2, 8), (5, 5), (5, 7), (6, 6), (8, 8)]
GEOMETRIES = [Geometry(*shape) for shape in SHAPES]
LINE = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
ROWS = [LINE[i : i + 9] for i in range(0, 81, 9)]
GRID = "\n".join(ROWS)
BOARD = Board([int(c) for c in LINE.replace(".", "0")])
SYMBOLS = "expected digits, letters or one of . 0 * _ - ?"
BOXES = Geometry(3, 3)


def solution(geometry: Geometry) -> Board:
    """Make a full board without conflicts."""
    row, column = np.divmod(np.arange(geometry.cells), geometry.n)
    shift = row % geometry.box_rows * geometry.box_columns + row // geometry.box_rows
    return Board((column + shift) % geometry.n + 1, geometry)


def read(text: str | bytes, geometry: Geometry | None = None) -> list[Entry]:
    """All entries of a text, none of which may be an error."""
    data = text.encode() if isinstance(text, str) else text
    entries = list(read_stream(io.BytesIO(data), "text", geometry))
    assert all(isinstance(entry, Entry) for entry in entries), entries
    return [entry for entry in entries if isinstance(entry, Entry)]


def report(data: str | bytes, geometry: Geometry | None = None) -> list[str]:
    """Read, and show every entry as its error or as the line where the board starts."""
    stream = io.BytesIO(data.encode() if isinstance(data, str) else data)
    entries = read_stream(stream, "f", geometry)
    return [str(e) if isinstance(e, InputError) else f"board {e.line}" for e in entries]


def changed(text: str, line: int, column: int, new: str) -> str:
    """Replace the character at a place, both numbers from 1."""
    lines = text.split("\n")
    lines[line - 1] = lines[line - 1][: column - 1] + new + lines[line - 1][column:]
    return "\n".join(lines)


def no_box(n: int) -> str:
    """Write what is said of a board whose boxes cannot be guessed."""
    return (
        f"a board of {n} rows has no boxes of at least 2 rows: "
        f"give the box (--box 1x{n} is a Latin square)"
    )
