"""What the authors of the documents found, and what our results say of it.

Nothing is measured here: theirs is as published, and ours from the recorded results. Whether ours
confirm it is computed, so a new measurement may change the verdict.

    python benchmarks/claims.py
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import log
from pathlib import Path
from statistics import geometric_mean, median
from typing import NamedTuple

import numpy as np
from cutoffs import apart_by_kind, time_with_work
from documents import DECOMPOSITION, PAPER_CORES, UNKNOWN
from findings import (
    coefficient,
    coefficients,
    goes_with,
    of_twelve,
    over_all_cores,
    print_sources,
    searches,
    speed_ups,
    threads,
    virtual,
)
from machine import RESULTS, recorded
from model import EMPTY_BOARD, YEAR, law_of_search
from published import CORES, CORRELATED, CORRELATIONS, SPEED_UPS
from script import Run, command, grouped, table
from simulated_figures import MOST_CORES, SHORT_SECONDS, measured_speed_ups, plain

import gpusudoku
from gpusudoku import collection

GAIN = 1.05
"""What is more than this many times as fast is faster."""
CLOSE = 0.1
"""What differs by less hardly differs."""
LINEAR = 0.9
"""A speed-up that grows as a power of the cores above this grows almost as they do."""
WORSE = -0.5
"""A coefficient of correlation below this: one grows, the other shrinks."""
SPACE, EMPTY, SOLUTIONS, ALONE = range(4)
"""Of CORRELATED."""
LONG_BOARDS = ("decomposition-16x16", "decomposition-9x9")
HOURS = 8
"""After so many the report's search of a 25x25 board was ended."""
PAPER_YEARS = 211_532_970_320.3
FOUR, FOUR_SOLVED = "4.2...411.....14", "4123234114323214"
"""The 4x4 board of "Solving Sudoku Puzzles", and the solution that it prints."""


class Claim(NamedTuple):
    """A finding, theirs and ours."""

    found: str
    theirs: str
    ours: str
    verdict: str


def verdict(confirmed: bool) -> str:
    """What ours say of a finding."""
    return "confirmed" if confirmed else "contradicted"


def named(boards: Iterable[str]) -> str:
    """The names of boards, in words if there are none."""
    return ", ".join(boards) or "none"


def below_one(lines: dict[str, float]) -> str:
    """Name the boards whose least speed-up is below 1, and the least of all."""
    slow = {name: least for name, least in lines.items() if least < 1}
    return f"{named(slow)}{f', {min(slow.values()):.2f} at least' if slow else ''}"


def growth(line: dict[int, float]) -> tuple[float, float]:
    """Return as which powers of the cores a speed-up grows: from the fewest cores, and from 1."""
    from_fewest = log(line[MOST_CORES] / line[CORES[0]]) / log(MOST_CORES / CORES[0])
    return from_fewest, log(line[MOST_CORES]) / log(MOST_CORES)


def of_speed_ups() -> Iterator[Claim]:
    """What simonepri/sudoku-solver says of the speed-up."""
    least, name = CORES[0], "2f"
    simulated = speed_ups()
    lines = (dict(zip(CORES, SPEED_UPS[name], strict=True)), simulated[name])
    powers = [growth(line) for line in lines]
    texts = [", ".join(f"{line[number]:.1f} on {number}" for number in (least, 16, MOST_CORES))
             + f"; as cores^{power:.2f} from {least} on, cores^{whole:.2f} from 1 on"
             for line, (power, whole) in zip(lines, powers, strict=True)]  # fmt: skip
    yield Claim(
        "the speed-up grows almost linearly with the cores",
        f"{name}: {texts[0]}",
        f"{name}, simulated: {texts[1]}",
        f"{verdict(min(powers[1]) > LINEAR)} for {name}",
    )
    most, seconds = threads(), plain(virtual())
    measured = measured_speed_ups(RESULTS / "bench.json", most)
    measured = {name: faster for name, faster in measured.items() if name in SPEED_UPS}
    virtually = {name: min(faster for number, faster in simulated[name].items() if number > 1)
                 for name in SPEED_UPS}  # fmt: skip
    slow = [name for some in (measured, virtually) for name in some if some[name] < 1]
    yield Claim(
        "it is below 1 only for small boards or on very few cores",
        f"on some number of cores: {below_one({n: min(line) for n, line in SPEED_UPS.items()})}",
        f"measured on {most} threads: {below_one(measured)}; simulated, on some number of cores:"
        f" {below_one(virtually)}",
        verdict(all(seconds[name][1] < SHORT_SECONDS for name in slow)),
    )
    found = coefficients()
    on_few, on_many, published = (
        ", ".join(f"{line[name]:.2f}" for name in CORRELATED[:3]) for line in found.values()
    )
    words = {"the size": "confirmed", "the solutions": "contradicted", "neither": "undecided"}
    said = [words[goes_with(line)] for line in list(found.values())[:2]]
    yield Claim(
        "it goes with search space and empty cells more than with solutions",
        f"{published} on {MOST_CORES} cores",
        f"{on_few} on {most} threads; {on_many} simulated on {MOST_CORES}",
        f"{said[0]} on {most}, {said[1]} on {MOST_CORES}",
    )
    every = over_all_cores()
    texts = [", ".join(f"{name} {value:.2f}" for name, value in line.items())
             for line in every.values()]  # fmt: skip
    hidden = found[list(found)[1]]["solutions"] - every["ours, simulated"]["solutions"]
    yield Claim(
        "over all numbers of cores at once, the cores blur what a speed-up goes with",
        f"a picture; from their speed-ups: {texts[1]}",
        f"simulated: {texts[0]}",
        verdict(hidden > CLOSE),
    )


def of_boards() -> Iterator[Claim]:
    """What it says of boards and times."""
    boards = [collection.load(name) for name in SPEED_UPS]
    alone = of_twelve({row["board"]: row["median"] for row in searches() if row["jobs"] == 1})
    counts = [float(collection.entry(name).count) for name in alone]
    linear = coefficient(counts, list(alone.values()))
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
    years = law_of_search().at(1e8) / 1e8 * EMPTY_BOARD / YEAR
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
    apart = median(apart_by_kind())
    yield Claim(
        "a cutoff by search space is as good as one by empty cells",
        "limited differences",
        f"best times {apart:.0%} apart on {threads()} threads, in the median",
        verdict(apart < CLOSE),
    )
    together = median(time_with_work())
    yield Claim(
        "a cutoff is good if all cores are busy, and end together",
        "no figure",
        f"correlation {together:.2f} of the time with the share of it that {threads()} threads"
        " work, over cutoffs, in the median",
        verdict(together < WORSE),
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
        "as many here"
        if boards["serial"] == boards["parallel"]
        else verdict(boards["serial"] < boards["parallel"]),
    )
    yield from of_decomposition(runs)
    paper = [run for run in runs if run["document"] == "paper" and run["limit"] is None]
    seconds = {way: median(run["seconds"] for run in each)
               for (way,), each in grouped(paper, "way").items()}  # fmt: skip
    parallel = [run for run in paper if run["way"] == "parallel"]
    least_busy = median(min(run["utilisation"]) for run in parallel)
    gain = seconds["serial"] / seconds["parallel"]
    number = parallel[0]["threads"]
    yield Claim(
        "parallel solver: all cores are used",
        f"{UNKNOWN['serial'] / UNKNOWN['parallel']:.1f} times as fast on {PAPER_CORES}",
        f"{paper[0]['board']}: {gain:.2f} times on {number}, the least busy works {least_busy:.0%}",
        verdict(least_busy > 1 - CLOSE),
    )


def of_decomposition(runs: list[Run]) -> Iterator[Claim]:
    """Judge what the report says of its speed-up, its threads and its sizes."""
    gains = {}
    for name in LONG_BOARDS:
        seconds = [
            median(run["seconds"] for run in runs
                   if (run["document"], run["board"], run["propagate"], run["limit"], run["way"])
                   == ("report", name, "naked-single", 1, way))
            for way in ("serial", "parallel")
        ]  # fmt: skip
        gains[name] = seconds[0] / seconds[1]
    printed = {name: DECOMPOSITION[name]["serial"][0] / DECOMPOSITION[name]["parallel"][0]
               for name in LONG_BOARDS}  # fmt: skip
    texts = [", ".join(f"{name.removeprefix('decomposition-')} {gain:.2f}"
                       for name, gain in some.items()) for some in (printed, gains)]  # fmt: skip
    yield Claim(
        "decomposition: the parallel program is faster than the serial one",
        f"on {PAPER_CORES} cores: {texts[0]} times",
        f"on {threads()} threads: {texts[1]} times",
        "confirmed" if min(gains.values()) > GAIN else "not here: the searches are too short",
    )
    many = speed_ups()["2f"][PAPER_CORES]
    yield Claim(
        "decomposition: the number of threads hardly matters after the first call",
        "no figure",
        f"2f, simulated on {PAPER_CORES} cores: {many:.1f} times as fast",
        f"{verdict(many < PAPER_CORES / 2)} for 2f",
    )
    times = grouped(recorded(RESULTS / "speed.json")["runs"], "board", "case")
    name = "25x25-newspaper"
    singles, everything = (median(run["seconds"] for run in times[name, f"min, {techniques}"])
                           for techniques in ("singles", "all"))  # fmt: skip
    yield Claim(
        "decomposition: a 25x25 board takes more than 8 hours",
        f"not done after {HOURS} h, two more expected",
        f"{name}: {singles:.2g} s, {everything:.2g} s with all techniques, on one core",
        "another board: theirs is not printed",
    )
    yield Claim(
        "decomposition: 20 empty cells make 20^9 possible boards",
        f"{20**9:.1e}",
        f"9^20, or {9**20:.1e}, at most",
        verdict(20**9 >= 9**20),
    )


def of_numbers() -> Iterator[Claim]:
    """Judge two numbers of other documents: of years, and of solutions of a 4x4 board."""
    years = EMPTY_BOARD / 1e6 / (365 * 86400)
    yield Claim(
        "parallel solver: to find all solutions takes 211,532,970,320.3 years at 1 µs each",
        f"{PAPER_YEARS:,.1f} years",
        f"{years:,.1f} years of 365 days: theirs are {PAPER_YEARS / years:,.0f} times as many",
        verdict(abs(PAPER_YEARS / years - 1) < CLOSE),
    )
    solutions = [f"{found}" for found in gpusudoku.solutions(FOUR)]
    yield Claim(
        "solving puzzles: the solution of its 4x4 board",
        FOUR_SOLVED,
        " and ".join(sorted(solutions)),
        "the only one" if solutions == [FOUR_SOLVED] else f"one of {len(solutions)}",
    )


def show(_: Path | None = None) -> None:
    """Print the table."""
    claims = [*of_speed_ups(), *of_boards(), *of_choices(), *of_others(), *of_numbers()]
    table(["they found", "their figures", "ours", "by ours"], claims, left=4)
    print_sources("bench", "cutoff-space", "simulated", "contraction", "documents", "speed")


@command("claims")
def main() -> None:
    """Print the table."""
    show()


if __name__ == "__main__":
    main()
