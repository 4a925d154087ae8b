"""``gpusudoku shares``: how many solutions have each digit in each cell."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpusudoku.cli.completing import complete_files
from gpusudoku.cli.options import (
    CommandOptions,
    boards_argument,
    command_facts,
    device_options,
    estimate_options,
    reading_options,
)
from gpusudoku.cli.usage import Choice, Integer
from gpusudoku.errors import InputError, TooExpensive
from gpusudoku.options import EstimateOptions, Options
from gpusudoku.pipeline.messages import prefixing_errors, print_note
from gpusudoku.pipeline.output import Output
from gpusudoku.pipeline.progress import ProgressLine
from gpusudoku.pipeline.run import Run, start_engine
from gpusudoku.pipeline.settings import InputOptions, OutputOptions, PartNumber, refuse_together
from gpusudoku.pipeline.share_forms import (
    Shares,
    headline,
    share_writer,
    unique_writer,
)
from gpusudoku.pipeline.source import place_of
from gpusudoku.pipeline.text_forms import Writer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gpusudoku.board.batch import Batch
    from gpusudoku.engines.engine import Engine
    from gpusudoku.results import ResultBlock

shares_option = CommandOptions("shares")

_ESTIMATE_HINT = "; estimate them by --estimate"
"""The end of the message for a board whose exact shares are too expensive."""


@click.command()
@boards_argument
@shares_option.forms(
    ["text", "csv", "jsonl"],
    "Format of shares; csv has one record per cell, jsonl one object per board."
    "  [default: text for one board, jsonl for a batch]",
)
@shares_option(
    "--candidates",
    is_flag=True,
    help="Show which digits solutions have in each cell, instead of how many have them.",
)
@shares_option(
    "--halving",
    type=Integer(min=1),
    metavar="N",
    help="List the N placements that come nearest to halving the solutions, instead of shares.",
)
@shares_option(
    "--unique",
    is_flag=True,
    help="List the placements that leave exactly one solution, instead of shares.",
)
@shares_option(
    "--pairs",
    is_flag=True,
    help="With --unique, list pairs of placements for a BOARD without such a single placement.",
)
@shares_option(
    "--color",
    type=Choice(["auto", "always", "never"]),
    default="auto",
    help="Colours in the text on stdout; auto uses them on a terminal, unless NO_COLOR is set.",
)
@shares_option(
    "--plot",
    metavar="FILE",
    shell_complete=complete_files,
    help="Draw the shares of one board as .svg, .png or .pdf (needs matplotlib).",
)
@shares_option.estimates("the shares", "--max-error", "no share has a larger error than X")
@shares_option.seconds("For --estimate.")
@shares_option.part("the solutions of one board, or of the boards of a batch")
@shares_option.output()
@shares_option.checkpoint()
@device_options
@reading_options
def shares(
    boards: tuple[str, ...],
    input_options: InputOptions,
    candidates: bool,
    halving: int | None,
    unique: bool,
    pairs: bool,
    color: str,
    plot: str | None,
    part: PartNumber | None,
    **params: Any,
) -> None:
    """Show how many solutions of every BOARD have each digit in each cell.

    The numbers are exact: text shows them in percent, csv and jsonl in full. A 9x9 board takes at
    most half a minute, whatever its number of solutions. A board of another shape may be too
    expensive if it has many solutions, but not for --candidates. --part of one board writes a
    JSON record.

    With --estimate, shares and their errors are estimated for boards of any size, on the CPU.

    \b
    Examples:
      gpusudoku shares board.txt
      gpusudoku shares board.txt --plot shares.pdf
      gpusudoku shares board.txt --candidates     the digits that solutions have
      gpusudoku shares board.txt --halving 5      the most informative clues
      gpusudoku shares board.txt --unique         clues that make it a puzzle
      gpusudoku shares board.txt --estimate --seconds 10
      gpusudoku shares board.txt --format csv -o shares.csv
      gpusudoku shares puzzles.txt > shares.jsonl
      gpusudoku shares board.txt --part 3/8 -o part3.json
      gpusudoku shares puzzles.txt -o shares.jsonl --checkpoint shares.run
    """
    from gpusudoku.enumeration.share_queries import share_batches

    # Options that contradict each other are refused before any board is read.
    command = command_facts()
    output_options = OutputOptions.from_params(params, command, is_part=part is not None)
    seconds = params.pop("seconds")
    excluded_by_estimate = {
        "--part": part,
        "--candidates": candidates,
        "--unique": unique,
        "--checkpoint": output_options.checkpoint,
        "--device cuda": params["device"] == "cuda",
        "--gpu": params["gpus"],
    }
    estimating = estimate_options(params, seconds, excluded_by_estimate)
    if seconds is not None and estimating is None:
        raise InputError("--seconds needs --estimate")
    options = Options(**params)
    form = output_options.form
    if candidates:
        conflicting = {"--halving": halving, "--unique": unique, "--pairs": pairs, "--plot": plot}
        refuse_together("--candidates", conflicting)
        options = replace(options, limit=1)
    _check_selection(form, halving, unique, pairs)
    if part is not None:
        refuse_together("--part", {"--plot": plot})
    if plot is not None:
        _check_plot(plot, output_options, boards)

    undivided = ""
    if unique or candidates:
        listed = "--unique" if unique else "--candidates"
        undivided = f"--part with {listed} is for batches: one board is not divided"
    run = Run(
        command,
        boards,
        input_options,
        output_options,
        part=part,
        has_record=True,
        has_columns=unique,
        undivided=undivided,
    )
    if plot is not None and not run.single:
        raise InputError(f"--plot {plot}: there are several boards, and a figure shows one")
    if output_options.checkpoint is not None and run.single:
        raise InputError("--checkpoint needs several boards: shares of one board cannot be resumed")

    # A part of one board is a record, which is written when the shares of all its tasks are added.
    if part is not None and run.source.board is not None:
        with Output(output_options.output, output_options.force, boards) as out:
            out.write(_part_record(run, run.source.board, part, options))
        return
    # The engine is made when the output is open, so that errors of files are reported first.
    get_engine = cache(partial(start_engine, options))
    if unique:
        writer = _unique_writer(run, options, get_engine, form, pairs)
    else:
        style = style_of(color, output_options.output)
        writer = share_writer(form, halving, run.single, style, lambda: run.notes)

    def write(board_shares: Shares) -> None:
        run.write(writer.text(board_shares))
        if plot is not None:
            _draw(board_shares, plot, output_options.force)

    if estimating is not None:
        _write_estimates(run, writer, write, estimating, options.jobs)
        return
    with run.open(writer.header, reports_boards=True):
        results = share_batches(run.source.batches(), options, get_engine())
        with closing(results) as blocks:
            for block in run.waiting(blocks):
                for index, board in enumerate(block.boards.singles()):
                    try:
                        write(_shares_of(run, block, board, index))
                    except TooExpensive as error:  # the other boards are still processed
                        hint = "" if unique else _ESTIMATE_HINT
                        run.report_unanswered(board, f"{error}{hint}")
                    run.add_finished(boards=1, count=int(block.numbers[index]))


def _check_selection(form: str | None, halving: int | None, unique: bool, pairs: bool) -> None:
    """Raise an InputError for options that list placements in a way that does not exist."""
    if halving is not None and form not in (None, "text"):
        raise InputError(f"--halving {halving}: lists placements as text, not as {form}")
    if unique:
        refuse_together("--unique", {"--halving": halving})
    elif pairs:
        raise InputError("--pairs is for --unique: it lists pairs of placements")


def _write_estimates(
    run: Run,
    writer: Writer,
    write: Callable[[Shares], None],
    estimating: EstimateOptions,
    jobs: int | None,
) -> None:
    """Estimate the shares of all boards of a run, and write them."""
    from gpusudoku.pipeline.estimates import EstimateLine
    from gpusudoku.share_estimates import share_estimate

    with run.open(writer.header, line=EstimateLine(), reports_boards=True):
        for board in run.source.singles():
            try:
                estimate = share_estimate(board[0], estimating, jobs)
                if not estimate.shares.any():
                    run.source.warn_conflicts(board)
                write(Shares(board, estimate.shares, estimate))
            except TooExpensive as error:  # the other boards are still processed
                run.report_unanswered(board, error)
            run.add_finished(boards=1)


def _shares_of(run: Run, block: ResultBlock, board: Batch, index: int) -> Shares:
    """Return the shares of a board, which has this index in a block; raise its error if any."""
    assert block.shares is not None
    assert block.errors is not None
    if block.errors[index] is not None:
        raise block.errors[index]
    if not block.numbers[index]:
        run.source.warn_conflicts(board)
    return Shares(board, block.shares[index], is_counted=block.limit is None)


def _unique_writer(
    run: Run, options: Options, get_engine: Callable[[], Engine], form: str | None, pairs: bool
) -> Writer:
    """Return the writer of --unique, which searches for placements, and with --pairs for pairs."""
    from gpusudoku.enumeration.share_queries import unique_placements
    from gpusudoku.enumeration.solutions import Solutions

    def find_placements(shares: Shares) -> NDArray[np.int64]:
        # Pairs take much longer than single placements, so they are searched only if needed.
        placements = unique_placements(shares.board, shares.counts)
        if len(placements) or not pairs:
            return placements
        with run.line.working():
            return Solutions(shares.board, options, engine=get_engine()).unique_pairs()

    form = form or ("text" if run.single else "jsonl")
    return unique_writer(form, run.source.input_source, run.single, pairs, find_placements)


def _part_record(run: Run, batch: Batch, part: PartNumber, options: Options) -> bytes:
    """Compute a part of the shares of the only board; return their record, a line of JSON."""
    from gpusudoku.enumeration.share_queries import add_shares, divide_board

    assert run.part_writer is not None
    engine = start_engine(options)
    with ProgressLine() as line, prefixing_errors(place_of(batch, 0)), line.working():
        boards = divide_board(batch[0], part.parts)
        tasks = run.select_tasks(len(boards), "tasks")
        shares = add_shares(boards[tasks.start : tasks.stop], batch[0], options, engine)
    return f"{run.part_writer.record(shares)}\n".encode()


def style_of(color: str, output: str | None) -> Callable[..., str] | None:
    """Return the function that colours text on stdout, or None without colours.

    NO_COLOR is the convention of https://no-color.org.
    """
    if output not in (None, "-"):
        return None
    if color == "auto":
        is_terminal = sys.stdout is not None and sys.stdout.isatty()
        has_colors = is_terminal and not os.environ.get("NO_COLOR")
    else:
        has_colors = color == "always"
    return click.style if has_colors else None


def _check_plot(plot: str, output_options: OutputOptions, inputs: tuple[str, ...]) -> None:
    """Raise an InputError for a figure that could not be drawn, before anything is computed."""
    from gpusudoku.pipeline import share_plot

    output = output_options.output
    if output is not None and Path(output).absolute() == Path(plot).absolute():
        raise InputError(f"{plot}: --output and --plot cannot both be written to it")
    share_plot.check(plot, output_options.force, list(inputs))


def _draw(shares: Shares, plot: str, force: bool) -> None:
    """Draw the shares of the only board to a file."""
    from gpusudoku.pipeline import share_plot

    share_plot.draw(shares, headline(shares, single=True), plot, force)
    print_note(f"{plot} written")
