"""Open inputs, expand what is compressed, and number the lines; errors that know their place.

Data is expanded within bounds of memory, and no bytes behind it are passed over.
"""

from __future__ import annotations

import bz2
import codecs
import io
import lzma
import os
import re
import stat
import sys
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch, Origin, Places
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import DIGITS
from gpusudoku.errors import (
    MAX_OF_BOARD,
    BadEntry,
    Hint,
    InputError,
    Message,
    escaped,
    not_installed,
    python_words,
    shortened,
    worded,
)
from gpusudoku.formats.symbols import CHARACTERS, alphabet_of, values_in

STDIN = "-"
"""The path that stands for standard input."""
LONGEST_LINE = 1 << 20
"""Bytes of the longest line, more than any board needs: a file without line ends is refused."""
LONGEST_ROW = 1 << 19
"""Bytes of the longest row, or line with a board, and of all rows of a grid: longer ones are
refused before they are split into cells, which take many times as much memory."""
_ROWS_AT_ONCE = 1 << 12
"""Rows of an array that become text together, which takes much more memory."""
LONGEST_FENCE = 40
"""No fence has so many bytes."""
READ_BYTES = LONGEST_LINE - (1 << 14)
"""Bytes that are read at a time, if so many come at once, and are at hand with what was left."""
BUFFER_BYTES = 1 << 16
"""Bytes read from a file at a time."""
BLOCK_BYTES = 14 * BUFFER_BYTES
"""Bytes that are expanded at a time: a block of bzip2, and a little less than READ_BYTES."""
XZ_MEMORY = 160 << 20
"""Bytes that expanding xz data may take: a few bytes of a header can ask for gigabytes."""

_MAGIC_BYTES = 10
_FIRST_BYTES = b"\x1fB\xfd\x28P\x93"
_MAGIC = {
    "gzip": re.compile(rb"\x1f\x8b\x08"),
    "bzip2": re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"),
    "xz": re.compile(rb"\xfd7zXZ\0"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"),  # or a frame to skip
    "zip": re.compile(rb"PK\x03\x04"),
    "Parquet": re.compile(rb"PAR1"),
    "NumPy": re.compile(rb"\x93NUMPY"),
}
"""The first bytes of data that is no text, and of each part of what is compressed."""
_REFUSED = {
    "zip": "a zip archive, expected a file of it, or gzip, bzip2, xz or zstd",
    "Parquet": "a Parquet file: pass its column to Python, as pyarrow.parquet.read_table(file)"
    "['puzzle'], or convert it to CSV",
}

_NAN = re.compile(rb"(?<![^\s,;])nan(?![^\s,;])", re.IGNORECASE)
"""An empty cell, as tools for floating-point numbers write it."""
_QUOTE = re.compile(rb"[\s>]*>")
_FENCE = re.compile(
    rb"[\s>]*(?:(?:`{3,}|~{3,})\s*[\w+.-]*|(?:\[/?(?:code|pre)\]|</?(?:code|pre)>)+)\s*",
    re.IGNORECASE,
)
"""A line around text on a page or in a forum that is shown as it is."""
_DRAWING = (
    dict.fromkeys(range(0x2500, 0x2580), "+")
    | dict.fromkeys(map(ord, "─━┄┅┈┉╌╍═╴╶╸╺╼╾"), "-")
    | dict.fromkeys(map(ord, "│┃┆┇┊┋╎╏║╵╷╹╻╽╿"), "|")
    | dict.fromkeys((0xA0, 0x2007, 0x3000), " ")
)
"""The ASCII character for each character of a drawn box, and for some blanks."""
_NOTHING = np.zeros(0, np.uint8)

NumberedLine = tuple[int, bytes]
"""A line number, from 1, and the line as it is in the file."""


class Way(NamedTuple):
    """The options of reading an input."""

    source: str
    """Its name in errors."""
    geometry: Geometry | None = None
    """The shape of all boxes, if it is given."""
    column: str | None = None
    """The column of a table that holds the boards, if it is given."""
    near: Geometry | None = None
    """One board is read, and this is the shape of its boxes if the text leaves that open."""
    words: Callable[[Hint], str] = python_words
    """Names options in errors."""


class FormatError(Exception):
    """An error in one board: the text says what was found and what was expected."""

    def __init__(
        self, message: Message, line: int | None = None, column: int | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column

    def at(
        self,
        way: Way,
        puzzle: bytes | str = b"",
        columns: Sequence[str] = (),
        others: Sequence[str] = (),
    ) -> InputError:
        """Return the error to report, ``source:line:column: message``, with the bad board."""
        place = ":".join(str(x) for x in (way.source, self.line, self.column) if x is not None)
        message = worded(self.message, way.words)
        error = InputError(f"{place}: {message}")
        error.entry = BadEntry(
            way.source,
            self.line or 0,
            escaped(f"character {self.column}: " * (self.column is not None) + message),
            puzzle if isinstance(puzzle, str) else puzzle.decode(errors="replace"),
            tuple(columns),
            tuple(others) or ("",) * len(columns),
            isinstance(self, UnreadableError),
        )
        return error


class UnreadableError(FormatError):
    """An error after which the rest of the input means nothing."""


def quoted(board: Board) -> str:
    """Quote a board in a message: its line, or the start of a long one."""
    return shortened(str(board), MAX_OF_BOARD)


def single(
    board: Board, origin: Origin, line: int, others: tuple[str, ...] = (), text: bytes = b""
) -> Batch:
    """Return the batch of one board with its place, and its text if that is a line of cells."""
    texts = None
    if len(text) == board.geometry.cells and board.n <= len(DIGITS):
        cells = board.cells.tobytes()
        is_plain = text.translate(CHARACTERS) == cells  # mostly, and quickest to tell
        alphabet = DIGITS if is_plain else alphabet_of(text, board.n)
        if is_plain or values_in(alphabet, text).tobytes() == cells:
            texts = np.array([text])
            if not DIGITS.startswith(alphabet):
                origin = origin._replace(alphabet=alphabet)
    places = Places.of(origin, [line], [others], texts)
    batch = Batch.of([board])
    return Batch(batch.geometry, batch.cells, batch.candidates, places)


class Meter:
    """Measures how much of some files has been read, in bytes as they are stored."""

    def __init__(self, paths: Sequence[str]) -> None:
        sizes = []
        for path in paths:
            with suppress(OSError, ValueError, AttributeError):
                found = os.fstat(sys.stdin.fileno()) if path == STDIN else os.stat(path)  # noqa: PTH116
                if stat.S_ISREG(found.st_mode):
                    sizes.append(found.st_size)
        self._total = sum(sizes) if len(sizes) == len(paths) else None
        self._before = 0
        """The bytes of the files that have been read."""
        self._file: int | None = None
        """The descriptor of the file that is being read."""

    def share(self) -> float | None:
        """Return the share of all bytes that has been read, None if their number is unknown."""
        if not self._total:
            return None
        here = 0 if self._file is None else os.lseek(self._file, 0, os.SEEK_CUR)
        return min(1.0, (self._before + here) / self._total)

    def follow(self, stream: BinaryIO | None) -> None:
        """Follow the next file, or none: the one before has been read."""
        if self._file is not None:
            self._before += os.fstat(self._file).st_size
        self._file = stream.fileno() if stream is not None and self._total else None


@contextmanager
def opened(path: str, meter: Meter | None = None) -> Iterator[tuple[BinaryIO, str]]:
    """Open a file, ``-`` for standard input, as a stream of text, and name it as messages do."""
    if path == STDIN:
        if sys.stdin is None or sys.stdin.closed:
            raise InputError("<stdin>: standard input is closed, expected boards")
        stream: BinaryIO = sys.stdin.buffer
        name = "<stdin>"
    else:
        try:
            stream, name = Path(path).open("rb", BUFFER_BYTES), path  # noqa: SIM115 - see below
        except ValueError:  # a NUL byte, or what cannot be encoded
            raise InputError(f"{path}: expected a name that a file can have") from None
    try:
        if meter:
            meter.follow(stream)
        yield expanded(stream, name), name
    finally:
        if meter:
            meter.follow(None)
        if path != STDIN:
            stream.close()


def expanded(stream: Any, name: str) -> Any:
    """Return the text of a stream, which may be compressed: its first bytes tell."""
    if not hasattr(stream, "peek"):
        return stream
    start = stream.peek(_MAGIC_BYTES)[:_MAGIC_BYTES]
    if not start:
        return io.BytesIO()  # A terminal whose input was ended is not asked again.
    if len(start) < _MAGIC_BYTES and start[0] in _FIRST_BYTES:
        start = stream.read(_MAGIC_BYTES)  # the rest of it has not come through the pipe
        stream = _joined(chain([start], iter(partial(stream.read1, BUFFER_BYTES), b"")))
    kind = next((kind for kind, magic in _MAGIC.items() if magic.match(start)), None)
    if kind is None:
        return stream
    if kind in _REFUSED:
        raise InputError(f"{name}: {_REFUSED[kind]}")
    if kind == "NumPy":
        return _joined(_lines_of_array(stream))
    try:
        _decompressor(kind)
    except ModuleNotFoundError:
        raise InputError(not_installed(f"{name}: zstd data", "zstandard", "zstd")) from None
    return _joined(_parts(stream, kind))


def _lines_of_array(stream: BinaryIO) -> Iterator[bytes]:
    """Yield a line for every row of a .npy file: a text, a grid of three dimensions, or a row."""
    try:
        # From a copy in memory: it seeks in files, which a pipe cannot.
        array = np.lib.format.read_array(io.BytesIO(stream.read()))
        are_rows = array.ndim > 1 or array.dtype.kind in "SU"
        rows = array.reshape(len(array) if are_rows else 1, -1) if array.size else array[:0]
    except Exception as error:  # a damaged header raises errors of many kinds
        raise UnreadableError(f"a .npy file that cannot be read: {error}") from None
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        for row in rows[start : start + _ROWS_AT_ONCE].astype(str).tolist():
            yield ",".join(row).encode() + b"\n"


def _decompressor(kind: str) -> Any:
    if kind == "gzip":
        return zlib.decompressobj(16 + zlib.MAX_WBITS)
    if kind == "bzip2":
        return bz2.BZ2Decompressor()
    if kind == "xz":
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY)
    import zstandard

    return zstandard.ZstdDecompressor().decompressobj()


def _parts(stream: BinaryIO, kind: str) -> Iterator[bytes]:
    """Expand one part after the other, to pieces of bounded size."""
    # zstandard has no bound, so it gets few bytes: a few may stand for a block of 128 KiB.
    step = 1 << 10 if kind == "zstd" else BUFFER_BYTES
    padding = b"\0" if kind in ("gzip", "xz") else b""
    message = f"damaged or incomplete {kind} data"
    data = stream.read(_MAGIC_BYTES)
    while data:
        if not _MAGIC[kind].match(data):
            raise UnreadableError(f"bytes after the end of the {kind} data")
        part = _decompressor(kind)
        expand = part.decompress
        if kind != "zstd":  # a block of bzip2 is checked at its end: nothing comes of it before
            expand = partial(expand, max_length=BUFFER_BYTES if kind == "gzip" else BLOCK_BYTES)
        while not part.eof:
            if not data and getattr(part, "needs_input", True):
                data = stream.read(step)
                if not data:
                    raise UnreadableError(message)
            try:
                yield expand(data)
            except MemoryError:
                raise
            except Exception as error:  # each module raises others
                if "limit exceeded" in str(error):
                    mib = XZ_MEMORY >> 20
                    message = f"xz data that takes more than {mib} MiB of memory to expand"
                raise UnreadableError(message) from None
            data = getattr(part, "unconsumed_tail", b"")
        data = part.unused_data.lstrip(padding)
        while len(data) < _MAGIC_BYTES and (more := stream.read(step)):
            data = (data + more).lstrip(padding)


class _Joined(io.RawIOBase):
    """A stream of pieces."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._ready = filter(None, pieces), memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._ready:
            self._ready = memoryview(next(self._pieces, b""))
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size


def _joined(pieces: Iterator[bytes]) -> io.BufferedReader:
    return io.BufferedReader(_Joined(pieces), BUFFER_BYTES)


class Lines:
    r"""Every line of a stream with its number, without a byte-order mark; some can be put back.

    Lines end in ``\n``, ``\r\n`` or ``\r``. A fence around code comes as a blank line. Iterating
    raises an UnreadableError if the stream is no text.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._lines = self._numbered()
        self._again: deque[NumberedLine] = deque()
        self._number = 0
        self._in_split = False
        """True while lines come that ended in a carriage return alone."""
        self._begin(stream)

    @classmethod
    def of(cls, lines: Iterator[NumberedLine]) -> Lines:
        """Return lines that come from no stream, such as those that lists stand for."""
        found = cls(io.BytesIO())
        found._lines = lines
        return found

    def __iter__(self) -> Iterator[NumberedLine]:
        return self

    def __next__(self) -> NumberedLine:
        return self._again.popleft() if self._again else next(self._lines)

    def put_back(self, lines: Sequence[NumberedLine]) -> None:
        """Put lines back that were taken: they come again, before all others."""
        self._again.extendleft(reversed(lines))

    def _begin(self, stream: Any) -> None:
        self._is_buffered = hasattr(stream, "peek")
        self._read = stream.read1 if self._is_buffered else stream.readline
        self._data, self._place = b"", 0
        """The last bytes that were read, and the place of those that were not taken yet."""
        self._drained = False
        """True once nothing came when the stream was asked for more."""

    def _numbered(self) -> Iterator[NumberedLine]:
        line = self._take(LONGEST_LINE)
        rest = b""
        nul = bytes(not byte for byte in line[:4])
        encoding = {b"\0\1\0\1": "utf-16-le", b"\1\0\1\0": "utf-16-be"}.get(nul)
        if line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            encoding = None if line.startswith(codecs.BOM_UTF32_LE) else "utf-16"
        if encoding is not None:  # begin again, with U+FFFD for damaged characters
            taken = line + self._data[self._place :]
            data = chain([taken], iter(partial(self._read, BUFFER_BYTES), b""))
            texts = codecs.iterdecode(data, encoding, "replace")
            self._begin(_joined(text.encode() for text in texts))
            line = self._take(LONGEST_LINE)
        line = line.removeprefix(codecs.BOM_UTF8)
        while line or rest:
            is_end = not line
            line = rest + line
            rest = b""
            lines = [line]
            # The last return may belong to a line feed that has not been read.
            if b"\r" in line[:-2] or (line[-2:-1] == b"\r" and line[-1:] != b"\n"):
                lines = line.splitlines(keepends=True)
                if not is_end and not line.endswith(b"\n"):
                    rest = lines.pop()
                self._in_split = True
            for each in lines:
                self._number += 1
                if len(each) >= LONGEST_LINE:
                    message = f"a line of {LONGEST_LINE} bytes or more, expected text"
                    raise UnreadableError(message, self._number)
                yield self._number, b"\n" if is_fence(each) else each
            self._in_split = False
            line = b"" if is_end else self._take(LONGEST_LINE - len(rest))

    def _take(self, most: int) -> bytes:
        """Return the next line, or as much of it as there is, or as many bytes."""
        self._fill(most)
        end = self._data.find(b"\n", self._place, self._place + most) + 1
        line = self._data[self._place : end or self._place + most]
        self._place += len(line)
        return line

    def _fill(self, most: int) -> None:
        """Read on until the end of the line has come, or as many bytes."""
        while not self._drained and self._data.find(b"\n", self._place) < 0:
            if len(self._data) - self._place >= most:
                break
            more = self._read(READ_BYTES)
            self._drained = not more
            self._data = self._data[self._place :] + more
            self._place = 0

    def at_hand(self) -> NDArray[np.uint8]:
        """Return whole lines that have been read of a buffered stream, if none were put back."""
        if self._again or self._in_split or not self._is_buffered:
            return _NOTHING
        self._fill(LONGEST_LINE)
        end = self._data.rfind(b"\n", self._place, self._place + LONGEST_LINE - 1) + 1
        return np.frombuffer(self._data, np.uint8)[self._place : end] if end else _NOTHING

    def skip(self, lines: int, size: int) -> NDArray[np.int64]:
        """Pass over lines at hand, ``size`` bytes in all; return their numbers."""
        self._place += size
        self._number += lines
        return np.arange(self._number - lines + 1, self._number + 1)


def is_fence(line: bytes) -> bool:
    """Tell whether a line, its end included, is one around text that is shown as it is."""
    return len(line) < LONGEST_FENCE and _FENCE.fullmatch(line) is not None


def content(line: bytes) -> bytes:
    """Return a line without comment, quotes, NaN and end, drawn in ``|-+``; columns stay."""
    text = line.partition(b"#")[0].rstrip(b"\r\n")
    if not text.isascii():
        drawn = text.decode(errors="surrogateescape").translate(_DRAWING)
        text = drawn.encode(errors="surrogateescape")
    if b">" in text:
        quote = _QUOTE.match(text)
        if quote:
            text = b" " * quote.end() + text[quote.end() :]
    for sign in (b'"', b"'", b"`"):
        if sign in text and text.count(sign) % 2 == 0:
            text = text.replace(sign, b" ")
    return _NAN.sub(b".  ", text) if b"n" in text or b"N" in text else text
