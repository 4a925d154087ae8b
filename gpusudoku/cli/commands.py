"""The command group, its help, and suggestions for unknown commands.

A command is imported only when it runs, or when its help is shown: most commands need NumPy, which
takes longer to import than Python takes to start.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from importlib import import_module
from os.path import isfile  # unlike Path.is_file, it raises for no name, however long
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
    "convert": ("info", "Write every BOARD in another format."),
    "count": ("count", "Count all solutions of every BOARD, exactly."),
    "dataset": ("dataset", "Make a data set of random puzzles, deduplicated and split."),
    "devices": ("info", "Show the CPU cores and GPUs that counting can use."),
    "enumerate": ("enumerate", "List all solutions of every BOARD, streamed in constant memory."),
    "generate": ("generate", "Make random puzzles, each with exactly one solution."),
    "help": ("commands", "Show the help of the program or of commands."),
    "info": ("info", "Describe every BOARD: its size, its clues and its conflicts."),
    "isomorphic": (
        "canonical",
        "Tell whether board A can be rearranged to board B: print yes or no.",
    ),
    "merge": ("merge", "Join all parts of a run into the output of the whole command."),
    "minimise": ("minimise", "Remove the redundant clues of every BOARD."),
    "neighbours": ("neighbours", "List all puzzles that differ from every BOARD in a few clues."),
    "nth": ("ranks", "Print the solutions of BOARD with the ranks K."),
    "rank": ("ranks", "Print the rank of every SOLUTION among the solutions of BOARD."),
    "resume": ("resume", "Resume a run that was saved with --checkpoint FILE."),
    "sample": ("sample", "Draw random solutions of every BOARD, with equal probability."),
    "serve": ("serve", "Serve a web page that edits a board and counts its solutions."),
    "shares": ("shares", "Show how many solutions of every BOARD have each digit in each cell."),
    "simplify": ("simplify", "Simplify every BOARD by logical techniques, without guesses."),
    "solve": ("solve", "Find a solution of every BOARD and tell whether it is the only one."),
    "status": ("status", "Show the progress of a run saved with --checkpoint FILE."),
}
"""The module of each command, and the first sentence of its help."""
SYNONYMS = {
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
"""Words that are no commands, and the command to suggest for each."""
SPELLINGS = {"minimize": "minimise"}
"""Other spellings, which run the command."""
_EXPLAIN = "use gpusudoku.explain(board) in Python, or Logic step by step in 'gpusudoku serve'"
_RATE = "use gpusudoku.rate(board) in Python, or 'gpusudoku minimise --format csv'"
OTHER_WAYS = {"difficulty": _RATE, "explain": _EXPLAIN, "hint": _EXPLAIN, "rate": _RATE}
"""Words for which there is no command, but another way."""
ARGUMENTS = __name__
"""A key of ``Context.meta``: all arguments of the program, the command's name included."""


class _Imported(Mapping[str, click.Command]):
    """A mapping of names to commands, which imports a command when it is looked up."""

    def __getitem__(self, name: str) -> click.Command:
        module = import_module(f"{__package__}.{_COMMANDS[name][0]}")
        # A command named like a builtin function is a function with an underscore: enumerate_.
        builtin = f"{name}_"
        command: click.Command = getattr(module, builtin if hasattr(module, builtin) else name)
        return command

    def __iter__(self) -> Iterator[str]:
        return iter(_COMMANDS)

    def __len__(self) -> int:
        return len(_COMMANDS)


class Commands(click.Group):
    """A group that suggests a command or an option for an unknown name."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as click does, and keep the arguments, which click consumes; see ``ARGUMENTS``."""
        ctx.meta[ARGUMENTS] = list(args)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command as click does, but with our message for an unknown one."""
        args = [SPELLINGS.get(args[0], args[0]), *args[1:]]
        is_option = args[0].startswith("-") and args[0] != "-"
        # Resilient parsing is that of shell completion, which must not fail.
        if not ctx.resilient_parsing and not is_option:
            self.find_command(args[0])  # raises for an unknown command
        return super().resolve_command(ctx, args)

    def find_command(self, name: str) -> click.Command:
        """Return the command of a name.

        Raises
        ------
        click.UsageError
            If there is none; the message suggests what may be meant.
        """
        name = SPELLINGS.get(name, name)
        if name in self.commands:
            return self.commands[name]
        raise click.UsageError(f"no command {shown(name)}: {self._suggestion(name)}")

    def _suggestion(self, name: str) -> str:
        """Suggest what an unknown command may mean."""
        from gpusudoku.pipeline.source import looks_like_board

        if name.startswith("@") or name == "-" or isfile(name):  # noqa: PTH113
            return f"did you mean 'count {name}'?"
        if looks_like_board(name):
            return f"did you mean {shown(f'count {name}')}?"
        # The words of the tables are in lower case, as are the names of commands.
        word = name.lower()
        if word in OTHER_WAYS:
            return OTHER_WAYS[word]
        if word in SYNONYMS:
            return f"did you mean {SYNONYMS[word]!r}?"
        similar_names = get_close_matches(word, self.commands, 1, 0.6)
        return f"did you mean {similar_names[0]!r}?" if similar_names else "see 'gpusudoku help'"

    def main(self, *args: Any, **settings: Any) -> Any:
        """Run as click does, but with our messages for errors of usage."""
        try:
            return super().main(*args, **settings)
        except click.exceptions.NoArgsIsHelpError:
            raise  # its message is the help of the program
        except click.UsageError as error:
            from gpusudoku.cli.usage import describe_error

            raise click.UsageError(describe_error(error), error.ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Invoke as click does, but replace exceptions that click would misinterpret.

        click writes an empty line to stderr for KeyboardInterrupt and EOFError, and turns both into
        Abort. Raising our own exceptions avoids that.
        """
        try:
            return super().invoke(ctx)
        except click.NoSuchOption as error:
            from gpusudoku.pipeline.source import looks_like_board

            # A board that begins with a hyphen, as - may stand for an empty cell.
            hyphenated = [argument for argument in ctx.meta[ARGUMENTS] if argument.startswith("-")]
            if any(map(looks_like_board, hyphenated)):
                raise click.UsageError(
                    f"no option {shown(error.option_name)}: write -- before a board that begins"
                    " with -",
                    error.ctx,
                ) from None
            raise
        except click.BadOptionUsage as error:
            if error.ctx is None:
                # The error of click's parser has no context, which names the command in messages.
                name = ctx.invoked_subcommand or ""
                error.ctx = click.Context(self.find_command(name), info_name=name, parent=ctx)
            raise
        except EOFError as error:
            # Only the import of a truncated .pyc file raises it; click would report Ctrl-D.
            raise GpusudokuError(
                f"a compiled Python module is incomplete ({error}): delete the folders __pycache__"
            ) from None
        except KeyboardInterrupt:
            raise Interrupted("interrupted") from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by their first sentences, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in _COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Offer the commands as click does, without importing them."""
        command_items = [
            CompletionItem(name, help=summary)
            for name, (_, summary) in _COMMANDS.items()
            if name.startswith(incomplete)
        ]
        # The group's own method would import all commands, so the options come from its base class.
        return command_items + click.Command.shell_complete(self, ctx, incomplete)


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
      board.txt   a file in any common format; a file with several boards, and
                  several BOARDs, are a batch
      -           standard input; the default if it is a pipe or a file
      @2f         a board that comes with the program, see "gpusudoku boards"
      1...2...3   the board itself, row by row

    \b
    Examples:
      gpusudoku count board.txt                   the number of solutions
      gpusudoku count @2f --device cuda           count on all GPUs
      gpusudoku count puzzles.txt --only unique   the puzzles with one solution
      gpusudoku solve board.txt                   one solution
      gpusudoku enumerate board.txt -o all.txt    all solutions, in a file
      gpusudoku help count                        all options of a command

    Every option has an environment variable: GPUSUDOKU_COUNT_LIMIT sets --limit of count. Options
    that mean the same to all commands have variables without a command: GPUSUDOKU_DEVICE, and
    likewise _JOBS, _GPU, _METHOD, _MEMORY, _STRATEGY, _PROPAGATE, _CUTOFF, _CUTOFF_BY, _BOX,
    _COLUMN, _KEEP_GOING and _QUIET.

    \b
    Exit status:
      0           success
      1           the command could not finish
      2           bad input or bad usage
      3 or 4      see --exit-code of count and solve
      5           generate or dataset found too few puzzles
      128 plus N  signal N ended the command
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
    """Show the help of the program or of commands.

    \b
    Examples:
      gpusudoku help count
      gpusudoku help count sample
    """
    root = ctx.find_root()
    contexts = [
        click.Context(cli.find_command(name), info_name=name, parent=root) for name in commands
    ]
    click.echo("\n\n".join(context.get_help() for context in contexts or [root]))
