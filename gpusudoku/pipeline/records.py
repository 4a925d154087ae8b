"""Writers of tables: rows as csv, tsv and JSON lines, and the records of boards.

The columns of some rows are a dict of names and values. The values of a column are one of these::

    a text, a number, None ...   the same value in every row
    a list                       a value for every row, of any kind
    an array of numbers          a value for every row
    an array of bytes            a text for every row, without any character that csv or JSON
                                 quotes; an empty text is a missing value
    Choices                      few values, and the index of every row's value

Rows are usually joined as bytes in one array, which takes a third of the time of Python's writers.
These are used if a list has values that csv or JSON must encode one by one.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import repeat
from json.encoder import encode_basestring_ascii as in_quotes
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch, InputSource, SourceLocations
from gpusudoku.board.text import DIGITS, line_buffer
from gpusudoku.results import BadBoard

FORMS = ("csv", "tsv", "jsonl")
"""The forms of tables."""

_PLACE_COLUMNS = ("source", "line", "puzzle")
"""The columns that every table of boards begins with."""
_NOT_ENCODABLE = re.compile("[\ud800-\udc7f\udd00-\udfff]")
"""Unpaired surrogates that neither UTF-8 nor ``surrogateescape`` encodes; JSON allows them."""
_MAY_NEED_QUOTES = re.compile('[",\t\r\n#\0]')
"""Characters for which ``as_rows`` may quote a field. NUL is among them, as arrays of bytes use it
for padding."""

Field = bytes | NDArray[np.bytes_]
"""A piece of every row: bytes that are the same in every row, or an array with bytes for each."""


@dataclass(frozen=True)
class Choices:
    """A column of few values: the value of row i is ``values[indices[i]]``."""

    values: Sequence[Any]
    indices: NDArray[np.integer[Any]]

    def __len__(self) -> int:
        return len(self.indices)

    def tolist(self) -> list[Any]:
        """Return the value of every row."""
        return [self.values[index] for index in self.indices.tolist()]


class TableWriter:
    """Writes rows in one of the ``FORMS``; ``names`` are the columns of csv and tsv."""

    def __init__(self, form: str, names: Iterable[str]) -> None:
        self.delimiter = {"csv": ",", "tsv": "\t"}.get(form)
        """None for JSON lines."""
        self._names = tuple(names)

    def header(self) -> bytes:
        """Return the line before all rows."""
        return as_rows([self._names], self.delimiter) if self.delimiter else b""

    def rows(self, columns: Mapping[str, Any], end: str | list[str] = "") -> bytes:
        """Write rows; at least one column must have a value for each row.

        Csv and tsv have the columns of ``names``; a missing one is empty. ``end`` is the JSON text
        at the end of all objects, or a list with a text for each.
        """
        if self.delimiter:
            columns = {name: columns.get(name) for name in self._names}
        # The quick way: all fields side by side in one array, if none needs Python's writers.
        if isinstance(end, str):
            fields = self._encode_columns(columns)
            if fields is not None:
                line_end = b"\n" if self.delimiter else b"}\n"
                return _join_fields([*fields, end.encode(), line_end])
        return self._rows_by_python(columns, end)

    def _rows_by_python(self, columns: Mapping[str, Any], end: str | list[str]) -> bytes:
        """Write rows of any values."""
        texts = {name: self._column_texts(column) for name, column in columns.items()}
        if self.delimiter:
            return as_rows(zip(*map(_repeated, texts.values()), strict=False), self.delimiter)

        # A template of all objects: "%s" stands for the values that differ from row to row. All
        # other percent signs are doubled, as the operator % requires.
        template = ", ".join(
            f"{in_quotes(name)}: ".replace("%", "%%")
            + ("%s" if isinstance(text, list) else text.replace("%", "%%"))
            for name, text in texts.items()
        )
        varying = [text for text in texts.values() if isinstance(text, list)]
        rows = zip(*varying, _repeated(end), strict=False)
        return "".join(map(f"{{{template}%s}}\n".__mod__, rows)).encode()

    def _column_texts(self, column: Any) -> Any:
        """Return the texts of a column as a list, or the text of the value of all rows."""
        encode = _csv_value if self.delimiter else _as_json
        if not is_column(column):
            return encode(column)
        values = as_list(column)
        if self.delimiter and not {bool, list} & {*map(type, values)}:
            return values  # Python's writer of csv encodes all other values
        return [*map(encode, values)]

    def _encode_columns(self, columns: Mapping[str, Any]) -> list[Field] | None:
        """Return the fields of all rows, with the delimiters and names before them.

        None if there are fields that csv may have to quote, or lists of other values.
        """
        fields = list[Field]()
        delimiter = "" if self.delimiter else "{"
        for name, column in columns.items():
            field = self._encode_column(column)
            if field is None:
                return None
            prefix = delimiter if self.delimiter else f"{delimiter}{in_quotes(name)}: "
            fields += [prefix.encode(), field]
            delimiter = self.delimiter or ", "
        return fields

    def _encode_column(self, column: Any) -> Field | None:
        """Return the field of one column, or None as ``_encode_columns`` does."""
        kind = column.dtype.kind if isinstance(column, np.ndarray) else ""
        if kind == "S":
            texts = np.ascontiguousarray(column)
            if self.delimiter:  # lines of boards with more than 35 digits have commas
                has_delimiter = (texts.view(np.uint8) == ord(self.delimiter)).any()
                return None if has_delimiter else texts
            # JSON: the texts need quotes, but no escapes.
            quoted = np.strings.add(np.strings.add(b'"', texts), b'"')
            return np.where(texts == b"", b"null", quoted)
        if kind == "f":  # weights are often all equal
            values, indices = np.unique(column, return_inverse=True)
            column = Choices(values.tolist(), indices)
        if isinstance(column, Choices):  # each of the few values is encoded only once
            encoded = [*map(self._encode_value, column.values)]
            return None if None in encoded else np.array(encoded, np.bytes_)[column.indices]
        if not is_column(column):
            return self._encode_value(column)
        if self.delimiter and isinstance(column, list):
            return _as_byte_array(column)
        return column.astype(np.bytes_) if kind in ("i", "u") else None

    def _encode_value(self, value: Any) -> bytes | None:
        """Encode a value; return None if csv may have to quote it."""
        if not self.delimiter:
            return _as_json(value).encode()
        text = "" if value is None else str(_csv_value(value))
        return None if _MAY_NEED_QUOTES.search(text) else as_bytes(text)


class RecordWriter(TableWriter):
    """Writes records: rows with the place and the text of their board.

    A table has the columns of the place, the columns ``names`` of the command, and the extra
    columns of the input ``input_source``.
    """

    def __init__(self, form: str, input_source: InputSource, names: Iterable[str] = ()) -> None:
        columns = [*_PLACE_COLUMNS, *names]
        self._input_source = input_source
        self._extra_names = distinct(input_source.extra_columns, columns)
        super().__init__(form, [*columns, *self._extra_names])

    def text(
        self,
        boards: Batch,
        columns: Mapping[str, Any],
        board_of: NDArray[np.int64] | None = None,
        details: Sequence[Mapping[str, Any]] = (),
    ) -> bytes:
        """Write one record for each board, or any number of them.

        Parameters
        ----------
        columns
            The columns of the command, with the values of all records.
        board_of
            int64 (k): the index of each record's board. None if every board has one record, or the
            only board has all records.
        details
            Further values for each record, at the end of JSON objects.
        """
        locations = boards.locations
        assert locations is not None  # all boards of a command have a place
        if not len(boards):
            return b""

        def of_records(column: Any) -> Any:
            """Turn a column with a value for each board into one with a value for each record."""
            if len(boards) == 1:
                return as_list(column)[0]
            if board_of is None:
                return column
            if isinstance(column, Choices):
                return Choices(column.values, column.indices[board_of])
            if isinstance(column, list):
                return [column[index] for index in board_of.tolist()]
            return column[board_of]

        sources = Choices([source.name for source in locations.sources], locations.source_of)
        lines: Any = locations.lines
        if not lines.all():  # line 0: the board comes from no text
            lines = [line or None for line in lines.tolist()]
        puzzles: Any = locations.board_texts
        if not puzzles.astype(bool).all():  # some texts are not a character for each cell
            texts = zip(as_list(puzzles), boards, strict=True)
            puzzles = [text or str(board) for text, board in texts]
        place = {"source": of_records(sources), "line": of_records(lines)}
        puzzles = of_records(puzzles)
        has_extra = any(source.extra_columns for source in locations.sources)

        if self.delimiter:
            extra_columns = zip(*locations.extra_texts.tolist(), strict=True) if has_extra else ()
            extra_values = map(of_records, map(list, extra_columns))
            extra = dict(zip(self._extra_names, extra_values, strict=True))
            return self.rows({**place, "puzzle": puzzles, **columns, **extra})

        end = of_records(_extra_columns_as_json(locations)) if has_extra else ""
        if details:
            ends = zip(_repeated(end), details, strict=False)
            end = [f"{text}, {json.dumps(values)[1:-1]}" for text, values in ends]
        record = {"board": puzzles, "box": str(boards.geometry), **columns, **place}
        return self.rows(record, end)

    def bad(self, board: BadBoard) -> bytes:
        """Write the record of a board that cannot be read: its error instead of all values."""
        entry = board.error.entry
        assert entry is not None  # all errors of a command have one
        # A list of one: at least one column must have a value for each row.
        place = {"source": [entry.source], "line": entry.line or None}
        if self.delimiter:
            texts = dict(zip(entry.extra_columns, entry.extra_texts, strict=True))
            extra_values = map(texts.get, self._input_source.extra_columns)
            extra = dict(zip(self._extra_names, extra_values, strict=True))
            record = {**place, "puzzle": entry.puzzle, "error": entry.reason, **extra}
            return self.rows(record)
        texts = dict(zip(distinct(entry.extra_columns), entry.extra_texts, strict=True))
        end = f', "columns": {json.dumps(texts)}' if texts else ""
        record = {"board": entry.puzzle or None, "error": entry.reason, **place}
        return self.rows(record, end)


def board_column(
    rows: NDArray[np.uint8], boards: Batch | None = None, board_of: NDArray[np.int64] | None = None
) -> NDArray[np.bytes_] | list[str]:
    """Return grids, uint8 (k, cells), as a column of lines, in the alphabets of ``boards``.

    ``board_of``, int64 (k), is the index of each grid's board, as for ``Batch.in_alphabets``.
    """
    text: bytes | memoryview = line_buffer(rows)
    if boards is not None:
        text = boards.in_alphabets(text, board_of)
    cells = rows.shape[1]
    if isqrt(cells) > len(DIGITS):  # a line consists of numbers and commas, which csv quotes
        return bytes(text).decode().splitlines()
    # The text is a table of bytes: a row has a character for each cell, and a line end.
    lines = np.frombuffer(text, np.uint8).reshape(len(rows), cells + len("\n"))
    return np.ascontiguousarray(lines[:, :cells]).view(f"S{cells}")[:, 0]


def is_column(column: Any) -> bool:
    """Tell whether a column has a value for each row, instead of one value for all rows."""
    return isinstance(column, list | Choices | np.ndarray)


def as_list(column: Any) -> list[Any]:
    """Return the values of a column that has a value for each row."""
    values: list[Any] = column if isinstance(column, list) else column.tolist()
    if isinstance(column, np.ndarray) and column.dtype.kind == "S":
        return [text.decode() or None for text in values]  # an empty text is a missing value
    return values


def with_gaps(column: Any, has_value: NDArray[np.bool_]) -> Any:
    """Distribute the values of a column to the rows of a mask, bool (B); other rows lack one."""
    if has_value.all():
        return column
    if isinstance(column, np.ndarray) and column.dtype.kind == "S":
        texts = np.zeros(len(has_value), column.dtype)
        texts[has_value] = column
        return texts
    values = iter(as_list(column))
    return [next(values) if is_present else None for is_present in has_value.tolist()]


def _as_byte_array(texts: list[Any]) -> NDArray[np.bytes_] | None:
    """Return a list of texts as an array of bytes.

    None if a value is not an ASCII text or may need quotes. None, too, if the array would be large,
    because a few texts are much longer than the others.
    """
    if {*map(type, texts)} != {str}:
        return None
    # One search in the joined texts is much quicker than one in each of them.
    text = "\n".join(texts)
    may_need_quotes = any(character in text for character in '",\t\r#\0')
    if may_need_quotes or not text.isascii() or text.count("\n") >= len(texts):
        return None
    if max(map(len, texts)) * len(texts) > 4 * len(text):
        return None
    return np.array(text.encode().split(b"\n"), np.bytes_)


def _join_fields(fields: Sequence[Field]) -> bytes:
    """Join the fields of all rows.

    The fields are copied side by side into a table of bytes. NUL bytes, shown as dots, fill up
    short values; they are removed at the end::

        f i l e . t x t , 1 7 . . , 1 n
        f i l e . t x t , 1 8 4 . , 2 n
    """
    row_count = next(len(field) for field in fields if isinstance(field, np.ndarray))
    widths = [len(field) if isinstance(field, bytes) else field.itemsize for field in fields]
    table = np.empty((row_count, sum(widths)), np.uint8)
    end = 0
    for field, width in zip(fields, widths, strict=True):
        start = end
        end += width
        if isinstance(field, bytes):
            table[:, start:end] = np.frombuffer(field, np.uint8)
        else:
            table[:, start:end] = field.view(np.uint8).reshape(row_count, width)
    return table.tobytes().translate(None, b"\0")


def as_rows(rows: Iterable[Sequence[Any]], delimiter: str) -> bytes:
    """Write rows by the rules of CSV, and quote what many readers would misunderstand.

    Many readers take a carriage return for the end of a line, and a line that begins with ``#`` for
    a comment. All fields of such a row are quoted.
    """
    rows = list(rows)
    text = _as_csv(rows, delimiter)
    if "\r" in text or ("#" in text and re.search('(?:^|\n)"?#', text)):
        lines = []
        for row in rows:
            fields = f"\n{delimiter.join(map(str, row))}"
            lines.append(_as_csv([row], delimiter, "\r" in fields or "\n#" in fields))
        text = "".join(lines)
    return as_bytes(text)


def _as_csv(rows: Iterable[Sequence[Any]], delimiter: str, quote_all: bool = False) -> str:
    text = StringIO()
    csv.writer(
        text,
        delimiter=delimiter,
        lineterminator="\n",
        quoting=csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL,
    ).writerows(rows)
    return text.getvalue()


def as_bytes(text: str) -> bytes:
    """Encode a text as UTF-8; bytes of file names that are not UTF-8 are restored.

    An unpaired surrogate, which a JSON input may contain, becomes U+FFFD.
    """
    try:
        return text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return _NOT_ENCODABLE.sub("\ufffd", text).encode(errors="surrogateescape")


def distinct(names: Iterable[str], used_names: Iterable[str] = ()) -> list[str]:
    """Return names of columns; a name that is used already gets the prefix ``input_``."""
    all_names = list(used_names)
    start = len(all_names)
    for name in names:
        while name in all_names:
            name = f"input_{name}"
        all_names.append(name)
    return all_names[start:]


def _repeated(values: Any) -> Iterable[Any]:
    """Return the values of a list, or repeat a value that all rows have."""
    return values if isinstance(values, list) else repeat(values)


def _extra_columns_as_json(locations: SourceLocations) -> list[str]:
    """Write the extra columns of every board, as the end of its JSON object."""
    source_indices: list[int] = locations.source_of.tolist()
    templates = {}
    # Not all sources: a slice of a batch keeps the sources of the whole batch.
    for index in set(source_indices):
        pairs = [
            f"{in_quotes(name)}: ".replace("%", "%%") + "%s"
            for name in distinct(locations.sources[index].extra_columns)
        ]
        templates[index] = f', "columns": {{{", ".join(pairs)}}}' if pairs else ""
    return [
        templates[index] % tuple(map(in_quotes, texts))
        for index, texts in zip(source_indices, locations.extra_texts.tolist(), strict=True)
    ]


def _csv_value(value: Any) -> Any:
    """Return a value as Python's writer of csv takes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(str, value)) if isinstance(value, list) else value


def _as_json(value: Any) -> str:
    if isinstance(value, str):
        return in_quotes(value)
    if value is None:
        return "null"
    if value is True:
        return "true"
    return str(value) if type(value) is int else json.dumps(value)  # json.dumps is slower
