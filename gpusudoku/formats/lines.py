"""Batches with one board on a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isqrt

from gpusudoku.board import Board
from gpusudoku.errors import InputError
from gpusudoku.formats.rows import RULE, Row, board_of
from gpusudoku.formats.source import Entry, FormatError, NumberedLine, UnreadableError, content
from gpusudoku.formats.symbols import DIGITS, character_values
from gpusudoku.geometry import MAX_DIGITS, Geometry


def _guesses() -> Iterator[tuple[int, Geometry]]:
    for n in range(1, MAX_DIGITS + 1):
        try:
            yield n, Geometry.of_size(n)
        except InputError:
            continue


GUESSED = dict(_guesses())
"""The geometry of every board whose boxes can be guessed, by its number of digits."""


def read_lines(
    lines: Iterable[NumberedLine], source: str, geometry: Geometry | None
) -> Iterator[Entry | InputError]:
    """Every board of a batch, and in place of a line that is none what is wrong with it.

    Raises
    ------
    UnreadableError
        If the batch turns into grids.
    """
    parser = LineParser(geometry)
    for number, line in lines:
        try:
            board = parser.parse(number, line)
        except FormatError as error:
            if parser.is_of_grid(line):
                raise UnreadableError(
                    "mixed formats: a line of a grid, expected one board on every line", number
                ) from None
            yield error.at(source)
        else:
            if board is not None:
                yield Entry(board, number)


class LineParser:
    """Reads boards that stand on one line each, all of one geometry if that is given."""

    def __init__(self, geometry: Geometry | None) -> None:
        self._geometry = geometry
        self._last = geometry
        geometries = GUESSED.values() if geometry is None else [geometry]
        self._by_length = {g.cells: g for g in geometries if g.n <= len(DIGITS)}

    def parse(self, number: int, line: bytes) -> Board | None:
        """Read the board on a line, None if there is nothing but blanks and a comment.

        Raises
        ------
        FormatError
            If there is anything else.
        """
        text = line.partition(b":")[0].strip()
        geometry = self._by_length.get(len(text))
        if geometry is not None:
            try:
                board = Board(character_values(text, geometry.n), geometry)
            except InputError:
                pass  # Something less common, or wrong: this takes a closer look.
            else:
                self._last = geometry
                return board
        text = content(line)
        return self._parse_other(number, text) if text.strip() else None

    def is_of_grid(self, line: bytes) -> bool:
        """Whether a line that is no board looks like a row or a rule of a grid."""
        text = content(line)
        counts = Row(0, text).counts
        is_row = self._last is not None and self._last.n in counts and self._last.n > 1
        return is_row or b"|" in text or RULE.fullmatch(text) is not None

    def _parse_other(self, number: int, text: bytes) -> Board:
        """Read a line that is more than the characters of a board."""
        row = Row(number, text.partition(b":")[0])
        geometry = self._geometry or self._guess(row)
        if geometry is None or geometry.cells not in row.counts:
            row.check_characters()
            raise FormatError(self._wrong_length(row), number)
        board = board_of([row], geometry.cells, geometry)
        self._last = geometry
        return board

    def _guess(self, row: Row) -> Geometry | None:
        """Return the geometry that fits the number of cells, None if this is no square."""
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
        # What is longer than any number is a run of characters.
        found = row.counts[0 if max(map(len, row.tokens), default=0) <= 2 else -1]
        n = min(GUESSED, key=lambda n: abs(n * n - found))
        return f"{found} cells make no board, the nearest is {n}x{n} with {n * n}"
