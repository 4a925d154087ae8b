"""CSV and TSV with a header line: one of the columns holds the boards."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError
from gpusudoku.formats.lines import LineParser
from gpusudoku.formats.source import Entries, FormatError, NumberedLine, UnreadableError

NAMES = (b"puzzle", b"quizzes", b"board")
"""The possible names of the column of boards."""

_DELIMITERS = (b"\t", b",", b";")
_NAME = re.compile(rb'\s*"?[A-Za-z][\w .-]*"?\s*')


class Header(NamedTuple):
    """The place of the boards in a table."""

    line: int
    delimiter: bytes
    columns: int
    column: int


def find_header(comment: NumberedLine, first: NumberedLine) -> Header | None:
    """Find the header of a table; None if there is none.

    ``first`` is the first line that is no comment. The header may also be a comment: then it is
    ``comment``, the last line before, and has as many columns as ``first``.

    Raises
    ------
    UnreadableError
        If there is a header without a column of boards.
    """
    number, line = comment
    header = _header(number, line.lstrip(b"# "))
    if header and header.columns == len(first[1].split(header.delimiter)) > 1:
        return header
    number, line = first
    header = _header(number, line)
    if header is None and _is_header(line):
        names = ", ".join(name.decode() for name in NAMES)
        raise UnreadableError(
            f"a table without a column of boards, expected one of {names}", number
        )
    return header


def read_table(
    lines: Iterable[NumberedLine], source: str, geometry: Geometry | None, header: Header
) -> Iterator[Entries | InputError]:
    """Read the board of every line; a line without one gives an error in its place."""
    parser = LineParser(geometry)
    for number, line in lines:
        if number <= header.line or not line.strip() or line.startswith(b"#"):
            continue
        try:
            yield Entries.of(_board(parser, number, line, header), number)
        except FormatError as error:
            yield error.at(source)


def _board(parser: LineParser, number: int, line: bytes, header: Header) -> Board:
    """Read the board of one line."""
    try:
        fields = _fields(line, header.delimiter)
    except csv.Error as error:
        raise FormatError(
            f"{error}, expected every quoted field to end on its line", number
        ) from None
    if len(fields) != header.columns:
        # More columns are wrong, too: of unquoted numbers, the first would be taken for a board.
        raise FormatError(f"{len(fields)} columns, expected {header.columns}", number)
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
    return board


def _fields(line: bytes, delimiter: bytes) -> list[bytes]:
    """Split a line into its fields, without their quotes."""
    line = line.rstrip(b"\r\n")
    if b'"' not in line:
        return line.split(delimiter)
    text = line.decode(errors="replace")
    [fields] = csv.reader([text], delimiter=delimiter.decode(), strict=True)
    return [field.encode() for field in fields]


def _delimiter(line: bytes) -> bytes:
    # A single column may hold commas, but no tab.
    return next((delimiter for delimiter in _DELIMITERS if delimiter in line), b"\t")


def _header(number: int, line: bytes) -> Header | None:
    delimiter = _delimiter(line)
    names = [name.strip(b' "\r\n').lower() for name in line.split(delimiter)]
    for column, name in enumerate(names):
        if name in NAMES:
            return Header(number, delimiter, len(names), column)
    return None


def _is_header(line: bytes) -> bool:
    """Whether a line has names, not just single letters, in at least two columns."""
    names = line.split(_delimiter(line))
    return (
        len(names) > 1
        and all(_NAME.fullmatch(name) for name in names)
        and any(len(name.strip()) > 1 for name in names)
    )
