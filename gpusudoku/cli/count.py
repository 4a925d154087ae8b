"""``gpusudoku count``: from options to counts, on stdout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import click
import numpy as np

from gpusudoku.cli.answering import Delivery, Prepared
from gpusudoku.cli.answers import Answers, Plain
from gpusudoku.cli.asked import Asked, answering
from gpusudoku.cli.clustering import machine_of
from gpusudoku.cli.in_tasks import InTasks, count_in_tasks, in_tasks
from gpusudoku.cli.journal import refuse_besides_checkpoint
from gpusudoku.cli.messages import naming, note
from gpusudoku.cli.options import (
    Reading,
    boards_argument,
    counting,
    own_option,
    reading,
    searching,
)
from gpusudoku.cli.parts import parted_answers
from gpusudoku.cli.progress import CountLine
from gpusudoku.cli.records import FORMS
from gpusudoku.cli.report import show_stats, warn_of_device
from gpusudoku.cli.source import Source
from gpusudoku.cli.usage import Choice, Integer, Sectioned
from gpusudoku.errors import InputError
from gpusudoku.options import Options
from gpusudoku.results import Count, Counts
from gpusudoku.runs.parts.records import search_facts

if TYPE_CHECKING:
    from gpusudoku.engines.engine import Engine
    from gpusudoku.runs.cluster.machine import OnCluster

WANTED = {
    "unique": lambda count: count == 1,
    "multiple": lambda count: count > 1,
    "none": lambda count: count == 0,
}
"""What --only can ask for, as a test of counts."""

SECTIONS = {
    "Common options": ("--limit", "--only", "--format", "--output", "--device", "--jobs"),
    "Input": ("--box", "--column", "--keep-going"),
    "Output": ("--json", "--solution", "--stats", "--log", "--exit-code", "--force", "--quiet"),
    "Method and device": ("--method", "--memory", "--cross-check", "--gpu"),
    "Search": ("--strategy", "--propagate", "--cutoff", "--cutoff-by"),
    "Long runs": ("--checkpoint", "--part", "--cluster"),
}
"""The options in the help."""

own = own_option("count")


@click.command(cls=Sectioned, sections=SECTIONS)
@boards_argument
@counting
@searching
@own("--limit", type=Integer(min=1), metavar="N", help="Stop at N solutions, shown as N+.")
@own("--only", type=Choice(list(WANTED)), help="Write only boards with such a count.")
@own("--solution", is_flag=True, help="Also find a solution of every board: csv, tsv, jsonl.")
@own("--cross-check", is_flag=True, help="Count again in another way, if that is affordable.")
@in_tasks
@answering("count", FORMS, "[default: COUNT, or BOARD:COUNT in a batch]")
@reading
def count(
    boards: tuple[str, ...],
    reading: Reading,
    asked: Asked,
    only: str | None,
    solution: bool,
    cross_check: bool,
    limit: int | None,
    tasks: InTasks,
    **fields: Any,
) -> None:
    """Count all solutions of every BOARD, exactly.

    Prints the count alone for one board, and BOARD:COUNT lines in input order for a batch, which
    ends with a summary on stderr. With --limit N, N+ means N solutions or more. --only and
    --exit-code imply --limit 2. With --cross-check, and with --stats where JSON is written, every
    board of a batch is counted separately. With --keep-going, csv, tsv and jsonl have a record of
    each bad board, too, unless --only is given. --part splits the solutions of one board, and
    writes a JSON record, or a batch by boards.

    \b
    Examples:
      gpusudoku count board.txt
      gpusudoku count board.txt --device cuda --stats
      gpusudoku count board.txt --device cpu -j 16 --cross-check
      gpusudoku count @empty --method contraction
      gpusudoku count board.txt --cluster tcp://host:8786
      gpusudoku count puzzles.txt --only unique > proper.txt
      gpusudoku count puzzles.csv --limit 2 --format csv -o counts.csv
      gpusudoku count board.txt --part 3/100 -o part3.json
      gpusudoku count board.txt --checkpoint run.sqlite
      gpusudoku count puzzle.txt --exit-code && echo "a proper puzzle"
    """
    options = Options(**fields, limit=_limit(limit, only, asked))
    asked.refuse(boards)
    if solution and asked.form is None:
        raise InputError(
            "--solution needs --format csv, tsv or jsonl; solve prints solutions alone"
        )
    refuse_besides_checkpoint(asked.checkpoint, {"--cross-check": cross_check})
    asked = replace(asked, solution=solution, errors=reading.keep_going and only is None)
    source = Source(boards, reading, kept=bool(asked.checkpoint or tasks.part))
    if source.board is not None and (asked.checkpoint or tasks.are_asked):
        others = {"--limit": limit, "--only": only, "--exit-code": asked.exit_code}
        others |= {"--solution": solution}
        others |= {"--cross-check": cross_check, "--log": asked.log}
        tasks.refuse(others)
        count_in_tasks(source, options, asked, tasks, boards)
        return
    each = asked.stats and (asked.form == "jsonl" or asked.log is not None)
    others = {"--cross-check": cross_check, "--stats with --format jsonl or --log": each}
    tasks.refuse_for_batch(others)
    facts = {**search_facts(options), "only": only, "solution": solution}
    parted = parted_answers(tasks.part, "count", source, asked, facts)
    wanted = None if only is None else WANTED[only]
    with machine_of(tasks.cluster, options) as engine:
        line = CountLine(source, options, engine, asked.stats)
        delivery = Delivery(asked, source, engine, Plain(only, source.single), wanted, parted, line)
        check = CrossCheck(options) if cross_check else None
        answers = partial(_with_solutions, options=options) if solution else Answers
        here, stats = tasks.cluster is None, asked.stats
        if check is None and not delivery.alone:
            found = _counted(source, options, engine, here, delivery, answers)
        else:
            found = _counted_alone(source, options, engine, here, delivery, answers, check, stats)
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
    machine: Engine,
    here: bool,
    delivery: Delivery,
    answers: Callable[[Counts], Answers],
) -> Generator[Prepared, None, None]:
    """Count the boards in blocks, here or on a cluster."""

    def prepared(results: Counts) -> Prepared:
        return delivery.prepare(answers(results))

    batches = delivery.watched(source.batches())
    if here:
        from gpusudoku.planning.batch import count_work

        yield from count_work(options, machine).then(prepared).on(batches)
        return
    from gpusudoku.runs.cluster.batches import count_batches_on

    with closing(count_batches_on(batches, options, cast("OnCluster", machine))) as counted:
        yield from map(prepared, counted)


def _counted_alone(
    source: Source,
    options: Options,
    machine: Engine,
    here: bool,
    delivery: Delivery,
    answers: Callable[[Counts], Answers],
    check: CrossCheck | None,
    stats: bool,
) -> Generator[Prepared, None, None]:
    """Count each board by itself, and again if that is asked."""
    from gpusudoku.planning.batch import count_alone

    count: Callable[..., Count] = count_alone
    if not here:
        from gpusudoku.runs.cluster.batches import count_by_all as count
    for board in source.singles(delivery.watched):
        results = Counts.of(board, count(board, options, machine), options.limit)
        if check is not None:
            with naming(source.place(board)):
                check(results)
        yield delivery.prepare(answers(results))
        if source.single and stats:
            show_stats(results)
    if check is not None:
        check.tell()


def _with_solutions(results: Counts, options: Options) -> Answers:
    """Find a solution of every board that has one, in the thread that calls."""
    from gpusudoku.engines.cpu import CpuEngine
    from gpusudoku.planning.batch import find_solutions

    boards, limited = results.boards, replace(options, limit=1)
    solutions, solvable = np.zeros_like(boards.cells), np.flatnonzero(results.numbers > 0)
    if len(solvable):
        some = boards.chosen(results.numbers > 0)
        rows, roots, _ = find_solutions(some, limited, CpuEngine(1))
        solutions[solvable[roots]] = rows
    return Answers(results, solutions)


class CrossCheck:
    """Counts boards again another way, and remembers in which."""

    def __init__(self, options: Options) -> None:
        from gpusudoku.checking import Checker

        self._checker = Checker(options, warn_of_device)
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
