"""Options that several commands share.

``gpusudoku.options`` checks the values of the options that the Python interface has, too.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable, Mapping, Sequence
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
from gpusudoku.cli.usage import Choice, Integer, Number, Seconds, parse_part
from gpusudoku.errors import InputError, shown
from gpusudoku.formats import FORMATS
from gpusudoku.options import (
    CUTOFFS_BY,
    DEVICES,
    MAX_JOBS,
    MAX_SECONDS,
    METHODS,
    MIN_SAMPLES,
    SEED_BITS,
    STRATEGIES,
    EstimateOptions,
)
from gpusudoku.pipeline.messages import quietly
from gpusudoku.pipeline.settings import CommandFacts, InputOptions, refuse_together
from gpusudoku.pipeline.source import is_file, looks_like_board
from gpusudoku.search.techniques import DEFAULT, GROUPS, TECHNIQUES

Command = TypeVar("Command", bound=Callable[..., Any])

_MAX_NAME_LENGTH = 200
"""A longer text, in characters, is never taken for the name of a file."""
_CELL_NAME = re.compile(r"r\d+c\d+", re.IGNORECASE)
_FOREIGN_LETTER = re.compile(r"[^\W\dxo_]", re.IGNORECASE)
"""A letter that a pattern of cells cannot contain: only x, o and _ mark cells."""
_BYTES = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
"""A number with an optional unit. Its limits keep the product with 1024 ** 4 a finite float."""


def command_facts() -> CommandFacts:
    """Return the name and the parameters of the command that click runs now."""
    context = click.get_current_context()
    # The parameters of click itself, such as --help, are not in context.params.
    params = [param for param in context.command.params if param.name in context.params]
    format_type = {param.name: param.type for param in params}.get("form")
    return CommandFacts(
        name=context.info_name or "",
        params=context.params,
        option_names={str(param.name): max(param.opts, key=len).lstrip("-") for param in params},
        # Only a Choice lists formats; other commands have no --format.
        forms=format_type.choices if isinstance(format_type, click.Choice) else (),
        arguments=context.meta[ARGUMENTS],
    )


def option(
    *names: str, prefix: str = "GPUSUDOKU_", **settings: Any
) -> Callable[[Command], Command]:
    """Make a click option with an environment variable; the help shows its default.

    The name of the variable is the prefix and the long name of the option. Commands share a
    variable only if it means the same to all of them; ``CommandOptions`` makes the other options.
    """
    long_name = next(name for name in names if name.startswith("--"))
    # Of a flag with two names, --with/--without, the first one names the variable.
    variable = prefix + long_name.split("/")[0].lstrip("-").replace("-", "_").upper()
    settings.setdefault("show_default", settings.get("default") is not None)
    return click.option(*names, envvar=variable, **settings)


def parse_box(ctx: click.Context, param: click.Parameter, value: str | None) -> Geometry | None:
    """Parse a box shape, as a callback of click."""
    try:
        return None if value is None else Geometry.parse(value)
    except InputError as error:
        raise click.BadParameter(str(error).removeprefix("box ")) from None


def _parse_gpus(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[int, ...] | None:
    if value is None:
        return None
    try:
        return tuple(int(word) for word in value.split(","))
    except ValueError:
        raise click.BadParameter(f"{shown(value)}: expected numbers, such as 0,1") from None


def _parse_bytes(ctx: click.Context, param: click.Parameter, value: str) -> int:
    match = _BYTES.fullmatch(value.strip())
    if match is None:
        raise click.BadParameter(f"{shown(value)}: expected bytes, such as 2G")
    power = " KMGT".index(match[2].upper() or " ")
    return int(float(match[1]) * 1024**power)


def _require_file_name(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Refuse standard streams for a file that is read and written, as a callback of click."""
    if value is not None and value in ("", "-"):
        raise click.BadParameter(f"{value!r}: expected the name of a file")
    return value


def read_text(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Return the content of the file that a value names, or the value itself, for click."""
    if value is None or not is_file(value):
        if value and _is_file_name(value):
            raise click.BadParameter(f"{shown(value)}: no such file, and no pattern of cells")
        return value
    try:
        # A byte that is not UTF-8 becomes a character that no pattern has: it is refused later.
        return Path(value).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise click.BadParameter(f"{shown(value)}: cannot be read: {error.strerror}") from None


def _is_file_name(text: str) -> bool:
    """Tell whether a text has letters that a pattern of cells cannot have.

    Such a text is the misspelt name of a file, not a pattern with mistakes.
    """
    if len(text) >= _MAX_NAME_LENGTH or "\n" in text or looks_like_board(text):
        return False
    return _FOREIGN_LETTER.search(_CELL_NAME.sub("", text)) is not None


def compose(*decorators: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Join decorators into one; the help shows their options in this order."""

    def decorate(command: Command) -> Command:
        # click shows the options of decorators from top to bottom, and Python applies the lowest
        # decorator first.
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


def _default_to_stdin(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> tuple[str, ...]:
    """Read the boards from standard input if no BOARD is given, as a callback of click.

    Standard input must be a pipe or a file: a command must not wait for a keyboard silently.
    """
    if value:
        return value
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, AttributeError, ValueError):  # stdin is closed, or a stream in memory
        mode = 0
    if not (stat.S_ISFIFO(mode) or stat.S_ISREG(mode)):
        raise click.MissingParameter(ctx=ctx, param=param)
    return ("-",)


boards_argument = click.argument(
    "boards",
    nargs=-1,
    metavar="[BOARD...]",
    callback=_default_to_stdin,
    shell_complete=complete_boards,
)


quiet_option = option("-q", "--quiet", is_flag=True, help="Print only errors on stderr.")

box_option = option(
    "--box",
    callback=parse_box,
    shell_complete=complete_boxes,
    metavar="ROWSxCOLUMNS",
    help="Shape of a box, such as 3x2.  [default: the usual shape for the number of digits]",
)

_reading_options = compose(
    box_option,
    option(
        "--column",
        metavar="NAME",
        help="Column of a table that contains the boards.  [default: a column with a usual name]",
    ),
    option(
        "--keep-going",
        is_flag=True,
        help="Report unreadable boards of a batch and continue with the next board.",
    ),
    quiet_option,
)


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how boards are read, and ``--quiet``, to a command.

    The command receives them as one argument, ``input_options``. ``--quiet`` applies while the
    command runs. This must be the decorator nearest to the command: it replaces several parameters.
    """

    @wraps(command)
    def with_reading_options(
        *, box: Geometry | None, column: str | None, keep_going: bool, quiet: bool, **params: Any
    ) -> Any:
        with quietly(quiet):
            return command(input_options=InputOptions(box, keep_going, column), **params)

    return _reading_options(with_reading_options)


# A group is a name for several techniques; see gpusudoku.search.techniques.
_TECHNIQUE_NAMES = ", ".join([*TECHNIQUES, *GROUPS])

jobs_option = option(
    "-j",
    "--jobs",
    type=Integer(1, MAX_JOBS),
    help="Number of CPU threads.  [default: all usable cores]",
)

device_options = compose(
    option(
        "--device",
        type=Choice(DEVICES),
        default="auto",
        help="Device to use; auto uses CUDA where it is faster.",
    ),
    jobs_option,
    option(
        "--gpu",
        "gpus",
        callback=_parse_gpus,
        metavar="NUMBERS",
        help="GPUs to use, such as 0,1; requires --device cuda or auto.  [default: all]",
    ),
)
"""The options of the device, and of its threads."""

search_options = compose(
    device_options,
    option(
        "--strategy",
        type=Choice(STRATEGIES),
        default="min",
        help="Cell to guess: the first empty cell, or a cell with the fewest candidates (MRV).",
    ),
    option(
        "--propagate",
        default=DEFAULT,
        metavar="none|LIST",
        shell_complete=complete_techniques,
        help=f"Techniques to apply at every node, comma-separated: {_TECHNIQUE_NAMES}.",
    ),
    option(
        "--cutoff",
        type=Number(),
        metavar="X",
        help="Before the workers start, split boards until none is larger than X.  [default: until"
        " there are enough boards for the device]",
    ),
    option(
        "--cutoff-by",
        type=Choice(CUTOFFS_BY),
        default="space",
        help="Measure of --cutoff: the search space, or the number of empty cells.",
    ),
)
"""The options of the device and of a search."""

method_option = option(
    "--method",
    type=Choice(METHODS),
    default="auto",
    help="search visits every solution, contraction counts without visiting them; auto uses the"
    " faster method.",
)

method_options = compose(
    method_option,
    option(
        "--memory",
        callback=_parse_bytes,
        default="2G",
        metavar="BYTES",
        help="Maximum memory of a contraction.",
    ),
)


def estimate_options(
    params: dict[str, Any], seconds: float | None, conflicting: Mapping[str, object]
) -> EstimateOptions | None:
    """Remove the options of an estimate from the parameters, and return them; None without one.

    The values of ``conflicting`` are the options that exclude an estimate, by their names.
    """
    names = ("error", "samples", "confidence", "seed")
    values = {name: params.pop(name) for name in names}
    given = {name: value for name, value in values.items() if value is not None}
    option_names = command_facts().option_names
    if params.pop("estimate"):
        refuse_together("--estimate", conflicting)
        given["error_name"] = option_names["error"].replace("-", " ")
        return EstimateOptions(seconds=seconds, **given).with_defaults()
    for name in given:
        raise InputError(f"--{option_names[name]} needs --estimate")
    return None


class CommandOptions:
    """Makes the options of one command: their environment variables contain its name."""

    def __init__(self, command: str) -> None:
        self._prefix = f"GPUSUDOKU_{command.upper()}_"

    def __call__(self, *names: str, **settings: Any) -> Callable[[Command], Command]:
        """Make an option; see ``option``."""
        return option(*names, prefix=self._prefix, **settings)

    def statistics(self) -> Callable[[Command], Command]:
        """Make the option that shows statistics."""
        return self("--stats", is_flag=True, help="Show statistics on stderr.")

    def checkpoint(self) -> Callable[[Command], Command]:
        """Make the option that saves the progress."""
        return self(
            "--checkpoint",
            metavar="FILE",
            callback=_require_file_name,
            shell_complete=complete_files,
            help="Save progress in FILE every few seconds. Repeat the command to continue, or use"
            " 'gpusudoku resume FILE'.",
        )

    def force(self) -> Callable[[Command], Command]:
        """Make the option that lets the command overwrite files."""
        return self("--force", is_flag=True, help="Overwrite an existing output file.")

    def seed(self, text: str) -> Callable[[Command], Command]:
        """Make the option of the random seed, see ``Run.seed``; its help begins with a text."""
        text += "  [default: a random seed, shown on stderr and in csv, tsv and jsonl]"
        return self("--seed", type=Integer(0, (1 << SEED_BITS) - 1), metavar="S", help=text)

    def seconds(self, consequence: str) -> Callable[[Command], Command]:
        """Make the time limit of each board; the help ends with its consequence."""
        text = f"Stop work on each board after S seconds, not counting compilation. {consequence}"
        return self("--seconds", type=Seconds(MAX_SECONDS), metavar="S", help=text)

    def estimates(self, subject: str, error_option: str, when: str) -> Callable[[Command], Command]:
        """Make the options of an estimate of ``subject``; ``estimate_options`` collects them.

        The option with the name ``error_option`` ends the estimate when its error is small enough.
        """
        return compose(
            self(
                "--estimate",
                is_flag=True,
                help=f"Estimate {subject} from random samples, for boards that are too expensive.",
            ),
            self(
                error_option,
                "error",
                type=Number(),
                metavar="X",
                help=f"Stop an estimate when {when}."
                "  [default: 0.01 or --seconds 60, whichever is sooner]",
            ),
            self(
                "--samples",
                type=Integer(min=MIN_SAMPLES),
                metavar="N",
                help="Stop an estimate after N samples.",
            ),
            self(
                "--confidence",
                type=Number(),
                metavar="P",
                help="Probability with which the interval of an estimate contains the exact value."
                "  [default: 0.95]",
            ),
            self(
                "--seed",
                type=Integer(0, (1 << SEED_BITS) - 1),
                metavar="S",
                help="Random seed of an estimate.  [default: 0]",
            ),
        )

    def part(self, whole: str) -> Callable[[Command], Command]:
        """Make the option that selects a part of the work; the help names the whole."""
        return self(
            "--part",
            callback=parse_part,
            metavar="I/N",
            help=f"Process only part I, from 1 to N, of {whole}, to divide the work between"
            " machines. 'gpusudoku merge' joins the parts.",
        )

    def cluster(self, text: str = "") -> Callable[[Command], Command]:
        """Make the option that works on a cluster; its help ends with a text."""
        text = f"Dask cluster to work on: the address of its scheduler, or local.{text}"
        return self("--cluster", metavar="ADDRESS", help=text)

    def output(self) -> Callable[[Command], Command]:
        """Make the options that choose the file of the results."""
        return compose(
            self(
                "-o",
                "--output",
                metavar="FILE",
                shell_complete=complete_files,
                help="Write to FILE; the ending of its name chooses the format.  [default: stdout]",
            ),
            self.force(),
        )

    def forms(self, forms: Sequence[str], text: str) -> Callable[[Command], Command]:
        """Make ``--format``, with this help, and ``--json``."""
        return compose(
            self("--format", "form", type=Choice(forms), help=text),
            self("--json", "as_json", is_flag=True, help="Same as --format jsonl."),
        )

    def solution_forms(self) -> Callable[[Command], Command]:
        """Make the options that choose the format of solutions."""
        return self.forms(
            (*FORMATS, "jsonl"),
            "Format of solutions; csv, tsv and jsonl also name the board of each solution."
            "  [default: line]",
        )

    def answers(self, forms: Sequence[str], default: str) -> Callable[[Command], Command]:
        """Make the options of ``count`` and ``solve`` that say how answers are written.

        ``default`` describes what is written without ``--format``.
        """
        return compose(
            self.forms(
                forms,
                f"Format of answers; csv, tsv and jsonl have one record per board.  {default}",
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
                help="Exit with 0 if all boards have one solution, with 3 if some have several,"
                " and with 4 if some have none.",
            ),
        )
