"""The whole CPU report: all scripts in turn, then the figures and the tables of the documentation.

    python benchmarks/report.py                  about half an hour on two cores
    python benchmarks/report.py timings peers    some parts only

What a part records replaces the earlier results once the whole part has succeeded. techniques.py
runs if it is given lists of puzzles, one_core.py if an environment variable names one of its
programs. Commit before: results of changed sources name no commit.
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
FILE = click.Path(exists=True, dir_okay=False)

Commands = list[list[str]]
Lists = dict[str, str | None]


def script(name: str, *options: str) -> list[str]:
    """Return the command that runs a script beside this one."""
    return [sys.executable, str(Path(__file__).with_name(f"{name}.py")), *options]


def bench(results: Path, name: str, *options: str) -> list[str]:
    """Return the command of a ``gpusudoku bench``."""
    files = ["--json", str(results / f"{name}.json"), "--csv", str(results / f"{name}.csv")]
    return [sys.executable, "-m", "gpusudoku", "bench", *options, *files]


def parts_of(results: Path, batches: tuple[str, ...], lists: Lists) -> dict[str, Commands]:
    """Return the commands of every part, which write into a folder of results."""

    def recording(name: str, *options: str) -> Commands:
        return [script(name, *options, "--output", str(results / f"{name}.json"))]

    list_options = [word for name, path in lists.items() if path for word in (f"--{name}", path)]
    cutoffs = ["@1d", "@1e", "@2d", "@2e", "--method", "search", "--repeats", "2",
               "-j", f"1,{usable_cores()}", "--cutoff"]  # fmt: skip
    all_boards = ["--include", "*", "--method", "search,contraction", "--patience", "2"]
    by_empty = ["20,25,30,35,40,45,50,55", "--cutoff-by", "empty"]
    parts = {
        # Figures compare these: they are of one machine and one commit.
        "bench": [
            bench(results, "bench", *all_boards),
            bench(results, "cutoff-space", *cutoffs, "1e15,1e20,1e25,1e30,1e35,1e40"),
            bench(results, "cutoff-empty", *cutoffs, *by_empty),
        ],
        "timings": [script("timings", "--results", str(results))],
        "documents": recording("documents", "--repeats", "5"),
        "peers": recording("peers", "--limit", "8", "--repeats", "1"),
        "contraction": recording("contraction"),
        "memory": recording("memory"),
    }  # fmt: skip
    if list_options:
        parts["techniques"] = recording("techniques", *list_options)
    if any(os.environ.get(name) for name in PROGRAMS):
        parts["one_core"] = recording("one_core", "@1f", "@2f", *batches)
    return parts


def succeeds(words: list[str]) -> bool:
    """Run a command, whose tables are not printed."""
    return subprocess.run(words, stdout=subprocess.DEVNULL, check=False).returncode == 0


@command("report")
@click.argument("names", nargs=-1, metavar="[PARTS]...")
@click.option("--batch", "batches", multiple=True, type=FILE, help="List for one_core.py.")
@click.option("--easy", type=FILE, help="List for techniques.py: its easy puzzles.")
@click.option("--hard", type=FILE, help="List for techniques.py: its hard puzzles.")
@click.option("--hardest", type=FILE, help="List for techniques.py: its hardest puzzles.")
def main(names: tuple[str, ...], batches: tuple[str, ...], **lists: str | None) -> None:
    """Run the PARTS of the report, by default all, then draw the figures and write the tables."""
    known = parts_of(RESULTS, batches, lists)
    for name in names:
        if name not in known:
            raise InputError(f"no part {name!r}: expected some of {', '.join(known)}")
    failed = []
    for name in names or known:
        click.echo(f"{name} ...", err=True)
        start = time.perf_counter()
        with TemporaryDirectory(prefix=".report-", dir=RESULTS) as folder:
            if all(map(succeeds, parts_of(Path(folder), batches, lists)[name])):
                for path in Path(folder).iterdir():
                    path.replace(RESULTS / path.name)
            else:
                failed.append(name)
        click.echo(f"{name}: {time.perf_counter() - start:.0f} s", err=True)
    failed += [name for name in ("figures", "readme") if not succeeds(script(name))]
    if failed:
        raise GpusudokuError(f"not done: {', '.join(failed)}")


if __name__ == "__main__":
    main()
