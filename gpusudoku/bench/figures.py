"""Figures of a run, as SVG and PNG: legible in print, in grey, and for the colour-blind.

``figures_of`` draws those that a run has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import cycle, product
from math import ceil, floor, log10
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpusudoku.bench.suite import (
    Row,
    cells_of,
    heading,
    numbers_of_runs,
    search_law,
    undisturbed,
)
from gpusudoku.errors import InputError
from gpusudoku.plot_style import STYLE, require_matplotlib

Place = Callable[[Row, Sequence[float]], tuple[Sequence[float], Sequence[float]]]
Titled = tuple[str, str, Any, list[str]]
"""Name, title, figure, and the notes under it."""

WIDTH = 6.8
"""Inches. So narrow that letters can still be read where a figure is as wide as a telephone."""
SINGLE = 5.4
"""The width of a figure with one panel in a grid, in inches."""
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#999999"]
"""The palette of Okabe and Ito, whose colours the colour-blind can tell apart."""
MARKERS = "osD^vPX*"
LINES = ["-", "--", "-.", ":"]
GPU_LINE = (0, (6, 1.5, 1, 1.5, 1, 1.5))
"""A dash and two dots, unlike LINES."""
FILLS = ["full", "none", "left", "bottom"]
SIZES = {"smaller than 9x9": "v", "9x9": "o", "larger than 9x9": "^"}
"""The markers of boards by their size."""
SPREAD = "Marks: medians of {} runs. Thin bars: from the least to the most, where they show."
COEFFICIENTS = "Pearson's coefficients; of the search space the logarithm."
SHARES = "Marks: means of all threads and of {} runs. Thin bars: the shortest and the longest run."
MEANS = "Means of {} runs."
MEDIANS = "Medians of {} runs."
SPACE = "Search space: the product of the numbers of candidates of all empty cells."
SETTING = ("method", "jobs", "strategy", "propagate")
OVER = {
    "solutions": ("solutions", "number of solutions", []),
    "space": ("log10_space", "search space", [SPACE]),
    "size": ("cells", "number of cells", []),
}
"""The quantities over which time is drawn: their column, label and notes, by name."""
VARIABLES = {
    "search space": "log10_space",
    "empty cells": "empty_cells",
    "solutions": "solutions",
    "time, 1 core": "alone",
    "time": "median",
    "speed-up": "speed_up",
}
"""The columns that are correlated, by their labels; of the search space the logarithm."""
FEWEST = 4
"""Correlations of fewer boards say nothing."""
FURTHER = 1e3
"""A law is drawn up to this multiple of the most solutions to which it was fitted."""
DOUBLINGS = [2.0**power for power in range(-10, 11)]
OTHERS = "boards"
"""The title of the boards of no series."""
MAX_OTHERS = 8
"""The most boards of no series that are drawn beside those of series."""


def figures_of(rows: Sequence[Row], machine: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Draw every figure for which there are rows that were not starved, with its name."""
    rows = undisturbed(rows)
    words = numbers_of_runs(rows)
    for name, title, figure, notes in _figures(rows):
        entitle(figure, title, *(note.format(words) for note in notes), source_of(machine))
        yield name, figure


def _figures(rows: list[Row]) -> Iterator[Titled]:
    cutoffs = [row for row in rows if row["cutoff"] is not None]
    if len({row["cutoff"] for row in cutoffs}) > 1:
        title = "Time of a search over its cutoff, by board and threads"
        notes = [SPREAD, SPACE] if cutoffs[0]["cutoff_by"] == "space" else [SPREAD]
        yield "cutoff", title, cutoff(cutoffs), notes
        return  # in other figures every board would appear several times
    if len({row["jobs"] for row in rows}) > 1:
        title = "Time to count all solutions, by board and device"
        yield "time", title, by_board(rows), [SPREAD]
    searches = [row for row in rows if row["method"] == "search"]
    searched = [row for row in searches if row["device"] == "cpu"]
    on_gpu = [row for row in searches if row["device"] != "cpu"]
    numbers = sorted({row["jobs"] for row in searched})
    if len(numbers) > 1:
        title = "How many times as fast a search is on several threads, by board"
        yield "speed-up", title, speed_up(searched, on_gpu), [SPREAD]
    for number in numbers[1:]:
        matrices = correlated(searched, number)
        if matrices:
            title = f"What the speed-up on {number} threads goes with: correlations of 9x9 boards"
            notes = [MEDIANS, COEFFICIENTS, SPACE]
            yield f"correlation-{number}", title, correlation(matrices), notes
    known = [row for row in searched if row["utilisation"] is not None]
    if known:
        title = "Share of its time for which the threads of a search were at work, by board"
        yield "utilisation", title, busy(known), [SHARES]
    by_thread = [row for row in known if row["jobs"] == numbers[-1] and row["thread_utilisation"]]
    if by_thread and numbers[-1] > 1:
        title = "Share of the time of a search for which each thread was at work, by board"
        yield "threads", title, busy_threads(by_thread), [MEANS]
    if len({row["solutions"] for row in searches}) > 2:
        title = "Solutions that a search finds a second, over the number of solutions"
        yield "rate-over-solutions", title, over_rate(searches), [SPREAD]
    least = min((row["jobs"] for row in rows if row["jobs"]), default=None)
    some = [row for row in rows if row["jobs"] in (None, least)]
    if len({row["solutions"] for row in some}) > 2:
        for name, (column, label, notes) in OVER.items():
            title = f"Time to count all solutions of a board, over its {label}"
            yield f"time-over-{name}", title, over_time(some, column, label), [SPREAD, *notes]


def each(figures: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Let an iterator draw figures in our style."""
    require_matplotlib()
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        yield from figures


def save(
    figures: Iterable[tuple[str, Any]], folder: str, describe: Callable[[Any], str] | None = None
) -> list[Path]:
    """Write figures as SVG, with a description if there is one, and PNG; return the files."""
    written = []
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, figure in each(figures):
            description = None if describe is None else describe(figure)
            metadata = {"svg": {"Date": None, "Description": description}, "png": {}}
            for kind, words in metadata.items():
                path = Path(folder, f"{name}.{kind}")
                figure.savefig(path, dpi=150, metadata=words)
                written.append(path)
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}, expected a folder to write to") from None
    return written


def source_of(machine: dict[str, Any]) -> str:
    """Name the machine, the date and the commit of a measurement."""
    return heading(machine) + (f", commit {machine['commit']}" if machine.get("commit") else "")


def entitle(figure: Any, title: str, *notes: str) -> None:
    """Put a title over a figure, and under it what its marks mean and where the data come from."""
    width = figure.get_size_inches()[0]
    figure.suptitle(fill(title, int(12 * width)))  # so many letters fit into an inch
    below = [fill(line, int(15 * width)) for line in notes]
    figure.supxlabel("\n".join(below), fontsize=8, color="0.3")


def style(number: int) -> dict[str, Any]:
    """Return colour and marker of a line."""
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}


def above(axes: Any, handles: Sequence[Any], columns: int, title: str = "") -> None:
    """Put the legend above the plot, where it hides nothing."""
    axes.legend(
        handles=handles, ncols=columns, title=title, loc="lower center", bbox_to_anchor=(0.5, 1.0),
        columnspacing=0.9, handlelength=1.7, handletextpad=0.5,
    )  # fmt: skip


def key(label: str, **looks: Any) -> Any:
    """Return an entry of a legend that explains a colour, a marker or a line by itself."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **({"linestyle": ""} | looks))


def panel(height: float) -> tuple[Any, Any]:
    """Return a new figure with one panel, and its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height))
    return figure, figure.subplots()


def grid_of(panels: int, height: float) -> tuple[Any, list[Any]]:
    """Return a new figure of panels with the same axes, two beside each other, each so high."""
    from matplotlib.figure import Figure

    columns = min(panels, 2)
    rows = -(-panels // columns)
    figure = Figure(figsize=(WIDTH if columns > 1 else SINGLE, height * rows + 0.9))
    axes = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    for unused in axes.flat[panels:]:
        unused.set_visible(False)
    for lowest in axes.flat[:panels][-columns:]:
        lowest.tick_params(labelbottom=True)
    return figure, list(axes.flat[:panels])


def log_axis(axis: Any, values: Iterable[float], seconds: bool = False) -> None:
    """Make an axis logarithmic, with ticks that can be read however few decades it covers."""
    some = [value for value in values if value > 0]
    ticks = []
    if some:  # round numbers beyond both ends, at most some ten
        decades = log10(max(some) / min(some))
        steps = (1, 1.5, 2, 3, 5, 7) if decades < 1 else (1, 2, 5) if decades < 3 else (1,)
        stride = next(stride for stride in (1, 2, 3, 5, 10, 20, 50, 100) if decades <= 8 * stride)
        first = stride * (floor(log10(min(some)) / stride) - 1)
        powers = range(first, ceil(log10(max(some))) + stride + 1, stride)
        ticks = [step * 10.0**power for power in powers for step in steps]
    set_log(axis, ticks, duration if seconds else short)


def set_log(axis: Any, ticks: Sequence[float], label: Callable[[float], str]) -> None:
    """Make an axis logarithmic, with these ticks; those beyond its ends are not drawn."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

    axis._set_axes_scale("log")
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_major_formatter(FuncFormatter(lambda value, _: label(value)))
    axis.set_minor_formatter(NullFormatter())


def short(value: float) -> str:
    """Return a number with few digits, as a power of ten if it is long."""
    if 1e-3 < value < 1e5:
        return f"{value:g}"
    power = floor(log10(value) + 1e-9)
    factor = value / 10.0**power
    return rf"$10^{{{power}}}$" if abs(factor - 1) < 1e-9 else rf"${factor:g}\cdot10^{{{power}}}$"


def duration(seconds: float) -> str:
    """Return seconds in the unit that needs the fewest digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= 0.9995 * size:
            return f"{seconds / size:g} {unit}"
    return f"{seconds / 1e-6:g} µs"


def threads(number: int | None) -> str:
    """Return a number of threads in words; only a GPU has none."""
    return "GPU" if number is None else f"{number} thread{'s' * (number > 1)}"


def series_of(rows: Iterable[Row]) -> dict[str, list[str]]:
    """Return the names of boards by series: ``1a`` is of series 1, and others are one if few."""
    series: dict[str, list[str]] = {}
    for name in dict.fromkeys(row["board"] for row in rows):
        series.setdefault(f"series {name[0]}" if len(name) == 2 else OTHERS, []).append(name)
    others = series.pop(OTHERS, [])
    if others and (not series or len(others) <= MAX_OTHERS):
        series[OTHERS] = others[:MAX_OTHERS]
    return series


def _legend_columns(title: str, columns: int) -> int:
    """Return the number of columns of a panel's legend: names of boards of no series are long."""
    return 2 if title == OTHERS else columns


def _names(rows: Sequence[Row], *always: str, columns: Sequence[str] = SETTING) -> list[str]:
    """Name the setting of each row by the columns in ``always`` and those that differ."""
    searched = [row for row in rows if row["method"] != "contraction"]
    said = [name for name in columns if name in always or len({row[name] for row in searched}) > 1]
    return [
        ", ".join(
            threads(row["jobs"]) if name == "jobs" else str(row[name])
            for name in said
            if row["method"] != "contraction" or name in ("method", "jobs")
        )
        for row in rows
    ]


def _lines(rows: Sequence[Row], names: Sequence[str], x: str) -> dict[tuple[str, str], list[Row]]:
    """Return the rows of each board and setting, in the order of a column."""
    lines: dict[tuple[str, str], list[Row]] = {}
    for row, name in sorted(zip(rows, names, strict=True), key=lambda pair: pair[0][x]):
        lines.setdefault((row["board"], name), []).append(row)
    return lines


def _dashes(names: Iterable[str]) -> tuple[dict[str, str], list[Any]]:
    """Return a kind of line for each setting, and their keys; none if there is one setting."""
    dashes = dict(zip(dict.fromkeys(names), cycle(LINES), strict=False))
    keys = [key(name, color="black", linestyle=dash) for name, dash in dashes.items()]
    return dashes, keys if len(keys) > 1 else []


def speed_up_axes(axes: Any, cores: Sequence[float], speed_ups: Iterable[float]) -> Any:
    """Make both axes logarithmic, and draw the line of N times on N; returns its key."""
    some = [value for value in speed_ups if value > 0]
    set_log(axes.xaxis, cores if len(cores) < 6 else DOUBLINGS, short)
    if max(some, default=1) < 8 * min(some, default=1):
        log_axis(axes.yaxis, some)
    else:
        set_log(axes.yaxis, DOUBLINGS, short)
    axes.minorticks_off()
    looks: dict[str, Any] = {"color": "0.4", "linestyle": ":", "linewidth": 1.5}
    ends = [min(cores), max(cores)]
    axes.plot(ends, ends, **looks)
    return key("linear", **looks)


def speed_up(rows: Sequence[Row], on_gpu: Sequence[Row] = ()) -> Any:
    """Draw the speed-up against threads: a panel for every series, a line for every setting.

    Those of a GPU are horizontal lines.
    """
    series = series_of(rows)
    figure, panels = grid_of(len(series), 3.1)
    setting_names = _names([*rows, *on_gpu], columns=("strategy", "propagate"))
    lines = _lines(rows, setting_names[: len(rows)], "jobs")
    gpu_lines = _lines(on_gpu, setting_names[len(rows) :], "solutions")
    dashes, keys = _dashes(setting_names)
    numbers = sorted({row["jobs"] for row in rows})
    speed_ups = [row["speed_up"] for row in (*rows, *on_gpu) if row["speed_up"]]
    range_of_y = [*numbers, *speed_ups]
    for axes, (title, names) in zip(panels, series.items(), strict=True):
        linear = speed_up_axes(axes, numbers, range_of_y)
        for (number, board), (setting, dash) in product(enumerate(names), dashes.items()):
            if some := [row for row in lines.get((board, setting), ()) if row["speed_up"]]:
                middle = np.array([row["speed_up"] for row in some])
                # The spread of the times, as a spread of the speed-up:
                alone = middle * [row["median"] for row in some]
                least = alone / [row["maximum"] for row in some]
                most = alone / [row["minimum"] for row in some]
                spread = np.maximum(0.0, [middle - least, most - middle])
                looks = {**style(number), "linestyle": dash, "markersize": 5, "linewidth": 1.2,
                         "elinewidth": 0.8, "capsize": 2}  # fmt: skip
                axes.errorbar([row["jobs"] for row in some], middle, yerr=spread, **looks)
            for row in gpu_lines.get((board, setting), ()):
                if row["speed_up"]:
                    ends = [numbers[0], numbers[-1]]
                    looks = {**style(number), "linestyle": GPU_LINE, "markersize": 5}
                    axes.plot(ends, [row["speed_up"]] * 2, linewidth=1.2, **looks)
        handles = [key(board, **style(i), linestyle="-") for i, board in enumerate(names)]
        if on_gpu:
            handles.append(key("GPU", color="black", linestyle=GPU_LINE))
        columns = _legend_columns(title, 3 if on_gpu else 5)
        above(axes, [*handles, linear, *keys], columns, title)
    for axes in panels[-2:]:
        axes.set_xlabel("threads")
    for axes in panels[::2]:
        axes.set_ylabel("speed-up over 1 thread")
    return figure


def cutoff(rows: Sequence[Row]) -> Any:
    """Draw the time against the cutoff; points are hollow where boards were not split that far."""
    figure, axes = panel(5.4)
    by_empty = rows[0]["cutoff_by"] == "empty"
    said = _names(rows, "jobs")
    sizes = {row["board"]: _size(row, by_empty) for row in rows}
    lines = _lines(rows, said, "cutoff")
    dashes = dict(zip(dict.fromkeys(said), cycle(LINES), strict=False))
    for (number, board), (setting, dash) in product(enumerate(sizes), dashes.items()):
        points = lines.get((board, setting), [])
        looks = style(number)
        for point in points:
            x = point["cutoff"]
            hollow = point["cutoff_reached"] is False
            ends = [point["minimum"], point["maximum"]]
            axes.plot([x, x], ends, color=looks["color"], linewidth=0.8)
            axes.plot(x, point["median"], **looks, fillstyle="none" if hollow else "full")
        middle = [point["median"] for point in points]
        axes.plot([point["cutoff"] for point in points], middle, dash, color=looks["color"])
    if not by_empty:
        log_axis(axes.xaxis, [row["cutoff"] for row in rows])
    log_axis(axes.yaxis, [row["median"] for row in rows], seconds=True)
    what = "has so few empty cells" if by_empty else "has so small a search space"
    axes.set(xlabel=f"cutoff: boards are split until each {what}", ylabel="time of the search")
    handles = [key(f"{board}: {sizes[board]}", **style(i)) for i, board in enumerate(sizes)]
    handles += [key(name, color="black", linestyle=dash) for name, dash in dashes.items()]
    if any(row["cutoff_reached"] is False for row in rows):
        not_reached = "hollow: not reached, for want of memory"
        handles.append(key(not_reached, color="black", marker="o", fillstyle="none"))
    above(axes, handles, 2)
    return figure


def _size(row: Row, by_empty: bool) -> str:
    """Return the size of a whole board, as a cutoff measures it."""
    if by_empty:
        return f"{row['empty_cells']} empty cells"
    exponent, rest = divmod(row["log10_space"] or 0.0, 1)
    return rf"search space ${10**rest:.0f}\cdot10^{{{exponent:.0f}}}$"


def _points(axes: Any, rows: Sequence[Row], names: Sequence[str], at: Place) -> list[Any]:
    """Draw a mark with a bar for each row at its x and y; return the entries of their legend."""
    settings = list(dict.fromkeys(names))
    sizes = set()
    looks = [
        {"color": colour, "fillstyle": filling, "markersize": 5}
        for colour, filling, _ in zip(cycle(COLOURS), cycle(FILLS), settings, strict=False)
    ]
    smaller, nine, larger = SIZES
    for row, name in zip(rows, names, strict=True):
        cells = cells_of(row)
        own = looks[settings.index(name)]
        size = nine if cells == 81 else smaller if cells < 81 else larger
        sizes.add(size)
        ends = at(row, [row["minimum"], row["maximum"]])
        axes.plot(*ends, color=own["color"], linewidth=0.8)
        axes.plot(*at(row, [row["median"]]), SIZES[size], **own)
    keys = [key(name, **own, marker="o") for name, own in zip(settings, looks, strict=True)]
    several = [size for size in SIZES if size in sizes and len(sizes) > 1]
    return keys + [key(size, color="0.5", marker=SIZES[size]) for size in several]


def over_time(rows: Sequence[Row], column: str, label: str) -> Any:
    """Draw the time against a column; over solutions with the law of the search on one thread."""
    figure, axes = panel(5.4)

    def value(row: Row) -> float:
        return float(cells_of(row) if column == "cells" else row[column] or 0.0)

    known = [row for row in rows if value(row)]
    handles = _points(
        axes, known, _names(known, "method", "jobs"), lambda row, y: ([value(row)] * len(y), y)
    )
    times = [row["median"] for row in known]
    law = search_law(rows) if column == "solutions" else None
    if law is not None:
        text = rf"{short(float(f'{law.factor:.2g}'))} s x solutions$^{{{law.exponent:.2f}}}$"
        for line, words, ends in (
            ("-", f"{text},\nfitted to 9x9 boards", [law.least, law.most]),
            ("--", "the same law beyond them", [law.most, FURTHER * law.most]),
        ):
            axes.plot(ends, [*map(law.at, ends)], line, color="black", linewidth=1)
            handles.append(key(words, color="black", linestyle=line))
        times.append(law.at(FURTHER * law.most))
    if column == "log10_space":
        axes.xaxis.set_major_formatter(lambda power, _: f"$10^{{{power:g}}}$")
    else:
        log_axis(axes.xaxis, map(value, known))
    log_axis(axes.yaxis, times, seconds=True)
    axes.set(xlabel=label, ylabel="time")
    above(axes, handles, 2)
    return figure


def over_rate(rows: Sequence[Row]) -> Any:
    """Draw the solutions a second of every setting against the number of solutions."""
    figure, axes = panel(5.4)

    def place(row: Row, seconds: Sequence[float]) -> tuple[Sequence[float], Sequence[float]]:
        rates = [row["solutions"] / time for time in seconds]
        return [row["solutions"]] * len(rates), rates

    rows = [row for row in rows if row["solutions_per_second"]]
    handles = _points(axes, rows, _names(rows, "method", "jobs"), place)
    log_axis(axes.xaxis, [row["solutions"] for row in rows])
    log_axis(axes.yaxis, [row["solutions_per_second"] for row in rows])
    axes.set(xlabel="number of solutions", ylabel="solutions a second")
    above(axes, handles, 2)
    return figure


def by_board(rows: Sequence[Row]) -> Any:
    """Draw the time of every setting, on a line of the figure for each board."""
    boards = [board for names in series_of(rows).values() for board in names]
    lines = {board: line for line, board in enumerate(boards)}
    rows = [row for row in rows if row["board"] in lines]
    figure, axes = panel(2 + 0.22 * len(boards))

    def place(row: Row, seconds: Sequence[float]) -> tuple[Sequence[float], Sequence[float]]:
        return seconds, [lines[row["board"]]] * len(seconds)

    handles = _points(axes, rows, _names(rows, "method", "jobs"), place)
    log_axis(axes.xaxis, [row["median"] for row in rows], seconds=True)
    axes.set_yticks(range(len(boards)), boards)
    axes.set_ylim(len(boards) - 0.5, -0.5)  # the first board is at the top
    axes.set_xlabel("time")
    above(axes, handles, 2)
    return figure


def busy(rows: Sequence[Row]) -> Any:
    """Draw the share of the time in which threads were at work, against the time of the run."""
    figure, axes = panel(4.8)
    rows = sorted(rows, key=lambda row: row["jobs"])
    names = [threads(row["jobs"]) for row in rows]
    handles = _points(axes, rows, names, lambda row, x: (x, [row["utilisation"]] * len(x)))
    log_axis(axes.xaxis, [row["median"] for row in rows], seconds=True)
    axes.set(xlabel="time of the search", ylabel="share of it at work", ylim=(-0.03, 1.05))
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    above(axes, handles, 3)
    return figure


def busy_threads(rows: Sequence[Row]) -> Any:
    """Draw the share of the time in which each thread was at work: a panel for every series."""
    from matplotlib.ticker import MaxNLocator

    series = series_of(rows)
    figure, panels = grid_of(len(series), 2.6)
    names = _names(rows, columns=("strategy", "propagate"))
    lines = _lines(rows, names, "solutions")
    dashes, keys = _dashes(names)
    for axes, (title, boards) in zip(panels, series.items(), strict=True):
        for (number, board), (setting, dash) in product(enumerate(boards), dashes.items()):
            for row in lines.get((board, setting), ()):
                shares = row["thread_utilisation"]
                looks = {**style(number), "linestyle": dash, "markersize": 5, "linewidth": 1.2}
                axes.plot(range(1, len(shares) + 1), shares, **looks)
        axes.set_ylim(-0.03, 1.05)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
        handles = [key(board, **style(i)) for i, board in enumerate(boards)]
        above(axes, [*handles, *keys], _legend_columns(title, 4), title)
    for axes in panels[-2:]:
        axes.set_xlabel("thread")
    for axes in panels[::2]:
        axes.set_ylabel("share of time at work")
    return figure


def matrix(points: Sequence[Mapping[str, float]]) -> NDArray[np.float64]:
    """Return Pearson's coefficients of VARIABLES, float64 (6, 6); nan where one never varies."""
    values = np.array([[point[name] for name in VARIABLES.values()] for point in points], float)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: NDArray[np.float64] = np.corrcoef(values, rowvar=False)
    return found


def correlated(rows: Sequence[Row], number: int) -> dict[str, NDArray[np.float64]]:
    """Return the matrix of every series with enough boards of 9x9, on a number of threads."""
    columns = ("board", "strategy", "propagate")
    alone = {tuple(row[n] for n in columns): row["median"] for row in rows if row["jobs"] == 1}
    nine = [row for row in rows if cells_of(row) == 81]
    matrices = {}
    for title, names in series_of(nine).items():
        points = [
            row | {"alone": alone.get(tuple(row[n] for n in columns))}
            for row in nine
            if row["jobs"] == number and row["board"] in names
        ]
        points = [point for point in points if None not in map(point.get, VARIABLES.values())]
        if len(points) >= FEWEST:
            matrices[f"{title}, {len(points)} boards"] = matrix(points)
    return matrices


def correlation(matrices: Mapping[str, ArrayLike]) -> Any:
    """Draw matrices, two beside each other."""
    figure, panels = grid_of(len(matrices), 2.9)
    names = list(VARIABLES)
    for axes, (title, values) in zip(panels, matrices.items(), strict=True):
        table = np.asarray(values)
        axes.grid(False)
        axes.imshow(table, cmap="PuOr", vmin=-1, vmax=1)
        axes.set_xticks(range(len(names)), names, rotation=35, ha="right")
        axes.set_yticks(range(len(names)), names)
        axes.set_title(title)
        for i, j in np.ndindex(table.shape):
            value = table[i, j]
            axes.text(j, i, "" if np.isnan(value) else f"{value:.2f}", ha="center", va="center",
                      color="white" if abs(value) > 0.6 else "black", fontsize=9)  # fmt: skip
    return figure
