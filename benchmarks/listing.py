"""Time whole commands that list all solutions of a board.

Start-up is part of it. Lines go to a file in memory, which has been written before, or through a
pipe to a program that counts bytes.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from statistics import median
from typing import IO

import click
from machine import gigahertz, record, recorded
from script import Run, board_names, check, grouped, script, table, turns

from gpusudoku import collection
from gpusudoku.jobs.cores import usable_cores

BOARDS = ["1f", "2f"]
TARGETS = ["file", "pipe"]
MEMORY = Path("/dev/shm")
"""Where files are in memory, on Linux."""
LINE = 82
"""Bytes of a line of text."""


def command(name: str, threads: int) -> list[str]:
    """Return the command that lists a board."""
    return [sys.executable, "-m", "gpusudoku", "enumerate", f"@{name}", "-j", str(threads)]


def to_file(words: list[str], file: IO[bytes]) -> int:
    """Let a command write a file from its beginning; returns the bytes written."""
    file.seek(0)
    subprocess.run(words, stdout=file, stderr=subprocess.DEVNULL, check=True)
    return file.tell()


def through_pipe(words: list[str]) -> int:
    """Let a command write to a pipe; returns the bytes that came out of it."""
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as writer:
        done = subprocess.run(["wc", "-c"], stdin=writer.stdout, capture_output=True, check=True)
    return int(done.stdout)


def cpu_seconds() -> float:
    """The CPU seconds of all commands so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(names: list[str], threads: int, repeats: int) -> list[Run]:
    """Every run of every case.

    Raises
    ------
    MismatchError
        If a board has other than its number of solutions.
    """
    runs = []
    with ExitStack() as stack:
        # Without a name, so that they end with this process, however that ends.
        folder = MEMORY if MEMORY.is_dir() else None
        files = {name: stack.enter_context(tempfile.TemporaryFile(dir=folder)) for name in names}
        for case, kept in turns([*product(names, TARGETS)], repeats, " ".join):
            name, target = case
            words, clock = command(name, threads), gigahertz(threads)
            start, before = time.perf_counter(), cpu_seconds()
            written = to_file(words, files[name]) if target == "file" else through_pipe(words)
            seconds, cpu = time.perf_counter() - start, cpu_seconds() - before
            solutions = collection.entry(name).count
            check(name, written // LINE, solutions)
            if kept:
                runs.append({"board": name, "target": target, "solutions": solutions,
                             "seconds": seconds, "cpu": cpu, "gigahertz": clock})  # fmt: skip
    return runs


def show(path: Path) -> None:
    """Print the table of a recorded file."""
    results = recorded(path)
    runs = results["runs"]
    print(f"Commands with {results['machine']['listing_threads']} threads.\n")
    rows = []
    for (name, target), some in grouped(runs, "board", "target").items():
        rates = [run["solutions"] / run["seconds"] for run in some]
        cores = [run["solutions"] / run["cpu"] for run in some]
        rows.append([f"`{name}`", f"{some[0]['solutions']:,}", target,
                     f"{median(rates) / 1e6:.1f}", f"{median(cores) / 1e6:.1f}"])  # fmt: skip
    heads = ["board", "solutions", "to a", "million a second", "million a second and core"]
    table(heads, rows, left=1)


@script("listing", show)
@click.argument("boards", nargs=-1)
@click.option("-j", "--threads", type=click.IntRange(min=1), help="By default all cores.")
@click.option("--repeats", default=3, show_default=True, help="Runs of every case.")
def main(path: Path, boards: tuple[str, ...], threads: int | None, repeats: int) -> None:
    """Time how the solutions of BOARDS, by default 1f and 2f, are listed."""
    threads = threads or usable_cores()
    runs = measure(board_names(boards or BOARDS), threads, repeats)
    record(path, runs, listing_threads=threads)


if __name__ == "__main__":
    main()
