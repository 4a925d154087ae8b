"""Time how answers and boards are written: user CPU seconds, of one core.

Forms are timed in blocks as commands write them, without a search and without output. ``convert``
is timed whole, reading included, on a file and on a tenth of it: start-up cancels out.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median

import click
import numpy as np
from generated import shuffled
from machine import gigahertz, record, recorded
from script import Run, grouped, script, table, turns

from gpusudoku import formats
from gpusudoku.board.batch import Batch, Origin, Places
from gpusudoku.board.geometry import Geometry
from gpusudoku.cli.records import FORMS
from gpusudoku.cli.writers import AnswerRecords
from gpusudoku.results import ContractionStats, ResultBlock

BLOCK = 1 << 14
"""Boards in a block."""
CONVERTED = ["line", "csv"]
SHORT = 10
"""The short file has this many times fewer lines."""
Write = Callable[[], object]


def cells() -> np.ndarray:
    """Boards of a block: one puzzle, again and again, in many guises."""
    rng = np.random.default_rng(1)
    some = np.stack([shuffled("1a", rng) for _ in range(1 << 8)])
    return np.tile(some, (BLOCK >> 8, 1))


def answers(boards: np.ndarray, command: str, columns: int) -> ResultBlock:
    """What a command would say of the boards, which had more columns beside them."""
    rng = np.random.default_rng(1)
    names = tuple(f"column{index}" for index in range(columns))
    others = [(f"text {number}",) * columns for number in range(BLOCK)]
    places = Places.of(Origin("puzzles.csv", names), range(10**5, 10**5 + BLOCK), others)
    batch = Batch(Geometry(3, 3), boards, places=places)
    stats = ContractionStats(0, 0.0, ())
    solutions = np.maximum(boards, 1) if command == "solve" else None
    numbers = rng.integers(0, 3, BLOCK)
    return ResultBlock(batch, numbers, 2, "cpu", 1, stats, solutions=solutions)


def forms() -> dict[tuple[str, str], Write]:
    """What is timed, by the command and the form."""
    boards = cells()
    which = np.random.default_rng(1).integers(0, 3, BLOCK)
    cases: dict[tuple[str, str], Write] = {
        ("solve", "lines"): partial(formats.write_lines, boards),
        ("count", "lines with tails"): partial(
            formats.write_lines, boards, [b":0", b":1", b":2+"], which
        ),
    }
    for command, columns in product(("count", "solve"), (0, 2)):
        some = answers(boards, command, columns)
        for name in FORMS:
            assert some.boards.places is not None
            [origin] = some.boards.places.origins
            writer = AnswerRecords(name, origin, solution=command == "solve")
            label = f"{name}, {columns} columns beside" if columns else name
            cases[command, label] = partial(writer.text, some)
    return cases


def measure(lines: int, repeats: int) -> list[Run]:
    """Every run of every case."""
    runs, written = [], forms()
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, f"{number}") for number in (lines, lines // SHORT)]
        text = formats.write_lines(cells())
        for file, number in zip(files, (lines, lines // SHORT), strict=True):
            file.write_bytes((text * (number // BLOCK + 1))[: 82 * number])
        cases = [*written, *(("convert", form) for form in CONVERTED)]
        for case, kept in turns(cases, repeats, " ".join):
            clock = gigahertz(1)
            if case in written:
                rate = BLOCK / seconds(written[case], lines // BLOCK + 1)
            else:
                long, short = (converting(case[1], file) for file in files)
                rate = (lines - lines // SHORT) / max(long - short, 1e-9)
            if kept:
                runs.append({"command": case[0], "form": case[1], "rate": rate,
                             "gigahertz": clock})  # fmt: skip
    return runs


def seconds(write: Write, times: int) -> float:
    """The CPU seconds that this takes, done several times."""
    start = time.thread_time()
    for _ in range(times):
        write()
    return (time.thread_time() - start) / times


def converting(form: str, file: Path) -> float:
    """The CPU seconds of user code that ``convert`` takes for a file."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(
        [sys.executable, "-m", "gpusudoku", "convert", str(file), "--format", form],
        stdout=subprocess.DEVNULL, check=True,
    )  # fmt: skip
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def show(path: Path) -> None:
    """Print the table of a recorded file."""
    results = recorded(path)
    runs = results["runs"]
    rows = [
        [f"`{command}`", form, f"{median(run['rate'] for run in some) / 1e6:.1f}"]
        for (command, form), some in grouped(runs, "command", "form").items()
    ]
    table(["command", "form", "million boards a second and core"], rows, left=2)


@script("writing", show)
@click.option("--lines", type=click.IntRange(min=BLOCK), default=1_000_000, show_default=True,
              help="Boards that are written.")  # fmt: skip
@click.option("--repeats", default=3, show_default=True, help="Runs of every case.")
def main(path: Path, lines: int, repeats: int) -> None:
    """Time how boards and answers are written."""
    record(path, measure(lines, repeats))


if __name__ == "__main__":
    main()
