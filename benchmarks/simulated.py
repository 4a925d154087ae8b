"""Search on 1 to 128 virtual cores: what the speed-up depends on, and how to choose a cutoff.

The program's own way of sharing work runs under a virtual clock (``virtual_search``). The compiled
search really runs, on one core, and its nodes are counted; what a node and all other steps take is
measured (``virtual_costs``). So the figures depend on the machine by these few costs only, and
other programs hardly disturb them. Beside them stand the speed-ups that were measured on real cores
(results/bench.json), and those that another project has published (``published``).

    python benchmarks/simulated.py           four minutes; figures.py draws the figures
    python benchmarks/simulated.py --show    the tables of what was recorded before
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import click
from machine import RESULTS, record, recorded, source
from published import CORES, SPEED_UPS
from script import Run, board_names, check, script, table
from simulated_figures import measured_speed_ups, plain
from virtual_costs import measured_costs, node_seconds, processor_seconds
from virtual_search import Costs, simulated

from gpusudoku import collection

SERIES = [f"{series}{number}" for series, numbers in
          (("1", "abcdef"), ("2", "abcdef"), ("a", "12345678"), ("b", "12345678"))
          for number in numbers]  # fmt: skip
WORKERS = [1, *CORES, 128]
SHOWN = [1, 2, 8, 16, 32, 64, 128]
"""The numbers of workers in the table."""
ROUNDS = 3
"""Times that every board is measured."""
ENOUGH_NODES = 100_000
"""A board with fewer nodes says little of what a node takes; those of the others stand for it."""

BOARD = "2e"
"""The board of the runs that show what matters."""
CUTOFF_WORKERS = [2, 16, 64]
CUTOFFS = [1e15, 1e20, 1e25, 1e30, 1e35, 1e40, 1e43]
PICTURED = [(1e20, True), (1e40, False), (None, True)]
"""Cutoff and sharing of the runs whose cores are drawn, with this many workers:"""
PICTURED_WORKERS = 16
BINS = 120
CHECKED, CHECKED_THREADS = ("1d", "2d", "2e"), (1, 8, 64, 128)
"""Boards, and numbers of real threads, whose processor time is compared with what is charged."""
WITHOUT = {
    "Python between calls": ("report", "take", "task", "share"),
    "making the frontier": ("round", "split"),
    "making, starting and waking threads": ("worker", "thread", "wake"),
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


def rates(names: Sequence[str]) -> dict[str, float]:
    """Seconds for each node of every board: the least of some rounds, as a core may be slow."""
    rounds = [{name: node_seconds(name) for name in names} for _ in range(ROUNDS)]
    found = {name: min(each[name] for each in rounds) for name in names}
    enough = {name: seconds for name, (seconds, nodes) in found.items() if nodes >= ENOUGH_NODES}
    if not enough:
        return {name: seconds for name, (seconds, _) in found.items()}
    middle = sorted(enough.values())[len(enough) // 2]
    return {name: enough.get(name, middle) for name in names}


def simulate(case: Case, costs: Costs, node: float) -> Run:
    """One virtual run, whose count is checked."""
    costs = replace(costs, **dict.fromkeys(WITHOUT.get(case.without, ()), 0.0))
    options: dict[str, Any] = {"cutoff": case.cutoff, "sharing": case.sharing}
    found, world = simulated(collection.load(case.name), case.workers, costs, node, **options)
    check(case.name, found.count, collection.entry(case.name).count)
    stats: Any = found.stats
    run = {
        "board": case.name, "workers": case.workers, **options, "without": case.without,
        "seconds": stats.seconds, "frontier_seconds": stats.expansion_seconds,
        "frontier_boards": stats.frontier_boards, "cutoff_reached": stats.cutoff_reached,
        "nodes": stats.nodes, "spent": dict(world.spent),
    }  # fmt: skip
    return run | ({"busy": profile(world.trace, stats.seconds, case.bins)} if case.bins else {})


def profile(
    trace: list[tuple[str, float, float]], seconds: float, bins: int
) -> dict[str, list[float]]:
    """How many cores searched, and how many ran Python, in each of equal parts of the time."""
    width = seconds / bins
    found = {"search": [0.0] * bins, "python": [0.0] * bins}
    for what, start, end in trace:
        line = found["search" if what == "search" else "python"]
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
    nodes = [1e9 * seconds for seconds in machine["node_seconds"].values()]
    print(f"A node takes {min(nodes):.0f} to {max(nodes):.0f} ns. In microseconds: {costs}.\n")
    numbers = [number for number in SHOWN if number in {run["workers"] for run in runs}]
    heads = [f"{number} cores" for number in numbers[1:]]
    table(["board", "solutions", "1 core, ms", *heads], rows_of(runs, numbers))
    bench = RESULTS / "bench.json"
    if bench.is_file():
        print(f"\nIn parentheses: {source(bench, 'python benchmarks/report.py bench').strip('*')}")
    show_without(runs)
    show_checked(runs, machine["processor_seconds"])


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


def charged(runs: list[Run], name: str) -> dict[int, float]:
    """Seconds that all virtual cores together were charged for a board, by their number."""
    return {
        run["workers"]: sum(run["spent"].values())
        for run in runs
        if run["board"] == name and run["cutoff"] is None and not run["without"]
    }


def show_checked(runs: list[Run], measured: dict[str, dict[str, float]]) -> None:
    """Print the processor time of real threads beside what was charged."""
    if not measured:
        return
    print("\nProcessor time of real threads over that of one, and in parentheses as simulated:\n")
    rows, apart = [], []
    for name, line in measured.items():
        virtual = charged(runs, name)
        pairs = [(line[str(n)] / line["1"], virtual[n] / virtual[1]) for n in CHECKED_THREADS[1:]]
        rows.append([name, *(f"{real:.2f} ({computed:.2f})" for real, computed in pairs)])
        apart += [abs(real / computed - 1) for real, computed in pairs]
    table(["board", *(f"{number} threads" for number in CHECKED_THREADS[1:])], rows)
    print(f"\nThey differ by {max(apart):.0%} at most.")


def checked(names: Sequence[str]) -> dict[str, dict[str, float]]:
    """Processor seconds of real threads, by board and number."""
    return {name: processor_seconds(name, CHECKED_THREADS) for name in CHECKED if name in names}


@script("simulated", show)
@click.argument("boards", nargs=-1)
@click.option("--workers", default=",".join(map(str, WORKERS)), show_default=True,
              help="Numbers of virtual cores.")  # fmt: skip
def main(path: Path, boards: tuple[str, ...], workers: str) -> None:
    """Simulate the search of BOARDS (names as in "gpusudoku boards") on virtual cores."""
    names = board_names(boards or SERIES)
    costs, nodes = measured_costs(), rates(names)
    todo = list(cases(names, [int(number) for number in workers.split(",")]))
    runs = []
    for case in todo:
        progress = f"{len(runs)}/{len(todo)} {case.name} {case.workers}"
        click.echo(f"\r{progress:<40}", nl=False, err=True)
        runs.append(simulate(case, costs, nodes[case.name]))
    click.echo("", err=True)
    numbers = {case.workers for case in todo}
    real = checked(names) if numbers >= set(CHECKED_THREADS) else {}
    record(path, runs, costs=asdict(costs), node_seconds=nodes, processor_seconds=real)


if __name__ == "__main__":
    main()
