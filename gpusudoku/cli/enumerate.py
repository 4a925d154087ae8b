"""``gpusudoku enumerate``: all solutions, streamed, or selected by number."""

from __future__ import annotations

from typing import Any

import click

from gpusudoku.cli.options import (
    OwnOptions,
    boards_argument,
    command_facts,
    method,
    reading,
    searching,
)
from gpusudoku.cli.usage import Integer, number_of
from gpusudoku.options import Options
from gpusudoku.pipeline.listing import Lister, Selection, search_in_steps, searches
from gpusudoku.pipeline.run import Run, start_engine
from gpusudoku.pipeline.settings import InputOptions, OutputOptions, WhichPart, refuse_together
from gpusudoku.pipeline.text_forms import SolutionWriter

own = OwnOptions("enumerate")


@click.command("enumerate")
@boards_argument
@searching
@method
@own(
    "--limit",
    type=Integer(min=1),
    metavar="N",
    help="List at most N solutions of each board.",
)
@own("--sorted", "in_order", is_flag=True, help="In ascending order.")
@own(
    "--from",
    "first",
    callback=number_of,
    metavar="K",
    help="In ascending order, from number K on, counted from 0.",
)
@own(
    "--to",
    "last",
    callback=number_of,
    metavar="L",
    help="In ascending order, up to number L, L itself excluded.",
)
@own.part("the list, or of a batch")
@own.solution_forms()
@own.output()
@own.checkpoint()
@own.statistics()
@reading
def enumerate_(
    boards: tuple[str, ...],
    reading: InputOptions,
    in_order: bool,
    first: int | None,
    last: int | None,
    part: WhichPart | None,
    **given: Any,
) -> None:
    """List all solutions of every BOARD, streamed in constant memory.

    Only whole lines are written, whatever happens. The order of solutions:

    \b
      a 9x9 board        the same every time, without a search; --limit N lists
                         the first N, all --part together are exactly this list
      other boards, and all with --method search or --device cuda
                         as the search finds them: fixed with -j 1, any with more
                         threads
      --sorted, --from, --to
                         ascending
      a batch            boards in input order, their solutions ascending where
                         they are few; a --part has whole boards

    \b
    Examples:
      gpusudoku enumerate board.txt | head
      gpusudoku enumerate board.txt -o solutions.txt --sorted
      gpusudoku enumerate board.txt --limit 1000 --format csv
      gpusudoku enumerate @empty --from 1000000000000 --to 1000000001000
      gpusudoku enumerate @2f --part 3/100 -o part3.txt
      gpusudoku enumerate @2f -o solutions.txt --checkpoint list.run
    """
    command = command_facts()
    settings = OutputOptions.take(given, command)
    options = Options(**given)
    run = Run(command, boards, reading, settings, part=part)
    writer = SolutionWriter(settings.form or "line", run.source.origin)
    selected_part = part if run.single else None
    selection = Selection(in_order, first, last, selected_part, options.limit)
    steps = None
    if settings.checkpoint is not None:
        refuse_together("--checkpoint", {"--stats": settings.stats})
        steps = search_in_steps(run.source.board, options, selection)
    facts = {"listed": "by search" if searches(options) else "by number"}
    with run.open(writer.header, facts=facts, portion=steps and steps[1]):
        Lister(run, options, selection, start_engine(options), writer).list_all(steps)
