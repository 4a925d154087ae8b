"""Checks of the readers on arbitrary bytes, for the tests and the fuzzer."""

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
from gpusudoku.formats import FORMATS, Way, header, read_stream, read_text, write
from gpusudoku.formats.coerce import board_of
from gpusudoku.formats.source import expanded

MAX_MESSAGE = 1500
"""Characters of the longest message, with the name of the file; it may quote two boards."""
NAME = "name.txt"
"""The name of the input in errors."""
_PLACE = re.compile(rf"{NAME}(:\d+)*: \S")

AT_ONCE = {f"gpusudoku.formats.{name}.LONGEST_HEAD": 3 for name in ("grids", "lines")}
"""Limits with which readers also read the lines of short texts together."""
SMALL = {
    f"gpusudoku.formats.{name}": value
    for name, value in {
        "source.LONGEST_LINE": 600,
        "source.READ_BYTES": 400,
        "objects.LONGEST_LINE": 600,
    }.items()
}
"""Limits that short texts exceed."""


@contextmanager
def limits(values: dict[str, int]) -> Iterator[None]:
    """Give constants of the readers other values while the block runs."""
    with ExitStack() as stack:
        for name, value in values.items():
            stack.enter_context(patch(name, value))
        yield


class Trickle(io.RawIOBase):
    """A stream that returns a few bytes at a time."""

    def __init__(self, data: bytes, size: int) -> None:
        self.stream = io.BytesIO(data)
        self.size = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        chunk = self.stream.read(min(self.size, len(buffer)))
        buffer[: len(chunk)] = chunk
        return len(chunk)


class Reading:
    """Reads a stream; ``entries`` are all boards, with their places, and all errors, as texts."""

    def __init__(self, stream: BinaryIO, way: Way) -> None:
        self.large_batches = 0
        """The number of batches with several boards, which were read together."""
        self.entries = list(self._entries(stream, way))

    def _entries(self, stream: BinaryIO, way: Way) -> Iterator[Any]:
        for batch in read_stream(stream, way):
            if not isinstance(batch, Batch):
                yield str(batch)  # an error
                continue
            assert batch.places is not None
            self.large_batches += len(batch) > 1
            for k, board in enumerate(batch):
                origin = batch.places.origin(k)
                text = batch.places.texts[k]
                yield board, int(batch.places.lines[k]), origin, batch.places.beside(k), text


def assert_alike(data: bytes, way: Way) -> int:
    """Assert that reading line by line, at once and in chunks gives the same entries.

    Return the number of batches that were read together.
    """
    slow = Reading(io.BytesIO(data), way)  # not buffered: it is read line by line
    assert slow.large_batches == 0
    fast = Reading(io.BufferedReader(io.BytesIO(data)), way)  # type: ignore[arg-type]
    assert fast.entries == slow.entries
    assert Reading(io.BufferedReader(Trickle(data, 700)), way).entries == slow.entries
    return fast.large_batches


def check(data: bytes, way: Way, size: int) -> None:
    """Read bytes in all ways, also in chunks of ``size`` bytes; write a board and read it back."""
    line_by_line = Reading(io.BytesIO(data), way)
    check_entries(line_by_line.entries, data, way.geometry)
    for stream in (io.BytesIO(data), Trickle(data, size)):
        together = Reading(io.BufferedReader(stream), way)  # type: ignore[arg-type]
        assert together.entries == line_by_line.entries
    boards = [entry[0] for entry in line_by_line.entries if not isinstance(entry, str)]
    forms = sorted(FORMATS)
    for board in boards[-1:]:
        check_written(board, forms[size % len(forms)])
    if way.column is None:
        check_text(data, way.geometry, line_by_line.entries)


def check_entries(entries: list[Any], data: bytes, geometry: Geometry | None) -> None:
    """Expect at least one entry, boards in the order of their lines, and errors with a place."""
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
    """Expect one short line without control characters."""
    assert text.isprintable(), repr(text)
    assert len(text) <= MAX_MESSAGE, len(text)


def check_written(board: Board, form: str) -> None:
    """Expect that a board, if it can be written in a format, is read back unchanged."""
    try:
        text = f"{header(form)}\n{write(board, form)}\n"
    except InputError as error:
        check_message(str(error))
    else:
        assert list(read_text(text, geometry=board.geometry)) == [board], form


def check_text(data: bytes, geometry: Geometry | None, entries: list[Any]) -> None:
    """Expect that the Python interface reads the same board from a text, or refuses the text."""
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
    """Check bytes that may be compressed: read them at once, and in chunks of ``size`` bytes.

    Both readings agree, except for damaged data: the error may precede the last boards, or the
    report of binary data, before the damage.
    """

    def read_entries(stream: Any) -> list[Any]:
        try:
            opened = expanded(io.BufferedReader(stream), NAME)
        except InputError as error:
            return [str(error)]
        return Reading(opened, Way(NAME)).entries

    at_once = read_entries(io.BytesIO(data))
    for entry in at_once:
        if isinstance(entry, str):
            check_message(entry)
    in_chunks = read_entries(Trickle(data, size))
    if in_chunks != at_once:
        last_entries = [in_chunks.pop(), at_once.pop()]
        assert all(isinstance(entry, str) for entry in last_entries)
        assert any("damaged or incomplete" in entry for entry in last_entries)
        assert in_chunks[: len(at_once)] == at_once
