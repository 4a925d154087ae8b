"""``gpusudoku enumerate``: all solutions, streamed, or those that are asked for by number."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from gpusudoku.cli.enumerating import Listing, facts_of_listing
from gpusudoku.cli.grids import Writer, solution_form, solution_writer
from gpusudoku.cli.journal import UNANSWERED, Journal, goes_on, refuse_besides_checkpoint
from gpusudoku.cli.numbers import Chosen, WhichPart, number_of
from gpusudoku.cli.options import (
    Reading,
    boards_argument,
    checkpoint,
    method,
    output_file,
    own_option,
    reading,
    searching,
    statistics,
)
from gpusudoku.cli.parts import Parted, part_option
from gpusudoku.cli.report import Totals, start_engine
from gpusudoku.cli.saving import journaled
from gpusudoku.cli.source import Source
from gpusudoku.cli.usage import Integer
from gpusudoku.errors import TooExpensive
from gpusudoku.options import Options
from gpusudoku.runs.parts.records import search_facts

if TYPE_CHECKING:
    from gpusudoku.board.batch import Batch
    from gpusudoku.cli.steps import Steps

own = own_option("enumerate")


@click.command("enumerate")
@boards_argument
@searching
@method
@own(
    "--limit",
    type=Integer(min=1),
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
@part_option("enumerate", "the list, or of a batch")
@solution_form("enumerate")
@output_file("enumerate")
@checkpoint("enumerate")
@statistics("enumerate")
@reading
def enumerate_(
    boards: tuple[str, ...],
    reading: Reading,
    output: str | None,
    force: bool,
    checkpoint: str | None,
    form: str,
    in_order: bool,
    first: int | None,
    last: int | None,
    part: WhichPart | None,
    stats: bool,
    **fields: Any,
) -> None:
    """List all solutions of every BOARD, streamed in constant memory.

    Only whole lines are written, whatever happens. The order of solutions:

    \b
      a 9x9 board        the same every time, without a search; --limit N lists
                         the first N, all --part together are exactly this list
      other boards, and all with --method search or --device cuda
                         as the search finds them: fixed with -j 1, any with more
                         threads
      --sorted, --from, --to
                         ascending
      a batch            boards in input order, their solutions ascending where
                         they are few; a --part has whole boards

    \b
    Examples:
      gpusudoku enumerate board.txt | head
      gpusudoku enumerate board.txt -o solutions.txt --sorted
      gpusudoku enumerate board.txt --limit 1000 --format csv
      gpusudoku enumerate @empty --from 1000000000000 --to 1000000001000
      gpusudoku enumerate @2f --part 3/100 -o part3.txt
      gpusudoku enumerate @2f -o solutions.txt --checkpoint list.run
    """
    options = Options(**fields)
    source, writer = Source(boards, reading, kept=bool(checkpoint or part)), solution_writer(form)
    chosen = Chosen(in_order, first, last, part if source.single else None, options.limit)
    refuse_besides_checkpoint(checkpoint, {"--stats": stats})
    own = search_facts(options) | {"order": chosen.order, "from": first, "to": last, "format": form}
    steps = None if checkpoint is None else _steps(source.board, options, chosen)
    parted = part and Parted(part, "enumerate", source, own, output, force or goes_on(checkpoint))
    if parted is not None:
        parted.take_boards()
    tasks, facts = None if steps is None else steps.portion, facts_of_listing(options)
    with journaled(checkpoint, (output, force), boards, facts, tasks) as journal:
        engine = start_engine(options)
        journal.output.write_header(writer.header)
        totals = Totals(engine) if stats else None
        listing = Listing(source, options, chosen, engine, journal, writer, totals)
        with listing.line, journal.output.telling_lines(journal.hint):
            if steps is None:
                _write(listing, journal, source)
            else:
                steps.write(journal, engine, writer, listing)
        listing.tell_beyond()
        if totals is not None and not source.single:
            totals.show()
        if parted is None and checkpoint is None:
            source.finish()  # a file is not made for want of any answer
    _record(parted, listing, writer, source)
    source.finish()


def _record(parted: Parted | None, listing: Listing, writer: Writer, source: Source) -> None:
    """Write the record of a part, if it is one, with the tasks that it turned out to have."""
    if parted is None:
        return
    if listing.tasks is not None:
        parted.take_tasks(*listing.tasks)
    elif source.board is not None:
        parted.take(listing.numbered(source.board).part(1, 1)[1], "solutions")
    parted.record_lines(writer.header())


def _steps(board: Batch | None, options: Options, chosen: Chosen) -> Steps | None:
    """The search of a single board, which is kept track of in steps; None if it is listed else."""
    from gpusudoku.cli.steps import steps_of

    return steps_of(board, options, chosen)


def _write(listing: Listing, journal: Journal, source: Source) -> None:
    """Write all solutions; why those of a board are not listed is said on stderr."""
    line, done = listing.line, journal.start.boards
    source.lacks_answers = bool(journal.notes.get(UNANSWERED))
    with closing(listing.all()) as found:
        for listed, texts in found:
            line.clear()
            source.warn_conflicts(listed.doubtful)
            try:
                for text, lines, solutions, again in texts:
                    journal.output.write(text, lines)
                    journal.found += solutions
                    if again:
                        journal.advance(solutions=solutions)
            except TooExpensive as error:
                line.clear()
                source.unanswered(error)
                journal.notes[UNANSWERED] = True
            done += len(listed.boards)
            journal.advance(boards=len(listed.boards))
            if not source.single:
                line.boards(done, source.share)
