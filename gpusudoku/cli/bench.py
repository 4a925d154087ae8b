"""``gpusudoku bench``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gpusudoku import collection
from gpusudoku.board.geometry import Geometry
from gpusudoku.cli.options import force, option, reading
from gpusudoku.cli.output import Output, announce_compiling, refuse
from gpusudoku.cli.source import Source
from gpusudoku.engines.cores import usable_cores
from gpusudoku.engines.cuda import availability
from gpusudoku.errors import InputError, MismatchError
from gpusudoku.options import CUTOFFS_BY, METHODS, MOST_JOBS, STRATEGIES, Options
from gpusudoku.search.techniques import DEFAULT

if TYPE_CHECKING:
    from gpusudoku.bench.cases import Case, Subject
    from gpusudoku.bench.running import Measured
    from gpusudoku.engines import Engine
    from gpusudoku.results import Count

Value = TypeVar("Value")

bench_option = partial(option, prefix="GPUSUDOKU_BENCH_")
"""Lists are no values for the options of the same name that other commands have."""


def _listed(
    parse: Callable[[str], Value], choices: Sequence[str] = ()
) -> Callable[[click.Context, click.Parameter, str | None], tuple[Value, ...] | None]:
    """Make the callback of an option that takes several values, comma-separated."""

    def callback(
        ctx: click.Context, param: click.Parameter, value: str | None
    ) -> tuple[Value, ...] | None:
        if value is None:
            return None
        words = [word.strip() for word in value.split(",")]
        for word in words:
            if choices and word not in choices:
                raise click.BadParameter(f"{word!r}: expected some of {', '.join(choices)}")
        try:
            return tuple(dict.fromkeys(parse(word) for word in words))
        except ValueError:
            raise click.BadParameter(f"{value!r}: expected numbers, such as 1,2,4") from None

    return callback


def _jobs(word: str) -> int:
    number = int(word)
    if not 1 <= number <= MOST_JOBS:
        raise click.BadParameter(f"{number} threads: expected 1 to {MOST_JOBS}")
    return number


@click.command()
@click.argument("boards", nargs=-1, metavar="[BOARD...]")
@bench_option(
    "--include", multiple=True, metavar="PATTERN", help="Only boards so named, as in '1*'."
)
@bench_option("--exclude", multiple=True, metavar="PATTERN", help="No boards so named.")
@bench_option(
    "--device",
    "devices",
    callback=_listed(str, ["cpu", "cuda"]),
    metavar="LIST",
    help="cpu, cuda or both.  [default: what can be used]",
)
@bench_option(
    "-j",
    "--jobs",
    callback=_listed(_jobs),
    metavar="LIST",
    help="Numbers of CPU threads, such as 1,2,4.  [default: 1, 2, 4 ... all cores]",
)
@bench_option(
    "--method",
    "methods",
    callback=_listed(str, METHODS),
    default="search,contraction",
    metavar="LIST",
    help="search, contraction, auto.",
)
@bench_option(
    "--strategy",
    "strategies",
    callback=_listed(str, STRATEGIES),
    default="min",
    metavar="LIST",
    help="first, min.",
)
@bench_option(
    "--propagate",
    "propagates",
    multiple=True,
    default=(DEFAULT,),
    metavar="TECHNIQUES",
    help="As for count; may be given several times.",
)
@bench_option(
    "--cutoff", "cutoffs", callback=_listed(float), metavar="LIST", help="Such as 1e10,1e20,1e30."
)
@bench_option(
    "--cutoff-by",
    type=click.Choice(CUTOFFS_BY),
    default="space",
    help="What a cutoff is compared with: the search space, or the number of empty cells.",
)
@bench_option(
    "-i",
    "--repeats",
    type=click.IntRange(min=1),
    default=3,
    help="Runs of every case, after one to warm up.",
)
@bench_option(
    "-t",
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    help="Instead: repeat every case until it took so long.",
)
@bench_option(
    "--patience",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    help="Leave out what is estimated to take longer, in seconds.",
)
@bench_option("--csv", "csv_file", metavar="FILE", help="Write the table as CSV.")
@bench_option(
    "--json", "json_file", metavar="FILE", help="Write all runs, and the machine, as JSON."
)
@bench_option("--plot", metavar="FOLDER", help="Draw figures, as SVG and PNG (needs matplotlib).")
@bench_option("--from", "recorded", metavar="FILE", help="Measure nothing: show what --json wrote.")
@force
@reading
def bench(
    boards: tuple[str, ...],
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    devices: tuple[str, ...] | None,
    jobs: tuple[int, ...] | None,
    repeats: int,
    seconds: float | None,
    patience: float,
    csv_file: str | None,
    json_file: str | None,
    plot: str | None,
    recorded: str | None,
    force: bool,
    box: Geometry | None,
    keep_going: bool,
    cutoffs: tuple[float, ...] | None,
    **sweeps: Any,
) -> None:
    """Measure engines and settings side by side on BOARDs (default: those of this program).

    Runs take turns, so that a slow minute falls on all alike. Every count is checked. Ctrl-C skips
    to the next case, twice within a second ends with what there is.

    \b
    Examples:
      gpusudoku bench @1d @1e @1f -j 1,2,4
      gpusudoku bench --include '2*' --strategy first,min --plot figures
      gpusudoku bench @2e --cutoff 1e10,1e20,1e30 --csv cutoff.csv
      gpusudoku bench --json all.json --plot figures
    """
    from gpusudoku.bench import plots, tables
    from gpusudoku.bench.cases import cases_of
    from gpusudoku.bench.machine import heading, machine
    from gpusudoku.bench.summary import rows_of

    written = [path for path in (csv_file, json_file) if path is not None]
    for path in written:
        refuse(path, force, [*boards, *([] if recorded is None else [recorded])])
    if len(written) == 2 and written[0] == written[1]:
        raise InputError(f"{csv_file}: --csv and --json cannot both be written to it")
    if plot is not None:
        plots.require()
    wrong: list[str] = []
    interrupted = False
    if recorded is not None:
        rows, described = tables.read_json(recorded)
    else:
        for propagate in sweeps["propagates"]:
            Options(propagate=propagate)  # complains of unknown techniques
        cases = cases_of(
            _subjects(boards, include, exclude, box, keep_going),
            devices=devices or _usable_devices(),
            jobs=jobs or _powers(usable_cores()),
            cutoffs=cutoffs or (None,),
            **sweeps,
        )
        for case in cases:
            Options(**case.options)  # complains of values out of range
        measured, interrupted = _measure(cases, repeats, seconds, patience)
        described, rows = machine(), rows_of(measured)
        wrong = [f"{m.case.subject.name}: {m.note}" for m in measured if m.wrong]
    click.echo(heading(described))
    click.echo(tables.head())
    for row in rows:
        click.echo(tables.line(row))
    if csv_file is not None:
        with Output(csv_file, force, boards) as out:
            out.write(tables.as_csv(rows))
    if json_file is not None:
        with Output(json_file, force, boards) as out:
            out.write(tables.as_json(rows, described))
    if plot is not None:
        for figure in plots.draw(rows, plot):
            click.echo(f"gpusudoku: {figure} written", err=True)
    if wrong:
        raise MismatchError("counts differ: " + "; ".join(wrong))
    if interrupted:
        click.get_current_context().exit(1)


def _subjects(
    names: tuple[str, ...],
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    box: Geometry | None,
    keep_going: bool,
) -> list[Subject]:
    from gpusudoku.bench.cases import Subject, chosen

    if not names:
        subjects = [
            Subject(entry.name, collection.load(entry.name), entry.count)
            for entry in collection.entries()
        ]
        return chosen(subjects, include, exclude)
    subjects = []
    for name in names:
        if name.startswith("@"):
            entry = collection.entry(name.removeprefix("@"))
            subjects.append(Subject(entry.name, collection.load(entry.name), entry.count))
            continue
        source = Source([name], box, keep_going)
        for number, board in enumerate(source, start=1):
            subjects.append(Subject(name if source.single else f"{name}:{number}", board))
    return chosen(subjects, include, exclude)


def _usable_devices() -> tuple[str, ...]:
    return ("cpu",) if availability.unusable_because() is not None else ("cpu", "cuda")


def _powers(cores: int) -> tuple[int, ...]:
    """1, 2, 4 ... and the number itself."""
    return tuple(sorted({*(1 << k for k in range(cores.bit_length()) if 1 << k < cores), cores}))


def _measure(
    cases: Sequence[Case], repeats: int, seconds: float | None, patience: float
) -> tuple[list[Measured], bool]:
    """Measure; returns what came of it, and whether that was interrupted."""
    from gpusudoku.bench.live import LiveTable
    from gpusudoku.bench.running import Bench
    from gpusudoku.counting import count, make_engine
    from gpusudoku.planning.choose import expected_seconds

    announce_compiling()

    @cache
    def engine_of(device: str, jobs: int | None) -> Engine:
        return make_engine(Options(device=device, jobs=jobs))

    def run(case: Case) -> Count:
        options = case.options
        engine = engine_of(options["device"], options["jobs"])
        return count(case.subject.board, engine=engine, **options)

    def expected(case: Case) -> float:
        """Seconds a case is estimated to take; infinite for what cannot be done at all."""
        seconds = expected_seconds(case.subject.board, Options(**case.options), patience)
        return seconds / (case.options["jobs"] or 1)

    bench = Bench(cases, run, expected, repeats=repeats, seconds=seconds, patience=patience)
    table = LiveTable(bench.measured, sys.stderr)
    try:
        for each in bench:
            table.show(each)
    finally:
        table.close()
    if bench.interrupted:
        click.echo("gpusudoku: interrupted: what was measured until then follows", err=True)
    return bench.measured, bench.interrupted
