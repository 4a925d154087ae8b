"""What is said on stderr, so that stdout carries results only."""

from __future__ import annotations

import click

from gpusudoku.errors import printable


def tell(text: str) -> None:
    """Say something that a user may want to know."""
    click.echo(text, err=True)


def note(text: str) -> None:
    """Say something on a line that begins with the program's name."""
    tell(f"gpusudoku: {text}")


def complain(text: str) -> None:
    """Say what is wrong, on one line that begins with the program's name."""
    click.echo(f"gpusudoku: {printable(text)}", err=True)
