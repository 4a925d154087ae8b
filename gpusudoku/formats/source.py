"""Numbered lines of a byte stream, and errors that know their place in it."""

from __future__ import annotations

import codecs
import io
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.places import Origin, Places
from gpusudoku.errors import MOST_OF_BOARD, BadEntry, InputError, escaped, shortened

LONGEST_LINE = 1 << 20
"""Bytes of the longest line, more than any board needs: a file without line ends is refused."""
LONGEST_ROW = 1 << 19
"""Bytes of the longest row, or line with a board, and of all rows of a grid: what is longer is
refused before it is split into cells, which take many times as much memory."""
READ_BYTES = LONGEST_LINE - (1 << 14)
"""Bytes that are read at a time, if so many come at once, and are at hand with what was left."""

NumberedLine = tuple[int, bytes]
"""A line number, from 1, and the line as it is in the file."""

_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")
_QUOTE = re.compile(rb"[\s>]*>")
_FENCE = re.compile(
    rb"[\s>]*(?:(?:`{3,}|~{3,})\s*[\w+.-]*|(?:\[/?(?:code|pre)\]|</?(?:code|pre)>)+)\s*",
    re.IGNORECASE,
)
"""A line around text on a page or in a forum that is shown as it is."""
LONGEST_FENCE = 40
"""No fence has so many bytes."""


class Way(NamedTuple):
    """How an input is read."""

    source: str
    """Its name in errors."""
    geometry: Geometry | None = None
    """The shape of all boxes, if it is given."""
    column: str | None = None
    """The column of a table that holds the boards, if it is given."""
    near: Geometry | None = None
    """One board is read, and this is the shape of its boxes if the text leaves that open."""


class Entry(NamedTuple):
    """A board that was read, and the number of its first line."""

    board: Board
    line: int


def single(board: Board, origin: Origin, line: int, others: tuple[str, ...] = ()) -> Batch:
    """The batch of one board that was read, with its place."""
    places = Places.of(origin, [line], [others])
    return Batch(board.geometry, board.cells[None], places=places)


def quoted(board: Board) -> str:
    """A board as messages quote it: its line, or the start of a long one."""
    return shortened(str(board), MOST_OF_BOARD)


class FormatError(Exception):
    """An error in one board: the text says what was found and what was expected."""

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column

    def at(
        self,
        source: str,
        puzzle: bytes | str = b"",
        columns: Sequence[str] = (),
        others: Sequence[str] = (),
    ) -> InputError:
        """The error to report: ``source:line:column: message``, and what is known of the board."""
        place = ":".join(str(x) for x in (source, self.line, self.column) if x is not None)
        error = InputError(f"{place}: {self.message}")
        error.entry = BadEntry(
            source,
            self.line or 0,
            escaped(f"character {self.column}: " * (self.column is not None) + self.message),
            puzzle if isinstance(puzzle, str) else puzzle.decode(errors="replace"),
            tuple(columns),
            tuple(others) or ("",) * len(columns),
            isinstance(self, UnreadableError),
        )
        return error


class UnreadableError(FormatError):
    """An error after which the rest of the input means nothing."""


_NOTHING = np.zeros(0, np.uint8)


class Lines:
    """Numbered lines, of which some can be put back. An iterator."""

    def __init__(self, lines: Iterable[NumberedLine] = ()) -> None:
        self._lines = iter(lines)
        self._again: deque[NumberedLine] = deque()

    def __iter__(self) -> Iterator[NumberedLine]:
        return self

    def __next__(self) -> NumberedLine:
        return self._again.popleft() if self._again else self._next()

    def _next(self) -> NumberedLine:
        return next(self._lines)

    def put_back(self, lines: Sequence[NumberedLine]) -> None:
        """Put lines back that were taken: they come again, before all others."""
        self._again.extendleft(reversed(lines))

    def at_hand(self) -> NDArray[np.uint8]:
        """The next lines, as far as they have been read from the stream.

        There are none if the stream is not buffered, or if lines were put back.

        Returns
        -------
        uint8 (bytes)
            Whole lines, each with its newline, none of them longer than is allowed.
        """
        return _NOTHING

    def skip(self, lines: int, size: int) -> int:
        """Pass over the next lines, ``size`` bytes in all; returns the number of the first line."""
        numbers = [next(self)[0] for _ in range(lines)]
        return numbers[0]


class NumberedLines(Lines):
    r"""Every line of a stream with its number, without a byte-order mark.

    Lines end in ``\n``, ``\r\n`` or ``\r``. A fence around code comes as a blank line. It raises an
    UnreadableError if the stream is no text.
    """

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__()
        self._stream: Any = stream
        self._is_buffered = hasattr(stream, "peek")
        self._data, self._place, self._end = bytearray(), 0, 0
        """Room for what is read of a buffered stream; which of it was read and not taken yet."""
        self._drained = False
        """Whether nothing came when that stream was asked for more."""
        self._split: deque[bytes] = deque()
        """Lines that ended in a carriage return alone, as far as they have been read."""
        self._rest = b""
        """The start of the line after them."""
        self._number = 0
        self._ended = False
        """A terminal whose input was ended once goes on if it is asked again."""

    def _next(self) -> NumberedLine:
        line = self._split.popleft() if self._split else self._read()
        self._number += 1
        if self._number == 1:
            encoding = utf_16_of(line)
            if encoding is not None:
                self._decode(line, encoding)
                return self._next()
            line = line.removeprefix(b"\xef\xbb\xbf")
        if len(line) >= LONGEST_LINE:
            raise UnreadableError(
                f"a line of {LONGEST_LINE} bytes or more, expected text", self._number
            )
        if is_fence(line):
            line = b"\n"
        return self._number, line

    def _decode(self, line: bytes, encoding: str) -> None:
        """Begin again, with all that was read in another encoding."""
        taken = b"".join([line, *self._split, self._rest, self._data[self._place : self._end]])
        self._stream = as_utf8(taken, self._stream, encoding)
        self._is_buffered, self._ended, self._drained = True, False, False
        self._split.clear()
        self._rest, self._place, self._number = b"", self._end, 0

    def _read(self) -> bytes:
        line = b"" if self._ended else self._take(LONGEST_LINE - len(self._rest))
        self._ended = not line
        line, self._rest = self._rest + line, b""
        if not line:
            raise StopIteration
        # The last return may belong to a line feed that has not been read.
        if b"\r" in line[:-2] or (line[-2:-1] == b"\r" and line[-1:] != b"\n"):
            self._split.extend(line.splitlines(keepends=True))
            if not self._ended and not line.endswith(b"\n"):
                self._rest = self._split.pop()
            return self._split.popleft()
        return line

    def _take(self, most: int) -> bytes:
        """The next line, or as much of it as there is, or as many bytes."""
        if not self._is_buffered:
            return self._stream.readline(most)  # type: ignore[no-any-return]
        self._fill(most)
        end = min(self._place + most, self._end)
        end = self._data.find(b"\n", self._place, end) + 1 or end
        line = bytes(self._data[self._place : end])
        self._place = end
        return line

    def _fill(self, most: int) -> None:
        """Read on until the end of the line has come, or as many bytes."""
        searched = self._place
        while not self._drained and self._end - self._place < most:
            if self._data.find(b"\n", searched, self._end) >= 0:
                break
            searched = self._end - self._place
            self._read_on()
            searched += self._place

    def _read_on(self) -> None:
        """Read what comes at once, past the stream's own buffer, which would only cost a copy."""
        if len(self._data) - self._end < READ_BYTES // 2:
            # Others may look at what was taken, so that its room cannot be used again.
            rest = self._data[self._place : self._end]
            self._data = bytearray(len(rest) + READ_BYTES)
            self._data[: len(rest)] = rest
            self._place, self._end = 0, len(rest)
        more = self._stream.readinto1(memoryview(self._data)[self._end :]) or 0
        self._drained = not more
        self._end += more

    def at_hand(self) -> NDArray[np.uint8]:
        """See the base class."""
        if self._again or self._split or self._rest or not self._is_buffered:
            return _NOTHING
        self._fill(LONGEST_LINE)
        start, most = self._place, min(self._place + LONGEST_LINE - 1, self._end)
        return np.frombuffer(self._data, np.uint8)[start : self._data.rfind(b"\n", start, most) + 1]

    def skip(self, lines: int, size: int) -> int:
        """See the base class."""
        self._place += size
        self._number += lines
        return self._number - lines + 1


def is_fence(line: bytes) -> bool:
    """Whether a line, its end included, is one around text that is shown as it is."""
    return len(line) < LONGEST_FENCE and _FENCE.fullmatch(line) is not None


def binary_error(lines: Iterable[NumberedLine]) -> UnreadableError | None:
    """Return the error of the first control character, which marks binary data; None without."""
    for number, line in lines:
        found = _CONTROL.search(line)
        if found:
            return UnreadableError(f"binary data (byte {found[0][0]:#04x}), expected text", number)
    return None


def content(line: bytes) -> bytes:
    """The line without its comment, quotes and line end, bars and rules as ``|``, ``-`` and ``+``.

    Columns stay as they are.
    """
    text = line.partition(b"#")[0].rstrip(b"\r\n")
    if not text.isascii():
        text = _plain_drawing(text)
    if b">" in text:
        quote = _QUOTE.match(text)
        if quote:
            text = b" " * quote.end() + text[quote.end() :]
    for sign in (b'"', b"'", b"`"):
        if sign in text and text.count(sign) % 2 == 0:
            text = text.replace(sign, b" ")
    return text


def _drawing() -> dict[int, str]:
    """Box-drawing and block characters, and the ASCII character for each."""
    table = {}
    for code in range(0x2500, 0x2580):
        table[code] = "+"
    for sign, codes in {"-": "─━┄┅┈┉╌╍═╴╶╸╺╼╾", "|": "│┃┆┇┊┋╎╏║╵╷╹╻╽╿"}.items():
        table |= {ord(code): sign for code in codes}
    return table | {0xA0: " ", 0x2007: " ", 0x3000: " "}


_DRAWING = _drawing()


def _plain_drawing(text: bytes) -> bytes:
    return (
        text.decode(errors="surrogateescape").translate(_DRAWING).encode(errors="surrogateescape")
    )


def utf_16_of(line: bytes) -> str | None:
    """Return the encoding of a text that begins so, if it is certainly UTF-16.

    It begins with a byte-order mark, or with two characters below 256 and their NUL bytes.
    """
    if line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return None if line.startswith(codecs.BOM_UTF32_LE) else "utf-16"
    nul = bytes(not byte for byte in line[:4])
    return {b"\0\1\0\1": "utf-16-le", b"\1\0\1\0": "utf-16-be"}.get(nul)


def as_utf8(start: bytes, stream: Any, encoding: str) -> io.BufferedReader:
    """Return a text of another encoding, of which the ``start`` was read before."""
    return io.BufferedReader(_Utf8(start, stream, encoding))


class _Utf8(io.RawIOBase):
    """The UTF-8 of a stream in another encoding, with U+FFFD for what is damaged."""

    def __init__(self, start: bytes, stream: Any, encoding: str) -> None:
        self._read = getattr(stream, "read1", stream.readline)
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._ready = self._decoder.decode(start).encode()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = b"?"
        while data and not self._ready:
            data = self._read(1 << 16)
            self._ready = self._decoder.decode(data, not data).encode()
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size
