"""Figures of a run, as SVG and PNG: legible in print, in grey, and for the colour-blind.

``figures_of`` says which figures a run has. Each of them is drawn by a function, with axes, legends
and colours as ``shares --plot`` and ``benchmarks/`` have them, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from importlib.util import find_spec
from itertools import product
from math import ceil, floor, log10
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpusudoku.bench.machine import heading
from gpusudoku.bench.tables import Row, cells_of, search_law, undisturbed
from gpusudoku.errors import GpusudokuError, InputError, not_installed

Figure = tuple[str, str, Any, list[str]]
"""Name, title, figure, and what stands under it."""

WIDTH = 6.8
"""Inches. So narrow that letters can still be read where a figure is as wide as a telephone."""
SINGLE = 5.4
"""The width of a figure with one panel in a grid, in inches."""
LARGE_LETTERS, SMALL_LETTERS = 12, 15
"""So many letters of a title, and of a note, fit into an inch."""
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#999999"]
"""The palette of Okabe and Ito, whose colours the colour-blind can tell apart."""
MARKERS = "osD^vPX*"
LINES = ["-", "--", "-.", ":"]
FILLS = ["full", "none", "left", "bottom"]
SIZES = {"smaller than 9x9": "v", "9x9": "o", "larger than 9x9": "^"}
"""The markers of boards by their size."""
STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.titlesize": 10,
    "figure.titlesize": 11,
    "figure.constrained_layout.use": True,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "legend.title_fontsize": 10,
    "svg.hashsalt": "gpusudoku",  # the same figure is the same file
}

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
VARIABLES = {
    "search space": "log10_space",
    "empty cells": "empty_cells",
    "solutions": "solutions",
    "time, 1 core": "alone",
    "time": "median",
    "speed-up": "speed_up",
}
"""What is correlated, as label and name; of the search space the logarithm."""
FEWEST = 4
"""Correlations of fewer boards say nothing."""
FURTHER = 1e3
"""So many times as many solutions as any board to which it was fitted has is a law drawn for."""
DOUBLINGS = [2.0**power for power in range(-10, 11)]
MOST_OTHERS = 8
"""So many boards of no series are drawn beside those of series, and no more."""


def figures_of(rows: Sequence[Row], machine: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Draw every figure for which there are rows that were not starved, with its name."""
    rows = undisturbed(rows)
    repeats = sorted({row["runs"] for row in rows})
    words = " to ".join(str(number) for number in dict.fromkeys([*repeats[:1], *repeats[-1:]]))
    for name, title, figure, notes in _figures(rows):
        entitle(figure, title, *(note.format(words) for note in notes), source_of(machine))
        yield name, figure


def _figures(rows: list[Row]) -> Iterator[Figure]:
    cutoffs = [row for row in rows if row["cutoff"] is not None]
    if len({row["cutoff"] for row in cutoffs}) > 1:
        title = "Time of a search over its cutoff, by board and threads"
        notes = [SPREAD, SPACE] if cutoffs[0]["cutoff_by"] == "space" else [SPREAD]
        yield "cutoff", title, cutoff(cutoffs), notes
        return  # in other figures every board would appear several times
    searched = [row for row in rows if row["device"] == "cpu" and row["method"] == "search"]
    numbers = sorted({row["jobs"] for row in searched})
    if len(numbers) > 1:
        title = "How many times as fast a search is on several threads, by board"
        yield "speed-up", title, speed_up(searched, series_of(searched)), [SPREAD]
    for number in numbers[1:]:
        matrices = correlated(searched, number)
        if matrices:
            title = f"What the speed-up on {number} threads goes with: correlations of 9x9 boards"
            notes = [MEDIANS, COEFFICIENTS, SPACE]
            yield f"correlation-{number}", title, correlation(matrices), notes
    if any(row["utilisation"] is not None for row in searched):
        title = "Share of its time for which the threads of a search were at work, by board"
        yield "utilisation", title, busy(searched), [SHARES]
    least = min((row["jobs"] for row in rows if row["jobs"]), default=None)
    some = [row for row in rows if row["jobs"] in (None, least)]
    if len({row["solutions"] for row in some}) > 2:
        for name, (column, label, notes) in OVER.items():
            title = f"Time to count all solutions of a board, over its {label}"
            yield f"time-over-{name}", title, over_time(some, column, label), [SPREAD, *notes]
    if {"cpu", "cuda"} <= {row["device"] for row in rows}:
        yield "devices", "Solutions counted a second, CPU and GPU", bars(rows), [MEDIANS]


def require() -> None:
    """Raise a GpusudokuError if matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        raise GpusudokuError(not_installed("--plot", "matplotlib", "bench"))


def each(figures: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Let an iterator draw figures in our style, and close each before the next."""
    require()
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot

    with mpl.rc_context(STYLE):
        for name, figure in figures:
            yield name, figure
            pyplot.close(figure)


def save(figures: Iterable[tuple[str, Any]], folder: str) -> list[Path]:
    """Write figures as SVG and PNG, and return the files; an SVG has the ``fingerprint``."""
    written = []
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, figure in each(figures):
            metadata = {"svg": {"Date": None, "Description": fingerprint(figure)}, "png": {}}
            for kind, words in metadata.items():
                path = Path(folder, f"{name}.{kind}")
                figure.savefig(path, dpi=150, metadata=words)
                written.append(path)
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}, expected a folder to write to") from None
    return written


def fingerprint(figure: Any) -> str:
    """Return a digest of data, looks and texts, the same for all versions of matplotlib."""
    shown = [f"title {figure.get_suptitle()}; {figure.get_supxlabel()}"]
    for number, axes in enumerate(figure.axes):
        shown += [f"{number} {artist}" for artist in _artists(axes)]
    return f"shows {sha256(repr(sorted(shown)).encode()).hexdigest()[:16]}"


def _artists(axes: Any) -> Iterator[str]:
    """Describe every text, line, area and matrix."""

    def looks(line: Any) -> list[Any]:
        return [line.get_color(), line.get_linestyle(), line.get_marker(), line.get_fillstyle(),
                line.get_alpha()]  # fmt: skip

    def rounded(points: Any) -> list[list[str]]:  # other versions of NumPy add in another order
        return [[f"{value + 0:.6g}" for value in row] for row in np.asarray(points, float)]

    labels = [axes.get_title(), axes.get_xlabel(), axes.get_ylabel()]
    yield f"axes {labels} {axes.get_xscale()} {axes.get_yscale()}"
    yield from (f"text {text.get_text()}" for text in axes.texts)
    for line in axes.lines:
        yield f"line {looks(line)} {rounded(line.get_xydata())}"
    for area in axes.collections:  # in which order an area's outline goes depends on the version
        points = np.concatenate([path.vertices for path in area.get_paths()])
        colours = rounded(area.get_facecolor()), rounded(area.get_edgecolor())
        yield f"area {colours} {area.get_hatch()} {sorted(set(map(tuple, rounded(points))))}"
    for box in axes.patches:
        yield f"box {rounded([box.get_facecolor(), box.get_bbox().bounds])}"
    for image in axes.images:
        values = np.ma.filled(image.get_array(), np.nan)
        yield f"matrix {image.get_cmap().name} {image.get_clim()} {rounded(values)}"
    if axes.get_legend():
        yield from (f"legend {text.get_text()}" for text in axes.get_legend().get_texts())
        yield from (f"legend {looks(line)}" for line in axes.get_legend().get_lines())


def source_of(machine: dict[str, Any]) -> str:
    """Name the machine, the date and the commit of a measurement."""
    commit = f", commit {machine['commit']}" if machine.get("commit") else ""
    return f"{heading(machine)}{commit}"


def entitle(figure: Any, title: str, *notes: str) -> None:
    """Put a title over a figure, and under it what its marks mean and where the data come from."""
    width = figure.get_size_inches()[0]
    figure.suptitle(fill(title, int(LARGE_LETTERS * width)))
    below = [fill(line, int(SMALL_LETTERS * width)) for line in notes]
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


def panel(height: float, width: float = WIDTH) -> tuple[Any, Any]:
    """Return a new figure with one panel, and its axes."""
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(width, height))


def grid_of(panels: int, height: float) -> tuple[Any, list[Any]]:
    """Return a new figure of panels with the same axes, two beside each other, each so high."""
    from matplotlib import pyplot

    columns = min(panels, 2)
    rows = -(-panels // columns)
    size = (WIDTH if columns > 1 else SINGLE, height * rows + 0.9)
    figure, axes = pyplot.subplots(
        rows, columns, figsize=size, squeeze=False, sharex=True, sharey=True
    )
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


def series_of(rows: Sequence[Row], square: int | None = None) -> dict[str, list[str]]:
    """Return the names of boards by series: ``1a`` is of series 1; others form one if they are few.

    With ``square`` only boards with that many rows and columns.
    """
    series: dict[str, list[str]] = {}
    for row in rows:
        if square is None or cells_of(row) == square**2:
            name = row["board"]
            names = series.setdefault(f"series {name[0]}" if len(name) == 2 else "boards", [])
            if name not in names:
                names.append(name)
    others = series.pop("boards", [])
    if others and (not series or len(others) <= MOST_OTHERS):
        series["boards"] = others[:MOST_OTHERS]
    return series


def _way(row: Row) -> tuple[Any, ...]:
    """Return the setting of a row but for its threads and its cutoff."""
    search = row["method"] != "contraction"
    return row["method"], row["device"], *((row["strategy"], row["propagate"]) if search else ())


def _names(rows: Sequence[Row], always: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Name the setting of each row: columns that are ``always`` said, and those that differ."""
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


def _settings(rows: Sequence[Row], *always: str) -> list[str]:
    return _names(rows, always, ("method", "jobs", "strategy", "propagate"))


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


def label_speed_ups(panels: Sequence[Any], cores: str) -> None:
    """Name the axes of panels, two beside each other."""
    for axes in panels[-2:]:
        axes.set_xlabel(f"{cores}s")
    for axes in panels[::2]:
        axes.set_ylabel(f"speed-up over 1 {cores}")


def speed_up(rows: Sequence[Row], series: dict[str, list[str]]) -> Any:
    """Draw the speed-up against threads: a panel for every series, a line for every setting."""
    figure, panels = grid_of(len(series), 3.1)
    ways = list(dict.fromkeys(_way(row) for row in rows))
    numbers = sorted({row["jobs"] for row in rows})
    known = sorted((row for row in rows if row["speed_up"]), key=lambda row: row["jobs"])
    settings = dict.fromkeys(_names(rows, [], ("method", "strategy", "propagate")))
    dashes = [key(name, color="black", linestyle=LINES[i % 4]) for i, name in enumerate(settings)]
    for axes, (title, names) in zip(panels, series.items(), strict=True):
        linear = speed_up_axes(axes, numbers, [*numbers, *(row["speed_up"] for row in known)])
        handles = []
        for number, name in enumerate(names):
            for line, setting in enumerate(ways):
                some = [row for row in known if (row["board"], _way(row)) == (name, setting)]
                if some:
                    middle = np.array([row["speed_up"] for row in some])
                    # What the spread of the times makes of it:
                    alone = middle * [row["median"] for row in some]
                    least = alone / [row["maximum"] for row in some]
                    most = alone / [row["minimum"] for row in some]
                    spread = np.maximum(0.0, [middle - least, most - middle])
                    looks = {**style(number), "linestyle": LINES[line % 4], "markersize": 5,
                             "linewidth": 1.2, "elinewidth": 0.8, "capsize": 2}  # fmt: skip
                    axes.errorbar([row["jobs"] for row in some], middle, yerr=spread, **looks)
            handles.append(key(name, **style(number), linestyle="-"))
        above(axes, [*handles, linear, *(dashes if len(ways) > 1 else [])], 5, title)
    label_speed_ups(panels, "thread")
    return figure


def cutoff(rows: Sequence[Row]) -> Any:
    """Draw the time against the cutoff: a colour for every board, a line for every setting.

    Points are hollow where boards could not be split that far.
    """
    figure, axes = panel(5.4)
    by_empty = rows[0]["cutoff_by"] == "empty"
    said = _settings(rows, "jobs")
    boards, lines = (list(dict.fromkeys(x)) for x in ([row["board"] for row in rows], said))
    for (number, name), (dash, line) in product(enumerate(boards), enumerate(lines)):
        points = sorted(
            (r for r, s in zip(rows, said, strict=True) if (r["board"], s) == (name, line)),
            key=lambda row: row["cutoff"],
        )
        looks = style(number)
        for point in points:
            x = point["cutoff"]
            fill_style = "none" if point["cutoff_reached"] is False else "full"
            axes.plot([x, x], [point["minimum"], point["maximum"]], color=looks["color"],
                      linewidth=0.8)  # fmt: skip
            axes.plot(x, point["median"], **looks, fillstyle=fill_style)
        axes.plot([p["cutoff"] for p in points], [p["median"] for p in points],
                  color=looks["color"], linestyle=LINES[dash % 4])  # fmt: skip
    if not by_empty:
        log_axis(axes.xaxis, [row["cutoff"] for row in rows])
    log_axis(axes.yaxis, [row["median"] for row in rows], seconds=True)
    what = "has so few empty cells" if by_empty else "has so small a search space"
    axes.set(xlabel=f"cutoff: boards are split until each {what}", ylabel="time of the search")
    sizes = {row["board"]: _size(row, by_empty) for row in rows}
    handles = [key(f"{name}: {sizes[name]}", **style(i)) for i, name in enumerate(boards)]
    handles += [key(line, color="black", linestyle=LINES[i % 4]) for i, line in enumerate(lines)]
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


def _marker(row: Row) -> str:
    """Return a key of SIZES."""
    smaller, nine, larger = SIZES
    return nine if cells_of(row) == 81 else smaller if cells_of(row) < 81 else larger


def _point(number: int) -> dict[str, Any]:
    """Return colour and filling of a setting, told apart in grey, too."""
    fill_style = FILLS[number % len(FILLS)]
    return {"color": COLOURS[number % len(COLOURS)], "fillstyle": fill_style, "markersize": 5}


def _point_keys(settings: Sequence[str], rows: Sequence[Row]) -> list[Any]:
    """Return entries for the settings, and for the sizes unless they are all the same."""
    keys = [key(word, **_point(number), marker="o") for number, word in enumerate(settings)]
    sizes = [name for name in SIZES if name in {_marker(row) for row in rows}]
    return keys + [key(s, color="0.5", marker=SIZES[s]) for s in sizes if len(sizes) > 1]


def over_time(rows: Sequence[Row], column: str, label: str) -> Any:
    """Draw the time against a column: colour and filling for a setting, a marker for a size.

    Over solutions, the law of the search on one thread is drawn as well: dashed where it goes on
    beyond the boards to which it was fitted, and left out where the rows are of more threads.
    """
    figure, axes = panel(5.4)
    known = [row for row in rows if column == "cells" or row[column]]
    values = [float(cells_of(row) if column == "cells" else row[column]) for row in known]
    said = _settings(known, "method", "jobs")
    settings = list(dict.fromkeys(said))
    for row, x, name in zip(known, values, said, strict=True):
        looks = _point(settings.index(name))
        axes.plot([x, x], [row["minimum"], row["maximum"]], color=looks["color"], linewidth=0.8)
        axes.plot(x, row["median"], SIZES[_marker(row)], **looks)
    handles = _point_keys(settings, known)
    times = [row["median"] for row in known]
    law = search_law(rows) if column == "solutions" else None
    if law is not None:
        text = rf"{short(float(f'{law.factor:.2g}'))} s x solutions$^{{{law.exponent:.2f}}}$"
        for line, words, ends in (
            ("-", f"{text},\nfitted to 9x9 boards", [law.least, law.most]),
            ("--", "the same law beyond them", [law.most, FURTHER * law.most]),
        ):
            axes.plot(ends, law.at(ends), line, color="black", linewidth=1)
            handles.append(key(words, color="black", linestyle=line))
        times.append(float(law.at(FURTHER * law.most)))
    if column == "log10_space":
        axes.xaxis.set_major_formatter(lambda power, _: f"$10^{{{power:g}}}$")
    else:
        log_axis(axes.xaxis, values)
    log_axis(axes.yaxis, times, seconds=True)
    axes.set(xlabel=label, ylabel="time")
    above(axes, handles, 2)
    return figure


def busy(rows: Sequence[Row]) -> Any:
    """Draw the share of the time in which threads were at work, against the time of the run."""
    figure, axes = panel(4.8)
    known = [row for row in rows if row["utilisation"] is not None]
    numbers = sorted({row["jobs"] for row in known})
    for row in known:
        looks, share = _point(numbers.index(row["jobs"])), row["utilisation"]
        ends = [row["minimum"], row["maximum"]]
        axes.plot(ends, [share, share], color=looks["color"], linewidth=0.8)
        axes.plot(row["median"], share, SIZES[_marker(row)], **looks)
    log_axis(axes.xaxis, [row["median"] for row in known], seconds=True)
    axes.set(xlabel="time of the search", ylabel="share of it at work", ylim=(-0.03, 1.05))
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    above(axes, _point_keys([threads(number) for number in numbers], known), 3)
    return figure


def bars(rows: Sequence[Row]) -> Any:
    """Draw solutions a second on GPUs and on the CPU, board by board."""
    names = list(dict.fromkeys(row["board"] for row in rows))
    figure, axes = panel(4.8, max(WIDTH, 0.3 * len(names)))
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


def matrix(points: Sequence[Mapping[str, float]]) -> NDArray[np.float64]:
    """Return Pearson's coefficients of VARIABLES, float64 (6, 6); nan where one never varies."""
    values = np.array([[point[name] for name in VARIABLES.values()] for point in points], float)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: NDArray[np.float64] = np.corrcoef(values, rowvar=False)
    return found


def correlated(rows: Sequence[Row], number: int) -> dict[str, NDArray[np.float64]]:
    """Return the matrix of every series with enough boards of 9x9, on a number of threads."""
    alone = {(row["board"], _way(row)): row["median"] for row in rows if row["jobs"] == 1}
    matrices = {}
    for title, names in series_of(rows, square=9).items():
        points = []
        for row in rows:
            if row["jobs"] == number and row["board"] in names:
                point = row.values | {"alone": alone.get((row["board"], _way(row)))}
                if all(point[name] is not None for name in VARIABLES.values()):
                    points.append(point)
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
