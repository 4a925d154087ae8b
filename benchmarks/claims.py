"""What the authors of the documents found, and what our results say of it.

Nothing is measured here: theirs is as published, and ours from the recorded results. Whether ours
confirm it is computed, so a new measurement may change the verdict.

    python benchmarks/claims.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import geometric_mean, median
from typing import NamedTuple

import numpy as np
from cutoffs import apart_by_kind
from documents import DECOMPOSITION, PAPER_CORES, UNKNOWN
from findings import (
    MOST_CORES,
    coefficients,
    goes_with,
    pictured,
    print_sources,
    searches,
    speed_ups,
    threads,
    virtual,
)
from machine import RESULTS, recorded
from model import EMPTY_BOARD, YEAR, law_of_search
from published import CORES, CORRELATED, CORRELATIONS, SPEED_UPS
from script import command, grouped, table
from simulated_figures import SHORT_SECONDS, measured_speed_ups, plain

from gpusudoku import collection

BELOW = 0.95
"""A speed-up below this is one that costs time."""
GAIN = 1.05
"""What is more than this many times as fast is faster."""
CLOSE = 0.1
"""What differs by less hardly differs."""
SPACE, EMPTY, SOLUTIONS, ALONE = range(4)
"""Of CORRELATED."""


class Claim(NamedTuple):
    """A finding, theirs and ours."""

    found: str
    theirs: str
    ours: str
    verdict: str


def verdict(confirmed: bool) -> str:
    """What ours say of a finding."""
    return "confirmed" if confirmed else "contradicted"


def of_speed_ups() -> Iterator[Claim]:
    """What simonepri/sudoku-solver says of the speed-up."""
    shown = (4, 16, MOST_CORES)
    ours = speed_ups()["2f"]
    theirs = dict(zip(CORES, SPEED_UPS["2f"], strict=True))
    lines = [", ".join(f"{line[n]:.1f} on {n}" for n in shown) for line in (theirs, ours)]
    yield Claim(
        "the speed-up grows almost linearly with the cores",
        f"2f: {lines[0]}",
        f"2f, simulated: {lines[1]}",
        f"{verdict(ours[MOST_CORES] >= MOST_CORES / 2)} where there is work enough",
    )
    measured, seconds = measured_speed_ups(RESULTS / "bench.json"), plain(virtual())
    slower = [name for name in SPEED_UPS if measured[name] < BELOW]
    below = [name for name, line in SPEED_UPS.items() if min(line) < BELOW]
    yield Claim(
        "it is below 1 only for small boards",
        f"{', '.join(below) or 'none'}, on some number of cores",
        f"{', '.join(slower) or 'none'}, on 2 threads",
        verdict(all(seconds[name][1] < SHORT_SECONDS for name in slower)),
    )
    found = coefficients()
    on_two, on_many, published = (
        ", ".join(f"{line[name]:.2f}" for name in CORRELATED[:3]) for line in found.values()
    )
    said = [verdict(goes_with(line) == "the size") for line in list(found.values())[:2]]
    yield Claim(
        "it goes with search space and empty cells more than with solutions",
        f"{published} on {MOST_CORES} cores",
        f"{on_two} on 2 threads; {on_many} simulated on {MOST_CORES}",
        f"{said[0]} on 2, {said[1]} on {MOST_CORES}",
    )


def coefficient(ones: Sequence[float], others: Sequence[float]) -> float:
    """Pearson's coefficient of correlation."""
    return float(np.corrcoef(ones, others)[0, 1])


def of_boards() -> Iterator[Claim]:
    """What it says of boards and times."""
    boards = [collection.load(name) for name in SPEED_UPS]
    alone = {row["board"]: row["median"] for row in searches() if row["jobs"] == 1}
    counts = [float(collection.entry(name).count) for name in SPEED_UPS]
    linear = coefficient(counts, [alone[name] for name in SPEED_UPS])
    yield Claim(
        "the time on one core is linear in the solutions",
        f"{CORRELATIONS[SOLUTIONS][ALONE]:.2f}",
        f"{linear:.2f}",
        verdict(linear > 1 - CLOSE / 10),
    )
    spaces = [float(np.log10(float(board.search_space))) for board in boards]
    sizes = coefficient(spaces, [board.empty_cells for board in boards])
    yield Claim(
        "search space and empty cells say the same of a board",
        f"{CORRELATIONS[SPACE][EMPTY]:.2f}",
        f"{sizes:.2f}",
        verdict(sizes > 1 - CLOSE),
    )
    years = float(law_of_search().at(1e8)) / 1e8 * EMPTY_BOARD / YEAR
    runs = grouped(recorded(RESULTS / "contraction.json")["runs"], "group")
    quick = median(run["seconds"] for run in runs["empty",])
    yield Claim(
        "the empty board takes thousands of years",
        "not tried",
        f"by search 10^{np.log10(years):.0f} years, by contraction {quick:.2g} s",
        f"{verdict(years > 1000)} for a search, {verdict(quick > YEAR)} for a count",
    )


def of_choices() -> Iterator[Claim]:
    """What it says of the cutoff and of the cell to guess."""
    apart = apart_by_kind()
    yield Claim(
        "a cutoff by search space is as good as one by empty cells",
        "limited differences",
        f"best times {apart:.0%} apart on {threads()} threads",
        verdict(apart < CLOSE),
    )
    runs = pictured()
    faster = sorted(runs, key=lambda title: runs[title].speed_up)
    busier = sorted(runs, key=lambda title: runs[title].searching)
    ours = "; ".join(f"{run.speed_up:.1f} with {run.searching:.1f} busy ({title})"
                     for title, run in runs.items())  # fmt: skip
    yield Claim(
        "a cutoff is good if all cores are busy, and end together",
        "no figure",
        f"speed-up of 16 virtual cores: {ours}",
        verdict(faster == busier),
    )
    cases = grouped(recorded(RESULTS / "speed.json")["runs"], "board", "case")
    seconds = {case: median(run["seconds"] for run in some) for case, some in cases.items()}
    gain = geometric_mean(
        time / seconds[board, "min, singles"]
        for (board, case), time in seconds.items()
        if case == "first, singles"
    )
    yield Claim(
        "guess a cell with the fewest candidates, not the first",
        "no figure",
        f"{gain:.2f} times as fast, on one core",
        verdict(gain > GAIN),
    )


def of_others() -> Iterator[Claim]:
    """What the report on exploratory decomposition and the parallel solver's paper say."""
    runs = recorded(RESULTS / "documents.json")["runs"]
    name = "decomposition-9x9"
    case = {"document": "report", "board": name, "propagate": "naked-single", "limit": 1}
    some = [run for run in runs if case.items() <= run.items()]
    boards = {way: median(run["boards"] for run in each)
              for (way,), each in grouped(some, "way").items()}  # fmt: skip
    theirs = DECOMPOSITION[name]
    yield Claim(
        "decomposition: a parallel search makes more boards until the first solution",
        f"{theirs['serial'][1]:,} serial, {theirs['parallel'][1]:,} parallel",
        f"{boards['serial']:,.0f} serial, {boards['parallel']:,.0f} parallel",
        verdict(boards["serial"] < boards["parallel"]),
    )
    paper = [run for run in runs if run["document"] == "paper" and run["limit"] is None]
    seconds = {way: median(run["seconds"] for run in each)
               for (way,), each in grouped(paper, "way").items()}  # fmt: skip
    parallel = [run for run in paper if run["way"] == "parallel"]
    idle = median(min(run["utilisation"]) for run in parallel)
    gain = seconds["serial"] / seconds["parallel"]
    number = parallel[0]["threads"]
    yield Claim(
        "parallel solver: all cores are used",
        f"{UNKNOWN['serial'] / UNKNOWN['parallel']:.1f} times as fast on {PAPER_CORES}",
        f"{paper[0]['board']}: {gain:.2f} times on {number}, the least busy {idle:.0%}",
        verdict(idle > 1 - CLOSE),
    )


def show(_: Path | None = None) -> None:
    """Print the table."""
    claims = [*of_speed_ups(), *of_boards(), *of_choices(), *of_others()]
    table(["they found", "their figures", "ours", "by ours"], claims, left=4)
    print_sources("bench", "cutoff-space", "simulated", "contraction", "documents", "speed")


@command("claims")
def main() -> None:
    """Print the table."""
    show()


if __name__ == "__main__":
    main()
