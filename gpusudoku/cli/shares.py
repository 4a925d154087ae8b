"""``gpusudoku shares``: for every cell and digit the number of solutions that have it there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpusudoku.cli.asked import asked_form, form_options
from gpusudoku.cli.completing import complete_files
from gpusudoku.cli.journal import UNANSWERED, Journal, goes_on
from gpusudoku.cli.messages import naming, note
from gpusudoku.cli.numbers import WhichPart
from gpusudoku.cli.options import (
    Reading,
    boards_argument,
    checkpoint,
    devices,
    output_file,
    own_option,
    reading,
)
from gpusudoku.cli.output import Output
from gpusudoku.cli.parts import Parted, part_option, refuse_options
from gpusudoku.cli.progress import ProgressLine
from gpusudoku.cli.report import start_engine
from gpusudoku.cli.saving import journaled
from gpusudoku.cli.share_forms import Csv, Form, Halving, JsonLines, Shares, headline
from gpusudoku.cli.share_text import Text
from gpusudoku.cli.source import Source, place_of
from gpusudoku.cli.usage import Choice, Integer
from gpusudoku.errors import InputError, Interrupted
from gpusudoku.options import Options

if TYPE_CHECKING:
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
    reading: Reading,
    form: str | None,
    as_json: bool,
    halving: int | None,
    color: str,
    plot: str | None,
    part: WhichPart | None,
    output: str | None,
    force: bool,
    checkpoint: str | None,
    **fields: Any,
) -> None:
    """Show how many solutions of every BOARD have each digit in each cell.

    The numbers are exact: the text shows them in percent, the other forms in full. A 9x9 board
    takes seconds at most, however many solutions it has. A board of another shape with many
    solutions may be too expensive. --part splits the solutions of one board, and writes a JSON
    record, or a batch by boards.

    \b
    Examples:
      gpusudoku shares board.txt
      gpusudoku shares board.txt --plot shares.pdf
      gpusudoku shares board.txt --halving 5      where a clue would tell most
      gpusudoku shares board.txt --format csv -o shares.csv
      gpusudoku shares puzzles.txt > shares.jsonl
      gpusudoku shares board.txt --part 3/8 -o part3.json
      gpusudoku shares puzzles.txt -o shares.jsonl --checkpoint shares.run
    """
    options = Options(**fields)
    form = _form(form, as_json, halving)
    _check_plot(plot, output, force, boards)
    source = Source(boards, reading, kept=bool(checkpoint or part))
    _check_number(source.single, plot, checkpoint)
    facts = {"format": form, "halving": halving}
    parted = None
    if part is not None:
        refuse_options(plot=plot)
        lines, replaces = None if source.single else output, force or goes_on(checkpoint)
        parted = Parted(part, "shares", source, facts, lines, replaces)
        if source.board is not None:
            with Output(output, force, boards) as out:
                out.write(_part_of(source.board, parted, options))
            return
        parted.take_boards()
    with (
        journaled(checkpoint, (output, force), boards) as journal,
        ProgressLine(listing=journal.output.to_stdout) as line,
    ):
        colours, digits = coloured(color, output), journal.notes.get(_DIGITS, 0)
        writer = share_writer(form, halving, source.single, colours, digits)
        _write(source, options, journal, line, writer, partial(_draw, plot=plot, force=force))
        if parted is None and checkpoint is None:
            source.finish()  # a file is not made for want of any answer
    if parted is not None:
        parted.record_lines(writer.header)
    source.finish()


def _write(
    source: Source,
    options: Options,
    journal: Journal,
    line: ProgressLine,
    writer: Form,
    draw: Callable[[Shares], None],
) -> None:
    """Write the shares of all boards, and draw them."""
    done = journal.start.boards
    source.lacks_answers = bool(journal.notes.get(UNANSWERED))
    journal.share = lambda: source.share
    try:
        for found in _worked_out(source, options, line, journal):
            if found is not None:
                journal.output.write(writer.text(found))
                journal.found += found.count
                draw(found)
            if isinstance(writer, Csv):
                journal.notes[_DIGITS] = writer.digits
            journal.notes[UNANSWERED] = source.lacks_answers
            journal.advance(boards=1)
            done += 1
            if not source.single:
                line.boards(done, source.share)
    except (KeyboardInterrupt, Interrupted):
        boards_done = "" if source.single else f": {done} boards done"
        raise Interrupted(f"interrupted{boards_done}{journal.hint}", done) from None


def _part_of(batch: Batch, parted: Parted, options: Options) -> bytes:
    """The record of the shares of a part of the only board."""
    from gpusudoku.runs.parts.shares import divided, shares_of

    engine = start_engine(options)
    with ProgressLine() as line, naming(place_of(batch, 0)), line.working():
        boards = divided(batch[0], parted.part.parts)
        tasks = parted.take(len(boards), "tasks")
        shares = shares_of(boards[tasks.start : tasks.stop], batch[0], options, engine)
    return f"{parted.record(shares)}\n".encode()


def _worked_out(
    source: Source, options: Options, line: ProgressLine, journal: Journal
) -> Iterator[Shares | None]:
    """The shares of all boards that are left; None if too expensive, which is said on stderr."""
    from gpusudoku.listing import Solutions
    from gpusudoku.orders.many import share_batches

    engine = start_engine(options)
    if source.single:
        for batch in source.singles():  # none if it is a bad one, which is reported
            solutions = Solutions(batch[0], options, engine=engine)
            with naming(place_of(batch, 0)), line.working():
                shares = solutions.shares()
            if not shares[0].sum():
                source.warn_conflicts(batch)
            yield Shares(batch, shares)
        return
    for block in share_batches(journal.rest(source.batches()), options, engine):
        line.clear()
        for index, shares in enumerate(block.shares):
            batch = block.boards.part(index, index + 1)
            if index in block.refused:
                source.unanswered(f"{place_of(batch, 0)}{block.refused[index]}")
                yield None
                continue
            if not shares[0].sum():
                source.warn_conflicts(batch)
            yield Shares(batch, shares)


def _form(form: str | None, as_json: bool, halving: int | None) -> str | None:
    """The form that is asked for; None for the one that suits the number of boards."""
    form = asked_form(form, as_json)
    if halving is None:
        return form
    if form not in (None, "text"):
        raise InputError(f"--halving {halving}: lists placements as a text, not as {form}")
    return "text"


def share_writer(
    form: str | None, halving: int | None, single: bool, coloured: bool, digits: int = 0
) -> Form:
    """What writes shares in the form that is asked for; ``digits`` is as for ``Csv``."""
    if halving is not None:
        return Halving(halving, single)
    form = form or ("text" if single else "jsonl")
    if form == "text":
        return Text(single, coloured)
    return Csv(digits) if form == "csv" else JsonLines()


def coloured(color: str, output: str | None) -> bool:
    """Whether there are colours; never in a file."""
    if output not in (None, "-"):
        return False
    terminal = sys.stdout is not None and sys.stdout.isatty()
    return color == "always" or (color == "auto" and terminal and not os.environ.get("NO_COLOR"))


def _check_plot(plot: str | None, output: str | None, force: bool, inputs: tuple[str, ...]) -> None:
    """Complain of a figure that could not be drawn later, before anything is worked out."""
    if plot is None:
        return
    from gpusudoku.cli import share_plot

    if output is not None and Path(output).absolute() == Path(plot).absolute():
        raise InputError(f"{plot}: --output and --plot cannot both be written to it")
    share_plot.check(plot, force, list(inputs))


def _check_number(single: bool, plot: str | None, checkpoint: str | None) -> None:
    """Complain of what is for a single board alone, or for several."""
    if plot is not None and not single:
        raise InputError(f"--plot {plot}: there are several boards, and a figure shows one")
    if checkpoint is not None and single:
        raise InputError("--checkpoint is for batches here: shares of one board come all at once")


def _draw(shares: Shares, plot: str | None, force: bool) -> None:
    if plot is None:
        return
    from gpusudoku.cli import share_plot

    share_plot.draw(shares, headline(shares, single=True), plot, force)
    note(f"{plot} written")
