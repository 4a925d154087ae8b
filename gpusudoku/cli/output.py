"""Writing results: to stdout, or to a file that is never overwritten unasked."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import click

from gpusudoku.errors import InputError


@contextmanager
def open_output(path: str | None, force: bool) -> Iterator[IO[str]]:
    """Give stdout for None or ``-``, else a new file.

    Raises
    ------
    InputError
        If the file exists and ``force`` is not set, or it cannot be written.
    """
    if path is None or path == "-":
        yield sys.stdout
        return
    try:
        file = Path(path).open("w" if force else "x", encoding="ascii", newline="\n")  # noqa: SIM115
    except FileExistsError:
        raise InputError(f"{path}: exists already; --force overwrites it") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
    with file:
        yield file


@contextmanager
def open_log(path: str | None) -> Iterator[IO[str] | None]:
    """A file to append to, None for None.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    if path is None:
        yield None
        return
    try:
        file = Path(path).open("a", encoding="utf-8")  # noqa: SIM115
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
    with file:
        yield file


def announce_compiling() -> None:
    """Have the first compilation of kernels announced on stderr."""
    from gpusudoku.kernels import cpu

    folder = cpu.cache_folder()
    kept = f"kept in {folder.parent}" if folder else "no folder can be written to keep the result"
    cpu.on_compile(
        lambda: click.echo(f"gpusudoku: compiling for this kind of board ({kept})", err=True)
    )
