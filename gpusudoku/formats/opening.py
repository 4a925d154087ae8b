"""Open files and standard input, expand what is compressed, and tell how much has been read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from gpusudoku.errors import InputError
from gpusudoku.formats.source import UnreadableError

BUFFER_BYTES = 1 << 16
"""Bytes read from a file at a time."""

STDIN = "-"
"""The path that stands for standard input."""

_MAGIC_BYTES = 10
_DAMAGE = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError)
"""What the modules raise that expand data."""


class Meter:
    """How much of some files has been read, in bytes as they are stored."""

    def __init__(self, paths: Sequence[str]) -> None:
        sizes = [_size(path) for path in paths]
        self._total = None if None in sizes else sum(size for size in sizes if size is not None)
        self._before = 0
        """The bytes of the files that have been read."""
        self._file: int | None = None
        """The descriptor of the file that is being read."""

    def share(self) -> float | None:
        """The share of all bytes that has been read, None if nobody knows how many there are."""
        if not self._total:
            return None
        here = 0 if self._file is None else os.lseek(self._file, 0, os.SEEK_CUR)
        return min(1.0, (self._before + here) / self._total)

    def begin(self, stream: BinaryIO) -> None:
        """Follow a file."""
        if self._total:
            self._file = stream.fileno()

    def end(self) -> None:
        """Take the file that was followed for read."""
        if self._file is not None:
            self._before += os.fstat(self._file).st_size
            self._file = None


def _size(path: str) -> int | None:
    """The bytes of a file, None if it is no regular file."""
    try:
        found = os.fstat(sys.stdin.fileno()) if path == STDIN else os.stat(path)  # noqa: PTH116
    except (OSError, ValueError, AttributeError):
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


@contextmanager
def opened(path: str, meter: Meter | None = None) -> Iterator[tuple[BinaryIO, str]]:
    """Open a file, ``-`` for standard input, as text; also tells its name in messages.

    Raises
    ------
    InputError
        If standard input is closed, or if what would expand the file is missing.
    OSError
        If the file cannot be opened.
    """
    if path == STDIN:
        if sys.stdin is None or sys.stdin.closed:
            raise InputError("<stdin>: standard input is closed, expected boards")
        stream: BinaryIO = sys.stdin.buffer
        name = "<stdin>"
    else:
        stream, name = Path(path).open("rb", BUFFER_BYTES), path  # noqa: SIM115 - see below
    try:
        if meter:
            meter.begin(stream)
        yield expanded(stream, name), name
    finally:
        if meter:
            meter.end()
        if path != STDIN:
            stream.close()


def expanded(stream: BinaryIO, name: str) -> BinaryIO:
    """The text of a stream, which may be compressed: its first bytes tell.

    Raises
    ------
    InputError
        If the package that could expand it is missing, or if it is an archive.
    """
    if not hasattr(stream, "peek"):
        return stream
    start = stream.peek(_MAGIC_BYTES)[:_MAGIC_BYTES]
    if not start:
        return io.BytesIO()  # A terminal whose input was ended is not asked again.
    if start.startswith(b"PK\x03\x04"):
        raise InputError(
            f"{name}: a zip archive, expected a file of it, or gzip, bzip2, xz or zstd"
        )
    for kind, (magic, opener) in _KINDS.items():
        if magic.match(start):
            try:
                raw = _Expanded(opener(stream), kind)
            except ModuleNotFoundError:
                raise InputError(
                    f"{name}: zstd data needs the package zstandard: pip install 'gpusudoku[zstd]'"
                ) from None
            return io.BufferedReader(raw, BUFFER_BYTES)
    return stream


class _Expanded(io.RawIOBase):
    """The bytes of a compressed file; damaged data is an UnreadableError."""

    def __init__(self, file: Any, kind: str) -> None:
        self._file = file
        self._kind = kind
        self._damage = ""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer; what was expanded before the damage comes first."""
        size = 0
        while size < len(buffer) and not self._damage:
            try:
                data = self._file.read1(len(buffer) - size)
            except Exception as error:
                # Of the operating system's errors only the modules' own have no number.
                if isinstance(error, OSError) and error.errno is not None:
                    raise
                if not isinstance(error, _DAMAGE):
                    raise
                self._damage = _damage(error, self._kind)
            else:
                if not data:
                    return size
                buffer[size : size + len(data)] = data
                size += len(data)
        if self._damage and not size:
            raise UnreadableError(self._damage)
        return size


def _damage(error: Exception, kind: str) -> str:
    """What is wrong where expanding fails: the data, or what comes after it."""
    # The first bytes of the file were those of gzip data.
    if isinstance(error, gzip.BadGzipFile) and str(error).startswith("Not a gzipped file"):
        return "bytes after the end of the gzip data"
    return f"damaged or incomplete {kind} data"


class _ZstdFile:
    """What the package zstandard expands, told from data that breaks off."""

    _PIECE = 1 << 10
    """Compressed bytes expanded at once: a few bytes may stand for a block of 128 KiB."""

    def __init__(self, stream: BinaryIO) -> None:
        import zstandard

        self._stream = stream
        self._new: Callable[[], Any] = zstandard.ZstdDecompressor().decompressobj
        self._error: type[Exception] = zstandard.ZstdError
        self._expander: Any = None
        self._rest = b""
        self._ready = b""

    def read1(self, size: int) -> bytes:
        """Some bytes, none at the end."""
        while not self._ready:
            data = self._rest or self._stream.read(self._PIECE)
            if not data:
                if self._expander is not None:
                    raise EOFError
                return b""
            self._expander = self._expander or self._new()
            try:
                self._ready = self._expander.decompress(data)
            except self._error:
                raise ValueError from None
            self._rest = self._expander.unused_data
            if self._expander.eof:
                self._expander = None
        data, self._ready = self._ready[:size], self._ready[size:]
        return data


def _open_zstd(stream: BinaryIO) -> Any:
    """What expands zstd data: the standard library from Python 3.14 on, or the package."""
    try:
        from compression import zstd
    except ModuleNotFoundError:
        return _ZstdFile(stream)
    return zstd.ZstdFile(stream)


_KINDS: dict[str, tuple[re.Pattern[bytes], Callable[[Any], Any]]] = {
    "gzip": (re.compile(rb"\x1f\x8b\x08"), lambda stream: gzip.GzipFile(fileobj=stream)),
    "bzip2": (re.compile(rb"BZh[1-9]1AY&SY"), bz2.BZ2File),
    "xz": (re.compile(rb"\xfd7zXZ\x00"), lzma.LZMAFile),
    "zstd": (re.compile(rb"\x28\xb5\x2f\xfd"), _open_zstd),
}
"""The first bytes of compressed data, and what expands it."""
