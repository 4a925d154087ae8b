"""Options that several commands share. ``gpusudoku.options`` checks their values."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, TypeVar

import click

from gpusudoku.board.geometry import Geometry
from gpusudoku.cli.completing import (
    complete_boards,
    complete_boxes,
    complete_files,
    complete_techniques,
)
from gpusudoku.cli.messages import quietly
from gpusudoku.cli.usage import Choice, Integer, Number
from gpusudoku.errors import InputError, shown
from gpusudoku.options import CUTOFFS_BY, DEVICES, METHODS, MOST_JOBS, STRATEGIES
from gpusudoku.search.techniques import DEFAULT, GROUPS, TECHNIQUES

Command = TypeVar("Command", bound=Callable[..., Any])


def option(
    *names: str, prefix: str = "GPUSUDOKU_", **settings: Any
) -> Callable[[Command], Command]:
    """Make a click option with its default shown; its environment variable is prefix and name.

    Commands share a variable only where it means the same to all of them: what belongs to one
    command is an ``own_option``.
    """
    long = next(name for name in names if name.startswith("--"))
    variable = prefix + long.split("/")[0].lstrip("-").replace("-", "_").upper()
    settings.setdefault("show_default", settings.get("default") is not None)
    return click.option(*names, envvar=variable, **settings)


def own_option(command: str) -> Callable[..., Callable[[Command], Command]]:
    """What makes options that belong to a command: their variables have its name in them."""
    return partial(option, prefix=f"GPUSUDOKU_{command.upper()}_")


def box_of(ctx: click.Context, param: click.Parameter, value: str | None) -> Geometry | None:
    """The shape that is given, for click."""
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


def compose(*decorators: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """One decorator for many, in the order in which their options are shown."""

    def decorate(command: Command) -> Command:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


boards_argument = click.argument(
    "boards", nargs=-1, required=True, metavar="BOARD...", shell_complete=complete_boards
)


@dataclass(frozen=True)
class Reading:
    """How boards are read."""

    box: Geometry | None
    """The shape of their boxes, if it is given."""
    keep_going: bool
    """Whether the boards after a bad one are read."""
    column: str | None = None
    """The column of a table that holds the boards, if it is given."""


quiet_option = option("-q", "--quiet", is_flag=True, help="Print only errors on stderr.")

_reading = compose(
    option(
        "--box",
        callback=box_of,
        shell_complete=complete_boxes,
        metavar="ROWSxCOLUMNS",
        help="The shape of a box, if it is not the usual one.",
    ),
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
    """The options of reading, which the command gets as one argument, ``reading``.

    This is the decorator next to the command: those of other options come before it.
    """

    @wraps(command)
    def with_reading(
        *, box: Geometry | None, column: str | None, keep_going: bool, quiet: bool, **others: Any
    ) -> Any:
        with quietly(quiet):
            return command(reading=Reading(box, keep_going, column), **others)

    return _reading(with_reading)


_KNOWN = ", ".join([*TECHNIQUES, *GROUPS])

devices = compose(
    option(
        "--device",
        type=Choice(DEVICES),
        default="auto",
        help="The device to use; auto takes CUDA if it is usable.",
    ),
    option(
        "-j",
        "--jobs",
        type=Integer(1, MOST_JOBS),
        help="CPU threads.  [default: all usable cores]",
    ),
    option(
        "--gpu",
        "gpus",
        callback=_gpus,
        metavar="NUMBERS",
        help="GPUs to use, such as 0,1.  [default: all]",
    ),
)
"""What works, and with how many threads."""

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


def statistics(command: str) -> Callable[[Command], Command]:
    """The option of a command that shows what was done."""
    return own_option(command)("--stats", is_flag=True, help="Show statistics on stderr.")


def force(command: str) -> Callable[[Command], Command]:
    """The option of a command that lets it overwrite files."""
    return own_option(command)("--force", is_flag=True, help="Overwrite an existing output file.")


def output_file(command: str) -> Callable[[Command], Command]:
    """The options of a command that tell where its results go."""
    own = own_option(command)
    return compose(
        own(
            "-o",
            "--output",
            metavar="FILE",
            shell_complete=complete_files,
            help="Write to FILE.  [default: stdout]",
        ),
        force(command),
    )


def _kept_file(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """The name of a file that is read and written, for click."""
    if value is not None and value in ("", "-"):
        raise click.BadParameter(f"{value!r}: expected the name of a file")
    return value


def checkpoint(command: str) -> Callable[[Command], Command]:
    """The option of a command that lets it be taken up again."""
    return own_option(command)(
        "--checkpoint",
        metavar="FILE",
        callback=_kept_file,
        shell_complete=complete_files,
        help="Save every few seconds in FILE how far it is; the same command goes on from there.",
    )
