"""Time what is found out about puzzles: canonical forms, neighbours, weights and data sets.

CPU seconds of one core, with all kernels compiled, without start-up. Boards of canonical forms are
rearranged at random before, as some programs are faster for boards that are canonical. The first
thousand results of every run are checked.

    python benchmarks/knowing.py                      five minutes on two cores
    python benchmarks/knowing.py --puzzles 17.txt     also for the puzzles of a file
    python benchmarks/knowing.py --peer ./minlex      beside a program that README.md describes
    python benchmarks/knowing.py --show               the tables of what was recorded before
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import count, islice
from math import sqrt
from operator import truediv
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import click
import numpy as np
from built import Driver, widest
from listing import cpu_seconds
from machine import gigahertz, record, recorded
from making import cells_of
from numpy.typing import NDArray
from script import Run, check, grouped, repeated, script, table, turns

import gpusudoku
from gpusudoku import formats
from gpusudoku.board.batch import Batch
from gpusudoku.board.geometry import NINE
from gpusudoku.errors import GpusudokuError, MismatchError
from gpusudoku.puzzles.canonical import canonical_block
from gpusudoku.puzzles.grids import Grids
from gpusudoku.puzzles.neighbouring import Change, neighbour_blocks

CLUES = 24
"""Clues of the puzzles that are made."""
CHECKED = 1000
"""Results of a run that are checked."""
FORMS, NEIGHBOURS, WEIGHTS, ROWS = "canonical forms", "neighbours", "weights", "data set"
PEER = "minlex"
FEWEST, SIZES = 19, 16
"""The fewest clues of a minimal puzzle, and how many numbers from there on are told apart."""
BATCHES = 300
"""Batches of puzzles with weights in a run."""

Boards = NDArray[np.uint8]
"""uint8 (k, 81)."""


class Times(NamedTuple):
    """What a run took, and what it gave."""

    cpu: float
    """CPU seconds."""
    found: Boards | None = None
    details: dict[str, Any] = {}  # noqa: RUF012 - never changed


class Case(NamedTuple):
    """Boards, and what is done to them."""

    part: str
    what: str
    by: str
    number: int
    run: Callable[[], Times]


class Peer(Driver):
    """A program that finds canonical forms."""

    def __init__(self, path: str) -> None:
        super().__init__(PEER, "", widest())
        self._path = path

    def command(self) -> list[str]:
        """Return the words that start it."""
        return [self._path]

    def forms(self, boards: Boards) -> Times:
        """Find the canonical forms of boards.

        Raises
        ------
        GpusudokuError
            If it fails, or prints something else than boards and seconds.
        """
        lines = formats.write_lines(boards).decode().splitlines()
        *found, spent = self.output(lines=lines).split() or [""]
        try:
            cells = cells_of("".join(f"{line}\n" for line in found).encode())
            return Times(float(spent), cells.reshape(boards.shape))
        except ValueError:
            raise GpusudokuError(f"{self}: expected boards on lines, and the seconds") from None


def rearranged(boards: Boards) -> Boards:
    """Rearrange each board at random."""
    rng, found = np.random.default_rng(1), []
    for cells in boards.reshape(-1, 9, 9):
        rows, columns = (
            (3 * rng.permutation(3)[:, None] + rng.permuted(np.tile(np.arange(3), (3, 1)), axis=1))
            for _ in range(2)
        )
        grid = (cells.T if rng.integers(2) else cells)[rows.ravel()][:, columns.ravel()]
        found.append(np.append(0, 1 + rng.permutation(9)).astype(np.uint8)[grid])
    return np.stack(found).reshape(boards.shape)


def timed(work: Callable[[], Boards]) -> Times:
    """Time a call in this process."""
    start = time.process_time()
    found = work()
    return Times(time.process_time() - start, found)


def command(folder: Path, name: str, *words: str) -> Times:
    """Time a command for a file, less what it takes for the first line alone."""
    spent = []
    for file in (f"{name}-1", name):
        before = cpu_seconds()
        program = [sys.executable, "-m", "gpusudoku", *words, file, "-j", "1", "-q"]
        subprocess.run([*program, "--force", "-o", "made"], cwd=folder, check=True)
        spent.append(cpu_seconds() - before)
    found = cells_of((folder / "made").read_bytes())
    return Times(max(spent[1] - spent[0], 1e-6), found)


def neighbours(boards: Boards) -> Boards:
    """List all neighbours of puzzles, by a clue exchanged for another."""
    blocks = neighbour_blocks([Batch(NINE, boards)], Change(1, 1), 1)
    return np.concatenate([block.cells for block in blocks])


def weights(batches: int, seed: int) -> Times:
    """Make batches of puzzles with weights; tell the weights of each by the number of clues."""
    start = time.process_time()
    made = gpusudoku.generate(10**12, unbiased=True, seed=seed, jobs=1).blocks()
    blocks = [*islice(made, batches)]
    cpu = time.process_time() - start
    sums = np.array([
        np.bincount(np.count_nonzero(block.puzzles, axis=1) - FEWEST, block.weights, SIZES)
        for block in blocks
    ])  # fmt: skip
    details = {"puzzles": sum(map(len, blocks)), "batches": batches}
    details |= {"sums": sums.sum(axis=0).tolist(), "products": (sums.T @ sums).tolist()}
    return Times(cpu, None, details)


def rows(folder: Path, number: int) -> Times:
    """Make a data set by two threads; tell the seconds, and the memory at most."""
    start, before = time.perf_counter(), cpu_seconds()
    program = [sys.executable, "-m", "gpusudoku", "dataset", "-n", f"{number}", "-j", "2", "-q"]
    subprocess.run([*program, "--force", "-o", "made.parquet"], cwd=folder, check=True)
    seconds, most = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    details = {"seconds": seconds, "megabytes": most.ru_maxrss // 1024}
    return Times(cpu_seconds() - before, None, details)


def cases(n: int, folder: Path, path: str | None, peer: Peer | None) -> list[Case]:
    """All cases: those of canonical forms have n boards, the others take about as long."""
    numbers = np.arange(n)
    blocks = gpusudoku.generate(n, seed=1, clues=CLUES).blocks()
    sets = {
        "grids": Grids(NINE, 1).at(numbers, 0 * numbers),
        f"puzzles of {CLUES} clues": np.concatenate([block.puzzles for block in blocks]),
    }
    if path is not None:
        read = (found for found in formats.read_batches(path) if isinstance(found, Batch))
        some = np.concatenate([batch.cells for batch in read])
        clues = np.count_nonzero(some, axis=1).mean()
        sets[f"puzzles of a file, {clues:.3g} clues"] = np.resize(some, (n, NINE.cells))
    every = list[Case]()
    for place, (what, given) in enumerate(sets.items()):
        boards, file = rearranged(given), f"{place}"
        (folder / file).write_bytes(formats.write_lines(boards))
        (folder / f"{file}-1").write_bytes(formats.write_lines(boards[:1]))

        def found(boards: Boards = boards) -> Times:
            return timed(lambda: canonical_block(Batch(NINE, boards)).forms)

        every.append(Case(FORMS, what, "Python", n, found))
        by_command = lambda file=file: command(folder, file, "canonical")  # noqa: E731
        every.append(Case(FORMS, what, "`canonical`", n, by_command))
        if peer is not None:
            by_peer = lambda boards=boards, peer=peer: peer.forms(boards)  # noqa: E731
            every.append(Case(FORMS, what, PEER, n, by_peer))
        if place:
            some = boards[: max(1, n // 100)]
            listed = lambda some=some: timed(lambda: neighbours(some))  # noqa: E731
            every.append(Case(NEIGHBOURS, what, "Python", len(some), listed))
    batches, seeds = max(2, BATCHES * n // 100_000), count(1)
    every.append(Case(WEIGHTS, "minimal", "Python", batches, lambda: weights(batches, next(seeds))))
    every.append(Case(ROWS, "minimal", "`dataset`", n, lambda: rows(folder, n)))
    return every


def checked(case: Case, times: Times) -> None:
    """Check some results: forms are those of other twins, neighbours have one solution.

    Raises
    ------
    MismatchError
        If a result is wrong.
    """
    what = f"{case.part}, {case.what}, {case.by}"
    if times.found is None:
        return
    some = times.found[:CHECKED]
    if case.part == FORMS:
        again = canonical_block(Batch(NINE, rearranged(some))).forms
        if len(times.found) != case.number or not (again == some).all():
            raise MismatchError(f"{what}: a twin has another form")
        return
    boards = [*Batch(NINE, some)]
    check(what, sum(found.count for found in gpusudoku.count_many(boards, limit=2)), len(boards))


def measure(number: int, repeats: int, path: str | None, peer: Peer | None) -> list[Run]:
    """Every run of every case."""
    runs: list[Run] = []
    with tempfile.TemporaryDirectory() as name:
        every = turns(cases(number, Path(name), path, peer), repeats, "{0.what}, {0.by}".format)
        for case, kept in every:
            clock = gigahertz(1)
            times = case.run()
            checked(case, times)
            found = None if times.found is None else len(times.found)
            if kept:
                runs.append({"part": case.part, "what": case.what, "by": case.by,
                             "number": case.number, "cpu": times.cpu,
                             "found": found, "gigahertz": clock, **times.details})  # fmt: skip
    return runs


def show(path: Path) -> None:
    """Print the tables of a recorded file."""
    by = grouped(recorded(path)["runs"], "part", "what", "by")
    rates = {case: [run["number"] / run["cpu"] for run in runs] for case, runs in by.items()}
    peers = {what: some for (_, what, how), some in rates.items() if how == PEER}
    print(f"{repeated(by.values())}\n")
    rows, near = [], []
    for (part, what, how), runs in by.items():
        some = rates[part, what, how]
        cells = [f"{median(some):,.0f}"]
        if part == FORMS:
            if peers:
                cells.append(f"{median(map(truediv, some, peers[what])):.2f}")
            rows.append([what, how, *cells])
        elif part == NEIGHBOURS:
            near.append([what, f"{runs[0]['found'] / runs[0]['number']:,.1f}", *cells])
    heads = ["canonical forms of", "by", "a second and core"]
    table(heads + [f"times {PEER}'s rate"] * bool(peers), rows, left=2)
    print()
    table(["puzzles", "neighbours of each", "puzzles a second and core"], near)
    for (part, _, _), runs in by.items():
        if part == WEIGHTS:
            show_weights(runs)
        elif part == ROWS:
            seconds, most = (median(run[name] for run in runs) for name in ("seconds", "megabytes"))
            print(
                f"\nA data set of {runs[0]['number']:,} puzzles in Parquet, by two threads:", end=""
            )
            print(f" {seconds:.1f} s, {runs[0]['number'] / seconds:,.0f} a second, {most:,.0f} MB.")


def show_weights(runs: list[Run]) -> None:
    """Print how many weighted puzzles are made, and how many of a plain sample they are worth."""
    batches, puzzles, cpu = (
        sum(run[name] for run in runs) for name in ("batches", "puzzles", "cpu")
    )
    sums, products = (sum(np.array(run[name]) for run in runs) for name in ("sums", "products"))
    clues, total = np.arange(FEWEST, FEWEST + SIZES), sums.sum()
    mean = float(sums @ clues / total)
    off = clues - mean
    # The standard error of the mean, as batches are independent.
    error = sqrt(float(off @ products @ off) * batches / (batches - 1)) / total
    effective = float(sums @ off**2 / total) / error**2
    print(f"\nWeighted puzzles: {puzzles / cpu:,.0f} a second and core, ", end="")
    print(f"{effective / cpu:,.0f} of them effective; {mean:.3f} ± {error:.3f} clues.")


@script("knowing", show)
@click.option("-n", "--number", type=click.IntRange(min=100), default=100_000, show_default=True,
              help="Boards in a run of canonical forms.")  # fmt: skip
@click.option("--repeats", default=3, show_default=True, help="Runs of every case.")
@click.option("--puzzles", metavar="FILE", help="More puzzles of 9x9 cells.")
@click.option("--peer", metavar="PROGRAM", help="A driver for minlex: see README.md.")
def main(path: Path, number: int, repeats: int, puzzles: str | None, peer: str | None) -> None:
    """Time what is found out about puzzles."""
    program = None if peer is None else Peer(peer)
    version = {} if program is None else {PEER: program.version()}
    record(path, measure(number, repeats, puzzles, program), **version)


if __name__ == "__main__":
    main()
