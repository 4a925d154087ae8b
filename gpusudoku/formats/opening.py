"""Open files and standard input, expand what is compressed, and tell how much has been read.

Data is expanded within bounds of memory, and no bytes behind it are passed over.
"""

from __future__ import annotations

import bz2
import io
import lzma
import os
import re
import stat
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from gpusudoku.errors import InputError, not_installed
from gpusudoku.formats.source import UnreadableError

STDIN = "-"
"""The path that stands for standard input."""
BUFFER_BYTES = 1 << 16
"""Bytes read from a file at a time."""
BLOCK_BYTES = 14 * BUFFER_BYTES
"""Bytes that are expanded at a time: a block of bzip2, and a little less than readers take."""

XZ_MEMORY = 160 << 20
"""Bytes that expanding xz data may take: a few bytes of a header can ask for gigabytes."""

_MAGIC_BYTES = 10
_FIRST_BYTES = b"\x1fB\xfd\x28P"
_MAGIC = {
    "gzip": re.compile(rb"\x1f\x8b\x08"),
    "bzip2": re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"),
    "xz": re.compile(rb"\xfd7zXZ\0"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"),  # or a frame to skip
    "zip": re.compile(rb"PK\x03\x04"),
}
"""The first bytes of compressed data, and of each part of it."""


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
        If standard input is closed, if what would expand the file is missing, or if no file can
        have such a name.
    OSError
        If the file cannot be opened.
    """
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
            meter.begin(stream)
        yield expanded(stream, name), name
    finally:
        if meter:
            meter.end()
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
    if kind == "zip":
        what = "a zip archive, expected a file of it, or gzip, bzip2, xz or zstd"
        raise InputError(f"{name}: {what}")
    try:
        _decompressor(kind)
    except ModuleNotFoundError:
        raise InputError(not_installed(f"{name}: zstd data", "zstandard", "zstd")) from None
    return _joined(_gathered(_parts(stream, kind)))


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


def _gathered(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield larger pieces, and all that was expanded before data that is damaged."""
    ready, size, damage = [], 0, None
    try:
        for piece in pieces:
            ready.append(piece)
            size += len(piece)
            if size >= BLOCK_BYTES:
                yield b"".join(ready)
                ready, size = [], 0
    except UnreadableError as error:
        damage = error
    if size:
        yield b"".join(ready)
    if damage:
        raise damage


class _Joined(io.RawIOBase):
    """A stream of pieces."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._ready = pieces, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._ready:
            self._ready = memoryview(next(self._pieces, b""))
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size


def _joined(pieces: Iterator[bytes]) -> io.BufferedReader:
    return io.BufferedReader(_Joined(pieces), BUFFER_BYTES)
