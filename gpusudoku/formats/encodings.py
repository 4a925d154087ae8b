"""Text in UTF-16, as UTF-8."""

from __future__ import annotations

import codecs
import io
from typing import Any

_BYTES = 1 << 16
"""Bytes decoded at a time."""


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
            data = self._read(_BYTES)
            self._ready = self._decoder.decode(data, not data).encode()
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size
