"""The command group, and what belongs to it."""

from __future__ import annotations

from typing import Any

import click

from gpusudoku import __version__
from gpusudoku.cli.about import boards, convert, devices, info
from gpusudoku.cli.bench import bench
from gpusudoku.cli.count import count
from gpusudoku.cli.enumerate import enumerate_
from gpusudoku.cli.simplify import simplify
from gpusudoku.cli.solve import solve
from gpusudoku.cli.source import looks_like_board


class _Commands(click.Group):
    """The commands; a board that is taken for an option gets a hint."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[__name__] = [each for each in args if each.startswith("-")]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.NoSuchOption as error:
            if any(map(looks_like_board, ctx.meta[__name__])):
                message = f"{error.message} A board that starts with - comes after --."
                raise click.UsageError(message, error.ctx) from None
            raise


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="gpusudoku", message="%(prog)s %(version)s")
def cli() -> None:
    """Count and list all solutions of Sudoku boards, exactly, on a GPU or on all CPU cores.

    A BOARD is a file in any common form, - for standard input, @NAME for a board that comes with
    the program ("gpusudoku boards" lists them), or the board itself. A file of many boards is a
    batch.

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
