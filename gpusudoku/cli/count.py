"""``gpusudoku count``: from options to counts, on stdout."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from gpusudoku.cli.options import (
    CommandOptions,
    boards_argument,
    command_facts,
    estimate_options,
    method_options,
    reading_options,
    search_options,
)
from gpusudoku.cli.usage import Choice, Integer, Sectioned
from gpusudoku.errors import InputError, TooExpensive
from gpusudoku.options import Options
from gpusudoku.pipeline.answers import AnswerRun, refuse_output
from gpusudoku.pipeline.messages import prefixing_errors
from gpusudoku.pipeline.progress import ESTIMATE_HINT, CountLine
from gpusudoku.pipeline.records import FORMS
from gpusudoku.pipeline.run import Run, open_engine
from gpusudoku.pipeline.settings import InputOptions, OutputOptions, PartNumber, refuse_together
from gpusudoku.pipeline.summary import show_stats
from gpusudoku.pipeline.text_forms import count_writer
from gpusudoku.results import BadBoard, ResultBlock

if TYPE_CHECKING:
    from gpusudoku.pipeline.counts import CrossCheck

COUNT_TESTS = {
    "unique": lambda count: count == 1,
    "multiple": lambda count: count > 1,
    "none": lambda count: count == 0,
}
"""The choices of --only, and the test of counts that each stands for."""

DEFAULT_OPTIONS = Options()

SECTIONS = {
    "Common options": ("--limit", "--only", "--format", "--output", "--device", "--jobs"),
    "Input": ("--box", "--column", "--keep-going"),
    "Output": ("--json", "--solution", "--stats", "--log", "--exit-code", "--force", "--quiet"),
    "Estimates": ("--estimate", "--relative-error", "--samples", "--confidence", "--seed"),
    "Method and device": ("--method", "--memory", "--cross-check", "--gpu"),
    "Search": ("--strategy", "--propagate", "--cutoff", "--cutoff-by"),
    "Long runs": ("--seconds", "--checkpoint", "--part", "--cluster"),
}
"""The options in the help, by section."""

_CHECKS = "cross-check"
"""The note of a run that says how its boards were counted again, for a resume."""

count_option = CommandOptions("count")


@click.command(cls=Sectioned, sections=SECTIONS)
@boards_argument
@method_options
@search_options
@count_option("--limit", type=Integer(min=1), metavar="N", help="Stop at N solutions, shown as N+.")
@count_option.seconds("The count is then N+ for the N solutions found so far.")
@count_option(
    "--only",
    type=Choice(list(COUNT_TESTS)),
    help="Write only the boards with one solution, with several solutions, or with none.",
)
@count_option(
    "--solution", is_flag=True, help="Add a solution of every board to csv, tsv and jsonl."
)
@count_option(
    "--cross-check",
    is_flag=True,
    help="Count again by another method and compare, unless that takes too long.",
)
@count_option.estimates(
    "the number of solutions",
    "--relative-error",
    "half the width of its interval is X times the estimate",
)
@count_option.part("the solutions of one board, or of the boards of a batch")
@count_option.cluster()
@count_option.answers(FORMS, "[default: COUNT, or BOARD:COUNT in a batch]")
@reading_options
def count(
    boards: tuple[str, ...],
    input_options: InputOptions,
    only: str | None,
    cross_check: bool,
    limit: int | None,
    part: PartNumber | None,
    cluster: str | None,
    **params: Any,
) -> None:
    """Count all solutions of every BOARD, exactly.

    For one board, print the count. For a batch, print a line BOARD:COUNT for each board, and a
    summary on stderr.

    With --estimate, print an estimate of the number of solutions and its confidence interval, such
    as ~5.96e98 (95 %: 5.90e98 to 6.02e98). It ends after 16 samples at the earliest, and up to
    25x25 after about a minute. It runs on the CPU. The same seed and number of samples always have
    the same estimate. If a short search finds all solutions, their exact number is printed.

    A count N+ means N solutions or more, because --limit N or --seconds stopped the count. With
    --only or --exit-code, the default of --limit is 2.

    With --keep-going, csv, tsv and jsonl also have a record for each unreadable board, unless
    --only is given. With --cross-check, and with --stats and JSON, the boards of a batch are
    counted one by one. --part of one board writes a JSON record.

    \b
    Examples:
      gpusudoku count board.txt
      gpusudoku count board.txt --device cuda --stats
      gpusudoku count board.txt --device cpu -j 16 --cross-check
      gpusudoku count @empty --method contraction
      gpusudoku count @empty --estimate
      gpusudoku count board.txt --cluster tcp://host:8786
      gpusudoku count puzzles.txt --only unique > proper.txt
      gpusudoku count puzzles.csv --limit 2 --format csv -o counts.csv
      gpusudoku count board.txt --part 3/100 -o part3.json
      gpusudoku count board.txt --checkpoint run.sqlite
      gpusudoku count puzzle.txt --exit-code && echo "a proper puzzle"
    """
    # Options that contradict each other are refused before any board is read.
    command = command_facts()
    output_options = OutputOptions.from_params(params, command, is_part=part is not None)
    excluded_by_estimate = {
        "--limit": limit,
        "--only": only,
        "--exit-code": output_options.exit_code,
        "--solution": output_options.solution,
        "--log": output_options.log,
        "--cross-check": cross_check,
        "--part": part,
        "--cluster": cluster,
        "--device cuda": params["device"] == "cuda",
        "--gpu": params["gpus"],
    }
    for name in ("method", "memory", "strategy", "propagate", "cutoff", "cutoff_by"):
        is_default = params[name] == getattr(DEFAULT_OPTIONS, name)
        excluded_by_estimate[f"--{name.replace('_', '-')}"] = not is_default
    estimating = estimate_options(params, params["seconds"], excluded_by_estimate)
    if estimating is not None:
        from gpusudoku.pipeline.estimates import estimate_boards

        run = Run(command, boards, input_options, output_options)
        estimate_boards(run, estimating, Options(**params))
        return
    has_records = output_options.form is not None or output_options.log is not None
    if has_records:
        # --only selects boards by their counts, and an unreadable board has no count.
        errors = input_options.keep_going and only is None
        output_options = replace(output_options, errors=errors)
    options = Options(**params, limit=_effective_limit(limit, only, output_options))
    refuse_output(output_options, boards)
    if output_options.solution and output_options.form is None:
        raise InputError(
            "--solution needs --format csv, tsv or jsonl; solve prints solutions alone"
        )
    if options.seconds is not None:
        refuse_together("--seconds", {"--cluster": cluster, "--solution": output_options.solution})

    run = AnswerRun(command, boards, input_options, output_options, part=part, has_record=True)
    check = None
    if cross_check:
        from gpusudoku.pipeline.counts import CrossCheck  # imported late: few counts need it

        check = CrossCheck(options)

    # One board is counted in tasks if its progress is saved or its work is distributed. This path
    # writes nothing but the count.
    if run.source.board is not None and (output_options.checkpoint or part or cluster):
        from gpusudoku.pipeline.counts import count_single_board

        name = "--part" if part else "--cluster" if cluster else "--checkpoint"
        incompatible = {
            "--limit": limit,
            "--only": only,
            "--exit-code": output_options.exit_code,
            "--solution": output_options.solution,
            "--log": output_options.log,
            "--seconds": options.seconds is not None,
            "--cross-check": cross_check and bool(part or cluster),
        }
        refuse_together(f"{name} of one board", incompatible)
        count_single_board(run, options, part, cluster, check)
        return

    if cluster is not None:
        incompatible = {
            "--cross-check": cross_check,
            "--stats with --format jsonl or --log": output_options.in_detail,
        }
        refuse_together("--cluster of a batch", incompatible)
    try:
        _count_boards(run, options, cluster, only, check)
    except TooExpensive as error:
        hint = f"; {ESTIMATE_HINT}" if limit is None and cluster is None else ""
        raise TooExpensive(f"{error}{hint}", error.seconds) from None


def _count_boards(
    run: AnswerRun,
    options: Options,
    cluster: str | None,
    only: str | None,
    check: CrossCheck | None,
) -> None:
    """Count all boards of a run in blocks, and write the answers."""
    output_options = run.settings
    counts_each = run.single or output_options.in_detail or check is not None
    with open_engine(cluster, options) as engine:
        writer = count_writer(
            output_options, run.source.input_source, single=run.single, only_boards=only is not None
        )
        counter = _counter(on_cluster=cluster is not None, counts_each=counts_each)
        work = partial(counter, options=options, engine=engine)
        if output_options.form is None and not counts_each and cluster is None and only is None:
            # Plain lines depend on the counts alone, so the threads that count write them.
            work = partial(work, lines_of=writer.text)
        is_wanted = None if only is None else COUNT_TESTS[only]
        line = CountLine(run.source, options, engine, output_options.stats)
        with (
            run.open_answers(writer, engine, "counted", line=line, selects=is_wanted),
            run.blocks(work) as blocks,
        ):
            if check is not None:
                check.ways = run.notes.get(_CHECKS, {})  # of the boards before a resume
            for results in blocks:
                if isinstance(results, BadBoard):
                    run.write_answers(results)
                    continue
                if check is not None:
                    # The error for two different counts begins with the name of the board.
                    with prefixing_errors(run.source.place(results.boards)):
                        run.notes[_CHECKS] = check(results)
                if output_options.solution:
                    # A contraction visits no solution, so one is searched after the count.
                    from gpusudoku.pipeline.counts import with_solutions

                    results = with_solutions(results, options)
                run.write_answers(results)
                if run.single and output_options.stats:
                    show_stats(results.counts())
            if check is not None:
                check.show()


def _counter(
    *, on_cluster: bool, counts_each: bool
) -> Callable[..., Generator[ResultBlock, None, None]]:
    """Choose the function that counts: on a cluster, board by board, or in blocks."""
    if on_cluster:
        from gpusudoku.runs.tasks import count_batches_on

        return count_batches_on
    from gpusudoku.planning.count import count_batches, count_each

    return count_each if counts_each else count_batches


def _effective_limit(
    limit: int | None, only: str | None, output_options: OutputOptions
) -> int | None:
    """Return the limit; 2 by default if it must only be known whether a solution is unique."""
    if only is not None:
        option_name = "--only"
    elif output_options.exit_code:
        option_name = "--exit-code"
    else:
        return limit
    if limit == 1:
        raise InputError(f"{option_name} needs a limit of at least 2")
    return limit or 2
