"""Measure how many boards a second one core reads, from files and from what Python users have.

Nothing is counted, solved or written. The seconds are those of the processor, so that what else
runs on the machine matters little.

    python benchmarks/reading.py             measure, and print the table
    python benchmarks/reading.py --show      the table of what was recorded before
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import click
import numpy as np
from batches import own_puzzles
from machine import record, recorded
from script import Run, check, grouped, script, table, turns

from gpusudoku import formats
from gpusudoku.board.batch import Batch
from gpusudoku.formats.coerce import batches_of

SOLUTION = "123456789" * 9
"""Stands for the solution in a table."""


def plain(boards: Sequence[str]) -> Iterator[str]:
    """Boards alone."""
    return (f"{board}\n" for board in boards)


def with_solutions(boards: Sequence[str]) -> Iterator[str]:
    """Two columns of 81 characters."""
    yield "puzzle,solution\n"
    yield from (f"{board},{SOLUTION}\n" for board in boards)


def with_clues(boards: Sequence[str]) -> Iterator[str]:
    """Three columns, two of them short."""
    yield "id,puzzle,clues\n"
    yield from (f"{k},{board},24\n" for k, board in enumerate(boards))


def in_objects(boards: Sequence[str]) -> Iterator[str]:
    """A JSON object on every line."""
    for k, board in enumerate(boards):
        yield json.dumps({"id": k, "puzzle": board, "name": f"number {k}"}) + "\n"


def in_answers(boards: Sequence[str]) -> Iterator[str]:
    """What ``count --json`` writes."""
    for line, board in enumerate(boards, 1):
        answer = {"board": board, "box": "3x3", "count": "1", "exact": True, "unique": True}
        place = {"method": "search", "device": "cpu", "source": "puzzles.txt", "line": line}
        yield json.dumps(answer | place) + "\n"


FILES: dict[str, Callable[[Sequence[str]], Iterable[str]]] = {
    "read plain lines": plain,
    "read CSV: puzzle, solution": with_solutions,
    "read CSV: id, puzzle, clues": with_clues,
    "read JSON lines": in_objects,
    "read the output of `count --json`": in_answers,
}
GIVEN: dict[str, Callable[[list[str]], Any]] = {
    "take a list of strings": list,
    "take a list of bytes": lambda boards: [board.encode() for board in boards],
    "take a NumPy array of strings": np.array,
    "take a NumPy array of bytes": lambda boards: np.array(boards).astype(bytes),
    "take a NumPy array of integers": lambda boards: np.array(
        [list(board.replace(".", "0")) for board in boards[:10_000]]
    ).astype(np.int8)[np.arange(len(boards)) % 10_000 % len(boards)],
}


def measure(boards: list[str], repeats: int) -> list[Run]:
    """Every run of every case."""
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        readers: dict[str, Callable[[], Iterable[Any]]] = {}
        for index, (name, lines) in enumerate(FILES.items()):
            path = Path(folder, str(index))
            with path.open("w") as file:
                file.writelines(lines(boards))
            readers[name] = partial(formats.read_batches, str(path))
        for name, make in GIVEN.items():
            readers[name] = partial(batches_of, make(boards))
        for (name, reader), kept in turns([*readers.items()], repeats, lambda case: case[0]):
            start = time.process_time()
            found = sum(len(batch) for batch in reader() if isinstance(batch, Batch))
            seconds = time.process_time() - start
            check(name, found, len(boards))
            if kept:
                runs.append({"text": name, "boards": found, "seconds": seconds})
    return runs


def show(path: Path) -> None:
    """Print the table of a recorded file."""
    results = recorded(path)
    rows = []
    for (name,), runs in grouped(results["runs"], "text").items():
        seconds = median(run["seconds"] / run["boards"] for run in runs)
        rows.append([name, f"{1e-6 / seconds:.1f}"])
    table(["what", "million boards/s and core"], rows)


@script("reading", show)
@click.option("--lines", type=click.IntRange(min=1), default=1_000_000, show_default=True,
              help="Boards of every kind.")  # fmt: skip
@click.option("--repeats", default=5, show_default=True, help="Runs of every case.")
def main(path: Path, lines: int, repeats: int) -> None:
    """Read boards in all forms, and take them from lists and arrays."""
    own = own_puzzles()
    record(path, measure([own[k % len(own)] for k in range(lines)], repeats))


if __name__ == "__main__":
    main()
