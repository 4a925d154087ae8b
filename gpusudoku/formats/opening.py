"""Open files and standard input, and tell how much of them has been read."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from gpusudoku.errors import InputError
from gpusudoku.formats.expanding import BUFFER_BYTES, expanded

STDIN = "-"
"""The path that stands for standard input."""


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
