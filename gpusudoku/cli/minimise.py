"""``gpusudoku minimise``: puzzles without redundant clues."""

from __future__ import annotations

import secrets
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from gpusudoku.board.batch import Batch
from gpusudoku.cli.messages import note
from gpusudoku.cli.options import (
    InputOptions,
    OutputOptions,
    boards_argument,
    checkpoint,
    form_options,
    jobs_option,
    output_file,
    own_option,
    part_option,
    reading,
    seed_option,
)
from gpusudoku.cli.parts import PartWriter
from gpusudoku.cli.records import FORMS as RECORDS
from gpusudoku.cli.records import RecordWriter
from gpusudoku.cli.sink import LineSink, open_sink
from gpusudoku.cli.source import Source, conflict_in, is_file, place_of
from gpusudoku.cli.usage import Integer, WhichPart
from gpusudoku.cli.writers import SolutionWriter
from gpusudoku.errors import InputError, shown
from gpusudoku.formats import FORMATS, write_lines
from gpusudoku.iterating import with_bad_boards
from gpusudoku.results import BadBoard

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gpusudoku.puzzles.minimising import MinimisedBlock

own = own_option("minimise")

_SEED = "seed"
"""The note of a seed that was not given."""


def _keep(ctx: click.Context, param: click.Parameter, value: str | None) -> str:
    """Read the text of a file of cells to keep, for click."""
    if value is None or not is_file(value):
        return value or ""
    try:
        return Path(value).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise click.BadParameter(f"{shown(value)}: cannot be read: {error.strerror}") from None


@click.command()
@boards_argument
@own("--all", "everything", is_flag=True, help="List all minimal puzzles inside every BOARD.")
@own("--limit", type=Integer(min=1), metavar="N", help="With --all, list N of each BOARD at most.")
@own(
    "--keep",
    callback=_keep,
    metavar="CELLS",
    help="Clues that stay: r1c1,r5c5; or a file or text with a character a cell, a dot for the"
    " others.",
)
@seed_option(
    "minimise",
    "The same seed tries clues in the same order.  [default: a new one, on stderr and in csv, tsv"
    " and jsonl]",
)
@part_option("minimise", "a batch")
@form_options(
    "minimise",
    (*FORMATS, "jsonl"),
    "How to write puzzles; csv, tsv and jsonl have the given one and the solution, too."
    "  [default: line]",
)
@output_file("minimise")
@checkpoint("minimise")
@jobs_option
@reading
def minimise(
    boards: tuple[str, ...],
    reading: InputOptions,
    everything: bool,
    limit: int | None,
    keep: str,
    seed: int | None,
    part: WhichPart | None,
    jobs: int | None,
    **given: Any,
) -> None:
    """Remove the redundant clues of every BOARD.

    A BOARD is a puzzle with exactly one solution. Each clue is tried once, in a random order, and
    removed if the others leave no other solution. No clue that is left could go. A full grid gives
    a random puzzle. In a batch, a board without exactly one solution has a message, and an empty
    line.

    \b
    Examples:
      gpusudoku minimise puzzle.txt
      gpusudoku minimise puzzle.txt --keep r1c1,r9c9 --seed 5
      gpusudoku minimise puzzle.txt --all > inside.txt
      gpusudoku minimise puzzles.txt -o minimal.txt
      gpusudoku minimise puzzles.csv --format csv -o minimal.csv
    """
    # With --all there are no records but those of puzzles.
    asked = OutputOptions.take(given, errors=reading.keep_going and not everything)
    if everything and seed is not None:
        raise InputError("--seed cannot be combined with --all, which tries all orders")
    if limit is not None and not everything:
        raise InputError("--limit is for --all: without it every board has one minimal puzzle")
    source = Source(boards, reading, asked, saved=part is not None)
    piece = None
    if part is not None:
        if source.single:
            raise InputError("--part is for batches here: one board is not divided")
        if seed is None and not everything:
            raise InputError("--part needs a --seed: all parts are of one run")
        piece = PartWriter(part, source, asked)
    writer = MinimalWriter(asked.form or "line", source, seeded=not everything)
    from gpusudoku.jobs.cores import usable_cores

    threads = jobs or usable_cores()
    with open_sink(source, asked, writer.header, part=piece) as sink:
        if everything:
            _list_all(source, sink, writer, keep, limit, threads)
        else:
            _minimise_each(source, sink, writer, keep, seed, threads)


def _minimise_each(
    source: Source,
    sink: LineSink,
    writer: MinimalWriter,
    keep: str,
    seed: int | None,
    threads: int,
) -> None:
    """Write a minimal puzzle for every board."""
    from gpusudoku.puzzles.minimising import minimise_batches
    from gpusudoku.solving import not_one

    if seed is None:
        seed = sink.notes.setdefault(_SEED, secrets.randbits(128))
        note(f"seed {seed}")

    def work(batches: Iterator[Batch]) -> Generator[MinimisedBlock, None, None]:
        return minimise_batches(batches, seed, keep, threads)

    with closing(with_bad_boards(source.found(), work, "record")) as blocks:
        for block in blocks:
            if isinstance(block, BadBoard):
                sink.bad(writer.bad(block))
                continue
            sink.write(writer.minimised(block))
            for index in np.flatnonzero(block.numbers != 1).tolist():
                error = not_one(int(block.numbers[index]))
                conflict = conflict_in(block.boards[index])
                source.unanswered(f"{place_of(block.boards, index)}{error}{conflict}")
            sink.done(boards=len(block), found=len(block))


def _list_all(
    source: Source,
    sink: LineSink,
    writer: MinimalWriter,
    keep: str,
    limit: int | None,
    threads: int,
) -> None:
    """Write all minimal puzzles inside every board, no more of each than the limit."""
    from gpusudoku.engines.cpu import CpuEngine
    from gpusudoku.puzzles.inside import minimal_blocks
    from gpusudoku.puzzles.patterns import kept_cells
    from gpusudoku.solving import only_solution

    engine, done = CpuEngine(threads), sink.start.solutions
    for board in source.singles():
        puzzle, number = board[0], 0
        kept = kept_cells(keep, puzzle.geometry)
        try:
            solution = only_solution(puzzle, engine).cells
            with closing(minimal_blocks(puzzle, solution, kept, engine)) as blocks:
                for block in sink.line.waiting(blocks) if source.single else blocks:
                    rows = block if limit is None else block[: limit - number]
                    new = rows[max(0, done - number) :]
                    number += len(rows)
                    sink.write(writer.inside(board, new, solution))
                    sink.done(solutions=len(new), found=len(new))
                    if number == limit:
                        break
        except InputError as error:
            source.unanswered(f"{place_of(board, 0)}{error}{conflict_in(puzzle)}")
        sink.done(boards=1)
        done = 0


class MinimalWriter:
    """Writes minimal puzzles in one form; records have the given one and the solution, too."""

    def __init__(self, form: str, source: Source, seeded: bool) -> None:
        columns = ["minimal", "solution", "clues", *(["seed"] if seeded else [])]
        columns += ["error"] if source.gives_errors else []
        self._records = RecordWriter(form, source.origin, columns) if form in RECORDS else None
        self._plain = SolutionWriter(form, source.origin) if self._records is None else None
        self._has_gaps = form == "line" and not source.single
        self._columns = columns

    def header(self) -> bytes:
        """Return the text before all puzzles."""
        return b"" if self._records is None else self._records.header()

    def bad(self, board: BadBoard) -> bytes:
        """Write what stands for a board that cannot be read."""
        if self._records is not None:
            assert board.error.entry is not None  # whatever a command reads has one
            return self._records.bad(board.error.entry)
        return b"\n" if self._has_gaps else b""

    def minimised(self, block: MinimisedBlock) -> bytes:
        """Write the minimal puzzle of every board."""
        from gpusudoku.solving import not_one

        good = block.numbers == 1
        if self._plain is not None:
            if good.all() or not self._has_gaps:
                return self._plain.text(block.boards, block.puzzles[good])
            lines = iter(bytes(write_lines(block.puzzles[good])).splitlines(keepends=True))
            return b"".join(next(lines) if each else b"\n" for each in good.tolist())
        errors = [str(not_one(number) or "") for number in block.numbers.tolist()]
        return self._text(block.boards, block.puzzles, block.solutions, good, block.seed, errors)

    def inside(
        self, board: Batch, puzzles: NDArray[np.uint8], solution: NDArray[np.uint8]
    ) -> bytes:
        """Write minimal puzzles inside the board of a batch of one."""
        if self._plain is not None:
            return self._plain.text(board, puzzles)
        every = np.ones(len(puzzles), np.bool_)
        return self._text(board, puzzles, np.tile(solution, (len(puzzles), 1)), every)

    def _text(
        self,
        boards: Batch,
        puzzles: NDArray[np.uint8],
        solutions: NDArray[np.uint8],
        good: NDArray[np.bool_],
        seed: int = 0,
        errors: Sequence[str] = (),
    ) -> bytes:
        """Write records; those of boards without exactly one solution have no values."""
        assert self._records is not None
        columns: list[list[Any]] = [
            bytes(write_lines(rows)).decode().splitlines() for rows in (puzzles, solutions)
        ]
        columns.append(np.count_nonzero(puzzles, axis=1).tolist())
        values: dict[str, Any] = {
            name: [
                value if there else None for value, there in zip(column, good.tolist(), strict=True)
            ]
            for name, column in zip(self._columns, columns, strict=False)
        }
        if "seed" in self._columns:
            values["seed"] = str(seed)
        if "error" in self._columns:
            values["error"] = errors
        return self._records.text(boards, values)
