"""Figures with a line for every board and setting: speed-up over threads, time over the cutoff."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from gpusudoku.bench.drawing import (
    COLOURS,
    LINES,
    MARKERS,
    WIDTH,
    above,
    grid_of,
    key,
    log_axis,
    set_log,
    short,
    style,
)
from gpusudoku.bench.summary import Row

NOT_REACHED = "hollow: not reached, for want of memory"
DOUBLINGS = [2.0**power for power in range(-10, 11)]
MOST_OTHERS = 8
"""So many boards of no series are drawn beside those of series, and no more."""


def series_of(rows: Sequence[Row], square: int | None = None) -> dict[str, list[str]]:
    """The names of boards by series: ``1a`` is of series 1. The others form one if they are few.

    With ``square`` only boards with that many rows and columns.
    """
    series: dict[str, list[str]] = {}
    for row in rows:
        if square is not None and row["clues"] + row["empty_cells"] != square**2:
            continue
        name = row["board"]
        names = series.setdefault(f"series {name[0]}" if len(name) == 2 else "boards", [])
        if name not in names:
            names.append(name)
    others = series.pop("boards", [])
    if others and (not series or len(others) <= MOST_OTHERS):
        series["boards"] = others[:MOST_OTHERS]
    return series


def way(row: Row) -> tuple[Any, ...]:
    """The setting of a row but for its threads and its cutoff."""
    search = row["method"] != "contraction"
    return row["method"], row["device"], *((row["strategy"], row["propagate"]) if search else ())


def namer(
    rows: Sequence[Row],
    always: Sequence[str] = (),
    columns: Sequence[str] = ("method", "jobs", "strategy", "propagate"),
) -> Callable[[Row], str]:
    """What names the setting of a row: columns that are ``always`` said, and those that differ."""

    def differs(column: str) -> bool:
        return len({row[column] for row in rows if row["method"] != "contraction"}) > 1

    def name(row: Row) -> str:
        has = ("method", "jobs") if row["method"] == "contraction" else columns
        return ", ".join(
            threads(row["jobs"]) if column == "jobs" else str(row[column])
            for column in said
            if column in has
        )

    said = [column for column in columns if column in always or differs(column)]
    return name


def threads(number: int | None) -> str:
    """A number of threads in words; only a GPU has none."""
    return "GPU" if number is None else f"{number} thread{'s' * (number > 1)}"


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


def speed_up(rows: Sequence[Row], series: dict[str, list[str]], pyplot: Any) -> Any:
    """Draw the speed-up against threads: a panel for every series, a line for every setting."""
    figure, panels = grid_of(pyplot, len(series), 3.1, sharex=True, sharey=True)
    ways = list(dict.fromkeys(way(row) for row in rows))
    numbers = sorted({row["jobs"] for row in rows})
    speed_ups = [*numbers, *(row["speed_up"] for row in rows if row["speed_up"])]
    said = namer(rows, columns=("method", "strategy", "propagate"))
    settings = list(dict.fromkeys(said(row) for row in rows))
    dashes = [key(name, color="black", linestyle=LINES[i % 4]) for i, name in enumerate(settings)]
    for axes, (title, names) in zip(panels, series.items(), strict=True):
        linear, handles = speed_up_axes(axes, numbers, speed_ups), []
        for number, name in enumerate(names):
            for line, setting in enumerate(ways):
                some = [row for row in rows if (row["board"], way(row)) == (name, setting)]
                _speed_up_line(axes, some, {**style(number), "linestyle": LINES[line % 4]})
            handles.append(key(name, **style(number), linestyle="-"))
        above(axes, [*handles, linear, *(dashes if len(ways) > 1 else [])], 5, title)
    for axes in panels[-2:]:
        axes.set_xlabel("threads")
    for axes in panels[::2]:
        axes.set_ylabel("speed-up over 1 thread")
    return figure


def _speed_up_line(axes: Any, rows: list[Row], looks: dict[str, Any]) -> None:
    """One line, with what the spread of the times makes of it."""
    known = sorted((row for row in rows if row["speed_up"]), key=lambda row: row["jobs"])
    if not known:
        return
    alone = [row["speed_up"] * row["median"] for row in known]
    middle = [row["speed_up"] for row in known]
    least = [time / row["maximum"] for time, row in zip(alone, known, strict=True)]
    most = [time / row["minimum"] for time, row in zip(alone, known, strict=True)]
    bars = [
        [max(0.0, value - low) for value, low in zip(middle, least, strict=True)],
        [max(0.0, high - value) for value, high in zip(middle, most, strict=True)],
    ]
    axes.errorbar([row["jobs"] for row in known], middle, yerr=bars, markersize=5,
                  linewidth=1.2, elinewidth=0.8, capsize=2, **looks)  # fmt: skip


def cutoff(rows: Sequence[Row], pyplot: Any) -> Any:
    """Draw the time against the cutoff: a colour for every board, a line for every setting.

    Points are hollow where boards could not be split that far.
    """
    figure, axes = pyplot.subplots(figsize=(WIDTH, 5.4))
    with_cutoff = [row for row in rows if row["cutoff"] is not None]
    by_empty = with_cutoff[0]["cutoff_by"] == "empty"
    said = namer(with_cutoff, ["jobs"])
    names = list(dict.fromkeys(row["board"] for row in with_cutoff))
    lines = list(dict.fromkeys(said(row) for row in with_cutoff))
    for row_names, line in ((name, line) for name in names for line in lines):
        number, dash = names.index(row_names), lines.index(line)
        points = sorted(
            (row for row in with_cutoff if (row["board"], said(row)) == (row_names, line)),
            key=lambda row: row["cutoff"],
        )
        colour = COLOURS[number % len(COLOURS)]
        for point in points:
            x = point["cutoff"]
            axes.plot([x, x], [point["minimum"], point["maximum"]], color=colour, linewidth=0.8)
            axes.plot(x, point["median"], marker=MARKERS[number % 8], color=colour,
                      fillstyle="none" if point["cutoff_reached"] is False else "full")  # fmt: skip
        axes.plot([p["cutoff"] for p in points], [p["median"] for p in points],
                  color=colour, linestyle=LINES[dash % 4])  # fmt: skip
    if not by_empty:
        log_axis(axes.xaxis, [row["cutoff"] for row in with_cutoff])
    log_axis(axes.yaxis, [row["median"] for row in with_cutoff], seconds=True)
    what = "has so few empty cells" if by_empty else "has so small a search space"
    axes.set(xlabel=f"cutoff: boards are split until each {what}", ylabel="time of the search")
    sizes = {row["board"]: _size(row, by_empty) for row in with_cutoff}
    handles = [key(f"{name}: {sizes[name]}", **style(number)) for number, name in enumerate(names)]
    handles += [key(line, color="black", linestyle=LINES[i % 4]) for i, line in enumerate(lines)]
    if any(row["cutoff_reached"] is False for row in with_cutoff):
        handles.append(key(NOT_REACHED, color="black", marker="o", fillstyle="none"))
    above(axes, handles, 2)
    return figure


def _size(row: Row, by_empty: bool) -> str:
    """The size of a whole board, as a cutoff measures it."""
    if by_empty:
        return f"{row['empty_cells']} empty cells"
    exponent, rest = divmod(row["log10_space"] or 0.0, 1)
    return rf"search space ${10**rest:.0f}\cdot10^{{{exponent:.0f}}}$"
