"""``gpusudoku minimise``: puzzles without redundant clues."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from gpusudoku.board.batch import Batch
from gpusudoku.cli.options import (
    CommandOptions,
    boards_argument,
    command_facts,
    jobs_option,
    read_text,
    reading_options,
)
from gpusudoku.cli.usage import Integer
from gpusudoku.errors import InputError
from gpusudoku.formats import FORMATS
from gpusudoku.pipeline.puzzle_forms import minimal_writer
from gpusudoku.pipeline.run import Run
from gpusudoku.pipeline.settings import InputOptions, OutputOptions, PartNumber
from gpusudoku.pipeline.source import conflict_in
from gpusudoku.pipeline.text_forms import Writer
from gpusudoku.results import BadBoard

if TYPE_CHECKING:
    from gpusudoku.puzzles.minimise import MinimisedBlock

minimise_option = CommandOptions("minimise")


@click.command()
@boards_argument
@minimise_option(
    "--all", "everything", is_flag=True, help="List all minimal puzzles contained in every BOARD."
)
@minimise_option(
    "--limit",
    type=Integer(min=1),
    metavar="N",
    help="With --all, list at most N minimal puzzles of each BOARD.",
)
@minimise_option(
    "--keep",
    callback=read_text,
    default="",
    show_default=False,
    metavar="CELLS",
    help="Clues to keep: cells as in r1c1,r5c5; or a file or text with one character per cell, a"
    " dot for clues that may be removed.",
)
@minimise_option.seed(
    "Random seed: the same seed tries clues in the same order.",
)
@minimise_option.part("the boards of a batch")
@minimise_option.forms(
    (*FORMATS, "jsonl"),
    "Format of puzzles; csv, tsv and jsonl add the given puzzle and its solution.  [default: line]",
)
@minimise_option.output()
@minimise_option.checkpoint()
@jobs_option
@reading_options
def minimise(
    boards: tuple[str, ...],
    input_options: InputOptions,
    everything: bool,
    limit: int | None,
    keep: str,
    seed: int | None,
    part: PartNumber | None,
    jobs: int | None,
    **params: Any,
) -> None:
    """Remove the redundant clues of every BOARD.

    A BOARD is a puzzle with exactly one solution. Clues are tried once each, in random order; a
    clue is removed if the puzzle without it still has one solution. No remaining clue is then
    redundant. A full grid becomes a random puzzle. In a batch, a board without exactly one
    solution has a message on stderr, and an empty line.

    \b
    Examples:
      gpusudoku minimise puzzle.txt
      gpusudoku minimise puzzle.txt --keep r1c1,r9c9 --seed 5
      gpusudoku minimise puzzle.txt --all > minimal.txt
      gpusudoku minimise puzzles.txt -o minimal.txt
      gpusudoku minimise puzzles.csv --format csv -o minimal.csv
    """
    from gpusudoku.jobs.threads import usable_cores
    from gpusudoku.kernels.search.shape import has_avx512

    command = command_facts()
    # The records of --all are of minimal puzzles, so a bad board has none.
    errors = input_options.keep_going and not everything
    output_options = OutputOptions.from_params(params, command, errors=errors)
    if everything and seed is not None:
        raise InputError("--seed cannot be combined with --all, which tries all orders")
    if limit is not None and not everything:
        raise InputError("--limit is for --all: without it every board has one minimal puzzle")
    # All parts must use the same seed, and cannot agree on a random one.
    if part is not None and seed is None and not everything:
        raise InputError("--part needs a --seed: all parts are of one run")
    undivided = "--part needs several boards: one board is not divided"
    run = Run(command, boards, input_options, output_options, part=part, undivided=undivided)
    writer = minimal_writer(output_options.form or "line", run.source, seeded=not everything)
    threads = jobs or usable_cores()
    # A resumed run skips as many puzzles as it has written, so it must list them in the same
    # order, which depends on the instructions of the processor.
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
            puzzle_count = int((block.numbers == 1).sum())
            if puzzle_count:
                run.report_seed()
            run.write(writer.text(block))
            run.source.report_unsolved(block.boards, block.numbers)
            run.add_finished(boards=len(block), count=puzzle_count)


def _list_all(run: Run, writer: Writer, keep: str, limit: int | None, threads: int) -> None:
    """Write all minimal puzzles in every board, at most ``limit`` of each."""
    from gpusudoku.engines.cpu import CpuEngine
    from gpusudoku.puzzles.all_minimal import minimal_blocks
    from gpusudoku.puzzles.clue_patterns import parse_keep
    from gpusudoku.puzzles.minimise import MinimisedBlock
    from gpusudoku.solving import only_solution

    engine = CpuEngine(threads)
    skipped = run.start_solutions  # puzzles of the first board that were written before a resume
    for board in run.source.singles():
        puzzle = board[0]
        listed = 0
        cells_to_keep = parse_keep(keep, puzzle.geometry)
        try:
            solution = only_solution(puzzle, engine).cells
            with closing(minimal_blocks(puzzle, solution, cells_to_keep, engine)) as blocks:
                for block in run.waiting(blocks):
                    rows = block if limit is None else block[: limit - listed]
                    # Of the first board, a resumed run makes again the puzzles that are written.
                    new_rows = rows[max(0, skipped - listed) :]
                    listed += len(rows)
                    if len(new_rows):
                        solutions = np.tile(solution, (len(new_rows), 1))
                        counts = np.ones(len(new_rows), np.int64)
                        minimised = MinimisedBlock(board, counts, new_rows, solutions, seed=0)
                        run.write(writer.text(minimised))
                    run.add_finished(solutions=len(new_rows))
                    if listed == limit:
                        break
        except InputError as error:
            run.report_unanswered(board, f"{error}{conflict_in(puzzle)}")
        run.add_finished(boards=1)
        skipped = 0
