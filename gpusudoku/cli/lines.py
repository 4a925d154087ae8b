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
"""Bytes that a pipe is asked to hold: its reader need not be woken up so often."""
FILE_PIECE = 1 << 20
"""Bytes written to a file, or to what takes all at once, between two looks for an interrupt."""
LOOK = 1 << 12
"""Bytes in which the end of a line is looked for at a time."""
WAIT_MILLISECONDS = 100
"""How long to wait at a time for a reader."""
GRACE_SECONDS = 0.5
"""How long a reader that stopped in the middle of a line has to go on, after an interrupt."""


class WriteError(GpusudokuError):
    """Something could not be written: a disk is full, or a file as large as it may be."""


class Lines:
    """Writes whole lines to a descriptor.

    An interrupt is let in between two lines. If writing fails within a line, a file is cut back to
    the end of the line before. What a pipe or terminal has taken cannot be taken back: if nobody
    reads on for half a second after an interrupt, half a line is left in it.

    Parameters
    ----------
    descriptor
        Open for writing.
    name
        As errors call it.
    whole
        Whether an interrupt is not let in at all, where nobody has to read before more can be
        written.
    """

    def __init__(self, descriptor: int, name: str, *, whole: bool = False) -> None:
        self.written = 0
        """Lines written."""
        self._descriptor, self._name = descriptor, name
        mode = os.fstat(descriptor).st_mode
        self._is_file, is_pipe = stat.S_ISREG(mode), stat.S_ISFIFO(mode)
        self._may_wait = is_pipe or stat.S_ISSOCK(mode) or os.isatty(descriptor)
        """Whether somebody has to read before more can be written."""
        self._heeds = self._may_wait or not whole
        self._pipe_size = _widened(descriptor) if is_pipe else 0
        self._poll: select.poll | None = None
        if self._may_wait and os.name != "nt":
            self._poll = select.poll()
            self._poll.register(descriptor, select.POLLOUT)

    def write(self, text: bytes | memoryview, lines: int | None = None) -> None:
        """Write lines, each with its end; ``lines`` is their number, if it is known.

        Raises
        ------
        WriteError
            If that fails.
        BrokenPipeError
            If nobody will ever read them.
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
        """Write lines; after an interrupt no more than the one that is begun. Returns the bytes."""
        sent, end, deadline = 0, len(data), None
        try:
            while sent < end:
                if deadline is None and self._heeds and interrupted():
                    end, deadline = _line_end(data, sent), time.monotonic() + GRACE_SECONDS
                elif self._ready():
                    stop = min(sent + self._room(), end)
                    whole = _last_line_end(data, stop)
                    sent += os.write(self._descriptor, data[sent : whole if whole > sent else stop])
                elif deadline is not None and time.monotonic() > deadline:
                    break
        except OSError:
            whole = _last_line_end(data, sent)
            self.written += line_ends(data[:whole])
            if self._is_file and sent > whole:
                self._cut(sent - whole)
            raise
        return sent

    def _ready(self) -> bool:
        """Whether some bytes can be written; waits a little if not."""
        return self._poll is None or bool(self._poll.poll(WAIT_MILLISECONDS))

    def _room(self) -> int:
        """The bytes that can be written, if some can, without waiting for a reader."""
        if not self._may_wait:
            return FILE_PIECE
        if not self._pipe_size:
            return PIPE_PIECE
        # Of the pages that a pipe consists of, the first and the last need not be full.
        unread = int.from_bytes(
            fcntl.ioctl(self._descriptor, termios.FIONREAD, bytes(4)), sys.byteorder
        )
        pages = unread // PIPE_PIECE + 2
        return max(PIPE_PIECE, self._pipe_size - pages * PIPE_PIECE)

    def _cut(self, extra: int) -> None:
        """Take back bytes at the end of the file.

        Raises
        ------
        WriteError
            If something stands behind them, which is not ours.
        """
        end = os.lseek(self._descriptor, 0, os.SEEK_CUR)
        if os.fstat(self._descriptor).st_size != end:
            raise WriteError(f"{self._name}: cannot be written any further, after half a line")
        os.ftruncate(self._descriptor, end - extra)
        os.lseek(self._descriptor, end - extra, os.SEEK_SET)


def _widened(descriptor: int) -> int:
    """The bytes that a pipe holds, made as many as PIPE_ROOM if may be; 0 if nobody knows."""
    if sys.platform != "linux":
        return 0
    with suppress(OSError):  # too many for this user, or there is more in it already
        fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, PIPE_ROOM)
    try:
        return fcntl.fcntl(descriptor, fcntl.F_GETPIPE_SZ)
    except OSError:
        return 0


def _line_end(data: memoryview, sent: int) -> int:
    """Where the line ends of which ``sent`` is the end of a part; ``sent`` if none is begun."""
    if sent == 0 or data[sent - 1] == ord("\n"):
        return sent
    for start in range(sent, len(data), LOOK):
        found = bytes(data[start : start + LOOK]).find(b"\n")
        if found >= 0:
            return start + found + 1
    return len(data)


def _last_line_end(data: memoryview, sent: int) -> int:
    """Where the last whole line ends, of those before ``sent``."""
    for end in range(sent, 0, -LOOK):
        start = max(0, end - LOOK)
        found = bytes(data[start:end]).rfind(b"\n")
        if found >= 0:
            return start + found + 1
    return 0


def line_ends(data: bytes | memoryview) -> int:
    """How many lines end there; in vectors, and other threads work meanwhile."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord("\n")))
