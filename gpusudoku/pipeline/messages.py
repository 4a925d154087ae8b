"""Messages on stderr. Stdout carries results only."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from gpusudoku.errors import Hint, InputError, MismatchError, TooExpensive, printable
from gpusudoku.jobs.watch import Announcer

T = TypeVar("T")

CLEAR = "\r\x1b[K"
"""Clears the line of a terminal."""

_quiet = False


@contextmanager
def quietly(quiet: bool) -> Iterator[None]:
    """Print only errors within this block, if ``quiet``."""
    global _quiet
    was_quiet = _quiet
    _quiet = quiet
    try:
        yield
    finally:
        _quiet = was_quiet


def is_quiet() -> bool:
    """Tell whether only errors are printed."""
    return _quiet


def print_info(text: str) -> None:
    """Print a line with information, unless ``--quiet`` is given."""
    if not _quiet:
        # Threads print at any time: clear the progress line, if one is on the terminal.
        _write(f"{CLEAR}{text}" if sys.stderr is not None and sys.stderr.isatty() else text)


def _write(text: str) -> None:
    """Write a line in one piece: other threads may write at the same time."""
    if sys.stderr is not None:  # it is None if the process was started without it
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


def several(number: int, noun: str) -> str:
    """Write a number with a noun: ``1 board``, ``2,000 boards``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def print_note(text: str) -> None:
    """Print a line with information that begins with the name of the program."""
    print_info(f"gpusudoku: {printable(text)}")


def option_words(hint: Hint) -> str:
    """Write an option in a message in the syntax of the command line."""
    if hint.option == "box":
        return f"--box {hint.value}".rstrip()
    # Each text continues the sentence of an error.
    return "give --column NAME" if hint.option == "column" else ", or that of --column NAME"


def print_error(text: str) -> None:
    """Print an error on one line that begins with the name of the program."""
    _write(f"gpusudoku: {printable(text)}")


class Console(Announcer):
    """Prints announcements of work in the background, such as compiling, on stderr."""

    def say(self, text: str, seconds: float = 0.0) -> None:
        """Print an announcement on a line that begins with the name of the program."""
        print_note(text)


@contextmanager
def prefixing_errors(place: str) -> Iterator[None]:
    """Begin the messages of errors in this block with the place of a board."""
    try:
        yield
    except (InputError, MismatchError, TooExpensive) as error:
        raise type(error)(f"{place}{error}") from None
