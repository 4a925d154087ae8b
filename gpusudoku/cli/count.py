"""``gpusudoku count``: from options to counts, on stdout."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from functools import partial
from typing import Any

import click

from gpusudoku.cli.options import (
    OwnOptions,
    boards_argument,
    command_facts,
    counting,
    reading,
    searching,
)
from gpusudoku.cli.usage import Choice, Integer, Sectioned
from gpusudoku.errors import InputError
from gpusudoku.options import Options
from gpusudoku.pipeline.answers import AnswerRun, refuse_output
from gpusudoku.pipeline.messages import naming
from gpusudoku.pipeline.progress import CountLine
from gpusudoku.pipeline.records import FORMS
from gpusudoku.pipeline.run import machine_of
from gpusudoku.pipeline.settings import InputOptions, OutputOptions, WhichPart, refuse_together
from gpusudoku.pipeline.summary import show_stats
from gpusudoku.pipeline.text_forms import count_writer
from gpusudoku.results import BadBoard, ResultBlock

WANTED = {
    "unique": lambda count: count == 1,
    "multiple": lambda count: count > 1,
    "none": lambda count: count == 0,
}
"""The choices of --only, as tests of counts."""

SECTIONS = {
    "Common options": ("--limit", "--only", "--format", "--output", "--device", "--jobs"),
    "Input": ("--box", "--column", "--keep-going"),
    "Output": ("--json", "--solution", "--stats", "--log", "--exit-code", "--force", "--quiet"),
    "Method and device": ("--method", "--memory", "--cross-check", "--gpu"),
    "Search": ("--strategy", "--propagate", "--cutoff", "--cutoff-by"),
    "Long runs": ("--seconds", "--checkpoint", "--part", "--cluster"),
}
"""The options in the help."""

_WAYS = "cross-check"
"""The note of how boards were counted again."""

own = OwnOptions("count")


@click.command(cls=Sectioned, sections=SECTIONS)
@boards_argument
@counting
@searching
@own("--limit", type=Integer(min=1), metavar="N", help="Stop at N solutions, shown as N+.")
@own.seconds("The count is then N+, where N solutions were found.")
@own("--only", type=Choice(list(WANTED)), help="Write only boards with such a count.")
@own("--solution", is_flag=True, help="Also find a solution of every board: csv, tsv, jsonl.")
@own("--cross-check", is_flag=True, help="Count again in another way, if that is affordable.")
@own.part("a board's solutions, or of a batch")
@own.cluster()
@own.answers(FORMS, "[default: COUNT, or BOARD:COUNT in a batch]")
@reading
def count(
    boards: tuple[str, ...],
    reading: InputOptions,
    only: str | None,
    cross_check: bool,
    limit: int | None,
    part: WhichPart | None,
    cluster: str | None,
    **given: Any,
) -> None:
    """Count all solutions of every BOARD, exactly.

    Prints the count alone for one board, and a line BOARD:COUNT for each board of a batch, which
    ends with a summary on stderr.

    N+ means N solutions or more, with --limit N or --seconds. The limit is 2 with --only and
    --exit-code, unless you give another. With --keep-going, csv, tsv and jsonl have a record of
    each bad board, too, unless --only is given. Every board of a batch is counted by itself with
    --cross-check, and with --stats where JSON is written. Use --part to split the solutions of one
    board, which writes a JSON record, or a batch by boards.

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
    command = command_facts()
    settings = OutputOptions.take(given, command, is_part=part is not None)
    if settings.form is not None or settings.log is not None:  # else there are no records
        settings = replace(settings, errors=reading.keep_going and only is None)
    options = Options(**given, limit=_limit(limit, only, settings))
    refuse_output(settings, boards)
    if settings.solution and settings.form is None:
        raise InputError(
            "--solution needs --format csv, tsv or jsonl; solve prints solutions alone"
        )
    if options.seconds is not None:
        refuse_together("--seconds", {"--cluster": cluster, "--solution": settings.solution})
    run = AnswerRun(command, boards, reading, settings, part=part, has_record=True)
    check = None
    if cross_check:
        from gpusudoku.pipeline.counts import CrossCheck  # few counts need it

        check = CrossCheck(options)
    if run.source.board is not None and (settings.checkpoint or part or cluster):
        from gpusudoku.pipeline.counts import count_single_board

        others = {"--limit": limit, "--only": only, "--exit-code": settings.exit_code}
        others |= {"--solution": settings.solution, "--log": settings.log}
        others |= {"--seconds": options.seconds is not None}
        others |= {"--cross-check": cross_check and bool(part or cluster)}
        name = "--part" if part else "--cluster" if cluster else "--checkpoint"
        refuse_together(f"{name} of one board", others)
        count_single_board(run, options, part, cluster, check)
        return
    if cluster is not None:
        details = {"--stats with --format jsonl or --log": settings.in_detail}
        refuse_together("--cluster of a batch", {"--cross-check": cross_check, **details})
    with machine_of(cluster, options) as machine:
        line = CountLine(run.source, options, machine, settings.stats)
        is_each = run.single or settings.in_detail or check is not None
        counter = _counter(on_cluster=cluster is not None, is_each=is_each)
        work = partial(counter, options=options, engine=machine)
        writer = count_writer(
            settings, run.source.origin, single=run.single, only_boards=only is not None
        )
        if settings.form is None and not is_each and cluster is None and only is None:
            work = partial(work, lines_of=writer.text)
        wanted = None if only is None else WANTED[only]
        with (
            run.open_answers(writer, machine, "counted", line=line, wanted=wanted),
            run.blocks(work) as blocks,
        ):
            if check is not None:
                check.ways = run.notes.get(_WAYS, {})
            for results in blocks:
                if isinstance(results, BadBoard):
                    run.write_answers(results)
                    continue
                if check is not None:
                    with naming(run.source.place(results.boards)):
                        run.notes[_WAYS] = check(results)
                if settings.solution:
                    from gpusudoku.pipeline.counts import with_solutions

                    results = with_solutions(results, options)
                run.write_answers(results)
                if run.single and settings.stats:
                    show_stats(results.counts())
            if check is not None:
                check.show()


def _counter(
    *, on_cluster: bool, is_each: bool
) -> Callable[..., Generator[ResultBlock, None, None]]:
    """Choose what counts: a cluster, or this machine, each board by itself or in blocks."""
    if on_cluster:
        from gpusudoku.runs.tasks import count_batches_on

        return count_batches_on
    from gpusudoku.planning.count import count_batches, count_each

    return count_each if is_each else count_batches


def _limit(limit: int | None, only: str | None, settings: OutputOptions) -> int | None:
    """Return the limit; one that tells one solution from several where that is asked."""
    reason = "--only" if only else "--exit-code" if settings.exit_code else None
    if reason is None:
        return limit
    if limit == 1:
        raise InputError(f"{reason} needs a limit of at least 2")
    return limit or 2
