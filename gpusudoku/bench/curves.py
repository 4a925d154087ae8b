"""Figures with a line for every board and setting: speed-up over threads, time over the cutoff."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpusudoku.bench.drawing import COLOURS, LINES, MARKERS, beside, grid_of, key, log_axis, style
from gpusudoku.bench.summary import Row

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


def way(row: Row) -> str:
    """The setting of a row but for its threads and its cutoff."""
    words = [row["method"], row["device"]]
    if row["method"] != "contraction":
        words += [row["strategy"], row["propagate"]]
    return " ".join(map(str, words))


def speed_up(rows: Sequence[Row], series: dict[str, list[str]], pyplot: Any) -> Any:
    """Draw the speed-up against threads: a panel for every series, a line for every setting."""
    figure, panels = grid_of(pyplot, len(series))
    ways = list(dict.fromkeys(way(row) for row in rows))
    threads = sorted({row["jobs"] for row in rows})
    for axes, (title, names) in zip(panels, series.items(), strict=True):
        for number, name in enumerate(names):
            for line, setting in enumerate(ways):
                some = [row for row in rows if (row["board"], way(row)) == (name, setting)]
                label = name if line == 0 else None
                _speed_up_line(axes, some, label, {**style(number), "linestyle": LINES[line % 4]})
        axes.plot(threads, threads, color="black", linewidth=1, label="linear")
        axes.set(title=title, xlabel="threads")
        log_axis(axes.xaxis, threads)
        axes.set_xticks(threads, [str(number) for number in threads])
        axes.legend(ncols=3, fontsize=8, loc="upper left", handlelength=1.5, columnspacing=1)
        axes.set_ylim(0, 1.25 * threads[-1])
    for axes in panels[::2]:
        axes.set_ylabel("speed-up over 1 thread")
    if len(ways) > 1:
        handles = [key(name, color="black", linestyle=LINES[i % 4]) for i, name in enumerate(ways)]
        figure.legend(handles=handles, loc="outside right upper")
    return figure


def _speed_up_line(axes: Any, rows: list[Row], label: str | None, looks: dict[str, Any]) -> None:
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
    axes.errorbar([row["jobs"] for row in known], middle, yerr=bars, label=label, markersize=5,
                  linewidth=1.2, elinewidth=0.8, capsize=2, **looks)  # fmt: skip


def cutoff(rows: Sequence[Row], pyplot: Any) -> Any:
    """Draw the time against the cutoff: a colour for every board, a line for every setting.

    Points are hollow where the boards of the frontier could not be made that small.
    """
    figure, axes = pyplot.subplots(figsize=(8.6, 4.8))
    with_cutoff = [row for row in rows if row["cutoff"] is not None]
    by_empty = with_cutoff[0]["cutoff_by"] == "empty"
    names = list(dict.fromkeys(row["board"] for row in with_cutoff))
    lines = list(dict.fromkeys(_threads(row) for row in with_cutoff))
    for row_names, line in ((name, line) for name in names for line in lines):
        number, dash = names.index(row_names), lines.index(line)
        points = sorted(
            (row for row in with_cutoff if (row["board"], _threads(row)) == (row_names, line)),
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
    what = "most empty cells" if by_empty else "largest search space"
    axes.set(xlabel=f"cutoff: the {what} of a board of the frontier", ylabel="time")
    sizes = {row["board"]: _size(row, by_empty) for row in with_cutoff}
    handles = [key(f"{name} ({sizes[name]})", **style(number)) for number, name in enumerate(names)]
    handles += [key(line, color="black", linestyle=LINES[i % 4]) for i, line in enumerate(lines)]
    if any(row["cutoff_reached"] is False for row in with_cutoff):
        handles.append(key("not reached: memory", color="black", marker="o", fillstyle="none"))
    beside(axes, handles)
    return figure


def _threads(row: Row) -> str:
    """What a line of the figure of cutoffs stands for."""
    threads = "GPU" if not row["jobs"] else f"{row['jobs']} thread{'s' * (row['jobs'] > 1)}"
    return f"{threads}, {row['strategy']} {row['propagate']}"


def _size(row: Row, by_empty: bool) -> str:
    """The size of a whole board, as a cutoff measures it."""
    if by_empty:
        return f"{row['empty_cells']} empty"
    exponent, rest = divmod(row["log10_space"] or 0.0, 1)
    return f"space {10**rest:.0f}e{exponent:.0f}"
