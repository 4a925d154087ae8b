"""Errors of usage in our words: click finds them, and these types of values refuse some."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from math import isnan, nan
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from gpusudoku.errors import shown

if TYPE_CHECKING:
    Choices = click.Choice[str]
else:
    Choices = click.Choice


class Choice(Choices):
    """One of some words."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the word that is meant."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            *others, last = self.choices
            raise _bad(value, f"{', '.join(others)} or {last}", param, ctx) from None


class Integer(click.IntRange):
    """An integer of a range."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number."""
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter:
            raise _bad(value, f"an integer {self._describe_range()}", param, ctx) from None

    def _describe_range(self) -> str:
        """Return the range as the help shows it."""
        return f"from {self.min} up" if self.max is None else f"from {self.min} to {self.max}"


class Seconds(click.FloatRange):
    """Seconds, more than none, up to some number of them."""

    name = "seconds"

    def __init__(self, most: float | None = None) -> None:
        super().__init__(0, most, min_open=True)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number; NaN, which no bound stops, is none."""
        try:
            seconds = float(super().convert(value, param, ctx))
        except click.BadParameter:
            seconds = nan
        if isnan(seconds):
            most = "" if self.max is None else f" and at most {self.max:g}"
            raise _bad(value, f"seconds, more than 0{most}", param, ctx)
        return seconds


class Number(click.types.FloatParamType):
    """A number with or without a fraction."""

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number."""
        try:
            return float(super().convert(value, param, ctx))
        except click.BadParameter:
            raise _bad(value, "a number", param, ctx) from None


def _bad(
    value: Any, expected: str, param: click.Parameter | None, ctx: click.Context | None
) -> click.BadParameter:
    """Return the error of a value."""
    return click.BadParameter(f"{shown(str(value))}: expected {expected}", ctx, param)


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


def worded(error: click.UsageError) -> str:
    """Return the message of an error of usage: what is wrong, where, and what to do next."""
    words = error.ctx.command_path.split()[1:] if error.ctx else []
    see = f"see '{' '.join(['gpusudoku', 'help', *words])}'"
    if isinstance(error, click.MissingParameter) and error.param is not None:
        return f"{error.param.metavar} is missing: {see}"
    if isinstance(error, click.BadParameter) and error.param is not None:
        return _bad_value(error, error.param)
    if isinstance(error, click.NoSuchOption):
        close = error.possibilities or ()
        guess = f"did you mean {' or '.join(close)}?" if close else see
        return f"no option {shown(error.option_name)}: {guess}"
    if isinstance(error, click.BadOptionUsage):
        takes = "takes no value" if _is_flag(error) else "needs a value"
        return f"{error.option_name} {takes}: {see}"
    extra = re.match(r"Got unexpected extra arguments? \((.*)\)", error.message, re.DOTALL)
    return f"unexpected argument {shown(extra[1])}: {see}" if extra else error.format_message()


def _bad_value(error: click.BadParameter, param: click.Parameter) -> str:
    """Return the message of a value: it comes from an argument, an option or the environment."""
    name = max(param.opts, key=len) if isinstance(param, click.Option) else _name(param)
    message, variable = error.message, param.envvar
    source = error.ctx and param.name and error.ctx.get_parameter_source(param.name)
    if source == ParameterSource.ENVIRONMENT and isinstance(variable, str):
        name = variable
        if isinstance(param, click.Option) and param.is_flag:
            message = f"{shown(os.environ[variable])}: expected 1 or 0"
    return f"{name} {message}"


def _name(param: click.Parameter) -> str:
    """Return the name of an argument, without the brackets of an optional one."""
    return str(param.metavar).strip("[]")


def _is_flag(error: click.BadOptionUsage) -> bool:
    """Tell whether the option that is used wrongly takes no value."""
    return error.ctx is None or any(  # without a command, it is an option of the program itself
        error.option_name in param.opts and isinstance(param, click.Option) and param.is_flag
        for param in error.ctx.command.params
    )
