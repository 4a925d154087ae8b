"""Where the lines of a command go: stdout, or a file that is never overwritten unasked.

An interrupt never cuts a line in two.
"""

from __future__ import annotations

import os
import select
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO

from gpusudoku import formats
from gpusudoku.errors import InputError
from gpusudoku.jobs.interrupts import held_interrupts

PIPE_PIECE = 4096
"""Bytes that a pipe which is ready takes at once (PIPE_BUF on Linux; POSIX grants 512)."""
ENCODING, NAMES = "utf-8", "surrogateescape"
"""The names of files are written as they are, even those that are no UTF-8."""
FILE_PIECE = 1 << 20
"""Bytes written to a file between two looks for an interrupt."""


class Output:
    """Where results go: stdout for None or ``-``, else a new file. A context manager.

    Parameters
    ----------
    path
        The file.
    force
        Whether it may exist.
    inputs
        Files that are still being read: none of them is overwritten.

    Raises
    ------
    InputError
        If the file exists and ``force`` is not set, is an input, or cannot be written.
    """

    def __init__(self, path: str | None, force: bool, inputs: Sequence[str]) -> None:
        self.lines = 0
        """Lines written."""
        self._path, self._force = None if path == "-" else path, force
        self._file: IO[str] | None = None
        self._descriptor: int | None = None
        self._is_file = False
        if self._path is not None:
            refuse(self._path, force, inputs)
        else:  # None if it was closed before we started
            self._use(sys.stdout or Path(os.devnull).open("w"))  # noqa: SIM115

    def _open(self, path: str) -> IO[str]:
        """Open the file: only once there is something to write, so that a failure loses nothing."""
        try:
            anew = not self._force and (Path(path).is_file() or not Path(path).exists())
            return Path(path).open("x" if anew else "w", encoding=ENCODING, newline="\n")
        except FileExistsError:
            raise InputError(f"{path}: exists already; --force overwrites it") from None
        except OSError as error:
            raise self._failure(error) from None

    def _use(self, file: IO[str]) -> IO[str]:
        self._file = file
        with suppress(OSError):  # io.UnsupportedOperation is one
            file.flush()
            self._descriptor = file.fileno()
            self._is_file = stat.S_ISREG(os.fstat(self._descriptor).st_mode)
        return file

    def __enter__(self) -> Output:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._path is None:
            return
        if self._file is None and kind is None:  # no results at all are an empty file
            self._use(self._open(self._path))
        if self._file is not None:
            try:
                self._file.close()
            except OSError as failure:
                raise self._failure(failure) from None

    def write(self, text: str) -> None:
        """Write whole lines: an interrupt is let in between two lines, never within one."""
        if not text:
            return
        file = self._file or self._use(self._open(self._path or os.devnull))
        data = text.encode(ENCODING, NAMES)
        try:
            with held_interrupts() as interrupted:
                for piece in self._pieces(data):
                    while not self._ready():
                        if interrupted():
                            return
                    self._write_all(file, piece)
                    self.lines += piece.count(b"\n")
                    if interrupted():
                        return
        except BrokenPipeError:
            raise
        except OSError as error:
            raise self._failure(error) from None

    def write_header(self, form: str) -> None:
        """Write the line that stands before all boards of a format, if it has one."""
        header = formats.header(form)
        if header:
            self.write(header + "\n")

    def _pieces(self, data: bytes) -> Iterator[bytes]:
        """Whole lines, as many as a pipe that is ready takes without blocking, at least one."""
        most = FILE_PIECE if self._is_file else PIPE_PIECE
        start = 0
        while start < len(data):
            end = data.rfind(b"\n", start, start + most) + 1 or data.find(b"\n", start) + 1
            yield data[start:end]
            start = end

    def _ready(self) -> bool:
        """Whether a piece can be written; waits a little if not."""
        if self._is_file or self._descriptor is None or os.name == "nt":
            return True
        return bool(select.select([], [self._descriptor], [], 0.1)[1])

    def _write_all(self, file: IO[str], piece: bytes) -> None:
        if self._descriptor is None:  # a stand-in for stdout, in memory
            file.write(piece.decode(ENCODING, NAMES))
            return
        while piece:
            piece = piece[os.write(self._descriptor, piece) :]

    def _failure(self, error: OSError) -> InputError:
        return InputError(f"{self._path or 'stdout'}: cannot be written: {error.strerror}")


def refuse(path: str, force: bool, inputs: Sequence[str]) -> None:
    """Complain at once of a file that ``Output`` could not be later.

    Raises
    ------
    InputError
        As ``Output`` does.
    """
    if path == "-":
        return
    _refuse(path, inputs)
    if Path(path).is_file() and not force:
        raise InputError(f"{path}: exists already; --force overwrites it")
    if not os.access(Path(path) if Path(path).exists() else Path(path).parent, os.W_OK):
        raise InputError(f"{path}: cannot be written")


def _refuse(path: str, inputs: Sequence[str]) -> None:
    """Raise an InputError for a file that must not be written, or cannot be."""
    if not path:
        raise InputError("a file without a name cannot be written")
    if Path(path).is_dir():
        raise InputError(f"{path}: is a folder, and cannot be written")
    for other in inputs:
        if Path(path).exists() and _is_same(path, other):
            raise InputError(f"{path}: is read, and cannot be written at the same time")


def _is_same(path: str, other: str) -> bool:
    """Whether a file that exists is another one, ``-`` for standard input, under any name."""
    try:
        read = os.fstat(sys.stdin.fileno()) if other == "-" else Path(other).stat()
        return os.path.samestat(Path(path).stat(), read)
    except (OSError, AttributeError):  # no such file, or no standard input
        return False


@contextmanager
def open_log(path: str | None, inputs: Sequence[str]) -> Iterator[IO[str] | None]:
    """A file to append to, None for None.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    if path is None:
        yield None
        return
    _refuse(path, inputs)
    try:
        file = Path(path).open("a", encoding="utf-8")  # noqa: SIM115
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
    with file:
        yield file
