"""``gpusudoku nth`` and ``gpusudoku rank``: from numbers to solutions, and back."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.cli.completing import complete_boards, complete_files
from gpusudoku.cli.options import CommandOptions, command_facts, device_options, reading_options
from gpusudoku.cli.usage import parse_numbers
from gpusudoku.errors import InputError, Interrupted
from gpusudoku.formats.symbols import values_in
from gpusudoku.options import Options
from gpusudoku.pipeline.messages import prefixing_errors
from gpusudoku.pipeline.output import Output
from gpusudoku.pipeline.progress import ProgressLine
from gpusudoku.pipeline.run import start_engine
from gpusudoku.pipeline.settings import InputOptions, OutputOptions, form_of_output
from gpusudoku.pipeline.source import Source, place_of, sole_board, with_blanks
from gpusudoku.pipeline.text_forms import SolutionWriter

if TYPE_CHECKING:
    from gpusudoku.enumeration.solutions import Solutions

board_argument = click.argument("board", metavar="BOARD", shell_complete=complete_boards)


class _NumbersCommand(click.Command):
    """A command whose arguments are numbers. click takes -1 for an unknown option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as click does, but with our message for a negative number."""
        all_args = tuple(args)  # click removes from ``args`` what it has parsed
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption:
            negative_numbers = [arg for arg in all_args if re.fullmatch(r"-\d+", arg, re.ASCII)]
            if not negative_numbers:
                raise
            message = f"no solution {negative_numbers[0]}: numbers count from 0"
            raise click.UsageError(message, ctx) from None


@click.command(cls=_NumbersCommand)
@board_argument
@click.argument("numbers", nargs=-1, required=True, metavar="K...", callback=parse_numbers)
@CommandOptions("nth").solution_forms()
@CommandOptions("nth").output()
@device_options
@reading_options
def nth(board: str, numbers: tuple[int, ...], input_options: InputOptions, **params: Any) -> None:
    """Print the solutions of BOARD with the ranks K.

    Ranks count from 0 in ascending order, which compares solutions cell by cell, row by row. The
    command visits no other solution, so K may be of any size.

    \b
    Examples:
      gpusudoku nth board.txt 0 1 2
      gpusudoku nth board.txt 999999      the millionth
      gpusudoku nth @empty 3335451876010536468480
    """
    output_options = OutputOptions.from_params(params, command_facts())
    form = output_options.form or "line"
    with (
        Output(output_options.output, output_options.force, [board]) as out,
        ProgressLine() as line,
    ):
        source = Source([board], input_options, expects_one=True)
        batch = sole_board(board, source)
        writer = SolutionWriter(form, source.input_source, ("number",))
        solutions = _make_solutions(source, batch, params)
        out.write_header(writer.header)
        place = place_of(batch, 0)
        try:
            with prefixing_errors(place):
                with line.working():
                    rows = [solutions[number].cells for number in numbers]
                # Text, as many JSON readers turn large numbers into floats.
                columns = {"number": [*map(str, numbers)]}
                text = writer.text(batch, np.array(rows), values=columns)
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
@CommandOptions("rank").output()
@device_options
@reading_options
def rank(
    board: str,
    grids: tuple[str, ...],
    input_options: InputOptions,
    output: str | None,
    force: bool,
    **params: Any,
) -> None:
    """Print the rank of every SOLUTION among the solutions of BOARD.

    A SOLUTION is the full grid itself, a file with one or several, or - for standard input. In a
    table, --column names the column of the solutions. Ranks count from 0 in ascending order;
    'gpusudoku nth' turns ranks into solutions.

    \b
    Examples:
      gpusudoku rank board.txt solutions.txt
      gpusudoku rank board.txt samples.csv --column solution
      gpusudoku sample board.txt | gpusudoku rank board.txt -
    """
    if board == "-" and "-" in grids:
        raise InputError("standard input cannot be both the board and the solutions")
    form_of_output(output, None)  # refuses endings of other forms than text
    with Output(output, force, [board, *grids]) as out, ProgressLine() as line:
        # --column is for the solutions only.
        board_source = Source([board], replace(input_options, column=None), expects_one=True)
        batch = sole_board(board, board_source)
        geometry = batch.geometry
        solutions = _make_solutions(board_source, batch, params)
        # A SOLUTION in letters, such as ABCD, would be taken for the name of a file.
        names = [with_blanks(grid, geometry.cells) for grid in grids]
        grid_source = Source(names, replace(input_options, box=geometry))
        with out.reporting_lines():
            for grid in grid_source.singles():
                number = ""  # a grid that is no solution has an empty line with --keep-going
                with (
                    grid_source.skipping_bad(),
                    prefixing_errors(place_of(grid, 0)),
                    line.working(),
                ):
                    number = str(solutions.rank(_in_alphabet(batch.alphabet(0), grid)))
                out.write(f"{number}\n".encode())
        grid_source.finish()
        board_source.finish()


def _in_alphabet(alphabet: bytes, grid: Batch) -> Board:
    """Return a grid as read with the symbols of the board, if it is a full grid of these.

    Solutions are written with the symbols of their board, such as the letters ABCD for 4x4.
    """
    cells = values_in(alphabet, b"" if grid.locations is None else grid.locations.board_texts[0])
    is_full = cells.size > 0 and cells.all() and cells.max() <= len(alphabet)
    return Board(cells, grid.geometry) if is_full else grid[0]


def _make_solutions(source: Source, batch: Batch, params: dict[str, Any]) -> Solutions:
    """Return the solutions of the board, on the engine that the parameters choose."""
    from gpusudoku.enumeration.solutions import Solutions

    options = Options(**params)
    engine = start_engine(options)
    source.warn_conflicts(batch)
    return Solutions(batch[0], options, engine=engine)
