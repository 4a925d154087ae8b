"""Options that several commands share.

``gpusudoku.options`` checks their values.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from gpusudoku.board.geometry import Geometry
from gpusudoku.cli.commands import ARGUMENTS
from gpusudoku.cli.completing import (
    complete_boards,
    complete_boxes,
    complete_files,
    complete_techniques,
)
from gpusudoku.cli.usage import Choice, Integer, Number, Seconds, parsed_part
from gpusudoku.errors import InputError, shown
from gpusudoku.formats import FORMATS
from gpusudoku.options import (
    CUTOFFS_BY,
    DEVICES,
    MAX_JOBS,
    MAX_SECONDS,
    METHODS,
    STRATEGIES,
)
from gpusudoku.pipeline.messages import quietly
from gpusudoku.pipeline.settings import CommandFacts, InputOptions
from gpusudoku.pipeline.source import is_file, looks_like_board
from gpusudoku.search.techniques import DEFAULT, GROUPS, TECHNIQUES

Command = TypeVar("Command", bound=Callable[..., Any])

_LONGEST_NAME = 200
"""Characters of the longest text that may be meant for the name of a file."""
_CELL_NAME = re.compile(r"r\d+c\d+", re.IGNORECASE)
_NO_MARK = re.compile(r"[^\W\dxo_]", re.IGNORECASE)
"""A letter that marks no cell of a pattern."""


def command_facts() -> CommandFacts:
    """Return the facts of the command that click runs now."""
    context = click.get_current_context()
    params = [param for param in context.command.params if param.name in context.params]
    form = {param.name: param.type for param in params}.get("form")
    return CommandFacts(
        name=context.info_name or "",
        params=context.params,
        option_names={str(param.name): max(param.opts, key=len).lstrip("-") for param in params},
        forms=form.choices if isinstance(form, click.Choice) else (),
        arguments=context.meta[ARGUMENTS],
    )


def option(
    *names: str, prefix: str = "GPUSUDOKU_", **settings: Any
) -> Callable[[Command], Command]:
    """Make a click option with its default shown; its environment variable is prefix and name.

    Commands share a variable only where it means the same to all of them: what belongs to one
    command is one of its ``OwnOptions``.
    """
    long = next(name for name in names if name.startswith("--"))
    variable = prefix + long.split("/")[0].lstrip("-").replace("-", "_").upper()
    settings.setdefault("show_default", settings.get("default") is not None)
    return click.option(*names, envvar=variable, **settings)


def box_of(ctx: click.Context, param: click.Parameter, value: str | None) -> Geometry | None:
    """Parse the shape of boxes, for click."""
    try:
        return None if value is None else Geometry.parse(value)
    except InputError as error:
        raise click.BadParameter(str(error).removeprefix("box ")) from None


def _gpus(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    if value is None:
        return None
    try:
        return tuple(int(word) for word in value.split(","))
    except ValueError:
        raise click.BadParameter(f"{shown(value)}: expected numbers, such as 0,1") from None


def text_of(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Read the text of an option, for click: of its file, if there is one."""
    if value is None or not is_file(value):
        if value and _is_file_name(value):
            raise click.BadParameter(f"{shown(value)}: no such file, and no pattern of cells")
        return value
    try:
        return Path(value).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise click.BadParameter(f"{shown(value)}: cannot be read: {error.strerror}") from None


def _is_file_name(text: str) -> bool:
    """Tell whether a text that is meant for cells has letters which no pattern of cells has."""
    if len(text) >= _LONGEST_NAME or "\n" in text or looks_like_board(text):
        return False
    return _NO_MARK.search(_CELL_NAME.sub("", text)) is not None


def compose(*decorators: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Join decorators, in the order in which their options are shown."""

    def decorate(command: Command) -> Command:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


def _or_stdin(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> tuple[str, ...]:
    """Take standard input for the boards, if none is given and it is a pipe or a file."""
    if value:
        return value
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, AttributeError, ValueError):  # closed, or in memory
        mode = 0
    if not (stat.S_ISFIFO(mode) or stat.S_ISREG(mode)):
        raise click.MissingParameter(ctx=ctx, param=param)
    return ("-",)


boards_argument = click.argument(
    "boards", nargs=-1, metavar="[BOARD...]", callback=_or_stdin, shell_complete=complete_boards
)


quiet_option = option("-q", "--quiet", is_flag=True, help="Print only errors on stderr.")

box_option = option(
    "--box",
    callback=box_of,
    shell_complete=complete_boxes,
    metavar="ROWSxCOLUMNS",
    help="The shape of a box, if it is not the usual one.",
)

_reading = compose(
    box_option,
    option(
        "--column",
        metavar="NAME",
        help="The column of a table that holds the boards, if its name is not a usual one.",
    ),
    option(
        "--keep-going",
        is_flag=True,
        help="Report bad boards of a batch and go on.",
    ),
    quiet_option,
)


def reading(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of reading, which the command gets as one argument, ``reading``.

    This decorator stands next to the command; ``--quiet`` holds while that runs.
    """

    @wraps(command)
    def with_reading(
        *, box: Geometry | None, column: str | None, keep_going: bool, quiet: bool, **others: Any
    ) -> Any:
        with quietly(quiet):
            return command(reading=InputOptions(box, keep_going, column), **others)

    return _reading(with_reading)


_KNOWN = ", ".join([*TECHNIQUES, *GROUPS])

jobs_option = option(
    "-j",
    "--jobs",
    type=Integer(1, MAX_JOBS),
    help="CPU threads.  [default: all usable cores]",
)

devices = compose(
    option(
        "--device",
        type=Choice(DEVICES),
        default="auto",
        help="The device to use; auto takes CUDA where that is quicker.",
    ),
    jobs_option,
    option(
        "--gpu",
        "gpus",
        callback=_gpus,
        metavar="NUMBERS",
        help="GPUs to use, such as 0,1; with --device cuda or alone.  [default: all]",
    ),
)
"""The options of the device, and of its threads."""

searching = compose(
    devices,
    option(
        "--strategy",
        type=Choice(STRATEGIES),
        default="min",
        help="The cell to guess: the first empty one, or one with the fewest candidates (MRV).",
    ),
    option(
        "--propagate",
        default=DEFAULT,
        metavar="none|LIST",
        shell_complete=complete_techniques,
        help=f"Techniques applied at every node, comma-separated: {_KNOWN}.",
    ),
    option(
        "--cutoff",
        type=Number(),
        metavar="X",
        help="Split boards until none is larger than X before the workers start."
        "  [default: until there are enough for the device]",
    ),
    option(
        "--cutoff-by",
        type=Choice(CUTOFFS_BY),
        default="space",
        help="What --cutoff measures: the search space, or the number of empty cells.",
    ),
)


def _bytes(ctx: click.Context, param: click.Parameter, value: str) -> int:
    match = re.fullmatch(r"(\d{1,15}(?:\.\d{1,9})?)\s*([KMGT]?)(?:i?B)?", value.strip(), re.I)
    if match is None:
        raise click.BadParameter(f"{shown(value)}: expected bytes, such as 2G")
    return int(float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " "))


method = option(
    "--method",
    type=Choice(METHODS),
    default="auto",
    help="search visits solutions, contraction counts without; auto takes the quicker.",
)

counting = compose(
    method,
    option(
        "--memory",
        callback=_bytes,
        default="2G",
        metavar="BYTES",
        help="The memory that a contraction may take.",
    ),
)


def _file_to_save(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Refuse standard streams where a file is read and written, for click."""
    if value is not None and value in ("", "-"):
        raise click.BadParameter(f"{value!r}: expected the name of a file")
    return value


class OwnOptions:
    """Makes options that belong to a command: their variables have its name in them."""

    def __init__(self, command: str) -> None:
        self._prefix = f"GPUSUDOKU_{command.upper()}_"

    def __call__(self, *names: str, **settings: Any) -> Callable[[Command], Command]:
        """Make an option that only this command has."""
        return option(*names, prefix=self._prefix, **settings)

    def statistics(self) -> Callable[[Command], Command]:
        """Make the option that shows statistics."""
        return self("--stats", is_flag=True, help="Show statistics on stderr.")

    def checkpoint(self) -> Callable[[Command], Command]:
        """Make the option that saves the progress."""
        return self(
            "--checkpoint",
            metavar="FILE",
            callback=_file_to_save,
            shell_complete=complete_files,
            help="Save progress in FILE every few seconds; the same command, or resume, continues"
            " it.",
        )

    def force(self) -> Callable[[Command], Command]:
        """Make the option that lets the command overwrite files."""
        return self("--force", is_flag=True, help="Overwrite an existing output file.")

    def seed(self, text: str) -> Callable[[Command], Command]:
        """Make the option for the seed of what is random; see ``Run.seed``."""
        text += "  [default: a new one, on stderr and in csv, tsv and jsonl]"
        return self("--seed", type=Integer(0, (1 << 128) - 1), metavar="S", help=text)

    def seconds(self, result: str) -> Callable[[Command], Command]:
        """Make the option that ends the work on each board after some time, with this result."""
        text = f"Stop work on each board after S seconds, compiling apart. {result}"
        return self("--seconds", type=Seconds(MAX_SECONDS), metavar="S", help=text)

    def part(self, what: str) -> Callable[[Command], Command]:
        """Make the option for a part of the work; ``what`` says of what."""
        return self(
            "--part",
            callback=parsed_part,
            metavar="I/N",
            help=f"Part I of N of {what}, I from 1 to N, for many machines: 'gpusudoku merge' joins"
            " all of them.",
        )

    def cluster(self, more: str = "") -> Callable[[Command], Command]:
        """Make the option that works on a cluster."""
        text = f"Work on a Dask cluster: the address of its scheduler, or local.{more}"
        return self("--cluster", metavar="ADDRESS", help=text)

    def output(self) -> Callable[[Command], Command]:
        """Make the options that choose the file of the results."""
        return compose(
            self(
                "-o",
                "--output",
                metavar="FILE",
                shell_complete=complete_files,
                help="Write to FILE, in the form that its name ends in.  [default: stdout]",
            ),
            self.force(),
        )

    def forms(self, forms: Sequence[str], text: str) -> Callable[[Command], Command]:
        """Make ``--format``, with this help, and ``--json``."""
        return compose(
            self("--format", "form", type=Choice(forms), help=text),
            self("--json", "as_json", is_flag=True, help="The same as --format jsonl."),
        )

    def solution_forms(self) -> Callable[[Command], Command]:
        """Make the options that choose the form of solutions."""
        return self.forms(
            (*FORMATS, "jsonl"),
            "How to write solutions; csv, tsv and jsonl tell the board of each, too."
            "  [default: line]",
        )

    def answers(self, forms: Sequence[str], plain: str) -> Callable[[Command], Command]:
        """Make the options of ``count`` and ``solve`` that say how answers are written.

        ``plain`` says in words what is written by default.
        """
        return compose(
            self.forms(
                forms, f"How to write answers; csv, tsv and jsonl have a record a board.  {plain}"
            ),
            self.output(),
            self.checkpoint(),
            self.statistics(),
            self(
                "--log",
                metavar="FILE",
                shell_complete=complete_files,
                help="Append a JSON object for every board to FILE.",
            ),
            self(
                "--exit-code",
                is_flag=True,
                help="Exit with 0 if all boards have one solution, with 3 if some have several, "
                "and with 4 if some have none.",
            ),
        )
