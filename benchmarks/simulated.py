"""Search on 1 to 128 virtual cores: what the speed-up depends on, and how to choose a cutoff.

The program's own compiled scheduler runs under virtual clocks (``virtual``). The compiled search
really runs, on one core, and its nodes are counted; what a node and all other steps take is
measured. So the figures depend on the machine by these few costs only, and other programs hardly
disturb them. Beside them stand the speed-ups that were measured on real cores (results/bench.json),
and those that another project has published (``published``).

    python benchmarks/simulated.py           ten minutes; figures.py draws the figures
    python benchmarks/simulated.py --show    the tables of what was recorded before
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

import click
import virtual
from machine import RESULTS, record, recorded, source
from published import CORES, SPEED_UPS
from script import Run, board_names, check, script, table
from simulated_figures import measured_speed_ups, plain
from virtual import Beginning, Costs

from gpusudoku import collection
from gpusudoku.jobs.cores import usable_cores

SERIES = [f"{series}{number}" for series, numbers in
          (("1", "abcdef"), ("2", "abcdef"), ("a", "12345678"), ("b", "12345678"))
          for number in numbers]  # fmt: skip
WORKERS = [1, *CORES, 128]
SHOWN = [1, 2, 8, 16, 32, 64, 128]
"""The numbers of workers in the table."""
ROUNDS = 3
"""Times that costs are measured: the least counts, as a core may be slow."""

BOARD = "2e"
"""The board of the runs that show what matters."""
CUTOFF_WORKERS = [2, 16, 64]
CUTOFFS = [1e20, 1e25, 1e30, 1e35, 1e40, 1e43]
PICTURED = [(1e20, True), (1e30, False), (None, True)]
"""Cutoff and sharing of the runs whose cores are drawn, with this many workers:"""
PICTURED_WORKERS = 16
BINS = 120
WITHOUT = {
    "Python before threads start": ("call", "search"),
    "starting threads": ("thread",),
    "sleeping longer than asked": ("sleep",),
}
"""Costs that are left out, to see how much they matter."""


@dataclass(frozen=True)
class Case:
    """A virtual run."""

    name: str
    workers: int
    cutoff: float | None = None
    sharing: bool = True
    without: str = ""
    bins: int = 0
    """In how many parts of the time the work of the cores is recorded."""


def measured_costs() -> Costs:
    """The least of each cost in some rounds."""
    return Costs(*map(min, zip(*[virtual.measured_costs() for _ in range(ROUNDS)], strict=True)))


def simulate(
    beginnings: dict[tuple[str, float | None], Beginning], costs: Costs, case: Case
) -> Run:
    """One virtual run, whose count is checked."""
    beginning = beginnings[case.name, case.cutoff]
    costs = costs._replace(**dict.fromkeys(WITHOUT.get(case.without, ()), 0.0))
    outcome = virtual.simulate(beginning, case.workers, costs, sharing=case.sharing)
    check(case.name, outcome.count, collection.entry(case.name).count)
    run = {
        "board": case.name, "workers": case.workers, "cutoff": case.cutoff,
        "sharing": case.sharing, "without": case.without, "seconds": outcome.seconds,
        "frontier_boards": len(beginning.frontier), "spent": outcome.spent,
    }  # fmt: skip
    trace, seconds = outcome.trace, outcome.seconds
    return run | ({"busy": profile(trace, seconds, case.bins)} if case.bins else {})


def profile(
    trace: list[tuple[str, float, float]], seconds: float, bins: int
) -> dict[str, list[float]]:
    """How many cores searched, and how many prepared it, in each of equal parts of the time."""
    width = seconds / bins
    found = {"search": [0.0] * bins, "preparing": [0.0] * bins}
    for what, start, end in trace:
        line = found["search" if what == "search" else "preparing"]
        for index in range(min(int(start / width), bins - 1), min(int(end / width) + 1, bins)):
            inside = min(end, (index + 1) * width) - max(start, index * width)
            line[index] += max(0.0, inside) / width
    return {what: [round(value, 3) for value in line] for what, line in found.items()}


def cases(names: Sequence[str], workers: Sequence[int]) -> Iterator[Case]:
    """All runs."""
    for name, number in product(names, workers):
        if name in SPEED_UPS or number in SHOWN:
            yield Case(name, number)
    if BOARD not in names:
        return
    for number, cutoff, sharing in product(CUTOFF_WORKERS, CUTOFFS, (True, False)):
        yield Case(BOARD, number, cutoff, sharing)
    for number, what in product(CUTOFF_WORKERS[1:], WITHOUT):
        yield Case(BOARD, number, without=what)
    for cutoff, sharing in PICTURED:
        yield Case(BOARD, PICTURED_WORKERS, cutoff, sharing, bins=BINS)


def rows_of(runs: list[Run], workers: Sequence[int]) -> Iterator[list[str]]:
    """The speed-ups of every board, and beside those of two workers what was measured."""
    measured = measured_speed_ups(RESULTS / "bench.json")
    for name, seconds in plain(runs).items():
        cells = [f"{seconds[1] / seconds[number]:.2f}" for number in workers if number in seconds]
        beside = f" ({measured[name]:.2f})" if name in measured else ""
        if len(cells) > 1:
            cells[1] += beside
        yield [name, f"{collection.entry(name).count:,}", f"{1e3 * seconds[1]:.3g}", *cells[1:]]


def show(path: Path) -> None:
    """Print the tables of a recorded file."""
    results = recorded(path)
    machine, runs = results["machine"], results["runs"]
    costs = ", ".join(f"{what} {1e6 * seconds:.3g}" for what, seconds in machine["costs"].items())
    print(f"Costs in microseconds: {costs}.\n")
    numbers = [number for number in SHOWN if number in {run["workers"] for run in runs}]
    heads = [f"{number} cores" for number in numbers[1:]]
    table(["board", "solutions", "1 core, ms", *heads], rows_of(runs, numbers))
    bench = RESULTS / "bench.json"
    if bench.is_file():
        print(f"\nIn parentheses: {source(bench, 'python benchmarks/report.py bench').strip('*')}")
    show_without(runs)


def show_without(runs: list[Run]) -> None:
    """Print how much faster one board would be counted if something took no time."""
    found: dict[str, dict[int, float]] = {"": plain(runs).get(BOARD, {})}
    for run in runs:
        if run["without"]:
            found.setdefault(run["without"], {})[run["workers"]] = run["seconds"]
    if len(found) == 1:
        return
    alone, numbers = found[""][1], CUTOFF_WORKERS[1:]
    print(f"\nSpeed-up of {BOARD}, if something took no time:\n")
    table(
        ["left out", *(f"{number} cores" for number in numbers)],
        [
            [what or "nothing", *(f"{alone / seconds[number]:.1f}" for number in numbers)]
            for what, seconds in found.items()
        ],
    )


@script("simulated", show)
@click.argument("boards", nargs=-1)
@click.option("--workers", default=",".join(map(str, WORKERS)), show_default=True,
              help="Numbers of virtual cores.")  # fmt: skip
def main(path: Path, boards: tuple[str, ...], workers: str) -> None:
    """Simulate the search of BOARDS (names as in "gpusudoku boards") on virtual cores."""
    names = board_names(boards or SERIES)
    todo = list(cases(names, [int(number) for number in workers.split(",")]))
    costs = measured_costs()
    beginnings = {
        (name, cutoff): virtual.begin(collection.load(name), cutoff)
        for name, cutoff in dict.fromkeys((case.name, case.cutoff) for case in todo)
    }
    runs: list[Run] = []
    with ThreadPoolExecutor(usable_cores()) as pool:
        for run in pool.map(partial(simulate, beginnings, costs), todo):
            runs.append(run)
            progress = f"{len(runs)}/{len(todo)} {run['board']} {run['workers']}"
            click.echo(f"\r{progress:<40}", nl=False, err=True)
    click.echo("", err=True)
    record(path, runs, costs=costs._asdict())


if __name__ == "__main__":
    main()
