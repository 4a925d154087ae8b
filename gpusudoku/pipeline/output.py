"""Output of a command: whole lines to stdout or to a file, and logs.

An existing file is never overwritten without ``--force``. Neither a full disk nor a signal leaves
an incomplete line.
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
from gpusudoku.pipeline.messages import print_error

if sys.platform == "linux":
    import fcntl
    import termios

PIPE_CHUNK = 4096
"""Bytes that a pipe which is ready takes at once (PIPE_BUF on Linux; POSIX grants 512)."""
PIPE_CAPACITY = 1 << 20
"""Bytes that a pipe is asked to hold. With chunks of PIPE_CHUNK alone, listing takes half as long
again."""
FILE_CHUNK = 1 << 20
"""Bytes written to a file, or to another descriptor that never blocks, between two checks for an
interrupt."""
SEARCH_CHUNK = 1 << 12
"""Bytes in which the end of a line is searched for at a time."""
DIGEST_BYTES = 1 << 12
"""Bytes at the end of a file that identify it. Digests of them are saved: it never changes."""
WAIT_MILLISECONDS = 100
"""Time to wait for a reader before the next check for an interrupt."""
GRACE_SECONDS = 0.5
"""Time after an interrupt within which a reader may take the rest of the current line."""


class WriteError(GpusudokuError):
    """A file could not be written: the disk is full, or the file reached its maximum size."""


class LineWriter:
    """Writes whole lines to a descriptor.

    After an interrupt it completes the line that it has begun, and stops. What is in a pipe cannot
    be undone: if its reader takes nothing for half a second after an interrupt, an incomplete line
    remains there.

    Parameters
    ----------
    name
        The name of the file in errors.
    whole
        True if all of a text is written even after an interrupt, unless a reader stops.
    """

    def __init__(self, descriptor: int, name: str, *, whole: bool = False) -> None:
        self.written = 0
        """Lines written."""
        self._descriptor = descriptor
        self._name = name
        self._finishes_text = whole
        mode = os.fstat(descriptor).st_mode
        is_pipe = stat.S_ISFIFO(mode)
        self._is_file = stat.S_ISREG(mode)
        self._has_reader = is_pipe or stat.S_ISSOCK(mode) or os.isatty(descriptor)
        """True if another process must read before more can be written."""
        self._checks_interrupts = self._has_reader or not whole
        self._pipe_capacity = 0
        """Bytes that a pipe holds, 0 if that is unknown."""
        if is_pipe and sys.platform == "linux":
            # The system refuses if this user has too many large pipes.
            with suppress(OSError):
                fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, PIPE_CAPACITY)
            with suppress(OSError):
                self._pipe_capacity = fcntl.fcntl(descriptor, fcntl.F_GETPIPE_SZ)
        self._poll: select.poll | None = None
        if self._has_reader and os.name != "nt":  # Windows cannot poll a pipe
            self._poll = select.poll()
            self._poll.register(descriptor, select.POLLOUT)

    def write(self, text: bytes | memoryview, lines: int | None = None) -> None:
        """Write whole lines; ``lines`` is their number, if it is known.

        Raises
        ------
        WriteError
            If not all could be written. A regular file then ends with a whole line.
        BrokenPipeError
            If there is no reader any more.
        """
        try:
            with held_interrupts() as interrupted, memoryview(text) as data:
                sent = self._send(data, interrupted)
                if lines is None or sent < len(data):
                    lines = line_ends(data[:sent])
                self.written += lines
        except BrokenPipeError:
            raise
        except OSError as error:
            raise WriteError(f"{self._name}: cannot be written: {error.strerror}") from None

    def _send(self, data: memoryview, interrupted: Callable[[], bool]) -> int:
        """Write lines; return the number of bytes written.

        After an interrupt only the rest of the current line is written.
        """
        sent = 0
        end = len(data)
        deadline = None  # the end of the grace time, once there was an interrupt
        try:
            while sent < end:
                if deadline is None and self._checks_interrupts and interrupted():
                    deadline = time.monotonic() + GRACE_SECONDS
                    if not self._finishes_text:
                        if sent == 0 or data[sent - 1] == ord("\n"):
                            break
                        end = sent + _line_length(data[sent:])
                elif self._poll is None or self._poll.poll(WAIT_MILLISECONDS):
                    # Stop at the end of a line if possible: a signal may come before the next one.
                    stop = min(sent + self._room(), end)
                    line_end = _last_line_end(data, stop)
                    if line_end > sent:
                        stop = line_end
                    sent += os.write(self._descriptor, data[sent:stop])
                elif deadline is not None and time.monotonic() > deadline:
                    break
        except OSError:
            self._remove_incomplete_line(data, sent)
            raise
        return sent

    def _remove_incomplete_line(self, data: memoryview, sent: int) -> None:
        """After an error, count the whole lines of the sent bytes, and cut a file behind them."""
        line_end = _last_line_end(data, sent)
        self.written += line_ends(data[:line_end])
        if not self._is_file or sent == line_end:
            return
        position = os.lseek(self._descriptor, 0, os.SEEK_CUR)
        if os.fstat(self._descriptor).st_size != position:
            # Another process has appended to the file: its bytes must not be removed.
            message = "cannot be written any further, and ends with an incomplete line"
            raise WriteError(f"{self._name}: {message}") from None
        size = position - sent + line_end
        os.ftruncate(self._descriptor, size)
        os.lseek(self._descriptor, size, os.SEEK_SET)

    def _room(self) -> int:
        """Return the number of bytes that can be written without waiting for a reader.

        It is right if any can be, which the caller has polled.
        """
        if not self._has_reader:
            return FILE_CHUNK
        if not self._pipe_capacity:
            return PIPE_CHUNK
        # A pipe consists of pages. The unread bytes may fill the first and last page partly.
        unread = fcntl.ioctl(self._descriptor, termios.FIONREAD, bytes(4))
        used_pages = int.from_bytes(unread, sys.byteorder) // PIPE_CHUNK + 2
        return max(PIPE_CHUNK, self._pipe_capacity - used_pages * PIPE_CHUNK)


def _line_length(data: memoryview) -> int:
    """Return the number of bytes up to the first line end, which is included, or of all data."""
    return bytes(data).find(b"\n") + 1 or len(data)


def _last_line_end(data: memoryview, stop: int) -> int:
    """Return the end of the last whole line before ``stop``, 0 if there is none."""
    for end in range(stop, 0, -SEARCH_CHUNK):
        start = max(0, end - SEARCH_CHUNK)
        index = bytes(data[start:end]).rfind(b"\n")
        if index >= 0:
            return start + index + 1
    return 0


def line_ends(data: bytes | memoryview) -> int:
    """Count the line ends in data.

    NumPy counts many bytes per instruction, and lets other threads run meanwhile.
    """
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord("\n")))


class Output:
    """The destination of results: stdout for None or ``-``, else a file. A context manager.

    The file is created with the first results, or at the end if there are none.

    Parameters
    ----------
    force
        True if an existing file is overwritten.
    inputs
        Files that are read, and must not be written.
    size
        The saved size of a file that an earlier run has begun. The file is cut to this size and
        continued; if it is not empty, it has its header already. None for a new file.

    Raises
    ------
    InputError
        At once, if the file cannot be written later.
    """

    def __init__(
        self, path: str | None, force: bool, inputs: Sequence[str], size: int | None = None
    ) -> None:
        self._path = None if path == "-" else path
        self._force = force
        self._saved_size = size
        self._file: io.FileIO | None = None
        self._is_new = False
        """True if this object has created the file, and may remove it."""
        self._is_folder_synced = False
        self._is_readable = False
        """True if the file is opened for reading, too, as ``end_of`` requires."""
        self._sync_error: WriteError | None = None
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
        """The absolute path of the file, without symbolic links; None for stdout."""
        return None if self._path is None else os.path.realpath(self._path)

    @property
    def lines(self) -> int:
        """Lines written."""
        return self._lines_in_memory if self._writer is None else self._writer.written

    @property
    def size(self) -> int:
        """Bytes of the file that are written, those of an earlier run included; 0 for stdout."""
        if self._file is None:
            return self._saved_size or 0
        return os.lseek(self._file.fileno(), 0, os.SEEK_CUR)

    def __enter__(self) -> Output:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.begin()  # creates the file, if there were no results
        if self._file is None:
            return
        is_empty = not os.fstat(self._file.fileno()).st_size
        try:
            self._file.close()
        except OSError as error:
            raise WriteError(f"{self._path}: cannot be written: {error.strerror}") from None
        finally:
            # After an error a new, empty file would only prevent the next run without --force.
            if kind is not None and self._is_new and is_empty:
                Path(self._path or "").unlink(missing_ok=True)

    def write_header(self, header: Callable[[], bytes]) -> None:
        """Write a header before the first results; its columns are known only then."""
        self._header = None if self._saved_size else header

    def begin(self) -> None:
        """Write the header, if there is one, and create the file in any case."""
        text = b"" if self._header is None else self._header()
        self._header = None
        if text or self._path is not None:
            self._write(text)

    def open(self) -> None:
        """Create the file now, or cut one of an earlier run. An error does not remove it."""
        self._is_readable = True
        self._open()
        self._is_new = False

    def write(self, text: bytes | memoryview, lines: int | None = None) -> None:
        """Write whole lines, as ``LineWriter.write`` does."""
        if text:
            if self._header is not None:
                self.begin()
            self._write(text, lines)

    def sync(self) -> None:
        """Wait until everything written to the file is on the disk. Any thread may call this.

        Afterwards a loss of power cannot destroy it.
        """
        if self._file is None:
            return
        # The system reports an error of a sync once, and forgets the lost data: a second sync would
        # succeed although they are not on the disk.
        if self._sync_error is not None:
            raise self._sync_error
        try:
            os.fsync(self._file.fileno())
            if not self._is_folder_synced:  # the folder's entry for a new file could be lost
                self._sync_folder()
                self._is_folder_synced = True
        except OSError as error:
            self._sync_error = WriteError(f"{self._path}: cannot be written: {error.strerror}")
            raise self._sync_error from None

    def _sync_folder(self) -> None:
        """Wait until the folder of the file is on the disk, if the system permits that."""
        with suppress(PermissionError):  # Windows opens no folder; one may be write-only
            folder = os.open(Path(self.real_path or "").parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def end_of(self, size: int) -> str:
        """Identify the file as ``end_of_file`` does; ``open`` must have created it."""
        assert self._file is not None
        return end_of_file(self._file.fileno(), size)

    @contextmanager
    def reporting_lines(self) -> Iterator[None]:
        """Report the number of written lines if Ctrl-C ends the command in this block."""
        try:
            yield
        except (KeyboardInterrupt, Interrupted):
            message = f"interrupted: {self.lines} lines written"
            raise Interrupted(message, self.lines) from None

    def _write(self, text: bytes | memoryview, lines: int | None = None) -> None:
        """Write whole lines, without the header."""
        try:
            self._open().write(text, lines)
        except io.UnsupportedOperation:  # stdout was replaced by an object in memory
            sys.stdout.write(bytes(text).decode(errors="surrogateescape"))
            self._lines_in_memory += line_ends(text)

    def _open(self) -> LineWriter:
        """Return the writer of the file or of stdout, which the first call opens."""
        if self._writer is not None:
            return self._writer
        if self._path is None:
            sys.stdout.flush()
            self._writer = LineWriter(sys.stdout.fileno(), "stdout")
        else:
            # An interrupt between the two lines would leave a new file that nobody removes.
            with held_interrupts():
                self._file = self._open_file(Path(self._path))
                self._writer = LineWriter(self._file.fileno(), self._path)
        return self._writer

    def _open_file(self, path: Path) -> io.FileIO:
        """Create the file, overwrite it, or cut it to its saved size."""
        try:
            if self._saved_size is not None:
                _refuse_short(str(path), self._saved_size)
                file = path.open("r+b", buffering=0)
                file.truncate(self._saved_size)
                file.seek(self._saved_size)
                return file
            # Only if it must be: opening a named pipe for reading, too, waits for no reader.
            reading = "+" if self._is_readable else ""
            try:
                file = io.FileIO(path, f"x{reading}")
                self._is_new = True
            except FileExistsError:
                # A device or a named pipe exists, but is not overwritten.
                if path.is_file() and not self._force:
                    raise InputError(f"{path}: exists already; --force overwrites it") from None
                file = io.FileIO(path, f"w{reading}")
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror}") from None
        return file


def end_of_file(descriptor: int, size: int) -> str:
    """Identify a file by the SHA-256 of its last bytes before ``size``.

    If ``size`` is 0, there are none: the file is identified by its inode number.
    """
    if not size:
        return f"inode {os.fstat(descriptor).st_ino}"
    start = max(0, size - DIGEST_BYTES)
    return sha256(os.pread(descriptor, DIGEST_BYTES, start)[:size]).hexdigest()


def show(*lines: str) -> None:
    """Write lines to stdout in the same way as results."""
    text = "".join(f"{line}\n" for line in lines)
    Output(None, False, ()).write(text.encode(errors="surrogateescape"))


class Log:
    """A file to which lines are appended.

    An error does not end the command: it is kept in ``failure``, and nothing more is written.
    """

    def __init__(self, descriptor: int, path: str) -> None:
        # An interrupt does not shorten a text: the log must contain what is on stdout.
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
    """Open a file to append to, and raise its failure at the end; after an error only print it."""
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
                print_error(str(log.failure))
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
    # A new file is created in the folder to which a symbolic link leads.
    folder = Path(os.path.realpath(path) if Path(path).is_symlink() else path).parent
    if not os.access(Path(path) if Path(path).exists() else folder, os.W_OK):
        reason = "" if folder.is_dir() else f": there is no folder {folder}"
        raise InputError(f"{path}: cannot be written{reason}")


def refuse_target(path: str, inputs: Sequence[str]) -> None:
    """Raise an InputError for a folder, a file without a name, or one of the inputs."""
    if not path:
        raise InputError("a file without a name cannot be written")
    if Path(path).is_dir():
        raise InputError(f"{path}: is a folder, and cannot be written")
    for input_path in inputs:
        if _is_same(path, input_path):
            raise InputError(f"{path}: is read, and cannot be written at the same time")


def refuse_stdout(inputs: Iterable[str]) -> None:
    """Raise an InputError if stdout is one of the inputs: results would be read as boards."""
    try:
        stdout_stat = os.fstat(sys.stdout.fileno())
    except (OSError, AttributeError):  # in memory, or closed
        return
    for path in inputs:
        input_stat = _stat(path)
        if input_stat is None or not stat.S_ISREG(input_stat.st_mode):
            continue
        if os.path.samestat(stdout_stat, input_stat):
            name = "<stdin>" if path == "-" else path
            raise InputError(
                f"{name}: is the input, so results cannot be appended to it: write to another file"
            )


def _refuse_short(path: str, size: int) -> None:
    """Raise an InputError if a file cannot be continued after its first ``size`` bytes."""
    file = Path(path)
    consequence = "and cannot be continued"
    if not file.exists():
        raise InputError(f"{path}: does not exist any more, {consequence}")
    if not file.is_file():
        raise InputError(f"{path}: is not a file, {consequence}")
    actual_size = file.stat().st_size
    if actual_size < size:
        raise InputError(
            f"{path}: has {actual_size} bytes, not the {size} that were written, {consequence}"
        )
    if not os.access(file, os.W_OK):
        folder = Path(path).parent
        reason = "" if folder.is_dir() else f": there is no folder {folder}"
        raise InputError(f"{path}: cannot be written{reason}")


def is_same_file(path: str, other_path: str) -> bool:
    """Tell whether two paths mean the same file, which need not exist."""
    return _is_same(path, other_path) or os.path.realpath(path) == os.path.realpath(other_path)


def _is_same(path: str, input_path: str) -> bool:
    """Tell whether a path means an existing input, ``-`` for standard input."""
    input_stat = _stat(input_path)
    try:
        return input_stat is not None and os.path.samestat(Path(path).stat(), input_stat)
    except (OSError, ValueError):  # no such file
        return False


def _stat(path: str) -> os.stat_result | None:
    """Return the status of a file, ``-`` for standard input; None if it does not exist."""
    try:
        return os.fstat(sys.stdin.fileno()) if path == "-" else Path(path).stat()
    # A ValueError: stdin is closed, or the path is the text of a board, with a NUL byte.
    except (OSError, AttributeError, ValueError):
        return None
