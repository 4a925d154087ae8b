"""``gpusudoku shares``: for every cell and digit the number of solutions that have it there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpusudoku.cli.completing import complete_files
from gpusudoku.cli.options import (
    boards_argument,
    checkpoint,
    command_facts,
    devices,
    form_options,
    output_file,
    own_option,
    part_option,
    reading,
    start_engine,
)
from gpusudoku.cli.usage import Choice, Integer
from gpusudoku.errors import InputError, TooExpensive
from gpusudoku.options import Options
from gpusudoku.pipeline.messages import naming, note
from gpusudoku.pipeline.output import Output
from gpusudoku.pipeline.parts import PartWriter
from gpusudoku.pipeline.progress import ProgressLine
from gpusudoku.pipeline.settings import InputOptions, OutputOptions, WhichPart, check_part_name
from gpusudoku.pipeline.share_forms import (
    HalvingList,
    ShareForm,
    ShareGrid,
    ShareObjects,
    Shares,
    ShareTable,
    UniqueList,
    headline,
)
from gpusudoku.pipeline.sink import open_sink
from gpusudoku.pipeline.source import Source, place_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gpusudoku.board.batch import Batch

own = own_option("shares")

_DIGITS = "digits"
"""The note of how many digits the boards of a table have."""


@click.command()
@boards_argument
@form_options(
    "shares",
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
@part_option("shares", "the board's solutions, or of a batch")
@output_file("shares")
@checkpoint("shares")
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
    from gpusudoku.enumeration.share_batches import share_batches
    from gpusudoku.enumeration.solutions import Solutions
    from gpusudoku.enumeration.unique import unique_placements

    command = command_facts()
    asked = OutputOptions.take(given, command, is_part=part is not None)
    options, form = Options(**given), asked.form
    if halving is not None and form not in (None, "text"):
        raise InputError(f"--halving {halving}: lists placements as a text, not as {form}")
    form = form if halving is None else "text"
    if unique:
        asked.refuse_with("--unique", {"--halving": halving})
    elif pairs:
        raise InputError("--pairs is for --unique: it lists pairs of placements")
    _check_plot(plot, asked, boards)
    table = asked if unique else replace(asked, form=None)  # that of shares has no other columns
    source = Source(boards, reading, table, saved=part is not None)
    if plot is not None and not source.single:
        raise InputError(f"--plot {plot}: there are several boards, and a figure shows one")
    if asked.checkpoint is not None and source.single:
        raise InputError("--checkpoint is for batches here: shares of one board come all at once")
    piece = None
    if part is not None:
        asked.refuse_with("--part", {"--plot": plot})
        check_part_name(asked.output, is_record=source.single)
        if unique and source.single:
            raise InputError("--part with --unique is for batches: one board is not divided")
        piece = PartWriter(command, part, source, asked, lines=not source.single)
        if source.board is not None:
            with Output(asked.output, asked.force, boards) as out:
                out.write(_part_of(source.board, piece, options))
            return
    writer: ShareForm
    if unique:

        def find(shares: Shares) -> NDArray[np.int64]:
            placements = unique_placements(shares.board, shares.counts)
            if len(placements) or not pairs:
                return placements
            with sink.line.working():
                return Solutions(shares.board, options, engine=engine).unique_pairs()

        form = form or ("text" if source.single else "jsonl")
        writer = UniqueList(form, source.origin, source.single, pairs, find)
    else:
        writer = share_writer(form, halving, source.single, style_of(color, asked.output))
    with open_sink(command, source, asked, writer.header, part=piece, by_boards=True) as sink:
        if isinstance(writer, ShareTable):
            writer.digits = sink.notes.get(_DIGITS, 0)
        engine = start_engine(options)
        with closing(share_batches(source.batches(), options, engine)) as blocks:
            for block in sink.line.waiting(blocks) if source.single else blocks:
                assert block.shares is not None
                assert block.errors is not None
                for index, board in enumerate(block.boards.singles()):
                    count = int(block.numbers[index])
                    try:
                        if block.errors[index] is not None:
                            raise block.errors[index]
                        if not count:
                            source.warn_conflicts(board)
                        found = Shares(board, block.shares[index])
                        sink.write(writer.text(found))
                        if plot is not None:
                            _draw(found, plot, asked.force)
                    except TooExpensive as error:
                        sink.line.clear()
                        source.unanswered(f"{place_of(board, 0)}{error}")
                    if isinstance(writer, ShareTable):
                        sink.notes[_DIGITS] = writer.digits
                    sink.done(boards=1, found=count)


def _part_of(batch: Batch, piece: PartWriter, options: Options) -> bytes:
    """Write the record of the shares of a part of the only board."""
    from gpusudoku.enumeration.share_tasks import divided, shares_of

    engine = start_engine(options)
    with ProgressLine() as line, naming(place_of(batch, 0)), line.working():
        boards = divided(batch[0], piece.part.parts)
        tasks = piece.take(len(boards), "tasks")
        shares = shares_of(boards[tasks.start : tasks.stop], batch[0], options, engine)
    return f"{piece.record(shares)}\n".encode()


def share_writer(
    form: str | None, halving: int | None, single: bool, style: Callable[..., str] | None
) -> ShareForm:
    """Make what writes shares in the form that is asked for."""
    if halving is not None:
        return HalvingList(halving, single)
    form = form or ("text" if single else "jsonl")
    if form == "text":
        return ShareGrid(single, style)
    return ShareTable() if form == "csv" else ShareObjects()


def style_of(color: str, output: str | None) -> Callable[..., str] | None:
    """Return the function that colours texts; None without colours, as always in a file."""
    terminal = sys.stdout is not None and sys.stdout.isatty()
    on = color == "always" or (color == "auto" and terminal and not os.environ.get("NO_COLOR"))
    return click.style if on and output in (None, "-") else None


def _check_plot(plot: str | None, asked: OutputOptions, inputs: tuple[str, ...]) -> None:
    """Complain of a figure that could not be drawn later, before anything is worked out."""
    if plot is None:
        return
    from gpusudoku.pipeline import share_plot

    if asked.output is not None and Path(asked.output).absolute() == Path(plot).absolute():
        raise InputError(f"{plot}: --output and --plot cannot both be written to it")
    share_plot.check(plot, asked.force, list(inputs))


def _draw(shares: Shares, plot: str, force: bool) -> None:
    from gpusudoku.pipeline import share_plot

    share_plot.draw(shares, headline(shares, single=True), plot, force)
    note(f"{plot} written")
