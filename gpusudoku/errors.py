"""All errors, each with the exit status of the command line, and the wording of messages."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

MAX_SHOWN = 40
"""The most characters of the input that a message quotes."""
MAX_OF_BOARD = 256
"""The most characters of a board that a message quotes: a line of 16x16 cells."""
LONGEST_MESSAGE = 5000
"""The most characters of a message; the longest path of a file has 4096."""


def shown(text: str | bytes) -> str:
    """Quote a piece of the input for a message: short, without control characters."""
    if isinstance(text, bytes):
        text = text[: 4 * MAX_SHOWN + 4].decode(errors="replace")
    return repr(shortened(text, MAX_SHOWN))


def shortened(text: str, most: int) -> str:
    """Cut a text to at most so many characters, from its start."""
    return text if len(text) <= most else text[: most - 1] + "…"


def described(value: object) -> str:
    """Name a value for a message: as it is if that is short, else by its type."""
    try:
        text = repr(value)
    except Exception:  # an integer of too many digits, or a type with a faulty repr
        text = ""
    short = 0 < len(text) <= MAX_SHOWN
    return text if short else f"a value of type {type(value).__name__}"


def escaped(text: str) -> str:
    """Escape line ends and control characters of a text: it does nothing to a terminal then."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def printable(text: str) -> str:
    """Put a message on one line, not very long, with control characters as escapes."""
    return _of_bounded_length(escaped(" ".join(text.split())))


def _of_bounded_length(text: str) -> str:
    """Leave out the middle of a text that is too long for a message."""
    half = LONGEST_MESSAGE // 2
    return text if len(text) <= LONGEST_MESSAGE else f"{text[: half - 1]}…{text[-half:]}"


def installing(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install '.[{extra}]' in a checkout of gpusudoku"


def not_installed(user: str, packages: str, extra: str) -> str:
    """Return the message that something needs packages, which an extra installs."""
    return f"{user} needs {packages}: {installing(extra)}"


class Hint(NamedTuple):
    """An option in a message, for which every interface has words of its own."""

    option: str
    """``box``; ``column``, as an advice; or ``other column``, as one more possibility."""
    value: str = ""


Message: TypeAlias = "str | Hint | tuple[Message, ...]"
"""A message, or the pieces of one that names options."""


def python_words(hint: Hint) -> str:
    """Name an option in Python, where only boxes have a parameter."""
    if hint.option == "box":
        return f'box="{hint.value}"' if hint.value else "box="
    return "call the right one puzzle" if hint.option == "column" else ""


def worded(message: Message, words: Callable[[Hint], str] = python_words) -> str:
    """Put the pieces of a message together, with the words of an interface for its options."""
    if isinstance(message, str):
        return message
    if isinstance(message, Hint):
        return words(message)
    return "".join(worded(piece, words) for piece in message)


class BadEntry(NamedTuple):
    """A board that cannot be read."""

    source: str
    """The name of the file, or of another source."""
    line: int
    """The line of the error, from 1; 0 if no line is wrong."""
    reason: str
    """The message of the error, without the place."""
    puzzle: str = ""
    """The text of the board, empty if that is not known."""
    columns: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    """Texts beside the board, one for each of the columns."""
    is_last: bool = False
    """True if the rest of the input cannot be read either."""


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

    def __init__(self, message: Message = "") -> None:
        super().__init__(worded(message))
        self.message = message
        self.entry: BadEntry | None = None
        """The board, if it is the error of one that cannot be read."""


class DeviceError(GpusudokuError, RuntimeError):
    """The chosen device cannot be used on this machine."""


class ClusterError(GpusudokuError, RuntimeError):
    """The chosen cluster cannot be used, or was lost."""


class SaveError(GpusudokuError, RuntimeError):
    """A long run could not be saved: it stops, and its file has the state of the last save."""


class MismatchError(GpusudokuError, RuntimeError):
    """Two independent counts of the same board differ: one of them is wrong."""


class TooExpensive(GpusudokuError):  # noqa: N818 - the board is not wrong
    """The board would take more time or memory than allowed to count in this way.

    ``seconds`` is the time that it should take, None if that is not known.
    """

    def __init__(self, message: object = "", seconds: float | None = None) -> None:
        super().__init__(message)
        self.seconds = seconds


class GaveUp(GpusudokuError):  # noqa: N818 - nothing is wrong
    """No more random puzzles as they were wanted were found in time."""

    exit_status = 5


class Interrupted(GpusudokuError):  # noqa: N818 - as KeyboardInterrupt
    """The work was stopped from outside; ``count`` is the number found so far, a lower bound.

    Ctrl-C raises it during a count or a search, and elsewhere Python's own KeyboardInterrupt: to
    stop at any Ctrl-C, catch both.
    """

    def __init__(self, message: str, count: int = 0) -> None:
        super().__init__(message)
        self.count = count


class Cancelled(Interrupted):
    """The work was stopped by a ``CancelToken``, not by Ctrl-C. It is an ``Interrupted``, too."""
