"""``gpusudoku enumerate``: all solutions, streamed."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import sort_keys
from gpusudoku.cli.expected import expect_listing
from gpusudoku.cli.grids import as_text, solution_form
from gpusudoku.cli.options import (
    Reading,
    boards_argument,
    output_file,
    own_option,
    reading,
    searching,
    statistics,
)
from gpusudoku.cli.output import Output
from gpusudoku.cli.progress import ProgressLine
from gpusudoku.cli.report import Totals, show_search, start_engine
from gpusudoku.cli.source import Source
from gpusudoku.errors import InputError, Interrupted
from gpusudoku.options import Options
from gpusudoku.results import SearchStats

if TYPE_CHECKING:
    from gpusudoku.engines.engine import Engine
    from gpusudoku.streaming import Listed

    WithTexts = tuple[Listed, Iterable[bytes]]

own = own_option("enumerate")

SORTED_BYTES = 1 << 30
"""--sorted keeps all solutions in memory, one byte a cell, and refuses to keep more than this."""


@click.command("enumerate")
@boards_argument
@searching
@own(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="List at most N solutions of each board.",
)
@output_file("enumerate")
@solution_form("enumerate")
@own("--sorted", "in_order", is_flag=True, help="In ascending order; takes up to 1 GiB of memory.")
@statistics("enumerate")
@reading
def enumerate_(
    boards: tuple[str, ...],
    reading: Reading,
    output: str | None,
    force: bool,
    form: str,
    in_order: bool,
    stats: bool,
    **fields: Any,
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
    options = Options(**fields)
    source = Source(boards, reading)
    with Output(output, force, boards) as out, ProgressLine(listing=output is None) as line:
        engine = start_engine(options)
        out.write_header(form)
        done, totals = 0, Totals(engine)
        try:
            then = partial(_with_texts, form=form, in_order=in_order)
            found = _listed(source, options, engine, line, totals if stats else None, then)
            with closing(found):
                for listed, texts in found:
                    line.clear()
                    source.warn_conflicts(listed.doubtful)
                    for text in texts:
                        out.write(text)
                    done += len(listed.boards)
                    if not source.single:
                        line.boards(done, source.share)
        except (KeyboardInterrupt, Interrupted):
            raise Interrupted(f"interrupted: {out.lines} lines written", out.lines) from None
    if stats and not source.single:
        totals.show()
    source.finish()


def _listed(
    source: Source,
    options: Options,
    engine: Engine,
    line: ProgressLine,
    totals: Totals | None,
    then: Callable[[Listed], WithTexts],
) -> Generator[WithTexts, None, None]:
    """List the boards in blocks, or each alone, with its statistics if there are totals."""
    from gpusudoku.streaming import list_batches, list_board

    if not (source.single or totals):
        yield from list_batches(source.batches(), options, engine, line.update, then)
        return
    for board in source.singles():
        show: Callable[[SearchStats], None] | None = None
        if source.single:
            line.expected = expect_listing(board[0], options, engine)
        if totals:
            show = partial(show_search, board[0]) if source.single else partial(totals.add, 1)
        with closing(list_board(board, options, engine, line.update, show)) as found:
            yield from map(then, found)


def _with_texts(listed: Listed, form: str, in_order: bool) -> WithTexts:
    """What was listed, and the texts of the solutions: made at once if those are all there."""
    solutions, geometry = listed.solutions, listed.boards.geometry
    if in_order and len(listed.boards) == 1:  # else each of the boards has its own in order
        solutions = _sorted(solutions)
    texts = (as_text(block, geometry, form) for block in solutions)
    if not isinstance(solutions, list):
        return listed, texts
    return replace(listed, solutions=[]), list(texts)  # kept until their turn, once


def _sorted(listing: Iterable[NDArray[np.uint8]]) -> list[NDArray[np.uint8]]:
    blocks, size = [], 0
    for block in listing:
        blocks.append(block)
        size += block.nbytes
        if size > SORTED_BYTES:
            raise InputError(f"--sorted: more than {size // block.shape[1]} solutions are too many")
    if not blocks:
        return []
    rows = np.ascontiguousarray(np.concatenate(blocks))
    return [rows[np.argsort(sort_keys(rows))]]
