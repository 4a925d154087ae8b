"""Time what gives solutions by their numbers: samples, the k-th, and lists in both orders.

Random 9x9 boards by number of clues. Every number is checked by the way back, from the solution to
its number.

    python benchmarks/by_number.py             three minutes on two cores
    python benchmarks/by_number.py --boards 1  one board of each number of clues
    python benchmarks/by_number.py --show      the tables of what was recorded before
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import click
from generated import random_boards
from machine import gigahertz, record, recorded
from script import Run, check, grouped, script, table

import gpusudoku
from gpusudoku import Board
from gpusudoku.engines.make import make_engine
from gpusudoku.jobs.cores import usable_cores

CLUES = [0, 4, 8, 12, 17, 20, 24]
WARM_UP = [0, 17, 24]
SAMPLES = 1_000_000
LISTED = 1_000_000
"""Solutions that are listed in both orders, or all of a board that has fewer."""
FURTHER = 3
"""Numbers that an object is asked for after the first one."""
SEED = 1

MILLISECONDS = 1000.0
"""In a second."""


class Watch:
    """Measures one board; every object of its solutions begins with nothing known."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self._engine = make_engine(device="cpu")
        self._rng = random.Random(SEED)

    def run(self, samples: int) -> Run:
        """All figures of the board.

        Raises
        ------
        MismatchError
            If a solution has another number than that by which it was found.
        """
        known = {"engine": self._engine, "device": "cpu"}
        count_seconds, result = timed(lambda: gpusudoku.count(self.board, **known))
        numbers = [self._rng.randrange(result.count) for _ in range(1 + FURTHER)]

        solutions = self._fresh()
        solutions.sample(1, SEED)  # counts once
        sampling, drawn = timed(lambda: sum(map(len, solutions.sample_blocks(samples, SEED))))
        check(f"{self.board}: samples", drawn, samples)
        quick = [timed(lambda k=k: next(solutions.blocks(k, k + 1)))[0] for k in numbers]

        solutions = self._fresh()
        nth = [timed(lambda k=k: solutions[k]) for k in numbers]
        for number, (_, board) in zip(numbers, nth, strict=True):
            check(f"{self.board}: before a solution", solutions.rank(board), number)

        listed = min(LISTED, result.count)
        in_order, quickly = self._listing(listed)
        return {"board": str(self.board), "count": str(result.count),
                "count_seconds": count_seconds, "samples": samples, "sampling": sampling,
                "quick": quick, "nth": [seconds for seconds, _ in nth], "listed": listed,
                "listing": in_order, "quick_listing": quickly}  # fmt: skip

    def _listing(self, number: int) -> list[float]:
        """The seconds to write the first solutions as text, in ascending and in quick order."""
        seconds = []
        for lines in (self._fresh()[:number].lines, lambda: self._fresh().lines(0, number)):
            took, size = timed(lambda lines=lines: sum(map(len, lines())))
            check(f"{self.board}: listed", size, number * (self.board.geometry.cells + 1))
            seconds.append(took)
        return seconds

    def _fresh(self) -> gpusudoku.Solutions:
        return gpusudoku.solutions(self.board, engine=self._engine, device="cpu")


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """The seconds that something takes, and what it gives."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def measure(clues: Sequence[int], boards: int, samples: int) -> list[Run]:
    """The figures of so many random boards of each number of clues; there is one without any."""
    runs = []
    for number in clues:
        for board in random_boards(number, boards if number else 1):
            runs.append({"clues": number, **Watch(board).run(samples)})
            click.echo(f"\r{number} clues, {len(runs)} boards ", nl=False, err=True)
    click.echo("", err=True)
    return runs


def show(path: Path) -> None:
    """Print the tables of a recorded file."""
    results = recorded(path)
    by_clues = {clues: runs for (clues,), runs in grouped(results["runs"], "clues").items()}
    heads = ["clues", "count: s", "million samples/s", "first k, ascending: s",
             "next k, ascending: s", "next k, quick order: ms", "ascending list: million/s",
             "quick list: million/s"]  # fmt: skip
    table(heads, (row(clues, runs) for clues, runs in by_clues.items()))


def row(clues: int, runs: list[Run]) -> list[str]:
    """The medians of boards with so many clues."""
    figures = [
        median(run["count_seconds"] for run in runs),
        median(run["samples"] / run["sampling"] for run in runs) / 1e6,
        median(run["nth"][0] for run in runs),
        median(seconds for run in runs for seconds in run["nth"][1:]),
        median(seconds for run in runs for seconds in run["quick"][1:]) * MILLISECONDS,
        *(median(run["listed"] / run[what] for run in runs) / 1e6
          for what in ("listing", "quick_listing")),
    ]  # fmt: skip
    return [f"{clues}", *(f"{figure:.2g}" for figure in figures)]


@script("by_number", show)
@click.option("--boards", type=click.IntRange(min=1), default=3, show_default=True,
              help="Boards of each number of clues.")  # fmt: skip
def main(path: Path, boards: int) -> None:
    """Time samples and numbers on this machine's cores."""
    measure(WARM_UP, 1, 1000)
    cores = usable_cores()
    before = gigahertz(cores)
    runs = measure(CLUES, boards, SAMPLES)
    record(path, runs, gigahertz=[before, gigahertz(cores)])


if __name__ == "__main__":
    main()
