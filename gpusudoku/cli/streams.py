"""The standard streams, whatever they were when the program started: closed, full or cut off."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _Stderr(io.FileIO):
    """A stream that drops what it cannot write: no message is worth a result."""

    def write(self, data: ReadableBuffer, /) -> int:
        with suppress(OSError):
            return super().write(data)
        return memoryview(data).nbytes


def repair_streams() -> None:
    """Have a stdout and a stderr in any case.

    What stands in for a stdout that was closed fails when it is written, as it does for any other
    that is not open. Stderr never fails.
    """
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8")
    encoding = "utf-8" if sys.stderr is None else sys.stderr.encoding
    sys.stderr = io.TextIOWrapper(
        _Stderr(2, "w", closefd=False),
        encoding,
        errors="backslashreplace",
        line_buffering=True,
        write_through=True,
    )


def discard_stdout() -> None:
    """Drop what is left of stdout after a failure: the interpreter would try again at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
