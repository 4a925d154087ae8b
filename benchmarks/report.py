"""The whole CPU report: all scripts in turn, results, figures and the tables of the documentation.

    python benchmarks/report.py               under 20 minutes on two cores, with progress
    python benchmarks/report.py bench peers   some parts only

Some parts need lists of puzzles that cannot be redistributed; options name their files. A part
without its lists is left out, and a part whose packages are missing fails. Not in the report,
because they take longer or need a GPU: contraction.py and shares.py (random boards by number
of clues), gpu.py, tune_gpu.py.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click
from machine import RESULTS
from script import command

from gpusudoku.errors import GpusudokuError, InputError
from gpusudoku.jobs.cores import usable_cores

HERE = Path(__file__).parent
SUITE = [sys.executable, "-m", "gpusudoku", "bench"]
PLOTS = str(RESULTS / "plots")


def suite(name: str, *options: str) -> list[str]:
    """A run of ``gpusudoku bench`` and where its results go."""
    files = ["--json", str(RESULTS / f"{name}.json"), "--csv", str(RESULTS / f"{name}.csv")]
    return [*SUITE, *options, *files, "--plot", str(Path(PLOTS, name)), "--force"]


def script(name: str, *options: str) -> list[str]:
    """A run of a script beside this one."""
    return [sys.executable, str(HERE / f"{name}.py"), *options]


CUTOFFS = ("@1d", "@1e", "@2d", "@2e", "--method", "search", "-j")


def commands(batches: Sequence[str], lists: dict[str, str | None]) -> dict[str, list[list[str]]]:
    """The commands of every part; ``lists`` are the files of techniques.py by its options."""
    given = [word for name, path in lists.items() if path for word in (f"--{name}", path)]
    jobs = f"1,{usable_cores()}"
    return {
        "bench": [suite("bench", "--patience", "2")],
        "cutoff": [
            suite("cutoff-space", *CUTOFFS, jobs, "--cutoff", "1e15,1e20,1e25,1e30,1e35,1e40"),
            suite("cutoff-empty", *CUTOFFS, jobs, "--cutoff", "20,25,30,35,40,45,50,55",
                  "--cutoff-by", "empty"),
        ],
        "speed": [script("speed", "--repeats", "1")],
        "scaling": [script("scaling")],
        "simulated": [script("simulated")],
        "batches": [script("batches", "--repeats", "1", *batches)],
        "reading": [script("reading")],
        "writing": [script("writing")],
        "first_day": [script("first_day")],
        "by_number": [script("by_number")],
        "listing": [script("listing")],
        "techniques": [script("techniques", *given)] if given else [],
        "documents": [script("documents")],
        "peers": [script("peers", "--limit", "8", "--repeats", "1")],
        "figures": [script("figures")],
        "readme": [script("readme")],
    }  # fmt: skip


@command("report")
@click.argument("parts", nargs=-1)
@click.option("--batch", "batches", multiple=True, help="List for batches.py; may be repeated.")
@click.option("--easy", help="List for techniques.py: the document's easy puzzles.")
@click.option("--hard", help="List for techniques.py: the document's hard puzzles.")
@click.option("--hardest", help="List for techniques.py: the document's hardest puzzles.")
def main(parts: tuple[str, ...], batches: tuple[str, ...], **lists: str | None) -> None:
    """Run all PARTS of the report, or some."""
    known = commands(batches, lists)
    unknown = [part for part in parts if part not in known]
    if unknown:
        raise InputError(f"no part {unknown[0]!r}: expected {', '.join(known)}")
    chosen = parts or tuple(known)
    failed = []
    for number, part in enumerate(chosen, start=1):
        start = time.perf_counter()
        click.echo(f"[{number}/{len(chosen)}] {part} ...", err=True)
        if not known[part]:
            click.echo("    left out: its lists of puzzles were not given", err=True)
        for words in known[part]:
            if subprocess.run(words, stdout=subprocess.DEVNULL, check=False).returncode:
                failed.append(part)
        click.echo(f"    {time.perf_counter() - start:.0f} s", err=True)
    if failed:
        raise GpusudokuError(f"not done: {', '.join(failed)}")


if __name__ == "__main__":
    main()
