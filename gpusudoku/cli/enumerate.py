"""``gpusudoku enumerate``: all solutions, streamed, or those that are asked for by number."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import click

from gpusudoku.cli.enumerating import Listing
from gpusudoku.cli.grids import solution_form, solution_writer
from gpusudoku.cli.numbers import Chosen, Part, number_of, part_of
from gpusudoku.cli.options import (
    Reading,
    boards_argument,
    method,
    output_file,
    own_option,
    reading,
    searching,
    statistics,
)
from gpusudoku.cli.output import Output
from gpusudoku.cli.progress import ProgressLine
from gpusudoku.cli.report import Totals, start_engine
from gpusudoku.cli.source import Source
from gpusudoku.errors import Interrupted, TooExpensive
from gpusudoku.options import Options

own = own_option("enumerate")


@click.command("enumerate")
@boards_argument
@searching
@method
@own(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="List at most N solutions of each board.",
)
@own("--sorted", "in_order", is_flag=True, help="In ascending order.")
@own(
    "--from",
    "first",
    callback=number_of,
    metavar="K",
    help="In ascending order, from number K on, counted from 0.",
)
@own(
    "--to",
    "last",
    callback=number_of,
    metavar="L",
    help="In ascending order, up to number L, L itself excluded.",
)
@own(
    "--part",
    callback=part_of,
    metavar="I/N",
    help="Part I of N parts of the same size, I from 1 to N: for many machines.",
)
@solution_form("enumerate")
@output_file("enumerate")
@statistics("enumerate")
@reading
def enumerate_(
    boards: tuple[str, ...],
    reading: Reading,
    output: str | None,
    force: bool,
    form: str,
    in_order: bool,
    first: int | None,
    last: int | None,
    part: Part | None,
    stats: bool,
    **fields: Any,
) -> None:
    """List all solutions of every BOARD, streamed in constant memory.

    A 9x9 board is listed without a search, in an order that is the same every time; all --part
    together, one after the other, are exactly this list. Other boards, and those with a --limit of
    at most 10,000, --method search or --device cuda, are searched, and solutions come as they are
    found: in a fixed order with -j 1, in any order with more threads. --sorted, --from and --to
    list in ascending order. Boards of a batch come in input order, in ascending order where they
    have few solutions, and --part divides each. Only whole lines are written, whatever happens.

    \b
    Examples:
      gpusudoku enumerate board.txt | head
      gpusudoku enumerate board.txt -o solutions.txt --sorted
      gpusudoku enumerate board.txt --limit 1000 --format csv
      gpusudoku enumerate @empty --from 1000000000000 --to 1000000001000
      gpusudoku enumerate @2f --part 3/100 -o part3.txt
    """
    options = Options(**fields)
    chosen = Chosen(in_order, first, last, part, options.limit)
    source, writer = Source(boards, reading), solution_writer(form)
    with Output(output, force, boards) as out, ProgressLine(listing=out.to_stdout) as line:
        engine = start_engine(options)
        out.write_header(writer.header)
        totals, done = Totals(engine), 0
        counted = totals if stats else None
        listing = Listing(source, options, chosen, engine, line, writer, counted)
        try:
            with closing(listing.all()) as found:
                for listed, texts in found:
                    line.clear()
                    source.warn_conflicts(listed.doubtful)
                    try:
                        for text in texts:
                            out.write(text, writer.lines(text, listed.boards.geometry))
                    except TooExpensive as error:
                        line.clear()
                        source.unanswered(error)
                    done += len(listed.boards)
                    if not source.single:
                        line.boards(done, source.share)
        except (KeyboardInterrupt, Interrupted):
            raise Interrupted(f"interrupted: {out.lines} lines written", out.lines) from None
        line.clear()
        listing.tell_beyond()
        if stats and not source.single:
            totals.show()
        source.finish()
