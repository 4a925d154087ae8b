"""``gpusudoku count``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import compress
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray

from gpusudoku import formats
from gpusudoku.board.geometry import Geometry
from gpusudoku.cli.options import boards_argument, counting, option, reading, searching, statistics
from gpusudoku.cli.output import Output, open_log
from gpusudoku.cli.progress import ProgressLine
from gpusudoku.cli.report import show_choice, show_stats, start_engine
from gpusudoku.cli.source import Source, warn_conflicts
from gpusudoku.errors import InputError
from gpusudoku.jobs.job import Interrupted
from gpusudoku.options import Options
from gpusudoku.results import Count, Counts

if TYPE_CHECKING:
    from gpusudoku.engines import Engine
    from gpusudoku.planning.choose import Choice

WANTED = {
    "unique": lambda count: count == 1,
    "multiple": lambda count: count > 1,
    "none": lambda count: count == 0,
}


@click.command()
@boards_argument
@counting
@searching
@option("--limit", type=click.IntRange(min=1), metavar="N", help="Stop at N solutions; shows N+.")
@option("--only", type=click.Choice(list(WANTED)), help="Print just the boards with so many.")
@option("--cross-check", is_flag=True, help="Count again another way, where affordable.")
@statistics
@option("--json", "as_json", is_flag=True, help="One JSON object a board; counts are strings.")
@option("--log", metavar="FILE", help="Append one JSON line a board to FILE.")
@reading
def count(
    boards: tuple[str, ...],
    box: Geometry | None,
    keep_going: bool,
    only: str | None,
    cross_check: bool,
    stats: bool,
    as_json: bool,
    log: str | None,
    **options: Any,
) -> None:
    """Count all solutions of every BOARD, exactly.

    Prints the count alone for one board, and BOARD:COUNT lines in input order for a batch. With
    --limit N, N+ means N solutions or more. With --stats, --json, --log or --cross-check every
    board of a batch is counted, and measured, on its own.

    \b
    Examples:
      gpusudoku count board.txt
      gpusudoku count board.txt --device cuda --stats
      gpusudoku count board.txt --device cpu -j 16 --cross-check
      gpusudoku count @empty --method contraction
      gpusudoku count puzzles.txt --only unique > proper.txt
      gpusudoku count @2f --json
    """
    if only is not None:
        options["limit"] = options["limit"] or 2
        if options["limit"] < 2:
            raise InputError("--only needs a limit of at least 2")
    from gpusudoku.counting import count_batches

    settings = Options(**options)
    source = Source(boards, box, keep_going)
    engine = start_engine(settings)
    alone = stats or as_json or log is not None or cross_check or source.single
    done, ways = 0, Counter[str | None]()
    with open_log(log, boards) as log_file, ProgressLine() as line:
        out = Output(None, False, boards)
        try:
            for results in (
                _one_by_one(source, engine, options, line, stats)
                if alone
                else count_batches(source.batches(), engine=engine, **options)
            ):
                line.clear()
                counts = np.array(results.counts)
                warn_conflicts(results.boards.chosen(counts == 0))
                for result in results if alone else ():
                    if cross_check:
                        ways[_counted_again(result, options)] += 1
                    if log_file is not None:
                        print(json.dumps(result.as_dict()), file=log_file, flush=True)
                wanted = counts >= 0 if only is None else WANTED[only](counts)
                if as_json:
                    out.write(_records(results, wanted))
                elif only is not None:
                    out.write(formats.write_lines(results.boards.cells[wanted]))
                elif source.single:
                    out.write("".join(f"{result}\n" for result in results))
                else:
                    out.write(formats.write_lines(results.boards.cells, _tails(results, counts)))
                done += len(results)
                for result in results if stats else ():
                    show_stats(result)
                line.boards(done)
        except (KeyboardInterrupt, Interrupted) as error:
            if source.single and isinstance(error, Interrupted):
                raise
            raise Interrupted(f"interrupted: {done} boards counted", done) from None
    if cross_check:
        _tell_ways(ways)
    source.finish()


def _one_by_one(
    source: Source, engine: Engine, options: dict[str, Any], line: ProgressLine, stats: bool
) -> Iterator[Counts]:
    from gpusudoku.counting import count

    def chosen(choice: Choice) -> None:
        line.clear()
        show_choice(choice, stats)

    for board in source:
        result = count(board, engine=engine, chosen=chosen, progress=line.update, **options)
        yield Counts.of(result, options["limit"])


def _records(results: Counts, wanted: NDArray[np.bool_]) -> str:
    chosen = compress(results, wanted)
    return "".join(f"{json.dumps(result.as_dict())}\n" for result in chosen)


def _tails(results: Counts, counts: NDArray[Any]) -> NDArray[np.bytes_]:
    """Return ``:COUNT`` for every board; few boards of a block have a count that no other has."""
    numbers, which = np.unique(counts, return_inverse=True)
    texts = [
        f":{number}" if results.is_exact(number) else f":{number}+" for number in numbers.tolist()
    ]
    return np.array(texts, np.bytes_)[which]


def _tell_ways(ways: Counter[str | None]) -> None:
    """Say how boards were counted again."""
    for way, boards in ways.items():
        said = f"by {way}: the same count" if way else "not done: no other way is affordable"
        of = "" if ways.total() == 1 else f", {boards} of {ways.total()} boards"
        click.echo(f"gpusudoku: cross-check {said}{of}", err=True)


def _counted_again(result: Count, options: dict[str, Any]) -> str | None:
    from gpusudoku.counting import cross_check

    return cross_check(result, **options)
