"""Numbered lines of a byte stream, and faults that know their place in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import BinaryIO, NamedTuple

from gpusudoku.board import Board
from gpusudoku.errors import InputError

LONGEST_LINE = 1 << 20
"""Bytes. Far more than any board takes, so that a file without line ends cannot fill the memory."""

NumberedLine = tuple[int, bytes]
"""Line number from 1, and the line as it stands in the file."""

_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")


class Entry(NamedTuple):
    """A board that was read, and the line (from 1) on which it starts."""

    board: Board
    line: int


class FormatError(Exception):
    """What is wrong with one board: the text says what was found and what was expected."""

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column

    def at(self, source: str) -> InputError:
        """Make the error to report: ``source:line:column: message``."""
        place = ":".join(str(x) for x in (source, self.line, self.column) if x is not None)
        return InputError(f"{place}: {self.message}")


class UnreadableError(FormatError):
    """An error after which the rest of the input means nothing."""


def numbered_lines(stream: BinaryIO) -> Iterator[NumberedLine]:
    """Every line with its number, without a byte-order mark.

    Raises
    ------
    UnreadableError
        If the stream is no text.
    """
    for number, line in enumerate(iter(partial(stream.readline, LONGEST_LINE), b""), 1):
        if number == 1:
            if line.startswith((b"\xff\xfe", b"\xfe\xff")):
                raise UnreadableError("binary data (UTF-16), expected UTF-8 text", number)
            line = line.removeprefix(b"\xef\xbb\xbf")
        if b"\0" in line:
            raise UnreadableError("binary data (a NUL byte), expected text", number)
        if len(line) == LONGEST_LINE:
            raise UnreadableError(f"a line of {LONGEST_LINE} bytes or more, expected text", number)
        yield number, line


def check_text(lines: Iterable[NumberedLine]) -> None:
    """Look for control characters, which make a file binary even if it has no NUL byte.

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
    """Cut the comment off a line. Columns stay as they are."""
    return line.partition(b"#")[0]
