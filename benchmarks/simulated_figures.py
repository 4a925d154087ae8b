"""The figures of ``simulated.py``, with what was measured and what others published beside it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from machine import RESULTS, recorded
from published import CORES, CORRELATED, CORRELATIONS, SOURCE, SPEED_UPS
from script import Run

from gpusudoku import collection
from gpusudoku.bench import tables
from gpusudoku.bench.correlations import VARIABLES, correlation, matrix
from gpusudoku.bench.drawing import COLOURS, beside, digest, entitle, key, log_axis, save, style
from gpusudoku.errors import InputError

PUBLISHED_ON = 64
"""The number of cores of the published correlations."""
COSTS_NOTE = (
    "the costs of all steps were measured on one core of this machine; the rest is computed"
)
SHORT_SECONDS = 0.01
"""Boards that one core counts sooner are drawn pale: what is left out matters to them."""
PALE_NOTE = f"pale: boards that one core counts in less than {SHORT_SECONDS:g} s"
PANELS = {
    (1e20, True): "cutoff 1e20: one core makes\na long frontier, the others wait",
    (1e40, False): "cutoff 1e40, nothing shared later:\nfew tasks, which end at different times",
    (None, True): "as it is: a short frontier,\nand those who wait are given boards",
}
"""What the pictures of busy cores show, by cutoff and sharing."""


def measured_speed_ups(path: Path, threads: int = 2) -> dict[str, float]:
    """The measured speed-up of every board on some threads; none if nothing was recorded."""
    return {name: points["speed_up"] for name, points in measured_points(path, threads).items()}


def measured_points(path: Path, threads: int) -> dict[str, dict[str, float]]:
    """What is correlated, of every board that was measured."""
    try:
        rows, _ = tables.read_json(str(path))
    except InputError:
        return {}
    alone = {row["board"]: row["median"] for row in rows
             if (row["method"], row["jobs"]) == ("search", 1)}  # fmt: skip
    return {
        row["board"]: {name: row.values.get(name) for name in VARIABLES.values()}
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


def draw(path: Path, folder: Path) -> list[Path]:
    """Draw all figures of a recorded file; returns the files written."""
    results = recorded(path)
    figures = partial(_figures, results["runs"], results["machine"])
    return save(figures, str(folder), digest(path.read_text(encoding="utf-8")))


def _figures(runs: list[Run], machine: dict[str, Any], pyplot: Any) -> Iterable[tuple[str, Any]]:
    seconds = plain(runs)
    for name, rows, title in (
        ("speed-up", ["1", "2"], "Speed-up over cores: simulated above, published below"),
        ("speed-up-more", ["a", "b"], "Speed-up over cores, simulated"),
    ):
        if any(board[0] in rows for board in seconds):
            figure = _speed_ups(seconds, rows, pyplot)
            entitle(figure, title, machine, f"{COSTS_NOTE}; {PALE_NOTE}")
            yield name, figure
    if any(not run["sharing"] for run in runs):
        figure = _cutoffs(runs, pyplot)
        entitle(
            figure,
            f"Simulated: speed-up over the cutoff, {_cutoff_board(runs)}",
            machine,
            COSTS_NOTE,
        )
        yield "cutoff", figure
    if any("busy" in run for run in runs):
        figure = _busy([run for run in runs if "busy" in run], pyplot)
        entitle(
            figure,
            f"Simulated: how many of 16 cores work, {_cutoff_board(runs)}",
            machine,
            COSTS_NOTE,
        )
        yield "utilisation", figure
    both = set(SPEED_UPS) & set(simulated_points(runs, PUBLISHED_ON))
    if len(both) == len(SPEED_UPS):
        title = "Correlations of the boards 1a to 2f"
        figure = _correlations(runs, pyplot)
        spread = "Pearson's coefficients; of the search space the logarithm"
        entitle(figure, title, machine, f"{COSTS_NOTE}\n{spread}")
        yield "correlation", figure


def _cutoff_board(runs: list[Run]) -> str:
    return "board " + next(run["board"] for run in runs if run["cutoff"] is not None)


def _speed_ups(seconds: dict[str, dict[int, float]], rows: list[str], pyplot: Any) -> Any:
    """A panel for every series, and one below for what was published of it."""
    measured = measured_speed_ups(RESULTS / "bench.json")
    published = [row for row in rows if any(name[0] == row for name in SPEED_UPS)]
    high = 2 if published else 1
    figure, panels = pyplot.subplots(
        high, len(rows), figsize=(9.4, 3.9 * high + 0.6), sharex=True, sharey=True, squeeze=False
    )
    most = max(max(line) for line in seconds.values())
    for column, series in enumerate(rows):
        names = [name for name in seconds if name[0] == series]
        for number, name in enumerate(names):
            line = {n: seconds[name][1] / s for n, s in sorted(seconds[name].items())}
            pale = 1.0 if seconds[name][1] >= SHORT_SECONDS else 0.3
            panels[0][column].plot(line.keys(), line.values(), label=name, markersize=4,
                                   linewidth=1.2, alpha=pale, **style(number))  # fmt: skip
            if name in measured:
                looks = style(number) | {"marker": "_"}
                panels[0][column].plot(2, measured[name], markersize=11, **looks)
        panels[0][column].set_title(f"series {series}: simulated, and — measured on 2 cores")
        if series in published:
            for number, name in enumerate(name for name in SPEED_UPS if name[0] == series):
                panels[1][column].plot(CORES, SPEED_UPS[name], label=name, markersize=4,
                                       linewidth=1.2, **style(number))  # fmt: skip
            panels[1][column].set_title(f"series {series}: {SOURCE}, measured")
    for axes in panels.flat:
        axes.plot([1, most], [1, most], color="black", linewidth=1, label="linear")
        log_axis(axes.xaxis, [1, most])
        log_axis(axes.yaxis, [0.05, most])
        ticks = [1, 2, 4, 8, 16, 32, 64, 128]
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        ticks = [0.1, 0.25, 0.5, *ticks]
        axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
        axes.legend(ncols=2, fontsize=8, loc="upper left")
        axes.set_ylim(0.09, 1.1 * most)
    for axes in panels[-1]:
        axes.set_xlabel("cores")
    for axes in panels[:, 0]:
        axes.set_ylabel("speed-up over 1 core")
    return figure


def _cutoffs(runs: list[Run], pyplot: Any) -> Any:
    """The speed-up against the cutoff, with and without boards handed over later."""
    figure, axes = pyplot.subplots(figsize=(8.8, 4.6))
    board = next(run["board"] for run in runs if run["cutoff"] is not None)
    alone = plain(runs)[board][1]
    some = [run for run in runs if run["board"] == board and "busy" not in run]
    workers = sorted({run["workers"] for run in some if run["cutoff"] is not None})
    for number, count in enumerate(workers):
        looks = style(number)
        level = alone / plain(runs)[board][count]
        axes.axhline(level, color=looks["color"], linewidth=0.8, linestyle=":")
        for sharing, line in ((True, "-"), (False, "--")):
            points = sorted(
                (run["cutoff"], alone / run["seconds"]) for run in some
                if (run["workers"], run["sharing"]) == (count, sharing)
                and run["cutoff"] is not None
            )  # fmt: skip
            axes.plot(*zip(*points, strict=True), linestyle=line, **looks)
    log_axis(axes.xaxis, [1e15, 1e43])
    log_axis(axes.yaxis, [1, 40])
    ticks = [0.5, 1, 2, 4, 8, 16, 32, 64]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set(xlabel="cutoff: the largest search space of a board of the frontier",
             ylabel="speed-up over 1 core without cutoff")  # fmt: skip
    handles = [key(f"{count} cores", **style(i)) for i, count in enumerate(workers)]
    handles += [
        key("boards handed over\nto cores that wait", color="black", linestyle="-"),
        key("each core keeps\nwhat it has", color="black", linestyle="--"),
        key("no cutoff given", color="black", linestyle=":"),
    ]
    beside(axes, handles)
    return figure


def _busy(runs: list[Run], pyplot: Any) -> Any:
    """What the cores do, over time."""
    figure, panels = pyplot.subplots(1, len(runs), figsize=(10.5, 3.9), sharey=True, squeeze=False)
    for axes, run in zip(panels[0], runs, strict=True):
        lines, seconds = run["busy"], run["seconds"]
        bins = len(lines["search"])
        edges = 1e3 * seconds * (np.arange(bins) + 0.5) / bins
        axes.stackplot(edges, lines["search"], lines["python"], colors=[COLOURS[0], COLOURS[5]],
                       labels=["searching", "Python: frontier,\ntasks, sharing"])  # fmt: skip
        axes.set(xlim=(0, 1e3 * seconds), ylim=(0, run["workers"]), xlabel="time, ms")
        axes.set_title(PANELS.get((run["cutoff"], run["sharing"]), ""), fontsize=9)
    panels[0][0].set_ylabel("cores at work")
    panels[0][min(1, len(runs) - 1)].legend(loc="upper right")
    return figure


def _correlations(runs: list[Run], pyplot: Any) -> Any:
    """Ours on 2 threads, ours on as many cores as theirs, and theirs."""
    assert tuple(VARIABLES) == CORRELATED
    measured = measured_points(RESULTS / "bench.json", 2)
    computed = simulated_points(runs, PUBLISHED_ON)
    matrices: dict[str, Any] = {}
    if set(SPEED_UPS) <= set(measured):
        matrices["measured on 2 threads"] = matrix([measured[name] for name in SPEED_UPS])
    matrices[f"simulated on {PUBLISHED_ON} cores"] = matrix([computed[n] for n in SPEED_UPS])
    matrices[f"{SOURCE}, on {PUBLISHED_ON} cores"] = np.array(CORRELATIONS)
    return correlation(matrices, pyplot, beside=3)
