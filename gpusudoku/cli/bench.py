"""``gpusudoku bench``: from options to cases, a table and files."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from fnmatch import fnmatchcase
from io import StringIO
from math import inf
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from gpusudoku import collection
from gpusudoku.cli.options import Command, OwnOptions, reading
from gpusudoku.cli.usage import Choice, Integer, Number, Seconds
from gpusudoku.engines.cuda import availability
from gpusudoku.errors import InputError, MismatchError
from gpusudoku.jobs.interrupts import interrupt_status, patient_interrupts
from gpusudoku.jobs.watch import duration
from gpusudoku.options import CUTOFFS_BY, MAX_JOBS, METHODS, STRATEGIES, Options
from gpusudoku.pipeline.messages import is_quiet, note
from gpusudoku.pipeline.output import Output, refuse, show
from gpusudoku.pipeline.settings import InputOptions
from gpusudoku.pipeline.source import Source
from gpusudoku.plot_style import require_matplotlib
from gpusudoku.search.techniques import DEFAULT

if TYPE_CHECKING:
    from gpusudoku.bench.suite import Bench, Measured, Row, Subject

EVERY_SECONDS = 0.2
MARGIN = 4
"""The number of lines of the terminal that stay free."""

DEFAULT_BOARDS = ("1d", "1e", "1f", "2d", "2e", "2f", "16x16-many", "16x16-solutions")
"""Searches that are long enough to be worth all cores: together some seconds on one core."""
NOTED_SECONDS = 5.0
"""Runs that are estimated to take longer are announced."""

SHOWN = {
    "board": 18, "solutions": 12, "setting": 40, "median": 10, "min": 10, "max": 10, "dev": 8,
    "speed-up": 8, "solutions/s": 11, "nodes/s": 10, "busy": 6, "got": 6,
}  # fmt: skip
"""The columns of the table, by their widths."""

SHOWING_OPTIONS = ("recorded", "csv_file", "json_file", "plot", "force", "details", "quiet")
"""The options that can be given together with --from."""

bench_option = OwnOptions("bench")
"""Even an option that other commands have, too, means another thing here: a list."""


def _list_option(
    *names: str, kind: Choice | Integer | Number, **settings: Any
) -> Callable[[Command], Command]:
    """Make an option that takes several values of a kind, separated by commas, each once."""

    def callback(ctx: click.Context, param: click.Parameter, value: str | None) -> Any:
        words = [] if value is None else value.split(",")
        return tuple(dict.fromkeys(kind.convert(word.strip(), param, ctx) for word in words))

    return bench_option(*names, callback=callback, metavar="LIST", **settings)


@click.command()
@click.argument("boards", nargs=-1, metavar="[BOARD...]")
@bench_option(
    "--include",
    multiple=True,
    metavar="PATTERN",
    help="Instead of the default boards those whose names match, such as '1*', or '*' for all.",
)
@bench_option("--exclude", multiple=True, metavar="PATTERN", help="No boards whose names match.")
@_list_option(
    "--device",
    kind=Choice(("cpu", "cuda")),
    help="cpu, cuda or both.  [default: all that can be used]",
)
@_list_option(
    "-j",
    "--jobs",
    kind=Integer(1, MAX_JOBS),
    help="Numbers of CPU threads, such as 1,2,4.  [default: 1, 2, 4 ... all cores]",
)
@_list_option(
    "--method",
    kind=Choice(METHODS),
    default="search",
    help="search, contraction, auto.",
)
@_list_option("--strategy", kind=Choice(STRATEGIES), default="min", help="first, min.")
@bench_option(
    "--propagate",
    multiple=True,
    default=(DEFAULT,),
    metavar="TECHNIQUES",
    help="As for count; may be given several times.",
)
@_list_option("--cutoff", kind=Number(), help="Cutoffs of a search, such as 1e10,1e20,1e30.")
@bench_option(
    "--cutoff-by",
    type=Choice(CUTOFFS_BY),
    default="space",
    help="What --cutoff measures: the search space, or the number of empty cells.",
)
@bench_option(
    "-i", "--repeats", type=Integer(min=1), default=3, help="Runs of every case, after a warm-up."
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
@bench_option("--details", is_flag=True, help="Show all settings, one a line, with more columns.")
@bench_option("--csv", "csv_file", metavar="FILE", help="Write every setting as a row of CSV.")
@bench_option("--json", "json_file", metavar="FILE", help="Write runs and machine as JSON.")
@bench_option("--plot", metavar="FOLDER", help="Draw figures, as SVG and PNG (needs matplotlib).")
@bench_option(
    "--from", "recorded", metavar="FILE", help="Measure nothing; show what --json wrote before."
)
@OwnOptions("bench").force()
@reading
def bench(
    csv_file: str | None,
    json_file: str | None,
    plot: str | None,
    recorded: str | None,
    force: bool,
    details: bool,
    boards: tuple[str, ...],
    **options: Any,
) -> None:
    """Measure engines and settings side by side.

    Without a BOARD, eight boards with 100,000 to 50 million solutions are searched on the GPU, on
    all cores, and on fewer, usually in one to two minutes. Cases take turns, so that a slow minute
    affects all of them. Every count is compared with the known one and with those of the other
    devices. Ctrl-C skips the current case; twice within a second it ends the run, and shows the
    results so far.

    The table is Markdown, with a line for each board. Its solutions/s are those of the fastest
    device, and "GPU against 16 cores" says how many times as fast the GPU is. If more varies than
    the device and the number of threads, or with --details, each setting has its own line. Boards
    are read from standard input only for the BOARD "-".

    \b
    In the table of settings:
      busy     the share of the time in which the threads worked
      got      the share of that for which they had a core, at least; empty if
               unknown, as for several threads in less than 0.1 s
      starved  other programs took the cores, or slowed the run on one thread,
               so a speed-up with a ? is doubtful

    \b
    Examples:
      gpusudoku bench @1d @1e @1f -j 1,2,4
      gpusudoku bench --include '2*' --strategy first,min --plot figures
      gpusudoku bench @2e --cutoff 1e10,1e20,1e30 --csv cutoff.csv
      gpusudoku bench --include '*' --json all.json --plot figures
    """
    from gpusudoku.bench import figures, suite
    from gpusudoku.bench.comparison import comparison, varies_by_device_only

    # Files that could not be written are refused before anything is measured.
    for path in (csv_file, json_file):
        if path is not None:
            refuse(path, force, [*boards, *([] if recorded is None else [recorded])])
    if csv_file is not None and csv_file == json_file:
        raise InputError(f"{csv_file}: --csv and --json cannot both be written to it")
    if plot is not None:
        require_matplotlib()
        if not force and any(Path(plot).glob("*.svg")):
            raise InputError(f"{plot}: has figures already; --force overwrites them")
    wrong: list[str] = []
    interrupted = False
    sources: list[Source] = []
    if recorded is not None:
        _refuse_measuring(boards)
        rows, machine = suite.read_json(recorded)
    else:
        run = _measure(boards, sources, **options)
        rows = suite.rows_of(run.measured)
        machine = suite.machine()
        wrong = [f"{each.case.subject.name}: {each.note}" for each in run.measured if each.wrong]
        interrupted = run.interrupted
    title = f"{suite.heading(machine)}, gpusudoku {machine.get('gpusudoku', '?')}"
    if rows and varies_by_device_only(rows) and not details:
        caption, *table = comparison(rows, machine["cores"])
        show(f"{title}; {caption}", *table)
    else:
        show(title, head(), *map(line, rows))
    texts = {csv_file: suite.as_csv(rows), json_file: suite.as_json(rows, machine)}
    for path, text in texts.items():
        if path is not None:
            with Output(path, force, boards) as out:
                out.write(text.encode())
    starved = sum(bool(row["starved"]) for row in rows)
    if starved:
        note(
            f"{starved} of {len(rows)} measurements are starved: other programs took or slowed the"
            " cores. A ? marks them, and figures leave them out. Measure again when nothing else"
            " runs."
        )
    if plot is not None:
        figure = None
        for figure in figures.save(figures.figures_of(rows, machine), plot):
            note(f"{figure} written")
        if figure is None:
            note("no figure written: too few measurements that are not starved")
    if wrong:
        raise MismatchError("counts differ: " + "; ".join(wrong))
    if interrupted:
        click.get_current_context().exit(interrupt_status())
    for source in sources:
        source.finish()


def _refuse_measuring(boards: tuple[str, ...]) -> None:
    """Raise an InputError if boards or options are given that matter to a measurement only."""
    if boards:
        raise InputError(f"{boards[0]}: --from measures no boards")
    context = click.get_current_context()
    for param in context.command.params:
        name = str(param.name)
        is_given = context.get_parameter_source(name) == ParameterSource.COMMANDLINE
        if is_given and name not in SHOWING_OPTIONS:
            raise InputError(f"{max(param.opts, key=len)}: --from measures nothing")


def _measure(
    boards: tuple[str, ...],
    sources: list[Source],
    *,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    reading: InputOptions,
    repeats: int,
    seconds: float | None,
    patience: float,
    **settings: Any,
) -> Bench:
    """Measure the boards under all settings, after a check of all options.

    What the boards are read from is added to ``sources``.
    """
    from gpusudoku.bench.suite import Bench, cases_of, thread_numbers

    for propagate in settings["propagate"]:
        Options(propagate=propagate)  # raises for unknown techniques
    no_gpu = availability.unusable_because()
    lacks_gpu = no_gpu is not None and not settings["device"]
    settings["device"] = settings["device"] or (("cpu",) if no_gpu else ("cpu", "cuda"))
    settings["jobs"] = settings["jobs"] or thread_numbers()
    settings["cutoff"] = settings["cutoff"] or (None,)
    settings["cutoff_by"] = (settings["cutoff_by"],)
    subjects = [
        subject
        for subject in _subjects(boards or _default_boards(include), sources, reading)
        if any(fnmatchcase(subject.name, pattern) for pattern in include or "*")
        and not any(fnmatchcase(subject.name, pattern) for pattern in exclude)
    ]
    if not subjects:
        raise InputError("no board is left to measure: see --include and --exclude")
    cases = cases_of(subjects, **settings)
    for case in cases:
        Options(**case.options)  # raises for values out of range
    if lacks_gpu:
        note(f"no GPU is measured: {no_gpu}")
    run = Bench(cases, repeats=repeats, seconds=seconds, patience=patience)
    table = LiveTable(run.measured, StringIO() if is_quiet() else sys.stderr)

    def announce(seconds: float) -> None:
        if seconds > NOTED_SECONDS:
            table.close()
            note(f"warm-up done: the runs take {duration(seconds)}")

    run.warmed_up = announce
    try:
        with patient_interrupts(inf):
            for each in run:
                table.show(each)
    except KeyboardInterrupt:  # between two cases
        run.interrupted = True
    finally:
        table.close()
    if run.interrupted:
        note("interrupted: the results so far follow")
    return run


def _default_boards(patterns: tuple[str, ...]) -> list[str]:
    """Return the names of the default boards, or of all if there are patterns to choose by."""
    names = [entry.name for entry in collection.entries()] if patterns else DEFAULT_BOARDS
    return [f"@{name}" for name in names]


def _subjects(
    boards: Sequence[str], sources: list[Source], reading: InputOptions
) -> Iterator[Subject]:
    """Yield the boards to measure, each once; add what they are read from to ``sources``."""
    from gpusudoku.bench.suite import Subject

    for name in dict.fromkeys(boards):
        if name.startswith("@"):
            entry = collection.entry(name.removeprefix("@"))
            yield Subject(entry.name, collection.load(entry.name), entry.count)
        else:
            source = Source([name], reading)
            sources.append(source)
            for number, board in enumerate(source, start=1):
                yield Subject(name if source.single else f"{name}:{number}", board)


class LiveTable:
    """A table that is shown on a terminal only; ``close`` removes it."""

    def __init__(self, measured: Sequence[Measured], terminal: IO[str]) -> None:
        self._measured = measured
        self._terminal = terminal
        self._shown = 0
        self._next = 0.0 if terminal.isatty() else inf

    def show(self, current: Measured) -> None:
        """Show the rows around a case, unless it is too soon after the last time."""
        from gpusudoku.bench.suite import rows_of

        if time.perf_counter() < self._next:
            return
        self._next = time.perf_counter() + EVERY_SECONDS
        size = shutil.get_terminal_size()
        room = max(1, size.lines - MARGIN)
        at = self._measured.index(current)
        start = max(0, min(at - room // 2, len(self._measured) - room))
        rows = enumerate(rows_of(self._measured)[start : start + room], start)
        lines = [f"  {head()}", *(f"{'> ' if i == at else '  '}{line(row)}" for i, row in rows)]
        self.close()
        self._terminal.write("".join(f"{text[: size.columns - 1]}\n" for text in lines))
        self._terminal.flush()
        self._shown = len(lines)

    def close(self) -> None:
        """Remove the table from the terminal."""
        if self._shown:
            self._terminal.write(f"\x1b[{self._shown}A\x1b[J")
            self._terminal.flush()
            self._shown = 0


def head() -> str:
    """Return the heading of the table."""
    return "  ".join(_cell(name, width) for name, width in SHOWN.items())


def line(row: Row) -> str:
    """Return a row of the table."""

    def number(column: str, form: str, unit: str = "") -> str:
        return "" if row[column] is None else f"{row[column]:{form}}{unit}"

    solutions = row["solutions"] or 0
    texts = [
        row["board"],
        number("solutions", ",") if solutions < 10**9 else f"{Decimal(solutions):.3e}",
        row["setting"],
        *(number(name, ".3g", " s") for name in ("median", "minimum", "maximum", "deviation")),
        number("speed_up", ".2f", "?" if row["starved"] else ""),
        number("solutions_per_second", ".3g"),
        number("nodes_per_second", ".3g"),
        number("utilisation", ".1%"),
        number("got", ".1%"),
    ]
    cells = [_cell(text, width) for text, width in zip(texts, SHOWN.values(), strict=True)]
    note = row["note"] or ("starved" if row["starved"] else "")
    return "  ".join([*cells, note]).rstrip()


def _cell(text: str, width: int) -> str:
    return text.ljust(width) if width > 12 else text.rjust(width)
