"""``gpusudoku solve`` and ``gpusudoku enumerate``."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray

from gpusudoku import formats
from gpusudoku.board import Board
from gpusudoku.chunks import Interrupted
from gpusudoku.cli.options import boards_argument, force, option, reading, searching, statistics
from gpusudoku.cli.output import Output
from gpusudoku.cli.progress import ProgressLine
from gpusudoku.cli.report import show_search, start_engine
from gpusudoku.cli.source import Source, warn_conflict
from gpusudoku.cli.summary import Summary
from gpusudoku.errors import InputError
from gpusudoku.geometry import Geometry
from gpusudoku.options import Options

if TYPE_CHECKING:
    from gpusudoku.listing import Solution

SORTED_BYTES = 1 << 30
"""--sorted keeps all solutions in memory, one byte a cell, and refuses to keep more than this."""

formats_choice = click.Choice(list(formats.FORMATS))


@click.command()
@boards_argument
@searching
@option("--first", "first_only", is_flag=True, help="Stop at the first; skip the uniqueness.")
@option(
    "--format",
    "form",
    type=formats_choice,
    help="How to write solutions.  [default: pretty for one board, line for a batch]",
)
@option("--json", "as_json", is_flag=True, help="One JSON object a board.")
@statistics
@reading
def solve(
    boards: tuple[str, ...],
    box: Geometry | None,
    keep_going: bool,
    first_only: bool,
    form: str | None,
    as_json: bool,
    stats: bool,
    **options: Any,
) -> None:
    """Find a solution of every BOARD and say on stderr whether it is the only one.

    All workers stop at the second solution (at the first with --first). A batch ends with a
    summary on stderr; a board without a solution is named there and prints nothing.

    \b
    Examples:
      gpusudoku solve board.txt
      gpusudoku solve puzzles.txt > solutions.txt
      gpusudoku solve @techniques-16x16 --stats
    """
    from gpusudoku.listing import solve

    settings = Options(**options)
    source = Source(boards, box, keep_going)
    engine = start_engine(settings)
    form = form or ("pretty" if source.single else "line")
    if not as_json and formats.header(form):
        click.echo(formats.header(form))
    summary = Summary()
    try:
        with ProgressLine() as line:
            for number, board in enumerate(source, start=1):
                found = solve(
                    board,
                    engine=engine,
                    check_unique=not first_only,
                    progress=line.update if source.single else None,
                    **options,
                )
                line.clear()
                summary.add(board, found.board, found.stats.seconds)
                _tell(found, board, "" if source.single else f"board {number}: ")
                if as_json:
                    click.echo(json.dumps(_record(found, board)))
                elif found.board is not None:
                    between = formats.separator(form) if number > 1 else ""
                    click.echo(f"{between}{formats.write(found.board, form)}")
                if stats:
                    show_search(found.stats)
                line.boards(number)
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted: {summary.boards} boards solved", 0) from None
    if not source.single:
        summary.show()
    source.finish()


def _tell(found: Solution, board: Board, name: str) -> None:
    """Say on stderr what the solution does not show."""
    if found.board is None:
        warn_conflict(board)
        verdict = "no solution"
    elif found.unique is None:
        verdict = "a solution"
    else:
        verdict = "the only solution" if found.unique else "not the only solution"
    if not name or found.board is None or found.unique is False:
        click.echo(f"gpusudoku: {name}{verdict}", err=True)


def _record(found: Solution, board: Board) -> dict[str, object]:
    return {
        "board": str(board),
        "solution": str(found.board) if found.board else None,
        "unique": found.unique,
        "seconds": found.stats.seconds,
    }


@click.command("enumerate")
@boards_argument
@searching
@option("--limit", type=click.IntRange(min=1), metavar="N", help="List at most N of each board.")
@option("-o", "--output", metavar="FILE", help="Write to FILE.  [default: stdout]")
@force
@option("--format", "form", type=formats_choice, default="line", help="How to write solutions.")
@option("--sorted", "in_order", is_flag=True, help="In ascending order; needs memory (1 GiB).")
@statistics
@reading
def enumerate_(
    boards: tuple[str, ...],
    box: Geometry | None,
    keep_going: bool,
    output: str | None,
    force: bool,
    form: str,
    in_order: bool,
    stats: bool,
    **options: Any,
) -> None:
    """List all solutions of every BOARD, streamed in constant memory.

    Solutions come as they are found: in a fixed order with -j 1, in any order with more threads.
    Whatever stops the listing, only whole lines are written.

    \b
    Examples:
      gpusudoku enumerate board.txt | head
      gpusudoku enumerate board.txt -o solutions.txt --sorted
      gpusudoku enumerate board.txt --limit 1000 --format csv
    """
    from gpusudoku.listing import Listing

    settings = Options(**options)
    source = Source(boards, box, keep_going)
    with Output(output, force, boards) as out, ProgressLine(quiet=output is None) as line:
        engine = start_engine(settings)
        if formats.header(form):
            out.write(formats.header(form) + "\n")
        try:
            for board in source:
                warn_conflict(board)
                listing = Listing(board, engine=engine, progress=line.update, **options)
                with closing(listing):
                    for block in _sorted(listing) if in_order else listing:
                        out.write(_as_text(block, board.geometry, form))
                if stats and listing.stats is not None:
                    show_search(listing.stats)
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted: {out.lines} lines written", out.lines) from None
    source.finish()


def _sorted(listing: Any) -> list[NDArray[np.uint8]]:
    blocks, size = [], 0
    for block in listing:
        blocks.append(block)
        size += block.nbytes
        if size > SORTED_BYTES:
            raise InputError(f"--sorted: more than {size // block.shape[1]} solutions are too many")
    if not blocks:
        return []
    rows = np.ascontiguousarray(np.concatenate(blocks))
    # A row seen as one string of bytes compares as its digits do.
    order = np.argsort(rows.view(f"S{rows.shape[1]}").ravel())
    return [rows[order]]


def _as_text(block: NDArray[np.uint8], geometry: Geometry, form: str) -> str:
    if form == "line":
        return formats.write_lines(block)
    end = "\n" + formats.separator(form)
    return "".join(formats.write(Board(cells, geometry), form) + end for cells in block)
