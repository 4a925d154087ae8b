"""``gpusudoku neighbours``: the puzzles that differ from others in a few clues."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from math import ceil
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from gpusudoku.board.batch import Batch
from gpusudoku.cli.options import OwnOptions, boards_argument, command_facts, jobs_option, reading
from gpusudoku.cli.usage import Integer
from gpusudoku.errors import InputError
from gpusudoku.formats import FORMATS
from gpusudoku.jobs.watch import duration
from gpusudoku.pipeline.messages import note, several
from gpusudoku.pipeline.puzzle_forms import neighbour_writer
from gpusudoku.pipeline.run import Run
from gpusudoku.pipeline.settings import InputOptions, OutputOptions, refuse_together
from gpusudoku.pipeline.source import place_of

if TYPE_CHECKING:
    from gpusudoku.puzzles.neighbours import Change

own = OwnOptions("neighbours")

_QUICK = 2
"""Clues that go, or come, without an estimate of the time."""


@click.command()
@boards_argument
@own("--remove", type=Integer(min=0), default=1, metavar="N", help="Remove N clues.")
@own("--add", type=Integer(min=0), default=1, metavar="M", help="Add M others.")
@own("--minimal", is_flag=True, help="Only puzzles without any redundant clue.")
@own(
    "--dedupe",
    is_flag=True,
    help="Only the first puzzle of each class, as 'gpusudoku canonical --dedupe' has them.",
)
@own("--limit", type=Integer(min=1), metavar="K", help="List K of each BOARD at most.")
@own.forms(
    (*FORMATS, "jsonl"),
    "How to write puzzles; csv, tsv and jsonl have the given one and the changed clues, too."
    "  [default: line]",
)
@own.output()
@own.checkpoint()
@jobs_option
@reading
def neighbours(
    boards: tuple[str, ...],
    reading: InputOptions,
    remove: int,
    add: int,
    minimal: bool,
    dedupe: bool,
    limit: int | None,
    jobs: int | None,
    **given: Any,
) -> None:
    """List all puzzles that differ from every BOARD in a few clues.

    A BOARD is a puzzle with exactly one solution. N of its clues are removed and M others added,
    {-N+M}, in all ways that leave exactly one solution, the same or another one. So no puzzle of a
    BOARD comes twice, nor the BOARD itself. If N or M is above 2, an estimate of the time comes
    first, unless there is a --limit.

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
        if (match := re.fullmatch(r"\{?-(\d+)(?:\+(\d+))?\}?", name, re.ASCII)) is not None:
            raise InputError("{}: say --remove {} --add {}".format(name, *match.groups("0")))
    command = command_facts()
    settings = OutputOptions.take(given, command)
    change = Change(remove, add, minimal)
    if dedupe:
        refuse_together("--dedupe", {"--checkpoint": settings.checkpoint})
    run = Run(command, boards, reading, settings)
    threads = jobs or usable_cores()
    writer = neighbour_writer(settings.form or "line", run.source)
    classes = Classes()
    with run.open(writer.header):
        batches = run.source.batches()
        if max(remove, add) > _QUICK and limit is None:
            batches = _announced(batches, change, threads)
        skipped = run.start_solutions
        has_neighbours = skipped > 0
        with closing(neighbour_blocks(batches, change, threads, limit)) as blocks:
            for block in run.waiting(blocks):
                if block.ended:
                    run.source.unsolved(block.boards, block.numbers)
                    run.done(boards=len(block.boards), solutions=skipped, count=0)
                    continue
                new = block.chosen(slice(skipped, None))
                skipped -= len(block) - len(new)
                if dedupe:
                    forms = canonical_block(new.neighbours, threads)
                    which = [*classes.new(forms), *forms.errors]  # those without one stay
                    new = new.chosen(np.sort(np.array(which, np.int64)))
                if len(new):
                    has_neighbours = True
                    run.write(writer.text(new))
                run.done(solutions=len(new))
        if run.single and not has_neighbours and not run.source.lacks_answers:
            note("no neighbours")


def _announced(batches: Iterator[Batch], change: Change, threads: int) -> Iterator[Batch]:
    """Give boards, and say first how long the neighbours of the first one should take."""
    from gpusudoku.puzzles.neighbours import estimate_seconds

    for number, batch in enumerate(batches):
        if number == 0:
            boards, seconds = estimate_seconds(batch[0], change)
            taken = duration(max(1.0, seconds / threads))
            note(
                f"{place_of(batch, 0)}{several(ceil(boards), 'board')} to search,"
                f" {taken} on {several(threads, 'thread')}"
            )
        yield batch
