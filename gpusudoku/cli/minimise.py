"""``gpusudoku minimise``: puzzles without redundant clues."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from gpusudoku.board.batch import Batch
from gpusudoku.cli.options import (
    OwnOptions,
    boards_argument,
    command_facts,
    jobs_option,
    reading,
    text_of,
)
from gpusudoku.cli.usage import Integer
from gpusudoku.errors import InputError
from gpusudoku.formats import FORMATS
from gpusudoku.pipeline.puzzle_forms import minimal_writer
from gpusudoku.pipeline.run import Run
from gpusudoku.pipeline.settings import InputOptions, OutputOptions, WhichPart
from gpusudoku.pipeline.source import conflict_in
from gpusudoku.pipeline.text_forms import Writer
from gpusudoku.results import BadBoard

if TYPE_CHECKING:
    from gpusudoku.puzzles.minimise import MinimisedBlock

own = OwnOptions("minimise")


@click.command()
@boards_argument
@own("--all", "everything", is_flag=True, help="List all minimal puzzles inside every BOARD.")
@own("--limit", type=Integer(min=1), metavar="N", help="With --all, list N of each BOARD at most.")
@own(
    "--keep",
    callback=text_of,
    default="",
    show_default=False,
    metavar="CELLS",
    help="Clues that stay: r1c1,r5c5; or a file or text with a character a cell, a dot for the"
    " others.",
)
@own.seed(
    "The same seed tries clues in the same order.",
)
@own.part("a batch")
@own.forms(
    (*FORMATS, "jsonl"),
    "How to write puzzles; csv, tsv and jsonl have the given one and the solution, too."
    "  [default: line]",
)
@own.output()
@own.checkpoint()
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
    from gpusudoku.jobs.threads import usable_cores
    from gpusudoku.kernels.search.shape import has_avx512

    command = command_facts()
    # With --all there are no records but those of puzzles.
    errors = reading.keep_going and not everything
    settings = OutputOptions.take(given, command, errors=errors)
    if everything and seed is not None:
        raise InputError("--seed cannot be combined with --all, which tries all orders")
    if limit is not None and not everything:
        raise InputError("--limit is for --all: without it every board has one minimal puzzle")
    if part is not None and seed is None and not everything:
        raise InputError("--part needs a --seed: all parts are of one run")
    undivided = "--part is for batches here: one board is not divided"
    run = Run(command, boards, reading, settings, part=part, undivided=undivided)
    writer = minimal_writer(settings.form or "line", run.source, seeded=not everything)
    threads = jobs or usable_cores()
    # A run that is resumed skips the puzzles that are listed, so their order must be the same.
    facts = {"AVX-512": has_avx512()} if everything else None
    with run.open(writer.header, facts=facts):
        if everything:
            _list_all(run, writer, keep, limit, threads)
        else:
            _minimise_each(run, writer, keep, run.seed(seed), threads)


def _minimise_each(run: Run, writer: Writer, keep: str, seed: int, threads: int) -> None:
    """Write a minimal puzzle for every board."""
    from gpusudoku.puzzles.minimise import minimise_batches

    def work(batches: Iterator[Batch]) -> Generator[MinimisedBlock, None, None]:
        return minimise_batches(batches, seed, keep, threads)

    with run.blocks(work) as blocks:
        for block in blocks:
            if isinstance(block, BadBoard):
                run.write_bad(writer.bad(block))
                continue
            number = int((block.numbers == 1).sum())
            if number:
                run.report_seed()
            run.write(writer.text(block))
            run.source.unsolved(block.boards, block.numbers)
            run.done(boards=len(block), count=number)


def _list_all(run: Run, writer: Writer, keep: str, limit: int | None, threads: int) -> None:
    """Write all minimal puzzles inside every board, no more of each than the limit."""
    from gpusudoku.engines.cpu import CpuEngine
    from gpusudoku.puzzles.all_minimal import minimal_blocks
    from gpusudoku.puzzles.clue_patterns import kept_cells
    from gpusudoku.puzzles.minimise import MinimisedBlock
    from gpusudoku.solving import only_solution

    engine = CpuEngine(threads)
    skipped = run.start_solutions
    for board in run.source.singles():
        puzzle = board[0]
        number = 0
        kept = kept_cells(keep, puzzle.geometry)
        try:
            solution = only_solution(puzzle, engine).cells
            with closing(minimal_blocks(puzzle, solution, kept, engine)) as blocks:
                for block in run.waiting(blocks):
                    rows = block if limit is None else block[: limit - number]
                    new = rows[max(0, skipped - number) :]
                    number += len(rows)
                    if len(new):
                        solutions = np.tile(solution, (len(new), 1))
                        ones = np.ones(len(new), np.int64)
                        run.write(writer.text(MinimisedBlock(board, ones, new, solutions, seed=0)))
                    run.done(solutions=len(new))
                    if number == limit:
                        break
        except InputError as error:
            run.unanswered(board, f"{error}{conflict_in(puzzle)}")
        run.done(boards=1)
        skipped = 0
