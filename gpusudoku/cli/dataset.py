"""``gpusudoku dataset``: random puzzles in columns, one of each class, and split by classes."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpusudoku.board.geometry import Geometry
from gpusudoku.cli.generate import note_walks, puzzle_options, puzzle_run
from gpusudoku.cli.options import OwnOptions, command_facts, jobs_option, quiet_option
from gpusudoku.cli.usage import Integer
from gpusudoku.errors import GaveUp
from gpusudoku.options import MAX_NUMBER
from gpusudoku.pipeline.messages import quietly
from gpusudoku.pipeline.records import TableWriter
from gpusudoku.pipeline.run import Run
from gpusudoku.pipeline.settings import OutputOptions

if TYPE_CHECKING:
    from gpusudoku.puzzles.dataset import PuzzleDataset

own = OwnOptions("dataset")

FORMS = ("csv", "tsv", "jsonl", "parquet")
TYPES = {
    **dict.fromkeys(("puzzle", "solution"), "string"),
    "clues": "int16",
    "difficulty": "string",
    "guesses": "int32",
    "weight": "float64",
    **dict.fromkeys(("canonical", "split", "seed"), "string"),
    "number": "int64",
}
"""The columns, and their types in Parquet."""


@click.command()
@own(
    "-n",
    "--number",
    type=Integer(0, MAX_NUMBER),
    default=1000,
    metavar="N",
    help="N rows, no two of them of the same class of puzzles.",
)
@own(
    "--split",
    "shares",
    default="80,10,10",
    metavar="LIST",
    help="Shares of train, validation and test.",
)
@puzzle_options(own)
@own.forms(
    FORMS,
    "How to write rows.  [default: as the name of FILE ends, else csv]",
)
@own.output()
@own.checkpoint()
@jobs_option
@quiet_option
def dataset(
    number: int,
    shares: str,
    box: Geometry | None,
    seed: int | None,
    patience: float,
    jobs: int | None,
    quiet: bool,
    **given: Any,
) -> None:
    """Make a data set of random puzzles, without duplicates, and split.

    The puzzles are those of generate, with the same options. Of puzzles that transposing,
    relabelling and other rearrangements make of each other only the first has a row. All whose
    solutions are equivalent are in the same split, train, validation or test, up to 9x9 cells.

    Columns: puzzle, solution, clues, difficulty, guesses, weight, split, seed, number, and
    canonical, the canonical form of the puzzle: the same for all equivalent ones.

    Parquet needs pyarrow. Until it is complete, rows are in FILE.csv beside it, always a new file.
    A million rows take some 130 MB of memory for their classes.

    \b
    Examples:
      gpusudoku dataset -n 1000000 --seed 7 -o puzzles.parquet
      gpusudoku dataset -n 1000000 -o puzzles.parquet --checkpoint puzzles.run
      gpusudoku dataset -n 500 --difficulty hard,expert --split 90,5,5 -o hard.csv
    """
    from gpusudoku.puzzles.dataset import PuzzleDataset
    from gpusudoku.puzzles.generate import PuzzleOptions, Puzzles

    command = command_facts()
    settings = OutputOptions.take(given, command, has_text=False)
    with quietly(quiet):
        options = PuzzleOptions(box, **given)
        rows = PuzzleDataset(options, shares)
        form = settings.form or "csv"
        settings = replace(settings, form=form)
        parquet = None
        if form == "parquet":
            from gpusudoku.pipeline.parquet import ParquetFile

            parquet = ParquetFile(settings)
            settings = parquet.settings_of_rows
        run = puzzle_run(command, options, settings)
        if parquet is not None and parquet.is_finished(run):
            return
        writer = TableWriter("csv" if form == "parquet" else form, TYPES)
        error = None
        try:
            with run.open(writer.header):
                note_walks(Puzzles(0, options, 0))
                if run.start_solutions < number:
                    _write(run, rows, number, run.seed(seed), writer, patience, jobs)
        except GaveUp as gave_up:
            error = gave_up
        if parquet is not None:
            parquet.convert(TYPES, keeps_rows=error is not None)
        if error is not None:
            raise error


def _write(
    run: Run,
    rows: PuzzleDataset,
    number: int,
    seed: int,
    writer: TableWriter,
    seconds: float,
    jobs: int | None,
) -> None:
    """Write the remaining rows of a number of them."""
    from gpusudoku.jobs.threads import usable_cores

    first = 0
    seen = set[bytes]()
    if run.start_solutions:
        first, seen = _read_rows(str(run.output.real_path), writer.delimiter)
    threads = jobs or usable_cores()
    blocks = rows.blocks(number, seed, first=first, seen=seen, seconds=seconds, threads=threads)
    run.expect(number, "rows", shows_rate=True)
    with closing(blocks):
        for columns in run.waiting(blocks):
            run.report_seed()
            size = len(columns["number"])
            run.write(writer.rows(columns), size)
            run.done(solutions=size)


def _read_rows(path: str, delimiter: str | None) -> tuple[int, set[bytes]]:
    """Read rows that were written: the number after the last, and the keys of the classes.

    They are JSON lines if there is no delimiter.
    """
    from gpusudoku.puzzles.canonical import class_key

    number = -1
    keys = set[bytes]()
    with Path(path).open(encoding="ascii", newline="") as file:
        rows: Iterable[dict[str, Any]] = map(json.loads, file)
        if delimiter:
            rows = csv.DictReader(file, delimiter=delimiter)
        for row in rows:
            number = int(row["number"])
            keys.add(class_key(row["canonical"].encode()))
    return number + 1, keys
