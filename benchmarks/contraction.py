"""Time the contraction of 9x9 boards: known boards, random ones by number of clues, batches.

Prints Markdown tables and writes every figure, and the random boards, to a JSON file with the
description of the machine. Every count is checked where another is known.

    python benchmarks/contraction.py            everything; six minutes on two cores
    python benchmarks/contraction.py --quick    ten boards where otherwise there are a hundred
    python benchmarks/contraction.py --show     the tables of what was recorded before
"""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median
from typing import Any

import click
from generated import expensive_boards, random_boards
from machine import gigahertz, record, recorded
from script import Run, check, grouped, script, table

import gpusudoku
from gpusudoku import Board, collection
from gpusudoku.engines.make import make_engine
from gpusudoku.jobs.threads import usable_cores
from gpusudoku.results import Count

SERIES = [f"{series}{letter}" for series in "12" for letter in "abcdef"]
KNOWN = ["empty", "top-band-cyclic", "top-band-twisted", *SERIES]
CLUES = range(31)
BATCHES = [20, 24]
REPEATS = 5
COLUMNS = 11
"""Columns of a table of clues."""
MAX_A_CYCLE = 64
"""16-bit multiply-adds that a core with two 512-bit units begins in a cycle."""


class Recorder:
    """Counts boards, and keeps the figures."""

    def __init__(self) -> None:
        self.engine = make_engine(device="cpu")
        self.runs: list[Run] = []

    def count(self, group: str, board: Board, expected: int | None = None) -> float:
        """Count once; returns the seconds.

        Raises
        ------
        MismatchError
            If the count is known and another one was found.
        """
        result = gpusudoku.count(board, engine=self.engine, device="cpu", method="contraction")
        if expected is not None:
            check(str(board), result.count, expected)
        self.runs.append({"group": group, "board": str(board), **figures(result)})
        return result.stats.seconds

    def batch(self, clues: int, number: int) -> None:
        """Count a batch of random boards."""
        boards = random_boards(clues, number)
        for _ in range(2):  # the first is a warm-up
            start = time.perf_counter()
            options = {"engine": self.engine, "device": "cpu", "method": "contraction"}
            total = sum(result.count for result in gpusudoku.count_many(boards, **options))
            seconds = time.perf_counter() - start
        self.runs.append(
            {"group": f"batch {clues}", "boards": number, "count": str(total), "seconds": seconds}
        )


def figures(result: Count) -> dict[str, Any]:
    """The figures of a contraction that are recorded; seconds beside those it was estimated at."""
    stats = result.stats
    return {"count": str(result.count), "seconds": stats.seconds, "products": stats.products,
            "estimate": result.estimates.contraction_seconds}  # fmt: skip


def measure(quick: bool) -> list[Run]:
    """Every run."""
    bench = Recorder()
    bench.count("warm-up", Board.empty(gpusudoku.Geometry(3, 3)))
    for _ in range(REPEATS):
        for name in KNOWN:
            bench.count(name, collection.load(name), collection.entry(name).count)
    for clues in BATCHES:
        bench.batch(clues, 1000 if quick else 4000)
    for index, board in enumerate(expensive_boards(5 if quick else 50)):
        seconds = bench.count("expensive", board)
        click.echo(f"expensive {index}: {seconds:.2f} s", err=True)
    for clues in CLUES:
        times = [bench.count(f"{clues}", x) for x in random_boards(clues, 10 if quick else 100)]
        click.echo(f"{clues} clues: {median(times):.4f} s, worst {max(times):.4f} s", err=True)
    return bench.runs


def show(path: Path) -> None:
    """Print the tables of a recorded file."""
    results = recorded(path)
    described = results["machine"]
    runs = results["runs"]
    groups = {group: runs for (group,), runs in grouped(runs, "group").items()}
    seconds = {group: [run["seconds"] for run in some] for group, some in groups.items()}
    rows = [
        [name, f"{int(groups[name][0]['count']):,}", f"{median(seconds[name]):.4f}",
         f"{max(seconds[name]):.4f}"]
        for name in KNOWN
    ]  # fmt: skip
    together = sum(median(seconds[name]) for name in SERIES)
    rows.append(["1a to 2f together", "", f"{together:.4f}", ""])
    table(["board", "solutions", "median s", "worst s"], rows)
    print()
    for start in range(0, len(CLUES), COLUMNS):
        shown = [str(clues) for clues in CLUES[start : start + COLUMNS]]
        kinds = {"median s": median, "worst s": max}
        cells = {
            kind: [f"{of(seconds[clues]):.3g}" for clues in shown] for kind, of in kinds.items()
        }
        table(["clues", *shown], [[kind, *row] for kind, row in cells.items()])
        print()
    show_expensive(seconds["expensive"], runs)
    for clues in BATCHES:
        run = groups[f"batch {clues}"][0]
        rate = run["boards"] / run["seconds"]
        print(f"Batch of {run['boards']} boards of {clues} clues: {rate:,.0f} boards a second.\n")
    show_rate(runs, described)


def show_expensive(seconds: list[float], runs: list[Run]) -> None:
    """Print what the most expensive boards take."""
    most = max(run.get("products", 0) for run in runs)
    print(
        f"{len(seconds)} boards of 6 to 8 clues, each a different digit: median"
        f" {median(seconds):.2f} s, worst {max(seconds):.2f} s. The most expensive board of"
        f" all took {most:.1e} multiply-adds.\n"
    )


def show_rate(runs: list[Run], described: dict[str, Any]) -> None:
    """Print the rate of multiply-adds of long contractions, and how near that is to the peak."""
    rates = [run["products"] / run["seconds"] for run in runs if run.get("products", 0) > 1e10]
    peak = MAX_A_CYCLE * described["cores"] * median(described["gigahertz"]) * 1e9
    print(
        f"Boards of more than 1e10 products: {median(rates):.2e} a second, everything included"
        f" ({len(rates)} boards, from {min(rates):.2e} to {max(rates):.2e});"
        f" {median(rates) / peak:.0%} of what two 512-bit units a core could begin."
    )


@script("contraction", show)
@click.option("--quick", is_flag=True, help="Ten random boards instead of a hundred.")
def main(path: Path, quick: bool) -> None:
    """Time the contraction on this machine's cores."""
    cores = usable_cores()
    before = gigahertz(cores)
    runs = measure(quick)
    record(path, runs, gigahertz=[before, gigahertz(cores)])


if __name__ == "__main__":
    main()
