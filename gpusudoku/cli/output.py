"""Output of a command: stdout, or a file that is never overwritten unasked; and logs beside it."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from gpusudoku.cli.lines import LineWriter, WriteError, line_ends
from gpusudoku.cli.messages import complain
from gpusudoku.errors import InputError, Interrupted
from gpusudoku.jobs.interrupts import held_interrupts


class Output:
    """Destination of results: stdout for None or ``-``, else a new file. A context manager.

    The file is made once there is something to write, or at the end if there is nothing. It may
    exist only with ``force``, and is none of the ``inputs``, which are still being read: else it is
    an InputError at once. A file that was begun before is cut to ``size`` bytes and continued; it
    has its header if there are any.
    """

    def __init__(
        self, path: str | None, force: bool, inputs: Sequence[str], size: int | None = None
    ) -> None:
        self._path, self._force = None if path == "-" else path, force
        self._begun_size = size
        self._file: io.FileIO | None = None
        self._is_new = self._folder_synced = False
        self._header: Callable[[], bytes] | None = None
        self._writer: LineWriter | None = None
        self._lines_in_memory = 0
        if self._path is None or size is None:
            refuse(self._path, force, inputs)
        else:
            refuse_target(self._path, inputs)
            _refuse_short(self._path, size)

    @property
    def to_stdout(self) -> bool:
        """True if results go to stdout, and not to a file."""
        return self._path is None

    @property
    def real_path(self) -> str | None:
        """The file, by the name that no other has; None for stdout."""
        return None if self._path is None else os.path.realpath(self._path)

    @property
    def lines(self) -> int:
        """Lines written."""
        return self._lines_in_memory if self._writer is None else self._writer.written

    @property
    def size(self) -> int:
        """Bytes of the file up to the end of what was written; 0 of stdout, or if it is not there.

        A file that is continued has those that it is cut to before anything is written.
        """
        if self._file is None:
            return self._begun_size or 0
        return os.lseek(self._file.fileno(), 0, os.SEEK_CUR)

    def __enter__(self) -> Output:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.begin()
        if self._file is None:
            return
        is_empty = not os.fstat(self._file.fileno()).st_size
        try:
            self._file.close()
        except OSError as error:
            raise WriteError(f"{self._path}: cannot be written: {error.strerror}") from None
        finally:
            if kind is not None and self._is_new and is_empty:  # it would be in the way next time
                Path(self._path or "").unlink(missing_ok=True)

    def write_header(self, header: Callable[[], bytes]) -> None:
        """Write what stands before all results, once the first of them is written.

        Nothing is made for a command that fails before, and only then its columns are known.
        """
        self._header = None if self._begun_size else header

    def begin(self) -> None:
        """Write what stands before all results, if anything does, and make the file in any case."""
        text = b"" if self._header is None else self._header()
        self._header = None
        if text or self._path is not None:
            self._write(text)

    def open(self) -> None:
        """Make the file now, or cut one that was begun; it stays, whatever happens."""
        self._open()
        self._is_new = False

    def write(self, text: bytes | memoryview, lines: int | None = None) -> None:
        """Write whole lines, as ``LineWriter.write``."""
        if text:
            if self._header is not None:
                self.begin()
            self._write(text, lines)

    def sync(self) -> None:
        """Have all that was written to the file outlive a loss of power. Any thread may do that."""
        if self._file is None:
            return
        try:
            os.fsync(self._file.fileno())
            if not self._folder_synced:  # a file that is new in it could be lost
                with suppress(PermissionError):  # Windows opens no folder; one may be write-only
                    folder = os.open(Path(self._path or "").parent, os.O_RDONLY)
                    try:
                        os.fsync(folder)
                    finally:
                        os.close(folder)
                self._folder_synced = True
        except OSError as error:
            raise WriteError(f"{self._path}: cannot be written: {error.strerror}") from None

    @contextmanager
    def telling_lines(self, hint: str = "") -> Iterator[None]:
        """Have Ctrl-C end the command with the number of lines written, and ``hint``."""
        try:
            yield
        except (KeyboardInterrupt, Interrupted):
            message = f"interrupted: {self.lines} lines written{hint}"
            raise Interrupted(message, self.lines) from None

    def _write(self, text: bytes | memoryview, lines: int | None = None) -> None:
        try:
            self._open().write(text, lines)
        except io.UnsupportedOperation:  # a stand-in for stdout, in memory
            sys.stdout.write(bytes(text).decode(errors="surrogateescape"))
            self._lines_in_memory += line_ends(text)

    def _open(self) -> LineWriter:
        """Open the file, or take stdout, unless that was done before."""
        if self._writer is None:
            if self._path is None:
                sys.stdout.flush()
                self._writer = LineWriter(sys.stdout.fileno(), "stdout")
            else:
                with held_interrupts():  # else a new file could be left behind
                    self._file = self._open_file(Path(self._path))
                    self._writer = LineWriter(self._file.fileno(), self._path)
        return self._writer

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


def show(*lines: str) -> None:
    """Write lines to stdout, as results are."""
    text = "".join(f"{line}\n" for line in lines)
    Output(None, False, ()).write(text.encode(errors="surrogateescape"))


class Log:
    """A file to which lines are appended, as long as that works.

    A failure does not stop the work that is logged: it is reported at the end. Lines after it would
    leave a gap, so none are written.
    """

    def __init__(self, descriptor: int, path: str) -> None:
        # Interrupts wait: what stands on stdout is to be logged, too.
        self._writer = LineWriter(descriptor, path, whole=True)
        self._path = path
        self.failure: WriteError | None = None

    def write(self, text: bytes) -> None:
        """Append whole lines."""
        if self.failure is None:
            try:
                self._writer.write(text)
            except WriteError as error:
                self.failure = error
            except BrokenPipeError as error:
                self.failure = WriteError(f"{self._path}: cannot be written: {error.strerror}")


@contextmanager
def open_log(path: str | None, inputs: Sequence[str]) -> Iterator[Log | None]:
    """Open a file to append to, None for None.

    If it could not be written, that is raised at the end, or said on stderr after another error.
    """
    if path is None:
        yield None
        return
    refuse_target(path, inputs)
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


def refuse(path: str | None, force: bool, inputs: Sequence[str]) -> None:
    """Raise an InputError at once for a file that ``Output`` could not write later."""
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
        if _is_same(path, other):
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
    """Raise an InputError for a file that is to be continued, if it lacks some of its bytes."""
    file, lost = Path(path), "and cannot be gone on with"
    if not file.exists():
        raise InputError(f"{path}: is not there any more, {lost}")
    if not file.is_file():
        raise InputError(f"{path}: is no file, {lost}")
    if (found := file.stat().st_size) < size:
        raise InputError(f"{path}: has {found} bytes, not the {size} that were written, {lost}")
    if not os.access(file, os.W_OK):
        raise InputError(f"{path}: cannot be written")


def is_same_file(path: str, other: str) -> bool:
    """Tell whether two names of files mean the same one, there or not."""
    return _is_same(path, other) or os.path.realpath(path) == os.path.realpath(other)


def _is_same(path: str, other: str) -> bool:
    """Tell whether a file that exists is another one, ``-`` for standard input."""
    read = _stat(other)
    try:
        return read is not None and os.path.samestat(Path(path).stat(), read)
    except (OSError, ValueError):  # no such file
        return False


def _stat(path: str) -> os.stat_result | None:
    """Return the status of a file, ``-`` for standard input; None if it is not there."""
    try:
        return os.fstat(sys.stdin.fileno()) if path == "-" else Path(path).stat()
    except (OSError, AttributeError, ValueError):  # the last for a board: a name has no NUL byte
        return None
