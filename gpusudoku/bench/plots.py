"""Figures of a run, as SVG and PNG: legible in print, in grey, and for the colour-blind.

``draw`` decides which figures there are; ``curves``, ``points`` and ``correlations`` draw them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from gpusudoku.bench.correlations import correlated, correlation
from gpusudoku.bench.curves import cutoff, series_of, speed_up
from gpusudoku.bench.drawing import digest, entitle, save
from gpusudoku.bench.points import bars, busy, methods, over_time
from gpusudoku.bench.summary import Row

SPREAD = "medians; bars reach from the least to the most of {} runs"
COEFFICIENTS = "Pearson's coefficients of medians of {} runs; of the search space the logarithm"
MEANS = "means of {} runs"
OVER = {
    "solutions": ("solutions", "the number of solutions"),
    "space": ("log10_space", "the decimal logarithm of the search space"),
    "size": ("cells", "the number of cells"),
}
"""What time is drawn over: the column, and in words."""

Figure = tuple[str, str, Any, str]
"""Name, title, figure, and what it says of several runs."""


def draw(rows: Sequence[Row], folder: str, machine: dict[str, Any]) -> list[Path]:
    """Draw every figure for which there are rows that were not starved; returns the files written.

    Raises
    ------
    GpusudokuError
        If matplotlib is not installed.
    InputError
        If the folder cannot be written.
    """
    run = [row for row in rows if row["median"] is not None and not row["starved"]]
    if not run:
        return []
    return save(partial(_entitled, run, machine), folder, drawn_from(rows, machine))


def drawn_from(rows: Sequence[Row], machine: dict[str, Any]) -> str:
    """The digest of rows; columns that were added after they were recorded do not change it."""
    known = [sorted((k, v) for k, v in row.values.items() if v is not None) for row in rows]
    return digest(repr(known), repr(sorted(machine.items())))


def _entitled(rows: list[Row], machine: dict[str, Any], pyplot: Any) -> Iterable[tuple[str, Any]]:
    repeats = sorted({row["runs"] for row in rows})
    words = " to ".join(str(number) for number in dict.fromkeys([repeats[0], repeats[-1]]))
    for name, title, figure, spread in _figures(rows, pyplot):
        entitle(figure, title, machine, spread.format(words))
        yield name, figure


def _figures(rows: list[Row], pyplot: Any) -> Iterable[Figure]:
    if len({row["cutoff"] for row in rows if row["cutoff"] is not None}) > 1:
        yield "cutoff", "Time of a search over its cutoff", cutoff(rows, pyplot), SPREAD
        return  # in other figures every board would appear several times
    searched = [row for row in rows if row["device"] == "cpu" and row["method"] == "search"]
    threads = sorted({row["jobs"] for row in searched})
    if len(threads) > 1:
        figure = speed_up(searched, series_of(searched), pyplot)
        yield "speed-up", "Speed-up of the search over threads", figure, SPREAD
        for number in threads[1:]:
            matrices = correlated(searched, series_of(searched, square=9), number)
            if matrices:
                title = f"Correlations on {number} threads, 9x9 boards by series"
                yield f"correlation-{number}", title, correlation(matrices, pyplot), COEFFICIENTS
    if any(row["utilisation"] is not None for row in searched):
        title = "Share of the time in which the threads of a search were at work"
        yield "utilisation", title, busy(searched, pyplot), MEANS
    least = min((row["jobs"] for row in rows if row["jobs"]), default=None)
    some = [row for row in rows if row["jobs"] in (None, least)]
    if len({row["solutions"] for row in some}) > 2:
        for name, (column, label) in OVER.items():
            figure = over_time(some, column, label, pyplot)
            yield f"time-over-{name}", f"Time over {label}", figure, SPREAD
    if {"search", "contraction"} <= {row["method"] for row in some}:
        yield "methods", "Search and contraction", methods(some, pyplot), SPREAD
    if {"cpu", "cuda"} <= {row["device"] for row in rows}:
        yield "devices", "Solutions a second on CPU and GPU", bars(rows, pyplot), SPREAD
