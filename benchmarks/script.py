"""What the scripts share: their command, runs that take turns, checked counts, and tables."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click
from machine import RESULTS, source

import gpusudoku
from gpusudoku import collection
from gpusudoku.errors import GpusudokuError, InputError, MismatchError
from gpusudoku.results import Count

Run = dict[str, Any]
"""A run as it is recorded."""
Case = TypeVar("Case")
Function = Callable[..., None]


def command(name: str) -> Callable[[Function], click.Command]:
    """Make a function the command of a script: an error is one line on stderr, and its status."""

    def decorate(function: Function) -> click.Command:
        @wraps(function)
        def run(**options: Any) -> None:
            # Programs that are timed start as a user's do, who has compiled modules on disk.
            os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
            try:
                function(**options)
            except GpusudokuError as error:
                click.echo(f"{name}.py: {error}", err=True)
                sys.exit(error.exit_status)

        return click.command(context_settings={"help_option_names": ["-h", "--help"]})(run)

    return decorate


def script(name: str, show: Callable[[Path], None]) -> Callable[[Function], click.Command]:
    """Make a function that measures a command that then shows the results, or only shows them.

    The function takes the path of the results, which it writes, and the options of its own. The
    command adds the options ``--output`` and ``--show``; ``show`` prints the tables of a file, by
    default NAME.json.
    """

    def print_all(path: Path) -> None:
        show(path)
        print(f"\n{source(path, f'python benchmarks/{name}.py')}")

    def decorate(measure: Function) -> click.Command:
        @wraps(measure)
        def run(output: str, only_show: bool, **options: Any) -> None:
            if only_show:
                show_recorded(name, print_all, Path(output))
            else:
                measure(Path(output), **options)
                print_all(Path(output))

        file = str(RESULTS / f"{name}.json")
        run = click.option("--output", default=file, help="JSON file of the results.")(run)
        text = "Print the tables of that file; run nothing."
        return command(name)(click.option("--show", "only_show", is_flag=True, help=text)(run))

    return decorate


def show_recorded(name: str, show: Callable[[Path], None], path: Path) -> None:
    """Print the tables of a file that may be missing, or of another script.

    Raises
    ------
    InputError
        If it is.
    """
    try:
        show(path)
    except GpusudokuError:
        raise
    except (LookupError, TypeError, ValueError) as error:
        raise InputError(f"{path}: not a result of {name}.py") from error


def turns(
    cases: Sequence[Case],
    repeats: int,
    label: Callable[[Case], str],
    *,
    warm_up: bool = True,
) -> Iterator[tuple[Case, bool]]:
    """Every case in turn, again and again, so that a change of the machine's speed falls on all.

    Gives each case with whether its run is to be kept: the first turn may be a warm-up. Progress is
    shown on stderr.
    """
    for repeat in range(0 if warm_up else 1, repeats + 1):
        for case in cases:
            progress = f"{repeat}/{repeats} {label(case)}"
            click.echo(f"\r{progress:<78}", nl=False, err=True)
            yield case, repeat > 0
    click.echo("", err=True)


def board_names(names: Iterable[str]) -> list[str]:
    """The names of boards of the collection, without the ``@`` that the program has before them.

    Raises
    ------
    InputError
        If there is no board of a name.
    """
    return [collection.entry(name.removeprefix("@")).name for name in names]


def counted(name: str, **options: Any) -> Count:
    """Count a board of the collection, and check the count.

    Raises
    ------
    MismatchError
        If the count is wrong.
    """
    result = gpusudoku.count(collection.load(name), **options)
    right = collection.entry(name).count
    limit = options.get("limit")
    check(name, result.count, right if limit is None else min(limit, right))
    return result


def check(what: str, found: int, right: int) -> None:
    """Compare a count with the right one.

    Raises
    ------
    MismatchError
        If they differ.
    """
    if found != right:
        raise MismatchError(f"{what}: {found} solutions counted, {right} are right")


def grouped(runs: Iterable[Run], *fields: str) -> dict[tuple[Any, ...], list[Run]]:
    """Runs by the values of some fields, in order of their first appearance."""
    groups: dict[tuple[Any, ...], list[Run]] = {}
    for run in runs:
        groups.setdefault(tuple(run[field] for field in fields), []).append(run)
    return groups


def repeated(cases: Iterable[Sequence[object]]) -> str:
    """How often cases were run, as a sentence."""
    numbers = {len(case) for case in cases}
    if numbers == {1}:
        return "Every case was run once."
    often = " to ".join(f"{number}" for number in sorted({min(numbers), max(numbers)}))
    return f"Medians of {often} runs, which took turns."


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> None:
    """Print a Markdown table, of which the first columns are aligned to the left."""
    print(f"| {' | '.join(heads)} |")
    print("|" + "---|" * left + "---:|" * (len(heads) - left))
    for row in rows:
        print(f"| {' | '.join(row)} |")


def duration(seconds: float) -> str:
    """Return a time in seconds, milliseconds or microseconds, in three digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= 0.9995 * size:
            return f"{three_digits(seconds / size)} {unit}"
    return f"{three_digits(seconds / 1e-6)} µs"


def three_digits(number: float) -> str:
    """Return a number rounded to three digits."""
    return f"{float(f'{number:.3g}'):,.10g}"
