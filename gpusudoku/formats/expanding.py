"""Expand what is compressed, within bounds of memory, and pass over nothing behind it."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO

from gpusudoku.errors import InputError, not_installed
from gpusudoku.formats.source import UnreadableError

BUFFER_BYTES = 1 << 16
"""Bytes read from a file at a time."""

XZ_MEMORY = 160 << 20
"""Bytes that expanding xz data may take: a few bytes of a header can ask for gigabytes."""

_MAGIC_BYTES = 10
_BEGINNINGS = (b"\x1f\x8b\x08", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"PK\x03\x04")
"""What compressed data and archives begin with, as far as it is always the same."""
_DAMAGE = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError)
"""What the modules raise that expand data."""


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
    if len(start) < _MAGIC_BYTES and any(b.startswith(start[: len(b)]) for b in _BEGINNINGS):
        start = stream.read(_MAGIC_BYTES)  # the rest of it has not come through the pipe
        stream = io.BufferedReader(_Again(start, stream), BUFFER_BYTES)
    if start.startswith(b"PK\x03\x04"):
        raise InputError(
            f"{name}: a zip archive, expected a file of it, or gzip, bzip2, xz or zstd"
        )
    for kind, (magic, opener) in _KINDS.items():
        if magic.match(start):
            try:
                raw = _Expanded(opener(stream), kind)
            except ModuleNotFoundError:
                raise InputError(not_installed(f"{name}: zstd data", "zstandard", "zstd")) from None
            return io.BufferedReader(raw, BUFFER_BYTES)
    return stream


class _Again(io.RawIOBase):
    """A stream of which the first bytes were read."""

    def __init__(self, start: bytes, stream: Any) -> None:
        self._start, self._stream = start, stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._start[: len(buffer)] or self._stream.read1(len(buffer))
        self._start = self._start[len(data) :]
        buffer[: len(data)] = data
        return len(data)


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


class _BehindError(ValueError):
    """Bytes after the end of compressed data that do not begin more of it."""


def _damage(error: Exception, kind: str) -> str:
    """What is wrong where expanding fails: the data, or what comes after it."""
    # The first bytes of the file were those of gzip data.
    is_behind = isinstance(error, gzip.BadGzipFile) and str(error).startswith("Not a gzipped file")
    if is_behind or isinstance(error, _BehindError):
        return f"bytes after the end of the {kind} data"
    if isinstance(error, lzma.LZMAError) and "limit exceeded" in str(error):
        return f"{kind} data that takes more than {XZ_MEMORY >> 20} MiB of memory to expand"
    return f"damaged or incomplete {kind} data"


class _Parts:
    """What a module expands, one part after the other; nothing behind them is passed over.

    Parameters
    ----------
    stream
        The compressed bytes.
    kind
        What begins each part.
    new
        Makes what expands one part.
    padding
        What may stand between and behind parts.
    """

    def __init__(
        self, stream: Any, kind: str, new: Callable[[], Any], padding: bytes = b""
    ) -> None:
        self._stream, self._new, self._padding = stream, new, padding
        self._magic = _KINDS[kind][0]
        self._expander: Any = None
        self._rest = b""

    def read1(self, size: int) -> bytes:
        """Some bytes, none at the end."""
        ready = b""
        while not ready:
            data = b""
            if self._expander is None:
                data = self._start()
                if not data:
                    return b""
                self._expander = self._new()
            elif self._expander.needs_input:
                data = self._stream.read1(BUFFER_BYTES)
                if not data:
                    raise EOFError
            ready = self._expander.decompress(data, size)
            if self._expander.eof:
                self._rest, self._expander = self._expander.unused_data, None
        return ready

    def _start(self) -> bytes:
        """The first bytes of the next part, none if there is none."""
        data = self._rest.lstrip(self._padding)
        while len(data) < _MAGIC_BYTES:
            more = self._stream.read1(BUFFER_BYTES)
            data = (data + more).lstrip(self._padding)
            if not more:
                break
        self._rest = b""
        if data and not self._magic.match(data):
            raise _BehindError
        return data


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


def _new_xz() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY)


def _open_zstd(stream: BinaryIO) -> Any:
    """What expands zstd data: the standard library from Python 3.14 on, or the package."""
    try:
        from compression import zstd
    except ModuleNotFoundError:
        return _ZstdFile(stream)
    return zstd.ZstdFile(stream)


_KINDS: dict[str, tuple[re.Pattern[bytes], Callable[[Any], Any]]] = {
    "gzip": (re.compile(rb"\x1f\x8b\x08"), lambda stream: gzip.GzipFile(fileobj=stream)),
    "bzip2": (
        re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"),
        lambda stream: _Parts(stream, "bzip2", bz2.BZ2Decompressor),
    ),
    "xz": (
        re.compile(rb"\xfd7zXZ\x00"),
        lambda stream: _Parts(stream, "xz", _new_xz, b"\0"),
    ),
    "zstd": (re.compile(rb"\x28\xb5\x2f\xfd"), _open_zstd),
}
"""The first bytes of compressed data, and what expands it."""
