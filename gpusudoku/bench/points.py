"""Figures with a point for every board: time, and how busy threads were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpusudoku.bench.curves import namer, threads
from gpusudoku.bench.drawing import COLOURS, WIDTH, above, key, log_axis, set_log, short
from gpusudoku.bench.model import PowerLaw, search_law
from gpusudoku.bench.summary import Row

SIZES = {"smaller than 9x9": "v", "9x9": "o", "larger than 9x9": "^"}
"""The markers of boards by their size."""
FILLS = ["full", "none", "left", "bottom"]
FURTHER = 1e3
"""So many times as many solutions as any board to which it was fitted has is a law drawn for."""


def size_of(row: Row) -> str:
    """A key of SIZES."""
    smaller, nine, larger = SIZES
    number = row["clues"] + row["empty_cells"]
    return nine if number == 81 else smaller if number < 81 else larger


def over_time(rows: Sequence[Row], column: str, label: str, pyplot: Any) -> Any:
    """Draw the time against a column: colour and filling for a setting, a marker for a size.

    Over solutions, the law of the search on one thread is drawn as well: dashed where it goes on
    beyond the boards to which it was fitted, and left out where the rows are of more threads.
    """
    figure, axes = pyplot.subplots(figsize=(WIDTH, 5.4))
    known = [row for row in rows if value_of(row, column)]
    said = namer(known, ["method", "jobs"])
    settings = list(dict.fromkeys(said(row) for row in known))
    for row in known:
        x, looks = float(value_of(row, column)), _looks(settings.index(said(row)))
        axes.plot([x, x], [row["minimum"], row["maximum"]], color=looks["color"], linewidth=0.8)
        axes.plot(x, row["median"], SIZES[size_of(row)], **looks)
    law = search_law(rows) if column == "solutions" else None
    handles = [*_settings(settings), *_shapes(known)]
    times = [row["median"] for row in known]
    if law is not None:
        handles += _law(axes, law)
        times.append(float(law.at(FURTHER * law.most)))
    if column == "log10_space":
        axes.xaxis.set_major_formatter(lambda power, _: f"$10^{{{power:g}}}$")
    else:
        log_axis(axes.xaxis, [float(value_of(row, column)) for row in known])
    log_axis(axes.yaxis, times, seconds=True)
    axes.set(xlabel=label, ylabel="time")
    above(axes, handles, 2)
    return figure


def _law(axes: Any, law: PowerLaw) -> list[Any]:
    """Draw a law; returns its entries of the legend."""
    text = rf"{short(float(f'{law.factor:.2g}'))} s x solutions$^{{{law.exponent:.2f}}}$"
    labels = {"-": f"{text},\nfitted to 9x9 boards", "--": "the same law beyond them"}
    ends = {"-": (law.least, law.most), "--": (law.most, FURTHER * law.most)}
    for line, x in ends.items():
        axes.plot(x, law.at(x), line, color="black", linewidth=1)
    return [key(label, color="black", linestyle=line) for line, label in labels.items()]


def busy(rows: Sequence[Row], pyplot: Any) -> Any:
    """Draw the share of the time in which threads were at work, against the time of the run."""
    figure, axes = pyplot.subplots(figsize=(WIDTH, 4.8))
    known = [row for row in rows if row["utilisation"] is not None]
    numbers = sorted({row["jobs"] for row in known})
    for row in known:
        looks, share = _looks(numbers.index(row["jobs"])), row["utilisation"]
        ends = [row["minimum"], row["maximum"]]
        axes.plot(ends, [share, share], color=looks["color"], linewidth=0.8)
        axes.plot(row["median"], share, SIZES[size_of(row)], **looks)
    log_axis(axes.xaxis, [row["median"] for row in known], seconds=True)
    axes.set(xlabel="time of the search", ylabel="share of it at work", ylim=(-0.03, 1.05))
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    above(axes, [*_settings([threads(number) for number in numbers]), *_shapes(known)], 3)
    return figure


def value_of(row: Row, column: str) -> Any:
    """A column of a row, or its number of cells."""
    return row["clues"] + row["empty_cells"] if column == "cells" else row[column]


def _looks(number: int) -> dict[str, Any]:
    """Colour and filling of a setting, told apart in grey, too."""
    fill = FILLS[number % len(FILLS)]
    return {"color": COLOURS[number % len(COLOURS)], "fillstyle": fill, "markersize": 5}


def _settings(words: Sequence[str]) -> list[Any]:
    return [key(word, **_looks(number), marker="o") for number, word in enumerate(words)]


def _shapes(rows: Sequence[Row]) -> list[Any]:
    """The entries of the sizes that there are; none if they are all the same."""
    there = {size_of(row) for row in rows}
    shown = [name for name in SIZES if name in there]
    return [key(name, color="0.5", marker=SIZES[name]) for name in shown] if shown[1:] else []


def bars(rows: Sequence[Row], pyplot: Any) -> Any:
    """Draw solutions a second on GPUs and on the CPU, board by board."""
    names = list(dict.fromkeys(row["board"] for row in rows))
    figure, axes = pyplot.subplots(figsize=(max(WIDTH, 0.3 * len(names)), 4.8))
    for number, device in enumerate(("cpu", "cuda")):
        best = [
            max((r["solutions_per_second"] or 0 for r in rows
                 if (r["board"], r["device"]) == (name, device)), default=0)
            for name in names
        ]  # fmt: skip
        axes.bar(np.arange(len(names)) + 0.4 * number, best, 0.4, label=device,
                 color=COLOURS[number], hatch=("", "//")[number])  # fmt: skip
    axes.set_xticks(np.arange(len(names)) + 0.2, names, rotation=60)
    axes.set(xlabel="board", ylabel="solutions a second, best setting")
    set_log(axes.yaxis, [10.0**power for power in range(16)], short)
    above(axes, axes.containers, 2)
    return figure
