"""``gpusudoku dataset``: random puzzles in columns, one of each class, and split by classes."""

from __future__ import annotations

import csv
import json
import os
import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import DIGITS
from gpusudoku.cli.generate import note_walks, puzzle_options, puzzle_source
from gpusudoku.cli.options import (
    checkpoint,
    command_facts,
    form_options,
    jobs_option,
    output_file,
    own_option,
    quiet_option,
)
from gpusudoku.cli.usage import Integer
from gpusudoku.errors import GaveUp, InputError, not_installed
from gpusudoku.options import MAX_NUMBER
from gpusudoku.pipeline.checkpoint import is_resumed, refuse_same
from gpusudoku.pipeline.identity import digest_of_file, identity_of_command
from gpusudoku.pipeline.messages import note, quietly
from gpusudoku.pipeline.output import WriteError, refuse
from gpusudoku.pipeline.records import as_rows
from gpusudoku.pipeline.settings import CommandFacts, OutputOptions
from gpusudoku.pipeline.sink import LineSink, open_sink

if TYPE_CHECKING:
    from gpusudoku.pipeline.source import Source
    from gpusudoku.puzzles.dataset import Columns, PuzzleDataset

own = own_option("dataset")

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
_EXISTS = "exists already; move it, or give the whole command again with --force"
FEW_VALUES = ["difficulty", "split", "seed"]
"""Columns that Parquet keeps as indices into a dictionary: others would not fit into one."""
GROUP_BYTES = 1 << 22
"""Bytes of rows in csv that are one group in Parquet: some 15,000 of 9x9 puzzles. Up to 32 groups
are read ahead."""


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
@puzzle_options("dataset")
@form_options(
    "dataset",
    FORMS,
    "How to write rows.  [default: as the name of FILE ends, else csv]",
)
@output_file("dataset")
@checkpoint("dataset")
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
    asked = OutputOptions.take(given, command, has_text=False)
    with quietly(quiet):
        options = PuzzleOptions(box, **given)
        rows = PuzzleDataset(options, shares)
        form, path = asked.form or "csv", asked.output or ""
        asked = replace(asked, form=form)
        source = puzzle_source(options, asked)
        if form == "parquet":
            _check_parquet(path, asked)
            force = asked.force
            asked = replace(asked, output=f"{path}.csv", force=False)
            if _is_made(command, path, asked, source, force):
                return
        writer, gave_up = RowWriter(form, options.geometry.n), None
        try:
            with open_sink(command, source, asked, writer.header) as sink:
                note_walks(Puzzles(0, options, 0))
                _write(sink, rows, number, seed, writer, patience, jobs)
        except GaveUp as error:
            gave_up = error
        if form == "parquet":
            convert(f"{path}.csv", path, asked.checkpoint, force)
            if gave_up is None or asked.checkpoint is None:
                Path(f"{path}.csv").unlink()
        if gave_up is not None:
            raise gave_up


def _check_parquet(path: str, asked: OutputOptions) -> None:
    """Complain at once if a Parquet file could not be made later."""
    if path in ("", "-"):
        raise InputError("parquet needs -o FILE: it is not written to stdout")
    try:
        import pyarrow.csv
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise InputError(not_installed("parquet", "pyarrow", "parquet")) from None
    if asked.checkpoint is not None:
        refuse_same(path, asked.checkpoint)
    if not is_resumed(asked.checkpoint):
        refuse(path, asked.force, ())
        if os.path.lexists(f"{path}.csv"):  # --force is for the file that -o names
            raise InputError(f"{path}.csv: exists already, and is for the rows of {path}: move it")
    if Path(path).exists() and not Path(path).is_file():
        raise InputError(f"{path}: is no ordinary file, and parquet needs one")


def _is_made(
    command: CommandFacts, path: str, asked: OutputOptions, source: Source, force: bool
) -> bool:
    """Tell whether a run that is resumed has made its Parquet file, which has no rows beside it.

    An InputError if another file has its name, unless ``force`` overwrites it.
    """
    if not is_resumed(asked.checkpoint) or not Path(path).is_file():
        return False
    from gpusudoku.runs.store import RunStore

    assert asked.checkpoint is not None
    with RunStore(asked.checkpoint) as store:
        store.check(identity_of_command(command, source, asked))
        is_own = digest_of_file(path) == store.written("parquet")
        if not (is_own or force):
            raise InputError(f"{path}: {_EXISTS}")
        is_made = is_own and store.state.finished and not Path(f"{path}.csv").exists()
        if is_made:
            note(f"{store.path}: finished before")
        return is_made


def _write(
    sink: LineSink,
    rows: PuzzleDataset,
    number: int,
    seed: int | None,
    writer: RowWriter,
    seconds: float,
    jobs: int | None,
) -> None:
    """Write the rows that are left of a number of them."""
    from gpusudoku.jobs.cores import usable_cores

    sink.total = number
    if sink.start.solutions == number:
        return
    first, seen = 0, set[bytes]()
    if sink.start.solutions:
        assert sink.output.real_path is not None
        first, seen = writer.read(sink.output.real_path)
    start, made = time.perf_counter(), 0
    blocks = rows.blocks(
        number,
        sink.seed(seed),
        first=first,
        seen=seen,
        seconds=seconds,
        threads=jobs or usable_cores(),
    )
    with closing(blocks):
        for columns in sink.line.waiting(blocks):
            sink.tell_seed()
            size = len(columns["number"])
            sink.write(writer.text(columns), size)
            made += size
            sink.noun = f"rows, {made / (time.perf_counter() - start):,.0f} a second"
            sink.done(solutions=size, found=size)


class RowWriter:
    """Writes rows as csv, which Parquet is made of, too, as tsv or as JSON lines; reads them."""

    def __init__(self, form: str, digits: int) -> None:
        self.form = "csv" if form == "parquet" else form
        self._delimiter = {"csv": ",", "tsv": "\t"}.get(self.form)
        """None for JSON lines."""
        has_commas = digits > len(DIGITS)
        quoted = self.form == "jsonl" or (self.form == "csv" and has_commas)
        self._quote = b'"' if quoted else b""

    def header(self) -> bytes:
        """Return the line before all rows."""
        return as_rows([[*TYPES]], self._delimiter) if self._delimiter else b""

    def text(self, columns: Columns) -> bytes:
        """Write rows: their texts side by side in an array of bytes, without the NUL bytes."""
        size, fields = len(columns["number"]), list[NDArray[np.uint8]]()

        def add(text: bytes) -> None:
            fields.append(np.tile(np.frombuffer(text, np.uint8), (size, 1)))

        between = b"" if self._delimiter else b"{"
        for name, column in columns.items():
            quote = self._quote if column.dtype.kind == "S" else b""
            lead = b"" if self._delimiter else f'"{name}": '.encode()
            texts = column.astype(np.bytes_)
            add(between + lead + quote)
            fields.append(texts.view(np.uint8).reshape(size, texts.itemsize))
            add(quote)
            between = (self._delimiter or ", ").encode()
        add(b"\n" if self._delimiter else b"}\n")
        whole = np.concatenate(fields, axis=1)
        text: bytes = whole[whole != 0].tobytes()
        return text

    def read(self, path: str) -> tuple[int, set[bytes]]:
        """Read rows that were written: the number after the last, and the keys of the classes."""
        from gpusudoku.puzzles.canonical import class_key

        number, keys = -1, set[bytes]()
        with Path(path).open(encoding="ascii", newline="") as file:
            found: Iterable[dict[str, Any]] = map(json.loads, file)
            if self._delimiter:
                found = csv.DictReader(file, delimiter=self._delimiter)
            for row in found:
                number = int(row["number"])
                keys.add(class_key(row["canonical"].encode()))
        return number + 1, keys


def convert(rows: str, path: str, checkpoint: str | None, force: bool) -> None:
    """Make a Parquet file of rows in csv, group by group; it has its name once it is complete.

    Its digest is saved in the ``checkpoint`` first: so a resumed run knows the file. An InputError
    if there is a file that this run has not made, unless ``force`` overwrites it.
    """
    import pyarrow as pa
    from pyarrow.csv import ConvertOptions, ReadOptions, open_csv
    from pyarrow.parquet import ParquetWriter

    from gpusudoku.runs.store import RunStore

    schema = pa.schema([(name, pa.type_for_alias(kind)) for name, kind in TYPES.items()])
    target = os.path.realpath(path)  # a symbolic link stays
    made, is_begun = Path(f"{target}.{os.getpid()}"), False
    settings = {"compression": "zstd", "use_dictionary": FEW_VALUES}
    try:
        with (
            open_csv(
                rows,
                read_options=ReadOptions(block_size=GROUP_BYTES),
                convert_options=ConvertOptions(column_types=schema),
            ) as batches,
            made.open("xb") as file,
        ):
            is_begun = True
            with ParquetWriter(file, schema, **settings) as writer:
                for batch in batches:
                    writer.write_batch(batch)
            os.fsync(file.fileno())
        with RunStore(checkpoint) as store:
            if Path(path).exists() and not (
                force or digest_of_file(path) == store.written("parquet")
            ):
                raise InputError(f"{path}: {_EXISTS}; the rows are in {rows}")
            store.keep({"written parquet": digest_of_file(str(made))})
        made.replace(target)
    except OSError as error:
        raise WriteError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        if is_begun:  # else another program has a file of this name
            made.unlink(missing_ok=True)
