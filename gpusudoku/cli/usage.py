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
from gpusudoku.pipeline.settings import WhichPart


class _Worded(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.5
    """A type whose errors show the value and say what is ``expected``."""

    expected: str
    refuses_nan = False
    """True if there are bounds, as none of them stops NaN."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value of a text."""
        with suppress(click.BadParameter):
            found = super().convert(value, param, ctx)
            if found == found or not self.refuses_nan:
                return found
        message = f"{shown(str(value))}: expected {self.expected}"
        raise click.BadParameter(message, ctx, param) from None


class Choice(_Worded, click.Choice[str]):
    """One of some words."""

    @property
    def expected(self) -> str:  # type: ignore[override]
        """The words."""
        *others, last = self.choices
        return f"{', '.join(others)} or {last}"


class Integer(_Worded, click.IntRange):
    """An integer of a range."""

    name = "integer"

    @property
    def expected(self) -> str:  # type: ignore[override]
        """The range."""
        return f"an integer {self._describe_range()}"

    def _describe_range(self) -> str:
        """Return the range as the help shows it."""
        return f"from {self.min} up" if self.max is None else f"from {self.min} to {self.max}"


class Seconds(_Worded, click.FloatRange):
    """Seconds, more than none, up to some number of them."""

    name = "seconds"
    refuses_nan = True

    def __init__(self, most: float | None = None) -> None:
        super().__init__(0, most, min_open=True)
        self.expected = "seconds, more than 0" + ("" if most is None else f" and at most {most:g}")


class Number(_Worded, click.types.FloatParamType):
    """A number with or without a fraction."""

    name = "number"
    expected = "a number"


MAX_DIGITS = 4000
"""Of a number that is read: Python takes few more, and no count has as many."""


def number_of(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """Parse the number of a solution, of any size, for click."""
    if value is None:
        return None
    text = value.strip()
    if not (text.isascii() and text.isdigit()) or len(text) > MAX_DIGITS:
        raise click.BadParameter(f"{shown(text)}: expected an integer from 0 up")
    return int(text)


def numbers_of(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> tuple[int | None, ...]:
    """Parse several numbers."""
    return tuple(number_of(ctx, param, value) for value in values)


def parsed_part(ctx: click.Context, param: click.Parameter, value: str | None) -> WhichPart | None:
    """Parse I/N, for click."""
    if value is None:
        return None
    match = re.fullmatch(rf"\s*(\d{{1,{MAX_DIGITS}}})/(\d{{1,{MAX_DIGITS}}})\s*", value, re.ASCII)
    part = WhichPart(int(match[1]), int(match[2])) if match else WhichPart(0, 0)
    if not 1 <= part.number <= part.parts <= MAX_PARTS:
        raise click.BadParameter(
            f"{shown(value)}: expected I/N, I from 1 to N, N at most {MAX_PARTS}, such as 3/100"
        )
    return part


class Sectioned(click.Command):
    """A command whose help shows its options in sections, named by their long names."""

    def __init__(self, *args: Any, sections: Mapping[str, Sequence[str]], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.sections = sections

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections, and then the options that none of them names."""
        options = (each for each in self.get_params(ctx) if isinstance(each, click.Option))
        records = ((max(each.opts, key=len), each.get_help_record(ctx)) for each in options)
        rows = {name: record for name, record in records if record}
        named = {name for names in self.sections.values() for name in names}
        others = {"Other options": [name for name in rows if name not in named]}
        for title, names in {**self.sections, **others}.items():
            with formatter.section(title):
                lines = [(rows[name][0].ljust(26), rows[name][1]) for name in names]
                formatter.write_dl(lines, col_max=26)  # the same column in all sections


VARIANTS = re.compile(
    "variant|diagonal|region|killer|cage|jigsaw|irregular|windoku|hyper|thermo|arrow|kropki|knight"
    "|consecutive|sandwich|samurai|-king|x-?sudoku|sudoku-?x"
)
"""Words in options that ask for rules besides those of rows, columns and boxes."""
MEANT = {
    **dict.fromkeys(("--threads", "--cores", "--processes", "--workers"), "-j"),
    **dict.fromkeys(("--timeout", "--time", "--time-limit"), "--seconds"),
}
"""Options that are meant by others, for commands that have them."""


def worded(error: click.UsageError) -> str:
    """Return the message of an error of usage: what is wrong, where, and what to do next."""
    words = error.ctx.command_path.split()[1:] if error.ctx else []
    see = f"see '{' '.join(['gpusudoku', 'help', *words])}'"
    if isinstance(error, click.MissingParameter) and error.param is not None:
        return f"{str(error.param.metavar).strip('[]')} is missing: {see}"
    if isinstance(error, click.BadParameter) and error.param is not None:
        # The value comes from an argument, an option or the environment.
        param = error.param
        message = error.message
        is_option = isinstance(param, click.Option)
        name = max(param.opts, key=len) if is_option else str(param.metavar).strip("[]")
        source = error.ctx and param.name and error.ctx.get_parameter_source(param.name)
        if source == ParameterSource.ENVIRONMENT and isinstance(param.envvar, str):
            name = param.envvar
            if isinstance(param, click.Option) and param.is_flag:
                message = f"{shown(os.environ[name])}: expected 1 or 0"
        return f"{name} {message}"
    if isinstance(error, click.NoSuchOption):
        name = error.option_name
        if VARIANTS.search(name):
            return f"no option {shown(name)}: variants of Sudoku are not supported"
        params = error.ctx.command.params if error.ctx else []
        has = any(MEANT.get(name) in param.opts for param in params)
        close = [MEANT[name]] if has else error.possibilities or ()
        guess = f"did you mean {' or '.join(close)}?" if close else see
        return f"no option {shown(error.option_name)}: {guess}"
    if isinstance(error, click.BadOptionUsage):
        is_flag = error.ctx is None or any(  # without a command, the program itself has the option
            error.option_name in param.opts and isinstance(param, click.Option) and param.is_flag
            for param in error.ctx.command.params
        )
        return f"{error.option_name} {'takes no value' if is_flag else 'needs a value'}: {see}"
    extra = re.match(r"Got unexpected extra arguments? \((.*)\)", error.message, re.DOTALL)
    return f"unexpected argument {shown(extra[1])}: {see}" if extra else error.format_message()
