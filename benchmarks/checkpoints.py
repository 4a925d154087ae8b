"""What ``--checkpoint`` costs: whole commands with and without it, in turn."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path
from statistics import median

import click
from batches import own_puzzles
from listing import cpu_seconds
from machine import record, recorded
from script import Run, check, grouped, repeated, script, table, turns

from gpusudoku import collection
from gpusudoku.jobs.cores import usable_cores

CASES = {
    "a count by search": ("count", "2f", ["--method", "search"]),
    "a listing by number": ("enumerate", "1f", []),
    "a listing by search": ("enumerate", "1e", ["--method", "search"]),
    "a batch": ("count", "", ["--limit", "2", "--format", "csv"]),
}
"""Commands, their boards (none: a file of puzzles), and their options."""
PUZZLES = 200_000
"""Lines of that file."""


def run(case: str, kept: bool, folder: Path, threads: int) -> Run:
    """Run a command once.

    Raises
    ------
    MismatchError
        If its output has another number of solutions, or of lines.
    """
    name, board, options = CASES[case]
    output = folder / "output"
    words = [sys.executable, "-m", "gpusudoku", name, f"@{board}" if board else "puzzles.txt"]
    words += [*options, "-j", str(threads), "--device", "cpu", "-q", "-o", "output", "--force"]
    words += ["--checkpoint", "run.sqlite"] if kept else []
    start, before = time.perf_counter(), cpu_seconds()
    subprocess.run(words, cwd=folder, check=True)
    seconds, cpu = time.perf_counter() - start, cpu_seconds() - before
    if name == "count" and board:
        check(case, int(output.read_text()), collection.entry(board).count)
    else:
        right = collection.entry(board).count if board else PUZZLES + 1
        with output.open("rb") as lines:
            check(case, sum(1 for _ in lines), right)
    for path in (output, folder / "run.sqlite"):
        path.unlink(missing_ok=True)
    return {"case": case, "kept": kept, "seconds": seconds, "cpu": cpu}


def measure(threads: int, repeats: int) -> list[Run]:
    """Every run of every case."""
    runs = []
    with tempfile.TemporaryDirectory() as name:
        folder, puzzles = Path(name), own_puzzles()
        lines = (puzzles * (PUZZLES // len(puzzles) + 1))[:PUZZLES]
        (folder / "puzzles.txt").write_text("".join(f"{line}\n" for line in lines))
        for (case, kept), wanted in turns(
            [*product(CASES, [False, True])],
            repeats,
            lambda each: each[0] + " with a checkpoint" * each[1],
        ):
            found = run(case, kept, folder, threads)
            if wanted:
                runs.append(found)
    return runs


def show(path: Path) -> None:
    """Print the table of a recorded file."""
    runs = recorded(path)["runs"]
    cases = grouped(runs, "case", "kept")
    rows = []
    for case in CASES:
        plain, kept = cases[case, False], cases[case, True]
        ratios = [
            median(run[what] for run in kept) / median(run[what] for run in plain)
            for what in ("cpu", "seconds")
        ]
        seconds = median(run["seconds"] for run in plain)
        rows.append([case, f"{seconds:.2f}", *(f"{ratio:.3f}" for ratio in ratios)])
    print(f"{repeated(cases.values())}\n")
    table(["command", "seconds without", "CPU time with, as a ratio", "time, as a ratio"], rows)


@script("checkpoints", show)
@click.option("-j", "--threads", type=click.IntRange(min=1), help="By default all cores.")
@click.option("--repeats", default=5, show_default=True, help="Runs of every case.")
def main(path: Path, threads: int | None, repeats: int) -> None:
    """Time commands with and without a checkpoint."""
    threads = threads or usable_cores()
    record(path, measure(threads, repeats), checkpoint_threads=threads)


if __name__ == "__main__":
    main()
