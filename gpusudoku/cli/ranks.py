"""``gpusudoku nth`` and ``gpusudoku rank``: solutions by their number, and their numbers."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.cli.completing import complete_boards, complete_files
from gpusudoku.cli.options import OwnOptions, command_facts, devices, reading
from gpusudoku.cli.usage import numbers_of
from gpusudoku.errors import InputError, Interrupted
from gpusudoku.formats.symbols import values_in
from gpusudoku.options import Options
from gpusudoku.pipeline.messages import naming
from gpusudoku.pipeline.output import Output
from gpusudoku.pipeline.progress import ProgressLine
from gpusudoku.pipeline.run import start_engine
from gpusudoku.pipeline.settings import InputOptions, OutputOptions, form_of_output
from gpusudoku.pipeline.source import Source, place_of, sole_board, with_blanks
from gpusudoku.pipeline.text_forms import SolutionWriter

if TYPE_CHECKING:
    from gpusudoku.enumeration.solutions import Solutions

board_argument = click.argument("board", metavar="BOARD", shell_complete=complete_boards)


class _WithNumbers(click.Command):
    """A command whose arguments are numbers: a negative one is no unknown option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as click does; a negative number has a message of its own."""
        given = tuple(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption:
            below = [each for each in given if re.fullmatch(r"-\d+", each, re.ASCII)]
            if not below:
                raise
            raise click.UsageError(f"no solution {below[0]}: numbers count from 0", ctx) from None


@click.command(cls=_WithNumbers)
@board_argument
@click.argument("numbers", nargs=-1, required=True, metavar="K...", callback=numbers_of)
@OwnOptions("nth").solution_forms()
@OwnOptions("nth").output()
@devices
@reading
def nth(board: str, numbers: tuple[int, ...], reading: InputOptions, **given: Any) -> None:
    """Print solutions of BOARD by their numbers K in ascending order, from 0 on.

    Ascending order compares digits as numbers, cell by cell, row by row. No other
    solution is visited, so K may be of any size.

    \b
    Examples:
      gpusudoku nth board.txt 0 1 2
      gpusudoku nth board.txt 999999      the millionth
      gpusudoku nth @empty 3335451876010536468480
    """
    settings = OutputOptions.take(given, command_facts())
    form = settings.form or "line"
    with Output(settings.output, settings.force, [board]) as out, ProgressLine() as line:
        source = Source([board], reading, one=True)
        batch = sole_board(board, source)
        writer = SolutionWriter(form, source.origin, ("number",))
        solutions = _solutions(source, batch, given)
        out.write_header(writer.header)
        place = place_of(batch, 0)
        try:
            with naming(place):
                with line.working():
                    found = [solutions[k].cells for k in numbers]
                values = {"number": [*map(str, numbers)]}  # JSON readers keep no large numbers
                text = writer.text(batch, np.array(found), values=values)
        except IndexError as error:
            raise InputError(f"{place}{error}") from None
        except Interrupted:
            raise Interrupted("interrupted") from None
        out.write(text)
        source.finish()


@click.command()
@board_argument
@click.argument(
    "grids", nargs=-1, required=True, metavar="SOLUTION...", shell_complete=complete_files
)
@OwnOptions("rank").output()
@devices
@reading
def rank(
    board: str,
    grids: tuple[str, ...],
    reading: InputOptions,
    output: str | None,
    force: bool,
    **fields: Any,
) -> None:
    """Print the number that every SOLUTION of BOARD has in ascending order.

    A SOLUTION is a full grid: in a file of one or many, - for standard input, or itself. If the
    file is a table, --column tells where its solutions are. Numbers count from 0; nth turns them
    into solutions again.

    \b
    Examples:
      gpusudoku rank board.txt solutions.txt
      gpusudoku rank board.txt samples.csv --column solution
      gpusudoku sample board.txt | gpusudoku rank board.txt -
    """
    if board == "-" and "-" in grids:
        raise InputError("standard input cannot be both the board and the solutions")
    form_of_output(output, None)
    with Output(output, force, [board, *grids]) as out, ProgressLine() as line:
        source = Source([board], replace(reading, column=None), one=True)
        batch = sole_board(board, source)
        solutions = _solutions(source, batch, fields)
        geometry = batch.geometry
        names = [with_blanks(grid, geometry.cells) for grid in grids]
        given = Source(names, replace(reading, box=geometry))
        with out.telling_lines():
            for grid in given.singles():
                number = ""
                with given.passing_bad(), naming(place_of(grid, 0)), line.working():
                    number = str(solutions.rank(_in_alphabet(batch.alphabet(0), grid)))
                out.write(f"{number}\n".encode())
        given.finish()
        source.finish()


def _in_alphabet(alphabet: bytes, grid: Batch) -> Board:
    """Return a grid as it reads in the alphabet of the board, if it is full then."""
    cells = values_in(alphabet, b"" if grid.places is None else grid.places.board_texts[0])
    is_full = cells.size > 0 and cells.all() and cells.max() <= len(alphabet)
    return Board(cells, grid.geometry) if is_full else grid[0]


def _solutions(source: Source, batch: Batch, fields: dict[str, Any]) -> Solutions:
    """Make the solutions of the board."""
    from gpusudoku.enumeration.solutions import Solutions

    options = Options(**fields)
    engine = start_engine(options)
    source.warn_conflicts(batch)
    return Solutions(batch[0], options, engine=engine)
