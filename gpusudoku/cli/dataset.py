"""``gpusudoku dataset``: a table of random puzzles, one of each class, split by classes."""

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
from gpusudoku.cli.generate import note_random_walks, puzzle_options, puzzle_run
from gpusudoku.cli.options import CommandOptions, command_facts, jobs_option, quiet_option
from gpusudoku.cli.usage import Integer
from gpusudoku.errors import GaveUp
from gpusudoku.options import MAX_NUMBER
from gpusudoku.pipeline.messages import quietly
from gpusudoku.pipeline.records import TableWriter
from gpusudoku.pipeline.run import Run
from gpusudoku.pipeline.settings import OutputOptions

if TYPE_CHECKING:
    from gpusudoku.puzzles.dataset import PuzzleDataset

FORMS = ("csv", "tsv", "jsonl", "parquet")
TYPES = {
    "puzzle": "string",
    "solution": "string",
    "clues": "int16",
    "difficulty": "string",
    "guesses": "int32",
    "weight": "float64",
    "canonical": "string",
    "split": "string",
    "seed": "string",  # up to 128 bits, which no integer type of Parquet holds
    "number": "int64",
}
"""The columns of a data set, and their types in Parquet."""

dataset_option = CommandOptions("dataset")


@click.command()
@dataset_option(
    "-n",
    "--number",
    type=Integer(0, MAX_NUMBER),
    default=1000,
    metavar="N",
    help="Make N rows, each with a puzzle of another class.",
)
@dataset_option(
    "--split",
    "shares",
    default="80,10,10",
    metavar="LIST",
    help="Shares of train, validation and test.",
)
@puzzle_options(dataset_option)
@dataset_option.forms(
    FORMS,
    "Format of rows.  [default: chosen by the ending of FILE, or csv]",
)
@dataset_option.output()
@dataset_option.checkpoint()
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
    **params: Any,
) -> None:
    """Make a data set of random puzzles, deduplicated and split.

    The puzzles are those of 'gpusudoku generate' with the same options. Puzzles that can be
    rearranged to each other are one class, and only the first of a class has a row. Up to 9x9
    cells, all puzzles with equivalent solutions are in the same split: train, validation or test.

    The columns are puzzle, solution, clues, difficulty, guesses, weight, canonical, split, seed and
    number. Column canonical is the canonical form of the puzzle, the same for all of a class.

    Parquet needs pyarrow. Until the data set is complete, rows are written to FILE.csv, which must
    not exist before. The classes of a million rows take about 130 MB of memory.

    \b
    Examples:
      gpusudoku dataset -n 1000000 --seed 7 -o puzzles.parquet
      gpusudoku dataset -n 1000000 -o puzzles.parquet --checkpoint puzzles.run
      gpusudoku dataset -n 500 --difficulty hard,expert --split 90,5,5 -o hard.csv
    """
    from gpusudoku.puzzles.dataset import PuzzleDataset
    from gpusudoku.puzzles.generate import PuzzleOptions, Puzzles

    command = command_facts()
    output_options = OutputOptions.from_params(params, command, has_text=False)
    with quietly(quiet):
        options = PuzzleOptions(box, **params)
        puzzle_dataset = PuzzleDataset(options, shares)
        form = output_options.form or "csv"
        output_options = replace(output_options, form=form)
        parquet = None
        if form == "parquet":
            from gpusudoku.pipeline.parquet import ParquetFile

            # A Parquet file cannot be appended to, so the rows are collected in a csv file first.
            parquet = ParquetFile(output_options)
            output_options = parquet.settings_of_rows
        run = puzzle_run(command, options, output_options)
        if parquet is not None and parquet.is_finished(run):
            return
        writer = TableWriter("csv" if form == "parquet" else form, TYPES)
        gave_up = None
        try:
            with run.open(writer.header):
                # An iterator over no puzzles tells how their grids would be made.
                note_random_walks(Puzzles(0, options, 0))
                if run.start_solutions < number:
                    _write_rows(run, writer, puzzle_dataset, number, run.seed(seed), patience, jobs)
        except GaveUp as error:
            gave_up = error  # the rows so far are converted, too
        if parquet is not None:
            parquet.convert(TYPES, keeps_rows=gave_up is not None)
        if gave_up is not None:
            raise gave_up


def _write_rows(
    run: Run,
    writer: TableWriter,
    puzzle_dataset: PuzzleDataset,
    number: int,
    seed: int,
    patience: float,
    jobs: int | None,
) -> None:
    """Write rows until there are ``number`` of them, with those before a resume."""
    from gpusudoku.jobs.threads import usable_cores

    # The rows of a resumed run are read again, as the classes of their puzzles must not recur.
    first_number = 0
    known_classes = set[bytes]()
    if run.start_solutions:
        first_number, known_classes = _read_rows(str(run.output.real_path), writer.delimiter)
    blocks = puzzle_dataset.blocks(
        number,
        seed,
        first=first_number,
        seen=known_classes,
        seconds=patience,
        threads=jobs or usable_cores(),
    )
    run.expect(number, "rows", shows_rate=True)
    with closing(blocks):
        for columns in run.waiting(blocks):
            run.report_seed()
            row_count = len(columns["number"])
            run.write(writer.rows(columns), row_count)
            run.add_finished(solutions=row_count)


def _read_rows(path: str, delimiter: str | None) -> tuple[int, set[bytes]]:
    """Read the rows before a resume: return the number after the last one, and their class keys.

    The rows are JSON lines if there is no delimiter.
    """
    from gpusudoku.puzzles.canonical import class_key

    last_number = -1
    class_keys = set[bytes]()
    with Path(path).open(encoding="ascii", newline="") as file:
        rows: Iterable[dict[str, Any]] = map(json.loads, file)
        if delimiter:
            rows = csv.DictReader(file, delimiter=delimiter)
        for row in rows:
            last_number = int(row["number"])
            class_keys.add(class_key(row["canonical"].encode()))
    return last_number + 1, class_keys
