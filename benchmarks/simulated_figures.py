"""The figures of ``simulated.py``, with what was measured and what others published beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from machine import RESULTS, recorded
from published import CORES, CORRELATED, CORRELATIONS, SOURCE, SPEED_UPS
from script import Run

from gpusudoku import collection
from gpusudoku.bench.figures import (
    COEFFICIENTS,
    COLOURS,
    DOUBLINGS,
    FEWEST,
    SPACE,
    VARIABLES,
    WIDTH,
    Titled,
    above,
    correlation,
    entitle,
    grid_of,
    key,
    label_speed_ups,
    matrix,
    panel,
    set_log,
    short,
    source_of,
    speed_up_axes,
    style,
)
from gpusudoku.bench.suite import Row, read_json, undisturbed
from gpusudoku.errors import InputError

MOST_CORES = max(CORES)
"""The number of cores of the published correlations."""
COSTS_NOTE = "Simulated: each step is charged with its cost on one core, so there is no spread. {}."
MEASURED_NOTE = "Measured: {}medians of several runs. {}."
BARS = "short bars at 2 cores, "
PUBLISHED_NOTE = "Published: means of three runs. Each program is compared with itself on one core."
SHORT_SECONDS = 0.01
"""Boards that one core counts sooner are drawn pale: what is left out matters to them."""
PALE_NOTE = f"Pale: boards that one core counts in less than {1000 * SHORT_SECONDS:g} ms."
FLOOR = 0.1
"""Lines may leave a figure below this speed-up."""
FEW = ("1d", "2e", "2f")
"""The boards of the small figure, from little to much work."""
PANELS = {
    (1e20, True): "cutoff $10^{20}$: one core makes a long frontier, the others wait",
    (1e30, False): "cutoff $10^{30}$, nothing handed over: threads end early, or last longer",
    (None, True): "no cutoff: a short frontier, and threads that wait are given boards",
}
"""What the pictures of busy cores show, by cutoff and sharing."""
LABELS = ["searching", "Python: making the frontier, starting threads"]
MEASURED: dict[str, Any] = {"marker": "_", "markersize": 11, "linestyle": "", "alpha": 1.0}
SHARED: dict[bool, dict[str, Any]] = {
    True: {"linestyle": "-"},
    False: {"linestyle": "--", "fillstyle": "none"},
}
"""The lines of runs with and without boards that are handed over."""


def measured_note(marks: str = "") -> str:
    """Say what marks the measured values, and where they are from; empty if there are none."""
    path = RESULTS / "bench.json"
    if not path.is_file():
        return ""
    return MEASURED_NOTE.format(marks, source_of(recorded(path)["machine"]))


def measured_speed_ups(path: Path, threads: int = 2) -> dict[str, float]:
    """The measured speed-up of every board on some threads; none if nothing was recorded."""
    return {name: points["speed_up"] for name, points in measured_points(path, threads).items()}


def suite_rows(path: Path) -> list[Row]:
    """Read the rows of a run of ``gpusudoku bench`` that were not starved."""
    return undisturbed(read_json(str(path))[0])


def measured_points(path: Path, threads: int) -> dict[str, dict[str, float]]:
    """What is correlated, of every board that was measured."""
    try:
        rows = suite_rows(path)
    except InputError:
        return {}
    alone = {row["board"]: row["median"] for row in rows
             if (row["method"], row["jobs"]) == ("search", 1)}  # fmt: skip
    return {
        row["board"]: {name: row.get(name) for name in VARIABLES.values()}
        | {"alone": alone[row["board"]]}
        for row in rows
        if (row["method"], row["jobs"]) == ("search", threads) and row["speed_up"]
    }


def plain(runs: list[Run]) -> dict[str, dict[int, float]]:
    """Seconds by board and number of cores, without cutoffs."""
    found: dict[str, dict[int, float]] = {}
    for run in runs:
        if run["cutoff"] is None and not run["without"] and "busy" not in run:
            found.setdefault(run["board"], {})[run["workers"]] = run["seconds"]
    return found


def simulated_points(runs: list[Run], workers: int) -> dict[str, dict[str, float]]:
    """What is correlated, of every board that was simulated."""
    found = {}
    for name, seconds in plain(runs).items():
        board = collection.load(name)
        if workers in seconds:
            found[name] = {
                "log10_space": np.log10(float(board.search_space)),
                "empty_cells": board.empty_cells,
                "solutions": collection.entry(name).count,
                "alone": seconds[1],
                "median": seconds[workers],
                "speed_up": seconds[1] / seconds[workers],
            }
    return found


def figures_of(path: Path) -> Iterator[tuple[str, Any]]:
    """Draw all figures of a recorded file, with their names."""
    results = recorded(path)
    for name, title, figure, notes in _figures(results["runs"]):
        source = COSTS_NOTE.format(source_of(results["machine"]))
        entitle(figure, title, source, *filter(None, notes))
        yield name, figure


def _figures(runs: list[Run]) -> Iterator[Titled]:
    seconds = plain(runs)
    for name, rows, title, notes in (
        ("speed-up", "12", "simulated above, published below", [PUBLISHED_NOTE]),
        ("speed-up-more", "ab", "simulated", []),
    ):
        series = [row for row in rows if any(board[0] == row for board in seconds)]
        if series:
            title = f"Speed-up of a search on several cores: {title}"
            figure = _speed_ups(seconds, series)
            yield name, title, figure, [measured_note(BARS), *notes, PALE_NOTE]
    if set(FEW) <= set(seconds):
        title = "How many times as fast all solutions are counted on several cores as on one"
        yield "many-cores", title, _few(seconds), [measured_note(BARS), PUBLISHED_NOTE]
    if any(not run["sharing"] for run in runs):
        title = f"Simulated speed-up over the cutoff, board {_cutoff_board(runs)}"
        yield "cutoff", title, _cutoffs(runs), [SPACE]
    if any("busy" in run for run in runs):
        some = [run for run in runs if "busy" in run]
        workers = some[0]["workers"]
        title = f"How many of {workers} simulated cores work, board {_cutoff_board(runs)}"
        yield "utilisation", title, _busy(some), []
    if set(SPEED_UPS) <= set(simulated_points(runs, MOST_CORES)):
        title = "What the speed-up goes with: correlations of the boards 1a to 2f"
        notes = [measured_note(), COEFFICIENTS, SPACE]
        yield "correlation", title, _correlations(runs), notes


def _cutoff_board(runs: list[Run]) -> str:
    return str(next(run["board"] for run in runs if run["cutoff"] is not None))


def _speed_ups(seconds: dict[str, dict[int, float]], rows: list[str]) -> Any:
    """A panel for every series, and one below for what was published of it."""
    measured = measured_speed_ups(RESULTS / "bench.json")
    published = [row for row in rows if any(name[0] == row for name in SPEED_UPS)]
    figure, panels = grid_of(len(rows + published), 3.1)
    cores, high = _axes_of(seconds)
    for axes, row in zip(panels, rows, strict=False):
        linear, handles = speed_up_axes(axes, cores, high), []
        for number, name in enumerate(name for name in seconds if name[0] == row):
            pale = 1.0 if seconds[name][1] >= SHORT_SECONDS else 0.3
            looks = {"linestyle": "-", "alpha": pale, **style(number)}
            axes.plot(*_line(seconds[name]), markersize=4, linewidth=1.2, **looks)
            handles.append(key(name, markersize=4, **looks))
            if name in measured:
                axes.plot(2, measured[name], **looks | MEASURED)
        above(axes, [*handles, linear], 5, f"series {row}: simulated, and measured")
    for axes, row in zip(panels[len(rows) :], published, strict=True):
        linear, handles = speed_up_axes(axes, cores, high), []
        for number, name in enumerate(name for name in SPEED_UPS if name[0] == row):
            looks = {"linestyle": "-", "markersize": 4, "linewidth": 1.2, **style(number)}
            axes.plot(CORES, SPEED_UPS[name], **looks)
            handles.append(key(name, **looks))
        above(axes, [*handles, linear], 5, f"series {row}: {SOURCE}")
    _label(panels)
    return figure


def _few(seconds: dict[str, dict[int, float]]) -> Any:
    """Ours and what was published of three boards, in one panel."""
    measured = measured_speed_ups(RESULTS / "bench.json")
    figure, axes = panel(5.0)
    some = {name: seconds[name] for name in FEW}
    linear, handles = speed_up_axes(axes, *_axes_of(some)), []
    for number, name in enumerate(FEW):
        looks = style(number) | {"markersize": 5}
        axes.plot(*_line(some[name]), **looks, linestyle="-")
        axes.plot(CORES, SPEED_UPS[name], **looks, linestyle="--", fillstyle="none")
        if name in measured:
            axes.plot(2, measured[name], **looks | MEASURED)
        count = collection.entry(name).count
        handles.append(key(f"board {name}, {count:,} solutions", **looks))
    handles += [
        linear,
        key("gpusudoku, simulated", color="black", marker="o", linestyle="-"),
        key(f"{SOURCE}, published", color="black", marker="o", linestyle="--", fillstyle="none"),
        key("gpusudoku, measured on 2 cores", color="black", **MEASURED),
    ]
    above(axes, handles, 2)
    _label([axes])
    return figure


def _line(seconds: dict[int, float]) -> tuple[list[int], list[float]]:
    """Numbers of cores, and the speed-up on each."""
    cores = sorted(seconds)
    return cores, [seconds[1] / seconds[number] for number in cores]


def _axes_of(seconds: dict[str, dict[int, float]]) -> tuple[list[int], list[float]]:
    """All numbers of cores, and the range of the speed-ups that are shown."""
    cores = sorted({number for line in seconds.values() for number in line})
    least = min(min(_line(line)[1]) for line in seconds.values())
    return cores, [max(FLOOR, min(1.0, least)), cores[-1]]


def _label(panels: Sequence[Any]) -> None:
    """Name the axes of panels, two beside each other, and let no line widen them downwards."""
    for axes in panels:
        axes.set_ylim(bottom=max(0.9 * FLOOR, axes.get_ylim()[0]))
    label_speed_ups(panels, "core")


def _cutoffs(runs: list[Run]) -> Any:
    """The speed-up against the cutoff, with and without boards handed over later."""
    figure, axes = panel(5.2)
    board = _cutoff_board(runs)
    alone = plain(runs)[board][1]
    some = [run for run in runs if run["board"] == board and "busy" not in run and run["cutoff"]]
    workers = sorted({run["workers"] for run in some})
    cutoffs = sorted({run["cutoff"] for run in some})
    none, speed_ups = 1e4 * cutoffs[-1], []
    for number, count in enumerate(workers):
        for sharing, line in SHARED.items():
            points = sorted((run["cutoff"], alone / run["seconds"]) for run in some
                            if (run["workers"], run["sharing"]) == (count, sharing))  # fmt: skip
            axes.plot(*zip(*points, strict=True), **line, **style(number))
            speed_ups += [value for _, value in points]
        speed_ups.append(alone / plain(runs)[board][count])
        axes.plot(none, speed_ups[-1], **style(number))
    set_log(axes.xaxis, [*cutoffs, none], lambda x: "none\ngiven" if x == none else short(x))
    set_log(axes.yaxis, DOUBLINGS, short)
    axes.minorticks_off()
    axes.set(xlabel="cutoff: boards are split until each has so small a search space",
             ylabel="speed-up over 1 core without cutoff")  # fmt: skip
    handles = [key(f"{count} cores", **style(i)) for i, count in enumerate(workers)]
    handles += [
        key("boards handed over to cores that wait", color="black", **SHARED[True]),
        key("each core keeps what it has", color="black", marker="o", **SHARED[False]),
    ]
    above(axes, handles, 2)
    return figure


def _busy(runs: list[Run]) -> Any:
    """What the cores do, over time: a panel for every run, below each other."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, 1.7 * len(runs) + 1.4))
    panels = figure.subplots(len(runs), 1, sharex=True, squeeze=False)
    for axes, run in zip(panels[:, 0], runs, strict=True):
        lines, seconds = run["busy"], run["seconds"]
        bins = len(lines["search"])
        edges = 1e3 * seconds * (np.arange(bins) + 0.5) / bins
        areas = axes.stackplot(edges, lines["search"], lines["preparing"], labels=LABELS,
                               colors=[COLOURS[0], COLOURS[5]])  # fmt: skip
        areas[1].set_hatch("////")
        axes.set(ylim=(0, run["workers"]), yticks=np.arange(0, run["workers"] + 1, 4))
        title = PANELS.get((run["cutoff"], run["sharing"]), "")
        above(axes, areas if run is runs[0] else [], 2, title)
    panels[-1, 0].set(xlabel="time, ms", xlim=(0, None))
    panels[len(runs) // 2, 0].set_ylabel("cores at work")
    return figure


def _correlations(runs: list[Run]) -> Any:
    """Ours on 2 threads and as simulated, ours on as many cores as theirs, and theirs."""
    assert tuple(VARIABLES) == CORRELATED
    measured = measured_points(RESULTS / "bench.json", 2)
    matrices: dict[str, Any] = {}
    known = [measured[name] for name in SPEED_UPS if name in measured]
    if len(known) >= FEWEST:
        fewer = "" if len(known) == len(SPEED_UPS) else f", {len(known)} boards"
        matrices[f"measured on 2 threads{fewer}"] = matrix(known)
    for number in (2, MOST_CORES):
        computed = simulated_points(runs, number)
        if set(SPEED_UPS) <= set(computed):
            matrices[f"simulated on {number} cores"] = matrix([computed[n] for n in SPEED_UPS])
    matrices[f"{SOURCE}, {MOST_CORES} cores"] = np.array(CORRELATIONS)
    return correlation(matrices)
