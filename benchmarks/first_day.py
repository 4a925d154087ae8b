"""Time a first sitting: commands one after the other, nothing compiled before the first.

Every sitting begins with an empty cache folder, and every command is a process of its own, timed
from its start to its end. Where cores can be taken away from a process, on Linux, a sitting on one
core follows that on all. Another checkout may be measured in turn, to compare with.

    python benchmarks/first_day.py                     two minutes on two cores
    python benchmarks/first_day.py --other ../older    beside an older version
    python benchmarks/first_day.py --show              the table of what was recorded before
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from itertools import product
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import click
from machine import record, recorded
from script import (
    THIS,
    Run,
    check,
    grouped,
    other_option,
    script,
    table,
    trees_of,
    turns,
)

from gpusudoku import collection
from gpusudoku.errors import GpusudokuError
from gpusudoku.jobs.cores import usable_cores

ROOT = Path(__file__).resolve().parents[1]
BATCH = "batch.txt"
PUZZLES = ("1a", "2a", "a1", "b1")
SITTING = {
    "count @a1": 1,
    "solve @a1": None,
    "enumerate @1c": None,
    "count @empty": 6670903752021072936960,
    "simplify @a1": None,
    "count @1c": 132271,
    f"count {BATCH}": None,
    "count @a1 # again": 1,
}
"""The commands in their order, and the only line that they print, where there is one."""

Case = tuple[str, int]
"""Version, and number of cores."""


def measure(trees: dict[str, Path], repeats: int) -> list[Run]:
    """Every run of every command."""
    pinned = hasattr(os, "sched_setaffinity")
    cores = sorted({1, usable_cores()} if pinned else {usable_cores()}, reverse=True)
    runs: list[Run] = []
    cases: list[Case] = list(product(trees, cores))
    for (version, number), _ in turns(
        cases, repeats, lambda case: f"{case[0]}, {case[1]} cores", warm_up=False
    ):
        with TemporaryDirectory() as folder:
            for command, line in SITTING.items():
                seconds = timed(command, line, trees[version], Path(folder), number)
                runs.append(
                    {"version": version, "cores": number, "command": command, "seconds": seconds}
                )
    return runs


def timed(command: str, line: int | None, tree: Path, folder: Path, cores: int) -> float:
    """The seconds of one command of a version, whose answer is checked."""
    batch = folder / BATCH
    if not batch.exists():
        batch.write_text("".join(f"{collection.load(name)}\n" for name in PUZZLES))
    words = [str(batch) if word == BATCH else word for word in command.partition(" #")[0].split()]
    environment = {
        **os.environ,
        "PYTHONPATH": str(tree),
        "GPUSUDOKU_CACHE_DIR": str(folder / "cache"),
        "GPUSUDOKU_DEVICE": "cpu",
    }
    before = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    if before is not None:  # what is started has as many cores as this process
        os.sched_setaffinity(0, sorted(before)[:cores])
    start = time.perf_counter()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "gpusudoku", *words],
            cwd=tree,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        if before is not None:
            os.sched_setaffinity(0, before)
    seconds = time.perf_counter() - start
    if done.returncode:
        raise GpusudokuError(f"{command}: {done.stderr.strip()}")
    if line is not None:
        check(command, int(done.stdout), line)
    return seconds


def show(path: Path) -> None:
    """Print the table of a recorded file."""
    results = recorded(path)
    runs = results["runs"]
    columns = list(grouped(runs, "version", "cores"))
    cases = grouped(runs, "command", "version", "cores")
    rows = [
        [f"`{command}`", *(seconds(cases[command, version, cores]) for version, cores in columns)]
        for (command,) in grouped(runs, "command")
    ]
    table(["command", *(head(version, cores) for version, cores in columns)], rows)


def seconds(case: list[Run]) -> str:
    """The median of some runs."""
    return f"{median(run['seconds'] for run in case):.2f} s"


def head(version: str, cores: int) -> str:
    """The head of a column."""
    text = "1 core" if cores == 1 else f"{cores} cores"
    return text if version == THIS else f"{version}, {text}"


@script("first_day", show)
@other_option
@click.option("--repeats", default=3, show_default=True, help="Sittings of every kind.")
def main(path: Path, other: str | None, repeats: int) -> None:
    """Time the commands of a first sitting, which begins with nothing compiled."""
    record(path, measure(trees_of(other), repeats))


if __name__ == "__main__":
    main()
