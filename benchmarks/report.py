"""The whole CPU report: all scripts in turn, then the figures and the tables of the documentation.

    python benchmarks/report.py                  about three quarters of an hour on two cores
    python benchmarks/report.py timings peers    only these parts

The results of a part replace the earlier ones after the whole part has succeeded. techniques.py
runs if lists of puzzles are given, one_core.py if an environment variable names one of its
programs. Commit your changes before: the results of changed sources do not name a commit.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from machine import RESULTS
from script import command

from gpusudoku.errors import GpusudokuError, InputError
from gpusudoku.jobs.threads import usable_cores

PROGRAMS = ("GPUSUDOKU_TDOKU", "GPUSUDOKU_RUST_SUDOKU", "GPUSUDOKU_SCHOKU")
"""Environment variables that name the programs of one_core.py."""
FILE = click.Path(exists=True, dir_okay=False)

Commands = list[list[str]]
"""Command lines."""
Lists = dict[str, str | None]
"""Files of puzzles by the option of techniques.py: easy, hard, hardest."""


def script(name: str, *options: str) -> list[str]:
    """Return the command line of a script in this folder."""
    return [sys.executable, str(Path(__file__).with_name(f"{name}.py")), *options]


def bench(results: Path, name: str, *options: str) -> list[str]:
    """Return the command line of a ``gpusudoku bench`` that writes NAME.json and NAME.csv."""
    files = ["--json", str(results / f"{name}.json"), "--csv", str(results / f"{name}.csv")]
    return [sys.executable, "-m", "gpusudoku", "bench", *options, *files]


def parts_of(results: Path, batches: tuple[str, ...], lists: Lists) -> dict[str, Commands]:
    """Return the command lines of every part, which write into the folder ``results``."""

    def recording(name: str, *options: str) -> Commands:
        return [script(name, *options, "--output", str(results / f"{name}.json"))]

    # Parts that need lists or programs are left out without them.
    list_options = []
    for name, path in lists.items():
        if path:
            list_options += [f"--{name}", path]
    cutoffs = ["@1d", "@1e", "@2d", "@2e", "--method", "search", "--repeats", "2",
               "-j", f"1,{usable_cores()}", "--cutoff"]  # fmt: skip
    # Cases that are estimated to take more than 2 s are left out.
    all_boards = ["--include", "*", "--method", "search,contraction", "--patience", "2"]
    by_empty = ["20,25,30,35,40,45,50,55", "--cutoff-by", "empty"]
    parts = {
        # Figures compare these three files, so one part records them on one commit.
        "bench": [
            bench(results, "bench", *all_boards),
            bench(results, "cutoff-space", *cutoffs, "1e15,1e20,1e25,1e30,1e35,1e40"),
            bench(results, "cutoff-empty", *cutoffs, *by_empty),
        ],
        "timings": [script("timings", "--results", str(results))],
        "documents": recording("documents", "--repeats", "5"),
        "peers": recording("peers", "--limit", "8", "--repeats", "1"),
        "contraction": recording("contraction"),
        "estimates": recording("estimates"),
        "memory": recording("memory"),
    }  # fmt: skip
    if list_options:
        parts["techniques"] = recording("techniques", *list_options)
    if any(os.environ.get(name) for name in PROGRAMS):
        parts["one_core"] = recording("one_core", "@1f", "@2f", *batches)
    return parts


def run_quietly(command_line: list[str]) -> bool:
    """Run a command without printing its tables; return whether it succeeded."""
    process = subprocess.run(command_line, stdout=subprocess.DEVNULL, check=False)
    return process.returncode == 0


@command("report")
@click.argument("names", nargs=-1, metavar="[PARTS]...")
@click.option("--batch", "batches", multiple=True, type=FILE, help="List for one_core.py.")
@click.option("--easy", type=FILE, help="List for techniques.py: its easy puzzles.")
@click.option("--hard", type=FILE, help="List for techniques.py: its hard puzzles.")
@click.option("--hardest", type=FILE, help="List for techniques.py: its hardest puzzles.")
def main(names: tuple[str, ...], batches: tuple[str, ...], **lists: str | None) -> None:
    """Run the PARTS of the report, by default all, then draw the figures and write the tables."""
    all_parts = parts_of(RESULTS, batches, lists)
    for name in names:
        if name not in all_parts:
            raise InputError(f"no part {name!r}: expected some of {', '.join(all_parts)}")
    failed = []
    for name in names or all_parts:
        click.echo(f"{name} ...", err=True)
        start = time.perf_counter()
        # The part writes into a folder on the same disk, whose files are then moved.
        with TemporaryDirectory(prefix=".report-", dir=RESULTS) as folder:
            if all(map(run_quietly, parts_of(Path(folder), batches, lists)[name])):
                for path in Path(folder).iterdir():
                    path.replace(RESULTS / path.name)
            else:
                failed.append(name)
        click.echo(f"{name}: {time.perf_counter() - start:.0f} s", err=True)
    # Figures and tables show the new results, also if a part has failed.
    failed += [name for name in ("figures", "readme") if not run_quietly(script(name))]
    if failed:
        raise GpusudokuError(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
