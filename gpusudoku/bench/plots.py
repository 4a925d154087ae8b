"""Figures of a run, as SVG and PNG: legible in print, in grey, and for the colour-blind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from gpusudoku.bench.model import search_law
from gpusudoku.bench.summary import Row
from gpusudoku.errors import GpusudokuError, InputError

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#999999"]
"""The palette of Okabe and Ito, whose colours the colour-blind can tell apart."""
MARKERS = "osD^vPX*"
STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "figure.constrained_layout.use": True,
    "svg.hashsalt": "gpusudoku",  # the same figure is the same file
}

VARIABLES = {
    "empty cells": "empty_cells",
    "log10 search space": "log10_space",
    "solutions": "solutions",
    "threads": "jobs",
    "time, 1 thread": "alone",
    "time": "median",
    "speed-up": "speed_up",
}
"""The variables of the correlation matrices, as label and name."""


def require() -> None:
    """Check that figures can be drawn.

    Raises
    ------
    GpusudokuError
        If matplotlib is not installed.
    """
    if find_spec("matplotlib") is None:
        raise GpusudokuError("--plot needs matplotlib (the extra 'bench', as in '.[bench]')")


def draw(rows: Sequence[Row], folder: str) -> list[Path]:
    """Draw every figure for which there are rows; returns the files written.

    Raises
    ------
    GpusudokuError
        If matplotlib is not installed.
    InputError
        If the folder cannot be written.
    """
    require()
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot

    run = [row for row in rows if row["median"] is not None]
    written = []
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        with mpl.rc_context(STYLE):
            for name, figure in _figures(run, pyplot):
                for kind in ("svg", "png"):
                    path = Path(folder, f"{name}.{kind}")
                    figure.savefig(path, dpi=150, metadata={"Date": None} if kind == "svg" else {})
                    written.append(path)
                pyplot.close(figure)
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}, expected a folder to write to") from None
    return written


def _figures(rows: list[Row], pyplot: Any) -> Iterable[tuple[str, Any]]:
    if len({row["cutoff"] for row in rows if row["cutoff"] is not None}) > 1:
        yield "cutoff", _lines(rows, "cutoff", _cutoff_label(rows), pyplot)
        return  # in other figures every board would appear several times
    searched = [row for row in rows if row["device"] == "cpu" and row["method"] == "search"]
    threads = sorted({row["jobs"] for row in searched})
    if len(threads) > 1:
        yield "speed-up", _speed_up(searched, threads, pyplot)
        complete = _with_time_alone(searched)
        if _vary(complete):
            yield "correlation", _correlation(complete, "all data", pyplot)
        for number in threads[1:]:
            some = [values for values in complete if values["jobs"] == number]
            if _vary(some):
                yield f"correlation-{number}", _correlation(some, f"{number} threads", pyplot)
    if len({row["solutions"] for row in rows}) > 2:
        yield "time-over-solutions", _points(rows, "solutions", "solutions", pyplot)
        yield "time-over-space", _points(rows, "log10_space", "search space, log10", pyplot)
    if {"search", "contraction"} <= {row["method"] for row in rows}:
        yield "methods", _methods(rows, pyplot)
    if {"cpu", "cuda"} <= {row["device"] for row in rows}:
        yield "devices", _bars(rows, pyplot)


def _axes(pyplot: Any, x: str, y: str, wide: float = 6.4) -> tuple[Any, Any]:
    figure, axes = pyplot.subplots(figsize=(wide, 4.4))
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    return figure, axes


def _style(number: int) -> dict[str, Any]:
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}


def _legend(axes: Any) -> None:
    """Put the legend beside the plot, where it hides nothing."""
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=9)


def _series(rows: list[Row]) -> dict[str, list[str]]:
    """The names of boards by series: ``1a`` is of series 1. The others form one if they are few."""
    series: dict[str, list[str]] = {}
    for name in dict.fromkeys(row["board"] for row in rows):
        series.setdefault(f"series {name[0]}" if len(name) == 2 else "boards", []).append(name)
    others = series.pop("boards", [])
    if others and (not series or len(others) <= len(COLOURS)):
        series["boards"] = others[: len(COLOURS)]
    return series


def _speed_up(rows: list[Row], threads: list[int], pyplot: Any) -> Any:
    """Plot the speed-up against threads, with a panel for every series of boards."""
    series = _series(rows)
    figure, panels = pyplot.subplots(
        1, len(series), figsize=(1.2 + 3.6 * len(series), 4.4), sharey=True, squeeze=False
    )
    for axes, (title, names) in zip(panels[0], series.items(), strict=True):
        for number, name in enumerate(names):
            points = sorted(
                (row["jobs"], row["speed_up"])
                for row in rows
                if row["board"] == name and row["speed_up"] is not None
            )
            axes.plot(*zip(*points, strict=True), label=name, **_style(number))
        axes.plot(threads, threads, "--", color="black", linewidth=1, label="linear")
        axes.set_title(title)
        axes.set_xlabel("CPU threads")
        axes.set_xticks(threads)
        axes.legend(frameon=False, fontsize=9, ncols=2)
    panels[0][0].set_ylabel("speed-up over 1 thread")
    return figure


def _with_time_alone(rows: list[Row]) -> list[dict[str, float]]:
    """The values to correlate, of every row that has all of them."""
    alone = {(r["board"], r.setting.split(" -j ")[0]): r["median"] for r in rows if r["jobs"] == 1}
    found = []
    for row in rows:
        before = alone.get((row["board"], row.setting.split(" -j ")[0]))
        values = {name: row.values.get(name) for name in VARIABLES.values()} | {"alone": before}
        known = {name: float(value) for name, value in values.items() if value is not None}
        if len(known) == len(values):
            found.append(known)
    return found


def _vary(points: list[dict[str, float]]) -> bool:
    """Whether there are enough different points to correlate."""
    return len(points) > 2 and len({tuple(point.values()) for point in points}) > 2


def _correlation(points: list[dict[str, float]], title: str, pyplot: Any) -> Any:
    """Plot Pearson's correlation coefficient of every two variables that vary."""
    names = [
        label for label, name in VARIABLES.items() if len({point[name] for point in points}) > 1
    ]
    values = np.array([[point[VARIABLES[label]] for label in names] for point in points])
    matrix = np.corrcoef(values, rowvar=False)
    figure, axes = pyplot.subplots(figsize=(6.4, 5.6))
    axes.grid(False)
    image = axes.imshow(matrix, cmap="PuOr", vmin=-1, vmax=1)
    axes.set_xticks(range(len(names)), names, rotation=35, ha="right")
    axes.set_yticks(range(len(names)), names)
    for i, j in np.ndindex(matrix.shape):
        colour = "white" if abs(matrix[i, j]) > 0.6 else "black"
        axes.text(j, i, f"{matrix[i, j]:.2f}", ha="center", va="center", color=colour, fontsize=9)
    axes.set_title(f"Correlation, {title} ({len(points)} points)")
    figure.colorbar(image, shrink=0.8)
    return figure


def _cutoff_label(rows: list[Row]) -> str:
    by = next(row["cutoff_by"] for row in rows if row["cutoff"] is not None)
    return "cutoff, empty cells" if by == "empty" else "cutoff, search space"


def _lines(rows: list[Row], column: str, label: str, pyplot: Any) -> Any:
    """Plot the time against a column, with a line for every board and number of threads."""
    figure, axes = _axes(pyplot, label, "time, s", wide=7.6)
    groups: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        if row[column] is not None:
            threads = f", -j {row['jobs']}" if row["jobs"] else ", GPU"
            groups.setdefault(row["board"] + threads, []).append((row[column], row["median"]))
    for number, (name, points) in enumerate(groups.items()):
        axes.plot(*zip(*sorted(points), strict=True), label=name, **_style(number))
    if label.endswith("space"):
        axes.set_xscale("log")
    axes.set_yscale("log")
    _legend(axes)
    return figure


def _methods(rows: list[Row], pyplot: Any) -> Any:
    """Plot the time of both methods against solutions, with the law of the search."""
    threads = max(row["jobs"] or 0 for row in rows)
    some = [row for row in rows if row["jobs"] in (None, threads) and row["solutions"]]
    figure = _points(some, "solutions", "solutions", pyplot)
    axes = figure.axes[0]
    law = search_law(rows)
    if law is not None:
        x = np.geomspace(1e4, 1e10, 50)
        text = f"search, 1 thread:\n{law.factor:.2g} s x solutions^{law.exponent:.2f}"
        axes.plot(x, law.at(x), "--", color="black", linewidth=1, label=text)
        _legend(axes)
    return figure


def _points(rows: list[Row], column: str, label: str, pyplot: Any) -> Any:
    """Plot the time against a column, both logarithmic, with a marker for every setting."""
    figure, axes = _axes(pyplot, label, "time, s", wide=8.4)
    groups: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        if row[column]:
            groups.setdefault(row.setting, []).append((float(row[column]), row["median"]))
    for number, (name, points) in enumerate(groups.items()):
        axes.plot(*zip(*points, strict=True), linestyle="", label=name, **_style(number))
    if column != "log10_space":
        axes.set_xscale("log")
    axes.set_yscale("log")
    _legend(axes)
    return figure


def _bars(rows: list[Row], pyplot: Any) -> Any:
    """Plot solutions a second on GPUs and on the CPU, board by board."""
    names = list(dict.fromkeys(row["board"] for row in rows))
    figure, axes = _axes(pyplot, "", "solutions a second", wide=2 + 0.5 * len(names))
    for number, device in enumerate(("cpu", "cuda")):
        best = [
            max((r["solutions_per_second"] or 0 for r in rows
                 if (r["board"], r["device"]) == (name, device)), default=0)
            for name in names
        ]  # fmt: skip
        axes.bar(np.arange(len(names)) + 0.4 * number, best, 0.4, label=device,
                 color=COLOURS[number], hatch=("", "//")[number])  # fmt: skip
    axes.set_xticks(np.arange(len(names)) + 0.2, names, rotation=60)
    axes.set_yscale("log")
    _legend(axes)
    return figure
