"""``gpusudoku count``: from options to counts, on stdout."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from gpusudoku.cli.options import (
    answer_options,
    boards_argument,
    cluster_option,
    command_facts,
    counting,
    machine_of,
    own_option,
    part_option,
    reading,
    searching,
    seconds_option,
    warn_of_device,
)
from gpusudoku.cli.usage import Choice, Integer, Sectioned
from gpusudoku.errors import InputError, Interrupted
from gpusudoku.iterating import with_bad_boards
from gpusudoku.options import Options
from gpusudoku.pipeline.checkpoint import refuse_output, refuse_same
from gpusudoku.pipeline.identity import place_facts, setup_of_command
from gpusudoku.pipeline.messages import naming, note
from gpusudoku.pipeline.output import Output, refuse
from gpusudoku.pipeline.progress import CountLine
from gpusudoku.pipeline.records import FORMS
from gpusudoku.pipeline.settings import (
    CommandFacts,
    InputOptions,
    OutputOptions,
    WhichPart,
    check_part_name,
)
from gpusudoku.pipeline.sink import open_answer_sink
from gpusudoku.pipeline.source import Source
from gpusudoku.pipeline.summary import show_stats
from gpusudoku.pipeline.text_forms import AnswerRecords, AnswerWriter, PlainCounts
from gpusudoku.results import BadBoard, ResultBlock, decimal_digits

if TYPE_CHECKING:
    from gpusudoku.runs.store import RunStore

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

own = own_option("count")


@click.command(cls=Sectioned, sections=SECTIONS)
@boards_argument
@counting
@searching
@own("--limit", type=Integer(min=1), metavar="N", help="Stop at N solutions, shown as N+.")
@seconds_option("count")
@own("--only", type=Choice(list(WANTED)), help="Write only boards with such a count.")
@own("--solution", is_flag=True, help="Also find a solution of every board: csv, tsv, jsonl.")
@own("--cross-check", is_flag=True, help="Count again in another way, if that is affordable.")
@part_option("count", "a board's solutions, or of a batch")
@cluster_option("count")
@answer_options("count", FORMS, "[default: COUNT, or BOARD:COUNT in a batch]")
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
    asked = OutputOptions.take(given, command, is_part=part is not None)
    if asked.form is not None or asked.log is not None:  # else there are no records
        asked = replace(asked, errors=reading.keep_going and only is None)
    options = Options(**given, limit=_limit(limit, only, asked))
    refuse_output(asked, boards)
    if asked.solution and asked.form is None:
        raise InputError(
            "--solution needs --format csv, tsv or jsonl; solve prints solutions alone"
        )
    if options.seconds is not None:
        asked.refuse_with("--seconds", {"--cluster": cluster, "--solution": asked.solution})
    source = Source(boards, reading, asked, saved=part is not None)
    if part is not None:
        check_part_name(asked.output, is_record=source.single)
    check = CrossCheck(options) if cross_check else None
    if source.board is not None and (asked.checkpoint or part or cluster):
        others = {"--limit": limit, "--only": only, "--exit-code": asked.exit_code}
        others |= {"--solution": asked.solution, "--log": asked.log}
        others |= {"--seconds": options.seconds is not None}
        others |= {"--cross-check": cross_check and bool(part or cluster)}
        name = "--part" if part else "--cluster" if cluster else "--checkpoint"
        asked.refuse_with(f"{name} of one board", others)
        _count_in_tasks(command, source, options, asked, part, cluster, check)
        return
    if cluster is not None:
        details = {"--stats with --format jsonl or --log": asked.in_detail}
        asked.refuse_with("--cluster of a batch", {"--cross-check": cross_check, **details})
    piece = None
    if part is not None:
        from gpusudoku.pipeline.parts import PartWriter

        piece = PartWriter(command, part, source, asked)
    wanted = None if only is None else WANTED[only]
    with machine_of(cluster, options) as machine:
        line = CountLine(source, options, machine, asked.stats)
        each = source.single or asked.in_detail or check is not None
        counter = _counter(on_cluster=cluster is not None, each=each)
        work = partial(counter, options=options, engine=machine)
        writer: AnswerWriter = PlainCounts(source.single, only=only is not None)
        if asked.form is not None:
            writer = AnswerRecords.of(asked, source.origin, single=source.single)
        elif not each and cluster is None and only is None:
            work = partial(work, lines_of=writer.text)
        with (
            open_answer_sink(
                command, source, machine, asked, writer, "counted",
                line=line, wanted=wanted, part=piece,
            ) as sink,
            closing(with_bad_boards(source.found(), work, "record")) as found,
        ):  # fmt: skip
            if check is not None:
                check.ways = sink.notes.get(_WAYS, {})
            for results in found:
                if isinstance(results, BadBoard):
                    sink.write(results)
                    continue
                if check is not None:
                    with naming(source.place(results.boards)):
                        sink.notes[_WAYS] = check(results)
                sink.write(_with_solutions(results, options) if asked.solution else results)
                if source.single and asked.stats:
                    show_stats(results.counts())
            if check is not None:
                check.show()


def _counter(*, on_cluster: bool, each: bool) -> Callable[..., Generator[ResultBlock, None, None]]:
    """Choose what counts: a cluster, or this machine, each board by itself or in blocks."""
    if on_cluster:
        from gpusudoku.runs.counting import count_batches_on

        return count_batches_on
    from gpusudoku.planning.batch import count_batches, count_each

    return count_each if each else count_batches


def _limit(limit: int | None, only: str | None, asked: OutputOptions) -> int | None:
    """Return the limit; one that tells one solution from several where that is asked."""
    reason = "--only" if only else "--exit-code" if asked.exit_code else None
    if reason is None:
        return limit
    if limit == 1:
        raise InputError(f"{reason} needs a limit of at least 2")
    return limit or 2


def _with_solutions(results: ResultBlock, options: Options) -> ResultBlock:
    """Find a solution of every board that has one."""
    from gpusudoku.engines.cpu import CpuEngine
    from gpusudoku.planning.batch import find_solutions

    boards, limited = results.boards, replace(options, limit=1)
    solutions, solvable = np.zeros_like(boards.cells), np.flatnonzero(results.numbers > 0)
    if len(solvable):
        some = boards.chosen(results.numbers > 0)
        rows, roots, _ = find_solutions(some, limited, CpuEngine(1))
        solutions[solvable[roots]] = rows
    return replace(results, solutions=solutions)


class CrossCheck:
    """Counts boards again in another way."""

    def __init__(self, options: Options) -> None:
        from gpusudoku.checking import Checker

        self._checker = Checker(options, warn_of_device)
        self.ways: dict[str, int] = {}
        """The number of boards for each way, in words."""

    def __call__(self, results: ResultBlock) -> dict[str, int]:
        """Count again, and return the ways; raises a MismatchError if two counts differ."""
        ways = Counter(self.ways)
        for result in results.counts():
            way = self._checker.check(result)
            found = "the same count" if result.exact else "as many solutions, and maybe more"
            ways[f"by {way}: {found}" if way else "not done: no other way is affordable"] += 1
        self.ways = dict(ways)
        return self.ways

    def show(self) -> None:
        """Say on stderr how boards were counted again."""
        total = sum(self.ways.values())
        for way, boards in self.ways.items():
            of = "" if total == 1 else f", {boards} of {total} boards"
            note(f"cross-check {way}{of}")


def _count_in_tasks(
    command: CommandFacts,
    source: Source,
    options: Options,
    asked: OutputOptions,
    part: WhichPart | None,
    cluster: str | None,
    check: CrossCheck | None,
) -> None:
    """Count the only board of a source, and write the count, or the record of a part of it.

    It is written once, at the end. So after a finished count the same command only checks the
    output file, or writes it again.
    """
    from gpusudoku.runs.counting import count_in_tasks, merged
    from gpusudoku.runs.store import RunStore

    if asked.checkpoint is not None and not asked.to_stdout:
        refuse_same(str(asked.output), asked.checkpoint)
    [board] = source.singles()
    facts = None if part is None else {"format": asked.form, "keep_going": asked.errors}
    with RunStore(asked.checkpoint) as store, machine_of(cluster, options) as machine:
        is_written = _is_written(asked, store)
        # A file that is there is ours: it has the answer, or is empty, as we have made it.
        is_there = not asked.to_stdout and Path(str(asked.output)).is_file()
        force = asked.force or (asked.checkpoint is not None and is_there)
        refuse(asked.output, force, source.files)
        line = CountLine(source, options, machine, asked.stats, 1 if part is None else part.parts)
        with line, line.working_on(board):
            count, record = count_in_tasks(
                *(board[0], options, machine, store), part=part or (1, 1),
                setup=setup_of_command(command, source), facts=facts, place=place_facts(board),
            )  # fmt: skip
        results = ResultBlock.of(board, count, None)
        if part is None:
            source.warn_conflicts(board)
        if check is not None:
            try:
                check(results)
            except Interrupted as error:  # it tells of the second count, which is not saved
                said = f"interrupted in the cross-check of {decimal_digits(count.count)} solutions"
                raise type(error)(f"{said}{store.hint}", count.count) from None
        if part is None:
            writer: AnswerWriter = PlainCounts(True)
            if asked.form is not None:
                writer = AnswerRecords.of(asked, source.origin, single=True)
            text = writer.header() + writer.text(results)
        else:
            if not record.tasks:
                tasks = f"there are {record.identity.options['tasks']} tasks"
                note(f"part {part.number} of {part.parts} has nothing to do: {tasks}")
            text, count = f"{record}\n".encode(), merged([record])
        if not is_written:
            known = {} if part is None else {"record": str(record)}
            if not asked.to_stdout:  # before it is there: a process that ends then has it known
                known[f"written {asked.form}"] = hashlib.sha256(text).hexdigest()
            store.keep(known)
            with Output(asked.output, force, source.files) as out:
                out.write(text)
        if asked.stats:
            show_stats([count])
        if check is not None:
            check.show()


def _is_written(asked: OutputOptions, store: RunStore) -> bool:
    """Tell whether the output file has the answer of this count, finished before.

    An InputError for a file that has something else: it is the user's.
    """
    if asked.to_stdout or asked.checkpoint is None or not Path(str(asked.output)).is_file():
        return False
    output, written = str(asked.output), store.written(asked.form)
    try:
        found = Path(output).read_bytes()
    except OSError as error:
        raise InputError(f"{output}: cannot be read: {error.strerror}") from None
    if hashlib.sha256(found).hexdigest() == written:
        return True
    if not (asked.force or (written is not None and not found)):
        more = "move it, or give the whole command again with --force"
        raise InputError(f"{output}: exists already; {more}")
    return False
