"""How the time grows: laws fitted to recorded results, and what they predict.

The law of the search is fitted to the number of solutions (results/bench.json), that of the
contraction to the numbers of clues and of different digits among them (results/contraction.json).
Nothing is measured here.

    python benchmarks/model.py              prints the laws
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from findings import print_sources
from machine import RESULTS, recorded
from script import command, table
from simulated_figures import suite_rows

from gpusudoku.bench.figures import threads
from gpusudoku.bench.suite import PowerLaw, search_law
from gpusudoku.errors import InputError
from gpusudoku.kernels.search.shape import shape_of
from gpusudoku.search.frontier import node_seconds

LEAST_CLUES = 8
"""The fewest clues of the fit: below, the orbits of free digits make contractions quicker again."""
EMPTY_BOARD = 6_670_903_752_021_072_936_960
YEAR = 365.25 * 86400


def random_runs() -> list[tuple[int, int, float]]:
    """Clues, different digits and seconds of every random board that was contracted."""
    found = []
    for run in recorded(RESULTS / "contraction.json")["runs"]:
        if run["group"].isdigit() and "board" in run:
            clues = [cell for cell in run["board"] if cell != "."]
            found.append((len(clues), len(set(clues)), run["seconds"]))
    return found


def contraction_law(runs: list[tuple[int, int, float]]) -> tuple[float, float, float, float]:
    """Fit log seconds by least squares: constant, factors of a clue and of a digit, spread."""
    some = [run for run in runs if run[0] >= LEAST_CLUES]
    clues, digits, seconds = (np.array(column, float) for column in zip(*some, strict=True))
    design = np.stack([np.ones_like(clues), clues, digits], axis=1)
    found, *_ = np.linalg.lstsq(design, np.log(seconds), rcond=None)
    spread = float(np.exp(np.std(np.log(seconds) - design @ found)))
    return float(np.exp(found[0])), float(np.exp(found[1])), float(np.exp(found[2])), spread


def law_of_search() -> PowerLaw:
    """The law of the search in the recorded run.

    Raises
    ------
    InputError
        If too few boards were searched.
    """
    law = search_law(suite_rows(RESULTS / "bench.json"))
    if law is None:
        raise InputError("too few boards were searched: run gpusudoku bench --json first")
    return law


def show(_: Path | None = None) -> None:
    """Print the laws and what follows from them."""
    law = law_of_search()
    constant, clue, digit, spread = contraction_law(random_runs())
    cores = recorded(RESULTS / "contraction.json")["machine"]["cores"]
    per_solution = law.at(1e8) / 1e8
    years = EMPTY_BOARD * per_solution / YEAR
    print(
        f"A search takes {law.factor:.2g} s x solutions^{law.exponent:.2f} on one core (within a"
        f" factor of {law.spread:.2f} on {law.points} 9x9 boards). It visits solutions: at the"
        f" rate that it has at 1e8 solutions, the empty board would take {years:.1g} years.\n"
    )
    print(
        f"A contraction of a 9x9 board takes {constant:.2g} s x {clue:.2f}^clues x"
        f" {digit:.2f}^digits with {threads(cores)} from {LEAST_CLUES} clues on (within a factor"
        f" of {spread:.2f} on random boards). Clues shorten its lists, and solutions do not"
        " matter.\n"
    )
    rows = []
    for exponent in (6, 8, 10, 12, 14):
        seconds = per_solution * 10.0**exponent
        rows.append([f"1e{exponent}", f"{seconds:.2g} s"])
    table(["solutions", "search, one core, at that rate"], rows, left=0)
    print(
        "\nOn larger boards a node takes longer: on one core about"
        f" {1e9 * node_seconds(shape_of(4, 4)):.0f} ns where a board has 16x16 cells, and"
        f" {1e9 * node_seconds(shape_of(5, 5)):,.0f} ns where it has 25x25.{large_rate()} The"
        " lists of a contraction grow so fast that empty boards beyond 9x9 stay out of reach: a"
        " 12x12 stack can be filled in about 9e10 ways."
    )
    print_sources("bench", "contraction")


def large_rate() -> str:
    """How fast the 16x16 board with many solutions is searched, as a sentence; none if unknown."""
    name = "16x16-solutions"
    for row in suite_rows(RESULTS / "bench.json"):
        if (row["board"], row["method"], row["jobs"]) == (name, "search", 1):
            return (
                f" A 16x16 board of {row['solutions']:,} solutions is searched at"
                f" {row['solutions_per_second']:.1e} solutions a second."
            )
    return ""


@command("model")
def main() -> None:
    """Fit, print."""
    show()


if __name__ == "__main__":
    main()
