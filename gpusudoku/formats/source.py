"""Opening of inputs, decompression, numbered lines, and errors with their line and column.

Decompression takes bounded memory. Bytes after the end of compressed data are an error.
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

from gpusudoku.board.batch import Batch, InputSource, SourceLocations
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
"""The path of standard input."""
MAX_LINE_BYTES = 1 << 20
"""Lines of this length or more are refused, such as files without line ends. No board needs so
many bytes."""
MAX_ROW_BYTES = 1 << 19
"""Rows, lines with a board, and grids are refused if they are longer than this. They are refused
before they are split into cells, which take many times as much memory."""
MAX_FENCE_BYTES = 40
"""A fence around code is shorter than this."""
_ROWS_PER_CHUNK = 1 << 12
"""Rows of an array that are converted to text together. The text takes much more memory."""

BUFFER_BYTES = 1 << 16
"""Bytes read from a file at a time."""
READ_BYTES = MAX_LINE_BYTES - (1 << 14)
"""Bytes taken from a buffered stream at a time. A longest line and what remains of the bytes before
fit in about this size."""
EXPAND_BYTES = 14 * BUFFER_BYTES
"""Bytes that decompression yields at a time: a block of bzip2, slightly less than READ_BYTES."""
MAX_XZ_MEMORY = 160 << 20
"""Bytes of memory for the decompression of xz. A header of a few bytes can demand gigabytes."""

_MAGIC_BYTES = 10
"""Bytes that suffice to recognise every kind of data in ``_MAGIC``."""
_FIRST_BYTES = b"\x1fB\xfd\x28P\x93"
"""The first bytes of the patterns in ``_MAGIC``, but not of a zstd frame to skip."""
_MAGIC = {
    "gzip": re.compile(rb"\x1f\x8b\x08"),
    "bzip2": re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"),
    "xz": re.compile(rb"\xfd7zXZ\0"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"),  # or a frame to skip
    "zip": re.compile(rb"PK\x03\x04"),
    "Parquet": re.compile(rb"PAR1"),
    "NumPy": re.compile(rb"\x93NUMPY"),
}
"""The start of data that is not text; for compressed data, the start of each of its members."""
_REFUSED = {
    "zip": "a zip archive, expected a file from it, or gzip, bzip2, xz or zstd",
    "Parquet": "a Parquet file: pass its column to Python, as pyarrow.parquet.read_table(file)"
    "['puzzle'], or convert it to CSV",
}

_NAN = re.compile(rb"(?<![^\s,;])nan(?![^\s,;])", re.IGNORECASE)
"""An empty cell, as tools for floating-point numbers write it."""
_QUOTE = re.compile(rb"[\s>]*>")
"""The marks before a line of a quoted message."""
_FENCE = re.compile(
    rb"[\s>]*(?:(?:`{3,}|~{3,})\s*[\w+.-]*|(?:\[/?(?:code|pre)\]|</?(?:code|pre)>)+)\s*",
    re.IGNORECASE,
)
"""A line around preformatted text in Markdown, HTML or a forum."""
_DRAWING = (
    dict.fromkeys(range(0x2500, 0x2580), "+")
    | dict.fromkeys(map(ord, "─━┄┅┈┉╌╍═╴╶╸╺╼╾"), "-")
    | dict.fromkeys(map(ord, "│┃┆┇┊┋╎╏║╵╷╹╻╽╿"), "|")
    | dict.fromkeys((0xA0, 0x2007, 0x3000), " ")
)
"""The ASCII characters for box-drawing characters and for some blanks of Unicode."""
_NO_BYTES = np.zeros(0, np.uint8)

NumberedLine = tuple[int, bytes]
"""A line number, from 1, and the line as it is in the file."""


class ReadOptions(NamedTuple):
    """The options of reading an input."""

    source: str
    """The name of the input in errors."""
    geometry: Geometry | None = None
    """The box shape of all boards, if it is given."""
    column: str | None = None
    """The column of a table that holds the boards, if it is given."""
    preferred: Geometry | None = None
    """The box shape to prefer if the text does not determine it. With it, one board is read."""
    words: Callable[[Hint], str] = python_words
    """Names options in errors."""


class FormatError(Exception):
    """An error in one board: the message says what was found and what was expected."""

    def __init__(
        self, message: Message, line: int | None = None, column: int | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column

    def as_input_error(
        self,
        options: ReadOptions,
        puzzle: bytes | str = b"",
        extra_columns: Sequence[str] = (),
        extra_texts: Sequence[str] = (),
    ) -> InputError:
        """Return the error to report, ``source:line:column: message``, with the bad board."""
        place_parts = (options.source, self.line, self.column)
        place = ":".join(str(part) for part in place_parts if part is not None)
        message = worded(self.message, options.words)
        error = InputError(f"{place}: {message}")
        column_text = "" if self.column is None else f"character {self.column}: "
        error.entry = BadEntry(
            options.source,
            self.line or 0,
            escaped(column_text + message),
            puzzle if isinstance(puzzle, str) else puzzle.decode(errors="replace"),
            tuple(extra_columns),
            tuple(extra_texts) or ("",) * len(extra_columns),
            isinstance(self, UnreadableError),
        )
        return error


class UnreadableError(FormatError):
    """An error after which the rest of the input cannot be read."""


def quote_board(board: Board) -> str:
    """Quote a board in a message: its line, or the start of a long one."""
    return shortened(str(board), MAX_OF_BOARD)


def make_single_batch(
    board: Board,
    source: InputSource,
    line: int,
    extra_texts: tuple[str, ...] = (),
    text: bytes = b"",
) -> Batch:
    """Return a batch of one board with its location.

    ``text`` becomes its board text, and its alphabet is recognised, if it is n * n characters.
    """
    board_texts = None
    if len(text) == board.geometry.cells and board.n <= len(DIGITS):
        cells = board.cells.tobytes()
        is_plain = text.translate(CHARACTERS) == cells  # true for most boards, and fastest to check
        alphabet = DIGITS if is_plain else alphabet_of(text, board.n)
        if is_plain or values_in(alphabet, text).tobytes() == cells:
            board_texts = np.array([text])
            if not DIGITS.startswith(alphabet):
                source = source._replace(alphabet=alphabet)
    locations = SourceLocations.of(source, [line], [extra_texts], board_texts)
    batch = Batch.of([board])
    return Batch(batch.geometry, batch.cells, batch.candidates, locations)


class Meter:
    """Measures how much of some files has been read, in bytes as they are stored."""

    def __init__(self, paths: Sequence[str]) -> None:
        sizes = []
        for path in paths:
            with suppress(OSError, ValueError, AttributeError):
                if path == STDIN:
                    status = os.fstat(sys.stdin.fileno())
                else:
                    status = os.stat(path)  # noqa: PTH116
                if stat.S_ISREG(status.st_mode):
                    sizes.append(status.st_size)
        self._total = sum(sizes) if len(sizes) == len(paths) else None
        self._finished_bytes = 0
        """The bytes of the files that have been read completely."""
        self._file: int | None = None
        """The descriptor of the file that is being read."""

    def share(self) -> float | None:
        """Return the share of all bytes that has been read, None if their number is unknown."""
        if not self._total:
            return None
        position = 0 if self._file is None else os.lseek(self._file, 0, os.SEEK_CUR)
        return min(1.0, (self._finished_bytes + position) / self._total)

    def follow(self, stream: BinaryIO | None) -> None:
        """Follow the next file, or no file: the previous one has been read."""
        if self._file is not None:
            self._finished_bytes += os.fstat(self._file).st_size
        self._file = stream.fileno() if stream is not None and self._total else None


@contextmanager
def open_input(path: str, meter: Meter | None = None) -> Iterator[tuple[BinaryIO, str]]:
    """Open a file, ``-`` for standard input, as a stream of text; return it and its name."""
    if path == STDIN:
        if sys.stdin is None or sys.stdin.closed:
            raise InputError("<stdin>: standard input is closed, expected boards")
        stream: BinaryIO = sys.stdin.buffer
        name = "<stdin>"
    else:
        name = path
        try:
            stream = Path(path).open("rb", BUFFER_BYTES)  # noqa: SIM115 - closed below
        except ValueError:  # a NUL byte, or characters that cannot be encoded
            raise InputError(f"{path}: expected a valid file name") from None
    try:
        if meter:
            meter.follow(stream)
        yield expand_stream(stream, name), name
    finally:
        if meter:
            meter.follow(None)
        if path != STDIN:
            stream.close()


def expand_stream(stream: Any, name: str) -> Any:
    """Return a stream of text for a stream that may be compressed or a .npy file.

    The kind of the data is recognised by its first bytes.
    """
    if not hasattr(stream, "peek"):
        return stream
    start = stream.peek(_MAGIC_BYTES)[:_MAGIC_BYTES]
    if not start:
        return io.BytesIO()  # Do not read a terminal again after the user ended its input.
    if len(start) < _MAGIC_BYTES and start[0] in _FIRST_BYTES:
        # The other bytes have not come through the pipe yet: wait for them.
        start = stream.read(_MAGIC_BYTES)
        stream = _join_chunks(chain([start], iter(partial(stream.read1, BUFFER_BYTES), b"")))
    kind = next((kind for kind, magic in _MAGIC.items() if magic.match(start)), None)
    if kind is None:
        return stream
    if kind in _REFUSED:
        raise InputError(f"{name}: {_REFUSED[kind]}")
    if kind == "NumPy":
        return _join_chunks(_write_array_lines(stream))
    try:
        _make_decompressor(kind)
    except ModuleNotFoundError:
        raise InputError(not_installed(f"{name}: zstd data", "zstandard", "zstd")) from None
    return _join_chunks(_expand_members(stream, kind))


def _write_array_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yield a line for every board of a .npy file.

    A board is a string, a row of an array of two dimensions, or a grid of an array of three.
    """
    try:
        # From a copy in memory: ``read_array`` seeks, and a pipe cannot seek.
        array = np.lib.format.read_array(io.BytesIO(stream.read()))
        has_many = array.ndim > 1 or array.dtype.kind in "SU"
        rows = array.reshape(len(array) if has_many else 1, -1) if array.size else array[:0]
    except Exception as error:  # a damaged header raises errors of many kinds
        raise UnreadableError(f"a .npy file that cannot be read: {error}") from None
    for start in range(0, len(rows), _ROWS_PER_CHUNK):
        for row in rows[start : start + _ROWS_PER_CHUNK].astype(str).tolist():
            yield ",".join(row).encode() + b"\n"


def _make_decompressor(kind: str) -> Any:
    if kind == "gzip":
        return zlib.decompressobj(16 + zlib.MAX_WBITS)  # 16 selects the header of gzip
    if kind == "bzip2":
        return bz2.BZ2Decompressor()
    if kind == "xz":
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MAX_XZ_MEMORY)
    import zstandard

    return zstandard.ZstdDecompressor().decompressobj()


def _expand_members(stream: BinaryIO, kind: str) -> Iterator[bytes]:
    """Expand the members of compressed data, one after the other, in chunks of bounded size."""
    # zstandard cannot limit its output, so it gets little input: a few bytes may expand to a block
    # of 128 KiB.
    input_bytes = 1 << 10 if kind == "zstd" else BUFFER_BYTES
    # A block of bzip2 is checked at its end, and no byte of it comes out before.
    output_bytes = BUFFER_BYTES if kind == "gzip" else EXPAND_BYTES
    padding = b"\0" if kind in ("gzip", "xz") else b""  # allowed between members and at the end
    message = f"damaged or incomplete {kind} data"

    data = stream.read(_MAGIC_BYTES)
    while data:
        if not _MAGIC[kind].match(data):
            raise UnreadableError(f"bytes after the end of the {kind} data")
        member = _make_decompressor(kind)
        expand = member.decompress
        if kind != "zstd":
            expand = partial(expand, max_length=output_bytes)

        while not member.eof:
            if not data and getattr(member, "needs_input", True):
                data = stream.read(input_bytes)
                if not data:
                    raise UnreadableError(message)
            try:
                yield expand(data)
            except MemoryError:
                raise
            except Exception as error:  # each module raises its own types
                if "limit exceeded" in str(error):
                    mib = MAX_XZ_MEMORY >> 20
                    message = f"xz data that takes more than {mib} MiB of memory to expand"
                raise UnreadableError(message) from None
            # zlib returns the input that it did not use; the others keep it.
            data = getattr(member, "unconsumed_tail", b"")

        data = member.unused_data.lstrip(padding)
        while len(data) < _MAGIC_BYTES and (more_data := stream.read(input_bytes)):
            data = (data + more_data).lstrip(padding)


class _ChunkStream(io.RawIOBase):
    """A stream of the bytes of several chunks."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = filter(None, chunks)
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._ready:
            self._ready = memoryview(next(self._chunks, b""))
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size


def _join_chunks(chunks: Iterator[bytes]) -> io.BufferedReader:
    """Return a buffered stream of the bytes of several chunks."""
    return io.BufferedReader(_ChunkStream(chunks), BUFFER_BYTES)


class Lines:
    r"""Iterates over the numbered lines of a stream, without a byte-order mark.

    Lines end in ``\n``, ``\r\n`` or ``\r``. A fence around code becomes a blank line. Iterating
    raises an UnreadableError if the stream is not text. Lines can be put back.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._lines = self._number_lines()
        self._lines_put_back: deque[NumberedLine] = deque()
        self._number = 0
        """The number of the last line."""
        self._is_splitting = False
        """True while the lines come from bytes that were split at lone carriage returns."""
        self._set_stream(stream)

    @classmethod
    def of(cls, numbered_lines: Iterator[NumberedLine]) -> Lines:
        """Return lines that do not come from a stream, such as those made from lists."""
        lines = cls(io.BytesIO())
        lines._lines = numbered_lines
        return lines

    def __iter__(self) -> Iterator[NumberedLine]:
        return self

    def __next__(self) -> NumberedLine:
        return self._lines_put_back.popleft() if self._lines_put_back else next(self._lines)

    def put_back(self, lines: Sequence[NumberedLine]) -> None:
        """Put lines back that were taken: they come again, before all others."""
        self._lines_put_back.extendleft(reversed(lines))

    def _set_stream(self, stream: Any) -> None:
        self._is_buffered = hasattr(stream, "peek")
        self._read = stream.read1 if self._is_buffered else stream.readline
        self._data = b""
        """The last bytes that were read."""
        self._position = 0
        """The index in ``_data`` of the first byte that was not taken."""
        self._is_at_end = False
        """True once a read returned nothing."""

    def _number_lines(self) -> Iterator[NumberedLine]:
        line = self._decode_utf16(self._take_line(MAX_LINE_BYTES)).removeprefix(codecs.BOM_UTF8)
        rest = b""  # an incomplete line before ``line``
        while line or rest:
            is_end = not line
            line = rest + line
            rest = b""
            lines = [line]
            # Split at lone carriage returns. The last one may belong to a line feed that has not
            # been read.
            if b"\r" in line[:-2] or (line[-2:-1] == b"\r" and line[-1:] != b"\n"):
                lines = line.splitlines(keepends=True)
                if not is_end and not line.endswith(b"\n"):
                    rest = lines.pop()
                self._is_splitting = True
            for complete_line in lines:
                self._number += 1
                if len(complete_line) >= MAX_LINE_BYTES:
                    message = f"a line of {MAX_LINE_BYTES} bytes or more, expected text"
                    raise UnreadableError(message, self._number)
                yield self._number, b"\n" if is_fence(complete_line) else complete_line
            self._is_splitting = False
            line = b"" if is_end else self._take_line(MAX_LINE_BYTES - len(rest))

    def _decode_utf16(self, first_line: bytes) -> bytes:
        """Return the first line; if the data is UTF-16, restart with it as UTF-8."""
        # Without a byte-order mark, the first two characters are ASCII: every other byte is 0.
        zero_bytes = bytes(not byte for byte in first_line[:4])
        encoding = {b"\0\1\0\1": "utf-16-le", b"\1\0\1\0": "utf-16-be"}.get(zero_bytes)
        if first_line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            # The mark of UTF-32-LE begins with that of UTF-16-LE.
            encoding = None if first_line.startswith(codecs.BOM_UTF32_LE) else "utf-16"
        if encoding is None:
            return first_line
        bytes_read = first_line + self._data[self._position :]
        data = chain([bytes_read], iter(partial(self._read, BUFFER_BYTES), b""))
        texts = codecs.iterdecode(data, encoding, "replace")
        self._set_stream(_join_chunks(text.encode() for text in texts))
        return self._take_line(MAX_LINE_BYTES)

    def _take_line(self, max_bytes: int) -> bytes:
        """Return the next line, or its first ``max_bytes`` bytes, or the rest of the stream."""
        self._read_line(max_bytes)
        end = self._data.find(b"\n", self._position, self._position + max_bytes) + 1
        line = self._data[self._position : end or self._position + max_bytes]
        self._position += len(line)
        return line

    def _read_line(self, max_bytes: int) -> None:
        """Read until the end of the line or ``max_bytes`` bytes are in ``_data``."""
        while not self._is_at_end and self._data.find(b"\n", self._position) < 0:
            if len(self._data) - self._position >= max_bytes:
                break
            new_data = self._read(READ_BYTES)
            self._is_at_end = not new_data
            self._data = self._data[self._position :] + new_data
            self._position = 0

    def buffered_lines(self) -> NDArray[np.uint8]:
        """Return the bytes of whole lines that have been read; they are not taken.

        Without a buffered stream, or while lines were put back, there are none.
        """
        if self._lines_put_back or self._is_splitting or not self._is_buffered:
            return _NO_BYTES
        self._read_line(MAX_LINE_BYTES)
        max_end = self._position + MAX_LINE_BYTES - 1
        end = self._data.rfind(b"\n", self._position, max_end) + 1
        return np.frombuffer(self._data, np.uint8)[self._position : end] if end else _NO_BYTES

    def skip(self, line_count: int, size: int) -> NDArray[np.int64]:
        """Skip buffered lines, ``size`` bytes in all; return their numbers."""
        self._position += size
        self._number += line_count
        return np.arange(self._number - line_count + 1, self._number + 1)


def is_fence(line: bytes) -> bool:
    """Tell whether a line, with its end, is a fence around preformatted text."""
    return len(line) < MAX_FENCE_BYTES and _FENCE.fullmatch(line) is not None


def clean_line(line: bytes) -> bytes:
    """Return a line without its end, comment, quotes, quotation marks and NaN.

    Box-drawing characters become ``|``, ``-`` and ``+``. Columns do not change: removed characters
    become blanks.
    """
    text = line.partition(b"#")[0].rstrip(b"\r\n")
    if not text.isascii():
        drawn = text.decode(errors="surrogateescape").translate(_DRAWING)
        text = drawn.encode(errors="surrogateescape")
    if b">" in text:
        quote = _QUOTE.match(text)
        if quote:
            text = b" " * quote.end() + text[quote.end() :]
    for mark in (b'"', b"'", b"`"):
        if mark in text and text.count(mark) % 2 == 0:
            text = text.replace(mark, b" ")
    return _NAN.sub(b".  ", text) if b"n" in text or b"N" in text else text
