"""The command group, and what belongs to it.

A command is imported when it is run, or when its help is shown: most need NumPy and more, which
takes longer to import than Python takes to start.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem

from gpusudoku import __version__
from gpusudoku.errors import GpusudokuError, Interrupted, shown


class _Place(NamedTuple):
    """Where a command is, and the first sentence of its help."""

    module: str
    function: str
    summary: str


_PLACES = {
    "bench": _Place("bench", "bench", "Measure engines and settings side by side."),
    "boards": _Place("boards", "boards", "List the boards that come with the program."),
    "compile": _Place(
        "compile", "compile_", "Compile and cache the kernels of all commands in advance."
    ),
    "completion": _Place(
        "completion",
        "completion",
        "Complete commands, options and @names in bash, zsh or fish.",
    ),
    "convert": _Place("about", "convert", "Write every BOARD in another form."),
    "count": _Place("count", "count", "Count all solutions of every BOARD, exactly."),
    "devices": _Place("about", "devices", "Show what counting can run on here."),
    "enumerate": _Place(
        "enumerate",
        "enumerate_",
        "List all solutions of every BOARD, streamed in constant memory.",
    ),
    "help": _Place("commands", "help_", "Show the help of a command, or of all."),
    "info": _Place(
        "about", "info", "Describe every BOARD: its size, its clues, and whether they clash."
    ),
    "merge": _Place(
        "merge",
        "merge",
        "Join all parts of a run: print what the whole command would have printed.",
    ),
    "nth": _Place(
        "ranks", "nth", "Print the solutions of BOARD that have the numbers K in ascending order."
    ),
    "rank": _Place(
        "ranks", "rank", "Print the number that every SOLUTION of BOARD has in ascending order."
    ),
    "resume": _Place("resume", "resume", "Resume a run that was saved with --checkpoint FILE."),
    "sample": _Place(
        "sample", "sample", "Draw random solutions of every BOARD, all equally likely."
    ),
    "serve": _Place(
        "serve",
        "serve",
        "Open a page where you edit a board and see how many solutions remain.",
    ),
    "shares": _Place(
        "shares",
        "shares",
        "Show how many solutions of every BOARD have each digit in each cell.",
    ),
    "simplify": _Place(
        "simplify", "simplify", "Simplify every BOARD by logic alone, without a guess."
    ),
    "solve": _Place(
        "solve", "solve", "Find a solution of every BOARD and say whether it is the only one."
    ),
    "status": _Place(
        "status", "status", "Show the progress of a run saved with --checkpoint FILE."
    ),
}


MEANT = {
    **dict.fromkeys(("all", "list"), "enumerate"),
    **dict.fromkeys(("check", "test", "unique", "valid", "validate"), "solve"),
    **dict.fromkeys(("draw", "generate", "new", "random"), "sample"),
    **dict.fromkeys(("print", "show"), "convert"),
    **dict.fromkeys(("gui", "page", "play", "web"), "serve"),
}
"""Other names of commands."""
_EXPLAIN = "gpusudoku.explain(board) in Python {}; 'gpusudoku serve' has it as Logic step by step"
_MINIMISE = (
    "gpusudoku.minimise(board) in Python leaves no redundant clue; 'gpusudoku serve' has it as "
    "Remove redundant clues"
)
ELSEWHERE = {
    "explain": _EXPLAIN.format("names every step"),
    "hint": _EXPLAIN.format("names the next step"),
    "minimise": _MINIMISE,
    "minimize": _MINIMISE,
    "rate": _EXPLAIN.format("names the techniques that a board needs"),
}
"""Where to find what is no command."""


class _Imported(Mapping[str, click.Command]):
    """The commands by name: each is imported when somebody asks for it."""

    def __getitem__(self, name: str) -> click.Command:
        place = _PLACES[name]
        module = import_module(f"{__package__}.{place.module}")
        command: click.Command = getattr(module, place.function)
        return command

    def __iter__(self) -> Iterator[str]:
        return iter(_PLACES)

    def __len__(self) -> int:
        return len(_PLACES)


def arguments_of(ctx: click.Context) -> list[str]:
    """What the whole program was given, the name of the command included."""
    arguments: list[str] = ctx.meta[__name__]
    return arguments


def remember_arguments(ctx: click.Context, arguments: Sequence[str]) -> None:
    """Keep them for ``arguments_of``."""
    ctx.meta[__name__] = list(arguments)


class Commands(click.Group):
    """A group that knows what may have been meant by a name that is no command, or no option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As that of click; the arguments are remembered."""
        remember_arguments(ctx, args)
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
        from gpusudoku.cli.source import looks_like_board

        word = name.lower()
        close = [MEANT[word]] if word in MEANT else get_close_matches(word, self.commands, 1, 0.6)
        if name.startswith("@") or name == "-" or _is_file(name):
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
        """Invoke as click does; an interrupt is an error like others here.

        Click would write an empty line for it. A board may have been taken for an option.
        """
        try:
            return super().invoke(ctx)
        except click.NoSuchOption as error:
            from gpusudoku.cli.source import looks_like_board

            if any(looks_like_board(each) for each in arguments_of(ctx) if each.startswith("-")):
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
        """As that of click, without importing the commands, and with whole first sentences."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, place.summary) for name, place in _PLACES.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """As that of click, without importing the commands."""
        named = [
            CompletionItem(name, help=place.summary)
            for name, place in _PLACES.items()
            if name.startswith(incomplete)
        ]
        return named + click.Command.shell_complete(self, ctx, incomplete)


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError):  # too long a name, or one that cannot be
        return False


@click.group(
    cls=Commands,
    commands=_Imported(),
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(
    __version__, "-V", "--version", prog_name="gpusudoku", message="%(prog)s %(version)s"
)
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

    An environment variable can set every option: --limit of count is GPUSUDOKU_COUNT_LIMIT.
    Options that commands share have no command in the name: GPUSUDOKU_DEVICE, and likewise _JOBS,
    _GPU, _METHOD, _MEMORY, _STRATEGY, _PROPAGATE, _CUTOFF, _CUTOFF_BY, _BOX, _COLUMN, _KEEP_GOING
    and _QUIET.
    """


def _complete_commands(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the commands, after ``help``."""
    return cli.shell_complete(ctx.find_root(), incomplete)


@click.command("help")
@click.argument("commands", nargs=-1, metavar="[COMMAND...]", shell_complete=_complete_commands)
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
