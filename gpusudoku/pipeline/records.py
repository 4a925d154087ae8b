"""The writer of tables: rows as csv, tsv and JSON lines, and the records of boards among them.

The columns of some rows are a dict of names and values. The values of a column are one of these::

    a text, a number, None ...   the same value in every row
    a list                       a value for every row, of any kind
    an array of numbers          likewise
    an array of bytes            texts without any character that csv or JSON quotes; an empty
                                 one is a missing value
    Choices                      few values, and the index of every row's value

Rows are joined as bytes in one array, in a third of the time of Python's writers, unless a list has
values that csv or JSON must encode one by one.
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

from gpusudoku.board.batch import Batch, Origin, Places
from gpusudoku.board.text import DIGITS, line_buffer
from gpusudoku.results import BadBoard

FORMS = ("csv", "tsv", "jsonl")
"""The forms of tables."""

_PLACE = ("source", "line", "puzzle")
"""The columns that every table of boards begins with."""
_NO_BYTES = re.compile("[\ud800-\udc7f\udd00-\udfff]")
"""Unpaired surrogates, which JSON allows and UTF-8 does not; but for those that are bytes."""
_MAY_NEED_QUOTES = re.compile('[",\t\r\n#\0]')
"""Characters for which ``as_rows`` may quote a field; NUL fills fields up in an array."""


@dataclass(frozen=True)
class Choices:
    """A column of few values: that of row i is ``values[which[i]]``."""

    values: Sequence[Any]
    which: NDArray[np.integer[Any]]

    def __len__(self) -> int:
        return len(self.which)

    def tolist(self) -> list[Any]:
        """Return the value of every row."""
        return [self.values[index] for index in self.which.tolist()]


class TableWriter:
    """Writes rows in one of the ``FORMS``; ``names`` are those of the columns of csv and tsv."""

    def __init__(self, form: str, names: Iterable[str]) -> None:
        self.delimiter = {"csv": ",", "tsv": "\t"}.get(form)
        """None for JSON lines."""
        self._names = tuple(names)

    def header(self) -> bytes:
        """Return the line before all rows."""
        return as_rows([self._names], self.delimiter) if self.delimiter else b""

    def rows(self, columns: Mapping[str, Any], end: str | list[str] = "") -> bytes:
        """Write rows; one column at least has a value for each.

        Csv and tsv have the columns that were named; a missing one is empty.
        ``end`` is the JSON text at the end of all objects, or a list with one for each.
        """
        if self.delimiter:
            columns = {name: columns.get(name) for name in self._names}
        fields = self._fields(columns) if isinstance(end, str) else None
        if fields is not None and isinstance(end, str):
            return _joined([*fields, end.encode(), b"\n" if self.delimiter else b"}\n"])
        cells = {name: self._cells(column) for name, column in columns.items()}
        if self.delimiter:
            return as_rows(zip(*map(_repeated, cells.values()), strict=False), self.delimiter)
        record = ", ".join(
            f"{in_quotes(name)}: ".replace("%", "%%")
            + ("%s" if isinstance(cell, list) else cell.replace("%", "%%"))
            for name, cell in cells.items()
        )
        lists = [cell for cell in cells.values() if isinstance(cell, list)]
        rows = zip(*lists, _repeated(end), strict=False)
        return "".join(map(f"{{{record}%s}}\n".__mod__, rows)).encode()

    def _cells(self, column: Any) -> Any:
        """Return the texts of a column as a list, or the text of the value of all rows."""
        encode = _csv_value if self.delimiter else _as_json
        if not is_column(column):
            return encode(column)
        values = as_list(column)
        if self.delimiter and not {bool, list} & {*map(type, values)}:
            return values  # Python's writer of csv encodes all other values
        return [*map(encode, values)]

    def _fields(self, columns: Mapping[str, Any]) -> list[bytes | NDArray[np.bytes_]] | None:
        """Return the parts of all rows: bytes, the same in every row, or an array of bytes.

        None if there are fields that csv may have to quote, or lists of other values.
        """
        fields = list[bytes | NDArray[np.bytes_]]()
        before = "" if self.delimiter else "{"
        for name, column in columns.items():
            field = self._field(column)
            if field is None:
                return None
            lead = before if self.delimiter else f"{before}{in_quotes(name)}: "
            fields += [lead.encode(), field]
            before = self.delimiter or ", "
        return fields

    def _field(self, column: Any) -> bytes | NDArray[np.bytes_] | None:
        """Return the parts of rows for one column, or None as ``_fields`` does."""
        kind = column.dtype.kind if isinstance(column, np.ndarray) else ""
        if kind == "S":
            texts = np.ascontiguousarray(column)
            if self.delimiter:  # lines of boards with more than 35 digits have commas
                has_delimiter = (texts.view(np.uint8) == ord(self.delimiter)).any()
                return None if has_delimiter else texts
            quoted = np.strings.add(np.strings.add(b'"', texts), b'"')
            return np.where(texts == b"", b"null", quoted)
        if kind == "f":  # weights are often all equal
            values, which = np.unique(column, return_inverse=True)
            column = Choices(values.tolist(), which)
        if isinstance(column, Choices):
            encoded = [*map(self._encoded, column.values)]
            return None if None in encoded else np.array(encoded, np.bytes_)[column.which]
        if not is_column(column):
            return self._encoded(column)
        if self.delimiter and isinstance(column, list):
            return _packed(column)
        return column.astype(np.bytes_) if kind in ("i", "u") else None

    def _encoded(self, value: Any) -> bytes | None:
        """Encode a value; return None if csv may have to quote it."""
        if not self.delimiter:
            return _as_json(value).encode()
        text = "" if value is None else str(_csv_value(value))
        return None if _MAY_NEED_QUOTES.search(text) else as_bytes(text)


class RecordWriter(TableWriter):
    """Writes records: rows with the place and text of the board that each is of.

    A table has the columns of the command, ``names``, and the other columns of an input.
    """

    def __init__(self, form: str, origin: Origin, names: Iterable[str] = ()) -> None:
        columns = [*_PLACE, *names]
        self._origin, self._others = origin, distinct(origin.columns, columns)
        super().__init__(form, [*columns, *self._others])

    def text(
        self,
        boards: Batch,
        columns: Mapping[str, Any],
        board_of: NDArray[np.int64] | None = None,
        details: Sequence[Mapping[str, Any]] = (),
    ) -> bytes:
        """Write records, one for each board, or several for some.

        ``board_of`` is the index of each record's board, int64 (k); None if every board has one
        record, or the only board has all. ``details`` are more values for each record, at the end
        of JSON objects.
        """
        places = boards.places
        assert places is not None  # whatever a command reads has a place
        if not len(boards):
            return b""

        def of_records(column: Any) -> Any:
            """Return the values of the boards for every record."""
            if len(boards) == 1:
                return as_list(column)[0]
            if board_of is None:
                return column
            if isinstance(column, Choices):
                return Choices(column.values, column.which[board_of])
            if isinstance(column, list):
                return [column[index] for index in board_of.tolist()]
            return column[board_of]

        sources = Choices([origin.name for origin in places.origins], places.origin_of)
        lines: Any = places.lines
        if not lines.all():
            lines = [line or None for line in lines.tolist()]
        puzzles: Any = places.texts
        if not puzzles.astype(bool).all():
            texts = zip(as_list(puzzles), boards, strict=True)
            puzzles = [text or str(board) for text, board in texts]
        place = {"source": of_records(sources), "line": of_records(lines)}
        puzzles = of_records(puzzles)
        has_others = any(origin.columns for origin in places.origins)
        if self.delimiter:
            others = zip(*places.others.tolist(), strict=True) if has_others else ()
            named = zip(self._others, map(of_records, map(list, others)), strict=True)
            return self.rows({**place, "puzzle": puzzles, **columns, **dict(named)})
        end = of_records(_objects_of_columns(places)) if has_others else ""
        if details:
            ends = zip(_repeated(end), details, strict=False)
            end = [f"{text}, {json.dumps(facts)[1:-1]}" for text, facts in ends]
        record = {"board": puzzles, "box": str(boards.geometry), **columns, **place}
        return self.rows(record, end)

    def bad(self, board: BadBoard) -> bytes:
        """Write the record of a board that cannot be read: its error in place of all values."""
        entry = board.error.entry
        assert entry is not None  # whatever a command reads has one
        place = {"source": [entry.source], "line": entry.line or None}
        if self.delimiter:
            texts = dict(zip(entry.columns, entry.others, strict=True))
            others = zip(self._others, map(texts.get, self._origin.columns), strict=True)
            record = {**place, "puzzle": entry.puzzle, "error": entry.reason, **dict(others)}
            return self.rows(record)
        texts = dict(zip(distinct(entry.columns), entry.others, strict=True))
        end = f', "columns": {json.dumps(texts)}' if texts else ""
        record = {"board": entry.puzzle or None, "error": entry.reason, **place}
        return self.rows(record, end)


def board_column(
    rows: NDArray[np.uint8], boards: Batch | None = None, board_of: NDArray[np.int64] | None = None
) -> NDArray[np.bytes_] | list[str]:
    """Return the lines of boards, uint8 (k, cells), as a column, in the alphabets of ``boards``.

    ``board_of`` is as of ``Batch.in_alphabets``.
    """
    text: bytes | memoryview = line_buffer(rows)
    if boards is not None:
        text = boards.in_alphabets(text, board_of)
    cells = rows.shape[1]
    if isqrt(cells) > len(DIGITS):  # numbers and commas, which csv quotes
        return bytes(text).decode().splitlines()
    lines = np.frombuffer(text, np.uint8).reshape(len(rows), cells + len("\n"))
    return np.ascontiguousarray(lines[:, :cells]).view(f"S{cells}")[:, 0]


def is_column(column: Any) -> bool:
    """Tell whether a column has a value for each row, and not one for all."""
    return isinstance(column, list | Choices | np.ndarray)


def as_list(column: Any) -> list[Any]:
    """Return the values of a column that has one for each row."""
    values: list[Any] = column if isinstance(column, list) else column.tolist()
    if isinstance(column, np.ndarray) and column.dtype.kind == "S":
        return [text.decode() or None for text in values]
    return values


def spread(column: Any, rows: NDArray[np.bool_]) -> Any:
    """Return a column with values in some rows only, those of a mask, bool (B)."""
    if rows.all():
        return column
    if isinstance(column, np.ndarray) and column.dtype.kind == "S":
        whole = np.zeros(len(rows), column.dtype)
        whole[rows] = column
        return whole
    values = iter(as_list(column))
    return [next(values) if has_value else None for has_value in rows.tolist()]


def _packed(texts: list[Any]) -> NDArray[np.bytes_] | None:
    """Return a list as an array of bytes; None if it has others than texts that need no quotes.

    None, too, if few of them are so much longer than the others that the array would be large.
    """
    if {*map(type, texts)} != {str}:
        return None
    text = "\n".join(texts)
    may_need_quotes = any(character in text for character in '",\t\r#\0')
    if may_need_quotes or not text.isascii() or text.count("\n") >= len(texts):
        return None
    if max(map(len, texts)) * len(texts) > 4 * len(text):
        return None
    return np.array(text.encode().split(b"\n"), np.bytes_)


def _joined(fields: Sequence[bytes | NDArray[np.bytes_]]) -> bytes:
    """Join the parts of rows side by side in an array of bytes, and remove the NUL bytes."""
    rows = next(len(field) for field in fields if isinstance(field, np.ndarray))
    widths = [len(field) if isinstance(field, bytes) else field.itemsize for field in fields]
    table = np.empty((rows, sum(widths)), np.uint8)
    end = 0
    for field, width in zip(fields, widths, strict=True):
        start = end
        end = end + width
        if isinstance(field, bytes):
            table[:, start:end] = np.frombuffer(field, np.uint8)
        else:
            table[:, start:end] = field.view(np.uint8).reshape(rows, width)
    return table.tobytes().translate(None, b"\0")


def as_rows(rows: Iterable[Sequence[Any]], delimiter: str) -> bytes:
    """Write rows by the rules of CSV, and by those that they overlook.

    To readers a carriage return is the end of a line, and what begins with ``#`` a comment: all
    fields of such a row are quoted.
    """
    rows = list(rows)
    text = _as_csv(rows, delimiter)
    if "\r" in text or ("#" in text and re.search('(?:^|\n)"?#', text)):
        texts = []
        for row in rows:
            fields = f"\n{delimiter.join(map(str, row))}"
            texts.append(_as_csv([row], delimiter, "\r" in fields or "\n#" in fields))
        text = "".join(texts)
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
    """Encode text; names of files may have bytes that are no text.

    An unpaired surrogate, which JSON allows and nothing else, becomes U+FFFD.
    """
    try:
        return text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return _NO_BYTES.sub("\ufffd", text).encode(errors="surrogateescape")


def distinct(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Return names of columns; one that is taken already gets the prefix ``input_``."""
    found = list(taken)
    start = len(found)
    for name in names:
        while name in found:
            name = f"input_{name}"
        found.append(name)
    return found[start:]


def _repeated(values: Any) -> Iterable[Any]:
    """Return a value for each row, of a list or of a value that all have."""
    return values if isinstance(values, list) else repeat(values)


def _objects_of_columns(places: Places) -> list[str]:
    """Write the other columns of every board as they end its JSON object."""
    indices: list[int] = places.origin_of.tolist()
    columns = {}
    for index in set(indices):  # a part of a batch has all origins of the batch
        texts = [
            f"{in_quotes(name)}: ".replace("%", "%%") + "%s"
            for name in distinct(places.origins[index].columns)
        ]
        columns[index] = f', "columns": {{{", ".join(texts)}}}' if texts else ""
    return [
        columns[index] % tuple(map(in_quotes, texts))
        for index, texts in zip(indices, places.others.tolist(), strict=True)
    ]


def _csv_value(value: Any) -> Any:
    """Return what csv shows of a value, as Python's writer takes it."""
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
    return str(value) if type(value) is int else json.dumps(value)
