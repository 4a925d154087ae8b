"""``gpusudoku shares``: for every cell and digit the number of solutions that have it there."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from gpusudoku.cli.answering import asked_form, form_options
from gpusudoku.cli.completing import complete_files
from gpusudoku.cli.messages import naming, note
from gpusudoku.cli.options import (
    Reading,
    boards_argument,
    devices,
    output_file,
    own_option,
    reading,
)
from gpusudoku.cli.output import Output
from gpusudoku.cli.progress import ProgressLine
from gpusudoku.cli.report import start_engine
from gpusudoku.cli.share_forms import Csv, Form, Halving, JsonLines, Shares, headline
from gpusudoku.cli.share_text import Text
from gpusudoku.cli.source import Source, place_of
from gpusudoku.errors import InputError, Interrupted
from gpusudoku.options import Options

own = own_option("shares")


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
    type=click.IntRange(min=1),
    metavar="N",
    help="List the N placements that come nearest to halving the solutions instead.",
)
@own(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="Colours in the text; auto is on a terminal, unless NO_COLOR is set. Files have none.",
)
@own(
    "--plot",
    metavar="FILE",
    shell_complete=complete_files,
    help="Draw the shares of one board, as .svg, .png or .pdf (needs matplotlib).",
)
@output_file("shares")
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
    output: str | None,
    force: bool,
    **fields: Any,
) -> None:
    """Tell for every cell and digit how many solutions of a BOARD have it there.

    The numbers are exact: the text shows them in percent, the other forms in full. Boards of 9x9
    cells take seconds at most, however many solutions they have. Boards of other shapes with many
    solutions may be too expensive.

    \b
    Examples:
      gpusudoku shares board.txt
      gpusudoku shares board.txt --plot shares.pdf
      gpusudoku shares board.txt --halving 5      where a clue would tell most
      gpusudoku shares board.txt --format csv -o shares.csv
      gpusudoku shares puzzles.txt > shares.jsonl
    """
    options = Options(**fields)
    form = _form(form, as_json, halving)
    _check_plot(plot, output, force, boards)
    source = Source(boards, reading)
    if plot is not None and not source.single:
        raise InputError(f"--plot {plot}: there are several boards, and a figure shows one")
    writer = _writer(form, halving, source.single, _coloured(color, output))
    done = 0
    with Output(output, force, boards) as out, ProgressLine(listing=out.to_stdout) as line:
        try:
            for found in _worked_out(source, options, line):
                out.write(writer.text(found))
                done += 1
                if plot is not None:
                    _draw(found, plot, force)
                if not source.single:
                    line.boards(done, source.share)
        except (KeyboardInterrupt, Interrupted):
            boards_done = "" if source.single else f": {done} boards done"
            raise Interrupted(f"interrupted{boards_done}", done) from None
        source.finish()


def _worked_out(source: Source, options: Options, line: ProgressLine) -> Iterator[Shares]:
    """The shares of all boards but those that are too expensive, which is said on stderr."""
    from gpusudoku.listing import Solutions
    from gpusudoku.orders.many import share_batches

    engine = start_engine(options)
    if source.single:
        [batch] = source.singles()
        solutions = Solutions(batch[0], options, engine=engine, progress=line.update)
        with naming(place_of(batch, 0)), line.working():
            shares = solutions.shares()
        if not shares[0].sum():
            source.warn_conflicts(batch)
        yield Shares(batch, shares)
        return
    for block in share_batches(source.batches(), options, engine):
        line.clear()
        for index, shares in enumerate(block.shares):
            batch = block.boards.part(index, index + 1)
            if index in block.refused:
                source.unanswered(f"{place_of(batch, 0)}{block.refused[index]}")
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


def _writer(form: str | None, halving: int | None, single: bool, coloured: bool) -> Form:
    if halving is not None:
        return Halving(halving, single)
    form = form or ("text" if single else "jsonl")
    if form == "text":
        return Text(single, coloured)
    return Csv() if form == "csv" else JsonLines()


def _coloured(color: str, output: str | None) -> bool:
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


def _draw(shares: Shares, plot: str, force: bool) -> None:
    from gpusudoku.cli import share_plot

    share_plot.draw(shares, headline(shares, single=True), plot, force)
    note(f"{plot} written")
