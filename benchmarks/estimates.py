"""Measure estimates of the number of solutions: variance per second, and coverage of intervals.

The variance of one walk is compared with and without splitting, and for several ways to guess.
Knuth's walks are not split. They guess the cells that a search guesses, and give a cell each of its
candidates with the same probability. They differ from the program's walks in nothing else: all run
in the lanes of ``kernels.search.walks``.

    python benchmarks/estimates.py            twelve minutes on two cores
    python benchmarks/estimates.py --quick    shorter measurements, ten seeds instead of a hundred
    python benchmarks/estimates.py --show     print the tables of the recorded run
"""

from __future__ import annotations

import time
from functools import cache, partial
from itertools import count
from math import ldexp, log10
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import click
import numpy as np
from machine import read_results, record
from numpy.typing import NDArray
from script import Run, print_table, script

import gpusudoku
from gpusudoku import Board, Geometry
from gpusudoku.enumeration.splitting import Splitting
from gpusudoku.kernels.bits import ONE, ZERO, lowest_index, popcount
from gpusudoku.kernels.kernel import Jit, Kernel, inlined
from gpusudoku.kernels.search import cpu, walks
from gpusudoku.kernels.search.choose import build_choose
from gpusudoku.kernels.search.moves import Moves
from gpusudoku.kernels.search.shape import FEWEST_CANDIDATES, FIRST_CELL, SearchSettings, Shape
from gpusudoku.puzzles.random_grids import Grids

SEED = 1
SEEDS = 100
"""The number of intervals of each board whose coverage is counted."""
SAMPLES = 16
"""The samples of each of these intervals, and the least number for a variance with splitting."""
MIN_BATCHES = 2
"""The least number of batches of single walks."""
MAX_COMPARED_SIZE = 16
"""On larger boards, splitting is only measured as the program does it."""
MIN_EFFECTIVE_WALKS = 100
"""A variance is called a lower bound if fewer walks than these have most of the weight."""
RELATIVE_ERROR = 0.01
"""The relative standard error whose time is printed."""


def clued_board(box_rows: int, box_columns: int, clues: int) -> Board:
    """Return a board with clues in random cells of a random grid; the seed is ``clues``."""
    geometry = Geometry(box_rows, box_columns)
    zero = np.zeros(1, np.int64)
    [cells] = Grids(geometry, clues).at(zero, zero)
    cells[np.random.default_rng(clues).permutation(geometry.cells)[clues:]] = 0
    return Board(cells, geometry)


def make_boards() -> dict[str, Board]:
    """Return the boards by their names."""
    shapes = {"9x9": (3, 3), "8x8": (2, 4), "10x10": (2, 5), "12x12": (3, 4), "15x15": (3, 5),
              "16x16": (4, 4), "25x25": (5, 5)}  # fmt: skip
    boards = {f"{size}, empty": Board.empty(Geometry(*box)) for size, box in shapes.items()}
    for size, clues in (("9x9", 8), ("9x9", 12), ("12x12", 46), ("16x16", 60), ("25x25", 200)):
        boards[f"{size}, {clues} clues"] = clued_board(*shapes[size], clues)
    return boards


KNOWN = {
    "9x9, empty": 6_670_903_752_021_072_936_960,
    "8x8, empty": 29_136_487_207_403_520,
    "10x10, empty": 1_903_816_047_972_624_930_994_913_280_000,
    "12x12, empty": 81_171_437_193_104_932_746_936_103_027_318_645_818_654_720_000,
}
"""Numbers of solutions from the literature; ``docs/estimates.md`` has the sources."""
COUNTED = ["9x9, 8 clues", "9x9, 12 clues", "12x12, 46 clues"]
"""The boards that this script counts."""
PUBLISHED = {
    "15x15, empty": ("3.5086e84", 200),
    "16x16, empty": ("5.9584e98", 400),
    "25x25, empty": ("4.3648e308", 64),
}
"""Published approximations, and the samples for the program's own estimate."""


class Method(NamedTuple):
    """A way to sample."""

    name: str
    is_splitting: bool
    strategy: int | None
    """The strategy that chooses the cell of a uniform guess; None for the program's guesses."""


METHODS = [
    Method("Knuth's walks", False, FEWEST_CANDIDATES),
    Method("walks", False, None),
    Method("splitting, Knuth's guesses", True, FEWEST_CANDIDATES),
    Method("splitting, first cell", True, FIRST_CELL),
    Method("splitting", True, None),
]
KNUTH, WALKS, *_, SPLITTING = (method.name for method in METHODS)


def build_uniform_guess(strategy: int, shape: Shape, moves: Moves, jit: Jit) -> Any:
    """Make ``guess`` as in ``kernels.search.walks``, but with equal odds of all candidates."""
    choose = build_choose(shape, strategy, moves.candidates, jit)
    candidates_of = moves.candidates
    K = shape.plane_words  # noqa: N806 - as in the kernels

    @jit
    def guess(memory, lane, states, row, odds):  # type: ignore[no-untyped-def]
        j, bit = choose(memory, lane)
        remaining = candidates_of(memory, lane, j, bit)
        size = popcount(remaining)
        index = np.int64(walks.random_fraction(states, row) * size)
        while remaining != ZERO:
            d = lowest_index(remaining)
            remaining &= remaining - ONE
            if index != 0:
                memory[d * K + j, lane] &= ~bit
            index -= 1
        return 1.0 / size

    return guess


@cache
def uniform_walk(shape: Shape, strategy: int) -> Kernel:
    """Return the kernel of walks with uniform guesses in the cells of a strategy."""
    settings = SearchSettings()

    def build() -> Any:
        guess = partial(build_uniform_guess, strategy)
        with patch.object(walks, "_build_guess", guess):
            return walks.build_walk(shape, settings, inlined)

    signature = cpu.walk(shape, settings).signature
    return Kernel(None, signature, build, (uniform_walk, (shape, strategy)))


class SingleWalks(Splitting):
    """Walks that are never replaced by copies. A sample has many of them."""

    def _replace(self, boards: NDArray[Any], weights: NDArray[np.float64], offset: float) -> float:
        """Divide the weights by the largest, so that they stay in the range of a float."""
        largest = float(weights.max())
        if largest > 0.0:
            weights /= largest
        return largest


def measure_variance(board: Board, method: Method, seconds: float) -> Run:
    """Draw samples for some CPU seconds; return the relative variance of one walk."""
    sampler = (Splitting if method.is_splitting else SingleWalks)(board, SEED)
    if method.strategy is not None:
        sampler._walk = uniform_walk(sampler.shape, method.strategy)
    _, exponent, _, _ = sampler.sample(0)  # loads or compiles the kernels
    min_samples = SAMPLES if method.is_splitting else MIN_BATCHES
    means = []
    squares = 0.0  # the sum over all samples of the mean squares of their walks
    start = time.thread_time()
    for number in count(1):
        sample = sampler.sample(number)
        # Relative to the first sample, because there may be more solutions than a float can hold.
        mean = ldexp(sample.mantissa, sample.exponent - exponent)
        means.append(mean)
        if mean > 0.0:
            ratios = sample.weights / (sample.weights.sum() / sampler.walks)
            squares += mean**2 * float(ratios @ ratios) / sampler.walks
        cpu_seconds = time.thread_time() - start
        if cpu_seconds >= seconds and number >= min_samples:
            break
    total_mean = float(np.mean(means))
    if method.is_splitting:  # walks of a sample are not independent, but samples are
        variance = sampler.walks * float(np.var(means, ddof=1)) / total_mean**2
    else:
        variance = squares / number / total_mean**2 - 1
    return {
        "walks": number * sampler.walks,
        "log10_mean": log10(total_mean) + exponent * log10(2),
        "variance": variance,
        "seconds": cpu_seconds,
    }


def measure_coverage(board: Board, solutions: int, seeds: int) -> Run:
    """Estimate a board with many seeds; count the intervals that contain the exact number."""
    contained = 0
    errors = []
    for seed in range(seeds):
        result = gpusudoku.estimate(board, samples=SAMPLES, seed=seed)
        contained += result.low <= solutions <= result.high
        errors.append(result.relative_error)
    return {
        "solutions": str(solutions),
        "seeds": seeds,
        "contained": contained,
        "relative_error": float(np.mean(errors)),
    }


def measure(quick: bool) -> list[Run]:
    """Return all runs."""
    runs = []
    boards = make_boards()

    def add(kind: str, name: str, **fields: Any) -> None:
        runs.append({"kind": kind, "board": name, **fields})
        click.echo(f"{kind}, {name}: {fields}", err=True)

    for name, board in boards.items():
        for method in METHODS:
            is_released = method.strategy is None or not method.is_splitting
            if is_released or board.geometry.n <= MAX_COMPARED_SIZE:
                run = measure_variance(board, method, 0.1 if quick else 4.0)
                add("variance", name, method=method.name, **run)
    for name in [*KNOWN, *COUNTED]:
        board = boards[name]
        solutions = KNOWN.get(name) or gpusudoku.count(board).count
        add("coverage", name, **measure_coverage(board, solutions, 10 if quick else SEEDS))
    for name, (published, samples) in PUBLISHED.items():
        result = gpusudoku.estimate(boards[name], samples=SAMPLES if quick else samples)
        add("estimate", name, published=published, text=str(result), samples=result.samples)
    return runs


def runs_of(path: Path, kind: str) -> list[Run]:
    """Return the runs of a kind in a recorded file."""
    return [run for run in read_results(path)["runs"] if run["kind"] == kind]


def format_bound(number: float, run: Run) -> str:
    """Format a number with two digits, after a sign if the variance is only a lower bound."""
    effective_walks = run["walks"] / (1 + run["variance"])
    is_bound = run["method"] in (KNUTH, WALKS) and effective_walks < MIN_EFFECTIVE_WALKS
    rounded = float(f"{number:.2g}")
    return f"{'> ' if is_bound else ''}{rounded:,.10g}"


def seconds_to_error(run: Run) -> float:
    """Return the CPU seconds until the relative standard error is RELATIVE_ERROR."""
    walk_seconds = run["seconds"] / run["walks"]
    return float(run["variance"] * walk_seconds / RELATIVE_ERROR**2)


def show_variances(path: Path) -> None:
    """Print the relative variance of one walk by board and method, and the CPU seconds."""
    boards: dict[str, dict[str, Run]] = {}
    for run in runs_of(path, "variance"):
        boards.setdefault(run["board"], {})[run["method"]] = run
    names = [method.name for method in METHODS]
    rows = []
    for board, runs in boards.items():
        cells = dict.fromkeys(names, "")
        cells.update({name: format_bound(run["variance"], run) for name, run in runs.items()})
        knuth = runs[KNUTH]
        knuth_seconds = seconds_to_error(knuth)
        splitting_seconds = seconds_to_error(runs[SPLITTING])
        ratio = format_bound(knuth_seconds / splitting_seconds, knuth)
        times = [
            format_bound(knuth_seconds, knuth),
            format_bound(splitting_seconds, runs[SPLITTING]),
        ]
        rows.append([board, *cells.values(), *times, ratio])
    print_table(["board", *names, f"{KNUTH}, s", f"{SPLITTING}, s", "ratio"], rows)


def show_coverage(path: Path) -> None:
    """Print how many intervals contain the number of solutions."""
    rows = []
    for run in runs_of(path, "coverage"):
        share = f"{run['contained']} of {run['seeds']}"
        rows.append([run["board"], f"{int(run['solutions']):.5g}", share,
                     f"{run['relative_error']:.1%}"])  # fmt: skip
    print_table(["board", "solutions", "intervals with this number", "mean relative error"], rows)


def show_estimates(path: Path) -> None:
    """Print estimates beside published approximations."""
    rows = [
        [run["board"], run["published"], str(run["samples"]), run["text"]]
        for run in runs_of(path, "estimate")
    ]
    print_table(["board", "formula", "samples", "estimate"], rows)


def show(path: Path) -> None:
    """Print the tables of a recorded file."""
    for print_part in (show_variances, show_coverage, show_estimates):
        print_part(path)
        print()


@script("estimates", show)
@click.option("--quick", is_flag=True, help="Shorter measurements, and ten seeds, not a hundred.")
def main(path: Path, quick: bool) -> None:
    """Measure estimates on this machine's cores."""
    record(path, measure(quick))


if __name__ == "__main__":
    main()
