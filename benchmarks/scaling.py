"""Time the search on one thread, on two, ... on all cores: speed-up, and how busy the threads are.

Runs take turns, and before each one the clock is measured that every thread gets: if the machine
itself slows down when all its cores are at work, that is no fault of the search. The CPU time shows
what sharing the boards costs, also with more threads than cores.

    python benchmarks/scaling.py             about a minute on two cores
    python benchmarks/scaling.py --threads 1,2,16
    python benchmarks/scaling.py --show      the table of what was recorded before
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from statistics import median

import click
from machine import gigahertz, record, recorded
from script import Run, board_names, counted, grouped, repeated, script, table, turns

from gpusudoku import collection
from gpusudoku.bench.suite import thread_numbers, too_fast
from gpusudoku.engines.make import make_engine

BOARDS = ["1f", "2f", "a8"]
NEAR = 0.05
"""A speed-up that differs from the factor of the cycles by less goes with it."""


def measure(names: list[str], threads: Sequence[int], repeats: int) -> list[Run]:
    """Every run of every case."""
    engines = {jobs: make_engine(device="cpu", jobs=jobs) for jobs in threads}
    runs = []
    cases = list(product(names, engines))
    for (name, jobs), kept in turns(
        cases,
        repeats,
        lambda case: f"{case[0]} -j {case[1]}",
        kind=lambda case: (collection.load(case[0]).geometry, case[1]),
    ):
        clock = gigahertz(jobs)
        start = time.process_time()
        result = counted(name, engine=engines[jobs], device="cpu", method="search")
        cpu_seconds = time.process_time() - start
        if kept:
            stats = result.stats
            runs.append({"board": name, "jobs": jobs, "count": str(result.count),
                         "seconds": stats.seconds, "cpu_seconds": cpu_seconds,
                         "utilisation": stats.utilisation, "gigahertz": clock})  # fmt: skip
    return runs


def show(path: Path) -> None:
    """Print the table of a recorded file."""
    results = recorded(path)
    rows, apart = [], []
    alone: dict[str, tuple[float, float, float]] = {}
    cases = grouped(results["runs"], "board", "jobs")
    print(f"{repeated(cases.values())}\n")
    for (name, jobs), case in cases.items():
        rate = median(int(run["count"]) / run["seconds"] / 1e6 for run in case)
        cycles = jobs * median(run["gigahertz"] for run in case)
        cpu_seconds = min(run["cpu_seconds"] for run in case)
        busy = median(min(run["utilisation"]) for run in case)
        one_rate, one_cycles, one_cpu = alone.setdefault(name, (rate, cycles, cpu_seconds))
        faster, more = rate / one_rate, cycles / one_cycles
        cells = [name, f"{jobs}", f"{rate:.2f}"]
        if too_fast(faster, jobs):
            rows.append([*cells, "", "", "", ""])
            continue
        apart.append(abs(faster / more - 1))
        share = f"{cpu_seconds / one_cpu:.2f}"
        rows.append([*cells, f"{faster:.2f}", f"{more:.2f}", share, f"{busy:.1%}"])
    heads = ["board", "threads", "M solutions/s", "speed-up", "cycles, over 1 thread's"]
    table([*heads, "CPU time, over 1 thread's", "least busy thread"], rows)
    print(said(max(apart)))


def said(apart: float) -> str:
    """Say whether speed-ups and cycles, which differ by a share at most, go together."""
    if apart <= NEAR:
        return (
            f"\nSpeed-ups and cycles differ by {apart:.0%} at most: nearly all cycles go into the"
            " search."
        )
    return (
        f"\nSpeed-ups and cycles differ by up to {apart:.0%}: the clock, which is measured before"
        " each run, was another during the runs."
    )


@script("scaling", show)
@click.argument("boards", nargs=-1)
@click.option("--threads", help="Numbers of threads, 1 first.  [default: 1, 2, 4 ... all cores]")
@click.option("--repeats", default=5, show_default=True, help="Runs of every case.")
def main(path: Path, boards: tuple[str, ...], threads: str | None, repeats: int) -> None:
    """Time the search of BOARDS (names as in "gpusudoku boards") on more and more threads."""
    numbers = thread_numbers() if threads is None else [int(n) for n in threads.split(",")]
    record(path, measure(board_names(boards or BOARDS), numbers, repeats))


if __name__ == "__main__":
    main()
