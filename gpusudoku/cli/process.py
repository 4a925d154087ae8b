"""One run of the command line: its errors as lines on stderr, and the exit status."""

from __future__ import annotations

import atexit
import io
import os
import sys
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

import click

from gpusudoku.cli.commands import cli
from gpusudoku.errors import GpusudokuError, Interrupted, shortened
from gpusudoku.jobs.interrupts import (
    heed_interrupts,
    interrupt_status,
    last_interrupt,
    outlive_interrupts,
)
from gpusudoku.jobs.watch import announcing
from gpusudoku.pipeline.messages import Console, complain, note, tell

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

LONGEST_COMPLAINT = 500
"""Characters of an error in an option: click quotes all of its value."""


class _Stderr(io.FileIO):
    """A stream that drops what it cannot write: no message is worth a result."""

    def write(self, data: ReadableBuffer, /) -> int:
        with suppress(OSError):
            return super().write(data)
        return memoryview(data).nbytes


def run_alone() -> NoReturn:
    """Run the command line in a process that has nothing else to do."""
    if sys.stdout is None:  # it was closed: writing fails, as to any other that is not open
        sys.stdout = os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = io.TextIOWrapper(
        _Stderr(2, "w", closefd=False),
        "utf-8" if sys.stderr is None else sys.stderr.encoding,
        errors="backslashreplace",
        line_buffering=True,
        write_through=True,
    )
    try:
        heed_interrupts()
        main()
    except KeyboardInterrupt:  # when all was done, or an error reported
        os._exit(interrupt_status())
    except SystemExit as end:
        outlive_interrupts()
        if not isinstance(end.code, int):
            raise
        # After a signal a thread may be left in code that cannot be interrupted. Else Python would
        # free all modules and objects, which takes longer than many a count.
        if end.code < 128:
            if sys.getprofile() is not None:  # who profiles writes at the end
                raise
            atexit._run_exitfuncs()
        os._exit(end.code)


def main() -> NoReturn:
    """Run the command line and exit with its status."""
    try:
        with announcing(Console()), warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: note(str(message))
            status = cli.main(prog_name="gpusudoku", standalone_mode=False) or 0
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        tell(error.format_message())
        status = 2
    except click.ClickException as error:
        status = _say(shortened(error.format_message(), LONGEST_COMPLAINT), 2)
    except (KeyboardInterrupt, click.Abort):
        status = _say("interrupted", interrupt_status())
    except Interrupted as error:
        status = _say(str(error), interrupt_status())
    except GpusudokuError as error:
        status = _say(str(error), error.exit_status)
    except SystemExit as end:  # of a command that says so, after all messages
        status = int(end.code or 0)
    except BrokenPipeError:  # the reader of our output has seen enough
        status = 1  # as click does where it meets the closed pipe itself
    except OSError as error:
        whose = error.filename or "stdout: cannot be written"  # of a help page: click writes it
        # One without a number is of a library that cannot be loaded.
        status = _say(str(error) if error.errno is None else f"{whose}: {error.strerror}", 1)
    except MemoryError:
        status = _say("out of memory", 1)
    except SystemError as error:  # some C code fails without saying of what
        status = _say(f"out of memory, or a fault of a library: {error}", 1)
    except Exception:
        if last_interrupt() is None:
            raise
        status = _say("interrupted", interrupt_status())  # some import makes another error of it
    try:
        sys.stdout.flush()
    except OSError:  # the interpreter would try again at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(status)


def _say(message: str, status: int) -> int:
    complain(message)
    return status
