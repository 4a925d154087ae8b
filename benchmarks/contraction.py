"""Time the contraction of 9x9 boards: known boards, random ones by number of clues, batches.

Prints Markdown tables and writes every figure, and the random boards, to a JSON file beside the
description of the machine. Every count is checked where another is known.

    python benchmarks/contraction.py            everything; six minutes on two cores
    python benchmarks/contraction.py --quick    ten boards where otherwise there are a hundred
    python benchmarks/contraction.py --show     the tables of what was recorded before
    python benchmarks/contraction.py --code     which vector instructions the sum was compiled to
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections import Counter
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import click
import numpy as np
from machine import RESULTS, gigahertz, heading_with_clock, machine

import gpusudoku
from gpusudoku import Board, collection
from gpusudoku.contraction.nine.sum import stages
from gpusudoku.counting import Options, make_engine
from gpusudoku.engines.cores import usable_cores

SERIES = [f"{series}{letter}" for series in "12" for letter in "abcdef"]
KNOWN = ["empty", "top-band-cyclic", "top-band-twisted", *SERIES]
CLUES = range(31)
EXPENSIVE = [6, 7, 8]
"""Clues of the most expensive boards known, each a different digit."""
BATCHES = [20, 24]
REPEATS = 5
ROW = 11
"""Columns of a table."""
MOST_A_CYCLE = 64
"""16-bit multiply-adds that a core with two 512-bit units begins in a cycle."""


def full_grid(rng: np.random.Generator) -> np.ndarray:
    """A random grid: the cyclic one, its digits, bands, stacks, rows and columns shuffled."""
    row, column = np.divmod(np.arange(81), 9)
    cyclic = ((row % 3 * 3 + row // 3 + column) % 9).reshape(9, 9)

    def lines() -> np.ndarray:
        return np.concatenate([3 * g + rng.permutation(3) for g in rng.permutation(3)])

    return 1 + rng.permutation(9)[cyclic[lines()][:, lines()]]


def random_boards(clues: int, number: int) -> list[Board]:
    """Cells kept of a random grid; the seed is the number of clues."""
    rng = np.random.default_rng(clues)
    boards = []
    for _ in range(number):
        cells = full_grid(rng).ravel()
        cells[rng.permutation(81)[clues:]] = 0
        boards.append(Board(cells))
    return boards


def expensive_boards(number: int) -> list[Board]:
    """Boards of six to eight clues, each a different digit; the seed is 1000."""
    rng = np.random.default_rng(1000)
    boards = []
    for index in range(number):
        grid, cells = full_grid(rng).ravel(), np.zeros(81, np.int64)
        for digit in rng.permutation(9)[: EXPENSIVE[index % len(EXPENSIVE)]]:
            cell = rng.choice(np.flatnonzero(grid == digit + 1))
            cells[cell] = digit + 1
        boards.append(Board(cells))
    return boards


class Bench:
    """Counts and keeps what it took."""

    def __init__(self) -> None:
        self.engine = make_engine(Options(device="cpu"))
        self.runs: list[dict[str, Any]] = []

    def count(self, group: str, board: Board, expected: int | None = None) -> float:
        """Count once; ends the program if the count is known to be another."""
        result = gpusudoku.count(board, engine=self.engine, device="cpu", method="contraction")
        if expected is not None and result.count != expected:
            sys.exit(f"{board}: {result.count} solutions counted, {expected} are right")
        stats = result.stats
        self.runs.append(
            {
                "group": group,
                "board": str(board),
                "count": str(result.count),
                "seconds": stats.seconds,
                "products": stats.products,
                "estimate": stats.contraction_estimate,
            }
        )
        return stats.seconds

    def batch(self, clues: int, number: int) -> None:
        """Count a batch of random boards; boards a second are kept."""
        boards = random_boards(clues, number)
        for _ in range(2):  # the first is a warm-up
            start = time.perf_counter()
            options = {"engine": self.engine, "device": "cpu", "method": "contraction"}
            total = sum(result.count for result in gpusudoku.count_many(boards, **options))
            seconds = time.perf_counter() - start
        self.runs.append(
            {"group": f"batch {clues}", "boards": number, "count": str(total), "seconds": seconds}
        )


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--quick", is_flag=True, help="Ten random boards instead of a hundred.")
@click.option("--output", default=str(RESULTS / "contraction.json"), help="JSON file.")
@click.option("--show", "only_show", is_flag=True, help="Print that file's tables; run nothing.")
@click.option("--code", "only_code", is_flag=True, help="Print the sum's vector instructions.")
def main(quick: bool, output: str, only_show: bool, only_code: bool) -> None:
    """Time the contraction on this machine's cores."""
    if only_code:
        show_code()
        return
    path = Path(output)
    if not only_show:
        measure(path, quick)
    show(path)


def measure(path: Path, quick: bool) -> None:
    """Run everything and write the file."""
    bench, cores = Bench(), usable_cores()
    bench.count("warm-up", Board.empty(gpusudoku.Geometry(3, 3)))
    clocks = [gigahertz(cores)]
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
    clocks.append(gigahertz(cores))
    path.parent.mkdir(exist_ok=True)
    described = {**machine(), "gigahertz": [round(clock, 2) for clock in clocks]}
    path.write_text(json.dumps({"machine": described, "runs": bench.runs}, indent=0) + "\n")


def show(path: Path) -> None:
    """Print the tables of a recorded file."""
    recorded = json.loads(path.read_text())
    described, runs = recorded["machine"], recorded["runs"]
    groups: dict[str, list[dict[str, Any]]] = {}
    for run in runs:
        groups.setdefault(run["group"], []).append(run)
    print(f"{heading_with_clock(described)}\n")
    print("| board | solutions | median s | worst s |\n|---|---:|---:|---:|")
    for name in KNOWN:
        times = [run["seconds"] for run in groups[name]]
        total = int(groups[name][0]["count"])
        print(f"| {name} | {total:,} | {median(times):.4f} | {max(times):.4f} |")
    twelve = sum(median(run["seconds"] for run in groups[name]) for name in SERIES)
    print(f"| 1a to 2f together | | {twelve:.4f} | |\n")
    for start in range(0, len(CLUES), ROW):
        shown = [str(clues) for clues in CLUES[start : start + ROW]]
        print(f"| clues | {' | '.join(shown)} |\n|---|{'---:|' * len(shown)}")
        for label, choose in (("median s", median), ("worst s", max)):
            figures = [choose(run["seconds"] for run in groups[clues]) for clues in shown]
            print(f"| {label} | {' | '.join(f'{figure:.3g}' for figure in figures)} |")
        print()
    expensive = [run["seconds"] for run in groups["expensive"]]
    most = max(run.get("products", 0) for run in runs)
    print(
        f"{len(expensive)} boards of 6 to 8 clues, each a different digit: median"
        f" {median(expensive):.2f} s, worst {max(expensive):.2f} s. The most expensive board of"
        f" all took {most:.1e} multiply-adds.\n"
    )
    for clues in BATCHES:
        run = groups[f"batch {clues}"][0]
        rate = run["boards"] / run["seconds"]
        print(f"Batch of {run['boards']} boards of {clues} clues: {rate:,.0f} boards a second.\n")
    long = [run for run in runs if run.get("products", 0) > 1e10]
    rates = [run["products"] / run["seconds"] for run in long]
    peak = MOST_A_CYCLE * described["cores"] * median(described["gigahertz"]) * 1e9
    print(
        f"Boards of more than 1e10 products: {median(rates):.2e} a second, everything included"
        f" ({len(long)} boards, from {min(rates):.2e} to {max(rates):.2e});"
        f" {median(rates) / peak:.0%} of what two 512-bit units a core could begin."
    )


def show_code() -> None:
    """Count the vector multiplications in the compiled sum."""
    with TemporaryDirectory() as folder:  # Numba does not show code that it loads from disk
        os.environ["GPUSUDOKU_CACHE_DIR"] = folder
        add = stages().sum_narrow.compile()
    code = "".join(add.inspect_asm().values())
    found = Counter(
        f"{name} {register}"
        for name, register in re.findall(r"\b(v?p(?:maddwd|mulld|mullw))\b.*?%([xyz]mm)", code)
    )
    for name, times in sorted(found.items()):
        print(f"{name}: {times}")


if __name__ == "__main__":
    main()
