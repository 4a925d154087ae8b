"""``count`` of one board in numbered tasks: some of them, on a cluster, in a file."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

from gpusudoku.cli.answering import Delivery, Prepared
from gpusudoku.cli.answers import Answers, Plain
from gpusudoku.cli.asked import Asked
from gpusudoku.cli.clustering import CLUSTER_HELP, machine_of
from gpusudoku.cli.messages import note
from gpusudoku.cli.numbers import WhichPart
from gpusudoku.cli.options import Command, compose, own_option
from gpusudoku.cli.output import Output
from gpusudoku.cli.parts import part_option, place_facts
from gpusudoku.cli.progress import CountLine
from gpusudoku.cli.report import show_stats
from gpusudoku.cli.source import Source
from gpusudoku.errors import InputError
from gpusudoku.options import Options
from gpusudoku.results import Counts

if TYPE_CHECKING:
    from gpusudoku.board.batch import Batch
    from gpusudoku.cli.resume import Settings
    from gpusudoku.runs.counting import Counted
    from gpusudoku.runs.kept import Kept

own = own_option("count")


@dataclass(frozen=True)
class InTasks:
    """What is asked for that makes a count of one board one in tasks."""

    part: WhichPart | None = None
    cluster: str | None = None

    @property
    def are_asked(self) -> bool:
        """Whether anything is asked for."""
        return self != InTasks()

    def refuse(self, others: Mapping[str, object]) -> None:
        """Complain about the first of other options, by name, that is given.

        Raises
        ------
        InputError
            If one is.
        """
        own = "--part" if self.part else "--cluster" if self.cluster else "--checkpoint"
        for name, value in others.items():
            if value not in (None, False):
                raise InputError(f"{name} cannot be combined with {own} of one board")

    def refuse_for_batch(self, others: Mapping[str, object]) -> None:
        """Complain about the first of other options, by name, that a batch on a cluster refuses.

        Raises
        ------
        InputError
            If it is asked for.
        """
        for name, value in others.items():
            if self.cluster is not None and value:
                raise InputError(f"{name} cannot be combined with --cluster of a batch")


def in_tasks(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of a count in tasks, which the command gets as one argument, ``tasks``."""
    options: Callable[[Command], Command] = compose(
        part_option("count", "a board's solutions, or of a batch"),
        own("--cluster", metavar="ADDRESS", help=CLUSTER_HELP),
    )

    @wraps(command)
    def with_tasks(*, part: WhichPart | None, cluster: str | None, **others: Any) -> Any:
        return command(tasks=InTasks(part, cluster), **others)

    return options(with_tasks)


def count_in_tasks(
    source: Source, options: Options, asked: Asked, tasks: InTasks, inputs: Sequence[str]
) -> None:
    """Count the only board of a source, and write the count, or the record of a part of it."""
    from gpusudoku.cli.checkpoint import answered_alone, check_written, checkpoint_of
    from gpusudoku.runs.counting import How
    from gpusudoku.runs.counting import count_in_tasks as counted

    how = How(
        part=tasks.part or (1, 1),
        checkpoint=checkpoint_of(source, options, asked, tasks.part),
        facts=None if tasks.part is None else {"format": asked.form, "keep_going": asked.errors},
    )
    is_written = False
    if asked.checkpoint is not None:
        asked, is_written = answered_alone(asked)
    with machine_of(tasks.cluster, options) as machine:
        line = CountLine(source, options, machine, asked.stats, how.part[1])
        delivery = Delivery(asked, source, machine, Plain(None, single=True), line=line)

        def count(board: Batch) -> Counted:
            with line.working_on(board):
                return counted(board[0], options, machine, how)

        answers = _answers(source, count, delivery, asked.stats)
        if tasks.part is None and not is_written:
            delivery.deliver(answers, inputs, "counted")
            return
        with line:
            if tasks.part is None:
                [answer] = answers
                check_written(str(asked.output), delivery.writer.header() + answer.text)
                return
            [board] = source.singles()
            text = _record(place_facts(board), count(board), tasks.part, asked)
        if is_written:
            check_written(str(asked.output), text)
            return
        with Output(asked.output, asked.force, inputs) as out:
            out.write(text)


def resume_count(path: str, kept: Kept, settings: Settings) -> None:
    """Go on with a count of one board that a file holds; see ``cli.resume``."""
    from gpusudoku.cli.checkpoint import asked_before

    source, options, asked, part = asked_before(path, kept, settings)
    count_in_tasks(source, options, asked, InTasks(part, settings.cluster), ())


def _answers(
    source: Source, count: Callable[[Batch], Counted], delivery: Delivery, stats: bool
) -> Generator[Prepared, None, None]:
    """The count of the only board."""
    for board in source.singles(delivery.watched):
        results = Counts.of(board, count(board).count, None)
        yield delivery.prepare(Answers(results))
        if stats:
            show_stats(results)


def _record(place: Mapping[str, Any], done: Counted, part: WhichPart, asked: Asked) -> bytes:
    """The record of a part of a count, a line of JSON."""
    from gpusudoku.runs.parts import records
    from gpusudoku.runs.parts.counts import merged, part_of_count

    found = part_of_count(done, part.number)
    if not found.tasks:
        tasks = found.identity.options["tasks"]
        note(f"part {part.number} of {part.parts} has nothing to do: there are {tasks} tasks")
    if asked.stats:
        show_stats([merged([found])])
    return f"{records.placed(found, place)}\n".encode()
