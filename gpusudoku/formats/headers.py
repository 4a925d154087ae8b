"""Tell a table from other forms, and which of its columns holds the boards."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from gpusudoku.board.board import Board
from gpusudoku.errors import shown
from gpusudoku.formats.detect import Head, is_one_per_line
from gpusudoku.formats.lines import LineParser
from gpusudoku.formats.source import (
    FormatError,
    NumberedLine,
    UnreadableError,
    Way,
    content,
    quoted,
)

NAMES = frozenset(
    {"puzzle", "puzzles", "quiz", "quizzes", "board", "boards", "sudoku", "sudokus", "grid",
     "grids", "problem", "problems"}
)  # fmt: skip
"""The usual names of the column of boards."""

MOST_NAMES = 9
"""Names of columns that a message lists."""

T = TypeVar("T")

_DELIMITERS = (b"\t", b",", b";")
_NAME = re.compile(rb'\s*"?[A-Za-z][\w .-]*+"?\s*')
_LEAST_CELLS = 16
"""A field of fewer cells is not taken for a board unless a header says so."""


class Header(NamedTuple):
    """The columns of a table, and which of them holds the boards."""

    line: int
    """The number of the line with their names, 0 if there is none."""
    delimiter: bytes
    names: tuple[str, ...]
    column: int

    def others(self, fields: Sequence[T]) -> tuple[T, ...]:
        """What stands in the other columns."""
        return (*fields[: self.column], *fields[self.column + 1 :])


def fields_of(line: bytes, delimiter: bytes) -> list[bytes]:
    """Split a line into its fields, without their quotes.

    Raises
    ------
    csv.Error
        If a quoted field does not end on the line.
    """
    line = line.rstrip(b"\r\n")
    if b'"' not in line:
        return line.split(delimiter)
    text = line.decode(errors="replace")
    [fields] = csv.reader([text], delimiter=delimiter.decode(), strict=True)
    return [field.encode() for field in fields]


def find_header(head: Head, way: Way) -> Header | None:
    """Find out whether the input is a table, and its columns; None if it is something else.

    The header may also be a comment: then it is the last line before the first row, and has as
    many columns.

    Raises
    ------
    UnreadableError
        If it is a table, and which column holds the boards is not certain.
    """
    row = head.lines[0][1]
    header = _names_of(head.comment, row, way) if head.comment[0] else None
    if header and 1 < len(header.names) == len(_fields(row, header.delimiter)):
        return _with_column(header, row, way)
    first, *rest = head.lines
    row = next((line for _, line in rest if content(line).strip()), b"")
    header = _names_of(first, row, way)
    if header is not None and (len(header.names) > 1 or way.column or _are_lines(rest, way)):
        return _with_column(header, row, way)
    header = _without_names(first, way)
    if header is None and way.column is not None:
        raise no_column(way.column, first[0])
    return header


def listed_names(names: Sequence[str]) -> str:
    """The first names of columns, as messages list them."""
    more = ", …" if len(names) > MOST_NAMES else ""
    return ", ".join(map(shown, names[:MOST_NAMES])) + more


def no_column(name: str, line: int) -> UnreadableError:
    """The error where a column was asked for and there is none."""
    return UnreadableError(f"no table with a header, so no column {shown(name)}", line)


def board_in(field: bytes, way: Way) -> Board | None:
    """The board that a field is, of at least sixteen cells without anything between them."""
    text = field.strip()
    if len(text) < _LEAST_CELLS or len(text.split()) > 1 or b":" in text or b"," in text:
        return None
    return _board_of_line(text, way)


def _are_lines(rest: list[NumberedLine], way: Way) -> bool:
    """Whether below a single name there are boards on one line each, and no grid."""
    return not rest or is_one_per_line(Head((0, b""), rest), way)


def _names_of(line: NumberedLine, row: bytes, way: Way) -> Header | None:
    """The header that a line is, its column still open; None if it is none."""
    number, text = line[0], line[1].lstrip(b"\xef\xbb\xbf# ")
    # A single column may hold commas, but no tab.
    delimiter = next((delimiter for delimiter in _DELIMITERS if delimiter in text), b"\t")
    fields = _fields(text, delimiter)
    names = tuple(name.strip(b' "').decode(errors="replace") for name in fields)
    header = Header(number, delimiter, names, -1)
    if any(name.lower() in NAMES for name in names):
        return header
    if way.column is not None and _same(way.column) in map(_same, names):
        return header
    is_names = (
        len(names) > 1
        and all(_NAME.fullmatch(name) for name in fields)
        and len(cells := _fields(row, delimiter)) == len(names)
        # A row of a large board has letters, too.
        and (any(len(name) > 1 for name in names) or any(board_in(cell, way) for cell in cells))
    )
    return header if is_names else None


def _with_column(header: Header, row: bytes, way: Way) -> Header:
    """Choose the column of the boards: by its name, or by what is in the first row."""
    names = header.names
    listed = listed_names(names)
    if way.column is not None:
        chosen = [i for i, name in enumerate(names) if name == way.column] or [
            i for i, name in enumerate(names) if _same(name) == _same(way.column)
        ]
        if len(chosen) != 1:
            found = "two columns" if chosen else "no column"
            raise UnreadableError(
                f"{found} {shown(way.column)}, the columns are {listed}", header.line
            )
        return header._replace(column=chosen[0])
    known = [i for i, name in enumerate(names) if name.lower() in NAMES]
    if len(known) == 1:
        return header._replace(column=known[0])
    fields = _fields(row, header.delimiter)
    boards = {
        i: board
        for i in known or range(len(names))
        if i < len(fields) and (board := board_in(fields[i], way)) and not board.is_full
    }
    if len(boards) == 1:
        return header._replace(column=next(iter(boards)))
    if boards:
        first, second, *_ = boards
        raise UnreadableError(
            f"a table that reads two ways, {shown(names[first])} with {quoted(boards[first])} or "
            f"{shown(names[second])} with {quoted(boards[second])}: give --column NAME",
            header.line,
        )
    raise UnreadableError(
        f"a table without a column of boards: give --column NAME, one of {listed}", header.line
    )


def _without_names(first: NumberedLine, way: Way) -> Header | None:
    """The columns of a table without a header, by its first row; None if it is no table."""
    number, line = first
    text = content(line).partition(b":")[0]
    for delimiter in _DELIMITERS:
        if delimiter not in text:
            continue
        fields = _fields(line, delimiter)
        boards = {i: board for i, field in enumerate(fields) if (board := board_in(field, way))}
        if not boards:
            continue
        whole = _board_of_line(text, way)
        if whole is not None and [whole] == [*boards.values()]:
            return None  # There is nothing but a delimiter at an end.
        if whole is not None:
            raise UnreadableError(
                "a line that reads two ways: as one board, or as several fields with one each: "
                "give --box",
                number,
            )
        column = _open_column(boards, number)
        return Header(0, delimiter, _names_for(len(fields), column, delimiter, boards), column)
    return None


def _open_column(boards: dict[int, Board], number: int) -> int:
    """The field with the board, of those that hold one: the only one with an empty cell."""
    unsolved = [i for i, board in boards.items() if not board.is_full] or list(boards)
    if len(unsolved) > 1:
        first, second, *_ = unsolved
        raise UnreadableError(
            f"a line that reads two ways, field {first + 1} with {quoted(boards[first])} or field "
            f"{second + 1} with {quoted(boards[second])}: give a header line with the name puzzle",
            number,
        )
    return unsolved[0]


def _names_for(
    number: int, column: int, delimiter: bytes, boards: dict[int, Board]
) -> tuple[str, ...]:
    """Names for the columns of a table without a header."""
    names = [f"field{i}" for i in range(1, number + 1)]
    full = [i for i, board in boards.items() if i != column and board.is_full]
    if len(full) == 1:
        names[full[0]] = "solution"
    elif number == 2 and delimiter == b";":
        names[1 - column] = "name"
    names[column] = "puzzle"
    return tuple(names)


def _board_of_line(text: bytes, way: Way) -> Board | None:
    try:
        return LineParser(way.geometry, way.near).parse(0, text)
    except FormatError:
        return None


def _fields(line: bytes, delimiter: bytes) -> list[bytes]:
    try:
        return fields_of(line, delimiter)
    except csv.Error:
        return [line]


def _same(name: str) -> str:
    """What names are compared by where they differ in case only."""
    return name.strip().lower()
