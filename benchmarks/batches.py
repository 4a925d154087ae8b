"""Time the commands on batches of puzzles, reading and printing included.

A batch is a file of puzzles, repeated until it has the number of lines that is asked for. Every
command runs on that file and on a tenth of it. The difference is the time of the other nine
tenths: start-up and compiling cancel out.

    python benchmarks/batches.py                    puzzles made from the project's own boards
    python benchmarks/batches.py list.txt other.txt puzzles of yours, too, one a line
    python benchmarks/batches.py --show             the table of what was recorded before
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path
from statistics import median

import click
import numpy as np
from generated import shuffled
from machine import gigahertz, record, recorded
from script import Run, grouped, script, table, turns

from gpusudoku import formats
from gpusudoku.errors import GpusudokuError
from gpusudoku.jobs.cores import usable_cores

COMMANDS = ["count --limit 2", "count --only unique", "solve", "enumerate --limit 2"]
OWN = ["1a", "2a", "a1", "b1", "techniques-9x9", "decomposition-9x9", "decomposition-matrix-9x9"]
"""Proper 9x9 puzzles of the project."""
SHORT = 10
"""The short file has this many times fewer lines."""


def puzzles(path: Path) -> list[str]:
    """The lines of a file that are no comments."""
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def own_puzzles() -> list[str]:
    """Ten thousand puzzles made from the project's own: digits, rows and columns exchanged."""
    rng = np.random.default_rng(1)
    cells = np.stack([shuffled(OWN[k % len(OWN)], rng) for k in range(10_000)])
    return formats.write_lines(cells).decode().splitlines()


def measure(batches: dict[str, list[str]], lines: int, repeats: int) -> list[Run]:
    """Time every case."""
    runs = []
    cases = list(product(batches, COMMANDS, sorted({1, usable_cores()})))
    with tempfile.TemporaryDirectory() as folder:
        files = {
            name: [written(Path(folder, f"{index}-{number}"), boards, number)
                   for number in (lines, lines // SHORT)]
            for index, (name, boards) in enumerate(batches.items())
        }  # fmt: skip
        for (name, command, jobs), kept in turns(
            cases, repeats, lambda case: f"{case[0]} {case[1]}", kind=lambda case: case[1:]
        ):
            clock = gigahertz(jobs)
            long, short = (timed(command, jobs, file) for file in files[name])
            if kept:
                number = lines - lines // SHORT
                runs.append({"batch": name, "command": command, "jobs": jobs, "lines": lines,
                             "rate": number / (long - short), "gigahertz": clock})  # fmt: skip
    return runs


def written(path: Path, boards: list[str], lines: int) -> Path:
    """Write boards to a file, again and again until it has the lines."""
    path.write_text("".join(f"{boards[k % len(boards)]}\n" for k in range(lines)))
    return path


def timed(command: str, jobs: int, file: Path) -> float:
    """Time a command on a file, in seconds.

    Raises
    ------
    GpusudokuError
        If it fails: the last line that it wrote to stderr.
    """
    words = [sys.executable, "-m", "gpusudoku", *command.split(), "-j", f"{jobs}"]
    start = time.perf_counter()
    process = subprocess.run(
        [*words, "--device", "cpu", str(file)],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    seconds = time.perf_counter() - start
    if process.returncode:
        raise GpusudokuError(f"{command}: {process.stderr.strip().rpartition(chr(10))[2]}")
    return seconds


def show(path: Path) -> None:
    """Print the tables of a recorded file."""
    runs = recorded(path)["runs"]
    numbers = list(dict.fromkeys(run["jobs"] for run in runs))
    cases = grouped(runs, "batch", "command", "jobs")
    rows = []
    for name, command in grouped(runs, "batch", "command"):
        rates = [median(run["rate"] for run in cases[name, command, jobs]) for jobs in numbers]
        clocks = [
            median(run["gigahertz"] for run in cases[name, command, jobs]) for jobs in numbers
        ]
        # Cores that are lent out to others, or slow down together, are no fault of the program.
        speeds = [rate / rates[0] * clocks[0] / clock
                  for rate, clock in zip(rates[1:], clocks[1:], strict=True)]  # fmt: skip
        rows.append([name, f"`{command}`", *(f"{rate:,.0f}" for rate in rates),
                     *(f"{speed:.2f}" for speed in speeds)])  # fmt: skip
    heads = [*(f"puzzles/s, -j {jobs}" for jobs in numbers),
             *(f"speed-up, -j {jobs}" for jobs in numbers[1:])]  # fmt: skip
    sizes = sorted({run["lines"] for run in runs})
    print(f"Puzzles in a batch: {' and '.join(f'{size:,}' for size in sizes)}.\n")
    table(["batch", "command", *heads], rows, left=2)


@script("batches", show)
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False))
@click.option("--lines", type=click.IntRange(min=SHORT), default=1_000_000, show_default=True,
              help="Puzzles in a batch.")  # fmt: skip
@click.option("--repeats", default=3, show_default=True, help="Runs of every case.")
def main(path: Path, files: tuple[str, ...], lines: int, repeats: int) -> None:
    """Time the commands on the puzzles of FILES."""
    batches = {"own boards, shuffled": own_puzzles()}
    batches |= {Path(name).stem: puzzles(Path(name)) for name in files}
    record(path, measure(batches, lines, repeats))


if __name__ == "__main__":
    main()
