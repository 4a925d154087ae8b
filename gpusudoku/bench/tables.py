"""From runs to rows, one for every case, and a law fitted to them; rows as text, and read back."""

from __future__ import annotations

import csv
import json
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from io import StringIO
from math import log10
from pathlib import Path
from statistics import mean, median, stdev
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpusudoku.bench.machine import heading
from gpusudoku.bench.running import LEAST_SECONDS, Measured
from gpusudoku.errors import InputError
from gpusudoku.results import decimal_digits

COLUMNS = (
    "board", "clues", "empty_cells", "log10_space", "solutions", "method", "device", "jobs",
    "strategy", "propagate", "cutoff_by", "cutoff", "cutoff_reached", "runs", "median", "minimum",
    "maximum", "deviation", "speed_up", "solutions_per_second", "nodes_per_second", "utilisation",
    "got", "starved", "note",
)  # fmt: skip
"""The columns of CSV and JSON. Times are in seconds, the search space is its logarithm."""
LEAST_SOLUTIONS = 10_000
"""A law of the search is fitted to boards with at least this many solutions."""
STARVED = 0.9
"""Threads that had a core for less of their time are starved: so is what was measured."""
MOST = 1.01
"""Clocks vary by this factor. Where N threads seem more than MOST * N times as fast as one, the
run on one was slowed, though it had its core."""
SHOWN = {
    "board": 18, "solutions": 12, "setting": 40, "median": 10, "min": 10, "max": 10, "dev": 8,
    "speed-up": 8, "solutions/s": 11, "nodes/s": 10, "busy": 6,
    "got": 6,
}  # fmt: skip
"""The columns on a terminal, by their widths.

``busy`` is the share of the time in which the threads worked, and ``got`` the share of that for
which they had a core."""
EVERY_SECONDS = 0.2
MARGIN = 4
"""The number of lines of the terminal that stay free."""


@dataclass(frozen=True)
class Row:
    """A case and its results."""

    values: dict[str, Any]
    """The values by ``COLUMNS``; None where there is none."""
    setting: str
    times: tuple[float, ...]
    """The seconds of every run."""

    def __getitem__(self, column: str) -> Any:
        return self.values[column]


def undisturbed(rows: Iterable[Row]) -> list[Row]:
    """Return the rows with a time that are not starved. Figures and conclusions rest on these."""
    return [row for row in rows if row["median"] is not None and not row["starved"]]


def rows_of(measured: Sequence[Measured]) -> list[Row]:
    """One row for every case, in order.

    The speed-up is relative to the same setting on one CPU thread, if that was measured, too. A
    row is starved if its threads, or that one, had to wait for cores; see also ``marked``.
    """
    alone = {
        _without_jobs(each): each
        for each in measured
        if each.runs and (each.case.options["device"], each.case.options["jobs"]) == ("cpu", 1)
    }
    return marked([_row(each, alone.get(_without_jobs(each))) for each in measured])


def marked(rows: list[Row]) -> list[Row]:
    """Mark the rows of a setting as starved if its run on one thread was slowed, see ``MOST``."""
    columns = ("board", "method", "strategy", "propagate", "cutoff_by", "cutoff")
    settings = [tuple(row[name] for name in columns) for row in rows]
    slowed = {setting for setting, row in zip(settings, rows, strict=True) if _too_fast(row)}
    for setting, row in zip(settings, rows, strict=True):
        if setting in slowed:
            row.values["starved"] = True
    return rows


def _too_fast(row: Row) -> bool:
    """Say whether the threads of a row cannot be so fast, beside a run that can be judged."""
    faster = row["speed_up"] or 0.0
    judged = faster * (row["median"] or 0.0) >= LEAST_SECONDS
    return judged and row["jobs"] is not None and too_fast(faster, row["jobs"])


def too_fast(speed_up: float, threads: int) -> bool:
    """Say whether so many threads cannot have a speed-up, see ``MOST``."""
    return speed_up > MOST * threads


def _without_jobs(each: Measured) -> tuple[Any, ...]:
    options = each.case.options
    names = ("method", "strategy", "propagate", "cutoff_by", "cutoff")
    return (each.case.subject.name, *(options[name] for name in names))


def _got(each: Measured) -> float | None:
    """The share of their time for which threads had a core, in the median run."""
    known = [run.got for run in each.runs if run.got is not None]
    return median(known) if known else None


def _row(each: Measured, alone: Measured | None) -> Row:
    subject, options, runs = each.case.subject, each.case.options, each.runs
    board = subject.board
    values: dict[str, Any] = dict.fromkeys(COLUMNS)
    values |= {
        "board": subject.name,
        "clues": board.clues,
        "empty_cells": board.empty_cells,
        "log10_space": log10(board.search_space) if board.search_space else None,
        "runs": len(runs),
        "note": each.note,
        **{name: options[name] for name in COLUMNS if name in options},
    }
    if runs:
        seconds = [run.seconds for run in runs]
        middle = median(seconds)
        one_thread = median(run.seconds for run in alone.runs) if alone else None
        shares = [_got(case) for case in (each, alone) if case is not None]
        values |= {
            "solutions": runs[0].count,
            "method": runs[0].method,
            "cutoff_reached": runs[0].cutoff_reached,
            "median": middle,
            "minimum": min(seconds),
            "maximum": max(seconds),
            "deviation": stdev(seconds) if len(seconds) > 1 else 0.0,
            "speed_up": one_thread / middle if one_thread and middle else None,
            "solutions_per_second": runs[0].count / middle if middle else None,
            "nodes_per_second": runs[0].nodes / middle if middle and runs[0].nodes else None,
            "utilisation": mean(mean(run.utilisation) for run in runs)
            if all(run.utilisation for run in runs)
            else None,
            "got": _got(each),
            "starved": any(share is not None and share < STARVED for share in shares),
        }
    return Row(values, each.case.setting, tuple(run.seconds for run in runs))


def cells_of(row: Row) -> int:
    """Return the number of cells of a row's board."""
    return row["clues"] + row["empty_cells"]  # type: ignore[no-any-return]


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

    def at(self, x: ArrayLike) -> NDArray[np.float64]:
        """Return the seconds at x, float64 of the same shape."""
        seconds: NDArray[np.float64] = self.factor * np.asarray(x, float) ** self.exponent
        return seconds


def power_law(x: ArrayLike, seconds: ArrayLike) -> PowerLaw | None:
    """Fit a straight line to the logarithms, by least squares; None for fewer than 3 points."""
    logs, times = np.log(np.asarray(x, float)), np.log(np.asarray(seconds, float))
    if len(logs) < 3 or np.ptp(logs) == 0:
        return None
    exponent, constant = np.polyfit(logs, times, 1)
    spread = np.exp(np.sqrt(np.mean((times - exponent * logs - constant) ** 2)))
    ends = float(np.min(x)), float(np.max(x))
    return PowerLaw(float(np.exp(constant)), float(exponent), float(spread), len(logs), *ends)


def search_law(rows: Sequence[Row]) -> PowerLaw | None:
    """Fit the time of a search on one CPU thread to the number of solutions of 9x9 boards.

    Only boards with LEAST_SOLUTIONS or more count: with fewer, most of the time goes into starting
    and into finding the first solution.
    """
    points = [
        (row["solutions"], row["median"])
        for row in rows
        if (row["method"], row["device"], row["jobs"]) == ("search", "cpu", 1)
        and row["median"]
        and row["solutions"] >= LEAST_SOLUTIONS
        and cells_of(row) == 81
        and (row["strategy"], row["propagate"]) == ("min", "singles")
    ]
    return power_law(*zip(*points, strict=True)) if points else None


def head() -> str:
    """The heading on a terminal."""
    return "  ".join(_cell(name, width) for name, width in SHOWN.items())


def line(row: Row) -> str:
    """A row on a terminal."""
    texts = [
        row["board"],
        _number(row["solutions"]),
        row.setting,
        *(_seconds(row[name]) for name in ("median", "minimum", "maximum", "deviation")),
        "" if row["speed_up"] is None else f"{row['speed_up']:.2f}{'?' * bool(row['starved'])}",
        _rate(row["solutions_per_second"]),
        _rate(row["nodes_per_second"]),
        *("" if row[name] is None else f"{row[name]:.1%}" for name in ("utilisation", "got")),
    ]
    cells = [_cell(text, width) for text, width in zip(texts, SHOWN.values(), strict=True)]
    note = row["note"] or ("starved" if row["starved"] else "")
    return "  ".join([*cells, note]).rstrip()


def as_csv(rows: Sequence[Row]) -> str:
    """All columns as CSV, one line for every row."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow("" if row[name] is None else row[name] for name in COLUMNS)
    return text.getvalue()


def as_json(rows: Sequence[Row], machine: dict[str, object]) -> str:
    """All columns and the time of every run as JSON, with the description of the machine.

    The number of solutions is a string, because it may exceed 2^53.
    """
    records = []
    for row in rows:
        solutions = None if row["solutions"] is None else decimal_digits(row["solutions"])
        record = {**row.values, "solutions": solutions}
        records.append({**record, "setting": row.setting, "times": row.times})
    return json.dumps({"machine": machine, "rows": records}, indent=1) + "\n"


def read_json(path: str) -> tuple[list[Row], dict[str, Any]]:
    """Read the rows and the description of the machine that ``as_json`` wrote.

    Raises
    ------
    InputError
        If the file cannot be read, or was not written by ``as_json``.
    """
    try:
        recorded = json.loads(Path(path).read_text(encoding="utf-8"))
        rows = []
        for record in recorded["rows"]:
            setting, times = record.pop("setting"), tuple(record.pop("times"))
            if record["solutions"] is not None:
                record["solutions"] = int(record["solutions"])
            rows.append(Row({name: record.get(name) for name in COLUMNS}, setting, times))
        described = dict(recorded["machine"])
        heading(described)  # complains if a field is missing
        return marked(rows), described
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}, expected a file that can be read") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"{path}: not a result of gpusudoku bench --json") from None


def _cell(text: str, width: int) -> str:
    return text.ljust(width) if width > 12 else text.rjust(width)


def _number(value: int | None) -> str:
    if value is None:
        return ""
    return f"{value:,}" if value < 10**9 else f"{Decimal(value):.3e}"


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.3g} s"


def _rate(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


class LiveTable:
    """A table that is shown on a terminal only; ``close`` removes it."""

    def __init__(
        self,
        measured: Sequence[Measured],
        terminal: IO[str],
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._measured, self._terminal, self._clock = measured, terminal, clock
        self._on = terminal.isatty()
        self._shown = 0
        self._next = 0.0

    def show(self, current: Measured) -> None:
        """Show the rows around a case, unless it is too soon after the last time."""
        if not self._on or self._clock() < self._next:
            return
        self._next = self._clock() + EVERY_SECONDS
        size = shutil.get_terminal_size()
        room = max(1, size.lines - MARGIN)
        at = self._measured.index(current)
        start = max(0, min(at - room // 2, len(self._measured) - room))
        rows = rows_of(self._measured)[start : start + room]
        lines = [f"  {head()}"]
        for number, row in enumerate(rows, start=start):
            lines.append(("> " if number == at else "  ") + line(row))
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
