"""The command group, and what belongs to it."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from gpusudoku import __version__
from gpusudoku.cli.about import boards, convert, devices, info
from gpusudoku.cli.bench import bench
from gpusudoku.cli.compile import compile_
from gpusudoku.cli.completing import complete_commands
from gpusudoku.cli.completion import completion
from gpusudoku.cli.count import count
from gpusudoku.cli.enumerate import enumerate_
from gpusudoku.cli.ranks import nth, rank
from gpusudoku.cli.sample import sample
from gpusudoku.cli.shares import shares
from gpusudoku.cli.simplify import simplify
from gpusudoku.cli.solve import solve
from gpusudoku.cli.source import looks_like_board
from gpusudoku.errors import Interrupted, shown


class Commands(click.Group):
    """A group that knows what may have been meant by a name that is no command, or no option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As that of click; what could be an option is remembered."""
        ctx.meta[__name__] = [each for each in args if each.startswith("-")]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As that of click, with our words for an unknown command."""
        if not ctx.resilient_parsing and (args[0] == "-" or not args[0].startswith("-")):
            self.named(args[0])
        return super().resolve_command(ctx, args)

    def named(self, name: str) -> click.Command:
        """The command of a name.

        Raises
        ------
        click.UsageError
            If there is none.
        """
        if name in self.commands:
            return self.commands[name]
        close = get_close_matches(name.lower(), self.commands, n=1, cutoff=0.5)
        if name.startswith("@") or name == "-" or _is_file(name):
            guess = f"did you mean 'count {name}'?"
        elif looks_like_board(name):
            guess = f"did you mean {shown(f'count {name}')}?"
        else:
            guess = f"did you mean {close[0]!r}?" if close else "'gpusudoku help' lists them"
        raise click.UsageError(f"no command {shown(name)}: {guess}")

    def invoke(self, ctx: click.Context) -> Any:
        """As that of click, with our words for a board that is taken for an option.

        An interrupt is an error like others here; click writes an empty line for it.
        """
        try:
            return super().invoke(ctx)
        except click.NoSuchOption as error:
            if any(map(looks_like_board, ctx.meta[__name__])):
                message = f"{error.message} A board that starts with - comes after --."
                raise click.UsageError(message, error.ctx) from None
            raise
        except KeyboardInterrupt:
            raise Interrupted("interrupted") from None


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError):  # too long a name, or one that cannot be
        return False


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
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
      gpusudoku help count                   all options of a command

    Every option can also be given as an environment variable, shown in the help of its command.
    """


@click.command("help")
@click.argument("command", required=False, metavar="[COMMAND]", shell_complete=complete_commands)
@click.pass_context
def help_(ctx: click.Context, command: str | None) -> None:
    """Show the help of a command, or of all.

    \b
    Example:
      gpusudoku help count
    """
    root = ctx.find_root()
    if command is not None:
        root = click.Context(cli.named(command), info_name=command, parent=root)
    click.echo(root.get_help())


for command in (
    *(count, solve, enumerate_, shares, sample, nth, rank, simplify),
    *(info, convert, boards, devices, compile_, bench),
    *(completion, help_),
):
    # The list of all commands shows first sentences. click would cut long ones.
    command.short_help = (command.help or "").strip().partition(".\n")[0].removesuffix(".") + "."
    cli.add_command(command)
