"""Tables: one of the columns holds the boards, with or without a header line above."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.places import Origin
from gpusudoku.board.text import DIGITS
from gpusudoku.errors import InputError, shown
from gpusudoku.formats.headers import Header, fields_of
from gpusudoku.formats.lines import LineParser
from gpusudoku.formats.plain import LineBlocks
from gpusudoku.formats.source import LONGEST_FENCE, FormatError, Lines, Way, is_fence, single


def read_table(lines: Lines, way: Way, header: Header) -> Iterator[Batch | InputError]:
    """Read the board of every line; a line without one gives an error in its place."""
    parser = LineParser(way.geometry, way.near)
    origin = Origin(way.source, header.others(header.names))
    blocks = LineBlocks(lines)
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
            if board.n <= len(DIGITS):
                yield from _rows_like(line, blocks, board.geometry, origin, header)


def texts_of(fields: Iterable[bytes]) -> tuple[str, ...]:
    """What stands in some fields, as text."""
    return tuple(field.decode(errors="replace") for field in fields)


def _rows_like(
    line: bytes, blocks: LineBlocks, geometry: Geometry, origin: Origin, header: Header
) -> Iterator[Batch]:
    """Read on while rows are like one that was parsed, with a board of as many characters."""
    columns, column, cells = len(header.names), header.column, geometry.cells
    while lines := blocks.next(line):
        boards: list[str] = []
        others: list[tuple[str, ...]] = []
        rows = csv.reader(lines, delimiter=header.delimiter.decode(), strict=True)
        with suppress(csv.Error):
            for text, row in zip(lines, rows, strict=False):
                if (
                    len(row) != columns
                    or len(row[column]) != cells
                    or text.startswith("#")
                    or (len(text) < LONGEST_FENCE and is_fence(f"{text}\n".encode()))
                    or rows.line_num != len(boards) + 1  # a field goes on over several lines
                ):
                    break
                boards.append(row.pop(column))
                others.append(tuple(row))
        batch = blocks.take(boards, others, geometry, origin)
        if batch is None:
            return
        yield batch


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
