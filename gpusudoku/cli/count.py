"""``gpusudoku count``: from options to counts, on stdout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import click

from gpusudoku import formats
from gpusudoku.board.batch import Batch
from gpusudoku.board.rows import distinct_numbers
from gpusudoku.cli.answering import RECORDS, Asked, Delivery, Prepared, answering
from gpusudoku.cli.expected import expect_count, tell_looking
from gpusudoku.cli.messages import naming, note
from gpusudoku.cli.options import (
    Reading,
    boards_argument,
    counting,
    own_option,
    reading,
    searching,
)
from gpusudoku.cli.progress import ProgressLine
from gpusudoku.cli.records import Answers, Writer
from gpusudoku.cli.report import show_plan, show_stats, start_engine
from gpusudoku.cli.source import Source
from gpusudoku.errors import InputError
from gpusudoku.options import Options
from gpusudoku.results import Count, Counts

if TYPE_CHECKING:
    from gpusudoku.engines.engine import Engine
    from gpusudoku.planning.plan import Plan

WANTED = {
    "unique": lambda count: count == 1,
    "multiple": lambda count: count > 1,
    "none": lambda count: count == 0,
}
"""What --only can ask for, as a test of counts."""

own = own_option("count")


@click.command()
@boards_argument
@counting
@searching
@own("--limit", type=click.IntRange(min=1), metavar="N", help="Stop at N solutions, shown as N+.")
@own("--only", type=click.Choice(list(WANTED)), help="Write only boards with such a count.")
@own("--cross-check", is_flag=True, help="Count again in another way, if that is affordable.")
@answering("count", RECORDS, "[default: COUNT, or BOARD:COUNT in a batch]")
@reading
def count(
    boards: tuple[str, ...],
    reading: Reading,
    asked: Asked,
    only: str | None,
    cross_check: bool,
    limit: int | None,
    **fields: Any,
) -> None:
    """Count all solutions of every BOARD, exactly.

    Prints the count alone for one board, and BOARD:COUNT lines in input order for a batch, which
    ends with a summary on stderr. With --limit N, N+ means N solutions or more. --only and
    --exit-code imply --limit 2. With --cross-check, and with --stats where JSON is written, every
    board of a batch is counted separately.

    \b
    Examples:
      gpusudoku count board.txt
      gpusudoku count board.txt --device cuda --stats
      gpusudoku count board.txt --device cpu -j 16 --cross-check
      gpusudoku count @empty --method contraction
      gpusudoku count puzzles.txt --only unique > proper.txt
      gpusudoku count puzzles.csv --limit 2 --format csv > counts.csv
      gpusudoku count puzzle.txt --exit-code && echo "a proper puzzle"
    """
    options = Options(**fields, limit=_limit(limit, only, asked))
    source = Source(boards, reading)
    engine = start_engine(options)
    wanted = None if only is None else WANTED[only]
    delivery = Delivery(asked, source, engine, _Plain(only, source.single), wanted)
    check = CrossCheck(options) if cross_check else None
    found = _counted(source, options, engine, delivery, check, asked.stats)
    delivery.deliver(found, boards, "counted")


def _limit(limit: int | None, only: str | None, asked: Asked) -> int | None:
    """The limit; one that tells one solution from several where that is asked."""
    reason = "--only" if only else "--exit-code" if asked.exit_code else None
    if reason is None:
        return limit
    if limit == 1:
        raise InputError(f"{reason} needs a limit of at least 2")
    return limit or 2


def _counted(
    source: Source,
    options: Options,
    engine: Engine,
    delivery: Delivery,
    check: CrossCheck | None,
    stats: bool,
) -> Generator[Prepared, None, None]:
    """Count the boards in blocks, or each alone, and again if that is asked."""
    from gpusudoku.counting import count_batches

    watched, one = delivery.writer.watched, _One(source, engine, delivery.line, stats)
    if check is None and not delivery.alone:
        yield from count_batches(
            watched(source.batches()),
            options,
            engine,
            one,
            then=lambda results: delivery.prepare(Answers(results)),
        )
        return
    for board in watched(source.singles()):
        results = Counts.of(board, one(board, options), options.limit)
        if check is not None:
            with naming(source.place(board)):
                check(results)
        yield delivery.prepare(Answers(results))
        if source.single and stats:
            show_stats(results)
    if check is not None:
        check.tell()


class _One:
    """Counts a board by itself, with what is expected and its progress shown."""

    def __init__(self, source: Source, engine: Engine, line: ProgressLine, stats: bool) -> None:
        self._source, self._engine, self._line, self._stats = source, engine, line, stats

    def __call__(self, board: Batch, options: Options) -> Count:
        """Count the board of a batch of one."""
        from gpusudoku.planning.run import count_board

        place = self._source.place(board)

        def looking(seconds: float) -> None:
            self._line.clear()
            tell_looking(place, seconds)

        def planned(plan: Plan) -> None:
            self._line.clear()
            if self._stats and not place:
                show_plan(plan)
            self._line.expected = expect_count(plan, board[0], options, self._engine, place)

        with naming(place):
            return count_board(
                board[0],
                options,
                self._engine,
                looking=looking,
                planned=planned,
                progress=self._line.update,
            )


class _Plain(Writer):
    """Counts for those who read them, or the boards that --only asks for."""

    def __init__(self, only: str | None, single: bool) -> None:
        self._only, self._single = only is not None, single

    def text(self, answers: Answers) -> bytes:
        """A line for every board."""
        results = answers.results
        if self._only:
            return formats.write_lines(results.boards.cells)
        if self._single:
            return "".join(f"{results.text(count)}\n" for count in results.counts).encode()
        # Few boards of a block have a count that no other has.
        numbers, which = distinct_numbers(results.numbers)
        tails = [f":{results.text(number)}".encode() for number in numbers]
        return formats.write_lines(results.boards.cells, tails, which)


class CrossCheck:
    """Counts boards again another way, and remembers in which."""

    def __init__(self, options: Options) -> None:
        from gpusudoku.checking import Checker

        self._checker = Checker(options)
        self._ways = Counter[str | None]()

    def __call__(self, results: Counts) -> None:
        """Count again; raises a MismatchError if two counts differ."""
        for result in results:
            self._ways[self._checker.check(result)] += 1

    def tell(self) -> None:
        """Say how boards were counted again."""
        for way, boards in self._ways.items():
            said = f"by {way}: the same count" if way else "not done: no other way is affordable"
            total = self._ways.total()
            of = "" if total == 1 else f", {boards} of {total} boards"
            note(f"cross-check {said}{of}")
