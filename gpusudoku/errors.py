"""All errors, each with an exit status for the command line, and the wording of messages."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

MAX_SHOWN = 40
"""Characters of the input that a message quotes at most."""
MAX_OF_BOARD = 256
"""Characters of a board that a message quotes at most: a 16x16 board on one line."""
LONGEST_MESSAGE = 5000
"""Characters of a message. The longest path of a file has 4096."""


def shown(text: str | bytes) -> str:
    """Quote a part of the input in a message: short, without control characters."""
    if isinstance(text, bytes):
        # A character has at most 4 bytes. The rest of a long text need not be decoded.
        text = text[: 4 * MAX_SHOWN + 4].decode(errors="replace")
    return repr(shortened(text, MAX_SHOWN))


def shortened(text: str, max_length: int) -> str:
    """Return the first ``max_length`` characters of a text; the last is ``…`` if it is longer."""
    return text if len(text) <= max_length else text[: max_length - 1] + "…"


def described(value: object) -> str:
    """Describe a value in a message: its repr if that is short, else its type."""
    try:
        text = repr(value)
    except Exception:  # an integer of too many digits, or a type with a faulty repr
        text = ""
    short = 0 < len(text) <= MAX_SHOWN
    return text if short else f"a value of type {type(value).__name__}"


def escaped(text: str) -> str:
    """Escape line ends and control characters of a text, so that it cannot control a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def printable(text: str) -> str:
    """Return a message as one line of bounded length, with control characters escaped."""
    return _of_bounded_length(escaped(" ".join(text.split())))


def _of_bounded_length(text: str) -> str:
    """Omit the middle of a text that is too long for a message."""
    if len(text) <= LONGEST_MESSAGE:
        return text
    half = LONGEST_MESSAGE // 2
    return f"{text[: half - 1]}…{text[-half:]}"


def installing(extra: str) -> str:
    """Return the command that installs an extra of the package."""
    return f"pip install '.[{extra}]' in a checkout of gpusudoku"


def not_installed(user: str, packages: str, extra: str) -> str:
    """Return the message that ``user`` needs packages, with the command that installs them."""
    return f"{user} needs {packages}: {installing(extra)}"


class Hint(NamedTuple):
    """An option in a message. Command line, web and Python each have their own words for it."""

    option: str
    """``box``; ``column`` as the only advice; or ``other column`` as one of several."""
    value: str = ""


Message: TypeAlias = "str | Hint | tuple[Message, ...]"
"""A text, an option, or a sequence of these."""


def python_words(hint: Hint) -> str:
    """Return the words for an option in Python, where only the box shape is a parameter."""
    if hint.option == "box":
        return f'box="{hint.value}"' if hint.value else "box="
    if hint.option == "column":
        return "call the right one puzzle"
    return ""


def worded(message: Message, words: Callable[[Hint], str] = python_words) -> str:
    """Join the parts of a message, with the words of an interface for its options."""
    if isinstance(message, str):
        return message
    if isinstance(message, Hint):
        return words(message)
    return "".join(worded(part, words) for part in message)


class BadEntry(NamedTuple):
    """A board that cannot be read."""

    source: str
    """The name of the file, or of another source."""
    line: int
    """The line of the error, from 1; 0 if the error has no line."""
    reason: str
    """The message of the error, without the place."""
    puzzle: str = ""
    """The text of the board; empty if it is unknown."""
    extra_columns: tuple[str, ...] = ()
    """The names of the columns of the input that are not boards."""
    extra_texts: tuple[str, ...] = ()
    """The texts in the extra columns, one for each of ``extra_columns``."""
    is_last: bool = False
    """True if the rest of the input cannot be read."""


class GpusudokuError(Exception):
    """The base class of all errors that this package raises on purpose. Its text is one line.

    Control characters in quoted input and names of files are escaped.
    """

    exit_status = 1

    def __init__(self, message: object = "") -> None:
        super().__init__(_of_bounded_length(escaped(str(message))))


class InputError(GpusudokuError, ValueError):
    """Bad input: a board, a file or an option value. The text names the place."""

    exit_status = 2

    def __init__(self, message: Message = "") -> None:
        super().__init__(worded(message))
        self.message = message
        self.entry: BadEntry | None = None
        """The board that cannot be read, if the error is about one."""


class DeviceError(GpusudokuError, RuntimeError):
    """The chosen device cannot be used on this machine."""


class ClusterError(GpusudokuError, RuntimeError):
    """The chosen cluster cannot be used, or was lost."""


class SaveError(GpusudokuError, RuntimeError):
    """A long run could not be saved. It stops; its file has the state of the previous save."""


class MismatchError(GpusudokuError, RuntimeError):
    """Two independent counts of the same board differ, so one of them is wrong."""


class TooExpensive(GpusudokuError):  # noqa: N818 - the board is not wrong
    """Counting the board by this method would take more time or memory than allowed.

    ``seconds`` is the estimated time, or None if it is unknown.
    """

    def __init__(self, message: object = "", seconds: float | None = None) -> None:
        super().__init__(message)
        self.seconds = seconds


class GaveUp(GpusudokuError):  # noqa: N818 - nothing is wrong
    """The time ended before enough random puzzles with the required properties were found."""

    exit_status = 5


class Interrupted(GpusudokuError):  # noqa: N818 - as KeyboardInterrupt
    """The work was stopped from outside. ``count`` is the number so far, a lower bound.

    Ctrl-C raises it during a count or a search. Elsewhere Ctrl-C raises Python's KeyboardInterrupt,
    so catch both.
    """

    def __init__(self, message: str, count: int = 0) -> None:
        super().__init__(message)
        self.count = count


class Cancelled(Interrupted):
    """The work was stopped by a ``CancelToken``, not by Ctrl-C. A subclass of ``Interrupted``."""
