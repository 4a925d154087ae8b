"""The errors that a caller can meet, each with the exit status the command line gives it."""

from typing import NamedTuple

MOST_SHOWN = 40
"""Characters of the input that a message quotes."""
MOST_OF_BOARD = 256
"""Characters of a board that a message quotes: a line of 16x16 cells."""
LONGEST_MESSAGE = 5000
"""Characters of a message; the longest path of a file has 4096."""


def shown(text: str | bytes) -> str:
    """A piece of the input as a message quotes it: short, without control characters."""
    if isinstance(text, bytes):
        text = text[: 4 * MOST_SHOWN + 4].decode(errors="replace")
    return repr(shortened(text, MOST_SHOWN))


def shortened(text: str, most: int) -> str:
    """A text of at most so many characters: of a longer one the start."""
    return text if len(text) <= most else text[: most - 1] + "…"


def described(value: object) -> str:
    """A value as a message names it: as it is if that is short, else by its type."""
    try:
        text = repr(value)
    except Exception:  # an integer of too many digits, or of whoever made the type
        text = ""
    short = 0 < len(text) <= MOST_SHOWN
    return text if short else f"a value of type {type(value).__name__}"


def escaped(text: str) -> str:
    """A text with escapes for line ends and control characters: it does nothing to a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def printable(text: str) -> str:
    """A message on one line, which is not very long, with control characters as escapes."""
    return _of_bounded_length(escaped(" ".join(text.split())))


def _of_bounded_length(text: str) -> str:
    """A text without its middle, if it is too long for a message."""
    half = LONGEST_MESSAGE // 2
    return text if len(text) <= LONGEST_MESSAGE else f"{text[: half - 1]}…{text[-half:]}"


def installing(extra: str) -> str:
    """Say how to install an extra."""
    return f"pip install '.[{extra}]' in a checkout of gpusudoku"


def not_installed(user: str, packages: str, extra: str) -> str:
    """Say that something needs packages, and how to install the extra that has them."""
    return f"{user} needs {packages}: {installing(extra)}"


class BadEntry(NamedTuple):
    """What is known of a board that cannot be read."""

    source: str
    """The file, or whatever it is read from."""
    line: int
    """Where the error is, from 1; 0 if no line is wrong."""
    reason: str
    """The message of its error, without the place."""
    puzzle: str = ""
    """The board as it is given, empty if that is not known."""
    columns: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    """What stands beside it, a text for each of the columns."""
    is_last: bool = False
    """Whether the rest of the input means nothing."""


class GpusudokuError(Exception):
    """Base class: every error this package raises on purpose. Its text is one line.

    Control characters of what it quotes, names of files among them, come as escapes.
    """

    exit_status = 1

    def __init__(self, message: object = "") -> None:
        super().__init__(_of_bounded_length(escaped(str(message))))


class InputError(GpusudokuError, ValueError):
    """Bad input: a board, a file or an option value. The text names the place."""

    exit_status = 2

    def __init__(self, message: object = "") -> None:
        super().__init__(message)
        self.entry: BadEntry | None = None
        """What is known of the board, if it is the error of one that cannot be read."""


class DeviceError(GpusudokuError, RuntimeError):
    """The device that was asked for cannot be used on this machine."""


class ClusterError(GpusudokuError, RuntimeError):
    """The cluster that was asked for cannot be used, or was lost."""


class SaveError(GpusudokuError, RuntimeError):
    """A long run could not be saved: it stops, and its file has all up to the save before."""


class MismatchError(GpusudokuError, RuntimeError):
    """Two independent counts of the same board differ: one of them is wrong."""


class TooExpensive(GpusudokuError):  # noqa: N818 - the board is not wrong
    """The board would take more time or memory than allowed to count in this way.

    ``seconds`` is what it should take, None if nobody knows.
    """

    def __init__(self, message: object = "", seconds: float | None = None) -> None:
        super().__init__(message)
        self.seconds = seconds


class Interrupted(GpusudokuError):  # noqa: N818 - as KeyboardInterrupt
    """The work was stopped from outside; ``count`` is what it had found, a lower bound.

    It is what Ctrl-C becomes while something is counted or searched. Between that it is Python's
    own KeyboardInterrupt: to stop at any Ctrl-C, catch both.
    """

    def __init__(self, message: str, count: int = 0) -> None:
        super().__init__(message)
        self.count = count


class Cancelled(Interrupted):
    """The work was stopped by a ``CancelToken``, not by Ctrl-C. It is an ``Interrupted``, too."""
