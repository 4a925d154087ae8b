"""Time the shares of random 9x9 boards by number of clues, beside their counts, and of batches.

Prints Markdown tables and writes every figure to a JSON file with the description of the machine.
Times are what a user waits for in Python: ``gpusudoku.solutions(board).shares()`` of a new object,
and ``gpusudoku.count(board)``. What takes less than SHORT is done three times, and the median
counts. Every count that shares add up to is checked against the count.

    python benchmarks/shares.py            everything; five minutes on two cores
    python benchmarks/shares.py --quick    five boards where otherwise there are many
    python benchmarks/shares.py --show     the tables of what was recorded before
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import click
from generated import NINE, random_boards
from machine import gigahertz, record, recorded
from script import Run, check, grouped, script, table

import gpusudoku
from gpusudoku import Board
from gpusudoku.engines.engine import Engine
from gpusudoku.engines.make import make_engine
from gpusudoku.jobs.cores import usable_cores

CLUES = [0, 5, 8, 12, 17, 20, 24, 30]
BOARDS, FEWER, DEAR = 100, 12, 12
"""Random boards with so many clues; fewer with less than DEAR clues, which take seconds each."""
BATCH = 20
"""Clues of the boards of the batch."""
SHORT = 0.1
"""Seconds; what takes less is repeated."""
REPEATS = 3


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    """The seconds that something takes, and what it gives."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        result = action()
        times.append(time.perf_counter() - start)
        if times[0] > SHORT:
            break
    return median(times), result


def measure_board(board: Board, options: dict[str, Any]) -> Run:
    """The run of one board."""
    counting, result = timed(lambda: gpusudoku.count(board, **options))
    seconds, shares = timed(lambda: gpusudoku.solutions(board, **options).shares())
    check(str(board), int(shares[0].sum()), result.count)
    return {"board": str(board), "count": str(result.count),
            "seconds": seconds, "count_seconds": counting}  # fmt: skip


def by_objects(boards: list[Board], engine: Engine) -> int:
    """Solutions of all boards, by the shares of each in Python."""
    each = (gpusudoku.solutions(board, engine=engine, device="cpu").shares() for board in boards)
    return sum(int(shares[0].sum()) for shares in each)


def by_command(boards: list[Board], folder: Path) -> int:
    """Solutions of all boards, by the command ``shares``; start-up and output are included."""
    file, output = folder / "boards.txt", folder / "shares.jsonl"
    file.write_text("".join(f"{board}\n" for board in boards))
    command = [sys.executable, "-m", "gpusudoku", "shares", str(file), "--json", "--device", "cpu"]
    with output.open("wb") as out:
        subprocess.run(command, stdout=out, check=True)
    with output.open("rb") as lines:
        return sum(int(json.loads(line)["count"]) for line in lines)


def measure_batch(boards: list[Board], engine: Engine) -> list[Run]:
    """The runs of a batch, one for every way."""
    results = gpusudoku.count_many(boards, engine=engine, device="cpu", method="contraction")
    total, runs = sum(result.count for result in results), []
    with TemporaryDirectory() as folder:
        ways: dict[str, Callable[[], int]] = {
            "`solutions(board).shares()` for each": lambda: by_objects(boards, engine),
            "`gpusudoku shares FILE --json`": lambda: by_command(boards, Path(folder)),
        }
        for way, run in ways.items():
            seconds, found = timed(run)
            check(f"the batch, {way}", found, total)
            runs.append({"clues": BATCH, "boards": len(boards), "way": way, "seconds": seconds})
    return runs


def measure(most: int) -> list[Run]:
    """Every run, with at most so many boards of each number of clues."""
    engine, runs = make_engine(device="cpu"), []
    options = {"engine": engine, "device": "cpu"}
    for board in Board.empty(NINE), *random_boards(BATCH, 2):  # loads what is compiled
        measure_board(board, options)
    for clues in CLUES:
        boards = random_boards(clues, min(most, FEWER if clues < DEAR else BOARDS))
        for board in boards:
            runs.append({"clues": clues, **measure_board(board, options)})
        shown = median(run["seconds"] for run in runs[-len(boards) :])
        click.echo(f"{clues} clues: {shown:.4f} s", err=True)
    return runs + measure_batch(random_boards(BATCH, 10 * most), engine)


def show(path: Path) -> None:
    """Print the tables of a recorded file."""
    results = recorded(path)
    alone = [run for run in results["runs"] if "board" in run]
    rows = []
    for (clues,), runs in grouped(alone, "clues").items():
        shares, counts = ([run[of] for run in runs] for of in ("seconds", "count_seconds"))
        multiples = [one / other for one, other in zip(shares, counts, strict=True)]
        rows.append([str(clues), f"{median(counts):.3f}", f"{median(shares):.3f}",
                     f"{max(shares):.3f}", f"{median(multiples):.1f}"])  # fmt: skip
    table(["clues", "count: median s", "shares: median s", "shares: slowest s",
           "shares / count, median"], rows)  # fmt: skip
    batches = [run for run in results["runs"] if "way" in run]
    print(f"\nBatch of {batches[0]['boards']} boards of {batches[0]['clues']} clues:\n")
    rates = [[run["way"], f"{run['boards'] / run['seconds']:,.0f}"] for run in batches]
    table(["way", "boards a second"], rates)


@script("shares", show)
@click.option("--quick", is_flag=True, help="Five random boards instead of a hundred.")
def main(path: Path, quick: bool) -> None:
    """Time the shares on this machine's cores."""
    cores = usable_cores()
    before = gigahertz(cores)
    runs = measure(5 if quick else BOARDS)
    record(path, runs, gigahertz=[before, gigahertz(cores)])


if __name__ == "__main__":
    main()
