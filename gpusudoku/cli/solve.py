"""``gpusudoku solve``: a solution of every board, and whether it is the only one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import click

from gpusudoku import formats
from gpusudoku.cli.options import (
    CommandOptions,
    boards_argument,
    command_facts,
    reading_options,
    search_options,
)
from gpusudoku.cli.usage import Sectioned
from gpusudoku.errors import InputError
from gpusudoku.options import Options
from gpusudoku.pipeline.answers import AnswerRun, refuse_output
from gpusudoku.pipeline.messages import print_note
from gpusudoku.pipeline.run import open_engine
from gpusudoku.pipeline.settings import InputOptions, OutputOptions, PartNumber, refuse_together
from gpusudoku.pipeline.summary import show_search
from gpusudoku.pipeline.text_forms import solve_writer, verdict
from gpusudoku.results import ResultBlock, SearchStats

SECTIONS = {
    "Common options": ("--first", "--format", "--output", "--exit-code", "--device", "--jobs"),
    "Input": ("--box", "--column", "--keep-going"),
    "Output": ("--json", "--stats", "--log", "--force", "--quiet"),
    "Method and device": ("--gpu",),
    "Search": ("--strategy", "--propagate", "--cutoff", "--cutoff-by"),
    "Long runs": ("--seconds", "--checkpoint", "--part", "--cluster"),
}
"""The options in the help, by section."""

solve_option = CommandOptions("solve")


@click.command(cls=Sectioned, sections=SECTIONS)
@boards_argument
@search_options
@solve_option(
    "--first",
    "first_only",
    is_flag=True,
    help="Stop at the first solution, without a search for another one.",
)
@solve_option.seconds("If no solution is found by then, the answer is unknown.")
@solve_option.part("the boards of a batch")
@solve_option.cluster()
@solve_option.answers(
    [*formats.FORMATS, "jsonl"], "[default: pretty for one board, line for a batch]"
)
@reading_options
def solve(
    boards: tuple[str, ...],
    input_options: InputOptions,
    first_only: bool,
    part: PartNumber | None,
    cluster: str | None,
    **params: Any,
) -> None:
    """Find a solution of every BOARD and tell whether it is the only one.

    The search stops at the second solution, or with --first at the first one.

    \b
    One board:  stdout has a solution; a terminal also shows the board.
                stderr tells whether there is another solution.
    A batch:    stdout has a line for each board. The line is empty if the board
                has no solution, or cannot be read and --keep-going is given;
                csv, tsv and jsonl have a record instead.
                stderr ends with a summary.

    \b
    Examples:
      gpusudoku solve board.txt
      gpusudoku solve puzzles.txt > solutions.txt
      gpusudoku solve puzzles.csv --format csv -o solutions.csv
      gpusudoku solve puzzles.txt --part 3/100 -o part3.txt
      gpusudoku solve @techniques-16x16 --stats
    """
    command = command_facts()
    output_options = OutputOptions.from_params(
        params, command, solution=True, errors=input_options.keep_going
    )
    if first_only and output_options.exit_code:
        raise InputError("--exit-code cannot be combined with --first: it needs the second search")
    # A second solution is enough to know that the first one is not unique.
    options = Options(**params, limit=1 if first_only else 2)
    refuse_output(output_options, boards)
    run = AnswerRun(
        command,
        boards,
        input_options,
        output_options,
        part=part,
        undivided="--part needs several boards: one solution has no parts",
    )
    # A cluster divides a batch by boards; solving one board is quick.
    if cluster is not None:
        if run.single:
            raise InputError("--cluster needs several boards: one board is solved on this machine")
        incompatible = {
            "--seconds": options.seconds,
            "--stats with --format jsonl or --log": output_options.in_detail,
        }
        refuse_together("--cluster of a batch", incompatible)

    # A person at a terminal sees the board beside its solution; a pipe gets the solution alone.
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    on_terminal = (
        run.single and output_options.form is None and output_options.to_stdout and is_terminal
    )
    writer = solve_writer(
        output_options, run.source.input_source, single=run.single, on_terminal=on_terminal
    )
    solve_blocks = _solver(
        on_cluster=cluster is not None, solves_each=run.single or output_options.in_detail
    )
    with (
        open_engine(cluster, options) as engine,
        run.open_answers(writer, engine, "solved"),
        run.blocks(partial(solve_blocks, options=options, engine=engine)) as blocks,
    ):
        for results in blocks:
            run.write_answers(results)
            if run.single and isinstance(results, ResultBlock):
                if not on_terminal:  # where the writer shows the verdict below the solution
                    print_note(verdict(results))
                if output_options.stats:
                    assert isinstance(results.stats, SearchStats)
                    show_search(results.boards[0], results.stats)


def _solver(*, on_cluster: bool, solves_each: bool) -> Callable[..., Any]:
    """Choose the function that solves: on a cluster, board by board, or in blocks."""
    from gpusudoku.solving import solve_batches, solve_batches_on, solve_each

    if on_cluster:
        return solve_batches_on
    return solve_each if solves_each else solve_batches
