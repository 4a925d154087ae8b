"""``gpusudoku shares``: for every cell and digit the number of solutions that have it there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpusudoku.cli.completing import complete_files
from gpusudoku.cli.options import OwnOptions, boards_argument, command_facts, devices, reading
from gpusudoku.cli.usage import Choice, Integer
from gpusudoku.errors import InputError, TooExpensive
from gpusudoku.options import Options
from gpusudoku.pipeline.messages import naming, note
from gpusudoku.pipeline.output import Output
from gpusudoku.pipeline.progress import ProgressLine
from gpusudoku.pipeline.run import Run, start_engine
from gpusudoku.pipeline.settings import InputOptions, OutputOptions, WhichPart, refuse_together
from gpusudoku.pipeline.share_forms import (
    Shares,
    ShareTable,
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

own = OwnOptions("shares")

_DIGITS = "digits"
"""The note of how many digits the boards of a table have."""


@click.command()
@boards_argument
@own.forms(
    ["text", "csv", "jsonl"],
    "How to write shares; csv has a record a cell, jsonl an object a board."
    "  [default: text for one board, jsonl for a batch]",
)
@own(
    "--halving",
    type=Integer(min=1),
    metavar="N",
    help="List the N placements that come nearest to halving the solutions instead.",
)
@own(
    "--unique",
    is_flag=True,
    help="List the placements that leave exactly one solution instead, a line or record each.",
)
@own(
    "--pairs",
    is_flag=True,
    help="With --unique, for a BOARD where no single placement does, list the pairs that do.",
)
@own(
    "--color",
    type=Choice(["auto", "always", "never"]),
    default="auto",
    help="Colours in the text; auto is on a terminal, unless NO_COLOR is set. Files have none.",
)
@own(
    "--plot",
    metavar="FILE",
    shell_complete=complete_files,
    help="Draw the shares of one board, as .svg, .png or .pdf (needs matplotlib).",
)
@own.part("the board's solutions, or of a batch")
@own.output()
@own.checkpoint()
@devices
@reading
def shares(
    boards: tuple[str, ...],
    reading: InputOptions,
    halving: int | None,
    unique: bool,
    pairs: bool,
    color: str,
    plot: str | None,
    part: WhichPart | None,
    **given: Any,
) -> None:
    """Show how many solutions of every BOARD have each digit in each cell.

    The numbers are exact: the text shows them in percent, the other forms in full. A 9x9 board
    takes half a minute at most, however many solutions it has. A board of another shape with many
    solutions may be too expensive. --part splits the solutions of one board, and writes a JSON
    record, or a batch by boards.

    \b
    Examples:
      gpusudoku shares board.txt
      gpusudoku shares board.txt --plot shares.pdf
      gpusudoku shares board.txt --halving 5      where a clue would tell most
      gpusudoku shares board.txt --unique         which clue makes it a puzzle
      gpusudoku shares board.txt --format csv -o shares.csv
      gpusudoku shares puzzles.txt > shares.jsonl
      gpusudoku shares board.txt --part 3/8 -o part3.json
      gpusudoku shares puzzles.txt -o shares.jsonl --checkpoint shares.run
    """
    from gpusudoku.enumeration.share_queries import share_batches, unique_placements
    from gpusudoku.enumeration.solutions import Solutions

    command = command_facts()
    settings = OutputOptions.take(given, command, is_part=part is not None)
    options = Options(**given)
    form = settings.form
    if halving is not None and form not in (None, "text"):
        raise InputError(f"--halving {halving}: lists placements as a text, not as {form}")
    form = form if halving is None else "text"
    if unique:
        refuse_together("--unique", {"--halving": halving})
    elif pairs:
        raise InputError("--pairs is for --unique: it lists pairs of placements")
    if part is not None:
        refuse_together("--part", {"--plot": plot})
    _check_plot(plot, settings, boards)
    run = Run(
        command, boards, reading, settings, part=part, has_record=True, has_columns=unique,
        undivided="--part with --unique is for batches: one board is not divided" if unique else "",
    )  # fmt: skip
    if plot is not None and not run.single:
        raise InputError(f"--plot {plot}: there are several boards, and a figure shows one")
    if settings.checkpoint is not None and run.single:
        raise InputError("--checkpoint is for batches here: shares of one board come all at once")
    if part is not None and run.source.board is not None:
        with Output(settings.output, settings.force, boards) as out:
            out.write(_part_of(run, run.source.board, part, options))
        return
    writer: Writer | ShareTable
    if unique:

        def find(shares: Shares) -> NDArray[np.int64]:
            placements = unique_placements(shares.board, shares.counts)
            if len(placements) or not pairs:
                return placements
            with run.line.working():
                return Solutions(shares.board, options, engine=engine).unique_pairs()

        form = form or ("text" if run.single else "jsonl")
        writer = unique_writer(form, run.source.origin, run.single, pairs, find)
    else:
        writer = share_writer(form, halving, run.single, style_of(color, settings.output))
    with run.open(writer.header, reports_boards=True):
        if isinstance(writer, ShareTable):
            writer.digits = run.notes.get(_DIGITS, 0)
        engine = start_engine(options)
        with closing(share_batches(run.source.batches(), options, engine)) as blocks:
            for block in run.waiting(blocks):
                assert block.shares is not None
                assert block.errors is not None
                for index, board in enumerate(block.boards.singles()):
                    count = int(block.numbers[index])
                    try:
                        if block.errors[index] is not None:
                            raise block.errors[index]
                        if not count:
                            run.source.warn_conflicts(board)
                        shares_of_board = Shares(board, block.shares[index])
                        run.write(writer.text(shares_of_board))
                        if plot is not None:
                            _draw(shares_of_board, plot, settings.force)
                    except TooExpensive as error:
                        run.unanswered(board, error)
                    if isinstance(writer, ShareTable):
                        run.notes[_DIGITS] = writer.digits
                    run.done(boards=1, count=count)


def _part_of(run: Run, batch: Batch, part: WhichPart, options: Options) -> bytes:
    """Write the record of the shares of a part of the only board."""
    from gpusudoku.enumeration.share_queries import add_shares, divide_board

    assert run.part_writer is not None
    engine = start_engine(options)
    with ProgressLine() as line, naming(place_of(batch, 0)), line.working():
        boards = divide_board(batch[0], part.parts)
        tasks = run.take(len(boards), "tasks")
        shares = add_shares(boards[tasks.start : tasks.stop], batch[0], options, engine)
    return f"{run.part_writer.record(shares)}\n".encode()


def style_of(color: str, output: str | None) -> Callable[..., str] | None:
    """Return the function that colours texts; None without colours, as always in a file."""
    terminal = sys.stdout is not None and sys.stdout.isatty()
    on = color == "always" or (color == "auto" and terminal and not os.environ.get("NO_COLOR"))
    return click.style if on and output in (None, "-") else None


def _check_plot(plot: str | None, settings: OutputOptions, inputs: tuple[str, ...]) -> None:
    """Complain of a figure that could not be drawn later, before anything is worked out."""
    if plot is None:
        return
    from gpusudoku.pipeline import share_plot

    if settings.output is not None and Path(settings.output).absolute() == Path(plot).absolute():
        raise InputError(f"{plot}: --output and --plot cannot both be written to it")
    share_plot.check(plot, settings.force, list(inputs))


def _draw(shares: Shares, plot: str, force: bool) -> None:
    from gpusudoku.pipeline import share_plot

    share_plot.draw(shares, headline(shares, single=True), plot, force)
    note(f"{plot} written")
