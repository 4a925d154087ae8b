"""Output of a command: whole lines to stdout or a file that is never overwritten unasked; logs.

Neither a full disk nor a signal leaves half of a line.
"""

from __future__ import annotations

import io
import os
import select
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

import numpy as np

from gpusudoku.errors import GpusudokuError, InputError, Interrupted
from gpusudoku.jobs.interrupts import held_interrupts
from gpusudoku.pipeline.messages import complain

if sys.platform == "linux":
    import fcntl
    import termios

PIPE_PIECE = 4096
"""Bytes that a pipe which is ready takes at once (PIPE_BUF on Linux; POSIX grants 512)."""
PIPE_ROOM = 1 << 20
"""Bytes that a pipe is asked to hold. With pieces of PIPE_PIECE alone, listing takes half as long
again."""
FILE_PIECE = 1 << 20
"""Bytes written to a file, or to what takes all at once, between two checks for an interrupt."""
SEARCHED = 1 << 12
"""Bytes in which the end of a line is searched for at a time."""
WAIT_MILLISECONDS = 100
"""Time to wait for a reader before the next check for an interrupt."""
GRACE_SECONDS = 0.5
"""Time that a reader which stopped in the middle of a line has to continue, after an interrupt."""


class WriteError(GpusudokuError):
    """Something could not be written: a disk is full, or a file as large as it may be."""


class LineWriter:
    """Writes whole lines to a descriptor; errors call it by a name.

    A pipe takes nothing back: only if its reader stops in a line for half a second after an
    interrupt, half a line is left. With ``whole`` all of a text is written after an interrupt, too,
    unless a reader stops.
    """

    def __init__(self, descriptor: int, name: str, *, whole: bool = False) -> None:
        self.written = 0
        """Lines written."""
        self._descriptor = descriptor
        self._name = name
        mode = os.fstat(descriptor).st_mode
        self._is_file, is_pipe = stat.S_ISREG(mode), stat.S_ISFIFO(mode)
        self._has_reader = is_pipe or stat.S_ISSOCK(mode) or os.isatty(descriptor)
        self._whole = whole
        self._heeds = self._has_reader or not whole
        self._pipe_size = 0
        """Bytes that a pipe holds, if that is known."""
        if is_pipe and sys.platform == "linux":
            with suppress(OSError):  # too many for this user, or there is more in it already
                fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, PIPE_ROOM)
            with suppress(OSError):
                self._pipe_size = fcntl.fcntl(descriptor, fcntl.F_GETPIPE_SZ)
        self._poll: select.poll | None = None
        if self._has_reader and os.name != "nt":
            self._poll = select.poll()
            self._poll.register(descriptor, select.POLLOUT)

    def write(self, text: bytes | memoryview, lines: int | None = None) -> None:
        """Write lines, of a number that may be known; raise WriteError, or BrokenPipeError."""
        try:
            with held_interrupts() as interrupted, memoryview(text) as data:
                sent = self._send(data, interrupted)
                whole = lines is not None and sent == len(data)
                self.written += lines if lines is not None and whole else line_ends(data[:sent])
        except BrokenPipeError:
            raise
        except OSError as error:
            raise WriteError(f"{self._name}: cannot be written: {error.strerror}") from None

    def _send(self, data: memoryview, interrupted: Callable[[], bool]) -> int:
        """Write lines, after an interrupt only the one that is begun; return the bytes written."""
        sent = 0
        end = len(data)
        deadline = None
        try:
            while sent < end:
                if deadline is None and self._heeds and interrupted():
                    deadline = time.monotonic() + GRACE_SECONDS
                    if not self._whole:
                        if sent == 0 or data[sent - 1] == ord("\n"):
                            break
                        rest = bytes(data[sent:])
                        end = sent + (rest.find(b"\n") + 1 or len(rest))
                elif self._poll is None or self._poll.poll(WAIT_MILLISECONDS):
                    stop = min(sent + self._room(), end)
                    whole = _last_line_end(data, stop)
                    sent += os.write(self._descriptor, data[sent : whole if whole > sent else stop])
                elif deadline is not None and time.monotonic() > deadline:
                    break
        except OSError:
            whole = _last_line_end(data, sent)
            self.written += line_ends(data[:whole])
            if self._is_file and sent > whole:
                written = os.lseek(self._descriptor, 0, os.SEEK_CUR)
                if os.fstat(self._descriptor).st_size != written:  # another process wrote, too
                    message = "cannot be written any further, after half a line"
                    raise WriteError(f"{self._name}: {message}") from None
                os.ftruncate(self._descriptor, written - sent + whole)
                os.lseek(self._descriptor, written - sent + whole, os.SEEK_SET)
            raise
        return sent

    def _room(self) -> int:
        """Return the bytes that can be written without waiting for a reader, if any can."""
        if not self._has_reader:
            return FILE_PIECE
        if not self._pipe_size:
            return PIPE_PIECE
        # Of the pages that a pipe consists of, the first and the last need not be full.
        unread = fcntl.ioctl(self._descriptor, termios.FIONREAD, bytes(4))
        pages = int.from_bytes(unread, sys.byteorder) // PIPE_PIECE + 2
        return max(PIPE_PIECE, self._pipe_size - pages * PIPE_PIECE)


def _last_line_end(data: memoryview, stop: int) -> int:
    """Return the end of the last whole line before ``stop``."""
    for end in range(stop, 0, -SEARCHED):
        start = max(0, end - SEARCHED)
        found = bytes(data[start:end]).rfind(b"\n")
        if found >= 0:
            return start + found + 1
    return 0


def line_ends(data: bytes | memoryview) -> int:
    """Count the lines that end in data; in vectors, and other threads work meanwhile."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord("\n")))


class Output:
    """Destination of results: stdout for None or ``-``, else a new file. A context manager.

    The file is made once there is something to write, or at the end. If it exists without
    ``force``, or is one of the ``inputs``, that is an InputError at once. A file that was begun
    before is cut to ``size`` bytes and continued; it has its header if there are any.
    """

    def __init__(
        self, path: str | None, force: bool, inputs: Sequence[str], size: int | None = None
    ) -> None:
        self._path = None if path == "-" else path
        self._force = force
        self._begun_size = size
        self._file: io.FileIO | None = None
        self._is_new = self._folder_synced = self._is_readable = False
        self._failed_sync: WriteError | None = None
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
        """Bytes of the file that were written, also before it was continued; 0 of stdout."""
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
        """Write a header before the first results; only then its columns are known."""
        self._header = None if self._begun_size else header

    def begin(self) -> None:
        """Write what stands before all results, if anything does, and make the file in any case."""
        text = b"" if self._header is None else self._header()
        self._header = None
        if text or self._path is not None:
            self._write(text)

    def open(self) -> None:
        """Make the file now, or cut one that was begun; it stays, whatever happens."""
        self._is_readable = True
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
        if self._failed_sync is not None:  # a second one would succeed, and prove nothing
            raise self._failed_sync
        try:
            os.fsync(self._file.fileno())
            if not self._folder_synced:  # a file that is new in it could be lost
                with suppress(PermissionError):  # Windows opens no folder; one may be write-only
                    folder = os.open(Path(self.real_path or "").parent, os.O_RDONLY)
                    try:
                        os.fsync(folder)
                    finally:
                        os.close(folder)
                self._folder_synced = True
        except OSError as error:
            words = f"{self._path}: cannot be written: {error.strerror}"
            self._failed_sync = WriteError(words)
            raise self._failed_sync from None

    def end_of(self, size: int) -> str:
        """Return what ``end_of_file`` says of the file, which was made by ``open``."""
        assert self._file is not None
        return end_of_file(self._file.fileno(), size)

    @contextmanager
    def telling_lines(self) -> Iterator[None]:
        """Let Ctrl-C end the command with the number of lines written."""
        try:
            yield
        except (KeyboardInterrupt, Interrupted):
            message = f"interrupted: {self.lines} lines written"
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
            more = "+" if self._is_readable else ""  # a pipe would not wait for its reader
            try:
                file = io.FileIO(path, f"x{more}")
                self._is_new = True
            except FileExistsError:
                if path.is_file() and not self._force:
                    raise InputError(f"{path}: exists already; --force overwrites it") from None
                file = io.FileIO(path, f"w{more}")
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror}") from None
        return file


def end_of_file(descriptor: int, size: int) -> str:
    """Return what tells a file from others: the SHA-256 of its last bytes before some size.

    Of a file of which nothing is known it is the number that the system has for it.
    """
    if not size:
        return f"inode {os.fstat(descriptor).st_ino}"
    return sha256(os.pread(descriptor, SEARCHED, max(0, size - SEARCHED))[:size]).hexdigest()


def show(*lines: str) -> None:
    """Write lines to stdout, as results are."""
    text = "".join(f"{line}\n" for line in lines)
    Output(None, False, ()).write(text.encode(errors="surrogateescape"))


class Log:
    """A file to which lines are appended until that fails, which is reported at the end."""

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
    """Open a file to append to; raise its failure at the end, or say it after another error."""
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
    folder = Path(os.path.realpath(path) if Path(path).is_symlink() else path).parent
    if not os.access(Path(path) if Path(path).exists() else folder, os.W_OK):
        why = "" if folder.is_dir() else f": there is no folder {folder}"
        raise InputError(f"{path}: cannot be written{why}")


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
    file = Path(path)
    lost = "and cannot be gone on with"
    if not file.exists():
        raise InputError(f"{path}: is not there any more, {lost}")
    if not file.is_file():
        raise InputError(f"{path}: is no file, {lost}")
    if (found := file.stat().st_size) < size:
        raise InputError(f"{path}: has {found} bytes, not the {size} that were written, {lost}")
    if not os.access(file, os.W_OK):
        folder = Path(path).parent
        why = "" if folder.is_dir() else f": there is no folder {folder}"
        raise InputError(f"{path}: cannot be written{why}")


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
