"""Code that all scripts share: commands, runs in turns, checked counts, and Markdown tables."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click
from machine import RESULTS, source_line

import gpusudoku
from gpusudoku import collection
from gpusudoku.errors import GpusudokuError, InputError, MismatchError
from gpusudoku.results import Count

Run = dict[str, Any]
"""A measurement, as it is recorded: its fields by name."""
Case = TypeVar("Case")
Function = Callable[..., None]


def command(name: str) -> Callable[[Function], click.Command]:
    """Make a function the command of NAME.py; print an error as one line and exit with its status.

    Use it as a decorator.
    """

    def decorate(function: Function) -> click.Command:
        @wraps(function)
        def run(**options: Any) -> None:
            # Measured programs have to start like an installed program, with compiled modules on
            # disk. A parent that sets this variable would slow them down.
            os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
            try:
                function(**options)
            except GpusudokuError as error:
                click.echo(f"{name}.py: {error}", err=True)
                sys.exit(error.exit_status)

        return click.command(context_settings={"help_option_names": ["-h", "--help"]})(run)

    return decorate


def script(name: str, show: Callable[[Path], None]) -> Callable[[Function], click.Command]:
    """Make a function that measures the command of NAME.py, which also shows the results.

    Use it as a decorator. The function gets the path of the file to write its results to, and the
    script's own options. The command adds two options: ``--output`` is that path, by default
    NAME.json in the folder of results, and ``--show`` only prints the tables of the file. ``show``
    prints them.
    """

    def show_with_source(path: Path) -> None:
        show(path)
        print(f"\n{source_line(path, f'python benchmarks/{name}.py')}")

    def decorate(measure: Function) -> click.Command:
        @wraps(measure)
        def run(output: str, only_show: bool, **options: Any) -> None:
            path = Path(output)
            if only_show:
                show_recorded(name, show_with_source, path)
            else:
                measure(path, **options)
                show_with_source(path)

        default = str(RESULTS / f"{name}.json")
        show_help = "Print the tables of that file; run nothing."
        for add_option in (
            click.option("--output", default=default, help="JSON file of the results."),
            click.option("--show", "only_show", is_flag=True, help=show_help),
        ):
            run = add_option(run)
        return command(name)(run)

    return decorate


def show_recorded(name: str, show: Callable[[Path], None], path: Path) -> None:
    """Print the tables of a file that may be missing or written by another script than NAME.py.

    Raises
    ------
    InputError
        If the file is missing or has other fields.
    """
    try:
        show(path)
    except GpusudokuError:
        raise
    except (LookupError, TypeError, ValueError) as error:
        raise InputError(f"{path}: not a result of {name}.py") from error


def take_turns(
    cases: Sequence[Case],
    repeats: int,
    label: Callable[[Case], str],
    *,
    warm_up: bool = True,
) -> Iterator[tuple[Case, bool]]:
    """Yield every case in turn, ``repeats`` times, and show the progress on stderr.

    A change of the machine's speed then affects all cases. With each case comes whether to record
    its run: runs of a first, additional turn only warm up.
    """
    first_turn = 0 if warm_up else 1
    for turn in range(first_turn, repeats + 1):
        for case in cases:
            progress = f"{turn}/{repeats} {label(case)}"
            click.echo(f"\r{progress:<78}", nl=False, err=True)
            is_recorded = turn > 0
            yield case, is_recorded
    click.echo("", err=True)


def board_names(names: Iterable[str]) -> list[str]:
    """Return names of boards of the collection without the ``@`` that may precede them.

    Raises
    ------
    InputError
        If there is no board of a name.
    """
    return [collection.entry(name.removeprefix("@")).name for name in names]


def count_checked(name: str, **options: Any) -> Count:
    """Count the solutions of a board of the collection, and check their number.

    Raises
    ------
    MismatchError
        If the count is wrong.
    """
    result = gpusudoku.count(collection.load(name), **options)
    expected = collection.entry(name).count
    limit = options.get("limit")
    if limit is not None:
        expected = min(limit, expected)
    check_count(name, result.count, expected)
    return result


WRONG_COUNT = re.compile(r"counted \d+ solutions|\d+ solutions counted")
"""Matches messages of ``check_count``, also those that releases up to 0.25 recorded."""


def check_count(subject: str, count: int, expected: int) -> None:
    """Compare a number of solutions with the expected one.

    Raises
    ------
    MismatchError
        If they differ.
    """
    if count != expected:
        raise MismatchError(f"{subject}: counted {count} solutions, expected {expected}")


def group_runs(runs: Iterable[Run], *fields: str) -> dict[tuple[Any, ...], list[Run]]:
    """Group runs by the values of some fields, in order of their first appearance."""
    groups: dict[tuple[Any, ...], list[Run]] = {}
    for run in runs:
        key = tuple(run[field] for field in fields)
        groups.setdefault(key, []).append(run)
    return groups


def describe_repeats(cases: Iterable[Sequence[object]]) -> str:
    """Return a sentence that says how often cases were run; a case is the sequence of its runs."""
    run_counts = {len(case) for case in cases}
    if run_counts == {1}:
        return "Every case was run once."
    ends = sorted({min(run_counts), max(run_counts)})
    return f"Medians of {' to '.join(map(str, ends))} runs, which took turns."


def print_table(heads: Sequence[str], rows: Iterable[Sequence[str]], text_columns: int = 1) -> None:
    """Print a Markdown table; the first ``text_columns`` are aligned to the left, others right."""
    number_columns = len(heads) - text_columns
    print(f"| {' | '.join(heads)} |")
    print("|" + "---|" * text_columns + "---:|" * number_columns)
    for row in rows:
        print(f"| {' | '.join(row)} |")


def format_duration(seconds: float) -> str:
    """Format a time in seconds, milliseconds or microseconds, with three digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        # From 0.9995 on, three digits are rounded to 1.
        if seconds >= 0.9995 * size:
            return f"{format_three_digits(seconds / size)} {unit}"
    return f"{format_three_digits(seconds / 1e-6)} µs"


def format_three_digits(number: float) -> str:
    """Format a number rounded to three digits."""
    rounded = float(f"{number:.3g}")
    return f"{rounded:,.10g}"
