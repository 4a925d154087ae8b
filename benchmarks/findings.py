"""What the results say of many cores against one, beside what the authors of the boards published.

Nothing is measured here. Every function prints a table, and what follows from it in words.

    python benchmarks/findings.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, TypeVar

import numpy as np
from machine import RESULTS, recorded, source
from published import CORES, CORRELATED, CORRELATIONS, SECONDS, SPEED_UPS, THEIRS
from script import Run, command, repeated, table
from simulated_figures import (
    MOST_CORES,
    SHORT_SECONDS,
    measured_points,
    measured_speed_ups,
    plain,
    simulated_points,
    suite_rows,
)
from summary import duration, factor

from gpusudoku import collection
from gpusudoku.bench.figures import FEWEST, matrix
from gpusudoku.bench.suite import Row
from gpusudoku.errors import InputError

PARTS = {"bench": "bench", "cutoff-space": "cutoff", "cutoff-empty": "cutoff"}
"""Results that ``gpusudoku bench`` writes, and the part of ``report.py`` that runs it."""
Value = TypeVar("Value")
SIZE, WORK = CORRELATED[:2], "solutions"
"""What tells the size of a board, and what tells how much there is to search."""


def print_sources(*names: str, theirs: bool = False) -> None:
    """Print where figures are from."""
    lines = []
    for name in names:
        script = f"report.py {PARTS[name]}" if name in PARTS else f"{name.partition('-')[0]}.py"
        lines.append(source(RESULTS / f"{name}.json", f"python benchmarks/{script}"))
    for line in dict.fromkeys(lines):
        print(f"\n{line}")
    if theirs:
        print(f"\n*Theirs: {THEIRS}*")


def searches(name: str = "bench") -> list[Row]:
    """The rows of recorded searches."""
    rows = suite_rows(RESULTS / f"{name}.json")
    return [row for row in rows if row["method"] == "search" and row["median"]]


def threads() -> int:
    """The most threads that were measured.

    Raises
    ------
    InputError
        If that is one.
    """
    most = max((int(row["jobs"]) for row in searches()), default=1)
    if most == 1:
        raise InputError(f"{RESULTS / 'bench.json'}: needs a run on several threads")
    return most


def of_twelve(values: Mapping[str, Value]) -> dict[str, Value]:
    """What is known of the twelve boards.

    Raises
    ------
    InputError
        If too little is known for a correlation.
    """
    known = {name: values[name] for name in SPEED_UPS if name in values}
    if len(known) < FEWEST:
        raise InputError(
            f"{RESULTS / 'bench.json'}: expected undisturbed runs of {FEWEST} or more of the boards"
            f" 1a to 2f, not of {len(known)}"
        )
    return known


def coefficient(ones: Sequence[float], others: Sequence[float]) -> float:
    """Pearson's coefficient of correlation."""
    return float(np.corrcoef(ones, others)[0, 1])


def virtual() -> list[Run]:
    """The simulated runs."""
    runs: list[Run] = recorded(RESULTS / "simulated.json")["runs"]
    return runs


def speed_ups() -> dict[str, dict[int, float]]:
    """The simulated speed-ups of every board, by the number of cores."""
    return {
        name: {cores: line[1] / seconds for cores, seconds in line.items()}
        for name, line in plain(virtual()).items()
    }


def cell(seconds: float | None) -> str:
    """A time in a table, which is empty where nothing was measured undisturbed."""
    return "" if seconds is None else duration(seconds)


def times(_: Path | None = None) -> None:
    """Print the times of the twelve boards beside theirs."""
    rows = suite_rows(RESULTS / "bench.json")
    most = threads()
    heads = ["board", "solutions", "theirs, 1 core", f"theirs, {MOST_CORES} cores"]
    heads += ["our search, 1 core", f"our search, {most} cores", f"quicker method, {most} cores"]
    lines = []
    for name, theirs in SECONDS.items():
        ours = {(row["method"], row["jobs"]): row["median"] for row in rows
                if row["board"] == name and row["device"] == "cpu"}  # fmt: skip
        one, many = (ours.get(("search", number)) for number in (1, most))
        quicker = min((ours[way, jobs] for way, jobs in ours if jobs == most), default=None)
        cells = [cell(seconds) for seconds in (*theirs, one, many, quicker)]
        lines.append([name, f"{collection.entry(name).count:,}", *cells,
                      factor(theirs[0] / one) if one else ""])  # fmt: skip
    print(f"{repeated([row['times'] for row in rows if row['board'] in SECONDS])}\n")
    table([*heads, "theirs over ours, 1 core"], lines)
    name = max(SECONDS, key=lambda name: collection.entry(name).count)
    number, least = min(plain(virtual())[name].items(), key=lambda item: item[1])
    print(
        f"\nOn {number} simulated cores, where it is quickest, our search of {name} takes"
        f" {duration(least)}."
    )
    print_sources("bench", "simulated", theirs=True)


def cores(_: Path | None = None) -> None:
    """Print the speed-ups of the twelve boards beside theirs, and what too many cores do."""
    ours, seconds, most = speed_ups(), plain(virtual()), threads()
    measured = measured_speed_ups(RESULTS / "bench.json", most)
    shown = (2, 16, MOST_CORES)
    heads = ["board", f"{most} cores, measured", "1 core, simulated"]
    heads += [f"{number}, simulated" for number in shown]
    heads += ["best, simulated", *(f"theirs, {n}" for n in shown)]
    rows = []
    for name, theirs in SPEED_UPS.items():
        line = ours[name]
        best = max(line, key=lambda number: line[number])
        cells = [name, f"{measured[name]:.2f}" if name in measured else ""]
        cells += [duration(seconds[name][1])]
        cells += [f"{line[number]:.1f}" for number in shown]
        cells += [f"{line[best]:.1f} on {best}" if best > 1 else "none"]
        rows.append([*cells, *(f"{theirs[CORES.index(number)]:.1f}" for number in shown)])
    table(heads, rows)
    long = [name for name in SPEED_UPS if seconds[name][1] >= SHORT_SECONDS]
    last = max(ours[long[0]])
    kept = {name: ours[name][last] / max(ours[name].values()) for name in long}
    worst = min(kept, key=lambda name: kept[name])
    print(
        f"\nOf the boards that one core counts in {duration(SHORT_SECONDS)} or more, each has"
        f" {kept[worst]:.0%} or more of its best speed-up on {last} cores ({worst} least)."
    )
    apart = [abs(ours[name][most] / measured[name] - 1) for name in long
             if name in measured and most in ours[name]]  # fmt: skip
    if apart:
        print(
            f"What is simulated of them on {most} cores is within {max(apart):.0%} of what was"
            " measured."
        )
    print_sources("bench", "simulated", theirs=True)


def coefficients() -> dict[str, dict[str, float]]:
    """The correlation of the speed-up with everything else, ours and theirs."""
    most = threads()
    measured = of_twelve(measured_points(RESULTS / "bench.json", most))
    computed = of_twelve(simulated_points(virtual(), MOST_CORES))
    fewer = "" if len(measured) == len(SPEED_UPS) else f", {len(measured)} boards"
    found = {
        f"ours, measured on {most} threads{fewer}": matrix(list(measured.values())),
        f"ours, simulated on {MOST_CORES} cores": matrix(list(computed.values())),
        f"theirs, on {MOST_CORES} cores": CORRELATIONS,
    }
    return {
        title: dict(zip(CORRELATED, (float(value) for value in values[-1]), strict=True))
        for title, values in found.items()
    }


def over_all_cores() -> dict[str, dict[str, float]]:
    """Correlate speed-ups with cores and boards, over all boards and published numbers of cores."""
    theirs = {name: dict(zip(CORES, line, strict=True)) for name, line in SPEED_UPS.items()}
    boards = {name: collection.load(name) for name in SPEED_UPS}
    found = {}
    for title, lines in (("ours, simulated", speed_ups()), ("theirs", theirs)):
        points = [
            (number, np.log10(float(board.search_space)), board.empty_cells,
             collection.entry(name).count, lines[name][number])
            for name, board in boards.items() for number in CORES
        ]  # fmt: skip
        *columns, faster = zip(*points, strict=True)
        values = [coefficient([float(value) for value in column], faster) for column in columns]
        found[title] = dict(zip(("cores", *CORRELATED[:3]), values, strict=True))
    return found


def goes_with(line: dict[str, float]) -> str:
    """Whether the speed-up is correlated more with the solutions or with the size of a board."""
    if line[WORK] > max(line[name] for name in SIZE):
        return "the solutions"
    return "the size" if line[WORK] < min(line[name] for name in SIZE) else "neither"


def depends(_: Path | None = None) -> None:
    """Print what the speed-up is correlated with, on some cores and over all numbers of cores."""
    found = coefficients()
    names = CORRELATED[:-1]
    rows = [
        [title, *(f"{line[name]:.2f}" for name in names), goes_with(line)]
        for title, line in found.items()
    ]
    table(["the speed-up of 12 boards", *names, "goes more with"], rows)
    print()
    every = over_all_cores()
    heads = [f"the same on {len(CORES)} numbers of cores at once", *next(iter(every.values()))]
    table(heads, [[title, *(f"{value:.2f}" for value in line.values())]
                  for title, line in every.items()])  # fmt: skip
    print_sources("bench", "simulated", theirs=True)


def empty(_: Path | None = None) -> None:
    """Print the times of the empty board in different tables, and what each includes."""
    contractions, shares, numbers = (
        recorded(RESULTS / f"{name}.json")["runs"]
        for name in ("contraction", "shares", "by_number")
    )
    called, once = (
        [run["count_seconds"] for run in runs if run["clues"] == 0 and "board" in run]
        for runs in (shares, numbers)
    )
    turns, row = (
        [run["seconds"] for run in contractions if run["group"] == group]
        for group in ("empty", "0")
    )
    lines = [
        (turns, "the first table above", "engine time, after the other boards of the table"),
        (row, "the second, no clues", "engine time, again and again"),
        (called, "[shares](more-results.md#shares)",
         "a call of `count` in Python, again and again"),
        (once, "[solutions by number](more-results.md#solutions-by-number)",
         "a call of `count` in Python, once"),
    ]  # fmt: skip
    table(["the empty board", "runs", "where", "what the time includes"],
          [[duration(median(seconds)), f"{len(seconds)}", where, what]
           for seconds, where, what in lines])  # fmt: skip
    print_sources("contraction", "shares", "by_number")


def power(cutoff: float) -> str:
    """A search space: 1e30."""
    return f"{cutoff:.0e}".replace("e+", "e")


class Pictured(NamedTuple):
    """A run whose cores are drawn: how much faster, and how many cores search on average."""

    speed_up: float
    searching: float


def pictured() -> dict[str, Pictured]:
    """The runs whose cores are drawn, by their settings."""
    found, runs = {}, virtual()
    seconds = plain(runs)
    for run in runs:
        if "busy" in run:
            line = run["busy"]["search"]
            title = "no cutoff" if run["cutoff"] is None else f"cutoff {power(run['cutoff'])}"
            title += "" if run["sharing"] else ", nothing handed over"
            faster = seconds[run["board"]][1] / run["seconds"]
            found[title] = Pictured(faster, sum(line) / len(line))
    return found


def busy(_: Path | None = None) -> None:
    """Print how busy cores were, measured and simulated."""
    most = threads()
    shares = [row["utilisation"] for row in searches() if row["jobs"] == most
              and row["median"] >= SHORT_SECONDS and row["utilisation"]]  # fmt: skip
    if shares:
        print(
            f"Measured: in searches of {duration(SHORT_SECONDS)} or more, {most} threads work"
            f" for {median(shares):.1%} of the time in the median, {min(shares):.1%} at least"
            f" ({len(shares)} boards).\n"
        )
    run: dict[str, Any] = next(run for run in virtual() if "busy" in run)
    table(
        [
            f"{run['board']} on {run['workers']} virtual cores",
            "speed-up",
            "cores searching, on average",
        ],
        [[title, f"{faster:.1f}", f"{mean:.1f}"] for title, (faster, mean) in pictured().items()],
    )
    print_sources("bench", "simulated")


@command("findings")
def main() -> None:
    """Print all of it."""
    for part in (times, cores, depends, busy, empty):
        part()
        print()


if __name__ == "__main__":
    main()
