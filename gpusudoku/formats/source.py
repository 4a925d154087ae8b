"""Numbered lines of a byte stream, and errors that know their place in it."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from typing import BinaryIO, NamedTuple

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.places import Origin, Places
from gpusudoku.errors import InputError

LONGEST_LINE = 1 << 20
"""Bytes of the longest line, more than any board needs: a file without line ends is refused."""

NumberedLine = tuple[int, bytes]
"""A line number, from 1, and the line as it is in the file."""

_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")


class Entry(NamedTuple):
    """A board that was read, and the number of its first line."""

    board: Board
    line: int


def single(board: Board, origin: Origin, line: int, others: tuple[str, ...] = ()) -> Batch:
    """The batch of one board that was read, with its place."""
    places = Places.of(origin, [line], [others])
    return Batch(board.geometry, board.cells[None], places=places)


class FormatError(Exception):
    """An error in one board: the text says what was found and what was expected."""

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column

    def at(self, source: str) -> InputError:
        """The error to report: ``source:line:column: message``."""
        place = ":".join(str(x) for x in (source, self.line, self.column) if x is not None)
        return InputError(f"{place}: {self.message}")


class UnreadableError(FormatError):
    """An error after which the rest of the input means nothing."""


class NumberedLines:
    """Every line of a stream with its number, without a byte-order mark. An iterator.

    It raises an UnreadableError if the stream is no text.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._peek = getattr(stream, "peek", None)
        self._again: deque[NumberedLine] = deque()
        self._number = 0
        self._ended = False
        """A terminal whose input was ended once goes on if it is asked again."""

    def __iter__(self) -> Iterator[NumberedLine]:
        return self

    def __next__(self) -> NumberedLine:
        if self._again:
            return self._again.popleft()
        line = b"" if self._ended else self._stream.readline(LONGEST_LINE)
        if not line:
            self._ended = True
            raise StopIteration
        self._number += 1
        if self._number == 1:
            if line.startswith((b"\xff\xfe", b"\xfe\xff")):
                raise UnreadableError("binary data (UTF-16), expected UTF-8 text", 1)
            line = line.removeprefix(b"\xef\xbb\xbf")
        if b"\0" in line:
            raise UnreadableError("binary data (a NUL byte), expected text", self._number)
        if len(line) == LONGEST_LINE:
            raise UnreadableError(
                f"a line of {LONGEST_LINE} bytes or more, expected text", self._number
            )
        return self._number, line

    def put_back(self, lines: Iterable[NumberedLine]) -> None:
        """Put lines back that were taken: they come again, before all others."""
        self._again.extend(lines)

    def buffered(self) -> bytes:
        """The next bytes, from the start of a line, as far as they have been read from the stream.

        There are none if the stream is not buffered, or if lines were put back.
        """
        if self._again or self._ended or self._peek is None:
            return b""
        data: bytes = self._peek()
        self._ended = not data
        return data

    def skip(self, lines: int, size: int) -> int:
        """Pass over buffered lines, ``size`` bytes in all; returns the number of the first line."""
        self._stream.read(size)
        self._number += lines
        return self._number - lines + 1


def check_text(lines: Iterable[NumberedLine]) -> None:
    """Refuse control characters, which mark a file as binary even without a NUL byte.

    Raises
    ------
    UnreadableError
        If there is one.
    """
    for number, line in lines:
        found = _CONTROL.search(line)
        if found:
            raise UnreadableError(f"binary data (byte {found[0][0]:#04x}), expected text", number)


def content(line: bytes) -> bytes:
    """The line without its comment. Columns stay as they are."""
    return line.partition(b"#")[0]
