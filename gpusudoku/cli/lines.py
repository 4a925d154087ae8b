"""Whole lines, written to a descriptor: neither a full disk nor a signal leaves half of one."""

from __future__ import annotations

import os
import select
import stat
import time
from collections.abc import Callable, Iterator

import numpy as np

from gpusudoku.errors import GpusudokuError
from gpusudoku.jobs.interrupts import held_interrupts

PIPE_PIECE = 4096
"""Bytes that a pipe which is ready takes at once (PIPE_BUF on Linux; POSIX grants 512)."""
FILE_PIECE = 1 << 18
"""Bytes written to a file, or to what takes all at once, between two looks for an interrupt."""
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
        self._is_file = stat.S_ISREG(mode)
        self._may_wait = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)
        """Whether somebody has to read before more can be written."""
        self._most = PIPE_PIECE if self._may_wait else FILE_PIECE
        self._heeds = self._may_wait or not whole
        self._poll: select.poll | None = None
        if self._may_wait and os.name != "nt":
            self._poll = select.poll()
            self._poll.register(descriptor, select.POLLOUT)

    def write(self, text: bytes) -> None:
        """Write lines, each with its end.

        Raises
        ------
        WriteError
            If that fails.
        BrokenPipeError
            If nobody will ever read them.
        """
        try:
            with held_interrupts() as interrupted:
                for start, end in self._pieces(text):
                    if self._heeds and interrupted():
                        return
                    if not self._send(text, start, end, interrupted):
                        return
        except BrokenPipeError:
            raise
        except OSError as error:
            raise WriteError(f"{self._name}: cannot be written: {error.strerror}") from None

    def _pieces(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Whole lines, as many as can be written without a look for an interrupt, at least one.

        Returns where they start and end: copying them would take as long as writing them.
        """
        most, start = self._most, 0
        while start < len(data):
            end = data.rfind(b"\n", start, start + most) + 1 or data.find(b"\n", start) + 1
            end = end or len(data)
            yield start, end
            start = end

    def _send(self, data: bytes, start: int, end: int, interrupted: Callable[[], bool]) -> bool:
        """Write lines; returns False if there was an interrupt, and nobody to read them."""
        sent, deadline = start, None
        most = PIPE_PIECE if self._may_wait else end - start
        try:
            with memoryview(data) as view:
                while sent < end:
                    if self._ready():
                        sent += os.write(self._descriptor, view[sent : min(sent + most, end)])
                    elif interrupted():
                        deadline = deadline or time.monotonic() + GRACE_SECONDS
                        if sent == start or time.monotonic() > deadline:
                            return False
        except OSError:
            whole = max(start, data.rfind(b"\n", start, sent) + 1)
            self.written += line_ends(data, start, whole)
            if self._is_file and sent > whole:
                self._cut(sent - whole)
            raise
        self.written += line_ends(data, start, end)
        return True

    def _ready(self) -> bool:
        """Whether some bytes can be written; waits a little if not."""
        return self._poll is None or bool(self._poll.poll(WAIT_MILLISECONDS))

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


def line_ends(data: bytes, start: int = 0, end: int | None = None) -> int:
    """How many lines end there; in vectors, and other threads work meanwhile."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8)[start:end] == ord("\n")))
