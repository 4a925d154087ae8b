"""Boards and texts that the tests of the formats share, and readers that show what came of them."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from gpusudoku import formats
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError
from tests.boards import pattern

SHAPES = ["1x1", "1x2", "2x2", "5x1", "2x3", "3x2", "3x3", "2x5", "4x4", "5x5", "5x7", "6x6", "8x8"]
GEOMETRIES = list(map(Geometry.parse, SHAPES))
LINE = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
ROWS = [LINE[i : i + 9] for i in range(0, 81, 9)]
GRID = "\n".join(ROWS)
BOARD = Board([int(c) for c in LINE.replace(".", "0")])
SYMBOLS = "expected digits, letters or one of . 0 * _ - ?"
BOXES = Geometry(3, 3)


class Entry(NamedTuple):
    """A board that was read, and the number of its first line."""

    board: Board
    line: int


def read_stream(
    stream: BinaryIO, source: str, geometry: Geometry | None = None
) -> Iterator[Entry | InputError]:
    """Read a stream board by board."""
    for found in formats.read_stream(stream, formats.ReadOptions(source, geometry)):
        if isinstance(found, InputError):
            yield found
        else:
            assert found.locations is not None
            yield from map(Entry, found, found.locations.lines.tolist())


def solution(geometry: Geometry) -> Board:
    """Make a full board without conflicts."""
    return Board(pattern(geometry).ravel(), geometry)


def read(text: str | bytes, geometry: Geometry | None = None) -> list[Entry]:
    """Read all entries of a text, none of which may be an error."""
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
        f'give the box (box="1x{n}" is a Latin square)'
    )
