"""Which cutoff is best, measured and simulated, and how much the choice matters.

Nothing is measured here: what ``gpusudoku bench`` and ``simulated.py`` recorded is compared.

    python benchmarks/cutoffs.py
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from findings import cell, coefficient, power, print_sources, searches, threads, virtual
from script import command, repeated, table
from simulated_figures import plain
from summary import duration

from gpusudoku.bench.suite import Row
from gpusudoku.errors import InputError

KINDS = ("cutoff-space", "cutoff-empty")
"""Results by what the size of a board is taken to be."""
NEAR = 1.25
"""A time within this factor of the best is near it."""
FEWEST = 3
"""Fewer cutoffs have no correlation."""


class Best(NamedTuple):
    """The best of some cutoffs, and those around it that are near."""

    cutoff: float
    seconds: float
    least: float
    most: float


def best_of(points: Sequence[tuple[float, float]]) -> Best:
    """The best cutoff of pairs of cutoff and seconds, and how far those near it reach."""
    points = sorted(points)
    number = min(range(len(points)), key=lambda index: points[index][1])
    cutoff, seconds = points[number]
    first = last = number
    while first > 0 and points[first - 1][1] <= NEAR * seconds:
        first -= 1
    while last < len(points) - 1 and points[last + 1][1] <= NEAR * seconds:
        last += 1
    return Best(cutoff, seconds, points[first][0], points[last][0])


def reached(kind: str) -> dict[str, list[Row]]:
    """By board, the rows of all cutoffs that were measured on the most threads and reached."""
    most, found = threads(), dict[str, list[Row]]()
    for row in searches(kind):
        if row["jobs"] == most and row["cutoff_reached"]:
            found.setdefault(row["board"], []).append(row)
    return found


def measured_cutoffs() -> dict[str, tuple[Best, Best]]:
    """The best by search space and by empty cells, of every board that has both.

    Raises
    ------
    InputError
        If none has.
    """
    space, empty = (
        {
            name: best_of([(row["cutoff"], row["median"]) for row in rows])
            for name, rows in reached(kind).items()
        }
        for kind in KINDS
    )
    found = {name: (space[name], empty[name]) for name in space if name in empty}
    if not found:
        raise InputError("no board has undisturbed runs with both kinds of cutoff")
    return found


def apart_by_kind() -> list[float]:
    """By how much the best times with the two kinds of cutoff differ, board by board."""
    return [abs(space.seconds / empty.seconds - 1) for space, empty in measured_cutoffs().values()]


def time_with_work() -> list[float]:
    """How the time goes with the share of it that threads work: a coefficient for every board.

    Over all its cutoffs, by search space and by empty cells.
    """
    points: dict[str, list[tuple[float, float]]] = {}
    for kind in KINDS:
        for name, rows in reached(kind).items():
            points.setdefault(name, []).extend(
                (row["median"], row["utilisation"]) for row in rows if row["utilisation"]
            )
    lines = [zip(*some, strict=True) for some in points.values() if len(some) >= FEWEST]
    return [coefficient(*line) for line in lines]


def show(_: Path | None = None) -> None:
    """Print the best cutoffs, measured and simulated."""
    most = threads()
    heads = ["board", "no cutoff", "best by search space", f"within {NEAR - 1:.0%}"]
    alone = {row["board"]: row["median"] for row in searches() if row["jobs"] == most}
    rows = [
        [name, cell(alone.get(name)), f"{duration(space.seconds)} at {power(space.cutoff)}",
         f"{power(space.least)} to {power(space.most)}",
         f"{duration(empty.seconds)} at {empty.cutoff:g}", f"{empty.least:g} to {empty.most:g}"]
        for name, (space, empty) in measured_cutoffs().items()
    ]  # fmt: skip
    runs = [row["times"] for name in KINDS for row in searches(name)]
    print(f"Measured on {most} threads. {repeated(runs)}\n")
    table([*heads, "best by empty cells", f"within {NEAR - 1:.0%}"], rows)
    apart = apart_by_kind()
    print(
        f"\nThe best times by the two measures differ by {median(apart):.0%} in the median of"
        f" {len(apart)} boards, {max(apart):.0%} at most."
    )
    print_sources("bench", *KINDS)
    print()
    simulated_cutoffs()
    print_sources("simulated")


def simulated_cutoffs() -> None:
    """Print the best cutoffs of one board by the number of virtual cores, and the best of all."""
    runs = [run for run in virtual() if run["cutoff"] is not None and "busy" not in run]
    [name] = dict.fromkeys(run["board"] for run in runs)
    line = plain(virtual())[name]
    rows, better = [], []
    for number in dict.fromkeys(run["workers"] for run in runs):
        none = line[1] / line[number]
        cells = [f"{number}", f"{none:.1f}"]
        for sharing, what in ((True, "boards handed over"), (False, "nothing handed over")):
            some = {run["cutoff"]: run for run in runs
                    if (run["workers"], run["sharing"]) == (number, sharing)}  # fmt: skip
            best = best_of([(cutoff, run["seconds"]) for cutoff, run in some.items()])
            boards, faster = some[best.cutoff]["frontier_boards"] / number, line[1] / best.seconds
            cells += [f"{faster:.1f} at {power(best.cutoff)}", f"{boards:.1f}",
                      f"{power(best.least)} to {power(best.most)}"]  # fmt: skip
            better.append((faster / none, number, faster, none, f"{power(best.cutoff)}, {what}"))
        rows.append(cells)
    print(f"Simulated, board {name}: speed-up\n")
    head = ["boards for each core", f"within {NEAR - 1:.0%} of it"]
    table(["cores", "no cutoff", "best cutoff", *head, "best, nothing handed over", *head], rows,
          left=0)  # fmt: skip
    gain, number, faster, none, what = max(better)
    print(
        f"\nThe most that a cutoff wins: on {number} cores the cutoff {what}, {faster:.1f} times,"
        f" {none:.1f} without cutoff ({gain - 1:+.0%})."
    )


@command("cutoffs")
def main() -> None:
    """Print all of it."""
    show()


if __name__ == "__main__":
    main()
