"""``gpusudoku bench``: measurements of boards under several settings, as a table and files."""

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
from gpusudoku.cli.options import Command, CommandOptions, reading_options
from gpusudoku.cli.usage import Choice, Integer, Number, Seconds
from gpusudoku.engines.cuda import availability
from gpusudoku.errors import InputError, MismatchError
from gpusudoku.jobs.interrupts import interrupt_grace, interrupt_status
from gpusudoku.jobs.watch import duration
from gpusudoku.options import CUTOFFS_BY, MAX_JOBS, METHODS, STRATEGIES, Options
from gpusudoku.pipeline.messages import is_quiet, print_note
from gpusudoku.pipeline.output import Output, refuse, show
from gpusudoku.pipeline.settings import InputOptions
from gpusudoku.pipeline.source import Source
from gpusudoku.plot_style import require_matplotlib
from gpusudoku.search.techniques import DEFAULT

if TYPE_CHECKING:
    from gpusudoku.bench.suite import Bench, Measurement, Row, Subject

REFRESH_SECONDS = 0.2
"""Minimum time between two updates of the live table."""
MARGIN_LINES = 4
"""Lines of the terminal that the live table leaves free."""

DEFAULT_BOARDS = ("1d", "1e", "1f", "2d", "2e", "2f", "16x16-many", "16x16-solutions")
"""Boards whose searches are long enough to use all cores: a few seconds in total on one core."""
MAX_UNANNOUNCED_SECONDS = 5.0
"""Runs with a longer estimated time are announced."""

COLUMN_WIDTHS = {
    "board": 18, "solutions": 12, "setting": 40, "median": 10, "min": 10, "max": 10, "dev": 8,
    "speed-up": 8, "solutions/s": 11, "nodes/s": 10, "busy": 6, "got": 6,
}  # fmt: skip
"""The widths of the columns of the table."""

OPTIONS_WITH_FROM = ("recorded", "csv_file", "json_file", "plot", "force", "details", "quiet")
"""The options that can be combined with --from: they change how results are shown."""

bench_option = CommandOptions("bench")
"""Makes all options: those that other commands share take a list of values here."""


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
    help="Measure the boards whose names match, such as '1*' or '*', not the default boards.",
)
@bench_option(
    "--exclude", multiple=True, metavar="PATTERN", help="Leave out boards whose names match."
)
@_list_option(
    "--device",
    kind=Choice(("cpu", "cuda")),
    help="Devices: cpu, cuda or both.  [default: all usable devices]",
)
@_list_option(
    "-j",
    "--jobs",
    kind=Integer(1, MAX_JOBS),
    help="Numbers of CPU threads, such as 1,2,4.  [default: 1, 2, 4, ..., all cores]",
)
@_list_option(
    "--method",
    kind=Choice(METHODS),
    default="search",
    help="Methods: search, contraction, auto.",
)
@_list_option("--strategy", kind=Choice(STRATEGIES), default="min", help="Strategies: first, min.")
@bench_option(
    "--propagate",
    multiple=True,
    default=(DEFAULT,),
    metavar="TECHNIQUES",
    help="Techniques, as of count; may be repeated.",
)
@_list_option("--cutoff", kind=Number(), help="Cutoffs of a search, such as 1e10,1e20,1e30.")
@bench_option(
    "--cutoff-by",
    type=Choice(CUTOFFS_BY),
    default="space",
    help="Measure of --cutoff: the search space, or the number of empty cells.",
)
@bench_option(
    "-i",
    "--repeats",
    type=Integer(min=1),
    default=3,
    help="Number of runs of every case, after a warm-up.",
)
@bench_option(
    "-t",
    "--seconds",
    type=Seconds(),
    help="Repeat every case until its runs took this long in total, instead of --repeats.",
)
@bench_option(
    "--patience",
    type=Seconds(),
    default=60.0,
    help="Leave out cases with a longer estimated time.",
)
@bench_option(
    "--details", is_flag=True, help="Show every setting on a line of its own, with more columns."
)
@bench_option("--csv", "csv_file", metavar="FILE", help="Write every setting as a row of CSV.")
@bench_option("--json", "json_file", metavar="FILE", help="Write runs and machine as JSON.")
@bench_option("--plot", metavar="FOLDER", help="Draw figures, as SVG and PNG (needs matplotlib).")
@bench_option(
    "--from",
    "recorded",
    metavar="FILE",
    help="Measure nothing; show the results that --json wrote to FILE.",
)
@CommandOptions("bench").force()
@reading_options
def bench(
    csv_file: str | None,
    json_file: str | None,
    plot: str | None,
    recorded: str | None,
    force: bool,
    details: bool,
    boards: tuple[str, ...],
    **settings: Any,
) -> None:
    """Measure engines and settings side by side.

    Without a BOARD, eight boards with 100,000 to 50 million solutions are searched on the GPU, on
    all cores, and on fewer cores, usually in one to two minutes. A case is a board under one
    setting. The runs of all cases alternate, so that a slow minute affects all cases. Every count
    is compared with the known count, and with the counts of other devices. Ctrl-C skips the current
    case. Ctrl-C twice within a second ends the run, and shows the results so far.

    The table is Markdown, with one line per board. Its solutions/s are those of the fastest device;
    "GPU against 16 cores" is the ratio of their speeds. If more than the device and the number of
    threads varies, or with --details, each setting has its own line. Boards are read from standard
    input only if BOARD is "-".

    \b
    In the table of settings:
      busy     share of the time in which the threads worked
      got      minimum share of the busy time in which the threads had a core;
               empty if unknown, as for several threads in less than 0.1 s
      starved  other programs used the cores, or slowed the run on one thread;
               a speed-up with a ? is doubtful

    \b
    Examples:
      gpusudoku bench @1d @1e @1f -j 1,2,4
      gpusudoku bench --include '2*' --strategy first,min --plot figures
      gpusudoku bench @2e --cutoff 1e10,1e20,1e30 --csv cutoff.csv
      gpusudoku bench --include '*' --json all.json --plot figures
    """
    from gpusudoku.bench import suite
    from gpusudoku.bench.comparison import comparison, varies_by_device_only

    inputs = [*boards] if recorded is None else [*boards, recorded]
    _refuse_outputs(csv_file, json_file, plot, force, inputs)
    mismatches: list[str] = []
    is_interrupted = False
    sources: list[Source] = []
    if recorded is not None:
        _refuse_measuring_options(boards)
        rows, machine = suite.read_json(recorded)
    else:
        run = _measure(boards, sources, **settings)
        rows = suite.rows_of(run.measured)
        machine = suite.machine()
        mismatches = [
            f"{measured.case.subject.name}: {measured.note}"
            for measured in run.measured
            if measured.wrong
        ]
        is_interrupted = run.interrupted

    title = f"{suite.heading(machine)}, gpusudoku {machine.get('gpusudoku', '?')}"
    # One line per board compares devices; it has no place for other settings.
    if rows and varies_by_device_only(rows) and not details:
        caption, *table = comparison(rows, machine["cores"])
        show(f"{title}; {caption}", *table)
    else:
        show(title, table_head(), *map(table_line, rows))

    texts = {csv_file: suite.as_csv(rows), json_file: suite.as_json(rows, machine)}
    for path, text in texts.items():
        if path is not None:
            with Output(path, force, boards) as out:
                out.write(text.encode())
    starved = sum(bool(row["starved"]) for row in rows)
    if starved:
        print_note(
            f"{starved} of {len(rows)} measurements are starved: other programs used or slowed the"
            " cores. They are marked with ? and left out of figures. Measure again when no other"
            " program runs."
        )
    if plot is not None:
        _draw_figures(rows, machine, plot)

    # The results are complete; now the exit status says what was wrong.
    if mismatches:
        raise MismatchError("counts differ: " + "; ".join(mismatches))
    if is_interrupted:
        click.get_current_context().exit(interrupt_status())
    for source in sources:
        source.finish()


def _refuse_outputs(
    csv_file: str | None, json_file: str | None, plot: str | None, force: bool, inputs: list[str]
) -> None:
    """Raise an InputError for outputs that could not be written after the measurement."""
    for path in (csv_file, json_file):
        if path is not None:
            refuse(path, force, inputs)
    if csv_file is not None and csv_file == json_file:
        raise InputError(f"{csv_file}: --csv and --json need two different files")
    if plot is not None:
        require_matplotlib()
        if not force and any(Path(plot).glob("*.svg")):
            raise InputError(f"{plot}: has figures already; --force overwrites them")


def _draw_figures(rows: list[Row], machine: dict[str, Any], folder: str) -> None:
    """Draw the figures that the rows allow, and print their names on stderr."""
    from gpusudoku.bench import figures

    paths = figures.save(figures.figures_of(rows, machine), folder)
    for path in paths:
        print_note(f"{path} written")
    if not paths:
        print_note("no figure written: too few measurements that are not starved")


def _refuse_measuring_options(boards: tuple[str, ...]) -> None:
    """Raise an InputError for boards, and for options that have no effect together with --from."""
    if boards:
        raise InputError(f"{boards[0]}: --from measures no boards")
    context = click.get_current_context()
    for param in context.command.params:
        name = str(param.name)
        is_given = context.get_parameter_source(name) == ParameterSource.COMMANDLINE
        if is_given and name not in OPTIONS_WITH_FROM:
            raise InputError(f"{max(param.opts, key=len)}: --from measures nothing")


def _measure(
    boards: tuple[str, ...],
    sources: list[Source],
    *,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    input_options: InputOptions,
    repeats: int,
    seconds: float | None,
    patience: float,
    **settings: Any,
) -> Bench:
    """Check all options, and measure the boards under all settings.

    The inputs of the boards are appended to ``sources``.
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
    subjects = []
    for subject in _subjects(boards or _default_boards(include), sources, input_options):
        is_included = any(fnmatchcase(subject.name, pattern) for pattern in include or "*")
        is_excluded = any(fnmatchcase(subject.name, pattern) for pattern in exclude)
        if is_included and not is_excluded:
            subjects.append(subject)
    if not subjects:
        raise InputError("no board to measure: --include and --exclude leave out all boards")
    cases = cases_of(subjects, **settings)
    for case in cases:
        Options(**case.options)  # raises for values out of range
    if lacks_gpu:
        print_note(f"the GPU is not measured: {no_gpu}")
    run = Bench(cases, repeats=repeats, seconds=seconds, patience=patience)
    table = LiveTable(run.measured, StringIO() if is_quiet() else sys.stderr)

    def announce(total_seconds: float) -> None:
        if total_seconds > MAX_UNANNOUNCED_SECONDS:
            table.close()
            print_note(f"warm-up finished: the runs take {duration(total_seconds)}")

    run.warmed_up = announce  # called when the warm-up has measured how long all runs take
    try:
        # Without a limit, the first Ctrl-C does not end the process by force: it skips a case.
        with interrupt_grace(inf):
            for measured in run:
                table.show(measured)
    except KeyboardInterrupt:  # between two cases
        run.interrupted = True
    finally:
        table.close()
    if run.interrupted:
        print_note("interrupted: the results so far follow")
    return run


def _default_boards(patterns: tuple[str, ...]) -> list[str]:
    """Return the names of the default boards, or of all boards if there are patterns."""
    names = [entry.name for entry in collection.entries()] if patterns else DEFAULT_BOARDS
    return [f"@{name}" for name in names]


def _subjects(
    boards: Sequence[str], sources: list[Source], input_options: InputOptions
) -> Iterator[Subject]:
    """Yield the boards to measure, each once; append their inputs to ``sources``."""
    from gpusudoku.bench.suite import Subject

    for name in dict.fromkeys(boards):
        if name.startswith("@"):
            entry = collection.entry(name.removeprefix("@"))
            yield Subject(entry.name, collection.load(entry.name), entry.count)
        else:
            source = Source([name], input_options)
            sources.append(source)
            for number, board in enumerate(source, start=1):
                yield Subject(name if source.single else f"{name}:{number}", board)


class LiveTable:
    """A table that is shown and updated on a terminal only; ``close`` removes it."""

    def __init__(self, measured: Sequence[Measurement], terminal: IO[str]) -> None:
        self._measured = measured
        self._terminal = terminal
        self._line_count = 0
        """Lines of the table on the terminal, above the cursor."""
        self._next_time = 0.0 if terminal.isatty() else inf

    def show(self, current: Measurement) -> None:
        """Show the rows around a case, if the last update was ``REFRESH_SECONDS`` ago."""
        from gpusudoku.bench.suite import rows_of

        if time.perf_counter() < self._next_time:
            return
        self._next_time = time.perf_counter() + REFRESH_SECONDS

        # The current case is in the middle, or nearer to an end of the table.
        size = shutil.get_terminal_size()
        row_count = max(1, size.lines - MARGIN_LINES)
        current_index = self._measured.index(current)
        start = max(0, min(current_index - row_count // 2, len(self._measured) - row_count))
        rows = rows_of(self._measured)[start : start + row_count]

        lines = [f"  {table_head()}"]
        for index, row in enumerate(rows, start):
            marker = "> " if index == current_index else "  "
            lines.append(f"{marker}{table_line(row)}")
        self.close()
        # Longer lines would wrap, and ``close`` would remove too few lines.
        self._terminal.write("".join(f"{text[: size.columns - 1]}\n" for text in lines))
        self._terminal.flush()
        self._line_count = len(lines)

    def close(self) -> None:
        """Remove the table from the terminal."""
        if self._line_count:
            # ANSI codes: move the cursor up, and clear the screen below it.
            self._terminal.write(f"\x1b[{self._line_count}A\x1b[J")
            self._terminal.flush()
            self._line_count = 0


def table_head() -> str:
    """Return the heading of the table."""
    return "  ".join(_align(name, width) for name, width in COLUMN_WIDTHS.items())


def table_line(row: Row) -> str:
    """Return a row of the table."""

    def number(column: str, format_spec: str, suffix: str = "") -> str:
        return "" if row[column] is None else f"{row[column]:{format_spec}}{suffix}"

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
    cells = [_align(text, width) for text, width in zip(texts, COLUMN_WIDTHS.values(), strict=True)]
    note = row["note"] or ("starved" if row["starved"] else "")
    return "  ".join([*cells, note]).rstrip()


def _align(text: str, width: int) -> str:
    """Align words left and numbers right; the columns of words are the wide ones."""
    return text.ljust(width) if width > 12 else text.rjust(width)
