"""Figures of a run, as SVG and PNG, which can be read in print, in grey and by the colour-blind.

``figures_of`` draws all figures for which a run has rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import cycle, product
from operator import itemgetter
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpusudoku.bench.elements import (
    COLOURS,
    grid_of,
    key,
    legend_above,
    log_axis,
    panel,
    set_log,
    short,
    style,
)
from gpusudoku.bench.suite import (
    Row,
    cells_of,
    describe_run_counts,
    heading,
    search_law,
    undisturbed,
)
from gpusudoku.errors import InputError
from gpusudoku.plot_style import STYLE, require_matplotlib

Place = Callable[[Row, Sequence[float]], tuple[Sequence[float], Sequence[float]]]
"""Converts seconds of a row to the x and y of points."""
TitledFigure = tuple[str, str, Any, list[str]]
"""Name, title, figure, and the notes under it."""

LINES = ["-", "--", "-.", ":"]
GPU_LINE = (0, (6, 1.5, 1, 1.5, 1, 1.5))
"""A dash and two dots, which LINES does not have."""
FILLS = ["full", "none", "left", "bottom"]
SIZES = {"smaller than 9x9": "v", "9x9": "o", "larger than 9x9": "^"}
"""The markers of boards by their size."""
SPREAD = "Marks: medians of {} runs. Thin bars: the shortest to the longest run."
COEFFICIENTS = "Pearson's coefficients; the search space is its logarithm."
SHARES = "Marks: means of all threads and of {} runs. Thin bars: the shortest and the longest run."
MEANS = "Means of {} runs."
MEDIANS = "Medians of {} runs."
SPACE = "Search space: the product of the numbers of candidates of all empty cells."
SETTING = ("method", "jobs", "strategy", "propagate")
QUANTITIES = {
    "solutions": ("solutions", "number of solutions", []),
    "space": ("log10_space", "search space", [SPACE]),
    "size": ("cells", "number of cells", []),
}
"""The quantities over which time is drawn: their column, label and notes, by name."""
VARIABLES = {
    "search space": "log10_space",
    "empty cells": "empty_cells",
    "solutions": "solutions",
    "time, 1 core": "one_thread",
    "time": "median",
    "speed-up": "speed_up",
}
"""The columns that are correlated, by their labels."""
MIN_BOARDS = 4
"""Correlations of fewer boards are meaningless."""
EXTRAPOLATION = 1e3
"""A law is drawn up to this multiple of the number of solutions to which it was fitted."""
DOUBLINGS = [2.0**power for power in range(-10, 11)]
OTHER_BOARDS = "boards"
"""The title of the panel with boards that belong to no series."""
MAX_OTHER_BOARDS = 8
"""If there are series, at most this many other boards are drawn."""


def figures_of(rows: Sequence[Row], machine: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Draw every figure for which there are undisturbed rows; yield its name and the figure."""
    rows = undisturbed(rows)
    run_counts = describe_run_counts(rows)
    for name, title, figure, notes in _figures(rows):
        texts = [note.format(run_counts) for note in notes]
        add_title(figure, title, *texts, source_of(machine))
        yield name, figure


def _figures(rows: list[Row]) -> Iterator[TitledFigure]:
    """Draw the figures of undisturbed rows."""
    cutoff_rows = [row for row in rows if row["cutoff"] is not None]
    if len({row["cutoff"] for row in cutoff_rows}) > 1:
        title = "Time of a search over its cutoff, by board and threads"
        notes = [SPREAD, SPACE] if cutoff_rows[0]["cutoff_by"] == "space" else [SPREAD]
        yield "cutoff", title, cutoff(cutoff_rows), notes
        return  # in the other figures every board would appear several times
    if len({row["jobs"] for row in rows}) > 1:
        title = "Time to count all solutions, by board and device"
        yield "time", title, by_board(rows), [SPREAD]
    yield from _search_figures([row for row in rows if row["method"] == "search"])

    # Times over quantities are those of the GPU, and of the fewest threads.
    min_jobs = min((row["jobs"] for row in rows if row["jobs"]), default=None)
    time_rows = [row for row in rows if row["jobs"] in (None, min_jobs)]
    if len({row["solutions"] for row in time_rows}) > 2:
        for name, (column, label, notes) in QUANTITIES.items():
            title = f"Time to count all solutions of a board, over its {label}"
            figure = time_over(time_rows, column, label)
            yield f"time-over-{name}", title, figure, [SPREAD, *notes]


def _search_figures(rows: list[Row]) -> Iterator[TitledFigure]:
    """Draw the figures of searches without a cutoff."""
    cpu_rows = [row for row in rows if row["device"] == "cpu"]
    gpu_rows = [row for row in rows if row["device"] != "cpu"]
    numbers_of_threads = sorted({row["jobs"] for row in cpu_rows})
    if len(numbers_of_threads) > 1:
        title = "Speed-up of a search on several threads, by board"
        yield "speed-up", title, speed_up(cpu_rows, gpu_rows), [SPREAD]
    for jobs in numbers_of_threads[1:]:
        matrices = correlations_by_series(cpu_rows, jobs)
        if matrices:
            title = f"Correlations of the speed-up on {jobs} threads, for 9x9 boards"
            notes = [MEDIANS, COEFFICIENTS, SPACE]
            yield f"correlation-{jobs}", title, correlation(matrices), notes
    utilised_rows = [row for row in cpu_rows if row["utilisation"] is not None]
    if utilised_rows:
        title = "Share of the time of a search in which its threads worked, by board"
        yield "utilisation", title, utilisation(utilised_rows), [SHARES]
    thread_rows = [
        row
        for row in utilised_rows
        if row["jobs"] == numbers_of_threads[-1] and row["thread_utilisation"]
    ]
    if thread_rows and numbers_of_threads[-1] > 1:
        title = "Share of the time of a search in which each thread worked, by board"
        yield "threads", title, thread_utilisation(thread_rows), [MEANS]
    if len({row["solutions"] for row in rows}) > 2:
        title = "Solutions per second of a search, over the number of solutions"
        yield "rate-over-solutions", title, rate_over_solutions(rows), [SPREAD]


def in_style(figures: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Draw the figures of an iterator in the style of all figures."""
    require_matplotlib()
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        yield from figures


def save(
    figures: Iterable[tuple[str, Any]], folder: str, describe: Callable[[Any], str] | None = None
) -> list[Path]:
    """Write figures as SVG and PNG, and return the files.

    ``describe`` returns the description of a figure that the SVG has.
    """
    paths = []
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, figure in in_style(figures):
            description = None if describe is None else describe(figure)
            # Without a date, the same figure gives the same file.
            metadata = {"svg": {"Date": None, "Description": description}, "png": {}}
            for suffix, fields in metadata.items():
                path = Path(folder, f"{name}.{suffix}")
                figure.savefig(path, dpi=150, metadata=fields)
                paths.append(path)
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}, expected a folder to write to") from None
    return paths


def source_of(machine: dict[str, Any]) -> str:
    """Return the machine, the date and the commit of a measurement."""
    return heading(machine) + (f", commit {machine['commit']}" if machine.get("commit") else "")


def add_title(figure: Any, title: str, *notes: str) -> None:
    """Put a title over a figure, and notes under it."""
    inches = figure.get_size_inches()[0]
    # Letters per inch, in the sizes of the title and of the notes.
    figure.suptitle(fill(title, int(12 * inches)))
    lines = [fill(note, int(15 * inches)) for note in notes]
    figure.supxlabel("\n".join(lines), fontsize=8, color="0.3")


def threads(jobs: int | None) -> str:
    """Return a number of threads in words; it is None for a GPU."""
    return "GPU" if jobs is None else f"{jobs} thread{'s' * (jobs > 1)}"


def series_of(rows: Iterable[Row]) -> dict[str, list[str]]:
    """Return the names of boards by series: the board ``1a`` belongs to series 1.

    Boards of no series are included if there are no series, or if there are few such boards.
    """
    series: dict[str, list[str]] = {}
    for name in dict.fromkeys(row["board"] for row in rows):
        title = f"series {name[0]}" if len(name) == 2 else OTHER_BOARDS
        series.setdefault(title, []).append(name)
    other_boards = series.pop(OTHER_BOARDS, [])
    if other_boards and (not series or len(other_boards) <= MAX_OTHER_BOARDS):
        series[OTHER_BOARDS] = other_boards[:MAX_OTHER_BOARDS]
    return series


def _legend_columns(title: str, columns: int) -> int:
    """Return the number of columns of a panel's legend: names of other boards are long."""
    return 2 if title == OTHER_BOARDS else columns


def _names(rows: Sequence[Row], *always: str, columns: Sequence[str] = SETTING) -> list[str]:
    """Return a name for the setting of each row.

    It consists of the columns in ``always`` and of those in which rows differ. A contraction has
    only a method and a number of threads.
    """
    searches = [row for row in rows if row["method"] != "contraction"]
    shown_columns = [
        column
        for column in columns
        if column in always or len({row[column] for row in searches}) > 1
    ]
    names = []
    for row in rows:
        words = []
        for column in shown_columns:
            if row["method"] != "contraction" or column in ("method", "jobs"):
                words.append(threads(row["jobs"]) if column == "jobs" else str(row[column]))
        names.append(", ".join(words))
    return names


def _lines(rows: Sequence[Row], names: Sequence[str], x: str) -> dict[tuple[str, str], list[Row]]:
    """Return the rows by board and name of the setting, in ascending order of the column x."""
    lines: dict[tuple[str, str], list[Row]] = {}
    for row, name in sorted(zip(rows, names, strict=True), key=lambda pair: pair[0][x]):
        lines.setdefault((row["board"], name), []).append(row)
    return lines


def _dashes(names: Iterable[str]) -> tuple[dict[str, str], list[Any]]:
    """Return a line style for each setting, and the entries of a legend if there are several."""
    dashes = dict(zip(dict.fromkeys(names), cycle(LINES), strict=False))
    keys = [key(name, color="black", linestyle=dash) for name, dash in dashes.items()]
    return dashes, keys if len(keys) > 1 else []


def speed_up_axes(axes: Any, cores: Sequence[float], speed_ups: Iterable[float]) -> Any:
    """Make both axes logarithmic, draw the line of linear speed-up, and return its key."""
    positive = [value for value in speed_ups if value > 0]
    set_log(axes.xaxis, cores if len(cores) < 6 else DOUBLINGS, short)
    if max(positive, default=1) < 8 * min(positive, default=1):
        log_axis(axes.yaxis, positive)
    else:
        set_log(axes.yaxis, DOUBLINGS, short)
    axes.minorticks_off()
    looks: dict[str, Any] = {"color": "0.4", "linestyle": ":", "linewidth": 1.5}
    ends = [min(cores), max(cores)]
    axes.plot(ends, ends, **looks)
    return key("linear", **looks)


def speed_up(rows: Sequence[Row], gpu_rows: Sequence[Row] = ()) -> Any:
    """Draw the speed-up against threads: a panel for every series, a line for every setting.

    Speed-ups of a GPU are horizontal lines.
    """
    series = series_of(rows)
    figure, panels = grid_of(len(series), 3.1)
    setting_names = _names([*rows, *gpu_rows], columns=("strategy", "propagate"))
    # Names of settings come first for the CPU rows, then for those of the GPU.
    lines = _lines(rows, setting_names[: len(rows)], "jobs")
    gpu_lines = _lines(gpu_rows, setting_names[len(rows) :], "solutions")
    dashes, keys = _dashes(setting_names)
    jobs = sorted({row["jobs"] for row in rows})
    speed_ups = [row["speed_up"] for row in (*rows, *gpu_rows) if row["speed_up"]]
    range_of_y = [*jobs, *speed_ups]  # the same for all panels, with the line of linear speed-up
    for axes, (title, boards) in zip(panels, series.items(), strict=True):
        linear = speed_up_axes(axes, jobs, range_of_y)
        for (number, board), (setting, dash) in product(enumerate(boards), dashes.items()):
            points = [row for row in lines.get((board, setting), ()) if row["speed_up"]]
            if points:
                looks = {**style(number), "linestyle": dash, "markersize": 5, "linewidth": 1.2,
                         "elinewidth": 0.8, "capsize": 2}  # fmt: skip
                _speed_up_line(axes, points, looks)
            for row in gpu_lines.get((board, setting), ()):
                if row["speed_up"]:
                    looks = {**style(number), "linestyle": GPU_LINE, "markersize": 5}
                    axes.plot([jobs[0], jobs[-1]], [row["speed_up"]] * 2, linewidth=1.2, **looks)
        handles = [key(board, **style(i), linestyle="-") for i, board in enumerate(boards)]
        if gpu_rows:
            handles.append(key("GPU", color="black", linestyle=GPU_LINE))
        columns = _legend_columns(title, 3 if gpu_rows else 5)
        legend_above(axes, [*handles, linear, *keys], columns, title)
    # Panels are in two columns: the last row has the labels of x, the first column those of y.
    for axes in panels[-2:]:
        axes.set_xlabel("threads")
    for axes in panels[::2]:
        axes.set_ylabel("speed-up over 1 thread")
    return figure


def _speed_up_line(axes: Any, points: Sequence[Row], looks: dict[str, Any]) -> None:
    """Draw the speed-ups of a board, with the spread of the times as error bars."""
    speed_ups = np.array([row["speed_up"] for row in points])
    # The longest run has the smallest speed-up.
    one_thread = speed_ups * [row["median"] for row in points]
    min_speed_ups = one_thread / [row["maximum"] for row in points]
    max_speed_ups = one_thread / [row["minimum"] for row in points]
    # Rounding errors may make lengths of bars negative, which matplotlib refuses.
    spread = np.maximum(0.0, [speed_ups - min_speed_ups, max_speed_ups - speed_ups])
    axes.errorbar([row["jobs"] for row in points], speed_ups, yerr=spread, **looks)


def cutoff(rows: Sequence[Row]) -> Any:
    """Draw the time against the cutoff; points are hollow where the cutoff was not reached."""
    figure, axes = panel(5.4)
    by_empty = rows[0]["cutoff_by"] == "empty"
    names = _names(rows, "jobs")
    sizes = {row["board"]: _size(row, by_empty) for row in rows}
    lines = _lines(rows, names, "cutoff")
    dashes = dict(zip(dict.fromkeys(names), cycle(LINES), strict=False))
    for (number, board), (setting, dash) in product(enumerate(sizes), dashes.items()):
        points = lines.get((board, setting), [])
        looks = style(number)
        for point in points:
            x = point["cutoff"]
            is_hollow = point["cutoff_reached"] is False
            ends = [point["minimum"], point["maximum"]]
            axes.plot([x, x], ends, color=looks["color"], linewidth=0.8)
            axes.plot(x, point["median"], **looks, fillstyle="none" if is_hollow else "full")
        medians = [point["median"] for point in points]
        axes.plot([point["cutoff"] for point in points], medians, dash, color=looks["color"])

    if not by_empty:
        log_axis(axes.xaxis, [row["cutoff"] for row in rows])
    log_axis(axes.yaxis, [row["median"] for row in rows], seconds=True)
    quantity = "number of empty cells" if by_empty else "search space"
    axes.set(xlabel=f"cutoff: maximum {quantity} of a board", ylabel="time of the search")

    handles = [key(f"{board}: {sizes[board]}", **style(i)) for i, board in enumerate(sizes)]
    handles += [key(name, color="black", linestyle=dash) for name, dash in dashes.items()]
    if any(row["cutoff_reached"] is False for row in rows):
        label = "hollow: not reached, too little memory"
        handles.append(key(label, color="black", marker="o", fillstyle="none"))
    legend_above(axes, handles, 2)
    return figure


def _size(row: Row, by_empty: bool) -> str:
    """Return the size of a whole board by the measure of the cutoff."""
    if by_empty:
        return f"{row['empty_cells']} empty cells"
    exponent, fraction = divmod(row["log10_space"] or 0.0, 1)
    return rf"search space ${10**fraction:.0f}\cdot10^{{{exponent:.0f}}}$"


def _points(axes: Any, rows: Sequence[Row], names: Sequence[str], place: Place) -> list[Any]:
    """Draw a mark with a bar for each row, and return the entries of their legend.

    Colours distinguish the names of settings, markers the sizes of boards.
    """
    settings = list(dict.fromkeys(names))
    looks_of = {
        setting: {"color": colour, "fillstyle": filling, "markersize": 5}
        for setting, colour, filling in zip(settings, cycle(COLOURS), cycle(FILLS), strict=False)
    }
    smaller, nine, larger = SIZES
    sizes = set()
    for row, name in zip(rows, names, strict=True):
        cells = cells_of(row)
        if cells == 81:
            size = nine
        else:
            size = smaller if cells < 81 else larger
        sizes.add(size)
        looks = looks_of[name]
        ends = place(row, [row["minimum"], row["maximum"]])
        axes.plot(*ends, color=looks["color"], linewidth=0.8)
        axes.plot(*place(row, [row["median"]]), SIZES[size], **looks)
    keys = [key(setting, **looks, marker="o") for setting, looks in looks_of.items()]
    if len(sizes) > 1:
        keys += [key(size, color="0.5", marker=SIZES[size]) for size in SIZES if size in sizes]
    return keys


def time_over(rows: Sequence[Row], column: str, label: str) -> Any:
    """Draw the time against a column; over solutions, also the law of the search on one thread."""
    figure, axes = panel(5.4)

    def value(row: Row) -> float:
        return float(cells_of(row) if column == "cells" else row[column] or 0.0)

    def place(row: Row, seconds: Sequence[float]) -> tuple[Sequence[float], Sequence[float]]:
        return [value(row)] * len(seconds), seconds

    rows_with_value = [row for row in rows if value(row)]
    handles = _points(axes, rows_with_value, _names(rows_with_value, "method", "jobs"), place)
    times = [row["median"] for row in rows_with_value]
    law = search_law(rows) if column == "solutions" else None
    if law is not None:
        formula = rf"{short(float(f'{law.factor:.2g}'))} s x solutions$^{{{law.exponent:.2f}}}$"
        max_x = EXTRAPOLATION * law.max_x
        for line, text, ends in (
            ("-", f"{formula},\nfitted to 9x9 boards", [law.min_x, law.max_x]),
            ("--", "the same law, extrapolated", [law.max_x, max_x]),
        ):
            axes.plot(ends, [*map(law.at, ends)], line, color="black", linewidth=1)
            handles.append(key(text, color="black", linestyle=line))
        times.append(law.at(max_x))  # the axis has to include the end of the line
    if column == "log10_space":
        # The column has logarithms already.
        axes.xaxis.set_major_formatter(lambda power, _: f"$10^{{{power:g}}}$")
    else:
        log_axis(axes.xaxis, map(value, rows_with_value))
    log_axis(axes.yaxis, times, seconds=True)
    axes.set(xlabel=label, ylabel="time")
    legend_above(axes, handles, 2)
    return figure


def rate_over_solutions(rows: Sequence[Row]) -> Any:
    """Draw the solutions per second of every setting against the number of solutions."""
    figure, axes = panel(5.4)

    def place(row: Row, seconds: Sequence[float]) -> tuple[Sequence[float], Sequence[float]]:
        rates = [row["solutions"] / time for time in seconds]
        return [row["solutions"]] * len(rates), rates

    rows = [row for row in rows if row["solutions_per_second"]]
    handles = _points(axes, rows, _names(rows, "method", "jobs"), place)
    log_axis(axes.xaxis, [row["solutions"] for row in rows])
    log_axis(axes.yaxis, [row["solutions_per_second"] for row in rows])
    axes.set(xlabel="number of solutions", ylabel="solutions per second")
    legend_above(axes, handles, 2)
    return figure


def by_board(rows: Sequence[Row]) -> Any:
    """Draw the times of all settings; each board has a line of the figure."""
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
    legend_above(axes, handles, 2)
    return figure


def utilisation(rows: Sequence[Row]) -> Any:
    """Draw the share of the time in which threads worked, against the time of the search."""
    figure, axes = panel(4.8)
    rows = sorted(rows, key=lambda row: row["jobs"])
    names = [threads(row["jobs"]) for row in rows]

    def place(row: Row, seconds: Sequence[float]) -> tuple[Sequence[float], Sequence[float]]:
        return seconds, [row["utilisation"]] * len(seconds)

    handles = _points(axes, rows, names, place)
    log_axis(axes.xaxis, [row["median"] for row in rows], seconds=True)
    axes.set(xlabel="time of the search", ylabel="share of time at work", ylim=(-0.03, 1.05))
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    legend_above(axes, handles, 3)
    return figure


def thread_utilisation(rows: Sequence[Row]) -> Any:
    """Draw the share of the time in which each thread worked: a panel for every series."""
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
        legend_above(axes, [*handles, *keys], _legend_columns(title, 4), title)
    for axes in panels[-2:]:
        axes.set_xlabel("thread")
    for axes in panels[::2]:
        axes.set_ylabel("share of time at work")
    return figure


def matrix(points: Sequence[Mapping[str, float]]) -> NDArray[np.float64]:
    """Return Pearson's coefficients of VARIABLES, float64 (6, 6); nan where one never varies."""
    values = np.array([[point[name] for name in VARIABLES.values()] for point in points], float)
    with np.errstate(invalid="ignore", divide="ignore"):
        coefficients: NDArray[np.float64] = np.corrcoef(values, rowvar=False)
    return coefficients


def correlations_by_series(rows: Sequence[Row], jobs: int) -> dict[str, NDArray[np.float64]]:
    """Return the matrix of every series with at least MIN_BOARDS 9x9 boards on ``jobs`` threads."""
    # The variable "one_thread" of a row is in another row, that of the same setting on one thread.
    setting_of = itemgetter("board", "strategy", "propagate")
    one_thread = {setting_of(row): row["median"] for row in rows if row["jobs"] == 1}
    nine = [row for row in rows if cells_of(row) == 81]
    matrices = {}
    for title, boards in series_of(nine).items():
        points = [
            row | {"one_thread": one_thread.get(setting_of(row))}
            for row in nine
            if row["jobs"] == jobs and row["board"] in boards
        ]
        points = [point for point in points if None not in map(point.get, VARIABLES.values())]
        if len(points) >= MIN_BOARDS:
            matrices[f"{title}, {len(points)} boards"] = matrix(points)
    return matrices


def correlation(matrices: Mapping[str, ArrayLike]) -> Any:
    """Draw matrices in two columns."""
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
            # White letters on the dark ends of the palette.
            axes.text(j, i, "" if np.isnan(value) else f"{value:.2f}", ha="center", va="center",
                      color="white" if abs(value) > 0.6 else "black", fontsize=9)  # fmt: skip
    return figure
