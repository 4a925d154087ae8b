"""Time how puzzles are made: at random, out of given ones, and by another program.

CPU seconds of one core, with all kernels compiled, without start-up. The first thousand puzzles of
every run are checked: they have one solution, and no redundant clue if they are to be minimal.

    python benchmarks/making.py                     four minutes on two cores
    python benchmarks/making.py --peer ./topdown    beside a program that README.md describes
    python benchmarks/making.py --show              the tables of what was recorded before
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from operator import truediv
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple

import click
import numpy as np
from built import Driver, widest
from listing import cpu_seconds
from machine import gigahertz, record, recorded
from numpy.typing import NDArray
from script import Run, check, grouped, repeated, script, table, turns

import gpusudoku
from gpusudoku import Geometry, formats
from gpusudoku.board.batch import Batch
from gpusudoku.errors import GpusudokuError, MismatchError
from gpusudoku.puzzles.grids import Grids
from gpusudoku.puzzles.minimising import minimise_batches

NINE, SIXTEEN = Geometry(3, 3), Geometry(4, 4)
PATTERN = "....x..x..xxx.....x....x..xx....x.x..xx...xx..x.x....xx..x....x.....xxx..x..x...."
"""The cells with clues in a symmetric puzzle of 26."""
GIVEN = 30
"""Clues of the puzzles that are minimised, and whose minimal puzzles are listed."""
CHECKED = 1000
"""Puzzles of a run that are checked."""
MINIMAL, GRIDS, PEER = "minimal", "minimal, of given grids", "tdoku"
PUZZLES = f"minimal, of puzzles of {GIVEN} clues"

Made = NDArray[np.uint8]
"""Puzzles or grids, uint8 (k, cells)."""


Timed = Callable[[int], tuple[float, Made]]
"""Takes a seed, and makes puzzles; gives the CPU seconds, and the puzzles."""


class Case(NamedTuple):
    """A way to make puzzles."""

    what: str
    by: str
    run: Timed
    minimal: bool = False
    """True if no puzzle may have a redundant clue."""


class Peer(Driver):
    """A program that removes clues from full grids."""

    def __init__(self, path: str) -> None:
        super().__init__(PEER, "", widest())
        self._path = path

    def command(self) -> list[str]:
        """Return the words that start it."""
        return [self._path]

    def minimised(self, grids: Made) -> tuple[float, Made]:
        """Make a puzzle of every grid.

        Raises
        ------
        GpusudokuError
            If it fails, or prints something else than puzzles of the grids and seconds.
        """
        lines = formats.write_lines(grids).decode().splitlines()
        *found, spent = self.output(lines=lines).split() or [""]
        try:
            seconds, made = float(spent), cells_of("".join(f"{line}\n" for line in found).encode())
        except ValueError:
            raise GpusudokuError(f"{self}: expected puzzles on lines, and the seconds") from None
        if made.shape != grids.shape or not ((made == 0) | (made == grids)).all():
            raise MismatchError(f"{self}: expected a puzzle of each grid")
        return seconds, made


def cells_of(text: bytes) -> Made:
    """Read lines of 81 characters."""
    rows = np.frombuffer(text, np.uint8).reshape(-1, NINE.cells + 1)[:, :-1]
    return np.where(rows == ord("."), 0, rows - ord("0")).astype(np.uint8)


def here(begin: Callable[[int], Iterator[Made]]) -> Timed:
    """Time calls in this process: ``begin`` does what is to be done before the first puzzle."""

    def run(seed: int) -> tuple[float, Made]:
        blocks = begin(seed)
        start = time.process_time()
        made = np.concatenate([*blocks])
        return time.process_time() - start, made

    return run


def command(folder: Path, words: Callable[[bool], list[str]]) -> Timed:
    """Time a command, less what it takes for a single puzzle."""

    def run(seed: int) -> tuple[float, Made]:
        spent, always = [], ["--seed", f"{seed}", "-j", "1", "-q", "--force", "-o", "made"]
        for all_of_them in (False, True):
            before = cpu_seconds()
            program = [sys.executable, "-m", "gpusudoku", *words(all_of_them), *always]
            subprocess.run(program, cwd=folder, check=True)
            spent.append(cpu_seconds() - before)
        made = cells_of((folder / "made").read_bytes())
        return max(spent[1] - spent[0], 1e-6), made

    return run


def generated(number: int, seed: int, **wishes: Any) -> Iterator[Made]:
    """Make random puzzles."""
    run = gpusudoku.generate(max(1, number), seed=seed, jobs=1, **wishes)
    return (block.puzzles for block in run.blocks())


def grids(number: int, seed: int) -> Iterator[Made]:
    """Make random grids."""
    source = Grids(NINE, seed)
    return (source.at(numbers, 0 * numbers) for numbers in [np.arange(max(1, number))])


def minimised(puzzles: Made, seed: int) -> Iterator[Made]:
    """Minimise given puzzles."""
    blocks = minimise_batches(iter([Batch(NINE, puzzles)]), seed, (), 1)
    return (block.puzzles for block in blocks)


def inside(puzzles: Made) -> Iterator[Made]:
    """List the minimal puzzles inside each."""
    for board in Batch(NINE, puzzles):
        yield np.stack([one.cells for one in gpusudoku.minimal_puzzles(board, jobs=1)])


def cases(n: int, folder: Path, peer: Peer | None) -> list[Case]:
    """All cases: the fastest ones make n puzzles, the others take about as long."""
    full, given = (np.concatenate([*some]) for some in (grids(n, 1), generated(n, 1, clues=GIVEN)))
    for name, some in (("grids", full), ("given", given)):
        (folder / name).write_bytes(formats.write_lines(some))
        (folder / f"{name}-1").write_bytes(formats.write_lines(some[:1]))

    def random(what: str, number: int, minimal: bool = False, **wishes: Any) -> Case:
        return Case(what, "Python", here(lambda seed: generated(number, seed, **wishes)), minimal)

    def minimise(name: str) -> Timed:
        return command(folder, lambda every: ["minimise", name if every else f"{name}-1"])

    generate = command(folder, lambda every: ["generate", "-n", f"{n if every else 1}"])
    symmetry = "rotational symmetry"
    every = [
        Case("uniform grids", "Python", here(lambda seed: grids(n, seed))),
        random(MINIMAL, n, minimal=True),
        Case(MINIMAL, "`generate`", generate, True),
        Case(GRIDS, "Python", here(lambda seed: minimised(full, seed)), True),
        Case(GRIDS, "`minimise`", minimise("grids"), True),
        Case(PUZZLES, "Python", here(lambda seed: minimised(given, seed)), True),
        Case(PUZZLES, "`minimise`", minimise("given"), True),
        random(symmetry, n // 5, symmetry="rotational"),
        random(f"{symmetry}, 26 clues", n // 50, symmetry="rotational", clues=26),
        random("a pattern of 26 clues", n // 1000, pattern=PATTERN),
        random("easy", n // 10, difficulty="easy"),
        random("16x16, minimal", n // 500, minimal=True, box="4x4"),
        Case(f"all minimal ones inside puzzles of {GIVEN} clues", "Python",
             here(lambda _: inside(given[: max(1, n // 1000)])), True),
    ]  # fmt: skip
    if peer is not None:
        some = full[: max(1, n // 5)]
        every.append(Case(GRIDS, PEER, lambda _: peer.minimised(some), True))
    return every


def checked(case: Case, made: Made) -> None:
    """Check some puzzles.

    Raises
    ------
    MismatchError
        If one of them has not exactly one solution, or has a redundant clue.
    """
    shape = NINE if made.shape[1] == NINE.cells else SIXTEEN
    what, boards = f"{case.what}, {case.by}", [*Batch(shape, made[:CHECKED])]
    found = sum(result.count for result in gpusudoku.count_many(boards, limit=2))
    check(what, found, len(boards))
    minimal = gpusudoku.minimise_many(boards, seed=1) if case.minimal else ()
    if any(isinstance(one, gpusudoku.BadBoard) or one.removed for one in minimal):
        raise MismatchError(f"{what}: a redundant clue")


def measure(number: int, repeats: int, peer: Peer | None) -> list[Run]:
    """Every run of every case."""
    runs: list[Run] = []
    with tempfile.TemporaryDirectory() as name:
        every = turns(cases(number, Path(name), peer), repeats, "{0.what}, {0.by}".format)
        for seed, (case, kept) in enumerate(every):
            clock = gigahertz(1)
            cpu, made = case.run(seed)
            checked(case, made)
            if kept:
                runs.append({"what": case.what, "by": case.by, "number": len(made),
                             "cpu": cpu, "clues": np.count_nonzero(made) / len(made),
                             "gigahertz": clock})  # fmt: skip
    return runs


def show(path: Path) -> None:
    """Print the table of a recorded file."""
    by = grouped(recorded(path)["runs"], "what", "by")
    rates = {case: [run["number"] / run["cpu"] for run in runs] for case, runs in by.items()}
    rows, peer = [], rates.get((GRIDS, PEER))
    for (what, how), runs in by.items():
        some = rates[what, how]
        cells = [f"{fmean(run['clues'] for run in runs):.1f}", f"{median(some):,.0f}"]
        if peer is not None:
            alike = what in (MINIMAL, GRIDS)
            cells.append(f"{median(map(truediv, some, peer)):.2f}" if alike else "")
        rows.append([what, how, *cells])
    print(f"{repeated(by.values())}\n")
    heads = ["puzzles", "by", "clues", "a second and core"]
    table(heads + [f"times {PEER}'s rate"] * (peer is not None), rows, left=2)


@script("making", show)
@click.option("-n", "--number", type=click.IntRange(min=1), default=100_000, show_default=True,
              help="Puzzles in a run of the fastest cases.")  # fmt: skip
@click.option("--repeats", default=5, show_default=True, help="Runs of every case.")
@click.option("--peer", metavar="PROGRAM", help="A driver for tdoku's minimiser: see README.md.")
def main(path: Path, number: int, repeats: int, peer: str | None) -> None:
    """Time how puzzles are made."""
    program = None if peer is None else Peer(peer)
    version = {} if program is None else {PEER: program.version()}
    record(path, measure(number, repeats, program), **version)


if __name__ == "__main__":
    main()
