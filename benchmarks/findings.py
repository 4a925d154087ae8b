"""Tables of docs/results.md that are computed from the results of ``gpusudoku bench``.

Nothing is measured here. Rows that other programs slowed are left out.

    python benchmarks/findings.py     print all tables
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
from machine import RESULTS, recorded, source
from published import CORES, SECONDS, SPEED_UPS, THEIRS
from script import command, duration, repeated, table
from summary import factor

from gpusudoku import collection
from gpusudoku.bench.suite import Row, read_json, search_law, undisturbed
from gpusudoku.errors import InputError

REAL_CORES = 16
"""The cores of the machine of summary.json."""
NEAR = 1.25
"""A time is close to the best if it is at most this many times as long."""
CUTOFF_FILES = ("cutoff-space", "cutoff-empty")
MIN_CUTOFFS = 3
"""With fewer cutoffs than this a correlation says nothing."""
EMPTY_BOARD = 6_670_903_752_021_072_936_960
YEAR = 365.25 * 86400


def bench_rows(path: Path, name: str = "bench") -> list[Row]:
    """Return the CPU rows of ``NAME.json`` beside ``path`` that have a time and are not starved."""
    rows = read_json(str(path.with_name(f"{name}.json")))[0]
    return [row for row in undisturbed(rows) if row["median"] and row["device"] == "cpu"]


def max_threads(rows: Sequence[Row]) -> int:
    """Return the largest number of threads of the rows.

    Raises
    ------
    InputError
        If it is one.
    """
    threads = max((row["jobs"] for row in rows), default=1)
    if threads == 1:
        raise InputError("bench.json: expected runs on several threads")
    return int(threads)


def print_source(path: Path) -> None:
    """Print the machine, date and commit of bench.json."""
    print(f"\n{source(path.with_name('bench.json'), 'python benchmarks/report.py bench')}")


def times(path: Path) -> None:
    """Print the times of the twelve boards beside those that their authors published."""
    rows = [row for row in bench_rows(path) if row["board"] in SECONDS]
    threads = max_threads(rows)
    lines = []
    for board, (their_serial, their_parallel) in SECONDS.items():
        seconds = {
            (row["method"], row["jobs"]): row["median"] for row in rows if row["board"] == board
        }
        serial = seconds.get(("search", 1))
        cells = [their_serial, their_parallel, serial, seconds.get(("search", threads))]
        cells.append(seconds.get(("contraction", threads)))
        ratio = "" if serial is None else factor(their_serial / serial)
        lines.append([board, f"{collection.entry(board).count:,}", *map(cell, cells), ratio])
    print(f"{repeated([row['times'] for row in rows])}\n")
    heads = ["board", "solutions", "theirs, 1 core", f"theirs, {CORES[-1]} cores"]
    heads += ["our search, 1 core", f"our search, {threads} cores"]
    heads += [f"our contraction, {threads} cores", "theirs over our search, 1 core"]
    table(heads, lines)
    print_source(path)
    print(f"\n*Theirs: {THEIRS}*")


def cell(seconds: float | None) -> str:
    """Format a time; empty where no run was undisturbed."""
    return "" if seconds is None else duration(seconds)


def speed_ups(path: Path) -> None:
    """Print the speed-ups of the twelve boards beside those that their authors published."""
    rows = [row for row in bench_rows(path) if row["method"] == "search" and row["speed_up"]]
    threads = max_threads(rows)
    measured = {row["board"]: row for row in rows if row["jobs"] == threads}
    real_cores = speed_ups_on_real_cores(path)
    their_cores = (2, REAL_CORES, CORES[-1])
    lines = []
    for board, theirs in SPEED_UPS.items():
        row = measured.get(board)
        cells = [f"{row['speed_up']:.2f}", f"{row['utilisation']:.0%}"] if row else ["", ""]
        cells.append(f"{real_cores[board]:.1f}" if board in real_cores else "")
        lines.append([board, *cells, *(f"{theirs[CORES.index(n)]:.1f}" for n in their_cores)])
    heads = ["board", f"ours, {threads} cores", "threads at work", f"ours, {REAL_CORES} cores"]
    table([*heads, *(f"theirs, {number}" for number in their_cores)], lines)
    print(f"\n{REAL_CORES} cores: the machine with the H200, a prototype of release 0.23.")
    print_source(path)
    print(f"\n*Theirs: {THEIRS}*")


def speed_ups_on_real_cores(path: Path) -> dict[str, float]:
    """Return how many times as fast all cores of the machine of summary.json are as one."""
    seconds = {
        (run["board"], run["threads"]): median(run["seconds"])
        for run in recorded(path.with_name("summary.json"))["runs"]
        if run["threading"] == "compiled"
    }
    return {
        board: seconds[board, 1] / time
        for (board, threads), time in seconds.items()
        if threads == REAL_CORES and (board, 1) in seconds
    }


class BestCutoff(NamedTuple):
    """The cutoff with the shortest time, and the range around it that is close to it."""

    cutoff: float
    seconds: float
    lowest: float
    highest: float


def best_cutoff(rows: Sequence[Row]) -> BestCutoff:
    """Return the best cutoff of the rows of one board."""
    points = sorted((row["cutoff"], row["median"]) for row in rows)
    best = min(range(len(points)), key=lambda index: points[index][1])
    cutoff, seconds = points[best]
    low = high = best
    while low > 0 and points[low - 1][1] <= NEAR * seconds:
        low -= 1
    while high < len(points) - 1 and points[high + 1][1] <= NEAR * seconds:
        high += 1
    return BestCutoff(cutoff, seconds, points[low][0], points[high][0])


def cutoff_rows(path: Path, name: str) -> dict[str, list[Row]]:
    """Return by board the rows with several threads whose cutoff was reached."""
    rows = bench_rows(path, name)
    threads = max_threads(rows)
    boards: dict[str, list[Row]] = {}
    for row in rows:
        if row["jobs"] == threads and row["cutoff_reached"]:
            boards.setdefault(row["board"], []).append(row)
    return boards


def cutoffs(path: Path) -> None:
    """Print the best cutoffs by search space and by empty cells, beside a search without cutoff."""
    searches = [row for row in bench_rows(path) if row["method"] == "search"]
    threads = max_threads(searches)
    without = {row["board"]: row["median"] for row in searches if row["jobs"] == threads}
    space, empty = (cutoff_rows(path, name) for name in CUTOFF_FILES)
    lines = []
    differences = []
    correlations = []
    for board in [name for name in space if name in empty]:
        by_space = best_cutoff(space[board])
        by_empty = best_cutoff(empty[board])
        lines.append(
            [
                board,
                cell(without.get(board)),
                f"{duration(by_space.seconds)} at {power(by_space.cutoff)}",
                f"{power(by_space.lowest)} to {power(by_space.highest)}",
                f"{duration(by_empty.seconds)} at {by_empty.cutoff:g}",
                f"{by_empty.lowest:g} to {by_empty.highest:g}",
            ]
        )
        differences.append(abs(by_space.seconds / by_empty.seconds - 1))
        rows = [row for row in space[board] + empty[board] if row["utilisation"]]
        if len(rows) >= MIN_CUTOFFS:
            seconds = [row["median"] for row in rows]
            correlations.append(np.corrcoef(seconds, [row["utilisation"] for row in rows])[0, 1])
    if not lines:
        raise InputError("no board has undisturbed runs with both kinds of cutoff")
    heads = ["board", "no cutoff", "best by search space", f"within {NEAR - 1:.0%}"]
    table([*heads, "best by empty cells", f"within {NEAR - 1:.0%}"], lines)
    print(
        f"\n{threads} threads. The best times by the two measures differ by"
        f" {median(differences):.0%} in the median, {max(differences):.0%} at most."
    )
    if correlations:
        print(
            "Over the cutoffs of a board, the correlation of the time with the share of it that"
            f" threads work is {median(correlations):.2f} in the median."
        )
    command_line = "python benchmarks/report.py bench"
    sources = [source(path.with_name(f"{name}.json"), command_line) for name in CUTOFF_FILES]
    for line in dict.fromkeys(sources):
        print(f"\n{line}")


def power(cutoff: float) -> str:
    """Format a search space: 1e30."""
    return f"{cutoff:.0e}".replace("e+", "e")


def law(path: Path) -> None:
    """Print how the time of a search grows with the solutions."""
    fitted = search_law(bench_rows(path))
    if fitted is None:
        raise InputError("bench.json: too few undisturbed 9x9 searches on one thread")
    years = fitted.at(fitted.most) / fitted.most * EMPTY_BOARD / YEAR
    print(
        f"A search takes {fitted.factor:.1e} s x solutions^{fitted.exponent:.2f} on one core,"
        f" within a factor of {fitted.spread:.2f} on {fitted.points} 9x9 boards of"
        f" {fitted.least:,.0f} to {fitted.most:,.0f} solutions. At its rate with the most of these"
        f" solutions, the empty board would take {years:.0e} years."
    )
    print_source(path)


@command("findings")
def main() -> None:
    """Print all tables."""
    for part in (times, speed_ups, cutoffs, law):
        part(RESULTS / "bench.json")
        print()


if __name__ == "__main__":
    main()
