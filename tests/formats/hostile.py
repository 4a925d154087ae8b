"""Checks of a reader that hold for any bytes, for the tests and the fuzzer."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, BinaryIO
from unittest.mock import patch

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError
from gpusudoku.formats import FORMATS, ReadOptions, header, read_stream, read_text, write
from gpusudoku.formats.coerce import board_of
from gpusudoku.formats.source import expand_stream

LONGEST_MESSAGE = 1500
"""Characters of a message, with the name of the file; two boards may be quoted."""
NAME = "name.txt"
_PLACE = re.compile(rf"{NAME}(:\d+)*: \S")

AT_ONCE = {f"gpusudoku.formats.{name}.MAX_HEAD_LINES": 3 for name in ("grids", "lines")}
"""With this, lines of short texts are read together, too."""
SMALL = {
    f"gpusudoku.formats.{name}": value
    for name, value in {
        "source.MAX_LINE_BYTES": 600,
        "source.READ_BYTES": 400,
        "objects.MAX_LINE_BYTES": 600,
    }.items()
}
"""With these a short text is too long."""


@contextmanager
def limits(values: dict[str, int]) -> Iterator[None]:
    """Let constants of the readers have other values for a while."""
    with ExitStack() as stack:
        for name, value in values.items():
            stack.enter_context(patch(name, value))
        yield


class Trickle(io.RawIOBase):
    """A stream that gives a few bytes at a time."""

    def __init__(self, data: bytes, size: int) -> None:
        self.stream = io.BytesIO(data)
        self.size = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self.stream.read(min(self.size, len(buffer)))
        buffer[: len(piece)] = piece
        return len(piece)


class Reading:
    """The entries of a stream, and how many batches have several boards."""

    def __init__(self, stream: BinaryIO, options: ReadOptions) -> None:
        self.large_batches = 0
        self.entries = list(self._read(stream, options))

    def _read(self, stream: BinaryIO, options: ReadOptions) -> Iterator[Any]:
        """Yield the text of each error, and each board with all facts of its location."""
        for entry in read_stream(stream, options):
            if not isinstance(entry, Batch):
                yield str(entry)
                continue
            locations = entry.locations
            assert locations is not None
            self.large_batches += len(entry) > 1
            for k, board in enumerate(entry):
                line = int(locations.lines[k])
                source = locations.source(k)
                text = locations.board_texts[k]
                yield board, line, source, locations.extra_texts_of(k), text


def assert_alike(data: bytes, options: ReadOptions) -> int:
    """Read bytes line by line, all at once and in pieces; return the number of large batches."""
    by_line = Reading(io.BytesIO(data), options)
    assert by_line.large_batches == 0
    at_once = Reading(io.BufferedReader(io.BytesIO(data)), options)  # type: ignore[arg-type]
    assert at_once.entries == by_line.entries
    in_pieces = Reading(io.BufferedReader(Trickle(data, 700)), options)
    assert in_pieces.entries == by_line.entries
    return at_once.large_batches


def check(data: bytes, options: ReadOptions, size: int) -> None:
    """Read bytes in every way, also in pieces of a size; write a board that was read."""
    by_line = Reading(io.BytesIO(data), options)
    check_entries(by_line.entries, data, options.geometry)
    for stream in (io.BytesIO(data), Trickle(data, size)):
        reading = Reading(io.BufferedReader(stream), options)  # type: ignore[arg-type]
        assert reading.entries == by_line.entries
    boards = [entry[0] for entry in by_line.entries if not isinstance(entry, str)]
    forms = sorted(FORMATS)
    for board in boards[-1:]:
        check_written(board, forms[size % len(forms)])
    if options.column is None:
        check_text(data, options.geometry, by_line.entries)


def check_entries(entries: list[Any], data: bytes, geometry: Geometry | None) -> None:
    """Expect at least one entry; a line in ascending order for boards, a message for errors."""
    assert entries
    previous_line = 0
    line_count = len(data.splitlines()) + 1
    for entry in entries:
        if isinstance(entry, str):
            check_message(entry)
            assert _PLACE.match(entry), entry
        else:
            board, line, *_ = entry
            assert geometry in (None, board.geometry)
            assert previous_line <= line <= line_count
            previous_line = line


def check_message(text: str) -> None:
    """Expect one short line that does nothing to a terminal."""
    assert text.isprintable(), repr(text)
    assert len(text) <= LONGEST_MESSAGE, len(text)


def check_written(board: Board, form: str) -> None:
    """Expect a board that can be written to be read as the same again."""
    try:
        text = f"{header(form)}\n{write(board, form)}\n"
    except InputError as error:
        check_message(str(error))
    else:
        assert list(read_text(text, geometry=board.geometry)) == [board], form


def check_text(data: bytes, geometry: Geometry | None, entries: list[Any]) -> None:
    """Expect a Python string to give the same board as a file; bytes that are no text may fail."""
    expected = [entry if isinstance(entry, str) else entry[0] for entry in entries]
    texts = [data.decode()] if data.isascii() else [data, data.decode(errors="surrogateescape")]
    for text in texts:
        try:
            board = board_of(text, geometry)
        except InputError as error:
            check_message(str(error))
            assert not data.isascii() or len(expected) != 1 or isinstance(expected[0], str)
        else:
            assert not data.isascii() or expected == [board]


def check_expanded(data: bytes, size: int) -> None:
    """Read data that may be compressed, all at once and in pieces.

    Both give the same entries, except for damaged data: its error may come before the last boards,
    or instead of the error of binary data.
    """

    def read(stream: Any) -> list[Any]:
        try:
            expanded = expand_stream(io.BufferedReader(stream), NAME)
        except InputError as error:
            return [str(error)]
        return Reading(expanded, ReadOptions(NAME)).entries

    at_once = read(io.BytesIO(data))
    for entry in at_once:
        if isinstance(entry, str):
            check_message(entry)
    in_pieces = read(Trickle(data, size))
    if in_pieces != at_once:
        last_entries = [in_pieces.pop(), at_once.pop()]
        assert all(isinstance(entry, str) for entry in last_entries)
        assert any("damaged or incomplete" in entry for entry in last_entries)
        assert in_pieces[: len(at_once)] == at_once
