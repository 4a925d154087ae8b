"""Tables: one of the columns holds the boards, with or without a header line above."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.fields import Fields
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.places import Origin
from gpusudoku.board.text import DIGITS
from gpusudoku.errors import InputError, shown
from gpusudoku.formats.copying import FieldCopier, Spans
from gpusudoku.formats.headers import Header, fields_of
from gpusudoku.formats.lines import LineParser
from gpusudoku.formats.source import FormatError, Lines, Way, single


def read_table(lines: Lines, way: Way, header: Header) -> Iterator[Batch | InputError]:
    """Read the board of every line; a line without one gives an error in its place."""
    parser = LineParser(way.geometry, way.near)
    origin = Origin(way.source, header.others(header.names))
    copier = FieldCopier(lines)
    for number, line in lines:
        if number <= header.line or not line.strip():
            continue
        if line.startswith(b"#"):
            if _is_row(number, line, way, header):
                yield FormatError(
                    f"{shown(line.strip())} reads two ways, as a comment or as a row", number
                ).at(way.source, line.strip(), origin.columns)
            continue
        fields: list[bytes] = []
        try:
            fields = _fields(number, line, header)
            board = _board(parser, number, line, header, fields)
        except FormatError as error:
            known = [*fields, *[b""] * len(header.names)][: len(header.names)]
            others = texts_of(header.others(known))
            yield error.at(way.source, known[header.column], origin.columns, others)
        else:
            yield single(board, origin, number, texts_of(header.others(fields)))
            if copier.parsed() and board.n <= len(DIGITS):
                yield from copier.follow(_Rows(board.geometry, origin, header))


def texts_of(fields: Iterable[bytes]) -> tuple[str, ...]:
    """What stands in some fields, as text."""
    return tuple(field.decode(errors="replace") for field in fields)


class _Rows:
    """Rows like one that was read: see :class:`Form`.

    Fields have quotes around them or none, and the board is as long as it was.
    """

    def __init__(self, geometry: Geometry, origin: Origin, header: Header) -> None:
        self.geometry, self.origin = geometry, origin
        self.columns, self._column = len(header.names), header.column
        self.shortest = geometry.cells + self.columns
        self._delimiter = ord(header.delimiter)

    def cut(self, data: NDArray[np.uint8], spans: Spans) -> int:
        """See the protocol."""
        from gpusudoku.kernels.text.rows import cut_rows  # Numba takes long to import

        cells = self.geometry.cells
        rows: int = cut_rows(data, self._delimiter, self._column, cells, *spans)
        return rows

    def fields(self, data: NDArray[np.uint8], spans: Spans) -> Fields:
        """See the protocol."""
        return Fields(data, *spans.others)


def _is_row(number: int, line: bytes, way: Way, header: Header) -> bool:
    """Whether a line that begins with ``#`` has all fields, and a board in the right one."""
    try:
        parser = LineParser(way.geometry, way.near)
        _board(parser, number, line, header, _fields(number, line, header))
    except FormatError:
        return False
    return True


def _fields(number: int, line: bytes, header: Header) -> list[bytes]:
    """Split a line into its fields."""
    try:
        fields = fields_of(line, header.delimiter)
    except csv.Error as error:
        raise FormatError(
            f"{error}, expected every quoted field to end on its line", number
        ) from None
    return fields


def _board(
    parser: LineParser, number: int, line: bytes, header: Header, fields: Sequence[bytes]
) -> Board:
    """Read the board of one line."""
    if len(fields) != len(header.names):
        # More are wrong, too: of unquoted numbers, the first would be taken for a board.
        raise FormatError(f"{len(fields)} fields, expected {len(header.names)}", number)
    text = fields[header.column]
    try:
        board = parser.parse(number, text)
    except FormatError as error:
        # The fields before the board are at least this long; quotes may add to that.
        place = line.find(text, sum(len(field) + 1 for field in fields[: header.column]))
        if error.column is not None and place > 0:
            error.column += len(line[:place].decode(errors="replace"))
        raise
    if board is None:
        raise FormatError(f"column {header.column + 1} is empty, expected a board", number)
    parser.refuse_one_cell(number, board)
    return board
