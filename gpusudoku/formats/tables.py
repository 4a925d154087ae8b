"""CSV and TSV with a header line: one of the columns holds the boards."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.places import Origin
from gpusudoku.errors import InputError
from gpusudoku.formats.lines import LineParser
from gpusudoku.formats.source import FormatError, NumberedLine, UnreadableError, single

NAMES = (b"puzzle", b"quizzes", b"board")
"""The possible names of the column of boards."""

T = TypeVar("T")

_DELIMITERS = (b"\t", b",", b";")
_NAME = re.compile(rb'\s*"?[A-Za-z][\w .-]*"?\s*')


class Header(NamedTuple):
    """The columns of a table, and which of them holds the boards."""

    line: int
    delimiter: bytes
    names: tuple[str, ...]
    column: int

    def others(self, fields: Sequence[T]) -> tuple[T, ...]:
        """What stands in the other columns."""
        return (*fields[: self.column], *fields[self.column + 1 :])


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
    if header and len(header.names) == len(first[1].split(header.delimiter)) > 1:
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
) -> Iterator[Batch | InputError]:
    """Read the board of every line; a line without one gives an error in its place."""
    parser, origin = LineParser(geometry), Origin(source, header.others(header.names))
    for number, line in lines:
        if number <= header.line or not line.strip() or line.startswith(b"#"):
            continue
        try:
            board, fields = _row(parser, number, line, header)
        except FormatError as error:
            yield error.at(source)
        else:
            others = tuple(field.decode(errors="replace") for field in header.others(fields))
            yield single(board, origin, number, others)


def _row(parser: LineParser, number: int, line: bytes, header: Header) -> tuple[Board, list[bytes]]:
    """Read the board of one line, and all fields."""
    try:
        fields = _fields(line, header.delimiter)
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
    names = [name.strip(b' "\r\n') for name in line.split(delimiter)]
    for column, name in enumerate(names):
        if name.lower() in NAMES:
            texts = tuple(name.decode(errors="replace") for name in names)
            return Header(number, delimiter, texts, column)
    return None


def _is_header(line: bytes) -> bool:
    """Whether a line has names, not just single letters, in at least two columns."""
    names = line.split(_delimiter(line))
    return (
        len(names) > 1
        and all(_NAME.fullmatch(name) for name in names)
        and any(len(name.strip()) > 1 for name in names)
    )
