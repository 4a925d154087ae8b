"""``gpusudoku solve`` and ``gpusudoku enumerate``."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray

from gpusudoku import formats
from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.cli.options import boards_argument, force, option, reading, searching, statistics
from gpusudoku.cli.output import Output
from gpusudoku.cli.progress import ProgressLine
from gpusudoku.cli.report import show_search, start_engine
from gpusudoku.cli.source import Source, warn_conflict, warn_conflicts
from gpusudoku.cli.summary import Summary
from gpusudoku.errors import InputError
from gpusudoku.jobs.job import Interrupted
from gpusudoku.options import Options

if TYPE_CHECKING:
    from gpusudoku.solving import Listed, Solved

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
    from gpusudoku.solving import solve_batches

    settings = Options(**options)
    source = Source(boards, box, keep_going)
    engine = start_engine(settings)
    form = form or ("pretty" if source.single else "line")
    alone = source.single or as_json or stats
    options |= {"engine": engine, "check_unique": not first_only}
    summary = Summary()
    with Output(None, False, boards) as out, ProgressLine() as line:
        if not as_json and formats.header(form):
            out.write(formats.header(form) + "\n")
        try:
            for solved in (
                _one_by_one(source, line, options)
                if alone
                else solve_batches(source.batches(), **options)
            ):
                line.clear()
                special = np.flatnonzero(solved.counts != 1).tolist()
                for index in [0] if source.single else special:
                    name = "" if source.single else f"board {summary.boards + index + 1}: "
                    _tell(solved.boards[index], name, solved.counts[index], first_only)
                if as_json:
                    out.write(_record(solved, first_only))
                else:
                    out.write(_solutions(solved, form, summary.solved == 0))
                summary.add_solved(solved)
                if stats:
                    show_search(solved.stats)
                line.boards(summary.boards)
        except (KeyboardInterrupt, Interrupted):
            raise Interrupted(f"interrupted: {summary.boards} boards solved", 0) from None
    if not source.single:
        summary.show()
    source.finish()


def _one_by_one(source: Source, line: ProgressLine, options: dict[str, Any]) -> Iterator[Solved]:
    from gpusudoku.listing import solve
    from gpusudoku.solving import Solved

    progress = line.update if source.single else None
    for board in source:
        yield Solved.of(board, solve(board, progress=progress, **options))


def _tell(board: Board, name: str, count: int, first_only: bool) -> None:
    """Say on stderr what the solution does not show."""
    if count == 0:
        warn_conflict(board)
        verdict = "no solution"
    elif first_only:
        verdict = "a solution"
    else:
        verdict = "the only solution" if count == 1 else "not the only solution"
    click.echo(f"gpusudoku: {name}{verdict}", err=True)


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
    Those of a batch come board by board, in input order, and in ascending order where they are few.
    Whatever stops the listing, only whole lines are written.

    \b
    Examples:
      gpusudoku enumerate board.txt | head
      gpusudoku enumerate board.txt -o solutions.txt --sorted
      gpusudoku enumerate board.txt --limit 1000 --format csv
    """
    from gpusudoku.solving import list_batches

    settings = Options(**options)
    source = Source(boards, box, keep_going)
    with Output(output, force, boards) as out, ProgressLine(quiet=output is None) as line:
        options |= {"engine": start_engine(settings), "progress": line.update}
        if formats.header(form):
            out.write(formats.header(form) + "\n")
        found = (
            _listed_alone(source, stats, options)
            if source.single or stats
            else list_batches(source.batches(), **options)
        )
        done = 0
        try:
            with closing(found):
                for listed in found:
                    line.clear()
                    warn_conflicts(listed.doubtful)
                    # Where there are several boards, each has its solutions in order.
                    sort = in_order and len(listed.boards) == 1
                    for block in _sorted(listed.solutions) if sort else listed.solutions:
                        out.write(_as_text(block, listed.boards.geometry, form))
                    done += len(listed.boards)
                    if not source.single:
                        line.boards(done)
        except (KeyboardInterrupt, Interrupted):
            raise Interrupted(f"interrupted: {out.lines} lines written", out.lines) from None
    source.finish()


def _listed_alone(
    source: Source, stats: bool, options: dict[str, Any]
) -> Generator[Listed, None, None]:
    from gpusudoku.listing import Listing
    from gpusudoku.solving import Listed

    for board in source:
        batch, listing = Batch.of([board]), Listing(board, **options)
        with closing(listing):
            yield Listed(batch, batch, listing)
        if stats and listing.stats is not None:
            show_search(listing.stats)


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
