"""The errors that a caller can meet, each with the exit status the command line gives it."""

MOST_SHOWN = 40
"""Characters of the input that a message quotes."""


def shown(text: str | bytes) -> str:
    """A piece of the input as a message quotes it: short, without control characters."""
    if isinstance(text, bytes):
        text = text[: 4 * MOST_SHOWN + 4].decode(errors="replace")
    return repr(text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 1] + "…")


def described(value: object) -> str:
    """A value as a message names it: as it is if that is short, else by its type."""
    text = repr(value)
    return text if len(text) <= MOST_SHOWN else f"a value of type {type(value).__name__}"


def printable(text: str) -> str:
    """A message on one line, with control characters as escapes."""
    words = " ".join(text.split())
    return (
        words
        if words.isprintable()
        else "".join(c if c.isprintable() else repr(c)[1:-1] for c in words)
    )


class GpusudokuError(Exception):
    """Base class: every error this package raises on purpose. Its text is one line."""

    exit_status = 1


class InputError(GpusudokuError, ValueError):
    """Bad input: a board, a file or an option value. The text names the place."""

    exit_status = 2


class DeviceError(GpusudokuError, RuntimeError):
    """The device that was asked for cannot be used on this machine."""


class MismatchError(GpusudokuError, RuntimeError):
    """Two independent counts of the same board differ: one of them is wrong."""


class TooExpensive(GpusudokuError):  # noqa: N818 - the board is not wrong
    """The board would take more time or memory than allowed to count in this way."""


class Interrupted(GpusudokuError):  # noqa: N818 - as KeyboardInterrupt
    """The work was stopped from outside; ``count`` is what it had found, a lower bound.

    It is what Ctrl-C becomes while something is counted or searched. Between that it is Python's
    own KeyboardInterrupt: to stop at any Ctrl-C, catch both.
    """

    def __init__(self, message: str, count: int = 0) -> None:
        super().__init__(message)
        self.count = count


class Cancelled(Interrupted):
    """The work was stopped by a ``CancelToken``, not by Ctrl-C."""
