"""``gpusudoku neighbours``: all puzzles that differ from a puzzle in a few clues."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from math import ceil
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from gpusudoku.board.batch import Batch
from gpusudoku.cli.options import (
    CommandOptions,
    boards_argument,
    command_facts,
    jobs_option,
    reading_options,
)
from gpusudoku.cli.usage import Integer
from gpusudoku.errors import InputError
from gpusudoku.formats import FORMATS
from gpusudoku.jobs.watch import duration
from gpusudoku.pipeline.messages import print_note, several
from gpusudoku.pipeline.puzzle_forms import neighbour_writer
from gpusudoku.pipeline.run import Run
from gpusudoku.pipeline.settings import InputOptions, OutputOptions, refuse_together
from gpusudoku.pipeline.source import place_of

if TYPE_CHECKING:
    from gpusudoku.puzzles.neighbours import Change

neighbours_option = CommandOptions("neighbours")

_MAX_QUICK_CLUES = 2
"""If more clues are removed or added, the time is estimated before the search."""


@click.command()
@boards_argument
@neighbours_option("--remove", type=Integer(min=0), default=1, metavar="N", help="Remove N clues.")
@neighbours_option("--add", type=Integer(min=0), default=1, metavar="M", help="Add M other clues.")
@neighbours_option("--minimal", is_flag=True, help="List only puzzles without a redundant clue.")
@neighbours_option(
    "--dedupe",
    is_flag=True,
    help="List only the first puzzle of each class, as 'gpusudoku canonical --dedupe' does.",
)
@neighbours_option(
    "--limit", type=Integer(min=1), metavar="K", help="List at most K puzzles of each BOARD."
)
@neighbours_option.forms(
    (*FORMATS, "jsonl"),
    "Format of puzzles; csv, tsv and jsonl add the given puzzle and the changed clues."
    "  [default: line]",
)
@neighbours_option.output()
@neighbours_option.checkpoint()
@jobs_option
@reading_options
def neighbours(
    boards: tuple[str, ...],
    input_options: InputOptions,
    remove: int,
    add: int,
    minimal: bool,
    dedupe: bool,
    limit: int | None,
    jobs: int | None,
    **params: Any,
) -> None:
    """List all puzzles that differ from every BOARD in a few clues.

    A BOARD is a puzzle with exactly one solution. The command removes N of its clues and adds M
    others, {-N+M}, in all ways that give a puzzle with exactly one solution, which may be another
    solution. Each puzzle is listed once per BOARD, and the BOARD itself is not listed. If N or M
    is above 2 and there is no --limit, stderr first shows an estimate of the time.

    \b
    Examples:
      gpusudoku neighbours puzzle.txt
      gpusudoku neighbours puzzle.txt --remove 2 --add 1
      gpusudoku neighbours puzzles.txt --minimal --format csv -o neighbours.csv
      gpusudoku neighbours puzzle.txt --remove 0 --add 2 --limit 10
    """
    from gpusudoku.jobs.threads import usable_cores
    from gpusudoku.puzzles.canonical import Classes, canonical_block
    from gpusudoku.puzzles.neighbours import Change, neighbour_blocks

    for name in boards:
        # The literature writes {-2+1} for these puzzles; as a BOARD it is a mistake.
        if (match := re.fullmatch(r"\{?-(\d+)(?:\+(\d+))?\}?", name, re.ASCII)) is not None:
            removed, added = match.groups("0")
            raise InputError(f"{name}: use --remove {removed} --add {added}")
    command = command_facts()
    output_options = OutputOptions.from_params(params, command)
    change = Change(remove, add, minimal)
    if dedupe:
        refuse_together("--dedupe", {"--checkpoint": output_options.checkpoint})
    run = Run(command, boards, input_options, output_options)
    threads = jobs or usable_cores()
    writer = neighbour_writer(output_options.form or "line", run.source)
    classes = Classes()
    with run.open(writer.header):
        batches = run.source.batches()
        if max(remove, add) > _MAX_QUICK_CLUES and limit is None:
            batches = _announce_estimate(batches, change, threads)
        skipped = run.start_solutions  # puzzles of the first board, written before a resume
        has_neighbours = skipped > 0
        with closing(neighbour_blocks(batches, change, threads, limit)) as blocks:
            for block in run.waiting(blocks):
                if block.ended:  # an empty block: all neighbours of its boards are written
                    run.source.report_unsolved(block.boards, block.numbers)
                    run.add_finished(boards=len(block.boards), solutions=skipped, count=0)
                    continue
                new = block.select(slice(skipped, None))
                skipped -= len(block) - len(new)
                if dedupe:
                    forms = canonical_block(new.neighbours, threads)
                    # A puzzle whose form cannot be computed is listed, too.
                    indices = [*classes.new(forms), *forms.errors]
                    new = new.select(np.sort(np.array(indices, np.int64)))
                if len(new):
                    has_neighbours = True
                    run.write(writer.text(new))
                run.add_finished(solutions=len(new))
        if run.single and not has_neighbours and not run.source.lacks_answers:
            print_note("no neighbours")


def _announce_estimate(batches: Iterator[Batch], change: Change, threads: int) -> Iterator[Batch]:
    """Yield the boards, and print first the estimated time of the first board's neighbours."""
    from gpusudoku.puzzles.neighbours import estimate_seconds

    # A generator: the first board is read, and estimated, when the first block is computed.
    for number, batch in enumerate(batches):
        if number == 0:
            board_count, seconds = estimate_seconds(batch[0], change)
            time = duration(max(1.0, seconds / threads))
            print_note(
                f"{place_of(batch, 0)}{several(ceil(board_count), 'board')} to search,"
                f" {time} on {several(threads, 'thread')}"
            )
        yield batch
