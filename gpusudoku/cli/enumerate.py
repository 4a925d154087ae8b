"""``gpusudoku enumerate``: all solutions, streamed, or selected by number."""

from __future__ import annotations

from typing import Any

import click

from gpusudoku.cli.options import (
    CommandOptions,
    boards_argument,
    command_facts,
    method_option,
    reading_options,
    search_options,
)
from gpusudoku.cli.usage import Integer, Sectioned, parse_number
from gpusudoku.options import Options
from gpusudoku.pipeline.listing import Lister, Selection, search_in_steps, searches
from gpusudoku.pipeline.run import Run, start_engine
from gpusudoku.pipeline.settings import InputOptions, OutputOptions, PartNumber, refuse_together
from gpusudoku.pipeline.text_forms import SolutionWriter

SECTIONS = {
    "Common options": (
        "--limit", "--sorted", "--from", "--to", "--format", "--output", "--device", "--jobs"
    ),
    "Input": ("--box", "--column", "--keep-going"),
    "Output": ("--json", "--stats", "--force", "--quiet"),
    "Method and device": ("--method", "--gpu"),
    "Search": ("--strategy", "--propagate", "--cutoff", "--cutoff-by"),
    "Long runs": ("--checkpoint", "--part"),
}  # fmt: skip
"""The options in the help, by section."""

enumerate_option = CommandOptions("enumerate")


@click.command("enumerate", cls=Sectioned, sections=SECTIONS)
@boards_argument
@search_options
@method_option
@enumerate_option(
    "--limit",
    type=Integer(min=1),
    metavar="N",
    help="List at most N solutions of each board.",
)
@enumerate_option("--sorted", "in_order", is_flag=True, help="List in ascending order.")
@enumerate_option(
    "--from",
    "first",
    callback=parse_number,
    metavar="K",
    help="Begin with number K in ascending order; numbers count from 0. Implies --sorted.",
)
@enumerate_option(
    "--to",
    "last",
    callback=parse_number,
    metavar="L",
    help="End before number L in ascending order. Implies --sorted.",
)
@enumerate_option.part("the solutions of one board, or of the boards of a batch")
@enumerate_option.solution_forms()
@enumerate_option.output()
@enumerate_option.checkpoint()
@enumerate_option.statistics()
@reading_options
def enumerate_(
    boards: tuple[str, ...],
    input_options: InputOptions,
    in_order: bool,
    first: int | None,
    last: int | None,
    part: PartNumber | None,
    **params: Any,
) -> None:
    """List all solutions of every BOARD, streamed in constant memory.

    The output has only complete lines, even after an interrupt. The order of solutions is:

    \b
      a 9x9 board        contraction order, the same on every run; --limit N lists
                         the first N solutions, and the parts of --part joined
                         are the whole list
      other boards, and every board with --method search or --device cuda
                         search order: the same on every run with -j 1, arbitrary
                         with several threads
      --sorted, --from, --to
                         ascending order
      a batch            boards in input order, the solutions of each in ascending
                         order if they are few; each part has whole boards

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
    output_options = OutputOptions.from_params(params, command)
    options = Options(**params)
    run = Run(command, boards, input_options, output_options, part=part)
    writer = SolutionWriter(output_options.form or "line", run.source.input_source)
    # A part of a batch has whole boards: the run selects them, and lists all their solutions.
    part_of_board = part if run.single else None
    selection = Selection(in_order, first, last, part_of_board, options.limit)
    steps = None
    if output_options.checkpoint is not None:
        refuse_together("--checkpoint", {"--stats": output_options.stats})
        steps = search_in_steps(run.source.board, options, selection)
    # A run must resume with the same way of listing, as the order of solutions depends on it.
    facts = {"listed": "by search" if searches(options) else "by number"}
    with run.open(writer.header, facts=facts, portion=steps and steps[1]):
        Lister(run, options, selection, start_engine(options), writer).list_all(steps)
