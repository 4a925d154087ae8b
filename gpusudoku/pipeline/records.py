"""Records as csv, tsv and JSON lines: each has a board, where it was read, and values found for it.

A record has the values of a command between the board and what stood beside it in the input.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from itertools import repeat
from json.encoder import encode_basestring_ascii as in_quotes
from operator import add
from typing import Any

from gpusudoku.board.batch import Batch, Origin, Places
from gpusudoku.errors import BadEntry

FORMS = ("csv", "tsv", "jsonl")
"""The forms that have records."""

_PLACE = ("source", "line", "puzzle")
"""The columns that every table begins with."""
_NO_BYTES = re.compile("[\ud800-\udc7f\udd00-\udfff]")
"""Unpaired surrogates, which JSON allows and UTF-8 does not; but for those that are bytes."""


class RecordWriter:
    """Writes records in one of the ``FORMS``.

    A table has the columns of the command's values, and the other columns of an input, ``origin``.
    """

    def __init__(self, form: str, origin: Origin, columns: Iterable[str] = ()) -> None:
        self._delimiter = {"csv": ",", "tsv": "\t"}.get(form)
        """None for JSON lines."""
        self._columns, self._origin = tuple(columns), origin

    def header(self) -> bytes:
        """Return the line before all records."""
        if not self._delimiter:
            return b""
        ours = [*_PLACE, *self._columns]
        return as_rows([[*ours, *distinct(self._origin.columns, ours)]], self._delimiter)

    def text(
        self,
        boards: Batch,
        values: Mapping[str, Any],
        board_of: Sequence[int] | None = None,
        details: Sequence[Mapping[str, Any]] = (),
    ) -> bytes:
        """Write records, one for each board, or several for some.

        ``values`` has for every name a list with a value for each record, or the value that all
        have; one is a list. ``board_of`` is the index of each record's board; None if every board
        has one record, or the only board has all. ``details`` are more values for each record,
        which stand at the end of JSON objects.
        """
        places = boards.places
        assert places is not None  # whatever a command reads has a place
        puzzles = [text.decode() for text in places.texts.tolist()]
        if not all(puzzles):
            puzzles = [text or str(board) for text, board in zip(puzzles, boards, strict=True)]
        sources = [places.origins[index].name for index in places.origin_of.tolist()]
        lines = [line or None for line in places.lines.tolist()]
        others = places.others.tolist()

        def of_records(column: list[Any]) -> Any:
            if len(boards) == 1:
                return column[0]
            return column if board_of is None else [column[index] for index in board_of]

        if self._delimiter:
            columns = [*map(of_records, (sources, lines, puzzles)), *values.values()]
            rows = zip(*map(_each, columns), strict=False)
            return as_rows(map(add, rows, _each(of_records(others))), self._delimiter)

        ends = _objects_of_columns(places, others)
        if details:
            ends = [
                f"{end}, {json.dumps(facts)[1:-1]}"
                for end, facts in zip(ends, details, strict=True)
            ]
        fields = {"board": of_records(puzzles), "box": str(boards.geometry), **values}
        fields |= {"source": of_records(sources), "line": of_records(lines)}
        record = ", ".join(
            f"{in_quotes(name)}: ".replace("%", "%%")
            + ("%s" if isinstance(column, list) else _as_json(column).replace("%", "%%"))
            for name, column in fields.items()
        )
        lists = [map(_as_json, column) for column in fields.values() if isinstance(column, list)]
        rows = zip(*lists, _each(of_records(ends)), strict=False)
        return "".join(map(f"{{{record}%s}}\n".__mod__, rows)).encode()

    def bad(self, board: BadEntry) -> bytes:
        """Write the record of a board that cannot be read: its error in place of all values."""
        if not self._delimiter:
            columns = dict(zip(distinct(board.columns), board.others, strict=True))
            facts = {
                "board": board.puzzle or None,
                "error": board.reason,
                "source": board.source,
                "line": board.line or None,
                **({"columns": columns} if columns else {}),
            }
            return f"{json.dumps(facts)}\n".encode()
        known = dict(zip(board.columns, board.others, strict=True))
        others = board.others
        if board.columns != self._origin.columns:
            others = tuple(known.get(name, "") for name in self._origin.columns)
        ours = [board.reason if name == "error" else "" for name in self._columns]
        row = [board.source, board.line or None, board.puzzle, *ours, *others]
        return as_rows([row], self._delimiter)


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


def _each(column: Any) -> Iterable[Any]:
    """Give a value for each record, of a list or of a value that all have."""
    return column if isinstance(column, list) else repeat(column)


def _objects_of_columns(places: Places, others: Sequence[tuple[str, ...]]) -> list[str]:
    """Write the other columns of every board as they stand at the end of its JSON object."""
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
        for index, texts in zip(indices, others, strict=True)
    ]


def _as_json(value: Any) -> str:
    if isinstance(value, str):
        return in_quotes(value)
    if value is None:
        return "null"
    if value is True:
        return "true"
    return str(value) if type(value) is int else json.dumps(value)
