"""Starting threads, where the system may allow no more."""

from __future__ import annotations

import threading
import warnings
from contextlib import suppress

from gpusudoku.errors import GpusudokuError


class NoThread(GpusudokuError, RuntimeError):  # noqa: N818 - it says what is missing
    """The system starts no more threads: too many processes, or too little memory."""


def start_thread(thread: threading.Thread) -> None:
    """Start a thread; raise NoThread if there can be no more."""
    with suppress(RuntimeError, MemoryError):
        return thread.start()
    try:
        thread.start()  # one that had just ended may have counted
    except (RuntimeError, MemoryError):
        if thread.ident is not None:  # it was started before
            raise
        message = "allow more processes (ulimit -u) or more memory (ulimit -v)"
        raise NoThread(f"no thread can be started: {message}") from None


def note_fewer() -> None:
    """Warn that work goes on with fewer threads than wanted; Python shows this only once."""
    warnings.warn(
        "no more threads can be started (see ulimit -u and ulimit -v): going on with fewer",
        RuntimeWarning,
        stacklevel=1,
    )
