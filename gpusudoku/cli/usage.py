"""Types and parsers of values, a command with sections of options, and errors of usage."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import click
from click.core import ParameterSource

from gpusudoku.errors import shown
from gpusudoku.options import MAX_PARTS
from gpusudoku.pipeline.settings import PartNumber

MAX_DIGITS = 4000
"""Maximum digits of a number: Python converts at most 4300, and no count has as many."""

_OPTION_COLUMNS = 26
"""Width of the first column of help; longer options have their help on the next line."""


class _Described(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.5
    """A type whose errors show the value and what is ``expected``.

    click would say "'x' is not a valid integer range." for every value that it cannot convert.
    """

    expected: str
    refuses_nan = False
    """True for a type with bounds: click compares with them, and NaN passes each comparison."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value of a text."""
        with suppress(click.BadParameter):
            converted = super().convert(value, param, ctx)
            is_nan = converted != converted
            if not (is_nan and self.refuses_nan):
                return converted
        message = f"{shown(str(value))}: expected {self.expected}"
        raise click.BadParameter(message, ctx, param) from None


class Choice(_Described, click.Choice[str]):
    """One of several words."""

    @property
    def expected(self) -> str:  # type: ignore[override]
        """The words."""
        *words, last_word = self.choices
        return f"{', '.join(words)} or {last_word}"


class Integer(_Described, click.IntRange):
    """An integer in a range."""

    name = "integer"

    @property
    def expected(self) -> str:  # type: ignore[override]
        """The range."""
        if self.max is None:
            return f"an integer of at least {self.min}"
        return f"an integer from {self.min} to {self.max}"

    def _describe_range(self) -> str:
        """Return the range for the help; click would write ``x>=1`` or ``1<=x<=9``."""
        if self.max is None:
            return f"at least {self.min}"
        is_readable = self.max < 10**6
        max_text = str(self.max) if is_readable else f"2^{self.max.bit_length()} - 1"
        return f"from {self.min} to {max_text}"


class Seconds(_Described, click.FloatRange):
    """A positive number of seconds, with an optional maximum."""

    name = "seconds"
    refuses_nan = True

    def __init__(self, max_seconds: float | None = None) -> None:
        super().__init__(0, max_seconds, min_open=True)
        self.expected = f"seconds, {self._describe_range()}"

    def _describe_range(self) -> str:
        """Return the range for the help; click would write ``0<x<=1000000.0``."""
        return "more than 0" if self.max is None else f"more than 0 and at most {self.max:g}"


class Number(_Described, click.types.FloatParamType):
    """A number with or without a fraction."""

    name = "number"
    expected = "a number"


def parse_number(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """Parse the rank of a solution, an integer of any size, as a callback of click."""
    if value is None:
        return None
    text = value.strip()
    if not (text.isascii() and text.isdigit()) or len(text) > MAX_DIGITS:
        raise click.BadParameter(f"{shown(text)}: expected an integer of at least 0")
    return int(text)


def parse_numbers(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> tuple[int | None, ...]:
    """Parse several ranks, as a callback of click."""
    return tuple(parse_number(ctx, param, value) for value in values)


def parse_part(ctx: click.Context, param: click.Parameter, value: str | None) -> PartNumber | None:
    """Parse I/N, as a callback of click."""
    if value is None:
        return None
    digits = rf"(\d{{1,{MAX_DIGITS}}})"
    match = re.fullmatch(rf"\s*{digits}/{digits}\s*", value, re.ASCII)
    part = PartNumber(int(match[1]), int(match[2])) if match else PartNumber(0, 0)
    if not 1 <= part.number <= part.parts <= MAX_PARTS:
        raise click.BadParameter(
            f"{shown(value)}: expected I/N, I from 1 to N, N at most {MAX_PARTS}, such as 3/100"
        )
    return part


SECTION_TITLES = (
    "Common options",
    "Puzzles",
    "Input",
    "Output",
    "Estimates",
    "Method and device",
    "Search",
    "Long runs",
    "Other options",
)
"""The sections of help in their order; a command leaves out those without an option."""


class Sectioned(click.Command):
    """A command whose help shows its options in sections.

    ``sections`` has the long names of options by the title of their section. click itself writes
    one list of all options, in the order of the decorators.
    """

    def __init__(self, *args: Any, sections: Mapping[str, Sequence[str]], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.sections = sections

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections, and then the options that no section names."""
        rows: dict[str, tuple[str, str]] = {}
        for param in self.get_params(ctx):
            row = param.get_help_record(ctx)
            if isinstance(param, click.Option) and row is not None:
                rows[max(param.opts, key=len)] = row

        sectioned = {name for names in self.sections.values() for name in names}
        remaining = [name for name in rows if name not in sectioned]
        for title, names in {**self.sections, "Other options": remaining}.items():
            with formatter.section(title):
                # Padding keeps the second column at the same place in all sections: click
                # aligns each list by its own longest option.
                section_rows = []
                for name in names:
                    declaration, text = rows[name]
                    section_rows.append((declaration.ljust(_OPTION_COLUMNS), text))
                formatter.write_dl(section_rows, col_max=_OPTION_COLUMNS)


VARIANTS = re.compile(
    "variant|diagonal|region|killer|cage|jigsaw|irregular|windoku|hyper|thermo|arrow|kropki|knight"
    "|consecutive|sandwich|samurai|-king|x-?sudoku|sudoku-?x"
)
"""Words in options that ask for rules besides those of rows, columns and boxes."""
OPTION_SYNONYMS = {
    **dict.fromkeys(("--threads", "--cores", "--processes", "--workers"), "-j"),
    **dict.fromkeys(("--timeout", "--time", "--time-limit"), "--seconds"),
}
"""Names that other programs use, and our option of the same meaning, which some commands have."""


def describe_error(error: click.UsageError) -> str:
    """Return our message for an error of usage: what is wrong, where, and what to do next."""
    # The path is "gpusudoku count"; there is no context for an error in the program's own options.
    words = error.ctx.command_path.split()[1:] if error.ctx else []
    see = f"see '{' '.join(['gpusudoku', 'help', *words])}'"
    if isinstance(error, click.MissingParameter) and error.param is not None:
        return f"{str(error.param.metavar).strip('[]')} is missing: {see}"
    if isinstance(error, click.BadParameter) and error.param is not None:
        return _describe_bad_value(error, error.param)
    if isinstance(error, click.NoSuchOption):
        return _describe_unknown_option(error, see)
    if isinstance(error, click.BadOptionUsage):
        return f"{error.option_name} {_describe_option_usage(error)}: {see}"
    # click has no class for an unexpected argument, and its message may be of any length.
    extra = re.match(r"Got unexpected extra arguments? \((.*)\)", error.message, re.DOTALL)
    return f"unexpected argument {shown(extra[1])}: {see}" if extra else error.format_message()


def _describe_bad_value(error: click.BadParameter, param: click.Parameter) -> str:
    """Name the argument, the option or the environment variable that has a bad value."""
    message = error.message
    if isinstance(param, click.Option):
        name = max(param.opts, key=len)
    else:
        name = str(param.metavar).strip("[]")

    source = error.ctx and param.name and error.ctx.get_parameter_source(param.name)
    if source == ParameterSource.ENVIRONMENT and isinstance(param.envvar, str):
        name = param.envvar
        if isinstance(param, click.Option) and param.is_flag:
            # click lists all its words for true and false.
            message = f"{shown(os.environ[name])}: expected 1 or 0"
    return f"{name} {message}"


def _describe_unknown_option(error: click.NoSuchOption, see: str) -> str:
    """Explain that an option does not exist, and suggest what may be meant."""
    name = error.option_name
    if VARIANTS.search(name):
        return f"no option {shown(name)}: variants of Sudoku are not supported"
    params = error.ctx.command.params if error.ctx else []
    synonym = OPTION_SYNONYMS.get(name)
    has_synonym = synonym is not None and any(synonym in param.opts for param in params)
    suggestions = [synonym] if has_synonym else error.possibilities or []
    guess = f"did you mean {' or '.join(map(str, suggestions))}?" if suggestions else see
    return f"no option {shown(name)}: {guess}"


def _describe_option_usage(error: click.BadOptionUsage) -> str:
    """Tell whether an option has a value that it cannot take, or lacks its value."""
    if error.ctx is None:
        return "takes no value"  # an option of the program itself: all of them are flags
    for param in error.ctx.command.params:
        is_flag = isinstance(param, click.Option) and param.is_flag
        if is_flag and error.option_name in param.opts:
            return "takes no value"
    return "needs a value"
