"""The benchmark suite: cases, measuring them in turn, and rows of results as CSV and JSON."""

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

TWICE_SECONDS = 1.0
"""Ctrl-C twice within this time ends the run, and a single one skips the current case. Any other
signal ends the run."""
MIN_SECONDS = 0.01
"""In less time it is chance whether another program is given the core."""
MIN_SHARED_SECONDS = 0.1
"""In less time the clock of idle cores, which counts hundredths of a second, says too little."""
STARVED = 0.9
"""Threads that had a core for less of their time are starved, and their times are too long."""
MOST = 1.01
"""Clocks vary by this factor. Where N threads seem more than MOST * N times as fast as one, the
run on one was slowed, though it had its core."""
MIN_SOLUTIONS = 10_000
"""A law of the search is fitted to boards with at least this many solutions."""
FOLDER = Path(gpusudoku.__file__).resolve().parents[1]
"""The folder of the checkout, if the program is used from one."""
MEASURED = ("gpusudoku", "kernels", "boards", "benchmarks", "pyproject.toml",
            ":!benchmarks/results", ":!*.md")  # fmt: skip
"""The files that can change a measurement, for git; measurements themselves write results."""
OPTIONS: dict[str, Sequence[Any]] = {
    "method": ("search",),
    "strategy": ("min",),
    "propagate": ("singles",),
    "cutoff": (None,),
    "cutoff_by": ("space",),
    "device": ("cpu",),
    "jobs": (1,),
}
"""The options that make a setting, with their values in cases that do not vary them."""
COLUMNS = (
    "board", "clues", "empty_cells", "log10_space", "solutions", "method", "device", "jobs",
    "strategy", "propagate", "cutoff_by", "cutoff", "cutoff_reached", "runs", "median", "minimum",
    "maximum", "deviation", "speed_up", "solutions_per_second", "nodes_per_second", "utilisation",
    "got", "starved", "note",
)  # fmt: skip
"""The columns of CSV and JSON. Times are in seconds, the search space is its logarithm."""


@dataclass(frozen=True)
class Subject:
    """A board to measure, and its exact number of solutions if it is known."""

    name: str
    board: Board
    count: int | None = None


@dataclass(frozen=True)
class Case:
    """A board and a setting: ``options`` are those of ``gpusudoku.count``."""

    subject: Subject
    options: dict[str, Any] = field(hash=False)

    @property
    def setting(self) -> str:
        """The options that matter to this method and device, in a few words."""
        options = self.options
        words = [str(options["method"]), str(options["device"])]
        if options["device"] == "cpu":
            words.append(f"-j {options['jobs']}")
        if options["method"] != "contraction":
            words += [str(options["strategy"]), str(options["propagate"])]
            if options["cutoff"] is not None:
                words.append(f"{options['cutoff_by']} {options['cutoff']:g}")
        return " ".join(words)


def cases_of(subjects: Iterable[Subject], **values: Sequence[Any]) -> list[Case]:
    """Return every board under every combination of values of OPTIONS that makes a difference."""
    settings: dict[str, dict[str, Any]] = {}
    for combination in product(*(OPTIONS | values).values()):
        options = dict(zip(OPTIONS, combination, strict=True))
        if options["device"] != "cpu":
            options["jobs"] = None
        settings.setdefault(Case(Subject("", Board([0])), options).setting, options)
    return [Case(subject, options) for subject in subjects for options in settings.values()]


def thread_numbers() -> tuple[int, ...]:
    """Return 1, 2, 4 ... and the number of usable cores."""
    cores = usable_cores()
    return tuple(sorted({*(1 << k for k in range(cores.bit_length()) if 1 << k < cores), cores}))


_engine_of = cache(make_engine)


def counted(case: Case) -> Count:
    """Count a case; cases of the same device and threads share an engine."""
    engine = _engine_of(device=case.options["device"], jobs=case.options["jobs"])
    return count(case.subject.board, engine=engine, **case.options)


def estimated_seconds(case: Case, patience: float) -> float:
    """Estimate the seconds of a case; infinite for one that cannot be done."""
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
        ticks = sum(int(line[4]) + int(line[5]) for line in lines if line and line[0] in cores)
        return ticks / os.sysconf("SC_CLK_TCK") if ticks else nan
    except (OSError, AttributeError):  # this is no Linux
        return nan


def share_got(
    result: Count, wall: float, processor: float, idle: float = nan, cores: int = 0
) -> float | None:
    """Return the least share of its time for which a count had its cores; None if unknown.

    ``wall``, ``processor`` and ``idle`` are seconds of these clocks during the count.
    """
    if result.device != "cpu" or wall < MIN_SECONDS:
        return None
    if result.jobs == 1 or not isinstance(result.stats, SearchStats):
        # A contraction always has work for one thread, and it is unknown when it has more.
        return processor / wall
    if isnan(idle) or wall < MIN_SHARED_SECONDS:
        return None
    # A thread that waits for boards leaves its core idle. Others took what is left, of which some
    # may have been no loss.
    taken = max(0.0, min(result.jobs, cores) * wall - processor - idle)
    return processor / (processor + taken)


@dataclass
class Measured:
    """A case and its runs, whose seconds are the engine's, without start-up and compiling."""

    case: Case
    runs: list[Count] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    """Of each run, the share of their time for which its threads had a core, if it is known."""
    note: str = ""
    """The reason to measure the case no more; empty while there is none."""
    wrong: bool = False
    """True if the reason is a wrong count."""
    warm_up_seconds: float = 0.0
    """The engine's seconds of the first run."""

    @property
    def seconds(self) -> list[float]:
        """The seconds of each run."""
        return [run.stats.seconds for run in self.runs]

    @property
    def got(self) -> float | None:
        """The median of ``shares``."""
        return median(self.shares) if self.shares else None


@dataclass
class Bench:
    """Measures cases in turn, so that a slow minute of the machine affects all of them.

    ``seconds``, if given, replaces ``repeats``: each case is run until its runs took so long in
    all. Cases that are expected to take longer than ``patience`` are left out.
    """

    cases: Sequence[Case]
    repeats: int = 3
    seconds: float | None = None
    patience: float = inf
    count: Callable[[Case], Count] = counted
    expected: Callable[[Case, float], float] = estimated_seconds
    clock: Callable[[], float] = time.perf_counter
    processor: Callable[[], float] = time.process_time
    idle: Callable[[], float] = idle_seconds
    warmed_up: Callable[[float], None] = lambda seconds: None
    """Called after the warm-up, with an estimate of the seconds of all runs."""
    interrupted: bool = False
    """True if the run was ended early."""

    def __post_init__(self) -> None:
        self.measured = [Measured(case) for case in self.cases]
        self._last_interrupt = -inf
        subjects = [case.subject for case in self.cases]
        self._counts = {
            each.name: (each.count, "known") for each in subjects if each.count is not None
        }

    def __iter__(self) -> Iterator[Measured]:
        """Measure; gives every case before and after each of its runs, the first a warm-up."""
        for warm_up in (True, False):
            while due := [each for each in self.measured if self._is_due(each, warm_up)]:
                for each in due:
                    yield each
                    if not self._run(each, warm_up):
                        return
                    yield each
                if warm_up:
                    break
            if warm_up:
                self.warmed_up(self._seconds_of_runs())

    def _seconds_of_runs(self) -> float:
        """Estimate the seconds of all runs by those of the warm-up."""
        total = 0.0
        for measured in self.measured:
            if measured.note:
                continue
            if self.seconds is None:
                total += self.repeats * measured.warm_up_seconds
            else:
                total += max(self.seconds, measured.warm_up_seconds)
        return total

    def _is_due(self, each: Measured, warm_up: bool) -> bool:
        if each.note or warm_up or not each.runs:
            return not each.note
        if self.seconds is not None:
            return sum(each.seconds) < self.seconds
        return len(each.runs) < self.repeats

    def _run(self, each: Measured, warm_up: bool) -> bool:
        """Run a case once; return False if the whole run ends."""
        try:
            if warm_up and (seconds := self.expected(each.case, self.patience)) > self.patience:
                too_long = f"left out: about {seconds:.2g} s"
                each.note = "too expensive" if isinf(seconds) else too_long
                return True
            clocks = self.clock, self.processor, self.idle
            before = [clock() for clock in clocks]
            result = self.count(each.case)
            wall, processor, idle = (
                clock() - start for clock, start in zip(clocks, before, strict=True)
            )
        except (KeyboardInterrupt, Interrupted):
            now = self.clock()
            each.note = "interrupted"
            twice = now - self._last_interrupt < TWICE_SECONDS
            self.interrupted = twice or last_interrupt() not in (None, signal.SIGINT)
            self._last_interrupt = now
            return not self.interrupted
        first = result.count, each.case.setting
        expected, whose = self._counts.setdefault(each.case.subject.name, first)
        if result.count != expected:
            each.wrong = True
            each.note = f"{result.count} solutions counted, but {expected} are right ({whose})"
        elif warm_up:
            each.warm_up_seconds = result.stats.seconds
        else:
            each.runs.append(result)
            got = share_got(result, wall, processor, idle, usable_cores())
            if got is not None:
                each.shares.append(got)
        return True


def machine() -> dict[str, object]:
    """Describe processor, cores, GPUs, system and versions, as JSON types."""
    model = platform.processor()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), model)
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


def commit(folder: Path = FOLDER) -> str | None:
    """Return the commit of a checkout, ``-dirty`` if a file in MEASURED has changed, or None."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(folder), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    if not (folder / ".git").exists():  # it is installed, perhaps inside another repository
        return None
    try:
        name = git("rev-parse", "--short=12", "HEAD")
        return f"{name}-dirty" if git("status", "--porcelain", "--", *MEASURED) else name
    except (OSError, subprocess.CalledProcessError):
        return None


def heading(described: dict[str, object]) -> str:
    """Return the line above a table: machine and date."""
    gpus = described.get("gpus")
    names = f"; {', '.join(map(str, gpus))}" if isinstance(gpus, list) and gpus else ""
    return f"{described['processor']}, {described['cores']} cores{names}, {described['date']}"


Row = dict[str, Any]
"""A case and its results: by COLUMNS, and with its ``setting``, the ``times`` of all runs, and
``thread_utilisation``, the share of the time in which each thread worked, None if unknown."""


def undisturbed(rows: Iterable[Row]) -> list[Row]:
    """Return the rows with a time that are not starved. Figures and conclusions rest on these."""
    return [row for row in rows if row["median"] is not None and not row["starved"]]


def numbers_of_runs(rows: Iterable[Row]) -> str:
    """Return how often the rows with a time were run, such as "3" or "1 to 3"."""
    numbers = sorted({row["runs"] for row in rows if row["runs"]})
    ends = dict.fromkeys([*numbers[:1], *numbers[-1:]])
    return " to ".join(map(str, ends)) or "no"


def cells_of(row: Row) -> int:
    """Return the number of cells of a row's board."""
    return row["clues"] + row["empty_cells"]  # type: ignore[no-any-return]


def rows_of(measured: Sequence[Measured]) -> list[Row]:
    """Return a row for every case; speed-ups are over the same setting on one CPU thread."""

    def but_for_jobs(each: Measured) -> str:
        return repr((each.case.subject.name, {**each.case.options, "jobs": None, "device": None}))

    alone = {
        but_for_jobs(each): each
        for each in measured
        if each.runs and (each.case.options["device"], each.case.options["jobs"]) == ("cpu", 1)
    }
    return marked([_row(each, alone.get(but_for_jobs(each))) for each in measured])


def marked(rows: list[Row]) -> list[Row]:
    """Mark the rows of a setting as starved if its run on one thread was slowed, see ``MOST``."""
    setting = itemgetter("board", "method", "strategy", "propagate", "cutoff_by", "cutoff")
    compared = [row for row in rows if row["jobs"] and row["speed_up"]]
    slowed = {
        setting(row)
        for row in compared
        if too_fast(row["speed_up"], row["jobs"]) and row["speed_up"] * row["median"] >= MIN_SECONDS
    }
    for row in rows:
        if setting(row) in slowed:
            row["starved"] = True
    return rows


def too_fast(speed_up: float, threads: int) -> bool:
    """Tell whether so many threads cannot have a speed-up, see ``MOST``."""
    return speed_up > MOST * threads


def _row(each: Measured, alone: Measured | None) -> Row:
    board = each.case.subject.board
    runs = each.runs
    row: Row = dict.fromkeys(COLUMNS)
    row |= {
        **each.case.options,
        "board": each.case.subject.name,
        "clues": board.clues,
        "empty_cells": board.empty_cells,
        "log10_space": log10(board.search_space) if board.search_space else None,
        "runs": len(runs),
        "note": each.note,
        "setting": each.case.setting,
        "times": each.seconds,
        "thread_utilisation": None,
    }
    if runs:
        first = runs[0]
        seconds = each.seconds
        middle = median(each.seconds)
        search = first.stats if isinstance(first.stats, SearchStats) else None
        nodes = search.nodes if search else 0
        one_thread = median(alone.seconds) if alone else None
        threads = zip(*(run.stats.utilisation for run in runs), strict=False)
        busy = [mean(run.stats.utilisation) for run in runs if run.stats.utilisation]
        shares = [case.got for case in (each, alone) if case is not None]
        row |= {
            "solutions": first.count,
            "method": first.method,
            "cutoff_reached": search is None or search.cutoff_reached,
            "median": middle,
            "minimum": min(seconds),
            "maximum": max(seconds),
            "deviation": stdev(seconds) if len(seconds) > 1 else 0.0,
            "speed_up": one_thread / middle if one_thread and middle else None,
            "solutions_per_second": first.count / middle if middle else None,
            "nodes_per_second": nodes / middle if middle and nodes else None,
            "utilisation": mean(busy) if len(busy) == len(runs) else None,
            "thread_utilisation": [mean(shares) for shares in threads] or None,
            "got": each.got,
            "starved": any(share is not None and share < STARVED for share in shares),
        }
    return row


@dataclass(frozen=True)
class PowerLaw:
    """seconds = factor * x ** exponent; ``spread`` is the typical factor between points and law."""

    factor: float
    exponent: float
    spread: float
    points: int
    least: float
    most: float
    """The range of x of the points."""

    def at(self, x: float) -> float:
        """Return the seconds at x."""
        return float(self.factor * x**self.exponent)


def search_law(rows: Sequence[Row]) -> PowerLaw | None:
    """Fit the time of a search on one CPU thread to the number of solutions of 9x9 boards.

    None for fewer than 3 points. With less than MIN_SOLUTIONS, most of the time goes into
    starting and into finding the first solution.
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
    logs, times = np.log(np.array(points, float)).T
    exponent, constant = np.polyfit(logs, times, 1).tolist()
    spread = float(np.exp(np.sqrt(np.mean((times - exponent * logs - constant) ** 2))))
    ends = float(min(points)[0]), float(max(points)[0])
    return PowerLaw(float(np.exp(constant)), exponent, spread, len(points), *ends)


def as_csv(rows: Sequence[Row]) -> str:
    """Return all columns as CSV, one line for every row."""
    text = StringIO()
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def as_json(rows: Sequence[Row], machine: dict[str, object]) -> str:
    """Return all columns and times as JSON; numbers of solutions are strings: some exceed 2^53."""
    records = [
        row if row["solutions"] is None else {**row, "solutions": decimal_digits(row["solutions"])}
        for row in rows
    ]
    return json.dumps({"machine": machine, "rows": records}, indent=1) + "\n"


def read_json(path: str) -> tuple[list[Row], dict[str, Any]]:
    """Read the rows and the description of the machine that ``as_json`` wrote."""
    try:
        recorded = json.loads(Path(path).read_text(encoding="utf-8"))
        rows = [
            {name: record.get(name) for name in COLUMNS}
            | {"setting": record["setting"], "times": list(record["times"])}
            | {"thread_utilisation": record.get("thread_utilisation")}
            for record in recorded["rows"]
        ]
        for row in rows:
            if row["solutions"] is not None:
                row["solutions"] = int(row["solutions"])
        described = dict(recorded["machine"])
        heading(described)  # raises if a field is missing
        return marked(rows), described
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}, expected a file that can be read") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"{path}: not a result of gpusudoku bench --json") from None
