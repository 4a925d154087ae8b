"""``gpusudoku solve``: a solution of every board, and whether it is the only one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from gpusudoku import formats
from gpusudoku.board.board import Board
from gpusudoku.cli.messages import note
from gpusudoku.cli.options import Reading, boards_argument, option, reading, searching, statistics
from gpusudoku.cli.output import Output
from gpusudoku.cli.progress import ProgressLine
from gpusudoku.cli.report import show_search, start_engine
from gpusudoku.cli.source import Source, place_of, warn_conflict
from gpusudoku.cli.summary import Summary
from gpusudoku.errors import Interrupted
from gpusudoku.jobs.job import Progress
from gpusudoku.options import Options

if TYPE_CHECKING:
    from gpusudoku.engines.engine import Engine
    from gpusudoku.solving import Solved


@click.command()
@boards_argument
@searching
@option(
    "--first",
    "first_only",
    is_flag=True,
    help="Stop at the first solution, without looking for another.",
)
@option(
    "--format",
    "form",
    type=click.Choice(list(formats.FORMATS)),
    help="How to write solutions.  [default: pretty for one board, line for a batch]",
)
@option("--json", "as_json", is_flag=True, help="One JSON object per board.")
@statistics
@reading
def solve(
    boards: tuple[str, ...],
    reading: Reading,
    first_only: bool,
    form: str | None,
    as_json: bool,
    stats: bool,
    **fields: Any,
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
    options = Options(**fields)
    source = Source(boards, reading)
    engine = start_engine(options)
    form = form or ("pretty" if source.single else "line")
    alone = source.single or as_json or stats
    summary = Summary()
    with Output(None, False, boards) as out, ProgressLine() as line:
        if not as_json:
            out.write_header(form)
        progress = line.update if source.single else None
        try:
            for solved in _solved(source, options, engine, alone, not first_only, progress):
                line.clear()
                special = np.flatnonzero(solved.counts != 1).tolist()
                for index in [0] if source.single else special:
                    name = "" if source.single else place_of(solved.boards, index)
                    _tell(solved.boards[index], name, solved.counts[index], first_only)
                if as_json:
                    out.write(_record(solved, first_only))
                else:
                    out.write(_solutions(solved, form, summary.solved == 0))
                summary.add_solved(solved)
                if stats:
                    show_search(solved.boards[0], solved.stats)
                line.boards(summary.boards)
        except (KeyboardInterrupt, Interrupted):
            raise Interrupted(f"interrupted: {summary.boards} boards solved", 0) from None
    if not source.single:
        summary.show()
    source.finish()


def _solved(
    source: Source,
    options: Options,
    engine: Engine,
    alone: bool,
    check_unique: bool,
    progress: Callable[[Progress], None] | None,
) -> Iterator[Solved]:
    """Solve the boards in blocks, or each alone."""
    from gpusudoku.solving import Solved, solve_batches, solve_board

    if not alone:
        yield from solve_batches(source.batches(), options, engine, check_unique=check_unique)
        return
    for board in source.singles():
        solution = solve_board(
            board[0], options, engine, check_unique=check_unique, progress=progress
        )
        yield Solved.of(board, solution)


def _tell(board: Board, name: str, count: int, first_only: bool) -> None:
    """Say on stderr what the solution does not show."""
    if count == 0:
        warn_conflict(board, name)
        verdict = "no solution"
    elif first_only:
        verdict = "a solution"
    else:
        verdict = "the only solution" if count == 1 else "not the only solution"
    note(f"{name}{verdict}")


def _record(solved: Solved, first_only: bool) -> str:
    """Write a single board as a JSON object."""
    [board], [count] = solved.boards, solved.counts.tolist()
    record = {
        "board": str(board),
        "solution": str(Board(solved.solutions[0], board.geometry)) if count else None,
        "unique": count == 1 if count and not first_only else None,
        "seconds": solved.stats.seconds,
    }
    return json.dumps(record) + "\n"


def _solutions(solved: Solved, form: str, first: bool) -> str:
    """Write the solutions that there are; whether they are the first that are written."""
    found = solved.solutions[solved.counts > 0]
    if form == "line":
        return formats.write_lines(found)
    between, geometry = formats.separator(form), solved.boards.geometry
    text = "".join(f"{between}{formats.write(Board(cells, geometry), form)}\n" for cells in found)
    return text.removeprefix(between) if first else text
