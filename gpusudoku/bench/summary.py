"""From runs to rows: one row for every case."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log10
from statistics import mean, median, stdev
from typing import Any

from gpusudoku.bench.running import LEAST_SECONDS, Measured

COLUMNS = (
    "board", "clues", "empty_cells", "log10_space", "solutions", "method", "device", "jobs",
    "strategy", "propagate", "cutoff_by", "cutoff", "cutoff_reached", "runs", "median", "minimum",
    "maximum", "deviation", "speed_up", "solutions_per_second", "nodes_per_second", "utilisation",
    "got", "starved", "note",
)  # fmt: skip
"""The columns of CSV and JSON. Times are in seconds, the search space is its logarithm."""
STARVED = 0.9
"""Threads that had a core for less of their time are starved: so is what was measured."""
MOST = 1.01
"""Clocks vary by this factor. Where N threads seem more than MOST * N times as fast as one, the
run on one was slowed, though it had its core."""


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
