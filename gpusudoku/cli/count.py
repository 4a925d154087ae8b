"""``gpusudoku count``: from options to counts, as lines or JSON, on stdout."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from gpusudoku import formats
from gpusudoku.cli.messages import note
from gpusudoku.cli.options import (
    Reading,
    boards_argument,
    counting,
    option,
    reading,
    searching,
    statistics,
)
from gpusudoku.cli.output import Output, open_log
from gpusudoku.cli.progress import ProgressLine
from gpusudoku.cli.report import show_plan, show_stats, start_engine
from gpusudoku.cli.source import Source, warn_conflicts
from gpusudoku.errors import InputError, Interrupted
from gpusudoku.options import Options
from gpusudoku.results import Counts

if TYPE_CHECKING:
    from gpusudoku.engines.engine import Engine
    from gpusudoku.planning.plan import Plan

WANTED = {
    "unique": lambda count: count == 1,
    "multiple": lambda count: count > 1,
    "none": lambda count: count == 0,
}
"""What --only can ask for, as a test of counts."""


@click.command()
@boards_argument
@counting
@searching
@option(
    "--limit", type=click.IntRange(min=1), metavar="N", help="Stop at N solutions, shown as N+."
)
@option("--only", type=click.Choice(list(WANTED)), help="Print only boards with such a count.")
@option("--cross-check", is_flag=True, help="Count again in another way, if that is affordable.")
@statistics
@option("--json", "as_json", is_flag=True, help="One JSON object per board; counts are strings.")
@option("--log", metavar="FILE", help="Append a JSON line for every board to FILE.")
@reading
def count(
    boards: tuple[str, ...],
    reading: Reading,
    only: str | None,
    cross_check: bool,
    stats: bool,
    as_json: bool,
    log: str | None,
    **fields: Any,
) -> None:
    """Count all solutions of every BOARD, exactly.

    Prints the count alone for one board, and BOARD:COUNT lines in input order for a batch. With
    --limit N, N+ means N solutions or more. With --stats, --json, --log or --cross-check every
    board of a batch is counted and measured separately.

    \b
    Examples:
      gpusudoku count board.txt
      gpusudoku count board.txt --device cuda --stats
      gpusudoku count board.txt --device cpu -j 16 --cross-check
      gpusudoku count @empty --method contraction
      gpusudoku count puzzles.txt --only unique > proper.txt
      gpusudoku count @2f --json
    """
    options = Options(**fields) if only is None else _enough_for_only(fields)
    source = Source(boards, reading)
    engine = start_engine(options)
    form = "json" if as_json else "board" if only else "count" if source.single else "line"
    alone = stats or as_json or log is not None or cross_check or source.single
    check = CrossCheck(options)
    done = 0
    with open_log(log, boards) as log_file, ProgressLine() as line:
        out = Output(None, False, boards)
        try:
            for results in _counted(source, options, engine, line, alone, stats):
                line.clear()
                counts = np.array(results.counts)
                warn_conflicts(results.boards.chosen(counts == 0), source.single)
                if cross_check:
                    check(results)
                if log_file is not None:
                    log_file.write(_as_json(results))
                wanted = results if only is None else results.chosen(WANTED[only](counts))
                out.write(WRITERS[form](wanted))
                done += len(counts)
                if stats:
                    show_stats(results)
                line.boards(done)
        except (KeyboardInterrupt, Interrupted) as error:
            if source.single and isinstance(error, Interrupted):
                raise
            raise Interrupted(f"interrupted: {done} boards counted", done) from None
    if cross_check:
        check.tell()
    source.finish()


def _enough_for_only(fields: dict[str, Any]) -> Options:
    """The options with a limit that tells one solution from several."""
    options = Options(**fields | {"limit": fields["limit"] or 2})
    if options.limit == 1:
        raise InputError("--only needs a limit of at least 2")
    return options


def _counted(
    source: Source,
    options: Options,
    engine: Engine,
    line: ProgressLine,
    alone: bool,
    stats: bool,
) -> Iterator[Counts]:
    """Count the boards in blocks, or each alone, with its progress and its plan shown."""
    from gpusudoku.counting import count_batches
    from gpusudoku.planning.run import count_board

    if not alone:
        yield from count_batches(source.batches(), options, engine)
        return

    def planned(plan: Plan) -> None:
        line.clear()
        show_plan(plan, stats)

    for board in source.singles():
        result = count_board(board[0], options, engine, planned=planned, progress=line.update)
        yield Counts.of(board, result, options.limit)


def _as_counts(results: Counts) -> str:
    return "".join(f"{result}\n" for result in results)


def _as_boards(results: Counts) -> str:
    return formats.write_lines(results.boards.cells)


def _as_lines(results: Counts) -> str:
    """Write ``BOARD:COUNT`` lines; few boards of a block have a count that no other has."""
    numbers, which = np.unique(np.array(results.counts), return_inverse=True)
    texts = [
        f":{number}" if results.is_exact(number) else f":{number}+" for number in numbers.tolist()
    ]
    return formats.write_lines(results.boards.cells, np.array(texts, np.bytes_)[which])


def _as_json(results: Counts) -> str:
    return "".join(f"{json.dumps(result.as_dict())}\n" for result in results)


WRITERS: dict[str, Callable[[Counts], str]] = {
    "count": _as_counts,
    "board": _as_boards,
    "line": _as_lines,
    "json": _as_json,
}
"""How results are written, whatever their number."""


class CrossCheck:
    """Counts boards again another way, and remembers in which."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._ways = Counter[str | None]()

    def __call__(self, results: Counts) -> None:
        """Count again; raises a MismatchError if two counts differ."""
        from gpusudoku.counting import check_again

        for result in results:
            self._ways[check_again(result, self._options)] += 1

    def tell(self) -> None:
        """Say how boards were counted again."""
        for way, boards in self._ways.items():
            said = f"by {way}: the same count" if way else "not done: no other way is affordable"
            total = self._ways.total()
            of = "" if total == 1 else f", {boards} of {total} boards"
            note(f"cross-check {said}{of}")
