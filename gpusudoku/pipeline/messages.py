"""Messages on stderr: stdout carries results only."""

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
    before = _quiet
    _quiet = quiet
    try:
        yield
    finally:
        _quiet = before


def is_quiet() -> bool:
    """Tell whether only errors are printed."""
    return _quiet


def tell(text: str) -> None:
    """Say something that a user may want to know."""
    if not _quiet:
        # A line of progress may stand there, as what a thread has to say comes at any time.
        _write(f"{CLEAR}{text}" if sys.stderr is not None and sys.stderr.isatty() else text)


def _write(text: str) -> None:
    """Write a line at once: threads may write at the same time."""
    if sys.stderr is not None:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


def several(number: int, noun: str) -> str:
    """Write a number of things: ``1 board``, ``2,000 boards``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def note(text: str) -> None:
    """Say something on a line that begins with the program's name."""
    tell(f"gpusudoku: {printable(text)}")


def option_words(hint: Hint) -> str:
    """Name an option in a message as the command line has it."""
    if hint.option == "box":
        return f"--box {hint.value}".rstrip()
    return "give --column NAME" if hint.option == "column" else ", or that of --column NAME"


def complain(text: str) -> None:
    """Say what is wrong, on one line that begins with the program's name."""
    _write(f"gpusudoku: {printable(text)}")


class Console(Announcer):
    """Says on stderr, as everything else, what is compiled."""

    def say(self, text: str, seconds: float = 0.0) -> None:
        """Say it on a line that begins with the program's name."""
        note(text)


@contextmanager
def naming(place: str) -> Iterator[None]:
    """Let what is wrong with a board say first which board it is."""
    try:
        yield
    except (InputError, MismatchError, TooExpensive) as error:
        raise type(error)(f"{place}{error}") from None
