"""One run of the command line as a process: signals, streams, and the exit status."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any, NoReturn

import click

from gpusudoku.cli.commands import cli
from gpusudoku.cli.messages import complain, tell
from gpusudoku.errors import GpusudokuError


def _interrupt(signum: int, frame: Any) -> NoReturn:
    raise KeyboardInterrupt


def main() -> NoReturn:
    """Run the command line and exit with its status."""
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        status = cli.main(prog_name="gpusudoku", standalone_mode=False) or 0
        if sys.stdout is not None:  # None: it was closed before we started
            sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        tell(error.format_message())
        status = 2
    except click.ClickException as error:
        status = _say(error.format_message(), 2)
    except GpusudokuError as error:
        status = _say(str(error), error.exit_status)
    except (KeyboardInterrupt, click.Abort):
        status = _say("interrupted", 1)
    except BrokenPipeError:
        # Whoever read our output has seen enough. The interpreter must not flush again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1  # as click does where it meets the closed pipe itself
    except OSError as error:
        status = _say(str(error), 1)
    sys.exit(status)


def _say(message: str, status: int) -> int:
    complain(message)
    return status
