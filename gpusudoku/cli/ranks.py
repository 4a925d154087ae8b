"""``gpusudoku nth`` and ``gpusudoku rank``: solutions by their number, and their numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from gpusudoku.board.batch import Batch
from gpusudoku.cli.completing import complete_boards, complete_files
from gpusudoku.cli.grids import as_text, solution_form
from gpusudoku.cli.messages import naming
from gpusudoku.cli.numbers import numbers_of
from gpusudoku.cli.options import Reading, devices, output_file, reading
from gpusudoku.cli.output import Output
from gpusudoku.cli.report import start_engine
from gpusudoku.cli.source import Source, place_of, with_blanks
from gpusudoku.errors import InputError, Interrupted
from gpusudoku.options import Options

if TYPE_CHECKING:
    from gpusudoku.listing import Solutions

board_argument = click.argument("board", metavar="BOARD", shell_complete=complete_boards)


@click.command()
@board_argument
@click.argument("numbers", nargs=-1, required=True, metavar="K...", callback=numbers_of)
@solution_form("nth")
@output_file("nth")
@devices
@reading
def nth(
    board: str,
    numbers: tuple[int, ...],
    reading: Reading,
    form: str,
    output: str | None,
    force: bool,
    **fields: Any,
) -> None:
    """Print the solutions of BOARD that have the numbers K in ascending order.

    K counts from 0. Ascending order compares digits as numbers, cell by cell, row by row. No other
    solution is visited, so K may be of any size.

    \b
    Examples:
      gpusudoku nth board.txt 0 1 2
      gpusudoku nth @empty 3335451876010536468480
    """
    batch, solutions = _solutions(board, reading, fields)
    with Output(output, force, [board]) as out:
        out.write_header(form)
        try:
            with naming(place_of(batch, 0)):
                found = [solutions[k].cells for k in numbers]
        except IndexError as error:
            raise InputError(f"{place_of(batch, 0)}{error}") from None
        except Interrupted:
            raise Interrupted("interrupted") from None
        out.write(as_text(np.array(found), batch.geometry, form))


@click.command()
@board_argument
@click.argument(
    "grids", nargs=-1, required=True, metavar="SOLUTION...", shell_complete=complete_files
)
@devices
@reading
def rank(board: str, grids: tuple[str, ...], reading: Reading, **fields: Any) -> None:
    """Print the number that every SOLUTION of BOARD has in ascending order.

    A SOLUTION is a full grid: in a file of one or many, - for standard input, or itself. Numbers
    count from 0; nth turns them into solutions again.

    \b
    Examples:
      gpusudoku rank board.txt solutions.txt
      gpusudoku sample board.txt | gpusudoku rank board.txt -
    """
    if board == "-" and "-" in grids:
        raise InputError("standard input cannot be both the board and the solutions")
    batch, solutions = _solutions(board, reading, fields)
    cells = batch.geometry.cells
    source = Source(
        [with_blanks(grid, cells) for grid in grids], replace(reading, box=batch.geometry)
    )
    with Output(None, False, [board, *grids]) as out:
        for batch in source.singles():
            with naming(place_of(batch, 0)):
                out.write(f"{solutions.rank(batch[0])}\n".encode())
    source.finish()


def _solutions(name: str, reading: Reading, fields: dict[str, Any]) -> tuple[Batch, Solutions]:
    """The one board of that name, as a batch, and its solutions.

    Raises
    ------
    InputError
        If there are several boards.
    """
    from gpusudoku.listing import Solutions

    options = Options(**fields)
    source = Source([name], reading)
    if not source.single:
        raise InputError(f"{name}: there are several boards, and one is expected")
    batch = next(source.singles())
    engine = start_engine(options)
    source.warn_conflicts(batch)
    return batch, Solutions(batch[0], options, engine=engine)
