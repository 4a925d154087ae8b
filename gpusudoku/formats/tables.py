"""Tables: one of the columns holds the boards, with or without a header line above."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.fields import Fields
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.places import Origin, Places
from gpusudoku.board.text import DIGITS
from gpusudoku.errors import InputError, shown
from gpusudoku.formats.headers import Header, fields_of
from gpusudoku.formats.lines import LineParser
from gpusudoku.formats.source import FormatError, Lines, Way, single
from gpusudoku.formats.symbols import plain_boards


def read_table(lines: Lines, way: Way, header: Header) -> Iterator[Batch | InputError]:
    """Read the board of every line; a line without one gives an error in its place."""
    parser, origin = LineParser(way.geometry), Origin(way.source, header.others(header.names))
    for number, line in lines:
        if number <= header.line or not line.strip():
            continue
        if line.startswith(b"#"):
            if _is_row(number, line, way, header):
                yield FormatError(
                    f"{shown(line.strip())} reads two ways, as a comment or as a row", number
                ).at(way.source)
            continue
        try:
            board, fields = _row(parser, number, line, header)
        except FormatError as error:
            yield error.at(way.source)
        else:
            yield single(board, origin, number, texts_of(header.others(fields)))
            yield from _follow(lines, origin, header, board.geometry)


def texts_of(fields: Iterable[bytes]) -> tuple[str, ...]:
    """What stands in some fields, as text."""
    return tuple(field.decode(errors="replace") for field in fields)


def _follow(lines: Lines, origin: Origin, header: Header, geometry: Geometry) -> Iterator[Batch]:
    """Read on after a row while the buffered rows are plain: no quotes, and as many fields."""
    if geometry.n > len(DIGITS):
        return
    while True:
        data = lines.buffered()
        if not _plain_fields(data[: data.find(b"\n") + 1], header, geometry):
            return
        rows, size = [], 0
        for line in data[: data.rfind(b"\n") + 1].splitlines(keepends=True):
            fields = _plain_fields(line, header, geometry)
            if not fields:
                break
            rows.append(fields)
            size += len(line)
        columns = list(zip(*rows, strict=True))
        cells = plain_boards(b"".join(columns[header.column]), geometry.n)
        if len(cells) < len(rows):
            if not len(cells):
                return
            rows, columns = rows[: len(cells)], [column[: len(cells)] for column in columns]
            size = sum(map(len, data.split(b"\n", len(rows))[: len(rows)])) + len(rows)
        beside = Fields.of([*zip(*map(texts_of, header.others(columns)), strict=True)])
        number = lines.skip(len(rows), size)
        places = Places.of(
            origin, range(number, number + len(rows)), beside if len(columns) > 1 else None
        )
        yield Batch(geometry, cells, places=places)


def _plain_fields(line: bytes, header: Header, geometry: Geometry) -> list[bytes] | None:
    """The fields of a row without quotes whose board has the right length; None for others."""
    if b'"' in line or line[:1] == b"#" or line[-1:] != b"\n" or b"\0" in line:
        return None
    fields = line.rstrip(b"\r\n").split(header.delimiter)
    if len(fields) != len(header.names) or len(fields[header.column]) != geometry.cells:
        return None
    return fields


def _is_row(number: int, line: bytes, way: Way, header: Header) -> bool:
    """Whether a line that begins with ``#`` has all fields, and a board in the right one."""
    try:
        _row(LineParser(way.geometry), number, line, header)
    except FormatError:
        return False
    return True


def _row(parser: LineParser, number: int, line: bytes, header: Header) -> tuple[Board, list[bytes]]:
    """Read the board of one line, and all fields."""
    try:
        fields = fields_of(line, header.delimiter)
    except csv.Error as error:
        raise FormatError(
            f"{error}, expected every quoted field to end on its line", number
        ) from None
    if len(fields) != len(header.names):
        # More columns are wrong, too: of unquoted numbers, the first would be taken for a board.
        raise FormatError(f"{len(fields)} columns, expected {len(header.names)}", number)
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
    return board, fields
