"""Where the lines of a command go: stdout, or a file that is never overwritten unasked."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from gpusudoku.cli.lines import Lines, WriteError, line_ends
from gpusudoku.cli.messages import complain
from gpusudoku.errors import InputError
from gpusudoku.jobs.interrupts import held_interrupts


class Output:
    """Where results go: stdout for None or ``-``, else a new file. A context manager.

    The file is made once there is something to write, or at the end if there is nothing.

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
        self._path, self._force = None if path == "-" else path, force
        self._file: io.FileIO | None = None
        self._is_new = False
        self._header: Callable[[], bytes] | None = None
        self._lines: Lines | None = None
        self._lines_in_memory = 0
        if self._path is not None:
            refuse(self._path, force, inputs)

    @property
    def to_stdout(self) -> bool:
        """Whether results go to stdout, and not to a file."""
        return self._path is None

    @property
    def lines(self) -> int:
        """Lines written."""
        return self._lines_in_memory if self._lines is None else self._lines.written

    def __enter__(self) -> Output:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None and (self._header is not None or self._path is not None):
            self._begin()
        if self._file is None:
            return
        is_empty = not os.fstat(self._file.fileno()).st_size
        try:
            self._file.close()
        except OSError as failure:
            raise WriteError(f"{self._path}: cannot be written: {failure.strerror}") from None
        finally:
            if kind is not None and self._is_new and is_empty:  # it would be in the way next time
                Path(self._path or "").unlink(missing_ok=True)

    def write(self, text: bytes | memoryview, lines: int | None = None) -> None:
        """Write whole lines: an interrupt is let in between two lines, never within one.

        ``lines`` is their number, if it is known.

        Raises
        ------
        WriteError
            If that fails. No half of a line is left in a file.
        """
        if text:
            if self._header is not None:
                self._begin()
            self._write(text, lines)

    def write_header(self, header: Callable[[], bytes]) -> None:
        """Write what stands before all results, if anything does.

        It waits for the first of them: nothing is made for a command that fails before it, and
        only then the columns of its input are known.
        """
        self._header = header

    def _begin(self) -> None:
        """Write the header, and open the file in any case."""
        text = b"" if self._header is None else self._header()
        self._header = None
        if text or self._path is not None:
            self._write(text)

    def _write(self, text: bytes | memoryview, lines: int | None = None) -> None:
        if self._lines is None:
            try:
                self._lines = Lines(self._open(), self._path or "stdout")
            except io.UnsupportedOperation:  # a stand-in for stdout, in memory
                sys.stdout.write(bytes(text).decode(errors="surrogateescape"))
                self._lines_in_memory += line_ends(text)
                return
        self._lines.write(text, lines)

    def _open(self) -> int:
        """Open the file, or take stdout."""
        if self._path is None:
            sys.stdout.flush()
            return sys.stdout.fileno()
        with held_interrupts():  # else a new file could be left that nobody knows of
            self._file = self._open_file(Path(self._path))
            return self._file.fileno()

    def _open_file(self, path: Path) -> io.FileIO:
        try:
            try:
                file = path.open("xb", buffering=0)
                self._is_new = True
            except FileExistsError:
                if path.is_file() and not self._force:
                    raise InputError(f"{path}: exists already; --force overwrites it") from None
                file = path.open("wb", buffering=0)
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror}") from None
        return file


def show(*lines: str) -> None:
    """Write lines to stdout, as results are."""
    text = "".join(f"{line}\n" for line in lines)
    Output(None, False, ()).write(text.encode(errors="surrogateescape"))


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


class Log:
    """A file to which lines are appended, as long as that works.

    A failure does not stop the work that is logged: it is reported at the end. What is written
    after it would leave a gap, so nothing is.
    """

    def __init__(self, descriptor: int, path: str) -> None:
        # What stands on stdout is logged to its end.
        self._lines = Lines(descriptor, path, whole=True)
        self._path = path
        self.failure: WriteError | None = None

    def write(self, text: bytes) -> None:
        """Append whole lines."""
        if self.failure is None:
            try:
                self._lines.write(text)
            except WriteError as error:
                self.failure = error
            except BrokenPipeError as error:
                self.failure = WriteError(f"{self._path}: cannot be written: {error.strerror}")


@contextmanager
def open_log(path: str | None, inputs: Sequence[str]) -> Iterator[Log | None]:
    """A file to append to, None for None.

    Raises
    ------
    InputError
        If it cannot be opened.
    WriteError
        At the end, if it could not be written. After another error that is said on stderr instead.
    """
    if path is None:
        yield None
        return
    _refuse(path, inputs)
    try:
        file = Path(path).open("ab", buffering=0)  # noqa: SIM115
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
    with file:
        log = Log(file.fileno(), path)
        try:
            yield log
        except BaseException:
            if log.failure is not None:
                complain(str(log.failure))
            raise
    if log.failure is not None:
        raise log.failure
