"""Batches of boards with one board on each line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import MAX_DIGITS, Geometry
from gpusudoku.board.places import Origin, Places
from gpusudoku.board.text import DIGITS
from gpusudoku.errors import InputError
from gpusudoku.formats.plain import COMPILED_BOARDS, Run, plain_boards
from gpusudoku.formats.rows import Row, board_of, is_rule
from gpusudoku.formats.source import (
    LONGEST_ROW,
    FormatError,
    Lines,
    UnreadableError,
    Way,
    content,
    quoted,
    single,
)
from gpusudoku.formats.symbols import character_values

GUESSED = {n: box for n in range(1, MAX_DIGITS + 1) if (box := Geometry.of_cells(n * n))}
"""The geometry of every board whose boxes can be guessed, by its number of digits."""

_SEPARATORS = re.compile(rb"[:,;\s]+")


def read_lines(lines: Lines, way: Way) -> Iterator[Batch | InputError]:
    """Read every board of a batch; a line that is no board gives an error in its place.

    Raises
    ------
    UnreadableError
        If the input goes on with grids: two lines in a row are of one.
    """
    origin = Origin(way.source)
    parser, copier = LineParser(way.geometry, way.near), LineCopier(lines, origin)
    for number, line in lines:
        try:
            board = parser.parse(number, line)
        except FormatError as error:
            if parser.is_of_grid(line) and parser.is_of_grid(_coming(lines)):
                raise UnreadableError(
                    "mixed formats: a line of a grid, expected one board on every line", number
                ) from None
            yield error.at(way.source, content(line).strip())
        else:
            if board is not None:
                yield single(board, origin, number)
                yield from copier.follow(line, board.geometry)


def _coming(lines: Lines) -> bytes:
    """Return the next line that is not blank, and leave it to be read; nothing at the end."""
    for number, line in lines:
        if content(line).strip():
            lines.put_back([(number, line)])
            return line
    return b""


class LineCopier:
    """Reads many boards at once, from lines that look like one that was read before.

    It knows only the plainest form; every other line is left to the parser.
    """

    def __init__(self, lines: Lines, origin: Origin) -> None:
        self._lines, self._origin = lines, origin
        self._run = Run()

    def follow(self, line: bytes, geometry: Geometry) -> Iterator[Batch]:
        """Read on after a board's line while the lines at hand are boards of the same form."""
        end = line[geometry.cells :]
        if geometry.n > len(DIGITS) or end not in (b"\n", b"\r\n"):
            return
        while True:
            data, run = self._lines.at_hand(), self._run
            most = min(run.lines, len(data) // len(line))
            starts = np.arange(_alike(data, end, most, len(line))) * len(line)
            compiled = run.boards >= COMPILED_BOARDS
            cells = plain_boards(data, starts, geometry.n, compiled=compiled)
            run.took(most, len(cells))
            if not len(cells):
                return
            number = self._lines.skip(len(cells), len(cells) * len(line))
            places = Places.of(self._origin, np.arange(number, number + len(cells)))
            yield Batch(geometry, cells, places=places)


def _alike(data: NDArray[np.uint8], end: bytes, most: int, size: int) -> int:
    """The number of lines up to the first that has another size or another end."""
    lines = data[: most * size].reshape(most, size)
    alike = lines[:, -1] == end[-1]
    if len(end) > 1:
        alike &= lines[:, -2] == end[0]
    return most if alike.all() else int(alike.argmin())


def _check_numbered(number: int, board: Board, behind: bytes) -> None:
    """Refuse a line where a larger board stands behind the colon than before it."""
    parser = LineParser(None)
    for piece in (*behind.split(b":"), *_SEPARATORS.split(behind)):
        if len(piece) > board.geometry.cells:
            try:
                other = parser.parse(number, piece)
            except FormatError:
                continue
            if other is not None and other.n > board.n:
                raise FormatError(
                    f"a line that reads two ways: {quoted(board)} before a colon or "
                    f"{quoted(other)} behind it",
                    number,
                )


class LineParser:
    """Reads boards on one line each, all of one geometry if one is given.

    If none is, but one is ``near``, this is the guess for boards with as many cells.
    """

    def __init__(self, geometry: Geometry | None, near: Geometry | None = None) -> None:
        self._geometry, self._near = geometry, near
        self._last = geometry
        guessed = [*GUESSED.values(), near] if near is not None else GUESSED.values()
        geometries = guessed if geometry is None else [geometry]
        self._by_length = {g.cells: g for g in geometries if g.n <= len(DIGITS)}

    def parse(self, number: int, line: bytes) -> Board | None:
        """Read the board on a line; None if the line is blank or a comment.

        Raises
        ------
        FormatError
            If the line is anything else.
        """
        text, _, behind = line.partition(b":")
        board = self._parse(number, line, text.strip())
        if board is not None and self._geometry is None and len(behind) > len(text):
            _check_numbered(number, board, behind)
        return board

    def refuse_one_cell(self, number: int, board: Board) -> None:
        """Complain about a board of one cell: in a table that is the sign of a missing board.

        Raises
        ------
        FormatError
            If it has one cell, and no shape is given.
        """
        if board.n == 1 and self._geometry is None:
            raise FormatError("1 cell makes no board: a missing one, or give --box 1x1", number)

    def _parse(self, number: int, line: bytes, text: bytes) -> Board | None:
        geometry = self._by_length.get(len(text))
        if geometry is not None and (b"-" not in text or not is_rule(text)):
            try:
                board = Board(character_values(text, geometry.n), geometry)
            except InputError:
                pass  # The line is of a rarer form, or wrong: this takes a closer look.
            else:
                self._last = geometry
                return board
        text = content(line)
        return self._parse_other(number, text) if text.strip() else None

    def is_of_grid(self, line: bytes) -> bool:
        """Whether a line that is no board looks like a row or a rule of a grid."""
        text = content(line)
        if len(text) > LONGEST_ROW:
            return False
        counts = Row(0, text).counts
        is_row = self._last is not None and self._last.n in counts and self._last.n > 1
        return is_row or b"|" in text or is_rule(text)

    def _parse_other(self, number: int, text: bytes) -> Board:
        """Read a line that is not just the characters of a board."""
        if len(text) > LONGEST_ROW:
            raise FormatError(f"a line of {LONGEST_ROW} bytes or more, expected a board", number)
        row = Row(number, text.partition(b":")[0])
        if is_rule(row.text):
            raise FormatError("a line of dashes, expected a board", number)
        if 0 < row.filled == len(row.tokens):
            raise FormatError("nothing between commas, expected a board", number)
        geometry = self._geometry or self._guess(row)
        if geometry is None or geometry.cells not in row.counts:
            row.check_characters()
            raise FormatError(self._wrong_length(row), number)
        board = board_of([row], geometry.cells, geometry)
        self._last = geometry
        return board

    def _guess(self, row: Row) -> Geometry | None:
        """The geometry that fits the number of cells, None if that number is no square."""
        if self._near is not None and self._near.cells in row.counts:
            return self._near
        squares = [count for count in row.counts if count == isqrt(count) ** 2 > 0]
        if not squares:
            return None
        count = next((count for count in squares if isqrt(count) in GUESSED), squares[0])
        try:
            return Geometry.of_size(isqrt(count))
        except InputError as error:
            row.check_characters()
            raise FormatError(f"{count} cells: {error}", row.line) from None

    def _wrong_length(self, row: Row) -> str:
        if self._geometry is not None:
            cells = self._geometry.cells
            found = row.count_near(cells)
            return f"{found} cells, expected {cells} for a board with boxes of {self._geometry}"
        # A token longer than any number is a run of characters.
        found = row.counts[0 if max(map(len, row.tokens), default=0) <= 2 else -1]
        n = min(GUESSED.keys() - {1}, key=lambda n: abs(n * n - found))
        return f"{found} cells make no board, the nearest is {n}x{n} with {n * n}"
