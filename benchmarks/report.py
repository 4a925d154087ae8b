"""The whole CPU report: all scripts in turn, results, figures and the tables of the documentation.

    python benchmarks/report.py               under 15 minutes on two cores, with progress
    python benchmarks/report.py bench model   some parts only

Parts that need lists of puzzles, which cannot be redistributed here, take them by option; a
part that has none, or whose packages are missing, says so. Not part of it, as they take longer or
need a GPU: contraction.py (random boards by number of clues), gpu.py, tune_gpu.py.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import click
from machine import RESULTS

from gpusudoku.engines.cores import usable_cores

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


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("parts", nargs=-1)
@click.option("--batch", "batches", multiple=True, help="List for batches.py; may be repeated.")
@click.option("--easy", help="Document 002's list of easy puzzles (a file).")
@click.option("--hard", help="Its list of hard puzzles.")
@click.option("--hardest", help="Its list of the hardest.")
def main(
    parts: tuple[str, ...],
    batches: tuple[str, ...],
    easy: str | None,
    hard: str | None,
    hardest: str | None,
) -> None:
    """Run all PARTS of the report, or some."""
    lists = [("--easy", easy), ("--hard", hard), ("--hardest", hardest)]
    given = [word for name, path in lists if path for word in (name, path)]
    jobs = f"1,{usable_cores()}"
    commands = {
        "bench": [suite("bench", "--patience", "2")],
        "cutoff": [
            suite("cutoff-space", *CUTOFFS, jobs, "--cutoff", "1e15,1e20,1e25,1e30,1e35,1e40"),
            suite("cutoff-empty", *CUTOFFS, jobs, "--cutoff", "20,25,30,35,40,45,50,55",
                  "--cutoff-by", "empty"),
        ],
        "speed": [script("speed", "--repeats", "1")],
        "scaling": [script("scaling")],
        "batches": [script("batches", "--repeats", "1", *batches)],
        "techniques": [script("techniques", *given)] if given else [],
        "documents": [script("documents")],
        "peers": [script("peers", "--limit", "8", "--repeats", "1")],
        "model": [script("model")],
        "readme": [script("readme")],
    }  # fmt: skip
    unknown = [part for part in parts if part not in commands]
    if unknown:
        raise click.UsageError(f"no part {unknown[0]!r}: expected {', '.join(commands)}")
    chosen = parts or tuple(commands)
    failed = []
    for number, part in enumerate(chosen, start=1):
        start = time.perf_counter()
        click.echo(f"[{number}/{len(chosen)}] {part} ...", err=True)
        if not commands[part]:
            click.echo("    left out: its lists of puzzles were not given", err=True)
        for command in commands[part]:
            if subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode:
                failed.append(part)
        click.echo(f"    {time.perf_counter() - start:.0f} s", err=True)
    if failed:
        sys.exit(f"report.py: not done: {', '.join(failed)}")


if __name__ == "__main__":
    main()
