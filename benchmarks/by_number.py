"""Time what gives solutions by their numbers: samples, the k-th, ranks, and lists in both orders.

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
"""Numbers, and solutions, that an object is asked for after the first one."""
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
        set_up, grids = timed(lambda: solutions.sample(len(numbers), SEED))
        sampling, drawn = timed(lambda: sum(map(len, solutions.sample_blocks(samples, SEED))))
        check(f"{self.board}: samples", drawn, samples)
        quick = [timed(lambda k=k: next(solutions.blocks(k, k + 1)))[0] for k in numbers]

        solutions = self._fresh()
        nth, found = seconds_of(solutions.__getitem__, numbers)
        self._compare(map(solutions.rank, found), numbers)

        solutions = self._fresh()
        rank, places = seconds_of(solutions.rank, [Board(cells) for cells in grids])
        self._compare(map(solutions.rank, map(solutions.__getitem__, places)), places)
        listed = min(LISTED, result.count)
        in_order, quickly = self._listing(listed)
        return {"board": str(self.board), "count": str(result.count),
                "count_seconds": count_seconds, "set_up": set_up, "samples": samples,
                "sampling": sampling, "quick": quick, "nth": nth, "rank": rank,
                "listed": listed, "listing": in_order, "quick_listing": quickly}  # fmt: skip

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

    def _compare(self, found: Any, numbers: Sequence[int]) -> None:
        for one, other in zip(found, numbers, strict=True):
            check(f"{self.board}: before a solution", one, other)


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """The seconds that something takes, and what it gives."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def seconds_of(work: Callable[[Any], Any], of: Sequence[Any]) -> tuple[list[float], list[Any]]:
    """The seconds for one thing after the other, and what each gives."""
    done = [timed(lambda each=each: work(each)) for each in of]
    return [seconds for seconds, _ in done], [result for _, result in done]


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
    heads = ["clues", "boards", "count: s", "set-up: counts", "at most a count and",
             "samples a second", "slowest board"]  # fmt: skip
    table(heads, (sample_row(clues, runs) for clues, runs in by_clues.items()))
    print()
    heads = ["clues", "first k: s", "worst", "further k", "worst", "first rank", "worst",
             "further rank", "worst", "further k, quick order: ms", "worst"]  # fmt: skip
    table(heads, (number_row(clues, runs) for clues, runs in by_clues.items()))
    by_clues = {clues: runs for clues, runs in by_clues.items() if "listed" in runs[0]}
    if by_clues:
        print()
        heads = ["clues", "listed", "ascending: million a second", "slowest", "quick", "slowest"]
        table(heads, (listing_row(clues, runs) for clues, runs in by_clues.items()))


def sample_row(clues: int, runs: list[Run]) -> list[str]:
    """The figures of samples from boards with so many clues."""
    rates = [run["samples"] / run["sampling"] for run in runs]
    multiples = [run["set_up"] / run["count_seconds"] for run in runs]
    beyond = max(run["set_up"] - run["count_seconds"] for run in runs)
    return [f"{clues}", f"{len(runs)}", f"{median(run['count_seconds'] for run in runs):.3g}",
            f"{median(multiples):.2g}", f"{max(0.0, beyond) * MILLISECONDS:.0f} ms",
            f"{median(rates):,.0f}", f"{min(rates):,.0f}"]  # fmt: skip


def number_row(clues: int, runs: list[Run]) -> list[str]:
    """The figures of numbers in boards with so many clues: medians, each beside the worst."""
    cells = []
    for what in ("nth", "rank"):
        cells += middle_and_worst([run[what][0] for run in runs])
        cells += middle_and_worst([seconds for run in runs for seconds in run[what][1:]])
    quick = [seconds * MILLISECONDS for run in runs for seconds in run["quick"][1:]]
    return [f"{clues}", *cells, *middle_and_worst(quick)]


def listing_row(clues: int, runs: list[Run]) -> list[str]:
    """The rates of lists of boards with so many clues, in millions a second."""
    cells = []
    for what in ("listing", "quick_listing"):
        rates = [run["listed"] / run[what] / 1e6 for run in runs]
        cells += [f"{median(rates):.3g}", f"{min(rates):.3g}"]
    return [f"{clues}", f"{median(run['listed'] for run in runs):,.0f}", *cells]


def middle_and_worst(values: list[float]) -> list[str]:
    """The median and the maximum, in three digits."""
    return [f"{median(values):.3g}", f"{max(values):.3g}"]


@script("by_number", show)
@click.option("--boards", type=click.IntRange(min=1), default=3, show_default=True,
              help="Boards of each number of clues.")  # fmt: skip
def main(path: Path, boards: int) -> None:
    """Time samples, numbers and ranks on this machine's cores."""
    measure(WARM_UP, 1, 1000)
    cores = usable_cores()
    before = gigahertz(cores)
    runs = measure(CLUES, boards, SAMPLES)
    record(path, runs, gigahertz=[before, gigahertz(cores)])


if __name__ == "__main__":
    main()
