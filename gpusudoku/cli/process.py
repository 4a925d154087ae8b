"""Run the command line in a process: errors become lines on stderr and an exit status.

click would report errors itself, as a line of usage and a line that begins with "Error:". With
``standalone_mode=False`` it raises them instead, and ``main`` reports them on one line.
"""

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
    enable_interrupts,
    ignore_interrupts,
    interrupt_status,
    last_interrupt,
)
from gpusudoku.jobs.watch import announcing
from gpusudoku.pipeline.messages import Console, print_error, print_info, print_note

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

MAX_MESSAGE_LENGTH = 500
"""Maximum characters of an error of usage: click quotes whole values, of any length."""


class _Stderr(io.FileIO):
    """A stream that drops what it cannot write: a lost message must not cost a result."""

    def write(self, data: ReadableBuffer, /) -> int:
        with suppress(OSError):
            return super().write(data)
        return memoryview(data).nbytes


def run_alone() -> NoReturn:
    """Run the command line in a process of its own, and end the process."""
    if sys.stdout is None:
        # File descriptor 1 is closed. Writing must fail, as on any descriptor that is not open.
        sys.stdout = os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = io.TextIOWrapper(
        _Stderr(2, "w", closefd=False),
        "utf-8" if sys.stderr is None else sys.stderr.encoding,
        errors="backslashreplace",
        line_buffering=True,
        write_through=True,
    )
    try:
        enable_interrupts()
        main()
    except KeyboardInterrupt:  # after the results, or the error, have been reported
        os._exit(interrupt_status())
    except SystemExit as end:
        ignore_interrupts()
        if not isinstance(end.code, int):
            raise
        # os._exit ends the process at once. After a signal (128 and more), a thread may be in code
        # that cannot be interrupted, and Python would wait for it. In all other cases, Python
        # would free all modules and objects, which may take longer than the command.
        if end.code < 128:
            if sys.getprofile() is not None:  # a profiler writes its report while Python ends
                raise
            atexit._run_exitfuncs()
        os._exit(end.code)


def main() -> NoReturn:
    """Run the command line and exit with its status."""
    try:
        with announcing(Console()), warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: print_note(str(message))
            # Without standalone mode, click returns the status of --help and of ctx.exit.
            status = cli.main(prog_name="gpusudoku", standalone_mode=False) or 0
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        print_info(error.format_message())  # the help: gpusudoku was started without arguments
        status = 2
    except click.ClickException as error:
        status = _report_error(shortened(error.format_message(), MAX_MESSAGE_LENGTH), 2)
    except (KeyboardInterrupt, click.Abort):
        status = _report_error("interrupted", interrupt_status())
    except Interrupted as error:
        status = _report_error(str(error), interrupt_status())
    except GpusudokuError as error:
        status = _report_error(str(error), error.exit_status)
    except SystemExit as end:  # a command has printed all messages, and chosen the status
        status = int(end.code or 0)
    except BrokenPipeError:  # the reader of stdout, such as head, has closed the pipe
        status = 1  # as click does for a broken pipe that it notices itself
    except OSError as error:
        # An error without a file is of a help page, which click writes to stdout.
        place = error.filename or "stdout: cannot be written"
        # An error without a number is of a shared library that cannot be loaded.
        message = str(error) if error.errno is None else f"{place}: {error.strerror}"
        status = _report_error(message, 1)
    except MemoryError:
        status = _report_error("out of memory", 1)
    except SystemError as error:  # C code failed without setting an exception
        status = _report_error(f"out of memory, or a fault of a library: {error}", 1)
    except Exception:
        if last_interrupt() is None:
            raise
        # Some modules raise another exception when an interrupt arrives during their import.
        status = _report_error("interrupted", interrupt_status())
    try:
        sys.stdout.flush()
    except OSError:
        # Python would flush again at its end and report the same error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(status)


def _report_error(message: str, status: int) -> int:
    """Print an error on stderr; return the exit status."""
    print_error(message)
    return status
