"""The benchmark suite: cases, measurements in turns, and rows of results as CSV and JSON."""

from __future__ import annotations

import csv
import json
import os
import platform
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from io import StringIO
from itertools import product
from math import inf, isinf, isnan, log10, nan
from operator import itemgetter
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

import numba
import numpy as np

import gpusudoku
from gpusudoku.board.board import Board
from gpusudoku.counting import count
from gpusudoku.engines.cuda import availability
from gpusudoku.engines.make import make_engine
from gpusudoku.errors import InputError, Interrupted, TooExpensive
from gpusudoku.jobs.interrupts import last_interrupt
from gpusudoku.jobs.threads import usable_cores
from gpusudoku.options import Options
from gpusudoku.planning.choose import choose
from gpusudoku.results import Count, SearchStats, decimal_digits

DOUBLE_INTERRUPT_SECONDS = 1.0
"""Ctrl-C twice within this time ends the run. A single one skips the current case, and any other
signal ends the run."""
MIN_SECONDS = 0.01
"""In a shorter run it is chance whether another program gets the core."""
MIN_SHARED_SECONDS = 0.1
"""For a shorter run the clock of idle cores, which counts hundredths of a second, is too coarse."""
STARVED = 0.9
"""A run is starved if its threads had a core for less than this share of their time."""
MAX_SPEED_UP_PER_THREAD = 1.01
"""N threads are at most N times as fast as one, and clocks vary by this factor. If they seem even
faster, the run on one thread was slowed, although it had its core."""
MIN_SOLUTIONS = 10_000
"""The law of the search is fitted to boards with at least this many solutions."""
CHECKOUT = Path(gpusudoku.__file__).resolve().parents[1]
"""The folder of the checkout, if the program runs from one."""
SOURCES = ("gpusudoku", "kernels", "boards", "benchmarks", "pyproject.toml",
           ":!benchmarks/results", ":!*.md")  # fmt: skip
"""The files that can change a measurement, for git. Results are not, as measurements write them."""
OPTIONS: dict[str, Sequence[Any]] = {
    "method": ("search",),
    "strategy": ("min",),
    "propagate": ("singles",),
    "cutoff": (None,),
    "cutoff_by": ("space",),
    "device": ("cpu",),
    "jobs": (1,),
}
"""The options of a setting, with their default values."""
COLUMNS = (
    "board", "clues", "empty_cells", "log10_space", "solutions", "method", "device", "jobs",
    "strategy", "propagate", "cutoff_by", "cutoff", "cutoff_reached", "runs", "median", "minimum",
    "maximum", "deviation", "speed_up", "solutions_per_second", "nodes_per_second", "utilisation",
    "got", "starved", "note",
)  # fmt: skip
"""The columns of CSV and JSON. Times are in seconds; ``got`` is the share of its time for which a
case had its cores."""


@dataclass(frozen=True)
class Subject:
    """A board to measure, and its number of solutions if it is known."""

    name: str
    board: Board
    count: int | None = None


@dataclass(frozen=True)
class Case:
    """A board and a setting: ``options`` are options of ``gpusudoku.count``."""

    subject: Subject
    options: dict[str, Any] = field(hash=False)

    @property
    def setting(self) -> str:
        """The options that affect this method and device, as a short text."""
        options = self.options
        words = [str(options["method"]), str(options["device"])]
        # A GPU has no number of threads, and a contraction neither a strategy nor a cutoff.
        if options["device"] == "cpu":
            words.append(f"-j {options['jobs']}")
        if options["method"] != "contraction":
            words += [str(options["strategy"]), str(options["propagate"])]
            if options["cutoff"] is not None:
                words.append(f"{options['cutoff_by']} {options['cutoff']:g}")
        return " ".join(words)


def cases_of(subjects: Iterable[Subject], **values: Sequence[Any]) -> list[Case]:
    """Return every board with every combination of options; equivalent settings occur once.

    ``values`` has lists of values by option; other options have their values in OPTIONS.
    """
    settings: dict[str, dict[str, Any]] = {}  # options by the text of the setting
    for combination in product(*(OPTIONS | values).values()):
        options = dict(zip(OPTIONS, combination, strict=True))
        if options["device"] != "cpu":
            options["jobs"] = None
        # The text of a setting has only the options that make a difference. It needs no board.
        text = Case(Subject("", Board([0])), options).setting
        settings.setdefault(text, options)
    return [Case(subject, options) for subject in subjects for options in settings.values()]


def thread_numbers() -> tuple[int, ...]:
    """Return the powers of two below the number of usable cores, and that number."""
    cores = usable_cores()
    powers = [1 << k for k in range(cores.bit_length()) if 1 << k < cores]
    return (*powers, cores)


# An engine is made once: setting it up is not part of a measurement.
_engine_of = cache(make_engine)


def count_case(case: Case) -> Count:
    """Count a case; cases with the same device and threads share an engine."""
    engine = _engine_of(device=case.options["device"], jobs=case.options["jobs"])
    return count(case.subject.board, engine=engine, **case.options)


def estimated_seconds(case: Case, patience: float) -> float:
    """Estimate the seconds of a case; infinity if it is too expensive for any method."""
    try:
        plan = choose(case.subject.board, Options(**case.options), worth=patience)
    except TooExpensive:
        return inf
    return plan.seconds / (case.options["jobs"] or 1)


def idle_seconds(path: Path = Path("/proc/stat")) -> float:
    """Return how long the usable cores have been idle since the system started; nan if unknown."""
    try:
        lines = [line.split() for line in path.read_text().splitlines()]
        cores = {f"cpu{core}" for core in os.sched_getaffinity(0)}
        ticks = 0
        for fields in lines:
            if fields and fields[0] in cores:
                # cpuN user nice system idle iowait ...
                ticks += int(fields[4]) + int(fields[5])
        return ticks / os.sysconf("SC_CLK_TCK") if ticks else nan
    except (OSError, AttributeError):  # the system is not Linux
        return nan


def core_share(
    result: Count, wall: float, processor: float, idle: float = nan, cores: int = 0
) -> float | None:
    """Return a lower bound of the share of its time for which a count had its cores.

    ``wall`` is the elapsed time, ``processor`` the CPU time of the process, and ``idle`` the time
    for which cores were idle, all in seconds during the count. ``cores`` is the number of usable
    cores. The share is None if it is unknown.
    """
    # The clocks know nothing of a GPU.
    if result.device != "cpu" or wall < MIN_SECONDS:
        return None
    if result.jobs == 1 or not isinstance(result.stats, SearchStats):
        # A contraction always has work for one thread. When it has work for more is unknown.
        return processor / wall
    if isnan(idle) or wall < MIN_SHARED_SECONDS:
        return None
    # A thread that waits for boards leaves its core idle. All other time of the cores, neither the
    # count's own nor idle, went to other programs. The count may not have needed all of it, so the
    # share is a lower bound.
    available = min(result.jobs, cores) * wall
    other_programs = max(0.0, available - processor - idle)
    return processor / (processor + other_programs)


@dataclass
class Measurement:
    """A case and its runs; their seconds are engine time, without start-up and compiling."""

    case: Case
    runs: list[Count] = field(default_factory=list)
    core_shares: list[float] = field(default_factory=list)
    """The ``core_share`` of each run for which it is known."""
    note: str = ""
    """The reason why the case is not measured any more; empty while it is."""
    wrong: bool = False
    """Whether the reason is a wrong count."""
    warm_up_seconds: float = 0.0
    """The engine time of the warm-up."""

    @property
    def seconds(self) -> list[float]:
        """The seconds of each run."""
        return [run.stats.seconds for run in self.runs]

    @property
    def core_share(self) -> float | None:
        """The median of ``core_shares``."""
        return median(self.core_shares) if self.core_shares else None


@dataclass
class Bench:
    """Measures cases in turns, so that a slow minute of the machine affects all of them.

    A case has ``repeats`` runs after a warm-up. With ``seconds``, it is run until its runs took
    that long in total instead. Cases that are estimated to take longer than ``patience`` seconds
    are left out.
    """

    cases: Sequence[Case]
    repeats: int = 3
    seconds: float | None = None
    patience: float = inf
    count: Callable[[Case], Count] = count_case
    estimate: Callable[[Case, float], float] = estimated_seconds
    clock: Callable[[], float] = time.perf_counter
    processor: Callable[[], float] = time.process_time
    idle: Callable[[], float] = idle_seconds
    warmed_up: Callable[[float], None] = lambda seconds: None
    """Called after the warm-up with an estimate of the seconds of all runs."""
    interrupted: bool = False
    """Whether an interrupt has ended the run."""

    def __post_init__(self) -> None:
        self.measured = [Measurement(case) for case in self.cases]
        self._last_interrupt = -inf
        # By board, the expected count and its source: "known", or the first setting to count it.
        self._expected: dict[str, tuple[int, str]] = {}
        for case in self.cases:
            if case.subject.count is not None:
                self._expected[case.subject.name] = (case.subject.count, "known")

    def __iter__(self) -> Iterator[Measurement]:
        """Measure; yield each case before and after each of its runs, starting with warm-ups."""
        for warm_up in (True, False):
            # Each pass runs every case that still needs a run once.
            while due_cases := [case for case in self.measured if self._is_due(case, warm_up)]:
                for measured in due_cases:
                    yield measured
                    if not self._run(measured, warm_up):
                        return
                    yield measured
                if warm_up:  # one pass is enough
                    break
            if warm_up:
                self.warmed_up(self._seconds_of_runs())

    def _seconds_of_runs(self) -> float:
        """Estimate the seconds of all runs from those of the warm-up."""
        total = 0.0
        for measured in self.measured:
            if measured.note:
                continue
            # A case has at least one run, even if that takes longer than ``seconds``.
            if self.seconds is None:
                total += self.repeats * measured.warm_up_seconds
            else:
                total += max(self.seconds, measured.warm_up_seconds)
        return total

    def _is_due(self, measured: Measurement, warm_up: bool) -> bool:
        """Return whether a case needs another run."""
        if measured.note:
            return False
        if warm_up or not measured.runs:
            return True
        if self.seconds is not None:
            return sum(measured.seconds) < self.seconds
        return len(measured.runs) < self.repeats

    def _run(self, measured: Measurement, warm_up: bool) -> bool:
        """Run a case once; return False if an interrupt ends all cases."""
        try:
            if warm_up and self._is_too_long(measured):
                return True
            # All clocks are read before and after the count.
            clocks = (self.clock, self.processor, self.idle)
            start_times = [clock() for clock in clocks]
            result = self.count(measured.case)
            wall, processor, idle = (
                clock() - start_time for clock, start_time in zip(clocks, start_times, strict=True)
            )
        except (KeyboardInterrupt, Interrupted):
            measured.note = "interrupted"
            now = self.clock()
            is_double = now - self._last_interrupt < DOUBLE_INTERRUPT_SECONDS
            is_ctrl_c = last_interrupt() in (None, signal.SIGINT)
            self._last_interrupt = now
            self.interrupted = is_double or not is_ctrl_c
            return not self.interrupted
        self._check_count(measured, result)
        if measured.wrong:
            return True
        if warm_up:
            measured.warm_up_seconds = result.stats.seconds
            return True
        measured.runs.append(result)
        share = core_share(result, wall, processor, idle, usable_cores())
        if share is not None:
            measured.core_shares.append(share)
        return True

    def _is_too_long(self, measured: Measurement) -> bool:
        """Return whether a case is estimated to exceed the patience; note the reason."""
        seconds = self.estimate(measured.case, self.patience)
        if seconds <= self.patience:
            return False
        measured.note = "too expensive" if isinf(seconds) else f"left out: about {seconds:.2g} s"
        return True

    def _check_count(self, measured: Measurement, result: Count) -> None:
        """Compare a count with the known one, or with the first count of the board."""
        board = measured.case.subject.name
        # Without a known count, the first count of the board is expected of all later ones.
        expected, source = self._expected.setdefault(board, (result.count, measured.case.setting))
        if result.count != expected:
            measured.wrong = True
            measured.note = f"counted {result.count} solutions, expected {expected} ({source})"


def machine() -> dict[str, object]:
    """Return a description of processor, cores, GPUs, system and versions, with JSON types."""
    model = platform.processor()  # on Linux often only the architecture
    if Path("/proc/cpuinfo").exists():
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":")[1].strip()
                break
    # A simulated GPU is not a part of the machine.
    no_gpu = availability.simulated() or availability.unusable_because()
    return {
        "processor": model,
        "cores": usable_cores(),
        "gpus": [] if no_gpu else [card.name for card in availability.cards()],
        "system": platform.system(),
        "python": platform.python_version(),
        "numba": numba.__version__,
        "numpy": np.__version__,
        "gpusudoku": gpusudoku.__version__,
        "commit": commit(),
        "date": time.strftime("%Y-%m-%d"),
    }


def commit(folder: Path = CHECKOUT) -> str | None:
    """Return the commit of a checkout, ``-dirty`` if one of SOURCES has changed, or None."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(folder), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    if not (folder / ".git").exists():  # an installed package, perhaps inside another repository
        return None
    try:
        name = git("rev-parse", "--short=12", "HEAD")
        return f"{name}-dirty" if git("status", "--porcelain", "--", *SOURCES) else name
    except (OSError, subprocess.CalledProcessError):
        return None


def heading(machine: dict[str, object]) -> str:
    """Return the line above a table: machine and date."""
    parts = [f"{machine['processor']}, {machine['cores']} cores"]
    gpus = machine.get("gpus")
    if isinstance(gpus, list) and gpus:
        parts.append(", ".join(map(str, gpus)))
    return f"{'; '.join(parts)}, {machine['date']}"


Row = dict[str, Any]
"""The results of a case: COLUMNS, ``setting`` as a text, the ``times`` of all runs in seconds, and
``thread_utilisation``, the share of the time in which each thread worked, None if unknown."""


def undisturbed(rows: Iterable[Row]) -> list[Row]:
    """Return the rows that have a time and are not starved; figures and tables use only these."""
    return [row for row in rows if row["median"] is not None and not row["starved"]]


def describe_run_counts(rows: Iterable[Row]) -> str:
    """Return how often the rows with a time were run, such as "3" or "1 to 3"."""
    run_counts = sorted({row["runs"] for row in rows if row["runs"]})
    if not run_counts:
        return "no"
    ends = dict.fromkeys([run_counts[0], run_counts[-1]])
    return " to ".join(map(str, ends))


def cells_of(row: Row) -> int:
    """Return the number of cells of the board of a row."""
    return row["clues"] + row["empty_cells"]  # type: ignore[no-any-return]


def rows_of(measured: Sequence[Measurement]) -> list[Row]:
    """Return a row for every case; speed-ups are relative to the same setting on one CPU thread."""

    def key_without_jobs(case: Case) -> str:
        return repr((case.subject.name, {**case.options, "jobs": None, "device": None}))

    one_thread = {
        key_without_jobs(entry.case): entry
        for entry in measured
        if entry.runs and (entry.case.options["device"], entry.case.options["jobs"]) == ("cpu", 1)
    }
    rows = [_row(entry, one_thread.get(key_without_jobs(entry.case))) for entry in measured]
    return mark_starved(rows)


def mark_starved(rows: list[Row]) -> list[Row]:
    """Mark all rows of a setting as starved if its speed-ups show that one thread was slowed."""
    setting_of = itemgetter("board", "method", "strategy", "propagate", "cutoff_by", "cutoff")
    slowed_settings = set()
    for row in rows:
        if row["jobs"] and row["speed_up"] and is_too_fast(row["speed_up"], row["jobs"]):
            one_thread_seconds = row["speed_up"] * row["median"]
            if one_thread_seconds >= MIN_SECONDS:
                slowed_settings.add(setting_of(row))
    for row in rows:
        if setting_of(row) in slowed_settings:
            row["starved"] = True
    return rows


def is_too_fast(speed_up: float, threads: int) -> bool:
    """Return whether a speed-up is impossible, see MAX_SPEED_UP_PER_THREAD."""
    return speed_up > MAX_SPEED_UP_PER_THREAD * threads


def _row(measured: Measurement, one_thread: Measurement | None) -> Row:
    """Return the row of a case; ``one_thread`` is its setting on one thread, if measured."""
    case = measured.case
    board = case.subject.board
    row: Row = dict.fromkeys(COLUMNS)
    row |= {
        **case.options,
        "board": case.subject.name,
        "clues": board.clues,
        "empty_cells": board.empty_cells,
        "log10_space": log10(board.search_space) if board.search_space else None,
        "runs": len(measured.runs),
        "note": measured.note,
        "setting": case.setting,
        "times": measured.seconds,
        "thread_utilisation": None,
    }
    if measured.runs:
        row |= _columns_of_runs(measured, one_thread)
    return row


def _columns_of_runs(measured: Measurement, one_thread: Measurement | None) -> Row:
    """Return the columns that are computed from at least one run."""
    runs = measured.runs
    first_run = runs[0]
    seconds = measured.seconds
    median_seconds = median(seconds)
    stats = first_run.stats if isinstance(first_run.stats, SearchStats) else None
    nodes = stats.nodes if stats else 0
    one_thread_seconds = median(one_thread.seconds) if one_thread else None
    utilisations = [mean(run.stats.utilisation) for run in runs if run.stats.utilisation]
    utilisations_by_thread = zip(*(run.stats.utilisation for run in runs), strict=False)
    # A speed-up is also wrong if the run on one thread was starved.
    shares = [entry.core_share for entry in (measured, one_thread) if entry is not None]
    return {
        "solutions": first_run.count,
        "method": first_run.method,
        "cutoff_reached": stats is None or stats.cutoff_reached,
        "median": median_seconds,
        "minimum": min(seconds),
        "maximum": max(seconds),
        "deviation": stdev(seconds) if len(seconds) > 1 else 0.0,
        "speed_up": _ratio(one_thread_seconds, median_seconds),
        "solutions_per_second": first_run.count / median_seconds if median_seconds else None,
        "nodes_per_second": _ratio(nodes, median_seconds),
        "utilisation": mean(utilisations) if len(utilisations) == len(runs) else None,
        "thread_utilisation": [mean(thread) for thread in utilisations_by_thread] or None,
        "got": measured.core_share,
        "starved": any(share is not None and share < STARVED for share in shares),
    }


def _ratio(numerator: float | None, denominator: float) -> float | None:
    """Return a ratio, or None if a number is unknown or 0."""
    return numerator / denominator if numerator and denominator else None


@dataclass(frozen=True)
class PowerLaw:
    """A law ``seconds = factor * x ** exponent``, fitted to points."""

    factor: float
    exponent: float
    spread: float
    """The typical factor between a point and the law."""
    points: int
    """The number of points."""
    min_x: float
    max_x: float

    def at(self, x: float) -> float:
        """Return the seconds at x."""
        return float(self.factor * x**self.exponent)


def search_law(rows: Sequence[Row]) -> PowerLaw | None:
    """Fit the time of a search on one CPU thread to the number of solutions of 9x9 boards.

    Return None for fewer than 3 points. Boards with fewer than MIN_SOLUTIONS are left out, because
    most of their time is start-up and the search for a first solution.
    """
    points = [
        (row["solutions"], row["median"])
        for row in rows
        if (row["method"], row["device"], row["jobs"]) == ("search", "cpu", 1)
        and (row["strategy"], row["propagate"]) == ("min", "singles")
        and (row["median"] and cells_of(row) == 81 and row["solutions"] >= MIN_SOLUTIONS)
    ]
    if len(points) < 3 or len({solutions for solutions, _ in points}) == 1:
        return None
    # A power law is a line in logarithms.
    log_solutions, log_seconds = np.log(np.array(points, float)).T
    exponent, constant = np.polyfit(log_solutions, log_seconds, 1).tolist()
    residuals = log_seconds - exponent * log_solutions - constant
    spread = float(np.exp(np.sqrt(np.mean(residuals**2))))
    min_solutions = float(min(points)[0])
    max_solutions = float(max(points)[0])
    factor = float(np.exp(constant))
    return PowerLaw(factor, exponent, spread, len(points), min_solutions, max_solutions)


def as_csv(rows: Sequence[Row]) -> str:
    """Return the rows as CSV with a line of heads."""
    text = StringIO()
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def as_json(rows: Sequence[Row], machine: dict[str, object]) -> str:
    """Return rows and machine as JSON; numbers of solutions are strings, as some exceed 2^53."""
    records = []
    for row in rows:
        if row["solutions"] is not None:
            row = {**row, "solutions": decimal_digits(row["solutions"])}
        records.append(row)
    return json.dumps({"machine": machine, "rows": records}, indent=1) + "\n"


def read_json(path: str) -> tuple[list[Row], dict[str, Any]]:
    """Read the rows and the description of the machine that ``as_json`` wrote.

    Columns that the file lacks are None.

    Raises
    ------
    InputError
        If the file cannot be read or is not such a file.
    """
    try:
        recorded = json.loads(Path(path).read_text(encoding="utf-8"))
        rows = [_read_row(record) for record in recorded["rows"]]
        machine = dict(recorded["machine"])
        heading(machine)  # raises a KeyError if a field is missing
        return mark_starved(rows), machine
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}, expected a file that can be read") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"{path}: not a result of gpusudoku bench --json") from None


def _read_row(record: dict[str, Any]) -> Row:
    """Return the row of a JSON object."""
    row: Row = {name: record.get(name) for name in COLUMNS}
    row["setting"] = record["setting"]
    row["times"] = list(record["times"])
    row["thread_utilisation"] = record.get("thread_utilisation")
    if row["solutions"] is not None:
        row["solutions"] = int(row["solutions"])
    return row
