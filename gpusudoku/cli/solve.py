"""``gpusudoku solve``: a solution of every board, and whether it is the only one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import Any

import click

from gpusudoku import formats
from gpusudoku.cli.options import (
    answer_options,
    boards_argument,
    cluster_option,
    command_facts,
    machine_of,
    own_option,
    part_option,
    reading,
    searching,
    seconds_option,
)
from gpusudoku.errors import InputError
from gpusudoku.iterating import with_bad_boards
from gpusudoku.options import Options
from gpusudoku.pipeline.checkpoint import refuse_output
from gpusudoku.pipeline.messages import note
from gpusudoku.pipeline.records import FORMS
from gpusudoku.pipeline.settings import InputOptions, OutputOptions, WhichPart
from gpusudoku.pipeline.sink import open_answer_sink
from gpusudoku.pipeline.source import Source
from gpusudoku.pipeline.summary import show_search
from gpusudoku.pipeline.text_forms import (
    AnswerRecords,
    AnswerWriter,
    SolvedBoards,
    SolvedOnTerminal,
    verdict,
)
from gpusudoku.results import ResultBlock, SearchStats


@click.command()
@boards_argument
@searching
@own_option("solve")(
    "--first",
    "first_only",
    is_flag=True,
    help="Stop at the first solution, without looking for another.",
)
@seconds_option("solve")
@part_option("solve", "a batch")
@cluster_option("solve")
@answer_options(
    "solve", [*formats.FORMATS, "jsonl"], "[default: pretty for one board, line for a batch]"
)
@reading
def solve(
    boards: tuple[str, ...],
    reading: InputOptions,
    first_only: bool,
    part: WhichPart | None,
    cluster: str | None,
    **given: Any,
) -> None:
    """Find a solution of every BOARD and say whether it is the only one.

    The search stops at the second solution (with --first at the first).

    \b
    One board:  stdout has a solution; a terminal shows the given board, too.
                stderr says whether there is another solution.
    A batch:    stdout has a line a board, an empty one if it has no solution.
                With --keep-going, a bad board has an empty line, too, or a
                record in csv, tsv and jsonl. stderr ends with a summary.

    \b
    Examples:
      gpusudoku solve board.txt
      gpusudoku solve puzzles.txt > solutions.txt
      gpusudoku solve puzzles.csv --format csv -o solutions.csv
      gpusudoku solve puzzles.txt --part 3/100 -o part3.txt
      gpusudoku solve @techniques-16x16 --stats
    """
    from gpusudoku.solving import solve_batches, solve_batches_on, solve_each

    command = command_facts()
    asked = OutputOptions.take(given, command, solution=True, errors=reading.keep_going)
    if first_only and asked.exit_code:
        raise InputError("--exit-code needs to know whether there is another solution: no --first")
    options = Options(**given, limit=1 if first_only else 2)
    refuse_output(asked, boards)
    source = Source(boards, reading, asked, saved=part is not None)
    if part is not None and source.single:
        raise InputError("--part is for batches here: one solution has no parts")
    if cluster is not None:
        if source.single:
            raise InputError("--cluster is for batches here: one board is solved on this machine")
        details = {"--stats with --format jsonl or --log": asked.in_detail}
        asked.refuse_with("--cluster of a batch", {"--seconds": options.seconds, **details})
    piece = None
    if part is not None:
        from gpusudoku.pipeline.parts import PartWriter

        piece = PartWriter(command, part, source, asked)
    is_read = asked.to_stdout and sys.stdout is not None and sys.stdout.isatty()
    on_terminal = source.single and asked.form is None and is_read
    each = source.single or asked.in_detail
    solve_here = solve_each if each else solve_batches
    solve_some: Callable[..., Any] = solve_here if cluster is None else solve_batches_on
    writer: AnswerWriter
    if asked.form in FORMS:
        writer = AnswerRecords.of(asked, source.origin, single=source.single)
    elif on_terminal:
        writer = SolvedOnTerminal()
    else:
        form = asked.form or ("pretty" if source.single else "line")
        writer = SolvedBoards(form, source.single)
    with (
        machine_of(cluster, options) as machine,
        open_answer_sink(command, source, machine, asked, writer, "solved", part=piece) as sink,
        closing(
            with_bad_boards(
                source.found(), partial(solve_some, options=options, engine=machine), "record"
            )
        ) as found,
    ):
        for results in found:
            sink.write(results)
            if source.single and isinstance(results, ResultBlock):
                if not on_terminal:
                    note(verdict(results))
                if asked.stats:
                    assert isinstance(results.stats, SearchStats)
                    show_search(results.boards[0], results.stats)
