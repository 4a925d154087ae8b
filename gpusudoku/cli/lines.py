"""Whole lines, written to a descriptor: neither a full disk nor a signal leaves half of one."""

from __future__ import annotations

import os
import select
import stat
import sys
import time
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from gpusudoku.errors import GpusudokuError
from gpusudoku.jobs.interrupts import held_interrupts

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
    """Writes whole lines to a descriptor, which errors call by a name.

    Interrupts are let in between two lines. If writing fails within a line, a file is cut back to
    the end of the line before. A pipe or terminal gives back nothing: if nobody reads on for half a
    second after an interrupt, half a line may be left in it. If ``whole``, interrupts have to wait,
    unless a reader would have to be waited for.
    """

    def __init__(self, descriptor: int, name: str, *, whole: bool = False) -> None:
        self.written = 0
        """Lines written."""
        self._descriptor, self._name = descriptor, name
        mode = os.fstat(descriptor).st_mode
        self._is_file, is_pipe = stat.S_ISREG(mode), stat.S_ISFIFO(mode)
        self._has_reader = is_pipe or stat.S_ISSOCK(mode) or os.isatty(descriptor)
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
        """Write lines, each with its end; ``lines`` is their number, if it is known.

        Failures are raised as a WriteError, or BrokenPipeError if the reader is gone for good.
        """
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
        sent, end, deadline = 0, len(data), None
        try:
            while sent < end:
                if deadline is None and self._heeds and interrupted():
                    deadline = time.monotonic() + GRACE_SECONDS
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
                self._take_back(sent - whole)
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

    def _take_back(self, extra: int) -> None:
        """Cut bytes off the end of the file, unless another process has written after them."""
        end = os.lseek(self._descriptor, 0, os.SEEK_CUR)
        if os.fstat(self._descriptor).st_size != end:
            raise WriteError(f"{self._name}: cannot be written any further, after half a line")
        os.ftruncate(self._descriptor, end - extra)
        os.lseek(self._descriptor, end - extra, os.SEEK_SET)


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
