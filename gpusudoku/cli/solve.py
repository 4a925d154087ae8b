"""``gpusudoku solve``: a solution of every board, and whether it is the only one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import click

from gpusudoku import formats
from gpusudoku.cli.options import OwnOptions, boards_argument, command_facts, reading, searching
from gpusudoku.errors import InputError
from gpusudoku.options import Options
from gpusudoku.pipeline.answers import AnswerRun, refuse_output
from gpusudoku.pipeline.messages import note
from gpusudoku.pipeline.run import machine_of
from gpusudoku.pipeline.settings import InputOptions, OutputOptions, WhichPart, refuse_together
from gpusudoku.pipeline.summary import show_search
from gpusudoku.pipeline.text_forms import solve_writer, verdict
from gpusudoku.results import ResultBlock, SearchStats

own = OwnOptions("solve")


@click.command()
@boards_argument
@searching
@own(
    "--first",
    "first_only",
    is_flag=True,
    help="Stop at the first solution, without looking for another.",
)
@own.seconds("Without a solution it is then unknown whether there is one.")
@own.part("a batch")
@own.cluster()
@own.answers([*formats.FORMATS, "jsonl"], "[default: pretty for one board, line for a batch]")
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
    settings = OutputOptions.take(given, command, solution=True, errors=reading.keep_going)
    if first_only and settings.exit_code:
        raise InputError("--exit-code needs to know whether there is another solution: no --first")
    options = Options(**given, limit=1 if first_only else 2)
    refuse_output(settings, boards)
    undivided = "--part is for batches here: one solution has no parts"
    run = AnswerRun(command, boards, reading, settings, part=part, undivided=undivided)
    if cluster is not None:
        if run.single:
            raise InputError("--cluster is for batches here: one board is solved on this machine")
        details = {"--stats with --format jsonl or --log": settings.in_detail}
        refuse_together("--cluster of a batch", {"--seconds": options.seconds, **details})
    is_read = settings.to_stdout and sys.stdout is not None and sys.stdout.isatty()
    on_terminal = run.single and settings.form is None and is_read
    solve_here = solve_each if run.single or settings.in_detail else solve_batches
    solve_blocks: Callable[..., Any] = solve_here if cluster is None else solve_batches_on
    writer = solve_writer(settings, run.source.origin, single=run.single, on_terminal=on_terminal)
    with (
        machine_of(cluster, options) as machine,
        run.open_answers(writer, machine, "solved"),
        run.blocks(partial(solve_blocks, options=options, engine=machine)) as blocks,
    ):
        for results in blocks:
            run.write_answers(results)
            if run.single and isinstance(results, ResultBlock):
                if not on_terminal:
                    note(verdict(results))
                if settings.stats:
                    assert isinstance(results.stats, SearchStats)
                    show_search(results.boards[0], results.stats)
