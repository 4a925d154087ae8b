"""The command group, its help and its guesses at wrong names.

A command is imported when it is run, or when its help is shown: most need NumPy and more, which
takes longer to import than Python takes to start.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from importlib import import_module
from os.path import isfile  # unlike Path, for any name
from typing import Any

import click
from click.shell_completion import CompletionItem

from gpusudoku import __version__
from gpusudoku.errors import GpusudokuError, Interrupted, shown

_COMMANDS = {
    "bench": ("bench", "Measure engines and settings side by side."),
    "boards": ("info", "List the boards that come with the program."),
    "canonical": ("canonical", "Rearrange every BOARD to its canonical form."),
    "compile": ("compile", "Compile and cache the kernels of all commands in advance."),
    "completion": ("completing", "Complete commands, options and @names in bash, zsh or fish."),
    "convert": ("info", "Write every BOARD in another form."),
    "count": ("count", "Count all solutions of every BOARD, exactly."),
    "dataset": ("dataset", "Make a data set of random puzzles, without duplicates, and split."),
    "devices": ("info", "Show the CPU cores and GPUs that counting can use."),
    "enumerate": ("enumerate", "List all solutions of every BOARD, streamed in constant memory."),
    "generate": ("generate", "Make random puzzles, each with exactly one solution."),
    "help": ("commands", "Show the help of a command, or of all."),
    "info": ("info", "Describe every BOARD: its size, its clues, and whether they clash."),
    "isomorphic": (
        "canonical",
        "Say whether two boards, A and B, can be rearranged to each other: yes or no.",
    ),
    "merge": ("merge", "Join all parts of a run: print what the whole command would have printed."),
    "minimise": ("minimise", "Remove the redundant clues of every BOARD."),
    "neighbours": ("neighbours", "List all puzzles that differ from every BOARD in a few clues."),
    "nth": ("ranks", "Print solutions of BOARD by their numbers K in ascending order, from 0 on."),
    "rank": ("ranks", "Print the number that every SOLUTION of BOARD has in ascending order."),
    "resume": ("resume", "Resume a run that was saved with --checkpoint FILE."),
    "sample": ("sample", "Draw random solutions of every BOARD, all equally likely."),
    "serve": ("serve", "Open a page where you edit a board and see how many solutions remain."),
    "shares": ("shares", "Show how many solutions of every BOARD have each digit in each cell."),
    "simplify": ("simplify", "Simplify every BOARD by logic alone, without a guess."),
    "solve": ("solve", "Find a solution of every BOARD and say whether it is the only one."),
    "status": ("status", "Show the progress of a run saved with --checkpoint FILE."),
}
"""The module of each command, and the first sentence of its help."""
MEANT = {
    **dict.fromkeys(("all", "list", "solutions"), "enumerate"),
    **dict.fromkeys(("check", "test", "unique", "valid", "validate"), "solve"),
    **dict.fromkeys(("automorphisms", "canonicalise", "canonicalize", "minlex"), "canonical"),
    **dict.fromkeys(("create", "make", "new", "puzzle", "random"), "generate"),
    "draw": "sample",
    **dict.fromkeys(("equivalent", "isomorph"), "isomorphic"),
    **dict.fromkeys(("minimal", "reduce"), "minimise"),
    **dict.fromkeys(("print", "show"), "convert"),
    **dict.fromkeys(("gui", "page", "play", "web"), "serve"),
}
"""Names that are meant for a command."""
SPELT = {"minimize": "minimise"}
"""Commands as others spell them."""
_EXPLAIN = "gpusudoku.explain(board) in Python {}; 'gpusudoku serve' has it as Logic step by step"
_RATE = "gpusudoku.rate(board) in Python and minimise --format csv say how hard a puzzle is"
ELSEWHERE = {
    "difficulty": _RATE,
    "explain": _EXPLAIN.format("names every step"),
    "hint": _EXPLAIN.format("names the next step"),
    "rate": _RATE,
}
"""Hints for names that are no commands."""
ARGUMENTS = __name__
"""The key in a context's ``meta`` of all arguments of the program, the command's name included."""


class _Imported(Mapping[str, click.Command]):
    """The commands by name: each is imported when it is looked up."""

    def __getitem__(self, name: str) -> click.Command:
        module = import_module(f"{__package__}.{_COMMANDS[name][0]}")
        builtin = f"{name}_"  # the name of a function of Python is not used again
        command: click.Command = getattr(module, builtin if hasattr(module, builtin) else name)
        return command

    def __iter__(self) -> Iterator[str]:
        return iter(_COMMANDS)

    def __len__(self) -> int:
        return len(_COMMANDS)


class Commands(click.Group):
    """A group that guesses which command or option a wrong name means."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as click does; the arguments are remembered."""
        ctx.meta[ARGUMENTS] = list(args)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command as click does, with our words for an unknown one."""
        args = [SPELT.get(args[0], args[0]), *args[1:]]
        if not ctx.resilient_parsing and (args[0] == "-" or not args[0].startswith("-")):
            self.named(args[0])
        return super().resolve_command(ctx, args)

    def named(self, name: str) -> click.Command:
        """Return the command of a name; the error of another name guesses what was meant."""
        name = SPELT.get(name, name)
        if name in self.commands:
            return self.commands[name]
        from gpusudoku.pipeline.source import looks_like_board

        word = name.lower()
        close = [MEANT[word]] if word in MEANT else get_close_matches(word, self.commands, 1, 0.6)
        if name.startswith("@") or name == "-" or isfile(name):  # noqa: PTH113
            guess = f"did you mean 'count {name}'?"
        elif looks_like_board(name):
            guess = f"did you mean {shown(f'count {name}')}?"
        elif word in ELSEWHERE:
            guess = ELSEWHERE[word]
        else:
            guess = f"did you mean {close[0]!r}?" if close else "'gpusudoku help' lists them"
        raise click.UsageError(f"no command {shown(name)}: {guess}")

    def main(self, *args: Any, **settings: Any) -> Any:
        """Run as click does; errors of usage are in our words."""
        try:
            return super().main(*args, **settings)
        except click.exceptions.NoArgsIsHelpError:
            raise
        except click.UsageError as error:
            from gpusudoku.cli.usage import worded

            raise click.UsageError(worded(error), error.ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Invoke as click does, which would write an empty line for an interrupt."""
        try:
            return super().invoke(ctx)
        except click.NoSuchOption as error:
            from gpusudoku.pipeline.source import looks_like_board

            # A board may have been taken for an option.
            if any(looks_like_board(each) for each in ctx.meta[ARGUMENTS] if each.startswith("-")):
                message = f"no option {shown(error.option_name)}: a board that begins with - "
                raise click.UsageError(f"{message}comes after --", error.ctx) from None
            raise
        except click.BadOptionUsage as error:
            name = ctx.invoked_subcommand or ""  # click does not tell whose option it is
            error.ctx = error.ctx or click.Context(self.named(name), info_name=name, parent=ctx)
            raise
        except EOFError as error:  # click would take it for Ctrl-C
            raise GpusudokuError(
                f"a module that Python has compiled is cut off ({error}): delete the folders"
                " __pycache__"
            ) from None
        except KeyboardInterrupt:
            raise Interrupted("interrupted") from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by their first sentences, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in _COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Offer the commands as click does, without importing them."""
        named = [
            CompletionItem(name, help=summary)
            for name, (_, summary) in _COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return named + click.Command.shell_complete(self, ctx, incomplete)


@click.group(
    cls=Commands, commands=_Imported(), context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(
    __version__, "-V", "--version", prog_name="gpusudoku", message="%(prog)s %(version)s"
)
def cli() -> None:
    """Count and list all solutions of Sudoku boards, exactly, on a GPU or on all CPU cores.

    \b
    A BOARD is one of these:
      board.txt   a file in any common form; a file of many boards is a batch
      -           standard input, read without a BOARD, too, if it is a pipe or file
      @2f         a board that comes with the program: "gpusudoku boards"
      1...2...3   the board itself, row by row

    \b
    Examples:
      gpusudoku count board.txt                   the number of solutions
      gpusudoku count @2f --device cuda           the same, on all GPUs
      gpusudoku count puzzles.txt --only unique   the puzzles with one solution
      gpusudoku solve board.txt                   one solution
      gpusudoku enumerate board.txt -o all.txt    all solutions, into a file
      gpusudoku help count                        all options of a command

    Every option has an environment variable: GPUSUDOKU_COUNT_LIMIT is --limit of count. Those that
    commands share have no command in the name: GPUSUDOKU_DEVICE, and likewise _JOBS, _GPU, _METHOD,
    _MEMORY, _STRATEGY, _PROPAGATE, _CUTOFF, _CUTOFF_BY, _BOX, _COLUMN, _KEEP_GOING and _QUIET.

    Exit status: 0 answered, 1 could not finish, 2 bad input or usage, 3 or 4 as --exit-code says,
    5 too few puzzles were found, 128 plus the number of the signal that ended it.
    """


@click.command("help")
@click.argument(
    "commands",
    nargs=-1,
    metavar="[COMMAND...]",
    shell_complete=lambda ctx, _, incomplete: cli.shell_complete(ctx.find_root(), incomplete),
)
@click.pass_context
def help_(ctx: click.Context, commands: tuple[str, ...]) -> None:
    """Show the help of a command, or of all.

    \b
    Examples:
      gpusudoku help count
      gpusudoku help count sample
    """
    root = ctx.find_root()
    contexts = [click.Context(cli.named(name), info_name=name, parent=root) for name in commands]
    click.echo("\n\n".join(context.get_help() for context in contexts or [root]))
