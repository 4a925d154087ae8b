"""The command line: a thin layer over the Python interface; no logic of its own.

stdout carries results only; all else goes to stderr. Exit status 0: answered. 1: could not
finish. 2: bad input or usage.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any, NoReturn

import click

from gpusudoku import __version__
from gpusudoku.cli.about import boards, convert, devices, info
from gpusudoku.cli.bench import bench
from gpusudoku.cli.count import count
from gpusudoku.cli.enumerate import enumerate_
from gpusudoku.cli.simplify import simplify
from gpusudoku.cli.solve import solve
from gpusudoku.errors import GpusudokuError


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="gpusudoku", message="%(prog)s %(version)s")
def cli() -> None:
    """Count and list all solutions of Sudoku boards, exactly, on a GPU or on all CPU cores.

    A BOARD is a file in any common form, - for standard input, or @NAME for a board that comes
    with the program ("gpusudoku boards" lists them). A file of many boards is a batch.

    \b
    Examples:
      gpusudoku count board.txt              the number of solutions
      gpusudoku count @2f --device cuda      on all GPUs
      gpusudoku count puzzles.txt --only unique
      gpusudoku solve board.txt
      gpusudoku enumerate board.txt -o solutions.txt

    Every option can also be given as an environment variable, shown in the help of its command.
    """


for command in (count, solve, enumerate_, simplify, info, convert, boards, devices, bench):
    cli.add_command(command)


def _interrupt(signum: int, frame: Any) -> NoReturn:
    raise KeyboardInterrupt


def main() -> NoReturn:
    """Run the command line and exit with its status."""
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        status = cli.main(standalone_mode=False) or 0
        if sys.stdout is not None:  # None: it was closed before we started
            sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
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
    line = " ".join(message.split())
    click.echo(f"gpusudoku: {line}", err=True)
    return status
