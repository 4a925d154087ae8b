"""Tables of docs/results.md that are computed from the results of ``gpusudoku bench``.

This script measures nothing. Rows of searches that other programs slowed are left out.

    python benchmarks/findings.py     print all tables
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
from machine import RESULTS, read_results, source_line
from published import CORES, PUBLISHED_NOTE, SECONDS, SPEED_UPS
from script import command, describe_repeats, format_duration, print_table
from summary import format_factor

from gpusudoku import collection
from gpusudoku.bench.suite import Row, read_json, search_law, undisturbed
from gpusudoku.errors import InputError

REAL_CORES = 16
"""The number of cores of the machine of summary.json."""
MAX_SLOWDOWN = 1.25
"""A time is close to the best if it is at most this many times as long."""
CUTOFF_FILES = ("cutoff-space", "cutoff-empty")
MIN_CUTOFFS = 3
"""A correlation over fewer cutoffs is meaningless."""
EMPTY_BOARD_SOLUTIONS = 6_670_903_752_021_072_936_960
SECONDS_PER_YEAR = 365.25 * 86400


def bench_rows(path: Path, name: str = "bench") -> list[Row]:
    """Return the CPU rows of ``NAME.json`` in the folder of ``path``, except starved ones."""
    rows = read_json(str(path.with_name(f"{name}.json")))[0]
    return [row for row in undisturbed(rows) if row["median"] and row["device"] == "cpu"]


def max_threads(rows: Sequence[Row]) -> int:
    """Return the maximum number of threads of the rows.

    Raises
    ------
    InputError
        If it is 1.
    """
    threads = max((row["jobs"] for row in rows), default=1)
    if threads == 1:
        raise InputError("bench.json: expected runs on several threads")
    return int(threads)


def print_source(path: Path) -> None:
    """Print the machine, date and commit of bench.json."""
    print(f"\n{source_line(path.with_name('bench.json'), 'python benchmarks/report.py bench')}")


def times(path: Path) -> None:
    """Print the times of the twelve boards with published times."""
    rows = [row for row in bench_rows(path) if row["board"] in SECONDS]
    threads = max_threads(rows)
    lines = []
    for board, (published_serial, published_parallel) in SECONDS.items():
        seconds = {
            (row["method"], row["jobs"]): row["median"] for row in rows if row["board"] == board
        }
        search_1 = seconds.get(("search", 1))
        search_n = seconds.get(("search", threads))
        contraction_n = seconds.get(("contraction", threads))
        cells = [published_serial, published_parallel, search_1, search_n, contraction_n]
        ratio = "" if search_1 is None else format_factor(published_serial / search_1)
        count = collection.entry(board).count
        lines.append([board, f"{count:,}", *map(format_cell, cells), ratio])
    print(f"{describe_repeats([row['times'] for row in rows])}\n")
    heads = [
        "board",
        "solutions",
        "published, 1 core",
        f"published, {CORES[-1]} cores",
        "gpusudoku search, 1 core",
        f"gpusudoku search, {threads} cores",
        f"gpusudoku contraction, {threads} cores",
        "published / gpusudoku search, 1 core",
    ]
    print_table(heads, lines)
    print_source(path)
    print(f"\n*{PUBLISHED_NOTE}*")


def format_cell(seconds: float | None) -> str:
    """Format a time; an unknown one is an empty cell."""
    return "" if seconds is None else format_duration(seconds)


def speed_ups(path: Path) -> None:
    """Print the speed-ups of the twelve boards with published speed-ups."""
    rows = [row for row in bench_rows(path) if row["method"] == "search" and row["speed_up"]]
    threads = max_threads(rows)
    row_by_board = {row["board"]: row for row in rows if row["jobs"] == threads}
    real_speed_ups = speed_ups_on_real_cores(path)
    published_cores = (2, REAL_CORES, CORES[-1])
    lines = []
    for board, published in SPEED_UPS.items():
        cells = ["", "", ""]
        if board in row_by_board:
            row = row_by_board[board]
            cells[0] = f"{row['speed_up']:.2f}"
            cells[1] = f"{row['utilisation']:.0%}"
        if board in real_speed_ups:
            cells[2] = f"{real_speed_ups[board]:.1f}"
        cells += [f"{published[CORES.index(cores)]:.1f}" for cores in published_cores]
        lines.append([board, *cells])
    heads = [
        "board",
        f"gpusudoku, {threads} cores",
        "threads at work",
        f"gpusudoku, {REAL_CORES} cores",
    ]
    print_table([*heads, *(f"published, {cores} cores" for cores in published_cores)], lines)
    print(f"\n{REAL_CORES} cores: the machine with the H200, a prototype of release 0.23.")
    print_source(path)
    print(f"\n*{PUBLISHED_NOTE}*")


def speed_ups_on_real_cores(path: Path) -> dict[str, float]:
    """Return by board the speed-up on REAL_CORES cores of the machine of summary.json."""
    seconds = {
        (run["board"], run["threads"]): median(run["seconds"])
        for run in read_results(path.with_name("summary.json"))["runs"]
        if run["threading"] == "compiled"
    }
    return {
        board: seconds[board, 1] / time
        for (board, threads), time in seconds.items()
        if threads == REAL_CORES and (board, 1) in seconds
    }


class BestCutoff(NamedTuple):
    """The cutoff with the shortest time, and the range of cutoffs whose times are close to it."""

    cutoff: float
    seconds: float
    lowest: float
    highest: float


def best_cutoff(rows: Sequence[Row]) -> BestCutoff:
    """Return the best cutoff of the rows of one board."""
    points = sorted((row["cutoff"], row["median"]) for row in rows)
    best = min(range(len(points)), key=lambda index: points[index][1])
    cutoff, seconds = points[best]
    max_seconds = MAX_SLOWDOWN * seconds

    # Widen the range while the next cutoff on a side is close, too.
    low = best
    while low > 0 and points[low - 1][1] <= max_seconds:
        low -= 1
    high = best
    while high < len(points) - 1 and points[high + 1][1] <= max_seconds:
        high += 1
    return BestCutoff(cutoff, seconds, points[low][0], points[high][0])


def cutoff_rows(path: Path, name: str) -> dict[str, list[Row]]:
    """Return by board the rows on most threads in which all boards were split to the cutoff."""
    rows = bench_rows(path, name)
    threads = max_threads(rows)
    boards: dict[str, list[Row]] = {}
    for row in rows:
        if row["jobs"] == threads and row["cutoff_reached"]:
            boards.setdefault(row["board"], []).append(row)
    return boards


def cutoffs(path: Path) -> None:
    """Print the best cutoffs by search space and by empty cells."""
    searches = [row for row in bench_rows(path) if row["method"] == "search"]
    threads = max_threads(searches)
    seconds_without = {row["board"]: row["median"] for row in searches if row["jobs"] == threads}
    space_rows, empty_rows = (cutoff_rows(path, name) for name in CUTOFF_FILES)
    lines = []
    differences = []
    correlations = []
    for board in [name for name in space_rows if name in empty_rows]:
        by_space = best_cutoff(space_rows[board])
        by_empty = best_cutoff(empty_rows[board])
        lines.append(
            [
                board,
                format_cell(seconds_without.get(board)),
                f"{format_duration(by_space.seconds)} at {format_space(by_space.cutoff)}",
                f"{format_space(by_space.lowest)} to {format_space(by_space.highest)}",
                f"{format_duration(by_empty.seconds)} at {by_empty.cutoff:g}",
                f"{by_empty.lowest:g} to {by_empty.highest:g}",
            ]
        )
        # How much it matters which measure a cutoff has.
        differences.append(abs(by_space.seconds / by_empty.seconds - 1))

        # Whether a good cutoff is one that keeps threads busy.
        rows = [row for row in space_rows[board] + empty_rows[board] if row["utilisation"]]
        if len(rows) >= MIN_CUTOFFS:
            seconds = [row["median"] for row in rows]
            utilisations = [row["utilisation"] for row in rows]
            correlations.append(np.corrcoef(seconds, utilisations)[0, 1])
    if not lines:
        raise InputError("no board has undisturbed runs with both kinds of cutoff")

    within = f"within {MAX_SLOWDOWN - 1:.0%}"
    heads = ["board", "no cutoff", "best by search space", within, "best by empty cells", within]
    print_table(heads, lines)
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
    sources = [source_line(path.with_name(f"{name}.json"), command_line) for name in CUTOFF_FILES]
    for line in dict.fromkeys(sources):  # the files may have the same line
        print(f"\n{line}")


def format_space(cutoff: float) -> str:
    """Format a search space, such as 1e30."""
    return f"{cutoff:.0e}".replace("e+", "e")


def law(path: Path) -> None:
    """Print how the time of a search grows with the number of solutions."""
    fit = search_law(bench_rows(path))
    if fit is None:
        raise InputError("bench.json: too few undisturbed 9x9 searches on one thread")
    seconds_per_solution = fit.at(fit.max_x) / fit.max_x
    years = seconds_per_solution * EMPTY_BOARD_SOLUTIONS / SECONDS_PER_YEAR
    print(
        f"A search takes {fit.factor:.1e} s x solutions^{fit.exponent:.2f} on one core,"
        f" within a factor of {fit.spread:.2f} on {fit.points} 9x9 boards of"
        f" {fit.min_x:,.0f} to {fit.max_x:,.0f} solutions. At its rate with the most of these"
        f" solutions, the empty board would take {years:.0e} years."
    )
    print_source(path)


@command("findings")
def main() -> None:
    """Print all tables."""
    for print_part in (times, speed_ups, cutoffs, law):
        print_part(RESULTS / "bench.json")
        print()


if __name__ == "__main__":
    main()
