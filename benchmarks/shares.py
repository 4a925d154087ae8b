"""Time the shares of random 9x9 boards by number of clues, as multiples of their counts; batches.

Prints Markdown tables and writes every figure to a JSON file with the description of the machine.
Every count that the shares add up to is checked against the count.

    python benchmarks/shares.py            everything; ten minutes on two cores
    python benchmarks/shares.py --quick    five boards where otherwise there are a hundred
    python benchmarks/shares.py --show     the tables of what was recorded before
"""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median

import click
import numpy as np
from generated import NINE, random_boards
from machine import gigahertz, heading_with_clock, record, recorded
from numpy.typing import NDArray
from script import Run, check, grouped, script, table

import gpusudoku
from gpusudoku import Board
from gpusudoku.contraction.nine.share_batch import many_nine_shares
from gpusudoku.contraction.nine.shares import nine_shares
from gpusudoku.engines.make import make_engine
from gpusudoku.jobs.cores import usable_cores
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.options import Options
from gpusudoku.search.frontier import Frontier

CLUES = [*range(18), 20, 22, 24, 27, 30]
BATCH = 20
"""Clues of the boards of the batch."""
REPEATS = 2
"""Runs of everything; the first is a warm-up."""


def candidates_of(boards: list[Board]) -> NDArray[np.uint64]:
    """The candidates that singles leave, uint64 (B, 81)."""
    return Frontier.of(boards).simplified(SearchSettings()).candidates


def measure(most: int) -> list[Run]:
    """Every run, with at most so many boards of each number of clues."""
    engine, threads, runs = make_engine(Options(device="cpu")), usable_cores(), []
    options = {"engine": engine, "device": "cpu", "method": "contraction"}
    nine_shares(candidates_of([Board.empty(NINE)])[0], threads)
    for clues in CLUES:
        for board in random_boards(clues, most):
            result = gpusudoku.count(board, **options)
            start = time.perf_counter()
            shares = nine_shares(candidates_of([board])[0], threads)
            seconds = time.perf_counter() - start
            check(str(board), int(shares[0].sum()), result.count)
            runs.append({"clues": clues, "board": str(board), "count": str(result.count),
                         "seconds": seconds, "count_seconds": result.stats.seconds})  # fmt: skip
        shown = median(run["seconds"] for run in runs[-most:])
        click.echo(f"{clues} clues: {shown:.4f} s", err=True)
    boards = random_boards(BATCH, 10 * most)
    for _ in range(REPEATS):
        start = time.perf_counter()
        many = many_nine_shares(candidates_of(boards), threads)
        seconds = time.perf_counter() - start
    total = sum(result.count for result in gpusudoku.count_many(boards, **options))
    check("the batch", int(many[:, 0].sum()), total)
    runs.append({"clues": BATCH, "boards": len(boards), "seconds": seconds})
    return runs


def show(path: Path) -> None:
    """Print the tables of a recorded file."""
    results = recorded(path)
    print(f"{heading_with_clock(results['machine'])}\n")
    alone = [run for run in results["runs"] if "board" in run]
    rows = []
    for (clues,), runs in grouped(alone, "clues").items():
        shares, counts = ([run[of] for run in runs] for of in ("seconds", "count_seconds"))
        multiples = [one / other for one, other in zip(shares, counts, strict=True)]
        rows.append([str(clues), f"{median(counts):.4f}", f"{median(shares):.4f}",
                     f"{max(shares):.3f}", f"{median(multiples):.1f}"])  # fmt: skip
    table(["clues", "count: median s", "shares: median s", "worst s", "median multiple"], rows)
    for run in results["runs"]:
        if "boards" in run:
            rate = run["boards"] / run["seconds"]
            print(
                f"\nBatch of {run['boards']} boards of {run['clues']} clues: {rate:,.0f} a second."
            )


@script("shares", show)
@click.option("--quick", is_flag=True, help="Five random boards instead of a hundred.")
def main(path: Path, quick: bool) -> None:
    """Time the shares on this machine's cores."""
    cores = usable_cores()
    before = gigahertz(cores)
    runs = measure(5 if quick else 100)
    record(path, runs, gigahertz=[before, gigahertz(cores)])


if __name__ == "__main__":
    main()
