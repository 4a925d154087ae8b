"""Where the lines of a command go: stdout, or a file that is never overwritten unasked."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

from gpusudoku.cli.lines import Lines, WriteError, line_ends
from gpusudoku.errors import InputError, Interrupted
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
    size
        Bytes of a file that was begun before and is gone on with: it is cut to them first, and it
        has its header if there are any. None for a new file.

    Raises
    ------
    InputError
        If the file exists and ``force`` is not set, is an input, or cannot be written; or if there
        are less bytes than it had. If stdout is an input.
    """

    def __init__(
        self, path: str | None, force: bool, inputs: Sequence[str], size: int | None = None
    ) -> None:
        self._path, self._force = None if path == "-" else path, force
        self._begun_size = size
        self._file: io.FileIO | None = None
        self._is_new = self._folder_synced = False
        self._header: Callable[[], bytes] | None = None
        self._lines: Lines | None = None
        self._lines_in_memory = 0
        if self._path is None or size is None:
            refuse(self._path, force, inputs)
        else:
            refuse_target(self._path, inputs)
            _refuse_short(self._path, size)

    @property
    def to_stdout(self) -> bool:
        """Whether results go to stdout, and not to a file."""
        return self._path is None

    @property
    def real_path(self) -> str | None:
        """The file, by the name that no other has; None for stdout."""
        return None if self._path is None else os.path.realpath(self._path)

    @property
    def lines(self) -> int:
        """Lines written."""
        return self._lines_in_memory if self._lines is None else self._lines.written

    @property
    def size(self) -> int:
        """Bytes of the file up to the end of what was written; 0 of stdout, or if it is not there.

        A file that is gone on with has those that it is cut to before anything is written.
        """
        if self._file is None:
            return self._begun_size or 0
        return os.lseek(self._file.fileno(), 0, os.SEEK_CUR)

    def open(self) -> None:
        """Make the file now, or cut one that was begun; it stays, whatever happens."""
        if self._lines is None:
            self._lines = Lines(self._open(), self._path or "stdout")
        self._is_new = False

    def sync(self) -> None:
        """Have all that was written to the file outlive a loss of power. Any thread may do that.

        Raises
        ------
        WriteError
            If that fails.
        """
        if self._file is None:
            return
        try:
            os.fsync(self._file.fileno())
            if not self._folder_synced:
                _sync_folder(Path(self._path or "").parent)
                self._folder_synced = True
        except OSError as error:
            raise WriteError(f"{self._path}: cannot be written: {error.strerror}") from None

    def __enter__(self) -> Output:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.begin()
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

    @contextmanager
    def telling_lines(self, hint: str = "") -> Iterator[None]:
        """Let Ctrl-C tell how many lines were written, and ``hint``."""
        try:
            yield
        except (KeyboardInterrupt, Interrupted):
            told = f"interrupted: {self.lines} lines written{hint}"
            raise Interrupted(told, self.lines) from None

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
                self.begin()
            self._write(text, lines)

    def write_header(self, header: Callable[[], bytes]) -> None:
        """Write what stands before all results, if anything does.

        It waits for the first of them: nothing is made for a command that fails before it, and
        only then the columns of its input are known.
        """
        self._header = None if self._begun_size else header

    def begin(self) -> None:
        """Write what stands before all results, if anything does, and make the file in any case."""
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
            if self._begun_size is not None:
                _refuse_short(str(path), self._begun_size)
                file = path.open("r+b", buffering=0)
                file.truncate(self._begun_size)
                file.seek(self._begun_size)
                return file
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


def _sync_folder(folder: Path) -> None:
    """Have a file that is new in a folder still be there after a loss of power."""
    with suppress(PermissionError):  # Windows opens no folder, and one may be for writing only
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def show(*lines: str) -> None:
    """Write lines to stdout, as results are."""
    text = "".join(f"{line}\n" for line in lines)
    Output(None, False, ()).write(text.encode(errors="surrogateescape"))


def refuse(path: str | None, force: bool, inputs: Sequence[str]) -> None:
    """Complain at once of a file that ``Output`` could not be later.

    Raises
    ------
    InputError
        As ``Output`` does.
    """
    if path is None or path == "-":
        refuse_stdout(inputs)
        return
    refuse_target(path, inputs)
    if Path(path).is_file() and not force:
        raise InputError(f"{path}: exists already; --force overwrites it")
    if not os.access(Path(path) if Path(path).exists() else Path(path).parent, os.W_OK):
        raise InputError(f"{path}: cannot be written")


def refuse_target(path: str, inputs: Sequence[str]) -> None:
    """Raise an InputError for a file that must not be written, or cannot be."""
    if not path:
        raise InputError("a file without a name cannot be written")
    if Path(path).is_dir():
        raise InputError(f"{path}: is a folder, and cannot be written")
    for other in inputs:
        if Path(path).exists() and _is_same(path, other):
            raise InputError(f"{path}: is read, and cannot be written at the same time")


def refuse_stdout(inputs: Iterable[str]) -> None:
    """Raise an InputError if stdout is a file that is read: results would be read as boards."""
    try:
        written = os.fstat(sys.stdout.fileno())
    except (OSError, AttributeError):  # in memory, or closed
        return
    for path in inputs:
        read = _stat(path)
        if read and stat.S_ISREG(read.st_mode) and os.path.samestat(written, read):
            name = "<stdin>" if path == "-" else path
            raise InputError(
                f"{name}: is the input, so results cannot be appended to it: write to another file"
            )


def _refuse_short(path: str, size: int) -> None:
    """Raise an InputError for a file that is gone on with, if it lacks some of its bytes."""
    file = Path(path)
    if not file.exists():
        raise InputError(f"{path}: is not there any more, and cannot be gone on with")
    if not file.is_file():
        raise InputError(f"{path}: is no file, and cannot be gone on with")
    if (found := file.stat().st_size) < size:
        raise InputError(
            f"{path}: has {found} bytes, not the {size} that were written, and cannot be gone on"
            " with"
        )
    if not os.access(file, os.W_OK):
        raise InputError(f"{path}: cannot be written")


def is_same_file(path: str, other: str) -> bool:
    """Whether two names of files mean the same one, there or not."""
    return _is_same(path, other) or os.path.realpath(path) == os.path.realpath(other)


def _is_same(path: str, other: str) -> bool:
    """Whether a file that exists is another one, ``-`` for standard input, under any name."""
    try:
        read = _stat(other)
        return read is not None and os.path.samestat(Path(path).stat(), read)
    except OSError:  # no such file
        return False


def _stat(path: str) -> os.stat_result | None:
    """Return the status of a file, ``-`` for standard input; None if it is not there."""
    try:
        return os.fstat(sys.stdin.fileno()) if path == "-" else Path(path).stat()
    except (OSError, AttributeError, ValueError):  # the last for a board: a name has no NUL byte
        return None
