"""Figures with a point for every board: time, and how busy threads were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpusudoku.bench.drawing import COLOURS, beside, key, log_axis
from gpusudoku.bench.model import search_law
from gpusudoku.bench.summary import Row

SIZES = {"smaller than 9x9": "v", "9x9": "o", "larger than 9x9": "^"}
"""The markers of boards by their size."""


def size_of(row: Row) -> str:
    """A key of SIZES."""
    smaller, nine, larger = SIZES
    number = row["clues"] + row["empty_cells"]
    return nine if number == 81 else smaller if number < 81 else larger


def over_time(rows: Sequence[Row], column: str, label: str, pyplot: Any) -> Any:
    """Draw the time against a column: a colour for every setting, a marker for every size."""
    figure, axes = pyplot.subplots(figsize=(8.8, 4.8))
    _points(axes, rows, column)
    axes.set(xlabel=label, ylabel="time")
    return figure


def methods(rows: Sequence[Row], pyplot: Any) -> Any:
    """Draw the time of both methods against solutions, with the law of the search on one thread.

    The law is dashed where it goes on beyond the boards to which it was fitted, and left out
    where the rows are of more threads.
    """
    figure, axes = pyplot.subplots(figsize=(8.8, 4.8))
    handles = _points(axes, rows, "solutions")
    law = search_law(rows)
    if law is not None:
        for x, line in (([law.least, law.most], "-"), ([law.most, 1e4 * law.most], "--")):
            axes.plot(x, law.at(x), line, color="black", linewidth=1)
        text = f"{law.factor:.2g} s x solutions^{law.exponent:.2f}"
        handles += [
            key(f"fitted to 9x9 boards:\n{text}", color="black", linestyle="-"),
            key("the same, extrapolated", color="black", linestyle="--"),
        ]
        beside(axes, handles)
    axes.set(xlabel="the number of solutions", ylabel="time")
    return figure


def busy(rows: Sequence[Row], pyplot: Any) -> Any:
    """Draw the share of the time in which threads were at work, against the time of the run."""
    figure, axes = pyplot.subplots(figsize=(8.8, 4.2))
    known = [row for row in rows if row["utilisation"] is not None]
    threads = sorted({row["jobs"] for row in known})
    for row in known:
        colour = COLOURS[threads.index(row["jobs"]) % len(COLOURS)]
        axes.plot(row["median"], row["utilisation"], SIZES[size_of(row)], color=colour,
                  markersize=5, alpha=0.8)  # fmt: skip
    log_axis(axes.xaxis, [row["median"] for row in known], seconds=True)
    axes.set(xlabel="time of the run", ylabel="mean over threads", ylim=(0, 1.05))
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    words = [f"{number} thread{'s' * (number > 1)}" for number in threads]
    beside(axes, [*_colours(words), *_shapes(known)])
    return figure


def _points(axes: Any, rows: Sequence[Row], column: str) -> list[Any]:
    """Draw points and spreads with their legend; returns its entries."""
    known = [row for row in rows if value_of(row, column)]
    settings = list(dict.fromkeys(row.setting for row in known))
    for row in known:
        number, x = settings.index(row.setting), float(value_of(row, column))
        colour = COLOURS[number % len(COLOURS)]
        axes.plot([x, x], [row["minimum"], row["maximum"]], color=colour, linewidth=0.8)
        axes.plot(x, row["median"], SIZES[size_of(row)], color=colour, markersize=5, alpha=0.8)
    if column != "log10_space":
        log_axis(axes.xaxis, [float(value_of(row, column)) for row in known])
    log_axis(axes.yaxis, [row["median"] for row in known], seconds=True)
    handles = [*_colours(settings), *_shapes(known)]
    beside(axes, handles)
    return handles


def value_of(row: Row, column: str) -> Any:
    """A column of a row, or its number of cells."""
    return row["clues"] + row["empty_cells"] if column == "cells" else row[column]


def _colours(words: Sequence[str]) -> list[Any]:
    return [key(word, color=COLOURS[i % len(COLOURS)], marker="o") for i, word in enumerate(words)]


def _shapes(rows: Sequence[Row]) -> list[Any]:
    """The entries of the sizes that there are; none if they are all the same."""
    there = {size_of(row) for row in rows}
    shown = [name for name in SIZES if name in there]
    return [key(name, color="0.5", marker=SIZES[name]) for name in shown] if shown[1:] else []


def bars(rows: Sequence[Row], pyplot: Any) -> Any:
    """Draw solutions a second on GPUs and on the CPU, board by board."""
    names = list(dict.fromkeys(row["board"] for row in rows))
    figure, axes = pyplot.subplots(figsize=(2 + 0.5 * len(names), 4.8))
    for number, device in enumerate(("cpu", "cuda")):
        best = [
            max((r["solutions_per_second"] or 0 for r in rows
                 if (r["board"], r["device"]) == (name, device)), default=0)
            for name in names
        ]  # fmt: skip
        axes.bar(np.arange(len(names)) + 0.4 * number, best, 0.4, label=device,
                 color=COLOURS[number], hatch=("", "//")[number])  # fmt: skip
    axes.set_xticks(np.arange(len(names)) + 0.2, names, rotation=60)
    axes.set(yscale="log", ylabel="solutions a second, best setting")
    beside(axes)
    return figure
