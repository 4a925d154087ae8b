"""Time the contraction of 9x9 boards: boards of the collection, random boards, and batches.

Random boards are timed by number of clues. Prints Markdown tables, and writes every time, the
random boards and the description of the machine to a JSON file. Every known count is checked.

    python benchmarks/contraction.py            everything; six minutes on two cores
    python benchmarks/contraction.py --quick    ten random boards instead of a hundred
    python benchmarks/contraction.py --show     print the tables of the recorded run
"""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median
from typing import Any

import click
from generated import expensive_boards, random_boards
from machine import measure_gigahertz, read_results, record
from script import Run, check_count, group_runs, print_table, script

import gpusudoku
from gpusudoku import Board, collection
from gpusudoku.engines.make import make_engine
from gpusudoku.jobs.threads import usable_cores
from gpusudoku.results import Count

SERIES = [f"{series}{letter}" for series in "12" for letter in "abcdef"]
COLLECTION_BOARDS = ["empty", "top-band-cyclic", "top-band-twisted", *SERIES]
CLUES = range(31)
BATCH_CLUES = [20, 24]
REPEATS = 5
CLUES_PER_TABLE = 11
"""A table of times by number of clues has at most this many columns of times."""
LONG_PRODUCTS = 1e10
"""Boards with more products are so long that start-up hardly affects their rate."""
MAX_PRODUCTS_PER_CYCLE = 64
"""Multiply-adds of 16 bits that a core can start in a cycle: 32 in each of two 512-bit units."""


class Recorder:
    """Counts boards and collects the runs."""

    def __init__(self) -> None:
        self.engine = make_engine(device="cpu")
        self.runs: list[Run] = []

    def count(self, group: str, board: Board, expected: int | None = None) -> float:
        """Count a board once and return the seconds.

        Raises
        ------
        MismatchError
            If the count is not the expected one.
        """
        result = gpusudoku.count(board, engine=self.engine, device="cpu", method="contraction")
        if expected is not None:
            check_count(str(board), result.count, expected)
        self.runs.append({"group": group, "board": str(board), **fields_of(result)})
        return result.stats.seconds

    def count_batch(self, clues: int, number: int) -> None:
        """Count ``number`` random boards in one call."""
        boards = random_boards(clues, number)
        for _ in range(2):  # the first time is a warm-up
            start = time.perf_counter()
            results = gpusudoku.count_many(
                boards, engine=self.engine, device="cpu", method="contraction"
            )
            total = sum(result.count for result in results)
            seconds = time.perf_counter() - start
        self.runs.append(
            {"group": f"batch {clues}", "boards": number, "count": str(total), "seconds": seconds}
        )


def fields_of(result: Count) -> dict[str, Any]:
    """Return the recorded fields of a contraction; ``estimate`` is its estimated seconds."""
    return {
        "count": str(result.count),
        "seconds": result.stats.seconds,
        "products": result.stats.products,
        "estimate": result.estimates.contraction_seconds,
    }


def measure(quick: bool) -> list[Run]:
    """Return all runs."""
    recorder = Recorder()
    # The first contraction loads or compiles the kernels.
    recorder.count("warm-up", Board.empty(gpusudoku.Geometry(3, 3)))
    # Boards take turns, so that a change of the machine's speed affects all of them.
    for _ in range(REPEATS):
        for name in COLLECTION_BOARDS:
            recorder.count(name, collection.load(name), collection.entry(name).count)
    for clues in BATCH_CLUES:
        recorder.count_batch(clues, 1000 if quick else 4000)
    for index, board in enumerate(expensive_boards(5 if quick else 50)):
        seconds = recorder.count("expensive", board)
        click.echo(f"expensive {index}: {seconds:.2f} s", err=True)
    for clues in CLUES:
        boards = random_boards(clues, 10 if quick else 100)
        times = [recorder.count(f"{clues}", board) for board in boards]
        click.echo(f"{clues} clues: {median(times):.4f} s, worst {max(times):.4f} s", err=True)
    return recorder.runs


def show(path: Path) -> None:
    """Print the tables of a recorded file."""
    results = read_results(path)
    runs = results["runs"]
    # A group has the runs of a board, of a number of clues, of a batch, or of expensive boards.
    groups = {group: members for (group,), members in group_runs(runs, "group").items()}
    seconds = {name: [run["seconds"] for run in groups[name]] for name in groups}
    show_collection(groups, seconds)
    print()
    show_by_clues(seconds)
    show_expensive(seconds["expensive"], runs)
    for clues in BATCH_CLUES:
        [batch] = groups[f"batch {clues}"]
        boards = batch["boards"]
        rate = boards / batch["seconds"]
        print(f"Batch of {boards} boards of {clues} clues: {rate:,.0f} boards a second.\n")
    show_rate(runs, results["machine"])


def show_collection(groups: dict[str, list[Run]], seconds: dict[str, list[float]]) -> None:
    """Print the times of boards of the collection."""
    rows = []
    for name in COLLECTION_BOARDS:
        count = int(groups[name][0]["count"])
        times = seconds[name]
        rows.append([name, f"{count:,}", f"{median(times):.4f}", f"{max(times):.4f}"])
    total = sum(median(seconds[name]) for name in SERIES)
    rows.append(["1a to 2f together", "", f"{total:.4f}", ""])
    print_table(["board", "solutions", "median s", "worst s"], rows)


def show_by_clues(seconds: dict[str, list[float]]) -> None:
    """Print the times of random boards in several tables, with a column for a number of clues."""
    for start in range(0, len(CLUES), CLUES_PER_TABLE):
        clues = [str(number) for number in CLUES[start : start + CLUES_PER_TABLE]]
        medians = [f"{median(seconds[number]):.3g}" for number in clues]
        maxima = [f"{max(seconds[number]):.3g}" for number in clues]
        print_table(["clues", *clues], [["median s", *medians], ["worst s", *maxima]])
        print()


def show_expensive(seconds: list[float], runs: list[Run]) -> None:
    """Print the times of the most expensive boards."""
    max_products = max(run.get("products", 0) for run in runs)
    print(
        f"{len(seconds)} boards of 6 to 8 clues, each a different digit: median"
        f" {median(seconds):.2f} s, worst {max(seconds):.2f} s. The most expensive board of"
        f" all took {max_products:.1e} multiply-adds.\n"
    )


def show_rate(runs: list[Run], machine: dict[str, Any]) -> None:
    """Print the rate of multiply-adds of long contractions, and its share of the peak rate."""
    rates = [
        run["products"] / run["seconds"] for run in runs if run.get("products", 0) > LONG_PRODUCTS
    ]
    # Clock rates were measured before and after the runs.
    cycles_per_second = median(machine["gigahertz"]) * 1e9
    peak = MAX_PRODUCTS_PER_CYCLE * machine["cores"] * cycles_per_second
    print(
        f"Boards of more than 1e10 products: {median(rates):.2e} products a second, with all other"
        f" work ({len(rates)} boards, from {min(rates):.2e} to {max(rates):.2e});"
        f" {median(rates) / peak:.0%} of the peak rate of two 512-bit units per core."
    )


@script("contraction", show)
@click.option("--quick", is_flag=True, help="Ten random boards instead of a hundred.")
def main(path: Path, quick: bool) -> None:
    """Time the contraction on this machine's cores."""
    cores = usable_cores()
    gigahertz_before = measure_gigahertz(cores)
    runs = measure(quick)
    record(path, runs, gigahertz=[gigahertz_before, measure_gigahertz(cores)])


if __name__ == "__main__":
    main()
