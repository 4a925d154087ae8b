"""Time the commands on batches of puzzles, reading and printing included.

A batch is a file of puzzles, repeated to so many lines. Every command runs on that and on a tenth
of it, and the difference is what the other nine tenths took: start-up and compiling drop out.

    python benchmarks/batches.py                    puzzles made from the boards of this project
    python benchmarks/batches.py list.txt other.txt puzzles of yours, too, one a line
    python benchmarks/batches.py --show             the table of what was recorded before
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import click
import numpy as np
from machine import RESULTS, gigahertz, heading, record

from gpusudoku import collection, formats
from gpusudoku.engines.cores import usable_cores

COMMANDS = [["count", "--limit", "2"], ["count", "--only", "unique"], ["solve"]]
COMMANDS += [["enumerate", "--limit", "2"]]
OWN = ["1a", "2a", "a1", "b1", "techniques-9x9", "decomposition-9x9", "decomposition-matrix-9x9"]
"""Proper 9x9 puzzles of the project."""


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False))
@click.option("--lines", default=300_000, show_default=True, help="Puzzles in a batch.")
@click.option("--repeats", default=3, show_default=True, help="Runs of every case.")
@click.option("--output", default=str(RESULTS / "batches.json"), help="JSON file.")
@click.option("--show", "only_show", is_flag=True, help="Print that file's table; run nothing.")
def main(files: tuple[str, ...], lines: int, repeats: int, output: str, only_show: bool) -> None:
    """Time the commands on the puzzles of FILES."""
    path = Path(output)
    if not only_show:
        batches = {"own boards, shuffled": own_puzzles()}
        batches |= {Path(name).stem: puzzles(Path(name)) for name in files}
        record(path, measure(batches, lines, repeats))
    show(path)


def puzzles(path: Path) -> list[str]:
    """The lines of a file that are no comments."""
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def own_puzzles() -> list[str]:
    """Ten thousand boards made from those of this project: digits, rows and columns exchanged."""
    rng = np.random.default_rng(1)
    made = []
    for k in range(10_000):
        board = collection.load(OWN[k % len(OWN)])
        rows, columns = (
            np.concatenate([3 * group + rng.permutation(3) for group in rng.permutation(3)])
            for _ in range(2)
        )
        digits = np.concatenate([[0], 1 + rng.permutation(9)]).astype(np.uint8)
        made.append(formats.write_lines(digits[board.grid[rows][:, columns]].reshape(1, 81))[:-1])
    return made


def measure(batches: dict[str, list[str]], lines: int, repeats: int) -> list[dict[str, object]]:
    """Every run of every case."""
    runs: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, boards in batches.items():
            files = Path(folder, "long.txt"), Path(folder, "short.txt")
            for file, number in zip(files, (lines, lines // 10), strict=True):
                file.write_text("".join(f"{boards[k % len(boards)]}\n" for k in range(number)))
            for repeat in range(repeats + 1):  # the first is a warm-up
                for command in COMMANDS:
                    for jobs in sorted({1, usable_cores()}):
                        cycles = gigahertz(1)
                        seconds = [timed([*command, "-j", str(jobs)], file) for file in files]
                        rate = (lines - lines // 10) / (seconds[0] - seconds[1])
                        click.echo(
                            f"\r{repeat}/{repeats} {name} {' '.join(command)} ", nl=False, err=True
                        )
                        if repeat:
                            runs.append({"batch": name, "command": " ".join(command), "jobs": jobs,
                                         "lines": lines, "seconds": seconds[0],
                                         "rate": rate, "gigahertz": cycles})  # fmt: skip
    click.echo("", err=True)
    return runs


def timed(command: list[str], file: Path) -> float:
    """Seconds that a command takes for a file."""
    start = time.perf_counter()
    arguments = [sys.executable, "-m", "gpusudoku", *command, "--device", "cpu", str(file)]
    subprocess.run(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def show(path: Path) -> None:
    """Print the table of a recorded file."""
    recorded = json.loads(path.read_text())
    runs = recorded["runs"]
    cycles = median(run["gigahertz"] for run in runs)
    print(f"{heading(recorded['machine'])}; {cycles:.2f} GHz per core\n")
    jobs = list(dict.fromkeys(run["jobs"] for run in runs))
    print("| batch | command | " + " | ".join(f"puzzles/s, -j {j}" for j in jobs) + " |")
    print("|---|---|" + "---:|" * len(jobs))
    for name, command in dict.fromkeys((run["batch"], run["command"]) for run in runs):
        cells = []
        for j in jobs:
            case = [r for r in runs if (r["batch"], r["command"], r["jobs"]) == (name, command, j)]
            cells.append(f"{median(run['rate'] for run in case):,.0f}")
        print(f"| {name} | `{command}` | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
