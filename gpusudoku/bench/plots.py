"""Figures of a run, as SVG and PNG: legible in print, in grey, and for the colour-blind.

``figures_of`` says which there are; ``curves``, ``points`` and ``correlations`` draw them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from gpusudoku.bench.correlations import correlated, correlation
from gpusudoku.bench.curves import cutoff, series_of, speed_up
from gpusudoku.bench.drawing import Figures, entitle, source_of
from gpusudoku.bench.points import bars, busy, over_time
from gpusudoku.bench.summary import Row, undisturbed

SPREAD = "Marks: medians of {} runs. Thin bars: from the least to the most, where they show."
COEFFICIENTS = "Pearson's coefficients; of the search space the logarithm."
SHARES = "Marks: means of all threads and of {} runs. Thin bars: the shortest and the longest run."
MEDIANS = "Medians of {} runs."
SPACE = "Search space: the product of the numbers of candidates of all empty cells."
OVER = {
    "solutions": ("solutions", "number of solutions", []),
    "space": ("log10_space", "search space", [SPACE]),
    "size": ("cells", "number of cells", []),
}
"""What time is drawn over: the column, in words, and what must be said of it."""

Figure = tuple[str, str, Any, list[str]]
"""Name, title, figure, and what stands under it."""


def figures_of(rows: Sequence[Row], machine: dict[str, Any]) -> Figures:
    """What draws every figure for which there are rows that were not starved."""
    return partial(_entitled, undisturbed(rows), machine)


def _entitled(rows: list[Row], machine: dict[str, Any], pyplot: Any) -> Iterable[tuple[str, Any]]:
    repeats = sorted({row["runs"] for row in rows})
    words = " to ".join(str(number) for number in dict.fromkeys([*repeats[:1], *repeats[-1:]]))
    for name, title, figure, notes in _figures(rows, pyplot):
        entitle(figure, title, *(note.format(words) for note in notes), source_of(machine))
        yield name, figure


def _figures(rows: list[Row], pyplot: Any) -> Iterable[Figure]:
    cutoffs = [row for row in rows if row["cutoff"] is not None]
    if len({row["cutoff"] for row in cutoffs}) > 1:
        title = "Time of a search over its cutoff, by board and threads"
        by_space = cutoffs[0]["cutoff_by"] == "space"
        yield "cutoff", title, cutoff(rows, pyplot), [SPREAD, *([SPACE] if by_space else [])]
        return  # in other figures every board would appear several times
    searched = [row for row in rows if row["device"] == "cpu" and row["method"] == "search"]
    yield from _of_threads(searched, pyplot)
    if any(row["utilisation"] is not None for row in searched):
        title = "Share of its time for which the threads of a search were at work, by board"
        yield "utilisation", title, busy(searched, pyplot), [SHARES]
    least = min((row["jobs"] for row in rows if row["jobs"]), default=None)
    some = [row for row in rows if row["jobs"] in (None, least)]
    if len({row["solutions"] for row in some}) > 2:
        for name, (column, label, notes) in OVER.items():
            figure = over_time(some, column, label, pyplot)
            title = f"Time to count all solutions of a board, over its {label}"
            yield f"time-over-{name}", title, figure, [SPREAD, *notes]
    if {"cpu", "cuda"} <= {row["device"] for row in rows}:
        yield "devices", "Solutions counted a second, CPU and GPU", bars(rows, pyplot), [MEDIANS]


def _of_threads(rows: list[Row], pyplot: Any) -> Iterable[Figure]:
    """What compares searches on several threads with those on one."""
    numbers = sorted({row["jobs"] for row in rows})
    if len(numbers) < 2:
        return
    title = "How many times as fast a search is on several threads, by board"
    yield "speed-up", title, speed_up(rows, series_of(rows), pyplot), [SPREAD]
    for number in numbers[1:]:
        matrices = correlated(rows, series_of(rows, square=9), number)
        if matrices:
            title = f"What the speed-up on {number} threads goes with: correlations of 9x9 boards"
            figure = correlation(matrices, pyplot)
            yield f"correlation-{number}", title, figure, [MEDIANS, COEFFICIENTS, SPACE]
