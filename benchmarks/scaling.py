"""Time the search on one thread, on two, ... on all cores: speed-up, and how busy the threads are.

Runs are interleaved, and so are measurements of how many cycles one core gets, and each of all of
them at once: what the machine itself loses when all its cores are at work is none of ours.

    python benchmarks/scaling.py             about a minute on two cores
    python benchmarks/scaling.py --show      the table of what was recorded before
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from statistics import median

import click
from machine import RESULTS, gigahertz, heading, record

import gpusudoku
from gpusudoku import collection
from gpusudoku.counting import Options, make_engine
from gpusudoku.engines.cores import usable_cores

BOARDS = ["1f", "2f", "a8"]


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("boards", nargs=-1)
@click.option("--repeats", default=5, show_default=True, help="Runs of every case.")
@click.option("--output", default=str(RESULTS / "scaling.json"), help="JSON file.")
@click.option("--show", "only_show", is_flag=True, help="Print that file's table; run nothing.")
def main(boards: tuple[str, ...], repeats: int, output: str, only_show: bool) -> None:
    """Time the search of BOARDS (names as in "gpusudoku boards") on more and more threads."""
    path = Path(output)
    if not only_show:
        record(path, measure(list(boards) or BOARDS, repeats))
    show(path)


def measure(names: list[str], repeats: int) -> list[dict[str, object]]:
    """Every run of every case."""
    cores = usable_cores()
    jobs = sorted({1, *(1 << k for k in range(cores.bit_length()) if 1 << k < cores), cores})
    engines = {number: make_engine(Options(device="cpu", jobs=number)) for number in jobs}
    runs: list[dict[str, object]] = []
    for repeat in range(repeats + 1):  # the first is a warm-up
        for name in names:
            for number, engine in engines.items():
                cycles = gigahertz(number)
                result = gpusudoku.count(
                    collection.load(name), engine=engine, device="cpu", method="search"
                )
                if result.count != collection.entry(name).count:
                    sys.exit(f"{name}: {result.count} solutions counted, others are right")
                if repeat:
                    stats = result.stats
                    runs.append({"board": name, "jobs": number, "count": str(result.count),
                                 "seconds": stats.seconds, "utilisation": stats.utilisation,
                                 "gigahertz": cycles})  # fmt: skip
                click.echo(f"\r{repeat}/{repeats} {name} -j {number} ", nl=False, err=True)
    click.echo("", err=True)
    return runs


def show(path: Path) -> None:
    """Print the table of a recorded file."""
    recorded = json.loads(path.read_text())
    runs = recorded["runs"]
    print(f"{heading(recorded['machine'])}\n")
    print("| board | threads | M solutions/s | speed-up | cycles of all, of one | least busy |")
    print("|---|---:|---:|---:|---:|---:|")
    for name in dict.fromkeys(run["board"] for run in runs):
        alone: dict[str, float] = {}
        for number in dict.fromkeys(run["jobs"] for run in runs):
            case = [run for run in runs if (run["board"], run["jobs"]) == (name, number)]
            rate = median(int(run["count"]) / run["seconds"] / 1e6 for run in case)
            cycles = number * median(run["gigahertz"] for run in case)
            alone = alone or {"rate": rate, "cycles": cycles}
            busy = median(min(run["utilisation"]) for run in case)
            print(
                f"| {name} | {number} | {rate:.2f} | {rate / alone['rate']:.2f}"
                f" | {cycles / alone['cycles']:.2f} | {busy:.1%} |"
            )


if __name__ == "__main__":
    main()
