"""What the results say of many cores against one, beside what the authors of the boards published.

Nothing is measured here. Every function prints a table, and what follows from it in words.

    python benchmarks/findings.py
"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from machine import RESULTS, recorded, source
from published import CORES, CORRELATED, CORRELATIONS, SECONDS, SPEED_UPS, THEIRS
from script import Run, command, repeated, table
from simulated_figures import (
    SHORT_SECONDS,
    measured_points,
    measured_speed_ups,
    plain,
    simulated_points,
)
from summary import duration, factor

from gpusudoku import collection
from gpusudoku.bench import tables
from gpusudoku.bench.correlations import matrix
from gpusudoku.bench.summary import Row

PARTS = {"bench": "bench", "cutoff-space": "cutoff", "cutoff-empty": "cutoff"}
"""Results that ``gpusudoku bench`` writes, and the part of ``report.py`` that runs it."""
MOST_CORES = max(CORES)
SIZE, WORK = CORRELATED[:2], "solutions"
"""What tells the size of a board, and what tells how much there is to search."""


def print_sources(*names: str, theirs: bool = False) -> None:
    """Print where figures are from."""
    lines = []
    for name in names:
        script = f"report.py {PARTS[name]}" if name in PARTS else f"{name}.py"
        lines.append(source(RESULTS / f"{name}.json", f"python benchmarks/{script}"))
    for line in dict.fromkeys(lines):
        print(f"\n{line}")
    if theirs:
        print(f"\n*Theirs: {THEIRS}*")


def searches(name: str = "bench") -> list[Row]:
    """The rows of recorded searches."""
    rows, _ = tables.read_json(str(RESULTS / f"{name}.json"))
    return [row for row in rows if row["method"] == "search" and row["median"]]


def threads() -> int:
    """The most threads that were measured."""
    return int(max(row["jobs"] for row in searches()))


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


def times(_: Path | None = None) -> None:
    """Print the times of the twelve boards beside theirs."""
    rows, _machine = tables.read_json(str(RESULTS / "bench.json"))
    most = threads()
    heads = ["board", "solutions", "theirs, 1 core", f"theirs, {MOST_CORES} cores"]
    heads += ["our search, 1 core", f"our search, {most} cores", f"quicker method, {most} cores"]
    lines = []
    for name, theirs in SECONDS.items():
        ours = {(row["method"], row["jobs"]): row["median"] for row in rows
                if row["board"] == name and row["device"] == "cpu" and row["median"]}  # fmt: skip
        one, many = ours["search", 1], ours["search", most]
        quicker = min(seconds for (_way, jobs), seconds in ours.items() if jobs == most)
        cells = [*theirs, one, many, quicker]
        lines.append([name, f"{collection.entry(name).count:,}", *map(duration, cells),
                      factor(theirs[0] / one)])  # fmt: skip
    print(f"{repeated([row.times for row in rows if row['board'] in SECONDS])}\n")
    table([*heads, "theirs over ours, 1 core"], lines)
    print_sources("bench", theirs=True)


def cores(_: Path | None = None) -> None:
    """Print the speed-ups of the twelve boards beside theirs, and what too many cores do."""
    ours, seconds = speed_ups(), plain(virtual())
    measured = measured_speed_ups(RESULTS / "bench.json")
    shown = (2, 16, MOST_CORES)
    heads = ["board", "1 core, simulated", "2 cores, measured", *(f"{n}, simulated" for n in shown)]
    heads += ["best, simulated", *(f"theirs, {n}" for n in shown)]
    rows = []
    for name, theirs in SPEED_UPS.items():
        line = ours[name]
        best = max(line, key=lambda number: line[number])
        cells = [name, duration(seconds[name][1]), f"{measured[name]:.2f}"]
        cells += [f"{line[number]:.1f}" for number in shown]
        cells += [f"{line[best]:.1f} on {best}" if best > 1 else "none"]
        rows.append([*cells, *(f"{theirs[CORES.index(number)]:.1f}" for number in shown)])
    table(heads, rows)
    long = [name for name in SPEED_UPS if seconds[name][1] >= SHORT_SECONDS]
    last = max(ours[long[0]])
    kept = {name: ours[name][last] / max(ours[name].values()) for name in long}
    worst = min(kept, key=lambda name: kept[name])
    apart = max(abs(ours[name][2] / measured[name] - 1) for name in long)
    print(
        f"\nOf the boards that one core counts in {duration(SHORT_SECONDS)} or more, {worst} bears"
        f" too many cores worst: on {last} cores it keeps {kept[worst]:.0%} of its best speed-up."
        f" On two cores, what is simulated is within {apart:.0%} of what was measured."
    )
    print_sources("bench", "simulated", theirs=True)


def coefficients() -> dict[str, dict[str, float]]:
    """The correlation of the speed-up with everything else, ours and theirs."""
    measured = measured_points(RESULTS / "bench.json", 2)
    computed = simulated_points(virtual(), MOST_CORES)
    found = {
        "ours, measured on 2 threads": matrix([measured[name] for name in SPEED_UPS]),
        f"ours, simulated on {MOST_CORES} cores": matrix([computed[name] for name in SPEED_UPS]),
        f"theirs, on {MOST_CORES} cores": CORRELATIONS,
    }
    return {
        title: dict(zip(CORRELATED, (float(value) for value in values[-1]), strict=True))
        for title, values in found.items()
    }


def goes_with(line: dict[str, float]) -> str:
    """Whether the speed-up is correlated more with the solutions or with the size of a board."""
    if line[WORK] > max(line[name] for name in SIZE):
        return "the solutions"
    return "the size" if line[WORK] < min(line[name] for name in SIZE) else "neither"


def depends(_: Path | None = None) -> None:
    """Print what the speed-up is correlated with."""
    found = coefficients()
    names = CORRELATED[:-1]
    rows = [
        [title, *(f"{line[name]:.2f}" for name in names), goes_with(line)]
        for title, line in found.items()
    ]
    table(["the speed-up of 12 boards", *names, "goes more with"], rows)
    print_sources("bench", "simulated", theirs=True)


def power(cutoff: float) -> str:
    """A search space: 1e30."""
    return f"{cutoff:.0e}".replace("e+", "e")


class Pictured(NamedTuple):
    """A run whose cores are drawn: how much faster, and how many cores search on average."""

    speed_up: float
    searching: float


def pictured() -> dict[str, Pictured]:
    """The runs whose cores are drawn, by their settings."""
    found = {}
    for run in virtual():
        if "busy" in run:
            line = run["busy"]["search"]
            title = "no cutoff" if run["cutoff"] is None else f"cutoff {power(run['cutoff'])}"
            title += "" if run["sharing"] else ", nothing handed over"
            alone = plain(virtual())[run["board"]][1]
            found[title] = Pictured(alone / run["seconds"], sum(line) / len(line))
    return found


def busy(_: Path | None = None) -> None:
    """Print how busy cores were, simulated and measured."""
    run: dict[str, Any] = next(run for run in virtual() if "busy" in run)
    table(
        [
            f"{run['board']} on {run['workers']} virtual cores",
            "speed-up",
            "cores searching, on average",
        ],
        [[title, f"{faster:.1f}", f"{mean:.1f}"] for title, (faster, mean) in pictured().items()],
    )
    most = threads()
    shares = [row["utilisation"] for row in searches() if row["jobs"] == most
              and row["median"] >= SHORT_SECONDS and row["utilisation"]]  # fmt: skip
    print(
        f"\nMeasured: in searches of {duration(SHORT_SECONDS)} or more, {most} threads work for"
        f" {median(shares):.1%} of the time in the median, {min(shares):.1%} at least"
        f" ({len(shares)} boards)."
    )
    print_sources("simulated", "bench")


@command("findings")
def main() -> None:
    """Print all of it."""
    for part in (times, cores, depends, busy):
        part()
        print()


if __name__ == "__main__":
    main()
