"""``gpusudoku bench``: from options to cases, a table and files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from gpusudoku.cli.measuring import Request, Results, measure
from gpusudoku.cli.messages import note
from gpusudoku.cli.options import Command, force, own_option, reading
from gpusudoku.cli.output import Output, refuse, show
from gpusudoku.cli.usage import Choice, Integer, Seconds
from gpusudoku.errors import InputError, MismatchError, shown
from gpusudoku.jobs.interrupts import interrupt_status
from gpusudoku.options import CUTOFFS_BY, METHODS, MOST_JOBS, STRATEGIES
from gpusudoku.search.techniques import DEFAULT

bench_option = own_option("bench")
"""Even an option that other commands have, too, means another thing here: a list."""


def _list_option(
    *names: str, parse: Callable[[str], Any] = str, choices: Sequence[str] = (), **settings: Any
) -> Callable[[Command], Command]:
    """An option that takes several values, separated by commas, each once."""

    def callback(
        ctx: click.Context, param: click.Parameter, value: str | None
    ) -> tuple[Any, ...] | None:
        if value is None:
            return None
        words = [word.strip() for word in value.split(",")]
        for word in words:
            if choices and word not in choices:
                raise click.BadParameter(f"{shown(word)}: expected some of {', '.join(choices)}")
        try:
            return tuple(dict.fromkeys(parse(word) for word in words))
        except ValueError:
            raise click.BadParameter(f"{shown(value)}: expected numbers, such as 1,2,4") from None

    return bench_option(*names, callback=callback, metavar="LIST", **settings)


def _jobs(word: str) -> int:
    number = int(word)
    if not 1 <= number <= MOST_JOBS:
        raise click.BadParameter(f"{number} threads: expected 1 to {MOST_JOBS}")
    return number


@click.command()
@click.argument("boards", nargs=-1, metavar="[BOARD...]")
@bench_option(
    "--include",
    multiple=True,
    metavar="PATTERN",
    help="Only boards whose names match, such as '1*'.",
)
@bench_option("--exclude", multiple=True, metavar="PATTERN", help="No boards whose names match.")
@_list_option(
    "--device",
    "devices",
    choices=("cpu", "cuda"),
    help="cpu, cuda or both.  [default: all that can be used]",
)
@_list_option(
    "-j",
    "--jobs",
    parse=_jobs,
    help="Numbers of CPU threads, such as 1,2,4.  [default: 1, 2, 4 ... all cores]",
)
@_list_option(
    "--method",
    "methods",
    choices=METHODS,
    default="search,contraction",
    help="search, contraction, auto.",
)
@_list_option("--strategy", "strategies", choices=STRATEGIES, default="min", help="first, min.")
@bench_option(
    "--propagate",
    "propagates",
    multiple=True,
    default=(DEFAULT,),
    metavar="TECHNIQUES",
    help="As for count; may be given several times.",
)
@_list_option(
    "--cutoff", "cutoffs", parse=float, help="Cutoffs of a search, such as 1e10,1e20,1e30."
)
@bench_option(
    "--cutoff-by",
    type=Choice(CUTOFFS_BY),
    default="space",
    help="What --cutoff measures: the search space, or the number of empty cells.",
)
@bench_option(
    "-i",
    "--repeats",
    type=Integer(min=1),
    default=3,
    help="Runs of every case, after a warm-up.",
)
@bench_option(
    "-t",
    "--seconds",
    type=Seconds(),
    help="Instead of --repeats: run every case until its runs took this long in all.",
)
@bench_option(
    "--patience",
    type=Seconds(),
    default=60.0,
    help="Leave out cases that are estimated to take longer, in seconds.",
)
@bench_option("--csv", "csv_file", metavar="FILE", help="Write the table as CSV.")
@bench_option("--json", "json_file", metavar="FILE", help="Write runs and machine as JSON.")
@bench_option("--plot", metavar="FOLDER", help="Draw figures, as SVG and PNG (needs matplotlib).")
@bench_option(
    "--from", "recorded", metavar="FILE", help="Measure nothing; show what --json wrote before."
)
@force("bench")
@reading
def bench(**options: Any) -> None:
    """Measure engines and settings side by side.

    Without a BOARD, those that come with the program are measured. Cases take turns, so that a slow
    minute affects all of them. Every count is checked. In the table "busy" is the share of the time
    in which the threads worked, and "got" the share of that for which they had a core. If other
    programs took the cores, or slowed the run on one thread, a row is starved: a ? stands behind
    its speed-up. Ctrl-C skips the current case; twice within a second it ends the run, and shows
    the results so far.

    \b
    Examples:
      gpusudoku bench @1d @1e @1f -j 1,2,4
      gpusudoku bench --include '2*' --strategy first,min --plot figures
      gpusudoku bench @2e --cutoff 1e10,1e20,1e30 --csv cutoff.csv
      gpusudoku bench --json all.json --plot figures
    """
    from gpusudoku.bench import tables

    request = Request(**options)
    _check_outputs(request)
    if request.recorded is not None:
        outcome = Results(*tables.read_json(request.recorded))
    else:
        outcome = measure(request)
    _show(outcome, request)
    if outcome.wrong:
        raise MismatchError("counts differ: " + "; ".join(outcome.wrong))
    if outcome.interrupted:
        click.get_current_context().exit(interrupt_status())


def _check_outputs(request: Request) -> None:
    """Complain before anything is measured about files that could not be written afterwards."""
    written = [path for path in (request.csv_file, request.json_file) if path is not None]
    read = [*request.boards, *([] if request.recorded is None else [request.recorded])]
    for path in written:
        refuse(path, request.force, read)
    if len(written) == 2 and written[0] == written[1]:
        raise InputError(f"{written[0]}: --csv and --json cannot both be written to it")
    if request.plot is not None:
        from gpusudoku.bench import figures

        figures.require()


def _show(outcome: Results, request: Request) -> None:
    """Print the table, and write the files that were asked for."""
    from gpusudoku.bench import figures, tables
    from gpusudoku.bench.machine import heading

    rows = outcome.rows
    show(heading(outcome.machine))
    show(tables.head())
    for row in rows:
        show(tables.line(row))
    texts = {
        request.csv_file: tables.as_csv(rows),
        request.json_file: tables.as_json(rows, outcome.machine),
    }
    for path, text in texts.items():
        if path is not None:
            with Output(path, request.force, request.boards) as out:
                out.write(text.encode())
    starved = sum(bool(row["starved"]) for row in rows)
    if starved:
        note(
            f"{starved} of {len(rows)} rows are starved: other programs took or slowed the cores."
            " Figures leave these rows out, whose speed-ups have a ?. Measure again when nothing"
            " else runs."
        )
    if request.plot is not None:
        for figure in figures.save(figures.figures_of(rows, outcome.machine), request.plot):
            note(f"{figure} written")
