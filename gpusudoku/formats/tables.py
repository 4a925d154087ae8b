"""Tables: one of the columns holds the boards, with or without a header line above."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from gpusudoku.board.batch import Batch, InputSource
from gpusudoku.board.board import Board
from gpusudoku.errors import Hint, InputError, shown
from gpusudoku.formats.grids import Head, has_board_per_line
from gpusudoku.formats.lines import MIN_CELLS, BulkReader, LineParser
from gpusudoku.formats.source import (
    MAX_FENCE_BYTES,
    FormatError,
    Lines,
    NumberedLine,
    ReadOptions,
    UnreadableError,
    clean_line,
    is_fence,
    make_single_batch,
    quote_board,
)

BOARD_NAMES = frozenset(
    {"puzzle", "puzzles", "quiz", "quizzes", "board", "boards", "sudoku", "sudokus", "grid",
     "grids", "problem", "problems", "question", "questions"}
)  # fmt: skip
"""The usual names of the column of boards, and of the value in a JSON object."""

_DELIMITERS = (b"\t", b",", b";")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NAME = re.compile(rb'\s*"?(?!(?i:nan)\b)[A-Za-z][\w .-]*+"?\s*')
_MAX_NAMES_SHOWN = 9
"""The maximum number of column names in a message."""
_MAX_FOLLOWING_LINES = 1 << 8
"""The maximum number of lines of a row after its first one."""


class Header(NamedTuple):
    """The columns of a table, and which of them holds the boards."""

    line: int
    """The number of the line with their names, 0 if there is none."""
    delimiter: bytes
    names: tuple[str, ...]
    column: int
    """The index of the column of boards; -1 if it has not been chosen yet."""

    def extra_fields(self, fields: Sequence[Any]) -> tuple[Any, ...]:
        """Return the fields of the columns that are not boards."""
        return (*fields[: self.column], *fields[self.column + 1 :])


def read_table(lines: Lines, options: ReadOptions, header: Header) -> Iterator[Batch | InputError]:
    """Read the board of every line; yield an error for a line without a board."""
    parser = LineParser(options.geometry, options.preferred)
    bulk_reader = BulkReader(lines)
    source = InputSource(options.source, header.extra_fields(header.names))

    def split_lines(lines: list[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
        rows = csv.reader(lines, delimiter=header.delimiter.decode(), strict=True)
        with suppress(csv.Error):
            for line_count, (text, row) in enumerate(zip(lines, rows, strict=False), 1):
                if (
                    len(row) != len(header.names)
                    or text.startswith("#")
                    or (len(text) < MAX_FENCE_BYTES and is_fence(f"{text}\n".encode()))
                    or rows.line_num != line_count  # a field continues on the next line
                ):
                    return
                yield row.pop(header.column), tuple(row)

    for number, line in lines:
        if number <= header.line or not line.strip():
            continue
        if line.startswith(b"#"):  # a comment, but a row may begin with #, too
            if _is_row_with_board(line, number, header, options):
                yield FormatError(
                    f"{shown(line.strip())} is ambiguous, a comment or a row", number
                ).as_input_error(options, line.strip(), source.extra_columns)
            continue
        fields: list[bytes] = []
        try:
            row = _join_row(line, lines, header, options)
            fields = _split_fields(row, header.delimiter, number)
            board = _parse_row(parser, number, row, header, fields)
        except FormatError as error:
            column_count = len(header.names)
            padded_fields = [*fields, *[b""] * column_count][:column_count]
            puzzle = padded_fields[header.column]
            extra_texts = _decode_fields(header.extra_fields(padded_fields))
            yield error.as_input_error(options, puzzle, source.extra_columns, extra_texts)
        else:
            extra_texts = _decode_fields(header.extra_fields(fields))
            yield make_single_batch(board, source, number, extra_texts, parser.board_text)
            yield from bulk_reader.read_similar_records(row, board.geometry, source, split_lines)


def _decode_fields(fields: Iterable[bytes]) -> tuple[str, ...]:
    return tuple(field.decode(errors="replace") for field in fields)


def _is_row_with_board(line: bytes, number: int, header: Header, options: ReadOptions) -> bool:
    """Tell whether a line is a row of the table with a valid board."""
    parser = LineParser(options.geometry, options.preferred)
    with suppress(FormatError):
        _parse_row(parser, number, line, header, _split_fields(line, header.delimiter, number))
        return True
    return False


def _join_row(line: bytes, lines: Lines, header: Header, options: ReadOptions) -> bytes:
    """Return a row, with the following lines if a field in quotes continues on them."""
    row = line
    following_lines: list[NumberedLine] = []
    while row.count(b'"') % 2:  # a quoted field has not ended
        following = next(lines, None)
        if following:
            following_lines.append(following)
        if (
            not following
            or _is_whole_row(following[1], header, options)
            or len(following_lines) > _MAX_FOLLOWING_LINES
        ):
            lines.put_back(following_lines)
            return line
        row += following[1]
    return row


def _is_whole_row(line: bytes, header: Header, options: ReadOptions) -> bool:
    """Tell whether a line is a row by itself; a line of a field in quotes has fewer fields."""
    fields = _split_fields(line, header.delimiter)
    if len(fields) != len(header.names) or len(fields) == 1:
        return False
    with suppress(FormatError):
        board = LineParser(options.geometry, options.preferred).parse_field(
            1, fields[header.column]
        )
        return board is not None and board.geometry.cells >= MIN_CELLS
    return False


def _parse_row(
    parser: LineParser, number: int, line: bytes, header: Header, fields: Sequence[bytes]
) -> Board:
    """Read the board of one row."""
    if len(fields) != len(header.names):
        # Additional fields are an error, too: of unquoted numbers, the first would be taken for a
        # board.
        raise FormatError(f"{len(fields)} fields, expected {len(header.names)}", number)
    text = fields[header.column]
    try:
        board = parser.parse_field(number, text)
    except FormatError as error:
        # The fields before the board are at least this long; quotes may add to that.
        min_start = sum(len(field) + 1 for field in fields[: header.column])
        start = line.find(text, min_start)
        if b"\n" in text or text.startswith(b"["):
            error.column = None
        elif error.column is not None and start > 0:
            error.column += len(line[:start].decode(errors="replace"))
        raise
    if board is None:
        raise FormatError(f"column {header.column + 1} is empty, expected a board", number)
    return board


def _split_fields(line: bytes, delimiter: bytes, number: int | None = None) -> list[bytes]:
    """Split a line into its fields, without their quotes.

    A line with damaged quotes is one field, or an error if the ``number`` of the line is given.
    """
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


def find_header(head: Head, options: ReadOptions) -> Header | None:
    """Find the columns of a table and which of them holds the boards; None if it is no table."""
    first_row = head.lines[0][1]
    # The header may be the last comment before the first row, if it has as many columns.
    header = _parse_names(head.comment, first_row, options) if head.comment[0] else None
    if header and 1 < len(header.names) == len(_split_fields(first_row, header.delimiter)):
        return _choose_column(header, first_row, options)

    first_line, *other_lines = head.lines
    first_row = next((line for _, line in other_lines if clean_line(line).strip()), b"")
    header = _parse_names(first_line, first_row, options)
    if header is not None:
        # Below a single name there are boards on one line each, or grids in quotes, and no other
        # grid.
        is_grid_in_quotes = first_row.count(b'"') == 1
        is_table = len(header.names) > 1 or options.column or is_grid_in_quotes
        if is_table or not other_lines or has_board_per_line(Head(other_lines), options):
            return _choose_column(header, first_row, options)

    header = _guess_columns(first_line, options)
    if header is None and options.column is not None:
        raise make_no_column_error(options.column, first_line[0])
    return header


def join_names(names: Sequence[str]) -> str:
    """Join the first names of columns for a message."""
    ending = ", …" if len(names) > _MAX_NAMES_SHOWN else ""
    return ", ".join(map(shown, names[:_MAX_NAMES_SHOWN])) + ending


def make_no_column_error(name: str, line: int) -> UnreadableError:
    """Return the error for an option ``column`` if the input has no columns."""
    return UnreadableError(f"no table with a header, so no column {shown(name)}", line)


def board_of_field(field: bytes, options: ReadOptions) -> Board | None:
    """Return the board of a field, of at least sixteen unseparated cells; None if it has none."""
    text = field.strip()
    if len(text) < MIN_CELLS or len(text.split()) > 1 or b":" in text or b"," in text:
        return None
    return _board_of_line(text, options)


def _board_of_line(text: bytes, options: ReadOptions) -> Board | None:
    try:
        return LineParser(options.geometry, options.preferred).parse(0, text)
    except FormatError:
        return None


def _boards_by_column(fields: Sequence[bytes], options: ReadOptions) -> dict[int, Board]:
    """Return the boards among some fields, by their columns."""
    return {i: board for i, field in enumerate(fields) if (board := board_of_field(field, options))}


def _parse_names(line: NumberedLine, first_row: bytes, options: ReadOptions) -> Header | None:
    """Return the header on a line, without its column of boards; None if it is not a header."""
    number = line[0]
    text = line[1].lstrip(_BYTE_ORDER_MARK + b"# ")
    # A single column may hold commas, but no tab.
    delimiter = next((delimiter for delimiter in _DELIMITERS if delimiter in text), b"\t")
    fields = _split_fields(text, delimiter)
    names = tuple(name.strip(b' "').decode(errors="replace") for name in fields)
    header = Header(number, delimiter, names, -1)
    if any(name.lower() in BOARD_NAMES for name in names):
        return header
    if options.column is not None and _normalise(options.column) in map(_normalise, names):
        return header

    # Other names must look like names, and the row below must have as many fields.
    if len(names) < 2 or not all(_NAME.fullmatch(name) for name in fields):
        return None
    if _boards_by_column(fields, options):
        return None
    row_fields = _split_fields(first_row, delimiter)
    if len(row_fields) != len(names):
        return None
    # A row of a large board has letters, too.
    is_row_of_letters = all(len(name) == 1 for name in names)
    if is_row_of_letters and not _boards_by_column(row_fields, options):
        return None
    return header


def _choose_column(header: Header, first_row: bytes, options: ReadOptions) -> Header:
    """Choose the column of the boards: by its name, or by the first row."""
    names = header.names
    if options.column is not None:
        return header._replace(column=_find_column(header, options.column))
    usual_columns = [i for i, name in enumerate(names) if name.lower() in BOARD_NAMES]
    if len(usual_columns) == 1:
        return header._replace(column=usual_columns[0])
    fields = _split_fields(first_row, header.delimiter)[: len(names)]
    puzzles = {
        i: board
        for i, board in _boards_by_column(fields, options).items()
        if not board.is_full and (not usual_columns or i in usual_columns)
    }
    if len(puzzles) == 1:
        return header._replace(column=next(iter(puzzles)))
    if puzzles:
        first, second = [*puzzles][:2]
        raise UnreadableError(
            (
                f"an ambiguous table, {shown(names[first])} with "
                f"{quote_board(puzzles[first])} or {shown(names[second])} with "
                f"{quote_board(puzzles[second])}: ",
                Hint("column"),
            ),
            header.line,
        )
    raise UnreadableError(
        (
            "a table without a column of boards: ",
            Hint("column"),
            f", one of {join_names(names)}",
        ),
        header.line,
    )


def _find_column(header: Header, name: str) -> int:
    """Return the index of a column; its case counts only if several names differ in case."""
    matches = [i for i, column_name in enumerate(header.names) if column_name == name]
    if not matches:
        key = _normalise(name)
        matches = [
            i for i, column_name in enumerate(header.names) if _normalise(column_name) == key
        ]
    if len(matches) != 1:
        count = "two columns" if matches else "no column"
        columns = join_names(header.names)
        raise UnreadableError(f"{count} {shown(name)}, the columns are {columns}", header.line)
    return matches[0]


def _guess_columns(first_line: NumberedLine, options: ReadOptions) -> Header | None:
    """Return the columns of a table without a header, by its first row; None if it is no table."""
    number, line = first_line
    text = clean_line(line).partition(b":")[0]
    for delimiter in _DELIMITERS:
        if delimiter not in text:
            continue
        fields = _split_fields(line, delimiter)
        boards = _boards_by_column(fields, options)
        if not boards:
            continue
        board_of_whole_line = _board_of_line(text, options)
        if board_of_whole_line is not None and [board_of_whole_line] == [*boards.values()]:
            return None  # There is just a delimiter at an end.
        if board_of_whole_line is not None:
            raise UnreadableError(
                (
                    "an ambiguous line: one board, or several fields with one each: give ",
                    Hint("box"),
                ),
                number,
            )
        column = _find_puzzle(boards, number)
        return Header(0, delimiter, _make_names(fields, delimiter, boards, column), column)
    return None


def _find_puzzle(boards: dict[int, Board], line: int) -> int:
    """Return the column of the only board with an empty cell, or of the only board."""
    # Next to a puzzle, a full board is its solution.
    columns = [i for i, board in boards.items() if not board.is_full] or list(boards)
    if len(columns) > 1:
        first, second = columns[:2]
        raise UnreadableError(
            f"an ambiguous line: field {first + 1} with {quote_board(boards[first])} or "
            f"field {second + 1} with {quote_board(boards[second])}: "
            "give a header line with the name puzzle",
            line,
        )
    return columns[0]


def _make_names(
    fields: Sequence[bytes], delimiter: bytes, boards: dict[int, Board], column: int
) -> tuple[str, ...]:
    """Return names for the columns of a table without a header."""
    names = [f"field{i}" for i in range(1, len(fields) + 1)]
    solutions = [i for i, board in boards.items() if i != column and board.is_full]
    if len(solutions) == 1:
        names[solutions[0]] = "solution"
    elif len(fields) == 2 and delimiter == b";":
        names[1 - column] = "name"
    names[column] = "puzzle"
    return tuple(names)


def _normalise(name: str) -> str:
    """Return the key by which names are compared if their case does not count."""
    return name.strip().lower()
