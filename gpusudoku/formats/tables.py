"""Tables: one of the columns holds the boards, with or without a header line above."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from gpusudoku.board.batch import Batch, Origin
from gpusudoku.board.board import Board
from gpusudoku.errors import Hint, InputError, shown
from gpusudoku.formats.grids import Head, is_one_per_line
from gpusudoku.formats.lines import MIN_CELLS, LineParser, LinesTogether
from gpusudoku.formats.source import (
    LONGEST_FENCE,
    FormatError,
    Lines,
    NumberedLine,
    UnreadableError,
    Way,
    content,
    is_fence,
    quoted,
    single,
)

NAMES = frozenset(
    {"puzzle", "puzzles", "quiz", "quizzes", "board", "boards", "sudoku", "sudokus", "grid",
     "grids", "problem", "problems", "question", "questions"}
)  # fmt: skip
"""The usual names of the column of boards, and of the value in a JSON object."""

_DELIMITERS = (b"\t", b",", b";")
_NAME = re.compile(rb'\s*"?(?!(?i:nan)\b)[A-Za-z][\w .-]*+"?\s*')
_MAX_NAMES = 9
"""Names of columns that a message lists."""
_MAX_LINES = 1 << 8
"""Lines of a row after the first one."""


class Header(NamedTuple):
    """The columns of a table, and which of them holds the boards."""

    line: int
    """The number of the line with their names, 0 if there is none."""
    delimiter: bytes
    names: tuple[str, ...]
    column: int

    def others(self, fields: Sequence[Any]) -> tuple[Any, ...]:
        """Return the fields of the other columns."""
        return (*fields[: self.column], *fields[self.column + 1 :])


def read_table(lines: Lines, way: Way, header: Header) -> Iterator[Batch | InputError]:
    """Read the board of every line; a line without one gives an error in its place."""
    parser = LineParser(way.geometry, way.near)
    together = LinesTogether(lines)
    origin = Origin(way.source, header.others(header.names))

    def fields_of_lines(lines: list[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
        rows = csv.reader(lines, delimiter=header.delimiter.decode(), strict=True)
        with suppress(csv.Error):
            for place, (text, row) in enumerate(zip(lines, rows, strict=False), 1):
                if (
                    len(row) != len(header.names)
                    or text.startswith("#")
                    or (len(text) < LONGEST_FENCE and is_fence(f"{text}\n".encode()))
                    or rows.line_num != place  # a field goes on over several lines
                ):
                    return
                yield row.pop(header.column), tuple(row)

    for number, line in lines:
        if number <= header.line or not line.strip():
            continue
        if line.startswith(b"#"):
            with suppress(FormatError):
                check = LineParser(way.geometry, way.near)
                _board(check, number, line, header, _fields(line, header.delimiter, number))
                yield FormatError(
                    f"{shown(line.strip())} reads two ways, as a comment or as a row", number
                ).at(way, line.strip(), origin.columns)
            continue
        fields: list[bytes] = []
        try:
            line = _row_of(line, lines, header, way)
            fields = _fields(line, header.delimiter, number)
            board = _board(parser, number, line, header, fields)
        except FormatError as error:
            known = [*fields, *[b""] * len(header.names)][: len(header.names)]
            others = _texts_of(header.others(known))
            yield error.at(way, known[header.column], origin.columns, others)
        else:
            yield single(board, origin, number, _texts_of(header.others(fields)), parser.text)
            yield from together.split(line, board.geometry, origin, fields_of_lines)


def _texts_of(fields: Iterable[bytes]) -> tuple[str, ...]:
    return tuple(field.decode(errors="replace") for field in fields)


def _row_of(line: bytes, lines: Lines, header: Header, way: Way) -> bytes:
    """Return a row, of which a field in quotes may go on over the next lines."""
    row = line
    taken: list[NumberedLine] = []
    while row.count(b'"') % 2:
        following = next(lines, None)
        taken += [following] if following else []
        if not following or _is_row(following[1], header, way) or len(taken) > _MAX_LINES:
            lines.put_back(taken)
            return line
        row += following[1]
    return row


def _is_row(line: bytes, header: Header, way: Way) -> bool:
    """Tell whether a line is a row by itself; a line of a field in quotes has fewer fields."""
    fields = _fields(line, header.delimiter)
    if len(fields) != len(header.names) or len(fields) == 1:
        return False
    with suppress(FormatError):
        board = LineParser(way.geometry, way.near).parse_field(1, fields[header.column])
        return board is not None and board.geometry.cells >= MIN_CELLS
    return False


def _board(
    parser: LineParser, number: int, line: bytes, header: Header, fields: Sequence[bytes]
) -> Board:
    """Read the board of one row."""
    if len(fields) != len(header.names):
        # More are wrong, too: of unquoted numbers, the first would be taken for a board.
        raise FormatError(f"{len(fields)} fields, expected {len(header.names)}", number)
    text = fields[header.column]
    try:
        board = parser.parse_field(number, text)
    except FormatError as error:
        # The fields before the board are at least this long; quotes may add to that.
        place = line.find(text, sum(len(field) + 1 for field in fields[: header.column]))
        if b"\n" in text or text.startswith(b"["):
            error.column = None
        elif error.column is not None and place > 0:
            error.column += len(line[:place].decode(errors="replace"))
        raise
    if board is None:
        raise FormatError(f"column {header.column + 1} is empty, expected a board", number)
    return board


def _fields(line: bytes, delimiter: bytes, number: int | None = None) -> list[bytes]:
    """Split a line into its fields, without their quotes; it is a row if it has a number."""
    line = line.rstrip(b"\r\n")
    if b'"' not in line:
        return line.split(delimiter)
    text = line.decode(errors="replace")
    try:
        [fields] = csv.reader([text], delimiter=delimiter.decode(), strict=True)
    except csv.Error as error:
        if number is None:
            return [line]
        raise FormatError(f"{error}, expected every quoted field to end", number) from None
    return [field.encode() for field in fields]


def find_header(head: Head, way: Way) -> Header | None:
    """Find the columns of a table and which of them holds the boards; None if it is no table."""
    row = head.lines[0][1]
    # The header may be the last comment before the first row, if it has as many columns.
    header = _names_of(head.comment, row, way) if head.comment[0] else None
    if header and 1 < len(header.names) == len(_fields(row, header.delimiter)):
        return _with_column(header, row, way)
    first, *rest = head.lines
    row = next((line for _, line in rest if content(line).strip()), b"")
    header = _names_of(first, row, way)
    # Below a single name there are boards on one line each, or grids in quotes, and no other grid.
    is_table = header is not None and (len(header.names) > 1 or way.column or row.count(b'"') == 1)
    if header is not None and (is_table or not rest or is_one_per_line(Head(rest), way)):
        return _with_column(header, row, way)
    header = _without_names(first, way)
    if header is None and way.column is not None:
        raise no_column(way.column, first[0])
    return header


def listed_names(names: Sequence[str]) -> str:
    """List the first names of columns in a message."""
    more = ", …" if len(names) > _MAX_NAMES else ""
    return ", ".join(map(shown, names[:_MAX_NAMES])) + more


def no_column(name: str, line: int) -> UnreadableError:
    """Return the error where a column was asked for and there is none."""
    return UnreadableError(f"no table with a header, so no column {shown(name)}", line)


def board_in(field: bytes, way: Way) -> Board | None:
    """Return the board that a field is, of at least sixteen cells with nothing between them."""
    text = field.strip()
    if len(text) < MIN_CELLS or len(text.split()) > 1 or b":" in text or b"," in text:
        return None
    return _board_of_line(text, way)


def _board_of_line(text: bytes, way: Way) -> Board | None:
    try:
        return LineParser(way.geometry, way.near).parse(0, text)
    except FormatError:
        return None


def _boards_in(fields: Sequence[bytes], way: Way) -> dict[int, Board]:
    """Return the boards that fields are, by their columns."""
    return {i: board for i, field in enumerate(fields) if (board := board_in(field, way))}


def _names_of(line: NumberedLine, row: bytes, way: Way) -> Header | None:
    """Return the header that a line is, its column still open; None if it is none."""
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
        and not _boards_in(fields, way)
        and len(cells := _fields(row, delimiter)) == len(names)
        # A row of a large board has letters, too.
        and (any(len(name) > 1 for name in names) or _boards_in(cells, way))
    )
    return header if is_names else None


def _with_column(header: Header, row: bytes, way: Way) -> Header:
    """Choose the column of the boards: by its name, or by the first row."""
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
    fields = _fields(row, header.delimiter)[: len(names)]
    boards = {
        i: board
        for i, board in _boards_in(fields, way).items()
        if not board.is_full and (not known or i in known)
    }
    if len(boards) == 1:
        return header._replace(column=next(iter(boards)))
    if boards:
        first, second, *_ = boards
        raise UnreadableError(
            (
                f"a table that reads two ways, {shown(names[first])} with {quoted(boards[first])} "
                f"or {shown(names[second])} with {quoted(boards[second])}: ",
                Hint("column"),
            ),
            header.line,
        )
    raise UnreadableError(
        ("a table without a column of boards: ", Hint("column"), f", one of {listed}"), header.line
    )


def _without_names(first: NumberedLine, way: Way) -> Header | None:
    """Return the columns of a table without a header, by its first row; None if it is no table."""
    number, line = first
    text = content(line).partition(b":")[0]
    for delimiter in _DELIMITERS:
        if delimiter not in text:
            continue
        fields = _fields(line, delimiter)
        boards = _boards_in(fields, way)
        if not boards:
            continue
        whole = _board_of_line(text, way)
        if whole is not None and [whole] == [*boards.values()]:
            return None  # There is nothing but a delimiter at an end.
        if whole is not None:
            raise UnreadableError(
                (
                    "a line that reads two ways: as one board, or as several fields with one each: "
                    "give ",
                    Hint("box"),
                ),
                number,
            )
        # Of several boards that with an empty cell counts.
        unsolved = [i for i, board in boards.items() if not board.is_full] or list(boards)
        if len(unsolved) > 1:
            one, other, *_ = unsolved
            raise UnreadableError(
                f"a line that reads two ways, field {one + 1} with {quoted(boards[one])} or "
                f"field {other + 1} with {quoted(boards[other])}: "
                "give a header line with the name puzzle",
                number,
            )
        [column] = unsolved
        names = [f"field{i}" for i in range(1, len(fields) + 1)]
        full = [i for i, board in boards.items() if i != column and board.is_full]
        if len(full) == 1:
            names[full[0]] = "solution"
        elif len(fields) == 2 and delimiter == b";":
            names[1 - column] = "name"
        names[column] = "puzzle"
        return Header(0, delimiter, tuple(names), column)
    return None


def _same(name: str) -> str:
    """Return the key by which names are compared where they differ in case only."""
    return name.strip().lower()
