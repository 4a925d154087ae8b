"""Time the commands on batches of puzzles, reading and printing included.

A batch is a file of puzzles, repeated until it has the number of lines that is asked for. Every
command runs on that file and on a tenth of it. The difference is the time of the other nine
tenths: start-up and compiling cancel out. A run on sixteen threads, on however many cores, must
write the same, and tells how much memory that takes. Which share of the work is not compiled tells
how far more cores help (lock_share.py).

    python benchmarks/batches.py                    puzzles made from the project's own boards
    python benchmarks/batches.py list.txt other.txt puzzles of yours, too, one a line
    python benchmarks/batches.py --show             the table of what was recorded before
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path
from statistics import median
from typing import NamedTuple

import click
import numpy as np
from generated import shuffled
from lock_share import bound, lock_share
from machine import gigahertz, machine, recorded, write
from script import Run, grouped, script, table, turns

from gpusudoku import formats
from gpusudoku.errors import GpusudokuError, MismatchError
from gpusudoku.jobs.cores import usable_cores

COMMANDS = ["count --limit 2", "count --only unique", "solve", "enumerate --limit 2"]
OWN = ["1a", "2a", "a1", "b1", "techniques-9x9", "decomposition-9x9", "decomposition-matrix-9x9"]
"""Proper 9x9 puzzles of the project."""
SHORT = 10
"""The short file has this many times fewer lines."""
POLL_SECONDS = 0.005
"""How often a process is looked at."""
MANY = 16
"""Threads of the run that is to show what many do."""


def puzzles(path: Path) -> list[str]:
    """The lines of a file that are no comments."""
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def own_puzzles() -> list[str]:
    """Ten thousand puzzles made from the project's own: digits, rows and columns exchanged."""
    rng = np.random.default_rng(1)
    cells = np.stack([shuffled(OWN[k % len(OWN)], rng) for k in range(10_000)])
    return formats.write_lines(cells).decode().splitlines()


class Done(NamedTuple):
    """What a command took."""

    seconds: float
    cpu: float
    """Seconds on all cores together."""
    peak: int
    """The most bytes of memory at a time."""


def measure(batches: dict[str, list[str]], lines: int, repeats: int) -> tuple[list[Run], list[Run]]:
    """Every run of every case, and what many threads would do."""
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
                rate = number / (long.seconds - short.seconds)
                cpu = (long.cpu - short.cpu) / number
                runs.append({"batch": name, "command": command, "jobs": jobs, "lines": lines,
                             "seconds": long.seconds, "rate": rate, "cpu": cpu,
                             "gigahertz": clock})  # fmt: skip
        many = [many_threads(name, command, files[name], Path(folder))
                for name, command in product(batches, COMMANDS)]  # fmt: skip
    return runs, many


def many_threads(name: str, command: str, files: list[Path], folder: Path) -> Run:
    """A run of more threads than there may be cores, and the share of the work that is compiled.

    Raises
    ------
    MismatchError
        If it does not write what one thread writes.
    """
    alone, threads = folder / "alone", folder / "threads"
    one, many = (timed(command, jobs, files[0], path)
                 for jobs, path in ((1, alone), (MANY, threads)))  # fmt: skip
    if digest(alone) != digest(threads):
        raise MismatchError(f"{command}: {MANY} threads write something else than one")
    return {"batch": name, "command": command, "jobs": MANY,
            "uncompiled": lock_share(command, *files), "cpu": many.cpu / one.cpu,
            "peak": many.peak, "peak_alone": one.peak}  # fmt: skip


def digest(path: Path) -> bytes:
    """What tells the contents of a file from others."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def written(path: Path, boards: list[str], lines: int) -> Path:
    """Write boards to a file, again and again until it has the lines."""
    path.write_text("".join(f"{boards[k % len(boards)]}\n" for k in range(lines)))
    return path


def timed(command: str, jobs: int, file: Path, output: Path = Path(os.devnull)) -> Done:
    """What a command takes for a file.

    Raises
    ------
    GpusudokuError
        If it fails: its last line.
    """
    words = [sys.executable, "-m", "gpusudoku", *command.split(), "-j", f"{jobs}"]
    start = time.perf_counter()
    with output.open("wb") as out, tempfile.TemporaryFile() as said:
        process = subprocess.Popen([*words, "--device", "cpu", str(file)], stdout=out, stderr=said)
        ended, peak = 0, 0
        while not ended:
            time.sleep(POLL_SECONDS)
            peak = max(peak, peak_bytes(process.pid))
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - start
        if process.returncode:
            said.seek(0)
            raise GpusudokuError(
                f"{command}: {said.read().decode().strip().rpartition(chr(10))[2]}"
            )
    return Done(seconds, usage.ru_utime + usage.ru_stime, peak)


def peak_bytes(process: int) -> int:
    """The most memory that a process has had so far; 0 where the system does not tell.

    What it tells of a process that has ended may be that of the one that started it.
    """
    try:
        text = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"^VmHWM:\s*(\d+) kB$", text, re.MULTILINE)
    return 0 if found is None else int(found[1]) << 10


def show(path: Path) -> None:
    """Print the tables of a recorded file."""
    results = recorded(path)
    runs = results["runs"]
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
             *(f"speed-up for the cycles of {jobs}" for jobs in numbers[1:])]  # fmt: skip
    sizes = sorted({run["lines"] for run in runs})
    print(f"Puzzles in a batch: {' and '.join(f'{size:,}' for size in sizes)}.\n")
    table(["batch", "command", *heads], rows, left=2)
    if "many" in results:
        print()
        show_many(results["many"])


def show_many(runs: list[Run]) -> None:
    """Print what many threads do."""
    rows = [
        [run["batch"], f"`{run['command']}`", f"{run['uncompiled']:.0%}",
         f"{bound(run['uncompiled'], MANY):.1f}", f"{run['cpu']:.2f}",
         f"{run['peak'] / 1e6:,.0f}", f"{run['peak_alone'] / 1e6:,.0f}"]
        for run in runs
    ]  # fmt: skip
    heads = [
        "not compiled",
        f"speed-up of {MANY} cores, if none of that were parallel",
        f"CPU time, -j {MANY} over -j 1",
        f"MB, -j {MANY}",
        "MB, -j 1",
    ]
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
    runs, many = measure(batches, lines, repeats)
    write(path, {"machine": machine(), "runs": runs, "many": many})


if __name__ == "__main__":
    main()
