"""Which cutoff is best, measured and simulated, and how much the choice matters.

Nothing is measured here: what ``gpusudoku bench`` and ``simulated.py`` recorded is compared.

    python benchmarks/cutoffs.py
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from findings import power, print_sources, searches, threads, virtual
from script import command, repeated, table
from simulated_figures import plain
from summary import duration

KINDS = ("cutoff-space", "cutoff-empty")
"""Results by what the size of a board is taken to be."""
NEAR = 1.25
"""A time within this factor of the best is near it."""


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


def measured_cutoffs() -> dict[str, tuple[float, Best, Best]]:
    """By board: the time without a cutoff, the best by search space and by empty cells."""
    most = threads()
    plain_rows = {row["board"]: row["median"] for row in searches() if row["jobs"] == most}
    found: dict[str, list[Best]] = {}
    for name in KINDS:
        rows = [row for row in searches(name) if row["jobs"] == most and row["cutoff_reached"]]
        for board in dict.fromkeys(row["board"] for row in rows):
            points = [(row["cutoff"], row["median"]) for row in rows if row["board"] == board]
            found.setdefault(board, []).append(best_of(points))
    return {name: (plain_rows[name], space, empty) for name, (space, empty) in found.items()}


def apart_by_kind() -> float:
    """By how much the best times with the two kinds of cutoff differ at most."""
    return max(
        abs(space.seconds / empty.seconds - 1) for _, space, empty in measured_cutoffs().values()
    )


def show(_: Path | None = None) -> None:
    """Print the best cutoffs, measured and simulated."""
    most = threads()
    heads = ["board", "no cutoff", "best by search space", f"within {NEAR - 1:.0%}"]
    rows = [
        [name, duration(without), f"{duration(space.seconds)} at {power(space.cutoff)}",
         f"{power(space.least)} to {power(space.most)}",
         f"{duration(empty.seconds)} at {empty.cutoff:g}", f"{empty.least:g} to {empty.most:g}"]
        for name, (without, space, empty) in measured_cutoffs().items()
    ]  # fmt: skip
    runs = [row.times for name in KINDS for row in searches(name)]
    print(f"Measured on {most} threads. {repeated(runs)}\n")
    table([*heads, "best by empty cells", f"within {NEAR - 1:.0%}"], rows)
    print(f"\nThe best times by the two measures differ by {apart_by_kind():.0%} at most.")
    print_sources(*KINDS)
    print()
    simulated_cutoffs()
    print_sources("simulated")


def simulated_cutoffs() -> None:
    """Print the best cutoff of one board by the number of virtual cores."""
    runs = [run for run in virtual() if run["cutoff"] is not None and run["sharing"]
            and "busy" not in run]  # fmt: skip
    [name] = dict.fromkeys(run["board"] for run in runs)
    line = plain(virtual())[name]
    rows = []
    for number in dict.fromkeys(run["workers"] for run in runs):
        some = {run["cutoff"]: run for run in runs if run["workers"] == number}
        best = best_of([(cutoff, run["seconds"]) for cutoff, run in some.items()])
        boards = some[best.cutoff]["frontier_boards"] / number
        rows.append([f"{number}", f"{line[1] / line[number]:.1f}", f"{line[1] / best.seconds:.1f}",
                     power(best.cutoff), f"{boards:.0f}",
                     f"{power(best.least)} to {power(best.most)}"])  # fmt: skip
    print(f"Simulated, board {name}: speed-up\n")
    heads = ["cores", "no cutoff", "best cutoff", "which is", "and leaves boards for each core"]
    table([*heads, f"within {NEAR - 1:.0%} of it"], rows, left=0)


@command("cutoffs")
def main() -> None:
    """Print all of it."""
    show()


if __name__ == "__main__":
    main()
