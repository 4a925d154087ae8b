"""What holds of a reader whatever bytes it gets: what the tests and the fuzzer check."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
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


class Found:
    """Reads all there is, and counts what was read together."""

    def __init__(self, stream: BinaryIO, options: ReadOptions) -> None:
        self.together = 0
        self.all = list(self._of(stream, options))

    def _of(self, stream: BinaryIO, options: ReadOptions) -> Iterator[Any]:
        for found in read_stream(stream, options):
            if not isinstance(found, Batch):
                yield str(found)
                continue
            assert found.places is not None
            self.together += len(found) > 1
            for k, board in enumerate(found):
                origin = found.places.source(k)
                text = found.places.board_texts[k]
                yield (
                    board,
                    int(found.places.lines[k]),
                    origin,
                    found.places.extra_texts_of(k),
                    text,
                )


def assert_alike(data: bytes, options: ReadOptions) -> int:
    """Read bytes line by line, all at once and in pieces; returns what was read together."""
    slow = Found(io.BytesIO(data), options)
    assert slow.together == 0
    fast = Found(io.BufferedReader(io.BytesIO(data)), options)  # type: ignore[arg-type]
    assert fast.all == slow.all
    assert Found(io.BufferedReader(Trickle(data, 700)), options).all == slow.all
    return fast.together


def check(data: bytes, options: ReadOptions, size: int) -> None:
    """Read bytes in every way, also in pieces of a size; write what was found, and read that."""
    line_by_line = Found(io.BytesIO(data), options)
    check_entries(line_by_line.all, data, options.geometry)
    for stream in (io.BytesIO(data), Trickle(data, size)):
        together = Found(io.BufferedReader(stream), options)  # type: ignore[arg-type]
        assert together.all == line_by_line.all
    boards = [each[0] for each in line_by_line.all if not isinstance(each, str)]
    forms = sorted(FORMATS)
    for board in boards[-1:]:
        check_written(board, forms[size % len(forms)])
    if options.column is None:
        check_text(data, options.geometry, line_by_line.all)


def check_entries(found: list[Any], data: bytes, geometry: Geometry | None) -> None:
    """Expect one at least; every board has its place, every error is a line with its own."""
    assert found
    last = 0
    lines = len(data.splitlines()) + 1
    for each in found:
        if isinstance(each, str):
            check_message(each)
            assert _PLACE.match(each), each
        else:
            board, line, *_ = each
            assert geometry in (None, board.geometry)
            assert last <= line <= lines
            last = line


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


def check_text(data: bytes, geometry: Geometry | None, found: list[Any]) -> None:
    """Expect a text that is given in Python to mean the same; what is no text is refused, too."""
    expected = [each if isinstance(each, str) else each[0] for each in found]
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
    """Read what may be compressed, all at once and in pieces.

    Both find the same, but for damaged data: the damage may be told before the last boards, or the
    binary data, in front of it.
    """

    def entries(stream: Any) -> Iterable[Any]:
        try:
            opened = expand_stream(io.BufferedReader(stream), NAME)
        except InputError as error:
            return [str(error)]
        return Found(opened, ReadOptions(NAME)).all

    at_once = list(entries(io.BytesIO(data)))
    for each in at_once:
        if isinstance(each, str):
            check_message(each)
    in_pieces = list(entries(Trickle(data, size)))
    if in_pieces != at_once:
        last = [in_pieces.pop(), at_once.pop()]
        assert all(isinstance(each, str) for each in last)
        assert any("damaged or incomplete" in each for each in last)
        assert in_pieces[: len(at_once)] == at_once
